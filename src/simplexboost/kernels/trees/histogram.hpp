// Histograms of a node: for every bin of every feature the sum of its rows' fixed-point statistics and their count.
// Each of these integers is called a lane of the bin.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "core/arena.hpp"
#include "core/hot.hpp"
#include "core/pool.hpp"
#include "trees/data.hpp"
#include "trees/quantize.hpp"

namespace simplexboost {

template <class Lane>
using Histogram = Buffer<Lane>;

// Additions that are worth a thread of their own: about 10 us, while handing work to a waiting thread costs 2 to 5 us.
constexpr std::size_t kThreadWork = 1 << 15;

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
  std::size_t lanes() const { return lanes_; }
  std::size_t columns() const { return columns_.p; }
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
  void subtract_block(Lane* from, const Lane* part, std::size_t block) const {
    hot().template lanes<Lane>().subtract(from + begin(block), part + begin(block), end(block) - begin(block));
  }

 private:
  template <class Operation>
  void combine(Operation operation, Lane* a, const Lane* b, int n_threads) const {
    parallel_for(blocks_.size(), worth_threads(size(), kThreadWork, n_threads), [&](std::size_t i) {
      operation(a + begin(blocks_[i]), b + begin(blocks_[i]), end(blocks_[i]) - begin(blocks_[i]));
    });
  }

  const Columns& columns_;
  std::size_t lanes_;
  std::vector<std::size_t> blocks_;
};

// Builds the histograms of several nodes together. Tasks are blocks of features, or strips of sparse ones; where these
// are too few for the threads, nodes are also cut by rows, and each part has its own histogram (sums of integers do not
// depend on the cuts). Of sparse codes only those that are stored are added up; what is left of the node's total is the
// bin of zero.
template <class Lane>
class HistogramBuilder {
 public:
  HistogramBuilder(const BinnedView& data, const Quantized<Lane>& q, const HistogramShape<Lane>& shape)
      : data_(data), q_(q), shape_(shape), tasks_(data.is_sparse() ? used_strips() : shape.blocks()) {}

  // Asks for a histogram of rows[0, n_rows); returns its number. `packed` holds their statistics one after another, if
  // it is not null. Of sparse codes only the bins of some features (ascending) may be wanted; the others are not set.
  std::size_t add(const std::uint32_t* rows, std::size_t n_rows, const Lane* packed,
                  const std::vector<std::int32_t>* features = nullptr) {
    nodes_.push_back({rows, n_rows, packed, features, {}, {}});
    return nodes_.size() - 1;
  }

  Histogram<Lane> take(std::size_t node) { return std::move(nodes_[node].parts[0]); }

  void run(int n_threads) {
    std::vector<Part> parts;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      Node& node = nodes_[i];
      const std::size_t cuts = n_threads > 1 ? n_cuts(node.n_rows, n_threads) : 1;
      if (data_.is_sparse()) node.totals.resize(cuts * q_.lanes, 0);
      for (std::size_t cut = 0; cut < cuts; ++cut) {
        node.parts.emplace_back(shape_.size());
        parts.push_back({i, cut, node.n_rows * cut / cuts, node.n_rows * (cut + 1) / cuts});
      }
    }
    parallel_for(parts.size() * tasks_.size(), n_threads, [&](std::size_t task) {
      const Part& part = parts[task / tasks_.size()];
      Node& node = nodes_[part.node];
      const Lane* packed = node.packed == nullptr ? nullptr : node.packed + part.begin * q_.lanes;
      const std::uint32_t* rows = node.rows + part.begin;
      const std::size_t n_rows = part.end - part.begin;
      if (!data_.is_sparse())
        return fill(tasks_[task % tasks_.size()], rows, n_rows, packed, node.parts[part.cut].data());
      fill_strip(tasks_[task % tasks_.size()], rows, n_rows, packed, node, part.cut);
      if (task % tasks_.size() == 0) add_rows(rows, n_rows, packed, node.totals.data() + part.cut * q_.lanes);
    });
    if (parts.size() == nodes_.size() && !data_.is_sparse()) return;
    for (Node& node : nodes_)
      for (std::size_t l = q_.lanes; l < node.totals.size(); ++l) node.totals[l % q_.lanes] += node.totals[l];
    parallel_for(nodes_.size() * tasks_.size(), n_threads, [&](std::size_t task) {
      Node& node = nodes_[task / tasks_.size()];
      for_ranges(tasks_[task % tasks_.size()], node, [&](std::size_t begin, std::size_t end) {
        for (std::size_t cut = 1; cut < node.parts.size(); ++cut)
          hot().template lanes<Lane>().add(node.parts[0].data() + begin, node.parts[cut].data() + begin, end - begin);
      });
      if (data_.is_sparse()) fill_zero_bins(tasks_[task % tasks_.size()], node);
    });
    for (Node& node : nodes_) node.parts.resize(1);
  }

 private:
  struct Node {
    const std::uint32_t* rows;
    std::size_t n_rows;
    const Lane* packed;
    const std::vector<std::int32_t>* features;
    std::vector<Histogram<Lane>> parts;
    std::vector<Lane> totals = {};  // (parts, lanes) the sums of all rows, if the codes are sparse
  };
  struct Part {
    std::size_t node, cut, begin, end;
  };

  // So many that there are at least four tasks per thread, and that the last ones leave few threads idle; but a part of
  // fewer rows than kRowGrain would cost more when it is added up than it saves.
  std::size_t n_cuts(std::size_t n_rows, int n_threads) const {
    std::size_t total = 0;
    for (const Node& node : nodes_) total += node.n_rows;
    if (total == 0) return 1;
    const std::size_t blocks = tasks_.size(), threads = static_cast<std::size_t>(n_threads);
    const std::size_t least = (4 * threads * n_rows + blocks * total - 1) / (blocks * total);
    std::size_t best = least;
    for (std::size_t cuts = least; nodes_.size() == 1 && cuts <= least + least / 2; ++cuts)
      if (idle(blocks * cuts, threads) < idle(blocks * best, threads)) best = cuts;
    return std::clamp<std::size_t>(best, 1, std::max<std::size_t>(1, n_rows / kRowGrain));
  }

  // The part of the threads' time that is lost if so many equal tasks are shared out.
  static double idle(std::size_t tasks, std::size_t threads) {
    const std::size_t turns = (tasks + threads - 1) / threads;
    return 1.0 - static_cast<double>(tasks) / static_cast<double>(turns * threads);
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

  // The strips that have a feature in use.
  std::vector<std::size_t> used_strips() const {
    std::vector<std::size_t> used;
    const auto& blocks = shape_.blocks();
    for (std::size_t s = 0; s < data_.sparse.n_strips; ++s) {
      const auto block = std::lower_bound(blocks.begin(), blocks.end(), data_.sparse.strip[s] / kTile);
      if (block != blocks.end() && *block * kTile < data_.sparse.strip[s + 1]) used.push_back(s);
    }
    return used;
  }

  // The wanted features of a node in a strip, as a range of node.features.
  std::pair<std::size_t, std::size_t> wanted(std::size_t strip, const Node& node) const {
    const auto at = [&](std::size_t f) {
      const auto& features = *node.features;
      return static_cast<std::size_t>(std::lower_bound(features.begin(), features.end(), static_cast<std::int32_t>(f)) -
                                      features.begin());
    };
    return {at(data_.sparse.strip[strip]), at(data_.sparse.strip[strip + 1])};
  }

  // Calls body(begin, end) for ranges of the histogram that together hold the wanted bins of a task.
  template <class Body>
  void for_ranges(std::size_t task, const Node& node, const Body& body) const {
    const auto range = [&](std::size_t first, std::size_t last) {
      body(data_.offset[first] * q_.lanes, data_.offset[last] * q_.lanes);
    };
    if (!data_.is_sparse()) return body(shape_.begin(task), shape_.end(task));
    if (node.features == nullptr) return range(data_.sparse.strip[task], data_.sparse.strip[task + 1]);
    const auto [begin, end] = wanted(task, node);
    for (std::size_t i = begin; i < end; ++i) {
      const auto f = static_cast<std::size_t>((*node.features)[i]);
      range(f, f + 1);
    }
  }

  void fill_strip(std::size_t strip, const std::uint32_t* rows, std::size_t n_rows, const Lane* packed, Node& node,
                  std::size_t cut) const {
    Lane* histogram = node.parts[cut].data();
    bool any = false;
    for_ranges(strip, node, [&](std::size_t begin, std::size_t end) {
      any = true;
      std::memset(histogram + begin, 0, (end - begin) * sizeof(Lane));
    });
    if (!any) return;
    const std::int64_t* starts = data_.sparse.starts + strip * (data_.n + 1);
    const std::uint32_t* bins = data_.sparse.bins;
    const auto& kernels = hot().template lanes<Lane>();
    if (q_.classes != nullptr)
      kernels.accumulate_entries_sparse(starts, bins, rows, n_rows, q_.classes, q_.values.data(), q_.m, q_.lanes,
                                        histogram);
    else if (packed != nullptr)
      kernels.accumulate_entries_packed(starts, bins, rows, n_rows, packed, q_.lanes, histogram);
    else kernels.accumulate_entries_rows(starts, bins, rows, n_rows, q_.values.data(), q_.lanes, histogram);
  }

  void add_rows(const std::uint32_t* rows, std::size_t n_rows, const Lane* packed, Lane* total) const {
    for (std::size_t r = 0; r < n_rows; ++r) {
      if (q_.classes != nullptr) {
        total[q_.classes[rows[r]]] += q_.values[rows[r]];
        total[q_.m] += 1;
        continue;
      }
      const Lane* stats = packed == nullptr ? q_.values.data() + rows[r] * q_.lanes : packed + r * q_.lanes;
      for (std::size_t l = 0; l < q_.lanes; ++l) total[l] += stats[l];
    }
  }

  void fill_zero_bins(std::size_t strip, Node& node) const {
    const auto fill = [&](std::size_t f) {
      hot().template lanes<Lane>().fill_zero_bin(node.parts[0].data() + data_.offset[f] * q_.lanes,
                                                 data_.offset[f + 1] - data_.offset[f], data_.sparse.zero[f],
                                                 node.totals.data(), q_.lanes);
    };
    if (node.features != nullptr) {
      const auto [begin, end] = wanted(strip, node);
      for (std::size_t i = begin; i < end; ++i) fill(static_cast<std::size_t>((*node.features)[i]));
      return;
    }
    const auto& blocks = shape_.blocks();
    auto block = std::lower_bound(blocks.begin(), blocks.end(), data_.sparse.strip[strip] / kTile);
    for (; block != blocks.end() && *block * kTile < data_.sparse.strip[strip + 1]; ++block)
      for (std::size_t f = *block * kTile; f < std::min(data_.p, (*block + 1) * kTile); ++f) fill(f);
  }

  const BinnedView& data_;
  const Quantized<Lane>& q_;
  const HistogramShape<Lane>& shape_;
  std::vector<std::size_t> tasks_;  // blocks or strips with a feature in use
  std::vector<Node> nodes_;
};

}  // namespace simplexboost
