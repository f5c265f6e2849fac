#include "explain/shapley.hpp"

#include <algorithm>
#include <bit>

#include "core/arena.hpp"
#include "core/isa.hpp"
#include "forest/predict.hpp"

namespace simplexboost {

namespace shapley {
#define LOOPS "explain/shapley.inl"
#include "core/clones.inl"
}  // namespace shapley

const ShapleyTable& shapley_loops() { return shapley::chosen(); }

}  // namespace simplexboost
