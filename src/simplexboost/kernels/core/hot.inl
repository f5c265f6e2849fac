// The inner loops of trees, forests and losses, compiled once per instruction set (isa.hpp). They are plain loops over
// plain pointers, so that the compiler vectorises them. They must not call inline functions of the standard library:
// the compiler could emit one out of line, with instructions that another machine lacks. The files below are one
// translation unit and share their names; wide.inl and exact.inl come first because the others use them.

#include "core/wide.inl"

#include "core/exact.inl"

#include "forest/symmetric.inl"
#include "forest/walk.inl"
#include "losses/product.inl"
#include "losses/race.inl"
#include "losses/solve.inl"
#include "trees/histogram.inl"
#include "trees/leaves.inl"
#include "trees/quantize.inl"
#include "trees/scan.inl"

template <class Lane>
HotLanes<Lane> hot_lanes() {
  return {quantize_rows<Lane>,
          accumulate<Lane, true>,
          accumulate<Lane, false>,
          accumulate_sparse<Lane>,
          accumulate_entries<Lane, true>,
          accumulate_entries<Lane, false>,
          accumulate_entries_sparse<Lane>,
          fill_zero_bin<Lane>,
          add_lanes<Lane>,
          subtract_lanes<Lane>,
          prefix_scores<Lane, false>,
          prefix_scores<Lane, true>,
          prefix_pairs<Lane, false>,
          prefix_pairs<Lane, true>,
          newton_votes<Lane>};
}

HotTable table() {
  return {column_maxima,
          column_magnitudes,
          add_limbs,
          add_limbs_sparse,
          sum_limbs,
          largest_magnitude,
          near_largest,
          add_outer_bits,
          add_outer,
          solve_positive,
          add_values<float>,
          add_values<double>,
          walk,
          walk_missing,
          walk_categories,
          find_ranks,
          symmetric_leaves,
          add_trees<float>,
          add_trees<double>,
          race,
          pull_rows,
          vote_rows,
          race_along,
          times<float>,
          times<double>,
          hot_lanes<std::int64_t>(),
          hot_lanes<std::int32_t>()};
}
