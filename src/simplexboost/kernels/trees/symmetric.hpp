// Growing a symmetric tree: all nodes of a level have the same split (level.hpp), so the tree is a complete binary one,
// and a row's leaf is a number whose bits are the answers of the levels. Nodes without rows are allowed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "trees/data.hpp"
#include "trees/grown.hpp"
#include "trees/histogram.hpp"
#include "trees/interactions.hpp"
#include "trees/level.hpp"
#include "trees/noise.hpp"
#include "trees/quantize.hpp"
#include "trees/source.hpp"
#include "trees/split.hpp"
#include "trees/tree.hpp"

namespace simplexboost {

constexpr std::int32_t kMostLevels = 15;  // 32768 leaves

template <class Lane, class ScoreOf>
class SymmetricGrower {
 public:
  SymmetricGrower(Source<Lane>& source, const Columns& columns, const LaneUnits& units,
                  const std::vector<std::int32_t>& features, const ScoreOf& score, const GrowOptions& options)
      : source_(source),
        columns_(columns),
        units_(units),
        features_(features),
        score_(score),
        options_(options),
        shape_(columns, units.lanes, features) {}

  Grown grow() {
    if (options_.max_depth > 0 && votes(source_.n_rows())) grow_levels();
    return finished();
  }

 private:
  // The cut of one node of the level. Only a voter has sums and, if memory allows, a histogram.
  struct Cut {
    Voter<Lane>* parent = nullptr;
    std::vector<std::int64_t> left = {};  // (m + 1,) the sums of the left child, as soon as they are known
    std::optional<Voter<Lane>> of_left = {}, of_right = {};  // the children, if they may be split in turn
  };

  bool votes(std::int64_t count) const {
    return count / 2 >= std::max<std::int64_t>(options_.split.min_samples_leaf, 1);
  }
  double score(const std::vector<std::int64_t>& sums) const {
    return score_({sums.data(), units_.inverse.data(), units_.m});
  }
  Voter<Lane> voter(std::size_t place, std::vector<std::int64_t> total, Histogram<Lane> histogram) const {
    const double own = score(total);
    return {place, std::move(total), own, std::move(histogram)};
  }
  std::vector<std::int64_t> sums_of(const Histogram<Lane>& histogram) const {
    return total_of(histogram.data(), columns_, features_, units_);
  }

  void grow_levels() {
    Histogram<Lane> root = source_.root();
    std::vector<std::int64_t> total = sums_of(root);
    std::vector<Voter<Lane>> voters;
    voters.push_back(voter(0, std::move(total), std::move(root)));
    LevelScan<Lane, ScoreOf> scan(voters[0], columns_, features_, units_, options_.split, score_);
    scan.add(voters, options_.n_threads);
    ReachPtr reach;  // of all nodes of the level
    for (std::int32_t level = 0; level < options_.max_depth; ++level) {
      const Split split = scan.best(GainNoise(options_.noise, options_.seed, static_cast<std::uint64_t>(level)));
      if (!split.found()) return;
      reach = extended(reach, split.feature, options_.interactions, features_);
      scan.clear(reach);
      cut_level(voters, split, level + 1 == options_.max_depth, scan);
    }
  }

  // Cuts every node of the level, and adds the children to the scan, unless it was the last level. If the histograms of
  // the next level fit into memory, they are kept, and those of larger children follow by subtraction. Otherwise the
  // level is cut in pieces; the histograms of both children are built, and given up as soon as they are in the scan.
  void cut_level(std::vector<Voter<Lane>>& voters, const Split& split, bool last, LevelScan<Lane, ScoreOf>& scan) {
    const std::size_t room = options_.histogram_memory / (2 * std::max<std::size_t>(1, shape_.bytes()));
    const bool keep = !voters.front().histogram.empty() && (last || voters.size() <= room);
    gains_.emplace_back(cells_.size(), 0.0);
    splits_.push_back(split);
    std::vector<Cut> cuts(cells_.size());
    for (auto& node : voters) cuts[node.place].parent = &node;
    std::vector<Order> orders;
    for (std::size_t i = 0; i < cuts.size(); ++i) orders.push_back(order(cuts[i], cells_[i], last, keep));
    std::vector<Voter<Lane>> next;
    const std::size_t piece = keep ? cuts.size() : std::max<std::size_t>(1, room);
    for (std::size_t begin = 0; begin < cuts.size(); begin += piece) {
      const std::size_t end = std::min(cuts.size(), begin + piece);
      expand(cuts, orders, begin, end, last);
      std::vector<Voter<Lane>> children;
      for (std::size_t i = begin; i < end; ++i)
        for (auto* child : {&cuts[i].of_left, &cuts[i].of_right})
          if (*child) children.push_back(std::move(**child));
      if (!children.empty()) scan.add(children, options_.n_threads);
      for (auto& child : children) {
        if (!keep) child.histogram.reset();
        next.push_back(std::move(child));
      }
    }
    cells_.clear();
    for (const Order& of : orders) cells_.insert(cells_.end(), {of.left, of.right});
    voters = std::move(next);
  }

  // How to cut a node. If its histogram is known, so are the sums of its children.
  Order order(Cut& cut, Cell cell, bool last, bool keep) {
    Order out{cell, n_cells_, n_cells_ + 1, splits_.back(), false, false};
    n_cells_ += 2;
    if (cut.parent == nullptr) return out;
    if (cut.parent->histogram.empty()) {
      out.build_left = true;
      out.build_right = !last;
      return out;
    }
    cut.left = sums_on_the_left(*cut.parent);
    if (last) return out;
    const std::int64_t left = cut.left[units_.m], right = cut.parent->total[units_.m] - left;
    if (!keep) {
      cut.parent->histogram.reset();
      out.build_left = votes(left);
      out.build_right = votes(right);
    } else if (votes(std::max(left, right)) && std::min(left, right) > 0) {
      (left <= right ? out.build_left : out.build_right) = true;
    }
    return out;
  }

  std::vector<std::int64_t> sums_on_the_left(const Voter<Lane>& node) const {
    const Split& split = splits_.back();
    const auto f = static_cast<std::size_t>(split.feature);
    const auto n_bins = static_cast<std::size_t>(columns_.n_bins[f]);
    std::vector<std::int64_t> sums(units_.m + 1, 0);
    for (std::size_t b = 0; b < n_bins + (columns_.has_missing[f] ? 1 : 0); ++b) {
      const bool left = split.categorical ? split.left.has(b) : b == n_bins ? split.missing_left : b <= split.bin;
      if (!left) continue;
      const Lane* bin = node.histogram.data() + (columns_.offset[f] + b) * units_.lanes;
      for (std::size_t j = 0; j <= units_.m; ++j) sums[j] += bin[j];
    }
    return sums;
  }

  // Cuts the nodes begin .. end - 1 of the level.
  void expand(std::vector<Cut>& cuts, const std::vector<Order>& orders, std::size_t begin, std::size_t end, bool last) {
    const auto first = orders.begin() + static_cast<std::ptrdiff_t>(begin);
    const std::vector<Order> some(first, first + static_cast<std::ptrdiff_t>(end - begin));
    source_.expand(some, [&](std::size_t i, Histogram<Lane> left, Histogram<Lane> right, int n_threads) {
      if (cuts[begin + i].parent == nullptr) return;
      take_children(cuts[begin + i], begin + i, std::move(left), std::move(right), last, n_threads);
    });
  }

  void take_children(Cut& cut, std::size_t place, Histogram<Lane> left, Histogram<Lane> right, bool last,
                     int n_threads) {
    Voter<Lane>& parent = *cut.parent;
    if (cut.left.empty()) cut.left = sums_of(left);
    std::vector<std::int64_t> right_sums(parent.total);
    for (std::size_t j = 0; j < right_sums.size(); ++j) right_sums[j] -= cut.left[j];
    const std::int64_t n_left = cut.left[units_.m], n_right = right_sums[units_.m];
    if (std::min(n_left, n_right) >= std::max<std::int64_t>(options_.split.min_samples_leaf, 1))
      gains_.back()[place] = score(cut.left) + score(right_sums) - parent.own;
    if (last) return;
    if (!parent.histogram.empty()) {
      Histogram<Lane>&small = n_left <= n_right ? left : right, &large = n_left <= n_right ? right : left;
      large = std::move(parent.histogram);
      if (!small.empty()) shape_.subtract(large.data(), small.data(), n_threads);
    }
    if (votes(n_left)) cut.of_left = voter(2 * place, std::move(cut.left), std::move(left));
    if (votes(n_right)) cut.of_right = voter(2 * place + 1, std::move(right_sums), std::move(right));
  }

  // Nodes are in the order of levels, so the children of node i are 2 i + 1 and 2 i + 2.
  Grown finished() {
    Grown grown;
    Tree& tree = grown.tree;
    const std::size_t n_leaves = cells_.size(), n_inner = n_leaves - 1;
    tree.nodes.resize(n_inner + n_leaves);
    tree.gain.assign(n_inner + n_leaves, 0.0);
    tree.count.assign(n_inner + n_leaves, source_.n_rows());
    if (n_inner > 0) count_rows(tree.count, n_inner);
    for (std::size_t level = 0; level < splits_.size(); ++level) record(tree, level);
    for (std::size_t leaf = 0; leaf < n_leaves; ++leaf)
      tree.nodes[n_inner + leaf].left = static_cast<std::int32_t>(leaf);
    tree.n_leaves = n_leaves;
    grown.leaf_cell = std::move(cells_);
    return grown;
  }

  void count_rows(std::vector<std::int64_t>& count, std::size_t n_inner) {
    const auto sizes = source_.cell_sizes(cells_);
    std::copy(sizes.begin(), sizes.end(), count.begin() + static_cast<std::ptrdiff_t>(n_inner));
    for (std::size_t i = n_inner; i-- > 0;) count[i] = count[2 * i + 1] + count[2 * i + 2];
  }

  void record(Tree& tree, std::size_t level) const {
    const Split& split = splits_[level];
    const std::size_t width = std::size_t{1} << level, first = width - 1;
    std::int64_t left = 0, right = 0;
    for (std::size_t i = first; i < first + width; ++i) left += tree.count[2 * i + 1], right += tree.count[2 * i + 2];
    Node node;
    node.feature = split.feature;
    node.bin = split.bin;
    // If no row lacks a value of the feature, those that do in later data go to the larger side (ties: left).
    node.missing_left = split.missing_seen ? split.missing_left : left >= right;
    if (split.categorical) {
      node.category = static_cast<std::int32_t>(tree.category_sets.size());
      tree.category_sets.push_back(split.left);
      if (node.missing_left) tree.category_sets.back().add(static_cast<std::size_t>(columns_.n_bins[split.feature]));
    }
    for (std::size_t i = 0; i < width; ++i) {
      node.left = static_cast<std::int32_t>(2 * (first + i) + 1);
      tree.nodes[first + i] = node;
      tree.gain[first + i] = gains_[level][i];
    }
  }

  Source<Lane>& source_;
  const Columns& columns_;
  const LaneUnits& units_;
  const std::vector<std::int32_t>& features_;
  const ScoreOf& score_;
  const GrowOptions& options_;
  HistogramShape<Lane> shape_;
  std::vector<Cell> cells_ = {0};           // of the level's nodes
  std::vector<Split> splits_;               // of every level
  std::vector<std::vector<double>> gains_;  // of every level's nodes
  Cell n_cells_ = 1;
};

}  // namespace simplexboost
