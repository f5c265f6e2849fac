// The leaf of every row in a grown tree, and the exact sums of any statistics over the leaves.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "core/exact.hpp"
#include "core/hot.hpp"
#include "core/pool.hpp"
#include "trees/data.hpp"
#include "trees/quantize.hpp"
#include "trees/tree.hpp"

namespace simplexboost {

using LeafRows = std::vector<std::span<const std::uint32_t>>;  // the rows of every leaf

constexpr std::size_t kSumChunk = 1024;  // rows that one thread adds up

// Integer sums over leaves, (n_leaves, width), modulo 2^64, of any quantity that has `width` numbers per row;
// add(rows, n_rows, out) adds those of some rows to out.
template <class Add>
std::vector<std::uint64_t> sums_over_leaves(const LeafRows& leaves, std::size_t width, int n_threads, const Add& add) {
  struct Chunk {
    std::size_t leaf, begin, end;
  };
  std::vector<Chunk> chunks;
  for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf)
    for (std::size_t at = 0; at < leaves[leaf].size(); at += kSumChunk)
      chunks.push_back({leaf, at, std::min(at + kSumChunk, leaves[leaf].size())});
  std::vector<std::uint64_t> parts(chunks.size() * width, 0), out(leaves.size() * width, 0);
  const std::size_t grain = 16;  // chunks per task
  parallel_ranges(chunks.size(), grain, n_threads, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i)
      add(leaves[chunks[i].leaf].data() + chunks[i].begin, chunks[i].end - chunks[i].begin, parts.data() + i * width);
  });
  for (std::size_t i = 0; i < chunks.size(); ++i)
    for (std::size_t j = 0; j < width; ++j) out[chunks[i].leaf * width + j] += parts[i * width + j];
  return out;
}

// The scales by which each number of a column becomes two integers (core/exact.hpp), called its limbs.
struct LimbScales {
  std::vector<int> exponents;  // (d,), or one for all classes of sparse statistics
  int width;

  LimbScales(const std::vector<double>& largest, std::int64_t n_rows)
      : width(exact_width(static_cast<std::uint64_t>(n_rows))) {
    for (double x : largest) exponents.push_back(exact_exponent(x, width));
  }
};

// The sums of statistics over the leaves as integers, (n_leaves, 2, m), so that those of shards can be added.
inline std::vector<std::uint64_t> leaf_limbs(const LeafRows& leaves, const StatisticsView& s, const LimbScales& scales,
                                             int n_threads) {
  std::vector<double> scale;
  for (int exponent : scales.exponents) scale.push_back(std::ldexp(1.0, exponent));
  const double second = std::ldexp(1.0, scales.width);
  return sums_over_leaves(
      leaves, 2 * s.m, n_threads, [&](const std::uint32_t* rows, std::size_t n_rows, std::uint64_t* out) {
        if (s.sparse()) hot().add_limbs_sparse(s.classes, s.weight, rows, n_rows, scale[0], second, out, out + s.m);
        else hot().add_limbs(s.dense, s.m, rows, n_rows, scale.data(), second, out, out + s.m);
      });
}

// The sums (n_leaves, m) that the integers (n_leaves, 2, m) represent.
inline std::vector<double> limb_values(const std::vector<std::uint64_t>& limbs, std::size_t m,
                                       const LimbScales& scales) {
  std::vector<double> sums(limbs.size() / 2);
  for (std::size_t j = 0; j < m; ++j) {
    const ExactUnits units(scales.exponents[scales.exponents.size() == 1 ? 0 : j], scales.width);
    for (std::size_t leaf = 0; leaf < sums.size() / m; ++leaf)
      sums[leaf * m + j] = units.value(limbs[2 * leaf * m + j], limbs[(2 * leaf + 1) * m + j]);
  }
  return sums;
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
inline void leaf_of_rows(const Tree& tree, const LeafRows& leaves, const BinnedView& data, std::int32_t* out,
                         int n_threads) {
  std::size_t used = 0;
  for (const auto& rows : leaves) used += rows.size();
  if (used < data.n) {
    parallel_ranges(data.n, kRowGrain, n_threads, [&](std::size_t begin, std::size_t end) {
      for (std::size_t row = begin; row < end; ++row) out[row] = leaf_of_codes(tree, data, row);
    });
    return;
  }
  for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf)
    for (std::uint32_t row : leaves[leaf]) out[row] = static_cast<std::int32_t>(leaf);
}

}  // namespace simplexboost
