// The data a tree is grown on, as views on arrays that Python owns.
//
// Codes are tiled: features come in blocks of 8, and a block holds the 8 codes of a row in one 64-bit word,
// codes[block][row][feature % 8]. A histogram pass over a block reads one word per row, and the block's histograms
// (8 features x 256 bins x a few numbers) stay in the first-level cache for any number of features.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace simplexboost {

constexpr std::size_t kTile = 8;

// What all shards know about the columns: the bins of histograms.
struct Columns {
  std::size_t p;
  const std::int32_t* n_bins;          // (p,) bins of finite values; the code of a missing value is n_bins[f]
  const std::uint8_t* has_missing;     // (p,)
  const std::uint8_t* categorical;     // (p,) codes are categories without an order
  std::vector<std::size_t> offset;     // (p + 1,) first histogram bin of each feature
  const std::uint8_t* zero = nullptr;  // (p,) the code of zero, if the codes are sparse and all rows are in one shard

  std::size_t n_blocks() const { return (p + kTile - 1) / kTile; }
  std::size_t total_bins() const { return offset.back(); }
};

// Codes of a table most of whose values are zero. Only those that differ from the code of zero are stored, twice: by
// columns to divide rows, and by rows to build histograms. By rows, the columns are cut into a few strips, whose parts
// of a histogram stay in a cache and are built by different threads.
struct SparseView {
  const std::uint8_t* zero = nullptr;   // (p,) the code of zero in each column
  const std::int64_t* first = nullptr;  // (p + 1,) where the entries of each column begin
  const std::uint32_t* rows = nullptr;  // (n_entries,) column by column, ascending in each
  const std::uint8_t* codes = nullptr;  // (n_entries,)
  std::size_t n_strips = 0;
  const std::size_t* strip = nullptr;    // (n_strips + 1,) the first column of each strip, a multiple of 8
  const std::int64_t* starts = nullptr;  // (n_strips, n + 1) where the bins of each row begin
  const std::uint32_t* bins = nullptr;   // (n_entries,) histogram bins, ascending in each row of a strip
};

struct BinnedView : Columns {
  const std::uint8_t* codes;  // (n_blocks, n, 8); null if the codes are sparse
  std::size_t n;
  SparseView sparse = {};

  bool is_sparse() const { return codes == nullptr; }
  const std::uint8_t* column(std::size_t f) const { return codes + (f / kTile) * n * kTile + f % kTile; }
  std::uint8_t code(std::size_t row, std::size_t f) const {
    return is_sparse() ? sparse_code(row, f) : column(f)[row * kTile];
  }

  // Codes that a pass over a row reads, on average.
  std::size_t row_entries() const {
    return is_sparse() ? static_cast<std::size_t>(sparse.first[p]) / std::max<std::size_t>(1, n) + 1 : p;
  }

 private:
  std::uint8_t sparse_code(std::size_t row, std::size_t f) const {
    const auto s =
        static_cast<std::size_t>(std::upper_bound(sparse.strip, sparse.strip + sparse.n_strips, f) - sparse.strip - 1);
    const std::int64_t* start = sparse.starts + s * (n + 1) + row;
    const std::uint32_t *end = sparse.bins + start[1],
                        *at = std::lower_bound(sparse.bins + start[0], end, static_cast<std::uint32_t>(offset[f]));
    return at != end && *at < offset[f + 1] ? static_cast<std::uint8_t>(*at - offset[f]) : sparse.zero[f];
  }
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
