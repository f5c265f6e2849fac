// Fast prediction: a forest is packed once. Rows then go through all trees in blocks, whose scores and ranks stay in
// the second-level cache.
//
// Every value is replaced by its rank among all thresholds that the forest has for its feature. 8 rows go down a tree
// together. A node is one 64-bit word (from low to high: 15 bits of rank, missing_left, 16 bits of left child, 32 bits
// of the place of the feature's ranks), and a step down a tree is two loads, a comparison and an addition. The child of
// a leaf is the leaf itself, so that all rows take as many steps as the tree is deep. The rank of a category is its
// number. A node that splits categories has its highest bit set and holds the number of its category set in place of a
// rank; only trees with such nodes use the slower loop that tests for them.
//
// What does not fit into these bits is refused with std::overflow_error: then the forest must be packed in parts, and a
// tree of more than 65535 nodes not at all.
//
// A tree with one split per level (levels.hpp) needs no nodes: the number of a row's leaf is made of the answers of the
// levels, which are found for 64 rows at a time if ranks are bytes, that is, if no feature of the tree has more than
// 255 thresholds.
//
// The leaves of some trees are found first, and then their values are added, tree after tree, to a few rows at a time,
// whose scores stay in registers meanwhile.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "core/hot.hpp"
#include "core/pool.hpp"
#include "forest/levels.hpp"
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
        throw std::overflow_error("a feature with too many thresholds");  // else a rank exceeds a leaf's
    }
    values_.resize(n_values + kPadding, Leaf{0});
    byte_column_.assign(n_features, -1);
    needs_words_.assign(n_features, false);
    for (const auto& t : thresholds_) table_.push_back(padded(t));
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
    const std::size_t row_bytes = pitch_of(d) * sizeof(Leaf) + thresholds_.size() * (has_words_ ? 4 : 1);
    const std::size_t tiles = std::clamp<std::size_t>((1 << 15) / row_bytes * kGroup / kTileRows, 1, 8);
    parallel_ranges(n, tiles * kTileRows, n_threads, [&](std::size_t begin, std::size_t end) {
      predict_block(X + begin * thresholds_.size(), end - begin, d, F + begin * d);
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

  // Numbers of a row of scores: enough for whole vectors (add_trees in symmetric.inl).
  static std::size_t pitch_of(std::size_t d) {
    constexpr std::size_t most = 64 / sizeof(Leaf);
    return d <= most / 4 ? most / 4 : d <= most / 2 ? most / 2 : (d + most - 1) / most * most;
  }

  // The ranks and scores of a block of rows, and the leaves that they have in some trees.
  struct Block {
    std::size_t n, groups, stride, d, pitch;
    std::vector<std::int32_t> words = {};            // (groups, p, 8) ranks
    std::vector<std::int8_t> bytes = {}, left = {};  // (columns, stride) ranks of symmetric trees; see symmetric.inl
    bool missing = false;                            // whether a value in `words` is
    std::vector<std::uint32_t> at = {};              // (groups * 8,) nodes
    std::vector<std::uint16_t> leaves = {};          // (kTreeBatch, stride)
    std::vector<Leaf> scores = {};                   // (groups * 8, pitch)
  };

  template <class Value>
  void predict_block(const Value* X, std::size_t n, std::size_t d, Leaf* F) const {
    // The stride is no power of two, which would put all leaves of a row into the same part of the cache.
    Block block{n, (n + kGroup - 1) / kGroup, (n + kTileRows - 1) / kTileRows * kTileRows + kTileRows, d, pitch_of(d)};
    block.leaves.resize(std::min(kTreeBatch, depth_.size()) * block.stride);
    block.at.resize(block.groups * kGroup);
    block.scores.resize(block.groups * kGroup * block.pitch);
    find_ranks(X, block);
    for (std::size_t i = 0; i < n; ++i) std::copy_n(F + i * d, d, block.scores.data() + i * block.pitch);
    for (std::size_t first = 0; first < depth_.size();) {
      std::size_t last = first;
      while (last < depth_.size() && last - first < kTreeBatch && is_dense(last) == is_dense(first)) {
        find_leaves(last, block, block.leaves.data() + (last - first) * block.stride);
        ++last;
      }
      if (is_dense(first)) add_dense(first, last, block);
      else
        for (std::size_t t = first; t < last; ++t) add_few(t, block.leaves.data() + (t - first) * block.stride, block);
      first = last;
    }
    for (std::size_t i = 0; i < n; ++i) std::copy_n(block.scores.data() + i * block.pitch, d, F + i * d);
  }

  bool is_dense(std::size_t t) const { return coordinate_[t] < 0 && row_start_.empty(); }

  void find_leaves(std::size_t t, Block& block, std::uint16_t* leaves) const {
    if (n_levels_[t] > 0) {
      const auto& left = block.left.empty() ? block.bytes : block.left;
      hot().symmetric_leaves(levels_.data() + first_level_[t], n_levels_[t], block.bytes.data(), left.data(),
                             block.stride, block.n, leaves);
      return;
    }
    const std::uint64_t* nodes = (block.missing ? nodes_ : plain_nodes_).data() + first_node_[t];
    const auto walk = block.missing ? hot().walk_missing : hot().walk;
    const std::size_t p = thresholds_.size();
    std::uint32_t* at = block.at.data();
    if (first_set_[t] < first_set_[t + 1]) walk_mixed(t, block.groups, block.words.data(), at);
    else
      for (std::size_t g = 0; g < block.groups; ++g)
        walk(nodes, depth_[t], block.words.data() + g * p * kGroup, at + g * kGroup);
    const std::int32_t* leaf = leaf_.data() + first_node_[t];
    for (std::size_t i = 0; i < block.groups * kGroup; ++i) leaves[i] = static_cast<std::uint16_t>(leaf[at[i]]);
  }

  void add_dense(std::size_t first, std::size_t last, Block& block) const {
    const Leaf* values[kTreeBatch];
    for (std::size_t t = first; t < last; ++t) values[t - first] = values_.data() + first_value_[t];
    const auto add = [&](auto add_trees) {
      add_trees(block.scores.data(), block.pitch, values, block.d, last - first, block.leaves.data(), block.stride,
                block.groups * kGroup);
    };
    if constexpr (sizeof(Leaf) == 4) add(hot().add_trees_float);
    else add(hot().add_trees_double);
  }

  // Adds a tree of one coordinate, or one with sparse values.
  void add_few(std::size_t t, const std::uint16_t* leaves, Block& block) const {
    if (coordinate_[t] >= 0) {
      const Leaf* values = values_.data() + first_value_[t];
      Leaf* scores = block.scores.data() + coordinate_[t];
      for (std::size_t i = 0; i < block.n; ++i) scores[i * block.pitch] += values[leaves[i]];
      return;
    }
    for (std::size_t i = 0; i < block.n; ++i) {
      const std::int64_t* at = row_start_.data() + first_leaf_[t] + leaves[i];
      Leaf* scores = block.scores.data() + i * block.pitch;
      for (std::int64_t v = at[0]; v < at[1]; ++v)
        scores[columns_[static_cast<std::size_t>(v)]] += values_[static_cast<std::size_t>(v)];
    }
  }

  // Packs a symmetric tree, if it is one whose leaves have numbers of 16 bits and whose ranks are bytes.
  bool add_levels(const Node* nodes, std::size_t size) {
    const auto levels = symmetric_levels(nodes, size);
    if (levels.size() > 16) return false;
    for (const Node& node : levels)
      if (thresholds_[static_cast<std::size_t>(node.feature)].size() > kHighestByte) return false;
    for (const Node& node : levels) {
      const auto f = static_cast<std::size_t>(node.feature);
      if (byte_column_[f] < 0) byte_column_[f] = n_byte_columns_++;
      levels_.push_back({static_cast<std::uint32_t>(byte_column_[f]),
                         static_cast<std::int8_t>(static_cast<int>(rank_of_threshold(node)) - 128), node.missing_left});
    }
    n_levels_.back() = static_cast<std::int32_t>(levels.size());
    return !levels.empty();
  }

  std::size_t rank_of_threshold(const Node& node) const {
    const auto& t = thresholds_[static_cast<std::size_t>(node.feature)];
    return static_cast<std::size_t>(std::lower_bound(t.begin(), t.end(), node.threshold) - t.begin());
  }

  void add_tree(const Node* nodes, std::size_t size) {
    first_node_.push_back(nodes_.size());
    first_leaf_.push_back(n_leaves_);
    n_leaves_ += (size + 1) / 2;  // every split makes one more
    first_level_.push_back(levels_.size());
    n_levels_.push_back(0);
    if (add_levels(nodes, size)) return depth_.push_back(0);
    has_words_ = true;
    std::vector<std::int32_t> depth(size, 0);
    for (std::size_t i = 0; i < size; ++i) {
      const Node& node = nodes[i];
      leaf_.push_back(node.feature < 0 ? node.left : -1);
      if (node.feature < 0) {  // no rank is above the highest, and missing values go left: both stay at the leaf
        push(i, kHighestRank, true, false, 0);
        continue;
      }
      needs_words_[static_cast<std::size_t>(node.feature)] = true;
      const bool splits_categories = node.category >= 0;  // `check` has verified that its set exists
      const auto rank = splits_categories ? static_cast<std::size_t>(node.category) : rank_of_threshold(node);
      push(static_cast<std::size_t>(node.left), rank, node.missing_left != 0, splits_categories,
           static_cast<std::size_t>(node.feature) * kGroup);
      for (std::int32_t child = node.left; child <= node.left + 1; ++child)
        depth[static_cast<std::size_t>(child)] = std::max(depth[static_cast<std::size_t>(child)], depth[i] + 1);
    }
    depth_.push_back(*std::max_element(depth.begin(), depth.end()));
  }

  static constexpr std::size_t kHighestRank = 0x7fff, kHighestByte = 255;
  static constexpr std::size_t kPadding = 64 / sizeof(Leaf);  // numbers beyond the values that may be read

  void push(std::size_t left, std::size_t rank, bool missing_left, bool splits_categories, std::size_t where) {
    if (left > 0xffff || rank > kHighestRank)
      throw std::overflow_error("a tree of more than 65535 nodes, or too many thresholds");
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

  // Thresholds, and infinite ones up to a number that is a power of two less one; none if there are none.
  static std::vector<double> padded(const std::vector<double>& thresholds) {
    std::vector<double> out(thresholds);
    out.resize(std::bit_ceil(out.size() + 1) - 1, std::numeric_limits<double>::infinity());
    return out;
  }

  static std::int32_t rank_of_category(double x) {
    const int category = category_of(x);
    return category == kNoCategory ? kMissingRank : category;
  }

  // The ranks of all values that trees ask for.
  template <class Value>
  void find_ranks(const Value* X, Block& block) const {
    const std::size_t p = thresholds_.size();
    if (has_words_) block.words.resize(block.groups * p * kGroup);
    block.bytes.resize(static_cast<std::size_t>(n_byte_columns_) * block.stride);
    std::vector<double> x(block.groups * kGroup, 0.0);
    std::vector<std::int32_t> ranks(x.size());
    for (std::size_t f = 0; f < p; ++f) {
      if (table_[f].empty() && !categorical_[f]) continue;
      for (std::size_t i = 0; i < block.n; ++i) x[i] = static_cast<double>(X[i * p + f]);
      const bool missing = rank_column(f, x, block.n, ranks);
      if (needs_words_[f]) {
        block.missing |= missing;
        for (std::size_t g = 0; g < block.groups; ++g)
          std::copy_n(ranks.data() + g * kGroup, kGroup, block.words.data() + (g * p + f) * kGroup);
      }
      if (byte_column_[f] >= 0) write_bytes(f, ranks, missing, block);
    }
  }

  // The ranks of a column's values; returns whether one of the n values is missing.
  bool rank_column(std::size_t f, const std::vector<double>& x, std::size_t n, std::vector<std::int32_t>& ranks) const {
    bool missing = false;
    if (categorical_[f]) {
      for (std::size_t i = 0; i < x.size(); ++i) ranks[i] = rank_of_category(x[i]);
      for (std::size_t i = 0; i < n; ++i) missing |= ranks[i] == kMissingRank;
      return missing;
    }
    hot().find_ranks(table_[f].data(), std::bit_width(table_[f].size()), x.data(), x.size(), ranks.data());
    for (std::size_t i = 0; i < n; ++i) missing |= std::isnan(x[i]);
    if (missing)
      for (std::size_t i = 0; i < n; ++i)
        if (std::isnan(x[i])) ranks[i] = kMissingRank;
    return missing;
  }

  // A missing value has the highest byte, so it goes right; in `left`, which exists only if there are some, the lowest.
  void write_bytes(std::size_t f, const std::vector<std::int32_t>& ranks, bool missing, Block& block) const {
    constexpr std::int32_t highest = kHighestByte;
    const std::size_t begin = static_cast<std::size_t>(byte_column_[f]) * block.stride;
    for (std::size_t i = 0; i < block.n; ++i)
      block.bytes[begin + i] = static_cast<std::int8_t>(std::min(ranks[i], highest) - 128);
    if (missing && block.left.empty()) block.left = block.bytes;  // of the columns so far
    if (block.left.empty()) return;
    for (std::size_t i = 0; i < block.n; ++i)
      block.left[begin + i] = ranks[i] == kMissingRank ? std::int8_t{-128} : block.bytes[begin + i];
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
  std::vector<std::vector<double>> table_;       // the same for the search of ranks
  std::vector<CategorySet> sets_;
  std::vector<std::int64_t> first_set_;
  std::vector<bool> categorical_;  // features that are split by categories
  std::vector<std::size_t> first_node_;
  std::vector<std::uint64_t> nodes_, plain_nodes_;  // with and without the missing_left bit
  std::vector<std::int32_t> leaf_, depth_;
  bool has_words_ = false;           // whether there are trees with nodes
  std::vector<bool> needs_words_;    // features that such trees split
  std::vector<PackedLevel> levels_;  // of symmetric trees
  std::vector<std::size_t> first_level_;
  std::vector<std::int32_t> n_levels_;     // 0: the tree has nodes
  std::vector<std::int32_t> byte_column_;  // of features that symmetric trees split; otherwise -1
  std::int32_t n_byte_columns_ = 0;
};

}  // namespace simplexboost
