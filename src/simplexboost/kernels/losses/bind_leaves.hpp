// The leaves of rows as bindings get them: checked once, for all losses that make Newton steps in leaves.
#pragma once

#include <algorithm>
#include <optional>

#include "core/bind.hpp"
#include "losses/newton.hpp"

namespace simplexboost {

using LeafNumbers = In<std::int32_t, Vector>;
using SomeRows = std::optional<In<std::uint32_t, Vector>>;

inline void check_leaves(std::size_t n, const LeafNumbers& leaf_of_row, const SomeRows& rows, std::size_t n_leaves) {
  require(leaf_of_row.shape(0) == n, "leaf_of_row must be (n,)");
  require(n_leaves < kMostItems, "there are fewer than 2^31 leaves");
  require(all_below(leaf_of_row.data(), n, n_leaves), "leaves must lie in 0 .. n_leaves - 1");
  if (rows)
    for (std::size_t r = 0; r < rows->shape(0); ++r)
      require(rows->data()[r] < n && (r == 0 || rows->data()[r - 1] < rows->data()[r]),
              "rows must be ascending row numbers");
}

// Empty leaves take memory and time; only a symmetric tree, of at most 15 levels, has more leaves than rows.
inline void check_few_leaves(std::size_t n, std::size_t n_leaves) {
  require(n_leaves <= std::max<std::size_t>(n, 1 << 15), "there are too many leaves for the rows");
}

inline void check_options(double l2, double max_step, double thin, int n_threads) {
  check_threads(n_threads);
  require(is_amount(l2) && is_amount(thin), "l2 and thin must be finite and not negative");
  require(max_step > 0.0, "max_step must be positive");
}

inline RowLeaves row_leaves(std::size_t n, const LeafNumbers& leaf_of_row, const SomeRows& rows, std::size_t n_leaves) {
  return {leaf_of_row.data(), n, n_leaves, rows ? rows->data() : nullptr, rows ? rows->shape(0) : 0};
}

}  // namespace simplexboost
