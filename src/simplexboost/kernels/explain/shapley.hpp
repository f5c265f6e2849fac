// The table of the inner loops in shapley.inl, for the instruction set chosen at run time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "explain/paths.hpp"
#include "trees/tree.hpp"

namespace simplexboost {

// Rows that are explained together, one per lane of a vector of 64 bytes.
template <class Real>
constexpr std::size_t kLanes = 64 / sizeof(Real);

// What a row answers to a question: all bits set, or none; as wide as a number.
template <class Real>
using Flag = std::conditional_t<sizeof(Real) == 8, std::int64_t, std::int32_t>;

// The values of the leaves of a tree, D numbers each; if `columns` is not null, only those from start[leaf] to
// start[leaf + 1] are stored, and belong to these columns.
template <class Real>
struct LeafValues {
  const Real* values;
  const std::int32_t* columns;
  const std::int64_t* start;
  std::size_t D;
};

// Rows come as many at a time as a vector has lanes (R), one after another within a feature: x (p, R). So do results,
// phi (p, D, R).
template <class Real>
struct ShapleyTable {
  using Tree = PathTree<Real>;
  using Answer = Flag<Real>;
  // answers (splits, 2, R): all bits set where a row goes left, and where it goes right
  void (*ask)(const Tree& tree, const CategorySet* sets, const double* x, Answer* answers);
  // weights (links, R), by slot: what a leaf's value is multiplied by for a feature
  void (*weigh)(const Tree& tree, const Rule<Real>* rules, const Answer* answers, Real* weights);
  void (*weigh_background)(const Tree& tree, const double* beta, std::size_t most, const Answer* answers,
                           Real* weights);
  // phi += weights times values
  void (*add)(const Tree& tree, const LeafValues<Real>& leaves, const Real* weights, Real* phi);
  // phi (p, p, D, R) += the interactions, where the first feature is not above the second
  void (*interact)(const Tree& tree, const Rule<Real>* rules, const Answer* answers, const LeafValues<Real>& leaves,
                   std::size_t p, Real* phi);
};

template <class Real>
const ShapleyTable<Real>& shapley_loops();  // the table in use, for double and for float

}  // namespace simplexboost
