// Small helpers that the solvers of the multiclass SVM share.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/pool.hpp"

namespace simplexboost {

inline std::size_t padded8(std::size_t size) { return (size + 7) / 8 * 8; }

constexpr std::size_t kPanel = 512;  // columns per task

// body(from, to) over columns begin .. end; panels begin at multiples of 8, so vectors never overlap.
template <class Body>
void panels(std::size_t begin, std::size_t end, int n_threads, const Body& body) {
  const std::size_t start = begin / 8 * 8;
  parallel_ranges(end - start, kPanel, n_threads,
                  [&](std::size_t from, std::size_t to) { body(start + from, start + to); });
}

// values[r] = what was values[order[r]].
template <class Value>
void reorder_values(const std::vector<std::size_t>& order, Value* values) {
  std::vector<Value> moved(order.size());
  for (std::size_t r = 0; r < order.size(); ++r) moved[r] = values[order[r]];
  std::copy(moved.begin(), moved.end(), values);
}

// The number of passes over n examples that `visited` visits make, rounded up.
inline std::int64_t passes(std::int64_t visited, std::size_t n) {
  return (visited + static_cast<std::int64_t>(n) - 1) / static_cast<std::int64_t>(n);
}

// The number of visits in max_iter passes, or the largest integer if that is smaller.
inline std::int64_t visits(std::int64_t max_iter, std::size_t n) {
  const auto most = std::numeric_limits<std::int64_t>::max() / 4, size = static_cast<std::int64_t>(n);
  return max_iter > most / size ? most : max_iter * size;
}

// splitmix64: the same draws on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::size_t below(std::size_t bound) {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    z ^= z >> 31;
    return static_cast<std::size_t>(static_cast<double>(z >> 11) * 0x1.0p-53 * static_cast<double>(bound));
  }

 private:
  std::uint64_t state_;
};

// Says every 100 ms that it is time to check for signals; reads the clock only at one call in `every`.
class Clock {
 public:
  explicit Clock(std::size_t every) : every_(every) {}
  bool due() {
    if (++calls_ % every_ != 0) return false;
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(100)) return false;
    last_ = now;
    return true;
  }

 private:
  std::size_t every_, calls_ = 0;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace simplexboost
