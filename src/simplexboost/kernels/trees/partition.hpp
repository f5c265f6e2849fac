// Divides a node's rows between its children.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/pool.hpp"
#include "trees/data.hpp"
#include "trees/quantize.hpp"
#include "trees/split.hpp"

namespace simplexboost {

// Cuts rows[0, n_rows) in two, keeping their order; returns the number that go left. A chunk writes its left rows from
// the front of its part of `spare` and its right ones from the back. Each row is written at both ends, and only the
// valid end advances, so that there is no branch to mispredict.
template <class GoesLeft>
std::size_t partition_by(std::uint32_t* rows, std::size_t n_rows, std::uint32_t* spare, int n_threads,
                         const GoesLeft& goes_left) {
  const std::size_t n_chunks = (n_rows + kRowGrain - 1) / kRowGrain;
  std::vector<std::size_t> lefts(n_chunks + 1, 0);  // left rows before each chunk, after the sum below
  parallel_ranges(n_rows, kRowGrain, n_threads, [&](std::size_t begin, std::size_t end) {
    std::uint32_t *front = spare + begin, *back = spare + end - 1;
    for (std::size_t r = begin; r < end; ++r) {
      const bool left = goes_left(rows[r]);
      *front = *back = rows[r];
      front += left;
      back -= !left;
    }
    lefts[begin / kRowGrain + 1] = static_cast<std::size_t>(front - (spare + begin));
  });
  for (std::size_t chunk = 0; chunk < n_chunks; ++chunk) lefts[chunk + 1] += lefts[chunk];
  parallel_ranges(n_rows, kRowGrain, n_threads, [&](std::size_t begin, std::size_t end) {
    const std::size_t before = lefts[begin / kRowGrain], n_left = lefts[begin / kRowGrain + 1] - before;
    std::copy_n(spare + begin, n_left, rows + before);
    std::reverse_copy(spare + begin + n_left, spare + end, rows + lefts[n_chunks] + (begin - before));
  });
  return lefts[n_chunks];
}

inline std::size_t partition(std::uint32_t* rows, std::size_t n_rows, std::uint32_t* spare, const BinnedView& data,
                             const Split& split, int n_threads) {
  const std::size_t f = static_cast<std::size_t>(split.feature);
  const std::uint8_t* codes = data.column(f);
  if (split.categorical)
    return partition_by(rows, n_rows, spare, n_threads,
                        [&](std::uint32_t row) { return split.left.has(codes[row * kTile]); });
  const int missing = data.has_missing[f] ? data.n_bins[f] : 256;
  return partition_by(rows, n_rows, spare, n_threads, [&](std::uint32_t row) {
    const int code = codes[row * kTile];
    return code == missing ? split.missing_left : code <= split.bin;
  });
}

}  // namespace simplexboost
