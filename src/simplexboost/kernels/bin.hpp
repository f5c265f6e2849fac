// Values to codes: the number of edges below the value; a missing value gets the code after the last bin.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "data.hpp"
#include "pool.hpp"

namespace simplexboost {

// X (n, p) to codes (n_blocks, n, 8). Feature f's edges are edges[first_edge[f] .. first_edge[f + 1]), ascending.
template <class Value>
void bin_values(const Value* X, std::size_t n, std::size_t p, const double* edges, const std::int64_t* first_edge,
                std::uint8_t* codes, int n_threads) {
  parallel_ranges(n, 2048, n_threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t f = 0; f < p; ++f) {
      const double *low = edges + first_edge[f], *high = edges + first_edge[f + 1];
      const auto missing = static_cast<std::uint8_t>(high - low + 1);
      std::uint8_t* out = codes + (f / kTile) * n * kTile + f % kTile;
      for (std::size_t i = begin; i < end; ++i) {
        const double x = static_cast<double>(X[i * p + f]);
        out[i * kTile] = std::isnan(x) ? missing : static_cast<std::uint8_t>(std::lower_bound(low, high, x) - low);
      }
    }
  });
}

}  // namespace simplexboost
