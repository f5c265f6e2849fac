#include "explain/shapley.hpp"

#include <algorithm>
#include <bit>

#include "core/arena.hpp"
#include "core/isa.hpp"
#include "forest/predict.hpp"

namespace simplexboost {

// The loops once for each precision, under names that do not mention it.
#define PRECISION(type)                                  \
  using Real = type;                                     \
  using Answer = Flag<Real>;                             \
  using Rule = simplexboost::Rule<Real>;                 \
  using PathTree = simplexboost::PathTree<Real>;         \
  using LeafValues = simplexboost::LeafValues<Real>;     \
  using ShapleyTable = simplexboost::ShapleyTable<Real>; \
  constexpr std::size_t kLanes = simplexboost::kLanes<Real>;

namespace in_double {
PRECISION(double)
#define LOOPS "explain/shapley.inl"
#include "core/clones.inl"
}  // namespace in_double

namespace in_single {
PRECISION(float)
#define LOOPS "explain/shapley.inl"
#include "core/clones.inl"
}  // namespace in_single

template <>
const ShapleyTable<double>& shapley_loops<double>() {
  return in_double::chosen();
}

template <>
const ShapleyTable<float>& shapley_loops<float>() {
  return in_single::chosen();
}

}  // namespace simplexboost
