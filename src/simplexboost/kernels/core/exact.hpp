// Sums of doubles that do not depend on the order of the addends, hence neither on threads nor on how rows are cut into
// shards: every number becomes two integers, the integers are summed exactly, and their sums are converted back.
//
// For n numbers with largest |x| < 2^e the first integer is hi = x 2^a, rounded to nearest, with a = width - e. The
// second is the remainder, lo = (x 2^a - hi) 2^width, rounded to nearest. With width = min(50, 62 - bits of n) neither
// sum reaches 2^62. A number keeps its digits down to 2^(-2 width) of the largest: 100 bits up to four thousand
// numbers, 84 for a million. tests/twin/trees.py does the same in NumPy.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/hot.hpp"
#include "core/pool.hpp"

namespace simplexboost {

// The number of bits that each of n integers may have if their sum is to stay below 2^62.
inline int exact_width(std::uint64_t n) { return std::min(50, 62 - static_cast<int>(std::bit_width(n))); }

// log2 of the scale that turns numbers up to `largest` into integers of `width` bits.
inline int exact_exponent(double largest, int width) {
  int e = 0;
  std::frexp(largest, &e);
  return std::clamp(width - e, -1000, 1000);
}

// The units of the two integers.
struct ExactUnits {
  double first, second;
  ExactUnits(int exponent, int width) : first(std::ldexp(1.0, -exponent)), second(std::ldexp(1.0, -exponent - width)) {}
  double value(std::uint64_t hi, std::uint64_t lo) const {
    return static_cast<double>(static_cast<std::int64_t>(hi)) * first +
           static_cast<double>(static_cast<std::int64_t>(lo)) * second;
  }
};

// A number below 2^51, rounded to the nearest integer, modulo 2^64.
inline std::uint64_t rounded_bits(double x) {
  constexpr double shift = 0x1.8p52;
  return std::bit_cast<std::uint64_t>(x + shift) - std::bit_cast<std::uint64_t>(shift);
}

// Turns each number of x (n,) into two integers, and adds these to sums[0] and sums[1].
inline void add_exact(const double* x, std::size_t n, int exponent, int width, std::uint64_t* sums) {
  hot().sum_limbs(x, n, std::ldexp(1.0, exponent), std::ldexp(1.0, width), sums);
}

// The sum of n numbers, NaN if one of them is not finite; read(begin, size, buffer) returns some of them as doubles,
// which it may write to the buffer.
template <class Read>
double exact_total(std::size_t n, int n_threads, const Read& read) {
  constexpr std::size_t grain = 1 << 14, step = 512;  // numbers per task; per call of `read`
  const auto for_parts = [&](const auto& each) {
    parallel_ranges(n, grain, n_threads, [&](std::size_t begin, std::size_t end) {
      double buffer[step];
      for (std::size_t at = begin; at < end; at += step) {
        const std::size_t size = std::min(step, end - at);
        each(begin / grain, read(at, size, buffer), size);
      }
    });
  };
  std::vector<double> most(n / grain + 1, 0.0);
  for_parts([&](std::size_t part, const double* x, std::size_t size) {
    const double largest = hot().largest_magnitude(x, size);
    if (std::isfinite(most[part]) && !(largest <= most[part])) most[part] = largest;
  });
  double largest = 0.0;
  for (double m : most) {
    if (!std::isfinite(m)) return std::numeric_limits<double>::quiet_NaN();
    largest = std::max(largest, m);
  }
  const int width = exact_width(n), exponent = exact_exponent(largest, width);
  std::vector<std::uint64_t> sums(2 * most.size(), 0);
  for_parts([&](std::size_t part, const double* x, std::size_t size) {
    add_exact(x, size, exponent, width, sums.data() + 2 * part);
  });
  for (std::size_t part = 1; part < most.size(); ++part) sums[0] += sums[2 * part], sums[1] += sums[2 * part + 1];
  return ExactUnits(exponent, width).value(sums[0], sums[1]);
}

}  // namespace simplexboost
