// Fixed-point statistics. A column is scaled by a power of two such that no sum over rows can overflow a lane; sums of
// integers are then exact and order-free, so histogram subtraction is exact and the tree is the same for any number
// of threads. Sizes are bounded by exact sums as well (`column_magnitudes`), because a rounded sum has an order.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <mutex>
#include <vector>

#include "core/arena.hpp"
#include "core/hot.hpp"
#include "core/pool.hpp"
#include "trees/data.hpp"

namespace simplexboost {

constexpr std::size_t kRowGrain = 4096;  // rows per task of a pass over the rows
using Rows = std::vector<std::uint32_t>;

// Lanes per histogram bin: m statistics and the count, padded to a width the vector units like.
inline std::size_t lane_count(std::size_t m) {
  const std::size_t used = m + 1;
  if (used <= 2) return 2;
  if (used <= 4) return 4;
  return (used + 7) / 8 * 8;
}

// log2 of a column's scale from its largest |v| <= 2^e and magnitude = sum of ceil(|v| * 2^(20 - e)):
// sum |v| * scale < 2^61 (64-bit lanes) or < 2^30 (32-bit lanes).
template <class Lane>
int scale_exponent(double largest, double magnitude) {
  if (largest == 0.0) return 0;
  int e, e_sum;
  std::frexp(largest, &e);
  std::frexp(magnitude, &e_sum);  // magnitude < 2^e_sum
  constexpr int room = sizeof(Lane) == 8 ? 61 : 30;
  return std::clamp(room - e_sum + 20 - e, -1000, 1000);
}

// The scale exponents of the columns of v (n, m) over the given rows.
template <class Lane>
std::vector<int> scale_exponents(const double* v, std::size_t m, const Rows& rows, int n_threads) {
  std::mutex merge;
  std::vector<double> largest(m, 0.0), unit(m), magnitude(m, 0.0);
  parallel_ranges(rows.size(), kRowGrain, n_threads, [&](std::size_t begin, std::size_t end) {
    std::vector<double> part(m, 0.0);
    hot().column_maxima(v, m, rows.data() + begin, end - begin, part.data());
    std::lock_guard<std::mutex> lock(merge);
    for (std::size_t j = 0; j < m; ++j) largest[j] = std::max(largest[j], part[j]);
  });
  for (std::size_t j = 0; j < m; ++j) {
    int e = 0;
    std::frexp(largest[j], &e);
    unit[j] = std::ldexp(1.0, std::clamp(20 - e, -1000, 1000));
  }
  parallel_ranges(rows.size(), kRowGrain, n_threads, [&](std::size_t begin, std::size_t end) {
    std::vector<double> part(m, 0.0);
    hot().column_magnitudes(v, m, rows.data() + begin, end - begin, unit.data(), part.data());
    std::lock_guard<std::mutex> lock(merge);
    for (std::size_t j = 0; j < m; ++j) magnitude[j] += part[j];
  });
  std::vector<int> exponents(m);
  for (std::size_t j = 0; j < m; ++j) exponents[j] = scale_exponent<Lane>(largest[j], magnitude[j]);
  return exponents;
}

template <class Lane>
struct Quantized {
  std::size_t m, lanes;         // columns; lanes of a histogram bin: [statistic 0 .. m-1, count, padding]
  Buffer<Lane> values;          // (n, lanes), or (n,) weights where the statistics are sparse; only rows in use are set
  const std::int32_t* classes;  // (n,), null where they are dense
  std::vector<double> inverse;  // (m,) one lane unit in the column's own units
};

template <class Lane>
Quantized<Lane> quantize(const StatisticsView& s, std::size_t n, const Rows& rows, std::uint64_t seed, int n_threads) {
  const double* v = s.sparse() ? s.weight : s.dense;
  const std::size_t columns = s.sparse() ? 1 : s.m;  // columns of v
  const std::size_t stride = s.sparse() ? 1 : lane_count(s.m);
  const auto exponents = scale_exponents<Lane>(v, columns, rows, n_threads);
  Quantized<Lane> q{s.m, lane_count(s.m), Buffer<Lane>(n * stride), s.classes, std::vector<double>(s.m)};
  std::vector<double> scale(columns);
  for (std::size_t j = 0; j < columns; ++j) scale[j] = std::ldexp(1.0, exponents[j]);
  for (std::size_t j = 0; j < s.m; ++j) q.inverse[j] = std::ldexp(1.0, -exponents[s.sparse() ? 0 : j]);
  parallel_ranges(rows.size(), kRowGrain, n_threads, [&](std::size_t begin, std::size_t end) {
    hot().lanes<Lane>().quantize_rows(v, columns, stride, rows.data() + begin, end - begin, scale.data(), seed,
                                      q.values.data());
    if (s.sparse()) return;
    for (std::size_t r = begin; r < end; ++r) {
      Lane* lanes = q.values.data() + rows[r] * stride;
      lanes[s.m] = 1;  // the count
      for (std::size_t l = s.m + 1; l < stride; ++l) lanes[l] = 0;
    }
  });
  return q;
}

}  // namespace simplexboost
