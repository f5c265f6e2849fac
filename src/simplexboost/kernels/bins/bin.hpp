// Values to codes: the number of edges below the value; a missing value gets the code after the last bin.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <mutex>
#include <vector>

#include "core/pool.hpp"
#include "trees/data.hpp"

namespace simplexboost {

constexpr std::size_t kChunk = 256;      // rows gathered at a time; 8 columns of doubles are 16 KB, half of a small L1
constexpr std::size_t kMaxCells = 4096;  // bytes of the largest grid, which shares that cache

// `width` columns of X (n, p) at the rows row_of(0) .. row_of(n_rows - 1), one after the other: out[c * kChunk + i].
// A cache line of X is then read once for all the columns in it. Rows of X are far apart, and processors do not predict
// such reads: without the prefetch the edges of 60000 x 784 float32 values take twice as long.
template <class Value, class RowOf>
void gather(const Value* X, std::size_t p, std::size_t first, std::size_t width, std::size_t n_rows, RowOf row_of,
            Value* out) {
  constexpr std::size_t ahead = 16;  // 8 .. 32 are as good
  for (std::size_t i = 0; i < n_rows; ++i) {
    const Value *row = X + row_of(i) * p + first, *later = X + row_of(std::min(i + ahead, n_rows - 1)) * p + first;
    __builtin_prefetch(later);
    __builtin_prefetch(later + width - 1);  // the columns may lie in two lines
    for (std::size_t c = 0; c < width; ++c) out[c * kChunk + i] = row[c];
  }
}

template <class Value>
bool any_missing(const Value* x, std::size_t m) {
  int missing = 0;  // no early exit: the loop vectorizes
  for (std::size_t i = 0; i < m; ++i) missing |= x[i] != x[i] ? 1 : 0;
  return missing != 0;
}

// The largest Value <= edge. A Value lies above it exactly if it lies above the edge, so that float32 data can be
// compared without conversion to double.
template <class Value>
Value rounded_down(double edge) {
  const auto nearest = static_cast<Value>(edge);
  if (static_cast<double>(nearest) <= edge) return nearest;
  return std::nextafter(nearest, -std::numeric_limits<Value>::infinity());
}

// A regular grid over the edges of a feature. With any rounding, the cell of x never decreases as x grows; hence an
// edge in a lower cell than x is below x, one in a higher cell is above. NaN has cell 0.
template <class Value>
struct Grid {
  Value low = 0, scale = 0, last = 0;

  std::int32_t cell(Value x) const {
    Value at = (x - low) * scale;
    at = at > 0 ? at : 0;
    return static_cast<std::int32_t>(at < last ? at : last);
  }
};

// The codes of one feature. If a grid of a few thousand cells has at most one edge per cell (always for integers,
// mostly for quantiles of a normal distribution), the cell and one comparison give the code: 1.5 ns per value.
// Otherwise (long tails) there is a search without branches: 5 ns per value for 254 edges, where std::lower_bound takes
// 45 ns.
template <class Value>
class Coder {
 public:
  Coder() = default;

  Coder(const double* edges, std::size_t n_edges)
      : n_edges_(n_edges), edges_(std::bit_ceil(n_edges + 1), std::numeric_limits<Value>::infinity()) {
    std::transform(edges, edges + n_edges, edges_.begin(), rounded_down<Value>);
    std::size_t cells = edges_.size();
    while (cells <= kMaxCells && !lay_grid(cells)) cells *= 2;
  }

  // Writes the codes of m <= kChunk values to out[0], out[8], ...; returns whether a value is missing.
  bool code(const Value* x, std::size_t m, std::uint8_t* out) const {
    below_.empty() ? search(x, m, out) : look_up(x, m, out);
    if (!any_missing(x, m)) return false;
    for (std::size_t i = 0; i < m; ++i)
      if (x[i] != x[i]) out[i * kTile] = static_cast<std::uint8_t>(n_edges_ + 1);
    return true;
  }

 private:
  // Makes the grid; returns false, and makes none, if two edges fall in the same cell.
  bool lay_grid(std::size_t cells) {
    if (n_edges_ > 1) {
      const Value low = edges_[0], high = edges_[n_edges_ - 1];
      grid_ = {low, static_cast<Value>(cells) / (high - low), static_cast<Value>(cells - 1)};
    }
    for (std::size_t e = 1; e < n_edges_; ++e)
      if (grid_.cell(edges_[e - 1]) == grid_.cell(edges_[e])) return false;
    below_.resize(cells);
    for (std::size_t c = 0, e = 0; c < cells; ++c) {
      below_[c] = static_cast<std::uint8_t>(e);
      if (e < n_edges_ && static_cast<std::size_t>(grid_.cell(edges_[e])) == c) ++e;
    }
    return true;
  }

  void look_up(const Value* x, std::size_t m, std::uint8_t* out) const {
    std::int32_t cells[kChunk];
    const Grid<Value> grid = grid_;  // local copies: the compiler must assume that `out` points at members
    const Value* edges = edges_.data();
    const std::uint8_t* below = below_.data();
    for (std::size_t i = 0; i < m; ++i) cells[i] = grid.cell(x[i]);
    for (std::size_t i = 0; i < m; ++i) {
      const std::uint8_t e = below[cells[i]];
      out[i * kTile] = static_cast<std::uint8_t>(e + (edges[e] < x[i] ? 1 : 0));
    }
  }

  // All values take a step of the bisection before any takes the next, so that the loads of different values overlap.
  void search(const Value* x, std::size_t m, std::uint8_t* out) const {
    std::uint32_t codes[kChunk] = {};
    const Value* edges = edges_.data();
    for (auto half = static_cast<std::uint32_t>(edges_.size() / 2); half > 0; half /= 2)
      for (std::size_t i = 0; i < m; ++i) codes[i] += edges[codes[i] + half - 1] < x[i] ? half : 0;
    for (std::size_t i = 0; i < m; ++i) out[i * kTile] = static_cast<std::uint8_t>(codes[i]);
  }

  std::size_t n_edges_ = 0;
  std::vector<Value> edges_;  // padded with infinity to a power of two
  Grid<Value> grid_;
  std::vector<std::uint8_t> below_;  // (cells,) how many edges lie in lower cells; empty without a grid
};

// X (n, p) to codes (n_blocks, n, 8); has_missing (p,) is set where a feature has missing values. Feature f's edges are
// edges[first_edge[f] .. first_edge[f + 1]), ascending, at most 254.
template <class Value>
void bin_values(const Value* X, std::size_t n, std::size_t p, const double* edges, const std::int64_t* first_edge,
                std::uint8_t* codes, std::uint8_t* has_missing, int n_threads) {
  std::vector<Coder<Value>> coders(p);
  parallel_for(p, n_threads, [&](std::size_t f) {
    coders[f] = Coder<Value>(edges + first_edge[f], static_cast<std::size_t>(first_edge[f + 1] - first_edge[f]));
  });
  std::mutex merge;
  parallel_ranges(n, kChunk, n_threads, [&](std::size_t begin, std::size_t end) {
    Value x[kTile * kChunk];
    std::vector<std::uint8_t> missing(p);
    for (std::size_t first = 0; first < p; first += kTile) {
      const std::size_t width = std::min(kTile, p - first);
      gather(X, p, first, width, end - begin, [begin](std::size_t i) { return begin + i; }, x);
      std::uint8_t* out = codes + first * n + begin * kTile;
      for (std::size_t c = 0; c < width; ++c)
        missing[first + c] = coders[first + c].code(x + c * kChunk, end - begin, out + c);
    }
    std::lock_guard<std::mutex> lock(merge);
    for (std::size_t f = 0; f < p; ++f) has_missing[f] |= missing[f];
  });
}

}  // namespace simplexboost
