// Fast prediction: a forest is packed once, then 8 rows at a time go down its trees together.
//
// Every value is replaced by its rank among all thresholds that the forest has for its feature. A node is then one
// 64-bit word (from low to high: 15 bits of rank, missing_left, 16 bits of left child, 32 bits of the place of the
// feature's ranks), and a step down a tree is two loads, a comparison and an addition. The child of a leaf is the leaf
// itself, so that all rows take as many steps as the tree is deep. The rank of a category is its number. A node that
// splits categories has its highest bit set and holds the number of its category set in place of a rank; only trees
// with such nodes use the slower loop that tests for them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "core/hot.hpp"
#include "core/pool.hpp"
#include "forest/predict.hpp"
#include "trees/tree.hpp"

namespace simplexboost {

template <class Leaf>
class Forest {
 public:
  // Trees one after another in flat arrays; tree t has nodes[first_node[t] .. first_node[t + 1]) and its leaf values
  // from first_value[t]; it adds to column coordinate[t] of F, or to all d of them where that is -1. Its category sets
  // begin at first_set[t]. If most values are zero, only the others are stored: leaf l, counted through all trees, has
  // those from row_start[l] to row_start[l + 1], and `columns` holds their columns of F; otherwise `columns` is null.
  Forest(const Node* nodes, const std::int64_t* first_node, const Leaf* values, std::size_t n_values,
         const std::int64_t* first_value, const std::int32_t* columns, const std::int64_t* row_start,
         std::size_t n_rows, const std::int32_t* coordinate, const double* step, const CategorySet* sets,
         const std::int64_t* first_set, std::size_t n_trees, std::size_t n_features)
      : values_(values, values + n_values),
        first_value_(first_value, first_value + n_trees + 1),
        coordinate_(coordinate, coordinate + n_trees),
        thresholds_(n_features),
        sets_(sets, sets + first_set[n_trees]),
        first_set_(first_set, first_set + n_trees + 1),
        categorical_(n_features, false) {
    if (columns != nullptr) {
      columns_.assign(columns, columns + n_values);
      row_start_.assign(row_start, row_start + n_rows + 1);
    }
    check(nodes, first_node, n_trees);
    for (std::int64_t i = 0; i < first_node[n_trees]; ++i) {
      if (nodes[i].feature < 0) continue;
      const auto f = static_cast<std::size_t>(nodes[i].feature);
      if (nodes[i].category >= 0) categorical_[f] = true;
      else thresholds_[f].push_back(nodes[i].threshold);
    }
    for (std::size_t f = 0; f < n_features; ++f)
      if (categorical_[f] && !thresholds_[f].empty())
        throw std::invalid_argument("a feature has both categories and thresholds");
    for (auto& t : thresholds_) {
      std::sort(t.begin(), t.end());
      t.erase(std::unique(t.begin(), t.end()), t.end());
      if (t.size() > kHighestRank)
        throw std::length_error("a feature with too many thresholds");  // else a rank exceeds a leaf's
    }
    for (std::size_t t = 0; t < n_trees; ++t) {
      add_tree(nodes + first_node[t], static_cast<std::size_t>(first_node[t + 1] - first_node[t]));
      for (std::int64_t v = first_value[t]; v < first_value[t + 1]; ++v)
        values_[static_cast<std::size_t>(v)] *= static_cast<Leaf>(step[t]);
    }
  }

  // Whether X may have p columns and F may have d.
  bool fits(std::size_t p, std::size_t d) const {
    return p == thresholds_.size() && least_columns_ <= d && d <= most_columns_;
  }

  // F (n, d) += the trees' values, tree after tree; call it only if fits(p, d).
  template <class Value>
  void predict(const Value* X, std::size_t n, std::size_t d, Leaf* F, int n_threads) const {
    const std::size_t p = thresholds_.size();
    // Rows per task: their scores and ranks stay in the second-level cache while all trees are read.
    const std::size_t block = std::clamp<std::size_t>((1 << 15) / (d * sizeof(Leaf) + p * 4), 4, 64) * kGroup;
    parallel_ranges(n, block, n_threads, [&](std::size_t begin, std::size_t end) {
      const std::size_t groups = (end - begin + kGroup - 1) / kGroup;
      std::vector<std::int32_t> ranks(groups * p * kGroup, 0);
      std::vector<std::uint32_t> at(groups * kGroup);
      bool missing = false;
      for (std::size_t f = 0; f < p; ++f) missing |= rank_column(X, p, f, begin, end, ranks.data());
      const auto walk = missing ? hot().walk_missing : hot().walk;
      for (std::size_t t = 0; t < depth_.size(); ++t) {
        const std::uint64_t* nodes = (missing ? nodes_ : plain_nodes_).data() + first_node_[t];
        if (first_set_[t] < first_set_[t + 1]) walk_mixed(t, groups, ranks.data(), at.data());
        else
          for (std::size_t g = 0; g < groups; ++g)
            walk(nodes, depth_[t], ranks.data() + g * p * kGroup, at.data() + g * kGroup);
        add(t, at.data(), begin, end, d, F);
      }
    });
  }

 private:
  // Everything that `predict` relies on is checked here, once, so that it never reads or writes outside its arrays,
  // whatever they hold: a model may come from a damaged or hand-made file. Also finds how many columns F may have.
  void check(const Node* nodes, const std::int64_t* first_node, std::size_t n_trees) {
    check_starts(first_node, n_trees);
    check_starts(first_value_.data(), n_trees);
    check_starts(first_set_.data(), n_trees);
    if (!row_start_.empty()) check_starts(row_start_.data(), row_start_.size() - 1);
    std::size_t leaf = 0;  // of all trees
    for (std::size_t t = 0; t < n_trees; ++t) {
      const auto size = static_cast<std::size_t>(first_node[t + 1] - first_node[t]), n_leaves = (size + 1) / 2;
      check_tree(nodes + first_node[t], size, static_cast<std::size_t>(first_set_[t + 1] - first_set_[t]),
                 thresholds_.size());
      check_values(t, leaf, n_leaves);
      leaf += n_leaves;
    }
    for (std::int32_t column : columns_) need_column(column);
    if (least_columns_ > most_columns_)
      throw std::invalid_argument("the trees answer with different numbers of columns");
  }

  static void check_starts(const std::int64_t* first, std::size_t n) {
    if (first[0] != 0 || !std::is_sorted(first, first + n + 1))
      throw std::invalid_argument("where trees begin must ascend from zero");
  }

  void check_values(std::size_t t, std::size_t first_leaf, std::size_t n_leaves) {
    const auto n_values = static_cast<std::size_t>(first_value_[t + 1] - first_value_[t]);
    if (coordinate_[t] < -1) throw std::invalid_argument("a coordinate below -1");
    if (!row_start_.empty()) {
      if (coordinate_[t] >= 0) throw std::invalid_argument("sparse values belong to all coordinates");
      if (row_start_[first_leaf] != first_value_[t])
        throw std::invalid_argument("the first row of a tree must begin at its first value");
    } else if (coordinate_[t] >= 0) {
      need_column(coordinate_[t]);
      if (n_values != n_leaves) throw std::invalid_argument("a tree of one coordinate must have a value per leaf");
    } else {
      if (n_values == 0 || n_values % n_leaves != 0)
        throw std::invalid_argument("the leaves of a tree must have as many values each");
      least_columns_ = std::max(least_columns_, n_values / n_leaves);
      most_columns_ = std::min(most_columns_, n_values / n_leaves);
    }
  }

  void need_column(std::int32_t column) {
    if (column < 0) throw std::invalid_argument("a column below zero");
    least_columns_ = std::max(least_columns_, static_cast<std::size_t>(column) + 1);
  }

  void add_tree(const Node* nodes, std::size_t size) {
    first_node_.push_back(nodes_.size());
    first_leaf_.push_back(n_leaves_);
    n_leaves_ += (size + 1) / 2;  // every split makes one more
    std::vector<std::int32_t> depth(size, 0);
    for (std::size_t i = 0; i < size; ++i) {
      const Node& node = nodes[i];
      leaf_.push_back(node.feature < 0 ? node.left : -1);
      if (node.feature < 0) {  // no rank is above the highest, and missing values go left: both stay at the leaf
        push(i, kHighestRank, true, false, 0);
        continue;
      }
      const auto& t = thresholds_[static_cast<std::size_t>(node.feature)];
      const bool splits_categories = node.category >= 0;  // `check` has verified that its set exists
      const auto rank =
          splits_categories
              ? static_cast<std::size_t>(node.category)
              : static_cast<std::size_t>(std::lower_bound(t.begin(), t.end(), node.threshold) - t.begin());
      push(static_cast<std::size_t>(node.left), rank, node.missing_left != 0, splits_categories,
           static_cast<std::size_t>(node.feature) * kGroup);
      for (std::int32_t child = node.left; child <= node.left + 1; ++child)
        depth[static_cast<std::size_t>(child)] = std::max(depth[static_cast<std::size_t>(child)], depth[i] + 1);
    }
    depth_.push_back(*std::max_element(depth.begin(), depth.end()));
  }

  static constexpr std::size_t kHighestRank = 0x7fff;

  void push(std::size_t left, std::size_t rank, bool missing_left, bool splits_categories, std::size_t where) {
    if (left > 0xffff || rank > kHighestRank)
      throw std::length_error("a tree of more than 65535 nodes, or too many thresholds");
    plain_nodes_.push_back(rank | left << 16 | where << 32 | std::uint64_t{splits_categories} << 63);
    nodes_.push_back(plain_nodes_.back() | (missing_left ? 0x8000u : 0u));
  }

  // Goes down a tree that has splits of categories.
  void walk_mixed(std::size_t t, std::size_t groups, const std::int32_t* ranks, std::uint32_t* at) const {
    const std::uint8_t* sets = sets_[static_cast<std::size_t>(first_set_[t])].bytes;
    for (std::size_t g = 0; g < groups; ++g)
      hot().walk_categories(nodes_.data() + first_node_[t], depth_[t], ranks + g * thresholds_.size() * kGroup, sets,
                            at + g * kGroup);
  }

  static std::int32_t rank_of(const std::vector<double>& t, double x) {
    if (std::isnan(x)) return kMissingRank;
    const double* low = t.data();  // branch-free lower bound
    for (std::size_t size = t.size(); size > 1; size -= size / 2) low += low[size / 2 - 1] < x ? size / 2 : 0;
    return static_cast<std::int32_t>(low - t.data()) + (*low < x);
  }

  static std::int32_t rank_of_category(double x) {
    const int category = category_of(x);
    return category == kNoCategory ? kMissingRank : category;
  }

  // Writes the ranks of a column; returns whether any value is missing.
  template <class Value>
  bool rank_column(const Value* X, std::size_t p, std::size_t f, std::size_t begin, std::size_t end,
                   std::int32_t* ranks) const {
    const auto& t = thresholds_[f];
    if (categorical_[f]) return fill_ranks(X, p, f, begin, end, ranks, rank_of_category);
    return !t.empty() && fill_ranks(X, p, f, begin, end, ranks, [&t](double x) { return rank_of(t, x); });
  }

  template <class Value, class RankOf>
  static bool fill_ranks(const Value* X, std::size_t p, std::size_t f, std::size_t begin, std::size_t end,
                         std::int32_t* ranks, const RankOf& rank_of_value) {
    bool missing = false;
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t r = i - begin;
      const std::int32_t rank = rank_of_value(static_cast<double>(X[i * p + f]));
      ranks[(r / kGroup * p + f) * kGroup + r % kGroup] = rank;
      missing |= rank == kMissingRank;
    }
    return missing;
  }

  void add(std::size_t t, const std::uint32_t* nodes, std::size_t begin, std::size_t end, std::size_t d,
           Leaf* F) const {
    const Leaf* values = values_.data() + first_value_[t];
    const std::int32_t* leaf = leaf_.data() + first_node_[t];
    if (coordinate_[t] >= 0) {
      for (std::size_t i = begin; i < end; ++i)
        F[i * d + static_cast<std::size_t>(coordinate_[t])] += values[leaf[nodes[i - begin]]];
      return;
    }
    if (!row_start_.empty()) {
      const std::int64_t* row = row_start_.data() + first_leaf_[t];
      for (std::size_t i = begin; i < end; ++i) {
        const std::int64_t* at = row + leaf[nodes[i - begin]];
        for (std::int64_t v = at[0]; v < at[1]; ++v)
          F[i * d + static_cast<std::size_t>(columns_[static_cast<std::size_t>(v)])] +=
              values_[static_cast<std::size_t>(v)];
      }
      return;
    }
    if constexpr (sizeof(Leaf) == 4) hot().add_leaves_float(F + begin * d, d, values, leaf, nodes, end - begin);
    else hot().add_leaves_double(F + begin * d, d, values, leaf, nodes, end - begin);
  }

  std::vector<Leaf> values_;  // times the steps
  std::vector<std::int64_t> first_value_;
  std::vector<std::int32_t> columns_;  // of the values, if only those that are not zero are stored
  std::vector<std::int64_t> row_start_;
  std::vector<std::size_t> first_leaf_;
  std::size_t n_leaves_ = 0;
  std::size_t least_columns_ = 1, most_columns_ = std::numeric_limits<std::size_t>::max();  // of F
  std::vector<std::int32_t> coordinate_;
  std::vector<std::vector<double>> thresholds_;  // of each feature, ascending
  std::vector<CategorySet> sets_;
  std::vector<std::int64_t> first_set_;
  std::vector<bool> categorical_;  // features that are split by categories
  std::vector<std::size_t> first_node_;
  std::vector<std::uint64_t> nodes_, plain_nodes_;  // with and without the missing_left bit
  std::vector<std::int32_t> leaf_, depth_;
};

}  // namespace simplexboost
