// Noise on gains: the feature of a split is the one whose gain plus a random number is largest. Trees that differ more
// from each other make a better average.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/hot.hpp"

namespace simplexboost {

// The noise of one node, or of one level of a symmetric tree. It depends on the seed, on the place in the tree and on
// the feature only, so that it is the same for any number of threads and for any cut into shards.
struct GainNoise {
  double size = 0.0;  // in standard deviations of the features' gains; 0: no noise
  std::uint64_t key = 0;

  GainNoise(double noise, std::uint64_t seed, std::uint64_t place)
      : size(noise), key(mixed_bits(seed ^ mixed_bits(place + 1))) {}

  // A number that is normally distributed, nearly: the sum of twelve uniform numbers, less 6. It is a sum of integers,
  // so the NumPy version gets the same bits; logarithms and cosines of two libraries may differ in the last one.
  double normal(std::int32_t feature) const {
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < 6; ++i) {
      const std::uint64_t bits = mixed_bits(key + kGolden * (6 * static_cast<std::uint64_t>(feature) + i + 1));
      sum += (bits >> 32) + (bits & 0xFFFFFFFFull);
    }
    return static_cast<double>(sum) * 0x1.0p-32 - 6.0;
  }
};

// The place of a node for its noise: 1 for the root, and twice the parent's for the left child, one more for the right.
inline std::uint64_t child_place(std::uint64_t parent, bool right) { return 2 * parent + (right ? 1 : 0); }

// The standard deviation of some numbers; these are first divided by the largest, so that squares cannot overflow.
inline double spread(const std::vector<double>& numbers) {
  double largest = 0.0, sum = 0.0, squares = 0.0;
  for (double x : numbers) largest = std::max(largest, std::abs(x));
  if (largest == 0.0) return 0.0;
  const auto n = static_cast<double>(numbers.size());
  for (double x : numbers) sum += x / largest;
  const double mean = sum / n;
  for (double x : numbers) squares += (x / largest - mean) * (x / largest - mean);
  return largest * std::sqrt(squares / n);
}

}  // namespace simplexboost
