// Symmetric trees: all nodes of a level have the same split, so that a leaf's number follows from one answer per level.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trees/tree.hpp"

namespace simplexboost {

// One node of every level, the root first, if the tree is symmetric and splits only numbers; otherwise none. Such a
// tree is complete, its nodes are in the order of levels, and leaves are numbered from left to right.
inline std::vector<Node> symmetric_levels(const Node* nodes, std::size_t size) {
  const std::size_t n_inner = size / 2;
  std::vector<Node> levels;
  if (n_inner == 0 || (size & (size + 1)) != 0) return {};
  for (std::size_t i = 0; i < size; ++i) {
    const Node& node = nodes[i];
    if ((node.feature < 0) != (i >= n_inner)) return {};
    if (node.left != static_cast<std::int32_t>(i < n_inner ? 2 * i + 1 : i - n_inner)) return {};
    if (node.feature < 0) continue;
    if ((i & (i + 1)) == 0) levels.push_back(node);  // the first of a level: 0, 1, 3, 7, ..
    const Node& first = levels.back();
    if (node.category >= 0 || node.feature != first.feature || node.threshold != first.threshold ||
        node.missing_left != first.missing_left)
      return {};
  }
  return levels;
}

}  // namespace simplexboost
