// What a grown tree says about the rows: each row's leaf, and the exact sums of any statistics over the leaves.
#pragma once

#include <cstdint>
#include <vector>

#include "core/hot.hpp"
#include "core/pool.hpp"
#include "trees/data.hpp"
#include "trees/grow.hpp"

namespace simplexboost {

constexpr std::size_t kSumChunk = 1024;  // rows summed in a row; chunk sums are then added in order

// Sums over leaves of any per-row quantity of `width` numbers, (n_leaves, width): add(rows, n_rows, out) adds a chunk's
// rows in order. `rows` come leaf by leaf, leaf l's end at end[l]. Chunks are fixed, so the sums do not depend on
// threads.
template <class Add>
std::vector<double> sums_over_leaves(const std::uint32_t* rows, const std::vector<std::size_t>& end, std::size_t width,
                                     int n_threads, const Add& add) {
  struct Chunk {
    std::size_t leaf, begin, end;
  };
  std::vector<Chunk> chunks;
  for (std::size_t leaf = 0, begin = 0; leaf < end.size(); begin = end[leaf++])
    for (std::size_t at = begin; at < end[leaf]; at += kSumChunk)
      chunks.push_back({leaf, at, std::min(at + kSumChunk, end[leaf])});
  std::vector<double> parts(chunks.size() * width, 0.0), out(end.size() * width, 0.0);
  const std::size_t grain = 16;  // chunks per task
  parallel_ranges(chunks.size(), grain, n_threads, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i)
      add(rows + chunks[i].begin, chunks[i].end - chunks[i].begin, parts.data() + i * width);
  });
  for (std::size_t i = 0; i < chunks.size(); ++i)
    for (std::size_t j = 0; j < width; ++j) out[chunks[i].leaf * width + j] += parts[i * width + j];
  return out;
}

// The sums (n_leaves, d) of v (n, d) over each leaf's rows.
inline std::vector<double> leaf_sums(const Grown& grown, const double* v, std::size_t d, int n_threads) {
  return sums_over_leaves(
      grown.rows.data(), grown.leaf_end, d, n_threads,
      [&](const std::uint32_t* rows, std::size_t n_rows, double* out) { hot().sum_rows(v, d, rows, n_rows, out); });
}

inline std::int32_t leaf_of_codes(const Tree& tree, const BinnedView& data, std::size_t row) {
  std::size_t at = 0;
  while (tree.nodes[at].feature >= 0) {
    const Node& node = tree.nodes[at];
    const auto f = static_cast<std::size_t>(node.feature);
    const std::uint8_t code = data.code(row, f);
    bool left;
    if (node.category >= 0) left = tree.category_sets[static_cast<std::size_t>(node.category)].has(code);
    else left = data.has_missing[f] && code == data.n_bins[f] ? node.missing_left != 0 : code <= node.bin;
    at = static_cast<std::size_t>(node.left) + (left ? 0 : 1);
  }
  return tree.nodes[at].left;
}

// out (n,) = the leaf of every row, also of those the tree was not grown on.
inline void leaf_of_rows(const Grown& grown, const BinnedView& data, std::int32_t* out, int n_threads) {
  if (grown.rows.size() < data.n) {
    parallel_ranges(data.n, kRowGrain, n_threads, [&](std::size_t begin, std::size_t end) {
      for (std::size_t row = begin; row < end; ++row) out[row] = leaf_of_codes(grown.tree, data, row);
    });
    return;
  }
  for (std::size_t leaf = 0, r = 0; leaf < grown.leaf_end.size(); ++leaf)
    for (; r < grown.leaf_end[leaf]; ++r) out[grown.rows[r]] = static_cast<std::int32_t>(leaf);
}

}  // namespace simplexboost
