// Trees that come from Python: nodes and category sets as rows of bytes.
#pragma once

#include "core/bind.hpp"
#include "trees/tree.hpp"

namespace simplexboost {

inline const Node* nodes_of(const In<std::uint8_t, Matrix>& bytes) {
  require(bytes.shape(1) == sizeof(Node), "nodes must be rows of the node layout");
  return reinterpret_cast<const Node*>(bytes.data());
}

inline const CategorySet* sets_of(const In<std::uint8_t, Matrix>& bytes) {
  require(bytes.shape(1) == sizeof(CategorySet), "category_sets must be rows of 32 bytes");
  return reinterpret_cast<const CategorySet*>(bytes.data());
}

}  // namespace simplexboost
