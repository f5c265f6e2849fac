// Where a tree's sums come from. Growing needs four things of the data: the largest value of every column, integer
// histograms of nodes, row counts and sums over the leaves. A source provides these for all rows, whether they are in
// this process (LocalSource) or in shards whose sums are added. All of its numbers are maxima or sums of integers, so
// the tree is the same for any cut into shards.
//
// The rows of a node are called a cell. The grower numbers the cells (the root is 0), and a source keeps the rows of
// each. A cell may be cut for nothing, because the limit of leaves is reached; it stays valid, and its rows are those
// of its two parts.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "core/pool.hpp"
#include "trees/data.hpp"
#include "trees/histogram.hpp"
#include "trees/partition.hpp"
#include "trees/quantize.hpp"
#include "trees/split.hpp"

namespace simplexboost {

using Cell = std::int32_t;

// An instruction to a source: cut this cell in two, and build the histograms of these parts.
struct Order {
  Cell cell, left, right;
  Split split;
  bool build_left, build_right;
  const std::vector<std::int32_t>* features = nullptr;  // whose bins are wanted (live.hpp); null: all in use
};

template <class Lane>
class Source {
 public:
  // ready(i, left, right, n_threads) receives the histograms that order i asks for (others are empty), and the number
  // of threads that may process them. It may be called from several threads at once.
  using Ready = std::function<void(std::size_t, Histogram<Lane>, Histogram<Lane>, int)>;

  virtual ~Source() = default;
  virtual std::int64_t n_rows() const = 0;      // the rows that the tree is grown on
  virtual std::size_t row_entries() const = 0;  // codes that a pass over a row reads, on average
  virtual std::vector<double> column_maxima() = 0;
  virtual std::vector<double> column_magnitudes(const std::vector<double>& unit) = 0;
  virtual void quantize(const std::vector<int>& exponents) = 0;
  virtual Histogram<Lane> root() = 0;
  virtual void expand(const std::vector<Order>& orders, const Ready& ready) = 0;
  virtual std::vector<std::int64_t> cell_sizes(const std::vector<Cell>& cells) = 0;  // the number of rows of each
  // Room for cells with numbers below n_cells. Orders for these may then be expanded one by one, in several threads at
  // the same time.
  virtual void make_room(std::size_t n_cells) = 0;
  virtual void expand_alone(const Order& order, const Ready& ready) = 0;
  // Whether a call costs more than building histograms: then all nodes that may be split are expanded together, a level
  // at a time.
  virtual bool distant() const = 0;
};

// Rows in this process; `segments` tell their numbers among the rows of all shards.
template <class Lane>
class LocalSource final : public Source<Lane> {
 public:
  LocalSource(const BinnedView& data, const StatisticsView& statistics, Rows rows,
              const std::vector<std::int32_t>& features, Segments segments, std::uint64_t seed, int n_threads)
      : data_(data),
        statistics_(statistics),
        shape_(data, lane_count(statistics.m), features),
        segments_(std::move(segments)),
        seed_(seed),
        n_threads_(n_threads),
        rows_(std::move(rows)),
        spare_(rows_.size()),
        cells_{{0, rows_.size()}} {}

  std::int64_t n_rows() const override { return static_cast<std::int64_t>(rows_.size()); }
  std::size_t row_entries() const override { return data_.row_entries(); }
  bool distant() const override { return false; }
  const HistogramShape<Lane>& shape() const { return shape_; }

  std::vector<double> column_maxima() override {
    return simplexboost::column_maxima(statistics_.values(), statistics_.columns(), rows_, n_threads_);
  }
  std::vector<double> column_magnitudes(const std::vector<double>& unit) override {
    return simplexboost::column_magnitudes(statistics_.values(), statistics_.columns(), rows_, unit, n_threads_);
  }
  void quantize(const std::vector<int>& exponents) override {
    q_ = simplexboost::quantize<Lane>(statistics_, data_.n, rows_, exponents, segments_, seed_, n_threads_);
  }

  Histogram<Lane> root() override {
    HistogramBuilder<Lane> builder(data_, q_, shape_);
    Buffer<Lane> beside;
    const std::uint32_t* rows = rows_.data();
    const Lane* packed = nullptr;
    if (packs() && rows_.size() > 0) {
      if (rows[rows_.size() - 1] - rows[0] + 1 == rows_.size()) {
        packed = q_.values.data() + rows[0] * q_.lanes;  // already one after another (rows ascend)
      } else {
        beside = Buffer<Lane>(packed_size(rows_.size()));
        parallel_ranges(rows_.size(), kRowGrain, n_threads_, [&](std::size_t begin, std::size_t end) {
          pack(begin, end, beside.data() + begin * q_.lanes);
        });
        packed = beside.data();
      }
    }
    builder.add(rows, rows_.size(), packed);
    builder.run(worth_threads(rows_.size() * data_.row_entries() * q_.lanes, kThreadWork, n_threads_));
    return builder.take(0);
  }

  // All threads work on the rows of all orders together, step by step.
  void expand(const std::vector<Order>& orders, const typename Source<Lane>::Ready& ready) override {
    std::size_t total = 0;
    for (const Order& order : orders) {
      make_room(static_cast<std::size_t>(std::max(order.left, order.right)) + 1);
      total += (cell(order.cell).size() * data_.row_entries() + data_.total_bins()) * shape_.lanes();
    }
    carry_out(orders.data(), orders.size(), worth_threads(total, kThreadWork, n_threads_), ready);
  }

  void make_room(std::size_t n_cells) override { cells_.resize(std::max(cells_.size(), n_cells)); }

  void expand_alone(const Order& order, const typename Source<Lane>::Ready& ready) override {
    carry_out(&order, 1, 1, ready);
  }

  std::vector<std::int64_t> cell_sizes(const std::vector<Cell>& cells) override {
    std::vector<std::int64_t> sizes;
    for (Cell which : cells) sizes.push_back(static_cast<std::int64_t>(rows_of(which).size()));
    return sizes;
  }

  const Rows& rows() const { return rows_; }
  std::size_t n_cells() const { return cells_.size(); }

  // The rows of a cell; they ascend unless the cell was cut.
  std::span<const std::uint32_t> rows_of(Cell which) const {
    const Range& range = cells_[static_cast<std::size_t>(which)];
    return {rows_.data() + range.begin, range.size()};
  }

 private:
  struct Range {  // of rows_
    std::size_t begin = 0, end = 0;
    std::size_t size() const { return end - begin; }
  };

  Range& cell(Cell which) { return cells_[static_cast<std::size_t>(which)]; }

  // Whether statistics of rows are copied one after another, so that every block of features reads them sequentially.
  bool packs() const {
    return q_.classes == nullptr && (data_.is_sparse() ? data_.sparse.n_strips : shape_.blocks().size()) >= 2;
  }
  std::size_t packed_size(std::size_t n_rows) const {
    return std::bit_ceil(n_rows * q_.lanes);  // few different sizes, so that the arena has one
  }

  // Copies the statistics of rows_[begin, end).
  void pack(std::size_t begin, std::size_t end, Lane* out) const {
    for (std::size_t r = begin; r < end; ++r, out += q_.lanes)
      std::memcpy(out, q_.values.data() + rows_[r] * q_.lanes, q_.lanes * sizeof(Lane));
  }

  // Cuts the cells of n orders, builds the histograms, and hands them over.
  void carry_out(const Order* orders, std::size_t n, int n_threads, const typename Source<Lane>::Ready& ready) {
    std::vector<Buffer<Lane>> beside = cut(orders, n, n_threads);
    HistogramBuilder<Lane> builder(data_, q_, shape_);
    const std::vector<std::int32_t>* features = nullptr;
    const auto ask = [&](bool wanted, Cell which, const Lane* packed) {
      return wanted ? builder.add(rows_.data() + cell(which).begin, cell(which).size(), packed, features) : 0;
    };
    std::vector<std::size_t> number(2 * n);
    for (std::size_t i = 0; i < n; ++i) {
      const Lane* packed = beside[i].empty() ? nullptr : beside[i].data();
      const std::size_t n_left = cell(orders[i].left).size();
      features = orders[i].features;
      number[2 * i] = ask(orders[i].build_left, orders[i].left, packed);
      number[2 * i + 1] =
          ask(orders[i].build_right, orders[i].right, packed == nullptr ? nullptr : packed + n_left * q_.lanes);
    }
    builder.run(n_threads);
    const int inside = n > 1 ? 1 : n_threads;
    parallel_for(n, worth_threads(n * shape_.size(), kThreadWork, n_threads), [&](std::size_t i) {
      Histogram<Lane> left, right;
      if (orders[i].build_left) left = builder.take(number[2 * i]);
      if (orders[i].build_right) right = builder.take(number[2 * i + 1]);
      ready(i, std::move(left), std::move(right), inside);
    });
  }

  // Cuts the cells; returns the packed statistics of their rows, of those parts whose histograms are wanted.
  std::vector<Buffer<Lane>> cut(const Order* orders, std::size_t n, int n_threads) {
    Partition partition(rows_.data(), spare_.data(), data_);
    std::vector<Buffer<Lane>> beside(n);
    std::size_t n_rows = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const Range range = cell(orders[i].cell);
      partition.add(range.begin, range.end, orders[i].split);
      n_rows += range.size();
      if (packs() && (orders[i].build_left || orders[i].build_right))
        beside[i] = Buffer<Lane>(packed_size(range.size()));
    }
    const std::size_t share = n_rows / (4 * static_cast<std::size_t>(n_threads));
    partition.run(std::clamp<std::size_t>(share, 512, kRowGrain), n_threads,
                  [&](std::size_t i, bool left, std::size_t begin, std::size_t end) {
                    if (beside[i].empty() || !(left ? orders[i].build_left : orders[i].build_right)) return;
                    pack(begin, end, beside[i].data() + (begin - cell(orders[i].cell).begin) * q_.lanes);
                  });
    for (std::size_t i = 0; i < n; ++i) {
      const Range range = cell(orders[i].cell);
      cell(orders[i].left) = {range.begin, partition.middle(i)};
      cell(orders[i].right) = {partition.middle(i), range.end};
    }
    return beside;
  }

  const BinnedView& data_;
  const StatisticsView& statistics_;
  HistogramShape<Lane> shape_;
  Segments segments_;
  std::uint64_t seed_;
  int n_threads_;
  Rows rows_;
  Rows spare_;
  std::vector<Range> cells_;
  Quantized<Lane> q_{};
};

}  // namespace simplexboost
