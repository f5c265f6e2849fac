// The leaf of every row in a grown tree, and the exact sums of any statistics over the leaves.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "core/arena.hpp"
#include "core/exact.hpp"
#include "core/hot.hpp"
#include "core/pool.hpp"
#include "trees/data.hpp"
#include "trees/quantize.hpp"
#include "trees/tree.hpp"

namespace simplexboost {

using LeafRows = std::vector<std::span<const std::uint32_t>>;  // the rows of every leaf

// Some rows of a leaf, which one thread adds up.
struct LeafChunk {
  std::size_t leaf, begin, end;
};

// Chunks of at most `most` rows, leaf by leaf.
inline std::vector<LeafChunk> leaf_chunks(const LeafRows& leaves, std::size_t most) {
  std::vector<LeafChunk> chunks;
  for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf)
    for (std::size_t at = 0; at < leaves[leaf].size(); at += most)
      chunks.push_back({leaf, at, std::min(at + most, leaves[leaf].size())});
  return chunks;
}

inline std::size_t count_rows(const LeafRows& leaves) {
  std::size_t n_rows = 0;
  for (const auto& rows : leaves) n_rows += rows.size();
  return n_rows;
}

// The rows that a task should have if each of the threads is to get a few tasks.
inline std::size_t rows_per_task(std::size_t n_rows, int n_threads) {
  return std::clamp<std::size_t>(n_rows / (4 * static_cast<std::size_t>(std::max(1, n_threads))), 256, 16384);
}

// Calls each(i, chunk) for all chunks; a task is several consecutive ones, of `rows` rows together.
template <class Each>
void for_each_chunk(const std::vector<LeafChunk>& chunks, std::size_t rows, int n_threads, const Each& each) {
  std::vector<std::size_t> first = {0};
  std::size_t n_rows = 0;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    n_rows += chunks[i].end - chunks[i].begin;
    if (n_rows >= rows || i + 1 == chunks.size()) first.push_back(i + 1), n_rows = 0;
  }
  parallel_for(first.size() - 1, n_threads, [&](std::size_t task) {
    for (std::size_t i = first[task]; i < first[task + 1]; ++i) each(i, chunks[i]);
  });
}

// Integer sums over leaves, (n_leaves, width), modulo 2^64, of any quantity that has `width` numbers per row;
// add(rows, n_rows, out) adds those of some rows to out.
template <class Add>
std::vector<std::uint64_t> sums_over_leaves(const LeafRows& leaves, std::size_t width, int n_threads, const Add& add) {
  constexpr std::size_t enough = 1 << 13;  // numbers that are worth a thread of their own
  const std::size_t n_rows = count_rows(leaves);
  const int threads = worth_threads(n_rows * width, enough, n_threads);
  const std::size_t share = rows_per_task(n_rows, threads);
  const std::vector<LeafChunk> chunks = leaf_chunks(leaves, share);
  std::vector<std::size_t> first(leaves.size() + 1, 0);  // the first chunk of each leaf
  for (const LeafChunk& chunk : chunks) ++first[chunk.leaf + 1];
  for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf) first[leaf + 1] += first[leaf];
  std::vector<std::uint64_t> out(leaves.size() * width, 0);
  Buffer<std::uint64_t> parts(std::bit_ceil(std::max<std::size_t>(1, chunks.size() * width)));
  const auto alone = [&](std::size_t leaf) { return first[leaf + 1] - first[leaf] <= 1; };
  for_each_chunk(chunks, share, threads, [&](std::size_t i, const LeafChunk& chunk) {
    std::uint64_t* to = alone(chunk.leaf) ? out.data() + chunk.leaf * width : parts.data() + i * width;
    std::fill_n(to, width, 0);
    add(leaves[chunk.leaf].data() + chunk.begin, chunk.end - chunk.begin, to);
  });
  parallel_ranges(leaves.size(), 16, worth_threads(chunks.size() * width, enough, n_threads),
                  [&](std::size_t begin, std::size_t end) {
                    for (std::size_t leaf = begin; leaf < end; ++leaf)
                      for (std::size_t i = first[leaf]; !alone(leaf) && i < first[leaf + 1]; ++i)
                        for (std::size_t j = 0; j < width; ++j) out[leaf * width + j] += parts[i * width + j];
                  });
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
  if (count_rows(leaves) < data.n) {
    parallel_ranges(data.n, kRowGrain, n_threads, [&](std::size_t begin, std::size_t end) {
      for (std::size_t row = begin; row < end; ++row) out[row] = leaf_of_codes(tree, data, row);
    });
    return;
  }
  const std::size_t share = std::max(kRowGrain, rows_per_task(data.n, n_threads));
  for_each_chunk(leaf_chunks(leaves, share), share, n_threads, [&](std::size_t, const LeafChunk& chunk) {
    for (std::size_t r = chunk.begin; r < chunk.end; ++r)
      out[leaves[chunk.leaf][r]] = static_cast<std::int32_t>(chunk.leaf);
  });
}

}  // namespace simplexboost
