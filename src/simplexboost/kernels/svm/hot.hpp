// The table of the inner loops of the multiclass SVM in hot.inl, for the instruction set chosen at run time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "svm/problem.hpp"

namespace simplexboost {

constexpr double kDust = 1e-12;  // a distance to a bound below this part of C is a rounding error

// A dual variable of one example that moved.
struct Change {
  std::size_t k;
  double by;
};

// The state of an example before the step of a visit: its violation, its part of the gap, and its hinge loss.
struct Visit {
  double violation, gap, hinge;
  std::size_t n_changed;
};

// `by` times row `row` of the Gram matrix is added to the scores of a class.
struct Entry {
  std::size_t row;
  double by;
};

struct SvmHot {
  using Index = const std::int32_t*;
  template <class T>
  using GramRows = void (*)(const SvmKernelSpec& spec, const double* const* x, const double* own_norm,
                            std::size_t n_rows, std::size_t p, const double* XT, std::size_t ld, const double* norm,
                            std::size_t begin, std::size_t end, T* const* out);
  template <class T>
  using FromDots = void (*)(const SvmKernelSpec& spec, const double* dots, double own_norm, const double* norm,
                            std::size_t begin, std::size_t end, T* out);
  template <class T>
  using Gradient = void (*)(double* F, std::size_t ld, std::size_t K, const Entry* entries, const std::size_t* first,
                            const T* const* rows, std::size_t begin, std::size_t end);

  void (*scores_dense)(const double* x, std::size_t p, const double* W, std::size_t Kp, double* out);
  void (*scores_sparse)(const double* x, Index indices, std::size_t m, const double* W, std::size_t Kp, double* out);
  void (*add_dense)(const double* x, std::size_t p, const Change* change, std::size_t n_changed, double* W,
                    std::size_t Kp);
  void (*add_sparse)(const double* x, Index indices, std::size_t m, const Change* change, std::size_t n_changed,
                     double* W, std::size_t Kp);
  Visit (*visit)(const double* F, double* a, std::size_t K, std::size_t y, double C, double A, double small, double* D,
                 Change* change);
  void (*column_highs)(const double* F, std::size_t ld, std::size_t K, std::size_t begin, std::size_t end,
                       double* high);
  std::size_t (*solve_block)(double* S, std::size_t ldq, std::size_t q, std::size_t K, const double* Q, double* a,
                             const std::size_t* y, const double* C, double enough, std::size_t max_passes,
                             double* scratch, Change* change);
  GramRows<double> gram_rows64;
  GramRows<float> gram_rows32;
  FromDots<double> from_dots64;
  FromDots<float> from_dots32;
  Gradient<double> gradient64;
  Gradient<float> gradient32;
};

const SvmHot& svm_hot();

}  // namespace simplexboost
