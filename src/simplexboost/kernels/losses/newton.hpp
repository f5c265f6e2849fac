// Newton steps in the leaves, and adding leaf values to the predictor; single precision in, double precision sums.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

#include "core/hot.hpp"
#include "core/pool.hpp"
#include "losses/logistic.hpp"
#include "trees/leaves.hpp"

namespace simplexboost {

// Rows grouped by leaf, ascending within a leaf: those of leaf l are order[begin(l) .. end[l]).
struct LeafRows {
  std::vector<std::uint32_t> order;
  std::vector<std::size_t> end;

  LeafRows(const std::int32_t* leaf_of_row, std::size_t n, std::size_t n_leaves, const std::uint32_t* rows,
           std::size_t n_rows)
      : order(rows == nullptr ? n : n_rows), end(n_leaves, 0) {
    const auto row = [&](std::size_t r) { return rows == nullptr ? static_cast<std::uint32_t>(r) : rows[r]; };
    const auto leaf = [&](std::size_t r) { return static_cast<std::size_t>(leaf_of_row[row(r)]); };
    for (std::size_t r = 0; r < order.size(); ++r) ++end[leaf(r)];
    std::partial_sum(end.begin(), end.end(), end.begin());
    std::vector<std::size_t> next(n_leaves);
    for (std::size_t l = 0; l < n_leaves; ++l) next[l] = begin(l);
    for (std::size_t r = 0; r < order.size(); ++r) order[next[leaf(r)]++] = row(r);
  }
  std::size_t begin(std::size_t leaf) const { return leaf == 0 ? 0 : end[leaf - 1]; }
  std::size_t size(std::size_t leaf) const { return end[leaf] - begin(leaf); }
  std::size_t n_leaves() const { return end.size(); }
};

// Leaf values of many classes are alike for all the classes that hardly occur in the leaf. Probabilities do not change
// when a constant joins all classes: subtract the median, and drop what is then below `thin` times the largest.
inline void thin_out(float* values, std::size_t K, float thin, std::vector<float>& scratch) {
  scratch.assign(values, values + K);
  const auto middle = scratch.begin() + static_cast<std::ptrdiff_t>(K / 2);
  std::nth_element(scratch.begin(), middle, scratch.end());
  float largest = 0.0f;
  for (std::size_t k = 0; k < K; ++k) {
    values[k] -= *middle;
    largest = std::max(largest, std::abs(values[k]));
  }
  for (std::size_t k = 0; k < K; ++k)
    if (std::abs(values[k]) < thin * largest) values[k] = 0.0f;
}

// How leaf values are tempered where codewords are canonical: l2 joins the curvature, no class steps further than
// max_step, and values that are small beside the leaf's largest are dropped where thin > 0.
struct LeafOptions {
  double l2, max_step, thin;
};

// values (L, K) = slope / (curvature + l2) class by class: Newton steps with the diagonal of the Hessian, for canonical
// codewords. A class with next to no probability in a leaf has next to no curvature there: hence max_step.
inline void newton_diagonal(const LeafRows& leaves, const LogisticArgs& p, const LeafOptions& options, float* values,
                            int n_threads) {
  const std::size_t K = p.K;
  const auto sums = sums_over_leaves(leaves.order.data(), leaves.end, 2 * K, n_threads,
                                     [&](const std::uint32_t* rows, std::size_t n_rows, double* out) {
                                       std::vector<float> S(p.Kp);
                                       std::vector<double> scratch(2 * p.Kp);
                                       newton_rows(p, rows, n_rows, S.data(), scratch.data(), out);
                                     });
  std::vector<float> scratch;
  for (std::size_t leaf = 0; leaf < leaves.n_leaves(); ++leaf) {
    for (std::size_t k = 0; k < K; ++k) {
      const double g = sums[leaf * 2 * K + k], h = sums[leaf * 2 * K + K + k] + options.l2;
      values[leaf * K + k] = static_cast<float>(h > 0.0 ? std::clamp(g / h, -options.max_step, options.max_step) : 0.0);
    }
    if (options.thin > 0.0) thin_out(values + leaf * K, K, static_cast<float>(options.thin), scratch);
  }
}

// Newton steps for codewords in general. The Hessian of a leaf is Yᵀ diag(sum p) Y - sum ȳ ȳᵀ with ȳ = y_c - G; it is
// taken from at most kHessianRows rows of the leaf, evenly spread, and scaled up: probabilities are not kept, so each
// row costs another soft-max. Classes with little probability in the leaf enter together by an upper bound: what
// replaces the Hessian must not be below it in any direction, or a step may run away (it did, after 300 rounds on 438
// classes).
constexpr std::size_t kHessianRows = kBlockRows;

// In single precision the probabilities of a leaf that is all but settled leave rounding errors for a Hessian, and
// codewords that are dependent leave them for a pivot: what is below this part of the mean diagonal of Yᵀ diag(sum p) Y
// is no curvature.
constexpr double kNoCurvature = 1e-6;

// A step that moves a class too far is replaced by one that moves it at most this part as far: cut off at the limit
// itself, the leaves of a fit without shrinkage go to and fro between their limits (accuracy on digits, simplex
// codewords: 0.79, 0.87 so).
constexpr double kSafePart = 0.2;

// H (d, d), lower triangle, of the rows of one leaf; returns the least pivot that is more than a rounding error.
inline double leaf_hessian(const LogisticArgs& p, const float* Y, const std::uint32_t* rows, std::size_t n_rows,
                           double* H) {
  const std::size_t used = std::min(n_rows, kHessianRows), d = p.d;
  std::vector<std::uint32_t> sample(used);
  for (std::size_t i = 0; i < used; ++i) sample[i] = rows[i * n_rows / used];
  std::vector<float> Fb(kBlockRows * d), P(kBlockRows * p.Kp);
  softmax_rows(p, sample.data(), used, Fb.data(), P.data());
  std::vector<double> mass(p.K, 0.0), y(d);
  std::fill(H, H + d * d, 0.0);
  double total = 0.0, weights = 0.0, all = 0.0;
  for (std::size_t r = 0; r < n_rows; ++r) all += p.scale == nullptr ? 1.0 : p.scale[rows[r]];
  for (std::size_t i = 0; i < used; ++i) {
    const std::size_t row = sample[i];
    const double w = p.scale == nullptr ? 1.0 : p.scale[row];
    if (w <= 0.0) continue;  // a tilted weight may vanish
    for (std::size_t k = 0; k < p.K; ++k) mass[k] += w * static_cast<double>(P[i * p.Kp + k]);
    const float *own = Y + static_cast<std::size_t>(p.c[row]) * d, *g = p.G + row * d;
    for (std::size_t j = 0; j < d; ++j) y[j] = static_cast<double>(own[j]) - static_cast<double>(g[j]);
    hot().add_outer(H, y.data(), -w, d);
    weights += w;
  }
  for (double m : mass) total += m;
  double trace = 0.0;  // of Yᵀ diag(mass) Y
  double rest = 0.0;   // of the sum over small classes, from above: mass times squared length, in every direction
  for (std::size_t k = 0; k < p.K; ++k) {
    double square = 0.0;
    for (std::size_t j = 0; j < d; ++j) {
      y[j] = static_cast<double>(Y[k * d + j]);
      square += y[j] * y[j];
    }
    trace += mass[k] * square;
    if (mass[k] * static_cast<double>(p.K) < 0.002 * total) rest += mass[k] * square;
    else hot().add_outer(H, y.data(), mass[k], d);
  }
  const double scale = weights > 0.0 ? all / weights : 0.0;
  for (std::size_t j = 0; j < d; ++j) H[j * d + j] += rest;
  for (std::size_t i = 0; i < d * d; ++i) H[i] *= scale;
  return std::max(1e-12, kNoCurvature * scale * trace / static_cast<double>(d));
}

// The furthest that a step x (d,) moves the score of a class; infinite where x is not finite.
inline double furthest(const float* Y, std::size_t K, std::size_t d, const double* x) {
  double most = 0.0;
  for (std::size_t k = 0; k < K; ++k) {
    double score = 0.0;
    for (std::size_t j = 0; j < d; ++j) score += x[j] * static_cast<double>(Y[k * d + j]);
    if (!std::isfinite(score)) return std::numeric_limits<double>::infinity();
    most = std::max(most, std::abs(score));
  }
  return most;
}

inline bool is_within(double moved, double limit) { return std::isfinite(moved) && moved <= limit; }

// x (d,) = (H + ridge)⁻¹ g, lower triangle of H (d, d); returns the furthest that it moves a class, infinite where the
// matrix is singular up to rounding errors.
inline double newton_step(const LogisticArgs& p, const float* Y, std::vector<double> H, const double* g, double ridge,
                          double least, std::vector<double>& x) {
  std::vector<double> column(p.d);
  x.assign(g, g + p.d);
  for (std::size_t j = 0; j < p.d; ++j) H[j * p.d + j] += ridge;
  const bool safe = hot().solve_positive(H.data(), x.data(), column.data(), p.d, least);
  return safe ? furthest(Y, p.K, p.d, x.data()) : std::numeric_limits<double>::infinity();
}

// values (L, d) = (H + l2)⁻¹ sum G. A class with gradient but hardly any curvature, or none in the rows that are looked
// at, would take a step out of all proportion (1e6 and more, until nothing was finite): where H is singular, or a class
// would step further than max_step, more than l2 joins the diagonal, as much as it takes.
inline void newton_exact(const LeafRows& leaves, const LogisticArgs& p, const float* Y, double l2, double max_step,
                         float* values, int n_threads) {
  const auto sums = sums_over_leaves(leaves.order.data(), leaves.end, p.d, n_threads,
                                     [&](const std::uint32_t* rows, std::size_t n_rows, double* out) {
                                       for (std::size_t r = 0; r < n_rows; ++r) {
                                         const double w = p.scale == nullptr ? 1.0 : p.scale[rows[r]];
                                         for (std::size_t j = 0; j < p.d; ++j)
                                           out[j] += w * static_cast<double>(p.G[rows[r] * p.d + j]);
                                       }
                                     });
  parallel_for(leaves.n_leaves(), n_threads, [&](std::size_t leaf) {
    const double* g = sums.data() + leaf * p.d;
    std::vector<double> H(p.d * p.d), x;
    const double least = leaf_hessian(p, Y, leaves.order.data() + leaves.begin(leaf), leaves.size(leaf), H.data());
    if (!is_within(newton_step(p, Y, H, g, l2, least, x), max_step)) {
      double ridge = std::max(l2, least);
      while (std::isfinite(ridge) && !is_within(newton_step(p, Y, H, g, ridge, least, x), kSafePart * max_step))
        ridge *= 4.0;
      if (!std::isfinite(ridge))
        std::fill(x.begin(), x.end(), std::numeric_limits<double>::quiet_NaN());  // so is the gradient
    }
    for (std::size_t j = 0; j < p.d; ++j) values[leaf * p.d + j] = static_cast<float>(x[j]);
  });
}

}  // namespace simplexboost
