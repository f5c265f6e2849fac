// The best split of a level of a symmetric tree: the one with the highest sum of scores over the children of all nodes.
//
// A node votes for a split if both of its children have enough rows; otherwise it counts with its own score, a gain of
// zero. Nodes are added one after another, so their histograms need not be in memory together. The rows of a level are
// those of the root, so the histograms of the root tell which features have missing values, and the order of
// categories, for all levels.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/hot.hpp"
#include "core/pool.hpp"
#include "trees/categories.hpp"
#include "trees/data.hpp"
#include "trees/histogram.hpp"
#include "trees/interactions.hpp"
#include "trees/noise.hpp"
#include "trees/quantize.hpp"
#include "trees/score.hpp"
#include "trees/split.hpp"

namespace simplexboost {

// A node of the level that has enough rows to be split.
template <class Lane>
struct Voter {
  std::size_t place;                // in the level
  std::vector<std::int64_t> total;  // (m + 1,) sums of its rows, and their number
  double own;                       // its score
  Histogram<Lane> histogram;
};

template <class Lane, class ScoreOf>
class LevelScan {
 public:
  LevelScan(const Voter<Lane>& root, const Columns& columns, const std::vector<std::int32_t>& features,
            const LaneUnits& units, const SplitOptions& options, const ScoreOf& score)
      : columns_(columns), units_(units), options_(options), score_(score) {
    std::size_t size = 0;
    for (std::int32_t feature : features) {
      const auto f = static_cast<std::size_t>(feature);
      const Lane* bins = root.histogram.data() + columns.offset[f] * units.lanes;
      const auto n_bins = static_cast<std::size_t>(columns.n_bins[f]);
      Plan plan{feature, n_bins, columns.categorical[f] != 0, false, {}, 0, 0};
      plan.missing = columns.has_missing[f] != 0 && bins[n_bins * units.lanes + units.m] > 0;
      if (plan.categorical) plan.order = category_order<ScoreOf>(bins, n_bins, units, root.total, options.categories);
      plan.right = size;
      plan.left = size + room(n_bins);
      size = plan.missing ? plan.left + room(n_bins) : plan.left;
      plans_.push_back(std::move(plan));
    }
    scores_.resize(size);
    votes_.resize(size);
    clear();
  }

  // Forgets the nodes, for the next level, which may split what is in reach.
  void clear(ReachPtr reach = nullptr) {
    reach_ = std::move(reach);
    own_ = 0.0;
    std::fill(scores_.begin(), scores_.end(), 0.0);
    std::fill(votes_.begin(), votes_.end(), std::uint8_t{0});
  }

  // Adds nodes; sums are in the order in which nodes are added. A task has all nodes of some features.
  void add(const std::vector<Voter<Lane>>& nodes, int n_threads) {
    const int threads = worth_threads(nodes.size() * columns_.total_bins() * units_.m, kThreadScan, n_threads);
    const std::size_t grain = nodes.size() < 4 ? 8 : 2;  // features per task
    parallel_ranges(plans_.size(), grain, threads, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        for (const auto& node : nodes)
          if (allows(reach_, i)) add_node(plans_[i], node);
    });
    for (const auto& node : nodes) own_ += node.own;
  }

  // The best split of the level.
  Split best(const GainNoise& noise) const {
    std::vector<Split> candidates;
    for (std::size_t i = 0; i < plans_.size(); ++i)
      if (allows(reach_, i)) candidates.push_back(best_of(plans_[i]));
    return choose(candidates, own_, noise);
  }

 private:
  // A feature, with the place of its sums: those of splits that send missing values right, and left.
  struct Plan {
    std::int32_t feature;
    std::size_t n_bins;
    bool categorical, missing;
    std::vector<std::uint8_t> order;  // of categories
    std::size_t right, left;

    // The number of splits. If missing values go right, the last bin is one too: all known values against them.
    std::size_t end(bool missing_left) const {
      if (categorical) return order.size();
      return missing && !missing_left ? n_bins : n_bins - 1;
    }
  };

  static std::size_t room(std::size_t n_bins) { return (n_bins + 7) / 8 * 8; }  // the vector loops write eight numbers

  void add_node(const Plan& plan, const Voter<Lane>& node) {
    for (const bool missing_left : {false, true}) {
      if (missing_left && !plan.missing) continue;
      double* scores = scores_.data() + (missing_left ? plan.left : plan.right);
      std::uint8_t* votes = votes_.data() + (missing_left ? plan.left : plan.right);
      if constexpr (ScoreOf::scan == Scan::newton)
        if (units_.m == 2 && !plan.categorical) {
          add_newton(plan, node, missing_left, scores, votes);
          continue;
        }
      if (plan.categorical) add_scan(plan, node, missing_left, ByOrder{plan.order}, scores, votes);
      else add_scan(plan, node, missing_left, InOrder{}, scores, votes);
    }
  }

  const Lane* bins_of(const Plan& plan, const Voter<Lane>& node) const {
    return node.histogram.data() + columns_.offset[static_cast<std::size_t>(plan.feature)] * units_.lanes;
  }

  std::int64_t min_samples() const { return std::max<std::int64_t>(options_.min_samples_leaf, 1); }

  // One gradient and one curvature column, as the flagship has: eight bins at a time.
  void add_newton(const Plan& plan, const Voter<Lane>& node, bool missing_left, double* scores,
                  std::uint8_t* votes) const {
    const Lane* bins = bins_of(plan, node);
    Lane begin[3] = {}, total[3];
    for (std::size_t j = 0; j < 3; ++j) {
      total[j] = static_cast<Lane>(node.total[j]);
      if (missing_left) begin[j] = bins[plan.n_bins * units_.lanes + j];
    }
    if constexpr (ScoreOf::scan == Scan::newton)
      hot().template lanes<Lane>().newton_votes(bins, plan.end(missing_left), begin, total, units_.inverse.data(),
                                                score_.l2, min_samples(), node.own, scores, votes);
  }

  // Any score, from the scan of the node (split.hpp). That leaves out bins without rows in the node. They have the
  // score of the bin before; those at the front that of what is on the left before the first bin, the missing values.
  template <class At>
  void add_scan(const Plan& plan, const Voter<Lane>& node, bool missing_left, const At& at, double* scores,
                std::uint8_t* votes) const {
    const FeatureScan<Lane, ScoreOf> scan(bins_of(plan, node), plan.n_bins, plan.missing, units_, node.total, options_,
                                          score_);
    const std::size_t end = plan.end(missing_left), m = units_.m;
    std::size_t next = 0;
    double score = node.own;
    bool voted = false;
    const auto repeat_until = [&](std::size_t last) {
      for (; next < last; ++next) scores[next] += score, votes[next] |= voted;
    };
    if (missing_left) score = score_of_part(scan.bin(plan.n_bins), node, voted);
    scan.scan(missing_left, end, at, [&](double both, std::size_t i, std::int64_t) {
      repeat_until(i);
      score = both;
      voted = true;
      repeat_until(i + 1);
    });
    std::size_t last = next;
    while (last < end && scan.bin(at(last))[m] == 0) ++last;
    repeat_until(last);
    score = node.own;  // too few rows are left on the right
    voted = false;
    repeat_until(end);
  }

  // The score of the node if these rows go left, or its own if it does not vote.
  double score_of_part(const Lane* part, const Voter<Lane>& node, bool& voted) const {
    const std::size_t m = units_.m;
    std::vector<std::int64_t> left(part, part + m + 1), right(node.total);
    for (std::size_t j = 0; j <= m; ++j) right[j] -= left[j];
    voted = left[m] >= min_samples() && right[m] >= min_samples();
    if (!voted) return node.own;
    return score_({left.data(), units_.inverse.data(), m}) + score_({right.data(), units_.inverse.data(), m});
  }

  // A bin without rows in any node has the score of the bin before, and so loses to it.
  Split best_of(const Plan& plan) const {
    Split split;
    for (const bool missing_left : {false, true}) {
      if (missing_left && !plan.missing) continue;
      const std::size_t first = missing_left ? plan.left : plan.right;
      std::uint8_t near[kMostBins + 1];
      const std::size_t n_near =
          hot().near_largest(scores_.data() + first, votes_.data() + first, plan.end(missing_left), kNear, near);
      for (std::size_t k = 0; k < n_near; ++k) {
        const std::size_t i = near[k];
        if (!split.loses_to(scores_[first + i])) continue;
        split.score = scores_[first + i];
        split.feature = plan.feature;
        split.bin = static_cast<std::uint8_t>(i);
        split.missing_left = missing_left;
      }
    }
    split.missing_seen = plan.missing;
    if (split.found() && plan.categorical) take_categories(split, plan);
    return split;
  }

  static void take_categories(Split& split, const Plan& plan) {
    split.categorical = true;
    for (std::size_t i = 0; i <= split.bin; ++i) split.left.add(plan.order[i]);
    if (split.missing_left) split.left.add(plan.n_bins);
    split.bin = 0;
  }

  const Columns& columns_;
  const LaneUnits& units_;
  const SplitOptions& options_;
  const ScoreOf& score_;
  std::vector<Plan> plans_;
  std::vector<double> scores_;       // sums of the nodes' scores
  std::vector<std::uint8_t> votes_;  // whether a node votes for the split
  double own_ = 0.0;                 // the sum of the nodes' own scores
  ReachPtr reach_;                   // what the level may split
};

}  // namespace simplexboost
