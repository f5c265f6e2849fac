// The order in which a node's categories are tried: prefixes of it are split off as if the feature were a number.
//
// The key of a category is the ratio of two sums over its rows: one column of the statistics over the curvature (newton)
// or the row count (all other scores). With one gradient column g and weights h > 0 no subset beats the best prefix: the
// score G^2 / (H + l2) is convex in (G, H) for any l2, so the best split is a vertex of the set of all sums of subsets,
// that is, a threshold on g / h. (Hence l2 has no place in the key.) With more columns the order is a heuristic.
// Smoothing adds to every category the average of `smoothing` rows of the node, which draws small ones to the middle.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "quantize.hpp"
#include "score.hpp"

namespace simplexboost {

struct CategoryOptions {
  std::int64_t min_count = 1;  // rows in the node below which a category is left out of the order: it goes right
  double smoothing = 0.0;      // in rows
};

// The column that makes the key: the heaviest class where columns are classes (ties: the lower one), else the first.
template <class ScoreOf>
std::size_t key_column(const NodeSum& total) {
  std::size_t best = 0;
  if constexpr (ScoreOf::names_a_class)
    for (std::size_t j = 1; j < total.m; ++j)
      if (total[j] > total[best]) best = j;
  return best;
}

// The node's categories, lowest key first, ties by number. Operations in the order of the twin's.
template <class ScoreOf, class Lane>
std::vector<std::uint8_t> category_order(const Lane* bins, std::size_t n_bins, const Quantized<Lane>& q,
                                         const std::vector<std::int64_t>& total, const CategoryOptions& options) {
  const NodeSum node{total.data(), q.inverse.data(), q.m};
  const std::size_t column = key_column<ScoreOf>(node);
  const double rows = static_cast<double>(total[q.m]);
  const double prior = options.smoothing * (node[column] / rows);
  const double prior_weight = options.smoothing * (ScoreOf::has_curvature ? node[q.m - 1] / rows : 1.0);
  std::vector<std::pair<double, std::uint8_t>> keys;
  for (std::size_t b = 0; b < n_bins; ++b) {
    const Lane* bin = bins + b * q.lanes;
    if (bin[q.m] < options.min_count) continue;
    const auto of = [&](std::size_t j) { return static_cast<double>(bin[j]) * q.inverse[j]; };
    const double weight = (ScoreOf::has_curvature ? of(q.m - 1) : static_cast<double>(bin[q.m])) + prior_weight;
    keys.emplace_back(weight > 0.0 ? (of(column) + prior) / weight : 0.0, static_cast<std::uint8_t>(b));
  }
  std::sort(keys.begin(), keys.end());
  std::vector<std::uint8_t> order(keys.size());
  std::transform(keys.begin(), keys.end(), order.begin(), [](const auto& key) { return key.second; });
  return order;
}

}  // namespace simplexboost
