// A grown tree as bytes, which engine/tree.py reads as records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trees/tree.hpp"

namespace simplexboost {

// Nodes are copied field by field, and padding bytes stay zero, so that equal trees have equal bytes.
inline std::vector<std::uint8_t> node_bytes(const std::vector<Node>& nodes) {
  std::vector<std::uint8_t> bytes(nodes.size() * sizeof(Node), 0);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    auto* out = reinterpret_cast<Node*>(bytes.data() + i * sizeof(Node));
    out->threshold = nodes[i].threshold;
    out->feature = nodes[i].feature;
    out->left = nodes[i].left;
    out->bin = nodes[i].bin;
    out->missing_left = nodes[i].missing_left;
    out->category = nodes[i].category;
  }
  return bytes;
}

inline std::vector<std::uint8_t> set_bytes(const std::vector<CategorySet>& sets) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(sets.data());
  return std::vector<std::uint8_t>(bytes, bytes + sets.size() * sizeof(CategorySet));
}

}  // namespace simplexboost
