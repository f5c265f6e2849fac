// Histograms of a node: for every bin of every feature the sum of its rows' fixed-point statistics and their count.
// Each of these integers is called a lane of the bin.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/arena.hpp"
#include "core/hot.hpp"
#include "core/pool.hpp"
#include "trees/data.hpp"
#include "trees/quantize.hpp"

namespace simplexboost {

template <class Lane>
using Histogram = Buffer<Lane>;

// Below this many additions one thread is faster than two: handing work to a waiting thread costs about 2 us.
constexpr std::size_t kSerialWork = 1 << 14;

// The layout of a histogram: the bins of one feature after those of another. Only blocks of eight features with at
// least one feature in use are filled in.
template <class Lane>
class HistogramShape {
 public:
  HistogramShape(const Columns& columns, std::size_t lanes, const std::vector<std::int32_t>& features)
      : columns_(columns), lanes_(lanes) {
    std::vector<bool> wanted(columns.n_blocks());
    for (auto f : features) wanted[static_cast<std::size_t>(f) / kTile] = true;
    for (std::size_t b = 0; b < wanted.size(); ++b)
      if (wanted[b]) blocks_.push_back(b);
  }

  std::size_t size() const { return columns_.total_bins() * lanes_; }
  std::size_t bytes() const { return size() * sizeof(Lane); }
  const std::vector<std::size_t>& blocks() const { return blocks_; }

  // The bins of a block's features, as a range of the histogram.
  std::size_t begin(std::size_t block) const { return columns_.offset[block * kTile] * lanes_; }
  std::size_t end(std::size_t block) const {
    return columns_.offset[std::min(columns_.p, (block + 1) * kTile)] * lanes_;
  }

  void add(Lane* to, const Lane* part, int n_threads) const {
    combine(hot().template lanes<Lane>().add, to, part, n_threads);
  }
  void subtract(Lane* from, const Lane* part, int n_threads) const {
    combine(hot().template lanes<Lane>().subtract, from, part, n_threads);
  }

 private:
  template <class Operation>
  void combine(Operation operation, Lane* a, const Lane* b, int n_threads) const {
    parallel_for(blocks_.size(), size() < kSerialWork ? 1 : n_threads, [&](std::size_t i) {
      operation(a + begin(blocks_[i]), b + begin(blocks_[i]), end(blocks_[i]) - begin(blocks_[i]));
    });
  }

  const Columns& columns_;
  std::size_t lanes_;
  std::vector<std::size_t> blocks_;
};

template <class Lane>
class HistogramBuilder {
 public:
  HistogramBuilder(const BinnedView& data, const Quantized<Lane>& q, const HistogramShape<Lane>& shape)
      : data_(data), q_(q), shape_(shape) {}

  // The histogram of `n_rows` rows. Tasks are blocks of features; a large node with fewer blocks than threads is also
  // cut by rows, and each part has its own histogram (sums of integers do not depend on the cuts).
  Histogram<Lane> build(const std::uint32_t* rows, std::size_t n_rows, int n_threads) const {
    const auto& blocks = shape_.blocks();
    const int threads = n_rows * data_.p * q_.lanes < kSerialWork ? 1 : n_threads;
    Buffer<Lane> beside;
    const Lane* packed = pack(rows, n_rows, threads, beside);
    std::size_t cuts = 1;
    while (blocks.size() * cuts < static_cast<std::size_t>(threads) && n_rows / (cuts + 1) >= kRowGrain) ++cuts;
    std::vector<Histogram<Lane>> parts(cuts);
    for (auto& part : parts) part = Histogram<Lane>(shape_.size());
    parallel_for(blocks.size() * cuts, threads, [&](std::size_t task) {
      const std::size_t cut = task / blocks.size(), block = blocks[task % blocks.size()];
      const std::size_t begin = n_rows * cut / cuts, end = n_rows * (cut + 1) / cuts;
      fill(block, rows + begin, end - begin, packed == nullptr ? nullptr : packed + begin * q_.lanes,
           parts[cut].data());
    });
    for (std::size_t cut = 1; cut < cuts; ++cut) shape_.add(parts[0].data(), parts[cut].data(), threads);
    return std::move(parts[0]);
  }

 private:
  // The statistics of the rows, copied one after another, so that every block of features reads them sequentially.
  const Lane* pack(const std::uint32_t* rows, std::size_t n_rows, int threads, Buffer<Lane>& beside) const {
    if (q_.classes != nullptr || shape_.blocks().size() < 2 || n_rows == 0) return nullptr;
    if (rows[n_rows - 1] - rows[0] + 1 == n_rows)
      return q_.values.data() + rows[0] * q_.lanes;           // already consecutive (rows ascend)
    beside = Buffer<Lane>(std::bit_ceil(n_rows * q_.lanes));  // few different sizes, so that the arena has one
    parallel_ranges(n_rows, kRowGrain, threads, [&](std::size_t begin, std::size_t end) {
      for (std::size_t r = begin; r < end; ++r)
        std::memcpy(beside.data() + r * q_.lanes, q_.values.data() + rows[r] * q_.lanes, q_.lanes * sizeof(Lane));
    });
    return beside.data();
  }

  void fill(std::size_t block, const std::uint32_t* rows, std::size_t n_rows, const Lane* packed,
            Lane* histogram) const {
    const std::size_t first = block * kTile, last = std::min(data_.p, first + kTile);
    Lane* base[kTile];
    for (std::size_t f = first; f < last; ++f) base[f - first] = histogram + data_.offset[f] * q_.lanes;
    std::memset(base[0], 0, (shape_.end(block) - shape_.begin(block)) * sizeof(Lane));
    const auto* words = reinterpret_cast<const std::uint64_t*>(data_.codes) + block * data_.n;
    const auto& kernels = hot().template lanes<Lane>();
    if (q_.classes != nullptr)
      kernels.accumulate_sparse(words, rows, n_rows, q_.classes, q_.values.data(), q_.m, q_.lanes, base, last - first);
    else if (packed != nullptr) kernels.accumulate_packed(words, rows, n_rows, packed, q_.lanes, base, last - first);
    else kernels.accumulate_rows(words, rows, n_rows, q_.values.data(), q_.lanes, base, last - first);
  }

  const BinnedView& data_;
  const Quantized<Lane>& q_;
  const HistogramShape<Lane>& shape_;
};

}  // namespace simplexboost
