// Node scores: a score turns the sum of a node's statistics into a number, and the best split is the one whose two
// children have the highest sum of scores. The order of operations is fixed: the NumPy version
// (tests/twin/trees.py) performs the same ones and must get the same bits. A score also says whether its last
// column is a curvature, for the order of categories (categories.hpp), and which scan of a feature's bins is fastest
// (Scan).
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace simplexboost {

enum class Score : int { newton = 0, norm = 1, max = 2, sign = 3, entropy = 4, gini = 5 };

// The kinds of scans of a feature's bins that scores allow; FeatureScan (split.hpp) says what each one saves.
enum class Scan { sums, newton, max, gini, entropy };

struct NodeSum {
  const std::int64_t* sum;  // (m,) lane units
  const double* inverse;    // (m,)
  std::size_t m;
  double operator[](std::size_t j) const { return static_cast<double>(sum[j]) * inverse[j]; }
};

// ||sum G||^2 / (sum h + l2): G in the first m - 1 columns, the curvature h in the last.
struct NewtonScore {
  static constexpr bool has_curvature = true;
  static constexpr Scan scan = Scan::newton;
  double l2;
  double operator()(const NodeSum& v) const {
    const double h = v[v.m - 1] + l2;
    double squares = 0.0;
    for (std::size_t j = 0; j + 1 < v.m; ++j) squares += v[j] * v[j];
    return h > 0.0 ? squares / h : 0.0;
  }
};

// ||sum G||: what a leaf of unit length can gain.
struct NormScore {
  static constexpr bool has_curvature = false;
  static constexpr Scan scan = Scan::sums;
  double operator()(const NodeSum& v) const {
    double squares = 0.0;
    for (std::size_t j = 0; j < v.m; ++j) squares += v[j] * v[j];
    return std::sqrt(squares);
  }
};

// max_k sum V_k: what a leaf that names one class can gain.
struct MaxScore {
  static constexpr bool has_curvature = false;
  static constexpr Scan scan = Scan::max;
  double operator()(const NodeSum& v) const {
    double best = v[0];
    for (std::size_t j = 1; j < v.m; ++j) best = v[j] > best ? v[j] : best;
    return best;
  }
};

// sum_k |sum V_k|: what a leaf with one sign per class can gain.
struct SignScore {
  static constexpr bool has_curvature = false;
  static constexpr Scan scan = Scan::sums;
  double operator()(const NodeSum& v) const {
    double total = 0.0;
    for (std::size_t j = 0; j < v.m; ++j) total += std::abs(v[j]);
    return total;
  }
};

// Minus the weighted entropy, sum_k w_k log w_k - w log w, of class weights w_k >= 0.
struct EntropyScore {
  static constexpr bool has_curvature = false;
  static constexpr Scan scan = Scan::entropy;
  double operator()(const NodeSum& v) const {
    double total = 0.0, score = 0.0;
    for (std::size_t j = 0; j < v.m; ++j) {
      const double w = v[j];
      if (w <= 0.0) continue;
      total += w;
      score += w * std::log(w);
    }
    return total > 0.0 ? score - total * std::log(total) : 0.0;
  }
};

// sum_k w_k^2 / sum_k w_k of class weights: the larger, the less Gini impurity. There are eight partial sums, which are
// then added.
struct GiniScore {
  static constexpr bool has_curvature = false;
  static constexpr Scan scan = Scan::gini;
  double operator()(const NodeSum& v) const {
    double squares[8] = {}, sums[8] = {};
    for (std::size_t j = 0; j < v.m; ++j) squares[j % 8] += v[j] * v[j], sums[j % 8] += v[j];
    const double total = combined(sums);
    return total > 0.0 ? combined(squares) / total : 0.0;
  }
  static double combined(const double* x) { return ((x[0] + x[4]) + (x[1] + x[5])) + ((x[2] + x[6]) + (x[3] + x[7])); }
};

// Calls use(score functor) for the score named at run time: one compiled split search per score.
template <class Use>
auto with_score(Score score, double l2, Use&& use) {
  switch (score) {
    case Score::newton:
      return use(NewtonScore{l2});
    case Score::norm:
      return use(NormScore{});
    case Score::max:
      return use(MaxScore{});
    case Score::sign:
      return use(SignScore{});
    case Score::gini:
      return use(GiniScore{});
    default:
      return use(EntropyScore{});
  }
}

}  // namespace simplexboost
