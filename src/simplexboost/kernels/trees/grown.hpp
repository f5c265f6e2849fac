// How a tree is grown, and what comes out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trees/interactions.hpp"
#include "trees/score.hpp"
#include "trees/source.hpp"
#include "trees/split.hpp"
#include "trees/tree.hpp"

namespace simplexboost {

// Which node is split next: the oldest, the one that gains most, or all nodes of a level, by the same split. The
// numbers are those of GROWTHS in engine/interface.py.
enum class GrowthOrder : int { level = 0, best = 1, symmetric = 2 };

struct GrowOptions {
  Score score = Score::newton;
  double l2 = 0.0;
  std::int32_t max_depth = 0;   // 0: no limit
  std::int32_t max_leaves = 0;  // 0: no limit
  SplitOptions split;
  GrowthOrder order = GrowthOrder::level;
  double noise = 0.0;                                   // on gains (noise.hpp)
  std::uint64_t seed = 0;                               // of the noise
  std::size_t histogram_memory = std::size_t{1} << 29;  // bytes that nodes in the queue may keep
  int n_threads = 1;
  Interactions interactions = {};
};

struct Grown {
  Tree tree;
  std::vector<Cell> leaf_cell = {};  // (n_leaves,) the cell of each leaf's rows
  std::vector<double> largest = {};  // the largest |statistic| of every column
};

}  // namespace simplexboost
