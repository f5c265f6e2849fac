// Scores from a matrix W of weights, for the solvers that keep W up to date.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "svm/hot.hpp"
#include "svm/problem.hpp"
#include "svm/tools.hpp"

namespace simplexboost {

// The examples with their constant appended, and W (p + 1, Kp) feature by feature, so that vectors run along classes.
class LinearScores {
 public:
  LinearScores(const SvmProblem& problem, double bias)
      : problem_(problem), rows_(problem.rows), bias_(bias), Kp_(padded8(problem.K)), hot_(svm_hot()) {}

  std::size_t Kp() const { return Kp_; }
  std::size_t w_size() const { return (rows_.p + 1) * Kp_; }

  double square(std::size_t i) const {  // |x|^2, including the constant
    double sum = bias_ * bias_;
    if (rows_.dense)
      for (std::size_t j = 0; j < rows_.p; ++j) sum += rows_.dense[i * rows_.p + j] * rows_.dense[i * rows_.p + j];
    else
      for (std::int64_t j = rows_.indptr[i]; j < rows_.indptr[i + 1]; ++j) sum += rows_.data[j] * rows_.data[j];
    return sum;
  }

  // F (Kp,) = scale <w_l, x_i> + [l != y]
  void margins(std::size_t i, const double* W, double scale, double* F) const {
    scores(i, W, F);
    for (std::size_t k = 0; k < Kp_; ++k) F[k] = F[k] * scale + 1.0;
    F[problem_.y[i]] -= 1.0;
  }

  void scores(std::size_t i, const double* W, double* F) const {
    const double* constant = W + rows_.p * Kp_;
    for (std::size_t k = 0; k < Kp_; ++k) F[k] = bias_ * constant[k];
    if (rows_.dense) {
      hot_.scores_dense(rows_.dense + i * rows_.p, rows_.p, W, Kp_, F);
    } else {
      const std::int64_t begin = rows_.indptr[i];
      hot_.scores_sparse(rows_.data + begin, rows_.indices + begin,
                         static_cast<std::size_t>(rows_.indptr[i + 1] - begin), W, Kp_, F);
    }
  }

  void add(std::size_t i, const Change* change, std::size_t n_changed, double* W) const {
    double* constant = W + rows_.p * Kp_;
    for (std::size_t c = 0; c < n_changed; ++c) constant[change[c].k] += change[c].by * bias_;
    if (rows_.dense) {
      hot_.add_dense(rows_.dense + i * rows_.p, rows_.p, change, n_changed, W, Kp_);
    } else {
      const std::int64_t begin = rows_.indptr[i];
      hot_.add_sparse(rows_.data + begin, rows_.indices + begin, static_cast<std::size_t>(rows_.indptr[i + 1] - begin),
                      change, n_changed, W, Kp_);
    }
  }

  double square_norm(const double* W) const {
    double sum = 0.0;
    for (std::size_t j = 0; j < w_size(); ++j) sum += W[j] * W[j];
    return sum;
  }

  double sum_of_hinges(const double* W) const {
    std::vector<double> F(Kp_);
    double sum = 0.0;
    for (std::size_t i = 0; i < rows_.n; ++i) {
      margins(i, W, 1.0, F.data());
      sum += problem_.C[i] * (*std::max_element(F.data(), F.data() + problem_.K) - F[problem_.y[i]]);
    }
    return sum;
  }

  std::vector<double> unpadded(const double* W) const {  // (p + 1, K)
    const std::size_t K = problem_.K;
    std::vector<double> out((rows_.p + 1) * K);
    for (std::size_t j = 0; j <= rows_.p; ++j) std::copy_n(W + j * Kp_, K, out.data() + j * K);
    return out;
  }

 private:
  const SvmProblem& problem_;
  const SvmRows& rows_;
  double bias_;
  std::size_t Kp_;
  const SvmHot& hot_;
};

}  // namespace simplexboost
