// Conjugate gradients among the dual variables that are free, that is, not at a bound; the set of points with the same
// variables at their bounds is a face. Steps in one example at a time find out which variables are at a bound, but are
// very slow if examples are similar (features far from the origin, large C). Among the free variables the dual is a
// quadratic function without bounds, which is maximised in a few products with the Gram matrix.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace simplexboost {

// m examples that have free variables; all arrays (m, K) or (m,).
struct SvmFace {
  std::size_t m = 0, K = 0;
  std::vector<std::size_t> y;
  std::vector<double> C, square;  // square: k(x, x)
  std::vector<double> a, F;       // F = scores + [l != y]
};

struct SvmFaceStep {
  std::vector<double> change;  // (m, K) of a; empty if nothing was gained
  double gain = 0.0;           // of the dual
  std::size_t m = 0, products = 0;
};

// Whether an example has variables that can move in both directions.
bool svm_is_free(const double* a, std::size_t K, std::size_t y, double C);

// product(D, QD): both (m, K), QD = Q D.
using SvmProduct = std::function<void(const double*, double*)>;

// Continues as long as the gain per product is at least `worth`.
SvmFaceStep svm_face_step(const SvmFace& face, double worth, const SvmProduct& product);

}  // namespace simplexboost
