// Histograms of a node: for every bin of every feature the sum of its rows' fixed-point statistics and their count.
// Each of these integers is called a lane of the bin.
#pragma once

#include <algorithm>
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

// Builds the histograms of several nodes together. Tasks are blocks of features; where these are too few for the
// threads, nodes are also cut by rows, and each part has its own histogram (sums of integers do not depend on the
// cuts).
template <class Lane>
class HistogramBuilder {
 public:
  HistogramBuilder(const BinnedView& data, const Quantized<Lane>& q, const HistogramShape<Lane>& shape)
      : data_(data), q_(q), shape_(shape) {}

  // Asks for a histogram of rows[0, n_rows); returns its number. `packed` holds their statistics one after another, if
  // it is not null.
  std::size_t add(const std::uint32_t* rows, std::size_t n_rows, const Lane* packed) {
    nodes_.push_back({rows, n_rows, packed, {}});
    return nodes_.size() - 1;
  }

  Histogram<Lane> take(std::size_t node) { return std::move(nodes_[node].parts[0]); }

  void run(int n_threads) {
    const auto& blocks = shape_.blocks();
    std::vector<Part> parts;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      Node& node = nodes_[i];
      const std::size_t cuts = n_threads > 1 ? n_cuts(node.n_rows, n_threads) : 1;
      for (std::size_t cut = 0; cut < cuts; ++cut) {
        node.parts.emplace_back(shape_.size());
        parts.push_back({i, cut, node.n_rows * cut / cuts, node.n_rows * (cut + 1) / cuts});
      }
    }
    parallel_for(parts.size() * blocks.size(), n_threads, [&](std::size_t task) {
      const Part& part = parts[task / blocks.size()];
      Node& node = nodes_[part.node];
      fill(blocks[task % blocks.size()], node.rows + part.begin, part.end - part.begin,
           node.packed == nullptr ? nullptr : node.packed + part.begin * q_.lanes, node.parts[part.cut].data());
    });
    if (parts.size() == nodes_.size()) return;
    parallel_for(nodes_.size() * blocks.size(), n_threads, [&](std::size_t task) {
      auto& same = nodes_[task / blocks.size()].parts;
      const std::size_t block = blocks[task % blocks.size()], begin = shape_.begin(block);
      for (std::size_t cut = 1; cut < same.size(); ++cut)
        hot().template lanes<Lane>().add(same[0].data() + begin, same[cut].data() + begin, shape_.end(block) - begin);
    });
    for (Node& node : nodes_) node.parts.resize(1);
  }

 private:
  struct Node {
    const std::uint32_t* rows;
    std::size_t n_rows;
    const Lane* packed;
    std::vector<Histogram<Lane>> parts;
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
    const std::size_t blocks = shape_.blocks().size(), threads = static_cast<std::size_t>(n_threads);
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

  const BinnedView& data_;
  const Quantized<Lane>& q_;
  const HistogramShape<Lane>& shape_;
  std::vector<Node> nodes_;
};

}  // namespace simplexboost
