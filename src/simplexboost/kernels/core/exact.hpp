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

}  // namespace simplexboost
