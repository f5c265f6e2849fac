#include "core/isa.hpp"

#include <cstdlib>
#include <cstring>

namespace simplexboost {
namespace {

Isa best() {
#ifdef SIMPLEXBOOST_CLONES
  __builtin_cpu_init();
  const bool has_avx2 =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma");
  const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (has_avx2) return has_avx512 ? Isa::avx512 : Isa::avx2;
#endif
  return Isa::baseline;
}

Isa allowed() {
  const char* wish = std::getenv("SIMPLEXBOOST_ISA");
  if (wish == nullptr || std::strcmp(wish, "avx512") == 0) return Isa::avx512;
  return std::strcmp(wish, "avx2") == 0 ? Isa::avx2 : Isa::baseline;
}

}  // namespace

Isa isa() {
  static const Isa chosen = best() < allowed() ? best() : allowed();
  return chosen;
}

const char* instruction_set() {
  switch (isa()) {
    case Isa::avx512:
      return "avx512";
    case Isa::avx2:
      return "avx2";
    default:
      return "baseline";
  }
}

}  // namespace simplexboost
