// Compiles the file LOOPS once per instruction set, in the nested namespaces baseline, avx2 and avx512, and defines
// chosen(); see isa.hpp. VECTOR_BYTES is the width of a vector register.

namespace baseline {
#define VECTOR_BYTES 16
#include LOOPS
#undef VECTOR_BYTES
}  // namespace baseline

#ifdef SIMPLEXBOOST_CLONES
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,fma")
namespace avx2 {
#define VECTOR_BYTES 32
#include LOOPS
#undef VECTOR_BYTES
}  // namespace avx2
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,fma,avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")
namespace avx512 {
#define VECTOR_BYTES 64
#include LOOPS
#undef VECTOR_BYTES
}  // namespace avx512
#pragma GCC pop_options
#endif

inline const auto& chosen() {
#ifdef SIMPLEXBOOST_CLONES
  static const auto table = isa() == Isa::avx512 ? avx512::table()
                            : isa() == Isa::avx2 ? avx2::table()
                                                 : baseline::table();
#else
  static const auto table = baseline::table();
#endif
  return table;
}

#undef LOOPS
