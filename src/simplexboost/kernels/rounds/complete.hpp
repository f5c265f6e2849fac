// What follows from the bins of a tree: the thresholds of numeric splits, and the sides of categories that no training
// row has. engine/tree.py (complete_tree) does the same for trees that are grown one by one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "trees/tree.hpp"

namespace simplexboost {

// The edges of all features one after another, where those of each begin (p + 1,), and the categories that occur (p,).
struct ColumnValues {
  const double* edges;
  const std::int64_t* first;
  const CategorySet* seen;
};

inline void complete(Tree& tree, const ColumnValues& columns) {
  for (Node& node : tree.nodes) {
    if (node.feature < 0) continue;
    if (node.category < 0) {
      const std::int64_t place = columns.first[node.feature] + node.bin;
      node.threshold =
          place < columns.first[node.feature + 1] ? columns.edges[place] : std::numeric_limits<double>::infinity();
      continue;
    }
    CategorySet& of_node = tree.category_sets[static_cast<std::size_t>(node.category)];
    const CategorySet& known = columns.seen[node.feature];
    for (std::size_t i = 0; i < sizeof(CategorySet); ++i) {
      const int kept = of_node.bytes[i] & known.bytes[i];
      of_node.bytes[i] = static_cast<std::uint8_t>(node.missing_left ? kept | (~known.bytes[i] & 255) : kept);
    }
  }
}

}  // namespace simplexboost
