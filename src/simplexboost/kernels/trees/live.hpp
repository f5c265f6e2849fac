// The features of a sparse table that can still be split. If fewer than min_samples_leaf rows of a node lie outside the
// bin of zero, no split of the feature leaves that many rows on the side without this bin, neither in the node nor
// below it. Most words are missing from most texts: of thousands of features a node of a hundred rows has some dozens
// left, and only their bins are cleared, subtracted, searched and kept.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "trees/data.hpp"

namespace simplexboost {

struct Live {
  std::vector<std::int32_t> features;  // ascending
  std::vector<std::size_t> place;      // of each in the tree's list of features
  std::vector<std::size_t> offset;     // the first bin of each if their bins lie one after another; last, their number

  void add(const Columns& columns, std::int32_t feature, std::size_t at) {
    const auto f = static_cast<std::size_t>(feature);
    features.push_back(feature);
    place.push_back(at);
    offset.push_back(offset.back() + columns.offset[f + 1] - columns.offset[f]);
  }
};
using LivePtr = std::shared_ptr<const Live>;  // null if the codes are dense

inline LivePtr all_live(const Columns& columns, const std::vector<std::int32_t>& features) {
  auto live = std::make_shared<Live>();
  live->offset = {0};
  for (std::size_t i = 0; i < features.size(); ++i) live->add(columns, features[i], i);
  return live;
}

// Those of a node, among the ones of the node above; bins(i) are the bins of feature i of `above`.
template <class Bins>
LivePtr live_in(const LivePtr& above, const Columns& columns, std::size_t lanes, std::size_t m, std::int64_t n_rows,
                std::int64_t min_samples_leaf, const Bins& bins) {
  auto live = std::make_shared<Live>();
  live->offset = {0};
  for (std::size_t i = 0; i < above->features.size(); ++i) {
    const std::int64_t zeros = bins(i)[columns.zero[above->features[i]] * lanes + m];
    if (n_rows - zeros >= std::max<std::int64_t>(min_samples_leaf, 1))
      live->add(columns, above->features[i], above->place[i]);
  }
  return live;
}

}  // namespace simplexboost
