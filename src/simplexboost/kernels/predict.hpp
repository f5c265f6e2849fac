// The leaf of a row in one tree, on raw values. Whole forests predict through forest.hpp.
#pragma once

#include <cmath>
#include <cstdint>

#include "pool.hpp"
#include "tree.hpp"

namespace simplexboost {

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

// out (n,) = the leaf of every row in one tree.
template <class Value>
void apply(const Node* nodes, const Value* X, std::size_t n, std::size_t p, std::int32_t* out, int n_threads) {
  parallel_ranges(n, 1024, n_threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) out[i] = find_leaf(nodes, X + i * p);
  });
}

}  // namespace simplexboost
