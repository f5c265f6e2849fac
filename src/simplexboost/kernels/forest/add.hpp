// Adds a tree's leaf values to the predictor F on the training rows, for which the leaf of every row is known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/hot.hpp"
#include "core/pool.hpp"

namespace simplexboost {

// If every row of values (n_leaves, d) has at most one entry that is not zero: the column of that entry for each row;
// otherwise an empty vector.
template <class Value>
std::vector<std::size_t> only_entries(const Value* values, std::size_t n_leaves, std::size_t d) {
  std::vector<std::size_t> only(n_leaves, 0);
  for (std::size_t leaf = 0; leaf < n_leaves; ++leaf) {
    std::size_t found = 0;
    for (std::size_t j = 0; j < d; ++j)
      if (values[leaf * d + j] != 0) only[leaf] = j, ++found;
    if (found > 1) return {};
  }
  return only;
}

// F (n, d): F[row] += step * values[leaf of row]. If leaves name one class, only one number per row is changed, not d.
template <class Value>
void add_values(Value* F, std::size_t n, std::size_t d, const Value* values, std::size_t n_leaves, Value step,
                const std::int32_t* leaf_of_row, int n_threads) {
  const std::vector<std::size_t> only = only_entries(values, n_leaves, d);
  parallel_ranges(n, 2048, n_threads, [&](std::size_t begin, std::size_t end) {
    if (!only.empty()) {
      for (std::size_t i = begin; i < end; ++i) {
        const auto leaf = static_cast<std::size_t>(leaf_of_row[i]);
        F[i * d + only[leaf]] += step * values[leaf * d + only[leaf]];
      }
    } else if constexpr (sizeof(Value) == 4) {
      hot().add_values_float(F, d, values, step, leaf_of_row, begin, end);
    } else {
      hot().add_values_double(F, d, values, step, leaf_of_row, begin, end);
    }
  });
}

}  // namespace simplexboost
