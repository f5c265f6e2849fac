// The data a tree is grown on, as views on arrays that Python owns.
//
// Codes are tiled: features come in blocks of 8, and a block holds the 8 codes of a row in one 64-bit word,
// codes[block][row][feature % 8]. A histogram pass over a block reads one word per row, and the block's histograms
// (8 features x 256 bins x a few numbers) stay in the first-level cache for any number of features.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace simplexboost {

constexpr std::size_t kTile = 8;

// What all shards know about the columns: the bins of histograms.
struct Columns {
  std::size_t p;
  const std::int32_t* n_bins;       // (p,) bins of finite values; the code of a missing value is n_bins[f]
  const std::uint8_t* has_missing;  // (p,)
  const std::uint8_t* categorical;  // (p,) codes are categories without an order
  std::vector<std::size_t> offset;  // (p + 1,) first histogram bin of each feature

  std::size_t n_blocks() const { return (p + kTile - 1) / kTile; }
  std::size_t total_bins() const { return offset.back(); }
};

struct BinnedView : Columns {
  const std::uint8_t* codes;  // (n_blocks, n, 8)
  std::size_t n;

  const std::uint8_t* column(std::size_t f) const { return codes + (f / kTile) * n * kTile + f % kTile; }
  std::uint8_t code(std::size_t row, std::size_t f) const { return column(f)[row * kTile]; }
};

// Dense statistics: m numbers per row. Sparse ones: a single non-zero per row, `weight[i]` in column `classes[i]` of m.
struct StatisticsView {
  const double* dense = nullptr;          // (n, m)
  const std::int32_t* classes = nullptr;  // (n,)
  const double* weight = nullptr;         // (n,)
  std::size_t m = 0;
  bool sparse() const { return classes != nullptr; }
  const double* values() const { return sparse() ? weight : dense; }
  std::size_t columns() const { return sparse() ? 1 : m; }  // of values(); all classes share one scale
};

}  // namespace simplexboost
