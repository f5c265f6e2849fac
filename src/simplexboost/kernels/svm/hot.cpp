#include "svm/hot.hpp"

#include "core/hot.hpp"

namespace simplexboost {

namespace svm_baseline {
#include "svm/hot.inl"
}

#ifdef SIMPLEXBOOST_CLONES
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,fma")
namespace svm_avx2 {
#include "svm/hot.inl"
}
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,fma,avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")
namespace svm_avx512 {
#include "svm/hot.inl"
}
#pragma GCC pop_options
#endif

const SvmHot& svm_hot() {
#ifdef SIMPLEXBOOST_CLONES
  static const SvmHot chosen = instruction_level() == 2   ? svm_avx512::table()
                               : instruction_level() == 1 ? svm_avx2::table()
                                                          : svm_baseline::table();
#else
  static const SvmHot chosen = svm_baseline::table();
#endif
  return chosen;
}

}  // namespace simplexboost
