// Fixed-point statistics. A column is scaled by a power of two such that no sum over rows can overflow a lane (an
// integer of a histogram bin). Sums of integers are exact in any order, so histogram subtraction is exact, and the tree
// is the same for any number of threads and for any cut into shards. The bound on the sums is itself an exact sum
// (`column_magnitudes`), because a rounded sum would depend on the order.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "core/arena.hpp"
#include "core/hot.hpp"
#include "core/pool.hpp"
#include "trees/data.hpp"

namespace simplexboost {

constexpr std::size_t kRowGrain = 4096;  // rows per task of a pass over the rows
using Rows = Buffer<std::uint32_t>;      // row numbers, ascending in the beginning

// Lanes per histogram bin: m statistics and the count, padded to a width that suits vector registers.
inline std::size_t lane_count(std::size_t m) {
  const std::size_t used = m + 1;
  if (used <= 2) return 2;
  if (used <= 4) return 4;
  return (used + 7) / 8 * 8;
}

// What a bin's integers mean: lanes are [statistic 0 .. m-1, count, padding].
struct LaneUnits {
  std::size_t m, lanes;
  std::vector<double> inverse;  // (m,) the value of one lane unit in each column
};

// log2 of the unit in which the magnitudes of a column are counted: 20 - e if its largest |v| <= 2^e, as far as doubles
// reach.
inline int magnitude_exponent(double largest) {
  int e = 0;
  std::frexp(largest, &e);
  return std::clamp(20 - e, -1000, 1000);
}

// These units.
inline std::vector<double> magnitude_units(const std::vector<double>& largest) {
  std::vector<double> unit(largest.size());
  for (std::size_t j = 0; j < unit.size(); ++j) unit[j] = std::ldexp(1.0, magnitude_exponent(largest[j]));
  return unit;
}

// log2 of what sum |v| * scale stays below: half of what a lane holds, or less. Rounding adds at most 1 per row, and
// there are fewer than 2^30 rows.
template <class Lane>
constexpr int kLaneRoom = sizeof(Lane) == 8 ? 61 : 30;

// log2 of a column's scale from its largest |v| and magnitude = sum of ceil(|v| * unit). Statistics beyond 1e290 may
// want a scale that doubles do not have; where one of them is not finite, the magnitude is not either.
template <class Lane>
int scale_exponent(double largest, double magnitude) {
  if (largest == 0.0 && magnitude == 0.0) return 0;
  if (!std::isfinite(magnitude)) throw std::invalid_argument("the statistics of a tree must be finite");
  int e_sum = 0;
  std::frexp(magnitude, &e_sum);  // magnitude < 2^e_sum
  const int exponent = kLaneRoom<Lane> - e_sum + magnitude_exponent(largest);
  if (exponent < -1000) throw std::invalid_argument("the statistics of a tree are too large");
  return std::min(exponent, 1000);
}

// Whether no sum of a column can overflow with this scale, if its magnitude in this unit is known. A product with the
// unit may have become zero where it was below 2^-1022.
template <class Lane>
bool scale_fits(int exponent, double magnitude, double unit, std::size_t n_rows) {
  const double most = (magnitude + static_cast<double>(n_rows) * 0x1p-1022) / unit;  // sum |v|
  return std::ldexp(most, exponent) <= std::ldexp(1.0, kLaneRoom<Lane>);
}

// The units of m statistics with these scales; sparse statistics have a single scale for all classes.
inline LaneUnits lane_units(std::size_t m, const std::vector<int>& exponents) {
  LaneUnits units{m, lane_count(m), std::vector<double>(m)};
  for (std::size_t j = 0; j < m; ++j) units.inverse[j] = std::ldexp(1.0, -exponents[exponents.size() == 1 ? 0 : j]);
  return units;
}

// out (columns,) = the largest |v| of the listed rows, column by column.
inline std::vector<double> column_maxima(const double* v, std::size_t columns, const Rows& rows, int n_threads) {
  std::mutex merge;
  std::vector<double> largest(columns, 0.0);
  parallel_ranges(rows.size(), kRowGrain, n_threads, [&](std::size_t begin, std::size_t end) {
    std::vector<double> part(columns, 0.0);
    hot().column_maxima(v, columns, rows.data() + begin, end - begin, part.data());
    std::lock_guard<std::mutex> lock(merge);
    for (std::size_t j = 0; j < columns; ++j) largest[j] = std::max(largest[j], part[j]);
  });
  return largest;
}

// out (columns,) = sum of ceil(|v| * unit): integers, so that those of shards can be added exactly.
inline std::vector<double> column_magnitudes(const double* v, std::size_t columns, const Rows& rows,
                                             const std::vector<double>& unit, int n_threads) {
  std::mutex merge;
  std::vector<double> magnitude(columns, 0.0);
  parallel_ranges(rows.size(), kRowGrain, n_threads, [&](std::size_t begin, std::size_t end) {
    std::vector<double> part(columns, 0.0);
    hot().column_magnitudes(v, columns, rows.data() + begin, end - begin, unit.data(), part.data());
    std::lock_guard<std::mutex> lock(merge);
    for (std::size_t j = 0; j < columns; ++j) magnitude[j] += part[j];
  });
  return magnitude;
}

template <class Lane>
struct Quantized {
  std::size_t m, lanes;         // columns; lanes of a histogram bin
  Buffer<Lane> values;          // (n, lanes), or (n,) weights if the statistics are sparse; only rows in use are set
  const std::int32_t* classes;  // (n,), null if they are dense
};

// Rows that follow each other both here and among the rows of all shards: from row `begin` here, which has the number
// `number` there, up to the next segment.
struct Segment {
  std::uint64_t begin, number;
};
using Segments = std::vector<Segment>;  // ascending; the first begins at row 0

// The statistics of the listed rows (ascending) as integers. Random rounding depends on the number of a row among the
// rows of all shards, which `segments` tell.
template <class Lane>
Quantized<Lane> quantize(const StatisticsView& s, std::size_t n, const Rows& rows, const std::vector<int>& exponents,
                         const Segments& segments, std::uint64_t seed, int n_threads) {
  const std::size_t stride = s.sparse() ? 1 : lane_count(s.m);
  Quantized<Lane> q{s.m, lane_count(s.m), Buffer<Lane>(n * stride), s.classes};
  std::vector<double> scale(s.columns());
  for (std::size_t j = 0; j < scale.size(); ++j) scale[j] = std::ldexp(1.0, exponents[j]);
  parallel_ranges(rows.size(), kRowGrain, n_threads, [&](std::size_t begin, std::size_t end) {
    const auto after = [](std::uint64_t row, const Segment& segment) { return row < segment.begin; };
    auto segment = std::upper_bound(segments.begin(), segments.end(), rows[begin], after) - 1;
    for (std::size_t from = begin; from < end; ++segment) {
      const std::uint32_t* to = rows.data() + end;
      if (segment + 1 != segments.end()) to = std::lower_bound(rows.data() + from, to, segment[1].begin);
      const auto count = static_cast<std::size_t>(to - (rows.data() + from));
      hot().lanes<Lane>().quantize_rows(s.values(), s.columns(), stride, rows.data() + from, count, scale.data(),
                                        segment->number - segment->begin, seed, q.values.data());
      from += count;
    }
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
