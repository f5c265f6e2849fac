// The multiclass SVM of Crammer and Singer, solved through its dual or by stochastic sub-gradients:
//
//   primal  P(W) = 1/2 sum_l |w_l|^2 + sum_i C_i max_l (F_il - F_iy),   F_il = <w_l, x_i> + [l != y_i]
//   dual    D(a) = sum_i a_iy - 1/2 sum_l a_l' Q a_l,                    sum_l a_il = 0,  a_il <= C_i [l = y_i]
//
// with w_l = sum_i a_il x_i and Q the Gram matrix, k(x_i, x_j). The gap P - D is a sum over examples of
// sum_l (C_i [l = y_i] - a_il) (max F_i - F_il), none of which is negative; all solvers stop when it is small.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace simplexboost {

// Examples as rows: dense (n, p), or compressed sparse rows if `dense` is null.
struct SvmRows {
  const double* dense = nullptr;
  const double* data = nullptr;
  const std::int32_t* indices = nullptr;
  const std::int64_t* indptr = nullptr;
  std::size_t n = 0, p = 0;
};

// The kernel function k(x, z).
enum class SvmKernel : int { linear = 0, rbf = 1, poly = 2, precomputed = 3 };

// k(x, z) + bias, where the bias is the square of the constant appended to every example.
struct SvmKernelSpec {
  SvmKernel kind = SvmKernel::rbf;
  double gamma = 1.0, coef0 = 0.0, bias = 0.0;
  int degree = 3;
};

struct SvmProblem {
  SvmRows rows;
  const std::int64_t* y = nullptr;  // (n,) labels 0 .. K - 1
  const double* C = nullptr;        // (n,) positive
  std::size_t K = 0;
};

// Called from time to time by the solvers; if it throws, they end.
struct SvmProgress {
  std::int64_t iteration;
  double primal, dual;
  std::size_t active;
};
using SvmTick = std::function<void(const SvmProgress&)>;

struct SvmOptions {
  double tol = 1e-3;             // P - D <= tol * P
  std::int64_t max_iter = 1000;  // passes; n visits of any examples count as one
  std::uint64_t seed = 0;
  std::size_t cache_bytes = 200u << 20;
  int n_threads = 1;
  SvmTick tick;
};

struct SvmResult {
  std::vector<double> a;  // (n, K) dual variables; empty from the stochastic solver
  std::vector<double> W;  // (p + 1, K) linear only; the last row belongs to the constant
  double primal = 0.0, dual = 0.0;
  std::int64_t n_iter = 0;
  bool converged = false;
};

// Sequential dual method (Keerthi et al., 2008): one example at a time, W kept up to date.
SvmResult svm_linear(const SvmProblem& problem, double bias, const SvmOptions& options);

// Decomposition: blocks of the worst examples, rows of the Gram matrix in a cache. For a precomputed kernel
// `rows.dense` is the (n, n) matrix.
SvmResult svm_kernel(const SvmProblem& problem, const SvmKernelSpec& kernel, const SvmOptions& options);

// Stochastic sub-gradients with steps 1 / (lambda t), lambda = 1 / (n C), and averaging.
SvmResult svm_sgd(const SvmProblem& problem, double bias, const SvmOptions& options);

}  // namespace simplexboost
