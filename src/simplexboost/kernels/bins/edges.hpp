// The edges between the bins of a feature, from its distinct values and their counts. Integers of a small range are
// counted (2 ns per value), other values are radix-sorted (7 ns for float32, 14 ns for float64; std::sort takes 70 ns).
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "bins/bin.hpp"
#include "core/heap.hpp"
#include "core/pool.hpp"

namespace simplexboost {

constexpr std::int32_t kSpan = 4096;        // integers at most this far from a feature's first value are counted
constexpr std::int32_t kSlots = 2 * kSpan;  // a power of two
constexpr std::size_t kSmallSort = 1024;    // for fewer keys std::sort is faster than a radix sort
constexpr std::size_t kManyRows = 10000;    // sorting so many rows takes megabytes

template <class Value>
constexpr std::size_t kLine = 64 / sizeof(Value);  // numbers in a cache line

inline std::size_t ceil_div(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

template <class Value>
using Key = std::conditional_t<sizeof(Value) == 4, std::uint32_t, std::uint64_t>;
template <class Value>
constexpr Key<Value> kSign = Key<Value>{1} << (8 * sizeof(Value) - 1);

// The bits of a number, transformed so that as integers they have the order of the numbers.
template <class Value>
Key<Value> to_key(Value x) {
  const auto bits = std::bit_cast<Key<Value>>(x + Value{0});  // -0 becomes 0
  return bits & kSign<Value> ? ~bits : bits | kSign<Value>;
}

template <class Value>
Value from_key(Key<Value> key) {
  return std::bit_cast<Value>(key & kSign<Value> ? key ^ kSign<Value> : ~key);
}

// Radix sort, 11 bits at a time from the lowest (8 bits are a tenth slower). A digit that is the same in all keys is
// skipped, such as the lowest ones of doubles that were float32 numbers.
template <class Unsigned>
void radix_sort(std::vector<Unsigned>& keys, std::vector<Unsigned>& scratch) {
  if (keys.size() < kSmallSort) return std::sort(keys.begin(), keys.end());
  constexpr std::size_t bits = 11, radix = std::size_t{1} << bits, n_digits = (8 * sizeof(Unsigned) + bits - 1) / bits;
  const auto digit = [](Unsigned key, std::size_t d) { return static_cast<std::size_t>(key >> (d * bits)) % radix; };
  std::vector<std::uint32_t> counts(n_digits * radix);
  for (const Unsigned key : keys)
    for (std::size_t d = 0; d < n_digits; ++d) ++counts[d * radix + digit(key, d)];
  scratch.resize(keys.size());
  for (std::size_t d = 0; d < n_digits; ++d) {
    std::uint32_t* place = counts.data() + d * radix;
    if (place[digit(keys[0], d)] == keys.size()) continue;
    std::uint32_t total = 0;
    for (std::size_t v = 0; v < radix; ++v) total += std::exchange(place[v], total);
    for (const Unsigned key : keys) scratch[place[digit(key, d)]++] = key;
    keys.swap(scratch);
  }
}

// Moves the values that are not missing to the front; returns their number.
template <class Value>
std::size_t drop_missing(Value* x, std::size_t m) {
  if (!any_missing(x, m)) return m;
  return static_cast<std::size_t>(std::remove_if(x, x + m, [](Value v) { return v != v; }) - x);
}

// Memory that the features of a task use one after another: to allocate it anew would take as long as the sort.
template <class Value>
struct Scratch {
  std::vector<Key<Value>> keys;
  std::vector<double> values;       // the distinct values, ascending
  std::vector<std::uint32_t> ends;  // how many rows have this value or a lower one
};

// Collects the values of a feature, a chunk at a time. It counts them as long as they are integers near the first one;
// when another value comes, it turns the counts into keys, and from then on collects keys to sort.
template <class Value>
class Tally {
 public:
  explicit Tally(std::size_t n_rows) : n_rows_(n_rows) {}

  // m <= kChunk values, which are overwritten.
  void add(Value* x, std::size_t m) {
    m = drop_missing(x, m);
    if (m == 0) return;
    if (counting_ && counts_.empty()) start_counting(x[0]);
    if (counting_ && count(x, m)) return;
    if (counting_) stop_counting();
    const std::size_t n_keys = keys_.size();
    keys_.resize(n_keys + m);
    std::transform(x, x + m, keys_.begin() + static_cast<std::ptrdiff_t>(n_keys), to_key<Value>);
  }

  // Writes the distinct values to scratch.values and scratch.ends; returns their number.
  std::size_t distinct(Scratch<Value>& scratch) {
    const std::size_t most = counting_ ? kSlots : keys_.size();
    if (scratch.values.size() < most) scratch.values.resize(most), scratch.ends.resize(most);
    return counting_ ? distinct_counted(scratch) : distinct_sorted(scratch);
  }

 private:
  static constexpr Value kLimit = 1 << 30;  // only numbers that fit an int32 may be converted

  void start_counting(Value first) {
    base_ = static_cast<std::int32_t>(std::clamp(first, -kLimit, kLimit)) - kSpan;
    counts_.resize(2 * kSlots);
  }

  // Returns false, and counts nothing, if a value is not an integer or has no slot. The loops are simple, so that the
  // compiler vectorizes all but the last. Even and odd rows have separate counts: if most values are the same, each
  // addition to a count has to wait for the one before (a quarter of the time, for images).
  bool count(const Value* x, std::size_t m) {
    std::int32_t slots[kChunk], strange = 0;
    std::uint32_t beyond = 0;  // differences from the first slot; without a sign, because they may overflow
    const auto base = static_cast<std::uint32_t>(base_);
    for (std::size_t i = 0; i < m; ++i) strange |= std::abs(x[i]) <= kLimit ? 0 : 1;
    if (strange) return false;
    for (std::size_t i = 0; i < m; ++i) slots[i] = static_cast<std::int32_t>(x[i]);
    for (std::size_t i = 0; i < m; ++i) strange |= static_cast<Value>(slots[i]) != x[i] ? 1 : 0;
    for (std::size_t i = 0; i < m; ++i) beyond |= static_cast<std::uint32_t>(slots[i]) - base;
    if (strange || beyond >= kSlots) return false;
    for (std::size_t i = 0; i < m; ++i) ++counts_[2 * (static_cast<std::uint32_t>(slots[i]) - base) + i % 2];
    return true;
  }

  std::uint32_t count_of(std::int32_t slot) const {
    const auto s = static_cast<std::size_t>(slot);
    return counts_.empty() ? 0 : counts_[2 * s] + counts_[2 * s + 1];
  }

  void stop_counting() {
    counting_ = false;
    keys_.reserve(n_rows_);
    for (std::int32_t s = 0; s < kSlots; ++s)
      keys_.insert(keys_.end(), count_of(s), to_key(static_cast<Value>(base_ + s)));
    counts_ = {};
  }

  std::size_t distinct_counted(Scratch<Value>& scratch) const {
    std::size_t k = 0;
    std::uint32_t total = 0;
    for (std::int32_t s = 0; s < kSlots; ++s) {
      if (count_of(s) == 0) continue;
      scratch.values[k] = base_ + s;
      scratch.ends[k++] = total += count_of(s);
    }
    return k;
  }

  std::size_t distinct_sorted(Scratch<Value>& scratch) {
    radix_sort(keys_, scratch.keys);
    std::size_t k = 0;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      k += i > 0 && keys_[i] != keys_[i - 1];
      scratch.values[k] = static_cast<double>(from_key<Value>(keys_[i]));
      scratch.ends[k] = static_cast<std::uint32_t>(i + 1);
    }
    return k + 1;
  }

  std::size_t n_rows_;
  bool counting_ = true;
  std::int32_t base_ = 0;              // the integer of slot 0
  std::vector<std::uint32_t> counts_;  // (kSlots, 2); empty until a value comes
  std::vector<Key<Value>> keys_;
};

// The edge between two neighbouring values: midway, or the lower one where no number lies between them.
inline double edge_between(double lower, double upper) {
  const double middle = lower + (upper - lower) / 2;
  return middle < upper ? middle : lower;
}

// Ascending edges, at most max_bins - 1. If there are at most max_bins distinct values, there is an edge between any
// two neighbours; otherwise there is one just above every quantile b / max_bins. Quantiles are values of the data,
// those of rank floor((n - 1) b / max_bins).
inline std::vector<double> edges_of(std::span<const double> values, std::span<const std::uint32_t> ends,
                                    std::size_t max_bins) {
  std::vector<double> edges;
  if (values.size() <= max_bins) {
    for (std::size_t k = 1; k < values.size(); ++k) edges.push_back(edge_between(values[k - 1], values[k]));
    return edges;
  }
  const double last = ends.back() - 1.0, step = 1.0 / static_cast<double>(max_bins);  // rounded as np.quantile does
  std::size_t next = 0;  // all values below this one are done
  for (std::size_t b = 1; b < max_bins; ++b) {
    const auto rank = static_cast<std::uint32_t>(last * (static_cast<double>(b) * step));
    if (next > 0 && rank < ends[next - 1]) continue;  // the same value as the last quantile
    const auto rest = ends.subspan(next);
    next += static_cast<std::size_t>(std::upper_bound(rest.begin(), rest.end(), rank) - rest.begin()) + 1;
    if (next == values.size()) break;  // nothing lies above the highest value
    edges.push_back(edge_between(values[next - 1], values[next]));
  }
  return edges;
}

struct Edges {
  std::vector<double> values;       // of all features, one after the other
  std::vector<std::int64_t> first;  // (p + 1,) where the edges of each feature begin
};

inline Edges joined(const std::vector<std::vector<double>>& edges) {
  Edges all;
  all.first.push_back(0);
  for (const auto& e : edges) {
    all.values.insert(all.values.end(), e.begin(), e.end());
    all.first.push_back(static_cast<std::int64_t>(all.values.size()));
  }
  return all;
}

// The edges of the columns begin .. end of X (n, p), which share a cache line, from the rows row_of(0) ..
// row_of(n_rows - 1).
template <class Value, class RowOf>
void find_edges_of_columns(const Value* X, std::size_t p, std::size_t begin, std::size_t end, std::size_t n_rows,
                           RowOf row_of, std::size_t max_bins, std::vector<double>* edges) {
  Value x[kLine<Value> * kChunk];
  std::vector<Tally<Value>> tallies(end - begin, Tally<Value>(n_rows));
  for (std::size_t r = 0; r < n_rows; r += kChunk) {
    const std::size_t m = std::min(kChunk, n_rows - r);
    gather(X, p, begin, end - begin, m, [&](std::size_t i) { return row_of(r + i); }, x);
    for (std::size_t c = 0; c < tallies.size(); ++c) tallies[c].add(x + c * kChunk, m);
  }
  Scratch<Value> scratch;
  for (std::size_t c = 0; c < tallies.size(); ++c) {
    const std::size_t k = tallies[c].distinct(scratch);
    edges[c] = edges_of({scratch.values.data(), k}, {scratch.ends.data(), k}, max_bins);
  }
}

// The edges of all columns. Tasks are smaller than a cache line if that gives all threads the same number of them.
template <class Value, class RowOf>
Edges find_edges(const Value* X, std::size_t p, std::size_t n_rows, RowOf row_of, std::size_t max_bins, int n_threads) {
  const std::size_t threads = static_cast<std::size_t>(std::max(1, n_threads));
  const std::size_t n_tasks = ceil_div(p, threads * kLine<Value>) * threads;
  std::vector<std::vector<double>> edges(p);
  parallel_ranges(p, p == 0 ? 1 : ceil_div(p, n_tasks), n_threads, [&](std::size_t begin, std::size_t end) {
    find_edges_of_columns(X, p, begin, end, n_rows, row_of, max_bins, edges.data() + begin);
  });
  if (n_rows >= kManyRows) give_memory_back();
  return joined(edges);
}

}  // namespace simplexboost
