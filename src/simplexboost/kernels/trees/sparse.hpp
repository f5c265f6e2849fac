// Sparse codes (SparseView) from those of the columns: the same entries by rows, in strips of columns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/pool.hpp"
#include "trees/data.hpp"

namespace simplexboost {

// A strip has at least so many entries per row on average, so that where its rows begin takes a quarter of their memory
// at most; and there are at most so many strips.
constexpr std::size_t kStripEntries = 8, kMostStrips = 64;

struct Strips {
  std::vector<std::size_t> strip;    // (n_strips + 1,)
  std::vector<std::int64_t> starts;  // (n_strips, n + 1)
  std::vector<std::uint32_t> bins;   // (n_entries,)

  std::size_t n_strips() const { return strip.size() - 1; }
};

// The first column of every strip: strips have about the same number of entries, and whole blocks of 8 columns.
inline std::vector<std::size_t> cut_strips(const std::int64_t* first, std::size_t p, std::size_t n) {
  const auto n_entries = static_cast<std::size_t>(first[p]);
  const std::size_t n_strips = std::clamp<std::size_t>(n_entries / (kStripEntries * std::max<std::size_t>(1, n)), 1,
                                                       std::min(kMostStrips, (p + kTile - 1) / kTile));
  std::vector<std::size_t> strip = {0};
  for (std::size_t s = 1; s < n_strips; ++s) {
    const auto wanted = static_cast<std::int64_t>(n_entries / n_strips * s);
    const auto f = static_cast<std::size_t>(std::lower_bound(first, first + p, wanted) - first) / kTile * kTile;
    if (f > strip.back()) strip.push_back(f);
  }
  strip.push_back(p);
  return strip;
}

// Fills in the rows of one strip; its entries are those of its columns, in place of `bins`.
inline void fill_strip(const Columns& columns, const std::int64_t* first, const std::uint32_t* rows,
                       const std::uint8_t* codes, std::size_t n, std::size_t begin, std::size_t end,
                       std::int64_t* starts, std::uint32_t* bins) {
  for (std::int64_t e = first[begin]; e < first[end]; ++e) ++starts[rows[e] + 1];
  starts[0] = first[begin];
  for (std::size_t i = 0; i < n; ++i) starts[i + 1] += starts[i];
  std::vector<std::int64_t> at(starts, starts + n);
  for (std::size_t f = begin; f < end; ++f)
    for (std::int64_t e = first[f]; e < first[f + 1]; ++e)
      bins[at[rows[e]]++] = static_cast<std::uint32_t>(columns.offset[f] + codes[e]);
}

inline Strips make_strips(const Columns& columns, const std::int64_t* first, const std::uint32_t* rows,
                          const std::uint8_t* codes, std::size_t n, int n_threads) {
  Strips out{cut_strips(first, columns.p, n), {}, {}};
  out.starts.resize(out.n_strips() * (n + 1), 0);
  out.bins.resize(static_cast<std::size_t>(first[columns.p]));
  parallel_for(out.n_strips(), n_threads, [&](std::size_t s) {
    fill_strip(columns, first, rows, codes, n, out.strip[s], out.strip[s + 1], out.starts.data() + s * (n + 1),
               out.bins.data());
  });
  return out;
}

}  // namespace simplexboost
