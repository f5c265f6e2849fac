#include "core/hot.hpp"

#include "core/isa.hpp"

namespace simplexboost {

namespace hot_loops {
#define LOOPS "core/hot.inl"
#include "core/clones.inl"
}  // namespace hot_loops

const HotTable& hot() { return hot_loops::chosen(); }

}  // namespace simplexboost
