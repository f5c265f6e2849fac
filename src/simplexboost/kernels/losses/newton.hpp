// Newton steps in the leaves: integer sums over the rows of a leaf, which are the same for any cut into shards, and the
// steps, computed from them in double precision.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "core/arena.hpp"
#include "core/exact.hpp"
#include "core/hot.hpp"
#include "core/pool.hpp"
#include "losses/logistic.hpp"
#include "trees/histogram.hpp"
#include "trees/leaves.hpp"

namespace simplexboost {

// The leaf of every row, and which rows are used: the listed ones, which ascend, or all n if there is no list.
struct RowLeaves {
  const std::int32_t* leaf_of_row;  // (n,)
  std::size_t n, n_leaves;
  const std::uint32_t* rows;  // (n_rows,) or null
  std::size_t n_rows;
  std::uint32_t row(std::size_t r) const { return rows == nullptr ? static_cast<std::uint32_t>(r) : rows[r]; }
  std::size_t used() const { return rows == nullptr ? n : n_rows; }
};

// Rows grouped by leaf, ascending within a leaf. A pass counts the rows of every leaf in each chunk of rows, so that
// another one knows where to put them.
struct GroupedRows {
  Buffer<std::uint32_t> order;
  LeafRows leaves;

  GroupedRows(const RowLeaves& of, int n_threads) : order(of.used()) {
    const std::size_t n_leaves = of.n_leaves, grain = std::max(kRowGrain, rows_per_task(of.used(), n_threads));
    std::vector<std::size_t> next((of.used() / grain + 1) * n_leaves, 0);
    const auto leaf = [&](std::size_t r) { return static_cast<std::size_t>(of.leaf_of_row[of.row(r)]); };
    parallel_ranges(of.used(), grain, n_threads, [&](std::size_t begin, std::size_t end) {
      std::size_t* count = next.data() + begin / grain * n_leaves;
      for (std::size_t r = begin; r < end; ++r) ++count[leaf(r)];
    });
    std::size_t at = 0;
    for (std::size_t l = 0; l < n_leaves; ++l) {
      const std::size_t first = at;
      for (std::size_t i = l; i < next.size(); i += n_leaves) at += std::exchange(next[i], at);
      leaves.emplace_back(order.data() + first, at - first);
    }
    parallel_ranges(of.used(), grain, n_threads, [&](std::size_t begin, std::size_t end) {
      std::size_t* place = next.data() + begin / grain * n_leaves;
      for (std::size_t r = begin; r < end; ++r) order[place[leaf(r)]++] = of.row(r);
    });
  }
};

// What all shards must know before they compute their sums.
struct LeafScales {
  double largest_weight;  // of all rows
  std::uint64_t n_rows;   // in use, of all shards

  // The factor that turns addends up to largest_weight * 2^bound into integers.
  double unit(int bound) const { return std::ldexp(1.0, exponent(bound)); }
  double inverse(int bound) const { return std::ldexp(1.0, -exponent(bound)); }

 private:
  int exponent(int bound) const { return exact_exponent(largest_weight, exact_width(n_rows)) - bound; }
};

// The number that an integer sum represents.
inline double value_of(std::uint64_t sum, double inverse) {
  return static_cast<double>(static_cast<std::int64_t>(sum)) * inverse;
}

// If there are many classes, those that hardly occur in a leaf have almost equal values there. Adding a constant to all
// classes does not change probabilities, so the median is subtracted, and values below `thin` times the largest become
// zero.
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

// How leaf values are limited: l2 is added to the curvature, no class steps further than max_step, and for canonical
// codewords with thin > 0 values that are small compared with the leaf's largest are set to zero.
struct LeafOptions {
  double l2, max_step, thin;
};

// ---- canonical codewords: the diagonal of the Hessian --------------------------------------------------------------

// (L, 2 K): slope and curvature of every class.
inline std::vector<std::uint64_t> diagonal_sums(const LeafRows& leaves, const LogisticArgs& p, const LeafScales& scales,
                                                int n_threads) {
  const double unit = scales.unit(0);
  return sums_over_leaves(leaves, 2 * p.K, n_threads,
                          [&](const std::uint32_t* rows, std::size_t n_rows, std::uint64_t* out) {
                            std::vector<float> S(kRowsAtOnce * p.Kp);
                            std::vector<std::uint64_t> scratch(2 * p.Kp);
                            newton_rows(p, rows, n_rows, unit, S.data(), scratch.data(), out);
                          });
}

// The same where the sums of all leaves fit in the cache: rows are read in their own order, which is several times as
// fast as leaf by leaf (a million rows of ten classes: a read from memory per row instead of four). Every task has sums
// of its own, which are then added.
inline std::size_t table_size(std::size_t n_leaves, std::size_t Kp) { return n_leaves * (2 * Kp + 1); }
constexpr std::size_t kSmallTable = 1 << 15;  // numbers; with these, sums over leaves fit in a thread's cache

inline std::vector<std::uint64_t> diagonal_sums(const RowLeaves& of, const LogisticArgs& p, const LeafScales& scales,
                                                int n_threads) {
  constexpr std::uint64_t constant = std::bit_cast<std::uint64_t>(0x1.8p52);  // in every addend of a table
  const std::size_t L = of.n_leaves, size = table_size(L, p.Kp), K = p.K;
  const int threads = worth_threads(of.used() * p.Kp, 1 << 14, n_threads);
  const std::size_t n_tasks = threads == 1 ? 1 : 3 * static_cast<std::size_t>(threads);
  Buffer<std::uint64_t> tables(n_tasks * size);
  parallel_for(n_tasks, threads, [&](std::size_t task) {
    std::uint64_t* own = tables.data() + task * size;
    std::vector<float> S(p.Kp);
    std::fill_n(own, size, 0);
    newton_range(p, of.rows, of.used() * task / n_tasks, of.used() * (task + 1) / n_tasks, of.leaf_of_row,
                 scales.unit(0), S.data(), own, own + L * 2 * p.Kp);
  });
  std::vector<std::uint64_t> out(L * 2 * K, 0);
  parallel_ranges(L, 16, worth_threads(n_tasks * size, kThreadWork, n_threads),
                  [&](std::size_t begin, std::size_t end) {
                    for (std::size_t task = 0; task < n_tasks; ++task)
                      for (std::size_t leaf = begin; leaf < end; ++leaf) {
                        const std::uint64_t *of_task = tables.data() + task * size, *sums = of_task + leaf * 2 * p.Kp;
                        const std::uint64_t constants = of_task[L * 2 * p.Kp + leaf] * constant;
                        std::uint64_t* to = out.data() + leaf * 2 * K;
                        for (std::size_t k = 0; k < K; ++k)
                          to[k] -= sums[k] - constants, to[K + k] += sums[p.Kp + k] - constants;
                      }
                  });
  return out;
}

// values (K) = slope / (curvature + l2) class by class. A class with almost no probability in a leaf has almost no
// curvature there, and its step would be far too long without max_step.
inline void diagonal_step(const std::uint64_t* sums, std::size_t K, const LeafScales& scales,
                          const LeafOptions& options, float* values, std::vector<float>& scratch) {
  const double inverse = scales.inverse(0);
  for (std::size_t k = 0; k < K; ++k) {
    const double g = value_of(sums[k], inverse), h = value_of(sums[K + k], inverse) + options.l2;
    values[k] = static_cast<float>(h > 0.0 ? std::clamp(g / h, -options.max_step, options.max_step) : 0.0);
  }
  if (options.thin > 0.0) thin_out(values, K, static_cast<float>(options.thin), scratch);
}

// ---- codewords in general: the whole Hessian -----------------------------------------------------------------------

// The Hessian of a leaf is Yᵀ diag(sum p) Y - sum ȳ ȳᵀ with ȳ = y_c - G. It is estimated from at most kHessianRows rows
// of the leaf, evenly spread, and scaled up: probabilities are not kept, so each row costs another soft-max. Classes
// with little probability in the leaf are replaced by an upper bound: if the estimate were below the Hessian in some
// direction, a step could be far too long there (this made a fit diverge, after 300 rounds on 438 classes).
constexpr std::size_t kHessianRows = kBlockRows;

// In single precision, the Hessian of a leaf whose probabilities are almost 0 and 1 consists of rounding errors, and so
// do some pivots if the codewords are linearly dependent. A pivot below this part of the mean diagonal of
// Yᵀ diag(sum p) Y therefore does not count as curvature.
constexpr double kNoCurvature = 1e-6;

// A step that moves a class too far is replaced by one that moves it at most this part of the limit. If steps were cut
// off at the limit itself, the leaves of a fit with learning rate 1 would oscillate between their limits (accuracy on
// digits with simplex codewords: 0.79, and 0.87 with the shorter steps).
constexpr double kSafePart = 0.2;

struct Codewords {
  const float* Y;  // (K, d)
  std::size_t K, d;
  int bound;  // the coordinates of G and ȳ are below 2^bound

  Codewords(const float* codewords, std::size_t n_classes, std::size_t columns)
      : Y(codewords), K(n_classes), d(columns) {
    float largest = 0.0f;
    for (std::size_t i = 0; i < K * d; ++i) largest = std::max(largest, std::abs(Y[i]));
    std::frexp(largest, &bound);
    ++bound;
  }
};

// Which of a leaf's rows are in this shard: those from `before` on, of `all` in the leaf.
struct LeafShare {
  std::uint64_t before, all;
};

// (L, d + 1): the gradient and the weight of all rows of the leaf.
inline std::vector<std::uint64_t> gradient_sums(const LeafRows& leaves, const LogisticArgs& p, const Codewords& code,
                                                const LeafScales& scales, int n_threads) {
  const double of_gradient = scales.unit(code.bound), of_weight = scales.unit(0);
  return sums_over_leaves(leaves, p.d + 1, n_threads,
                          [&](const std::uint32_t* rows, std::size_t n_rows, std::uint64_t* out) {
                            gradient_rows(p, rows, n_rows, of_gradient, out);
                            for (std::size_t r = 0; r < n_rows; ++r)
                              out[p.d] += rounded_bits(p.scale == nullptr ? of_weight : of_weight * p.scale[rows[r]]);
                          });
}

// The sums over a leaf's sample: sum w p (K), sum w ȳ ȳᵀ (d, d), lower triangle, and sum w.
inline std::size_t sample_size(const Codewords& code) { return code.K + code.d * code.d + 1; }

inline void sample_sums(const LogisticArgs& p, const Codewords& code, std::span<const std::uint32_t> rows,
                        const LeafShare& share, const LeafScales& scales, std::uint64_t* out) {
  const std::size_t K = code.K, d = code.d;
  std::fill(out, out + sample_size(code), 0);
  const std::uint64_t wanted = std::min<std::uint64_t>(share.all, kHessianRows);
  std::vector<std::uint32_t> sample;
  for (std::uint64_t i = 0; i < wanted; ++i) {
    const std::uint64_t rank = i * share.all / wanted;
    if (rank >= share.before && rank - share.before < rows.size()) sample.push_back(rows[rank - share.before]);
  }
  std::vector<float> Fb(kBlockRows * d), P(kBlockRows * p.Kp);
  softmax_rows(p, sample.data(), sample.size(), Fb.data(), P.data());
  std::vector<double> y(sample.size() * d), weights(sample.size());
  std::uint64_t *mass = out, *outer = out + K, *weight = outer + d * d;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const std::size_t row = sample[i];
    weights[i] = scales.unit(0) * (p.scale == nullptr ? 1.0 : p.scale[row]);
    *weight += rounded_bits(weights[i]);
    const float *own = code.Y + static_cast<std::size_t>(p.c[row]) * d, *g = p.G + row * d;
    for (std::size_t j = 0; j < d; ++j) y[i * d + j] = static_cast<double>(own[j]) - static_cast<double>(g[j]);
  }
  weigh_rows(p, P.data(), weights.data(), sample.size(), mass);
  for (double& w : weights) w *= std::ldexp(1.0, -2 * code.bound);
  hot().add_outer_bits(outer, y.data(), weights.data(), sample.size(), d);
}

// H (d, d), lower triangle, from a leaf's sums; returns the least pivot that is more than a rounding error.
inline double leaf_hessian(const Codewords& code, const std::uint64_t* sample, double all, const LeafScales& scales,
                           double* H) {
  const std::size_t K = code.K, d = code.d;
  const double of_weight = scales.inverse(0), of_outer = -scales.inverse(2 * code.bound);
  const double weights = value_of(sample[K + d * d], of_weight), scale = weights > 0.0 ? all / weights : 0.0;
  for (std::size_t i = 0; i < d * d; ++i) H[i] = value_of(sample[K + i], of_outer);
  std::vector<double> mass(K), y(d);
  double total = 0.0;
  for (std::size_t k = 0; k < K; ++k) total += mass[k] = value_of(sample[k], of_weight);
  double trace = 0.0;  // of Yᵀ diag(mass) Y
  double rest = 0.0;   // a bound on the sum over small classes, in every direction: mass times squared length
  for (std::size_t k = 0; k < K; ++k) {
    double square = 0.0;
    for (std::size_t j = 0; j < d; ++j) {
      y[j] = static_cast<double>(code.Y[k * d + j]);
      square += y[j] * y[j];
    }
    trace += mass[k] * square;
    if (mass[k] * static_cast<double>(K) < 0.002 * total) rest += mass[k] * square;
    else hot().add_outer(H, y.data(), mass[k], d);
  }
  for (std::size_t j = 0; j < d; ++j) H[j * d + j] += rest;
  for (std::size_t i = 0; i < d * d; ++i) H[i] *= scale;
  return std::max(1e-12, kNoCurvature * scale * trace / static_cast<double>(d));
}

// The furthest that a step x (d,) moves the score of a class; infinite if x is not finite.
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

// x (d,) = (H + ridge)⁻¹ g, from the lower triangle of H (d, d); returns the furthest that x moves a class, or infinity
// if the matrix is singular up to rounding errors.
inline double newton_step(const Codewords& code, std::vector<double> H, const std::vector<double>& g, double ridge,
                          double least, std::vector<double>& x) {
  const std::size_t d = code.d;
  std::vector<double> column(d);
  x = g;
  for (std::size_t j = 0; j < d; ++j) H[j * d + j] += ridge;
  const bool safe = hot().solve_positive(H.data(), x.data(), column.data(), d, least);
  return safe ? furthest(code.Y, code.K, d, x.data()) : std::numeric_limits<double>::infinity();
}

// values (d) = (H + l2)⁻¹ sum G, from the sums over all rows (d + 1) and over the sample. A class with a gradient but
// hardly any curvature, or none in the sampled rows, would take a step that is far too long (1e6 and more, until scores
// overflowed). So if H is singular, or a class would step further than max_step, more than l2 is added to the diagonal,
// as much as necessary.
inline void exact_step(const Codewords& code, const std::uint64_t* sums, const std::uint64_t* sample,
                       const LeafScales& scales, double l2, double max_step, float* values) {
  const std::size_t d = code.d;
  std::vector<double> H(d * d), g(d), x;
  const double least = leaf_hessian(code, sample, value_of(sums[d], scales.inverse(0)), scales, H.data());
  const double of_gradient = scales.inverse(code.bound);
  for (std::size_t j = 0; j < d; ++j) g[j] = value_of(sums[j], of_gradient);
  if (!is_within(newton_step(code, H, g, l2, least, x), max_step)) {
    double ridge = std::max(l2, least);
    while (std::isfinite(ridge) && !is_within(newton_step(code, H, g, ridge, least, x), kSafePart * max_step))
      ridge *= 4.0;
    if (!std::isfinite(ridge))
      std::fill(x.begin(), x.end(), std::numeric_limits<double>::quiet_NaN());  // the gradient is not finite either
  }
  for (std::size_t j = 0; j < d; ++j) values[j] = static_cast<float>(x[j]);
}

}  // namespace simplexboost
