// Inner loops of the multiclass SVM, compiled once per instruction set (core/isa.hpp). Vectors run along classes or
// along examples, never along a sum, so that every instruction set gets the same bits.

typedef double Vec8 __attribute__((vector_size(64), aligned(8), may_alias));
typedef std::uint64_t Bits8 __attribute__((vector_size(64), aligned(8), may_alias));  // sums may overflow
typedef float Float8 __attribute__((vector_size(32), aligned(4), may_alias));

inline Vec8 load(const double* p) { return *reinterpret_cast<const Vec8*>(p); }
inline Vec8 load(const float* p) { return __builtin_convertvector(*reinterpret_cast<const Float8*>(p), Vec8); }
inline void store(double* p, Vec8 v) { *reinterpret_cast<Vec8*>(p) = v; }
inline void store(float* p, Vec8 v) { *reinterpret_cast<Float8*>(p) = __builtin_convertvector(v, Float8); }
inline Vec8 splat(double x) { return Vec8{} + x; }

#include "svm/visit.inl"

#include "svm/block.inl"
#include "svm/gram.inl"
#include "svm/linear.inl"

SvmHot table() {
  return {scores_dense,          scores_sparse,    add_dense,         add_sparse,       visit_row,
          column_highs,          solve_block,      gram_rows<double>, gram_rows<float>, gram_from_dots<double>,
          gram_from_dots<float>, gradient<double>, gradient<float>};
}
