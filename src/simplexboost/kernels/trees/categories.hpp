// The order of a node's categories; splits are searched as if the feature were a number that has this order.
//
// A category is a point: the sums of its rows' statistics, divided by the sum of their curvature (newton) or by their
// number (all other scores). With one column g and weights h > 0 no subset is better than the best prefix of the order
// of g / h: the score G^2 / (H + l2) is convex in (G, H) for any l2, so its largest value lies at a vertex of the set
// of all sums of subsets, that is, at a threshold on g / h. (Hence the point does not contain l2.) With more columns
// the best cut is one by a hyperplane. The order is then that along the axis in which the points differ most, a
// heuristic that comes within a few percent of the best gain, where the order of the first column alone loses a sixth.
// Smoothing adds a number of average rows of the node to every category, which moves small categories to the middle.
// Operations are in the same order as in the NumPy version, `category_order` in tests/twin/trees.py.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "trees/quantize.hpp"
#include "trees/score.hpp"

namespace simplexboost {

constexpr int kAxisSteps = 3;  // of power iteration, from the farthest point; eight steps gain at most one percent more

struct CategoryOptions {
  std::int64_t min_count = 1;  // a category with fewer rows in the node is left out of the order and goes right
  double smoothing = 0.0;      // in rows
};

// The categories of a node as points relative to the node's, divided by the largest coordinate, so that nothing
// overflows.
struct CategoryPoints {
  std::size_t d;
  std::vector<std::uint8_t> category = {};
  std::vector<double> weight = {};  // they sum to one
  std::vector<double> at = {};      // (points, d)

  std::size_t size() const { return category.size(); }
  const double* point(std::size_t i) const { return at.data() + i * d; }
  double along(const std::vector<double>& axis, std::size_t i) const {
    double sum = 0.0;
    for (std::size_t j = 0; j < d; ++j) sum += point(i)[j] * axis[j];
    return sum;
  }
};

// The ratio is never infinite, however small the weight: infinite points could not be ordered along an axis.
inline double bounded_ratio(double sum, double weight) { return std::clamp(sum / weight, -1e300, 1e300); }

template <class ScoreOf, class Lane>
CategoryPoints category_points(const Lane* bins, std::size_t n_bins, const LaneUnits& q,
                               const std::vector<std::int64_t>& total, const CategoryOptions& options) {
  const NodeSum node{total.data(), q.inverse.data(), q.m};
  const double rows = static_cast<double>(total[q.m]);
  const double node_weight = ScoreOf::has_curvature ? node[q.m - 1] : rows;
  CategoryPoints points{q.m - (ScoreOf::has_curvature ? 1 : 0)};
  double largest = 0.0, weights = 0.0;
  for (std::size_t b = 0; b < n_bins; ++b) {
    const Lane* bin = bins + b * q.lanes;
    if (bin[q.m] < options.min_count) continue;
    const auto of = [&](std::size_t j) { return static_cast<double>(bin[j]) * q.inverse[j]; };
    const double weight = (ScoreOf::has_curvature ? of(q.m - 1) : static_cast<double>(bin[q.m])) +
                          options.smoothing * (node_weight / rows);
    points.category.push_back(static_cast<std::uint8_t>(b));
    points.weight.push_back(weight);
    weights += weight;
    for (std::size_t j = 0; j < points.d; ++j) {
      const double mean = node_weight > 0.0 ? bounded_ratio(node[j], node_weight) : 0.0;
      const double x = weight > 0.0 ? bounded_ratio(of(j) + options.smoothing * (node[j] / rows), weight) - mean : 0.0;
      points.at.push_back(x);
      largest = std::max(largest, std::abs(x));
    }
  }
  if (largest > 0.0)
    for (double& x : points.at) x /= largest;
  if (weights > 0.0)
    for (double& weight : points.weight) weight /= weights;
  return points;
}

// Divides by the coordinate of largest absolute value (ties: the first), including its sign; returns false if all are
// zero.
inline bool scale_axis(std::vector<double>& axis) {
  double largest = 0.0;
  for (double x : axis)
    if (std::abs(x) > std::abs(largest)) largest = x;
  if (largest == 0.0) return false;
  for (double& x : axis) x /= largest;
  return true;
}

// The direction in which the points differ most; with one column, that column.
inline std::vector<double> main_axis(const CategoryPoints& points) {
  std::size_t farthest = 0;
  double most = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < points.size(); ++i) {
    double squares = 0.0;
    for (std::size_t j = 0; j < points.d; ++j) squares += points.point(i)[j] * points.point(i)[j];
    if (points.weight[i] * squares > most) most = points.weight[i] * squares, farthest = i;
  }
  std::vector<double> axis(points.point(farthest), points.point(farthest) + points.d), next(points.d);
  if (!scale_axis(axis)) axis[0] = 1.0;  // all points are equal
  for (int step = 0; step < (points.d > 1 ? kAxisSteps : 0); ++step) {
    std::fill(next.begin(), next.end(), 0.0);
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double pull = points.weight[i] * points.along(axis, i);
      for (std::size_t j = 0; j < points.d; ++j) next[j] += pull * points.point(i)[j];
    }
    if (!scale_axis(next)) break;
    std::swap(axis, next);
  }
  return axis;
}

// The node's categories in ascending order, ties by number.
template <class ScoreOf, class Lane>
std::vector<std::uint8_t> category_order(const Lane* bins, std::size_t n_bins, const LaneUnits& q,
                                         const std::vector<std::int64_t>& total, const CategoryOptions& options) {
  const auto points = category_points<ScoreOf>(bins, n_bins, q, total, options);
  if (points.size() == 0) return {};
  const auto axis = main_axis(points);
  std::vector<std::pair<double, std::uint8_t>> keys;
  for (std::size_t i = 0; i < points.size(); ++i) keys.emplace_back(points.along(axis, i), points.category[i]);
  std::sort(keys.begin(), keys.end());
  std::vector<std::uint8_t> order;
  for (const auto& key : keys) order.push_back(key.second);
  return order;
}

}  // namespace simplexboost
