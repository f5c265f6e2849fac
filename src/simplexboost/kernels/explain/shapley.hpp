// The table of the inner loops in shapley.inl, for the instruction set chosen at run time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "explain/paths.hpp"
#include "trees/tree.hpp"

namespace simplexboost {

constexpr std::size_t kLanes = 8;  // rows that are explained together, one per lane of a vector

// The values of the leaves of a tree, D numbers each; if `columns` is not null, only those from start[leaf] to
// start[leaf + 1] are stored, and belong to these columns.
struct LeafValues {
  const double* values;
  const std::int32_t* columns;
  const std::int64_t* start;
  std::size_t D;
};

// Rows come eight at a time, one after another within a feature: x (p, 8). So do results, phi (p, D, 8).
struct ShapleyTable {
  // answers (splits, 2, 8): all bits set where a row goes left, and where it goes right
  void (*ask)(const PathTree& tree, const CategorySet* sets, const double* x, std::int64_t* answers);
  // weights (links, 8), by slot: what a leaf's value is multiplied by for a feature
  void (*weigh)(const PathTree& tree, const Rule* rules, const std::int64_t* answers, double* weights);
  void (*weigh_background)(const PathTree& tree, const double* beta, std::size_t most, const std::int64_t* answers,
                           double* weights);
  // phi += weights times values
  void (*add)(const PathTree& tree, const LeafValues& leaves, const double* weights, double* phi);
  // phi (p, p, D, 8) += the interactions, where the first feature is not above the second
  void (*interact)(const PathTree& tree, const Rule* rules, const std::int64_t* answers, const LeafValues& leaves,
                   std::size_t p, double* phi);
};

const ShapleyTable& shapley_loops();  // the table in use

}  // namespace simplexboost
