// A grown tree: nodes in the order in which they were made; the two children of a split are adjacent.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace simplexboost {

// Which of up to 256 categories go left: bit b % 8 of byte b / 8.
struct CategorySet {
  std::uint8_t bytes[32] = {};
  bool has(std::size_t b) const { return (bytes[b / 8] >> (b % 8) & 1u) != 0; }
  void add(std::size_t b) { bytes[b / 8] = static_cast<std::uint8_t>(bytes[b / 8] | 1u << (b % 8)); }
};

// The layout is that of the dtype NODE in engine/tree.py; trees/bind.cpp exports its size.
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

// Throws if a path down the tree could leave it or never end, or if two paths meet. Trees may come from damaged or
// hand-made files. Where no two nodes share a child, and no two leaves a number, every node has a parent.
inline void check_tree(const Node* nodes, std::size_t size, std::size_t n_sets, std::size_t n_features) {
  if (size % 2 == 0) throw std::invalid_argument("a tree must have an odd number of nodes");
  std::vector<bool> has_parent(size), has_leaf(size / 2 + 1);
  for (std::size_t i = 0; i < size; ++i) {
    const Node& node = nodes[i];
    const auto left = static_cast<std::size_t>(node.left);  // larger than any size if it is negative
    if (node.feature < 0) {
      if (left > size / 2) throw std::invalid_argument("a leaf must have an index below the number of leaves");
      if (has_leaf[left]) throw std::invalid_argument("every leaf of a tree must have an index of its own");
      has_leaf[left] = true;
      continue;
    }
    if (static_cast<std::size_t>(node.feature) >= n_features)
      throw std::invalid_argument("a node splits a feature that X does not have");
    if (left <= i || left >= size - 1) throw std::invalid_argument("a node must lead forward to two nodes of its tree");
    if (has_parent[left] || has_parent[left + 1]) throw std::invalid_argument("two nodes lead to the same node");
    has_parent[left] = has_parent[left + 1] = true;
    if (node.category >= 0 ? static_cast<std::size_t>(node.category) >= n_sets : std::isnan(node.threshold))
      throw std::invalid_argument("a node must have a threshold that is not NaN, or a category set of its tree");
  }
}

}  // namespace simplexboost
