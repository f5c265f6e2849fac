// Which features may be split together on a path from the root. Each constraint is either a number, the most different
// features on a path, or a list of groups: the features of a path must then lie together in one of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace simplexboost {

struct Interactions {
  std::size_t most = 0;                           // different features on a path; 0: no limit
  std::vector<std::vector<std::int32_t>> groups;  // each ascending; none: no groups
  bool free() const { return most == 0 && groups.empty(); }
};

// The features that a path has split, and which features may be split below it.
struct Reach {
  std::vector<std::int32_t> used;     // ascending
  std::vector<std::uint8_t> allowed;  // for each of the tree's features
};
using ReachPtr = std::shared_ptr<const Reach>;  // null: no feature has been split, or there are no constraints

inline bool allows(const ReachPtr& reach, std::size_t i) { return reach == nullptr || reach->allowed[i] != 0; }

// The reach of a path that also splits `feature`.
inline ReachPtr extended(const ReachPtr& above, std::int32_t feature, const Interactions& interactions,
                         const std::vector<std::int32_t>& features) {
  if (interactions.free()) return nullptr;
  if (above != nullptr && std::binary_search(above->used.begin(), above->used.end(), feature)) return above;
  auto reach = std::make_shared<Reach>();
  if (above != nullptr) reach->used = above->used;
  reach->used.insert(std::lower_bound(reach->used.begin(), reach->used.end(), feature), feature);
  const auto& used = reach->used;
  reach->allowed.assign(features.size(), interactions.groups.empty() && used.size() < interactions.most ? 1 : 0);
  const auto allow = [&](const std::vector<std::int32_t>& some) {  // both lists are ascending
    for (std::size_t i = 0, j = 0; i < features.size() && j < some.size();) {
      if (features[i] == some[j]) reach->allowed[i] = 1;
      features[i] < some[j] ? ++i : ++j;
    }
  };
  allow(used);
  for (const auto& group : interactions.groups)
    if (std::includes(group.begin(), group.end(), used.begin(), used.end())) allow(group);
  return reach;
}

}  // namespace simplexboost
