// Prediction on raw values: rows in blocks, every tree on the block, so that a tree stays in cache for the block.
#pragma once

#include <cmath>
#include <cstdint>

#include "pool.hpp"
#include "tree.hpp"

namespace simplexboost {

// A model's trees, one after another in flat arrays; leaf values in single or double precision.
template <class Leaf>
struct ForestView {
  const Node* nodes;
  const std::int64_t* first_node;  // (T + 1,)
  const Leaf* values;              // tree t's leaf values, (n_leaves, width) flattened, from first_value[t]
  const std::int64_t* first_value; // (T + 1,)
  const std::int32_t* coordinate;  // (T,) the column of F a tree adds to; -1: all d of them
  const double* step;              // (T,)
  std::size_t n_trees;
};

template <class Value>
std::int32_t find_leaf(const Node* nodes, const Value* x) {
  const Node* node = nodes;
  while (node->feature >= 0) {
    const double value = static_cast<double>(x[node->feature]);
    const bool left = std::isnan(value) ? node->missing_left != 0 : value <= node->threshold;
    node = nodes + node->left + (left ? 0 : 1);
  }
  return node->left;
}

// F (n, d) += sum over trees, in order, of step * leaf value.
template <class Value, class Leaf>
void predict(const ForestView<Leaf>& forest, const Value* X, std::size_t n, std::size_t p, std::size_t d, Leaf* F, int n_threads) {
  constexpr std::size_t block = 128;  // rows: their values and scores stay in the second-level cache
  parallel_ranges(n, block, n_threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t t = 0; t < forest.n_trees; ++t) {
      const Node* nodes = forest.nodes + forest.first_node[t];
      const Leaf* values = forest.values + forest.first_value[t];
      const std::int32_t coordinate = forest.coordinate[t];
      const Leaf step = static_cast<Leaf>(forest.step[t]);
      for (std::size_t i = begin; i < end; ++i) {
        const auto leaf = static_cast<std::size_t>(find_leaf(nodes, X + i * p));
        if (coordinate >= 0) {
          F[i * d + static_cast<std::size_t>(coordinate)] += step * values[leaf];
        } else {
          const Leaf* value = values + leaf * d;
          for (std::size_t j = 0; j < d; ++j) F[i * d + j] += step * value[j];
        }
      }
    }
  });
}

// out (n,) = the leaf of every row in one tree.
template <class Value>
void apply(const Node* nodes, const Value* X, std::size_t n, std::size_t p, std::int32_t* out, int n_threads) {
  parallel_ranges(n, 1024, n_threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) out[i] = find_leaf(nodes, X + i * p);
  });
}

}  // namespace simplexboost
