// A grown tree: nodes in the order they were made, the children of a split side by side.
#pragma once

#include <cstdint>
#include <vector>

namespace simplexboost {

// The layout of engine/tree.py's NODE dtype; module.cpp checks that the sizes agree.
struct Node {
  double threshold = 0.0;           // values <= threshold go left (filled in from the bin edges)
  std::int32_t feature = -1;        // -1: a leaf
  std::int32_t left = -1;           // the left child, the right one is left + 1; of a leaf: its index among the leaves
  std::uint8_t bin = 0;             // codes <= bin go left
  std::uint8_t missing_left = 0;
};

struct Tree {
  std::vector<Node> nodes;
  std::vector<double> gain;          // of the split; 0 at leaves
  std::vector<std::int64_t> count;   // training rows
  std::size_t n_leaves = 0;
};

}  // namespace simplexboost
