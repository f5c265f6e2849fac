#include "core/hot.hpp"

#include <cstdlib>
#include <cstring>

namespace simplexboost {

namespace baseline {
#include "core/hot.inl"
}

#ifdef SIMPLEXBOOST_CLONES
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,fma")
namespace avx2 {
#include "core/hot.inl"
}
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,fma,avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")
namespace avx512 {
#include "core/hot.inl"
}
#pragma GCC pop_options
#endif

namespace {

struct Choice {
  const char* name;
  int level;
  HotTable table;
};

Choice choose() {
#ifdef SIMPLEXBOOST_CLONES
  const char* wish = std::getenv("SIMPLEXBOOST_ISA");
  const auto allows = [wish](const char* name) {
    if (wish == nullptr || std::strcmp(wish, "avx512") == 0) return true;
    return std::strcmp(wish, "avx2") == 0 && std::strcmp(name, "avx2") == 0;
  };
  __builtin_cpu_init();
  const bool has_avx2 =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma");
  const bool has_avx512 = has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (has_avx512 && allows("avx512")) return {"avx512", 2, avx512::table()};
  if (has_avx2 && allows("avx2")) return {"avx2", 1, avx2::table()};
#endif
  return {"baseline", 0, baseline::table()};
}

const Choice& choice() {
  static const Choice chosen = choose();
  return chosen;
}

}  // namespace

const HotTable& hot() { return choice().table; }
const char* instruction_set() { return choice().name; }
int instruction_level() { return choice().level; }

}  // namespace simplexboost
