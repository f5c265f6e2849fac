// A grown tree: nodes in the order they were made, the children of a split side by side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace simplexboost {

// Which of up to 256 categories go left: bit b % 8 of byte b / 8.
struct CategorySet {
  std::uint8_t bytes[32] = {};
  bool has(std::size_t b) const { return (bytes[b / 8] >> (b % 8) & 1u) != 0; }
  void add(std::size_t b) { bytes[b / 8] = static_cast<std::uint8_t>(bytes[b / 8] | 1u << (b % 8)); }
};

// The layout of engine/tree.py's NODE dtype; module.cpp checks that the sizes agree.
struct Node {
  double threshold = 0.0;     // values <= threshold go left (filled in from the bin edges)
  std::int32_t feature = -1;  // -1: a leaf
  std::int32_t left = -1;     // the left child, the right one is left + 1; of a leaf: its index among the leaves
  std::uint8_t bin = 0;       // codes <= bin go left
  std::uint8_t missing_left = 0;
  std::int32_t category = -1;  // -1: a split of numbers; else its set among the tree's category sets
};
static_assert(sizeof(Node) == 24 && offsetof(Node, category) == 20, "the layout of NODE in engine/tree.py");

struct Tree {
  std::vector<Node> nodes;
  std::vector<double> gain;         // of the split; 0 at leaves
  std::vector<std::int64_t> count;  // training rows
  std::vector<CategorySet> category_sets;
  std::size_t n_leaves = 0;
};

}  // namespace simplexboost
