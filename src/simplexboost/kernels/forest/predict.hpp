// The leaf of a row in one tree, on raw values. Whole forests predict through forest.hpp.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/pool.hpp"
#include "trees/tree.hpp"

namespace simplexboost {

constexpr int kNoCategory = -1;

// A number that cannot be a category (negative, too large, with a fraction, NaN) counts as missing. So do categories
// that training never saw: their bits in the sets are those of missing values.
inline int category_of(double value) {
  if (!(value >= 0.0 && value < 256.0)) return kNoCategory;
  const int category = static_cast<int>(value);
  return static_cast<double>(category) == value ? category : kNoCategory;
}

inline bool category_goes_left(const Node& node, const CategorySet* sets, double value) {
  const int category = category_of(value);
  return category == kNoCategory ? node.missing_left != 0 : sets[node.category].has(static_cast<std::size_t>(category));
}

template <class Value>
std::int32_t find_leaf(const Node* nodes, const CategorySet* sets, const Value* x) {
  const Node* node = nodes;
  while (node->feature >= 0) {
    const double value = static_cast<double>(x[node->feature]);
    bool left;
    if (node->category >= 0) left = category_goes_left(*node, sets, value);
    else left = std::isnan(value) ? node->missing_left != 0 : value <= node->threshold;
    node = nodes + node->left + (left ? 0 : 1);
  }
  return node->left;
}

// out (n,) = the leaf of every row in one tree.
template <class Value>
void apply(const Node* nodes, const CategorySet* sets, const Value* X, std::size_t n, std::size_t p, std::int32_t* out,
           int n_threads) {
  parallel_ranges(n, 1024, n_threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) out[i] = find_leaf(nodes, sets, X + i * p);
  });
}

}  // namespace simplexboost
