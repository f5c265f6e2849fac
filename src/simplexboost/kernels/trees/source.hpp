// Where a tree's sums come from. Growing needs four things of the data: the largest value of every column, integer
// histograms of nodes, row counts and sums over the leaves. A source provides these for all rows, whether they are in
// this process (LocalSource) or in shards whose sums are added. All of its numbers are maxima or sums of integers, so
// the tree is the same for any cut into shards.
//
// The rows of a node are called a cell. The grower numbers the cells (the root is 0), and a source keeps the rows of
// each. A cell may be cut for nothing, because the limit of leaves is reached; it stays valid, and its rows are those
// of its two parts.
#pragma once

#include <cstdint>
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
};

template <class Lane>
class Source {
 public:
  // ready(i, left, right, n_threads) receives the histograms that order i asks for (others are empty), and the number
  // of threads that may process them. It may be called from several threads at once.
  using Ready = std::function<void(std::size_t, Histogram<Lane>, Histogram<Lane>, int)>;

  virtual ~Source() = default;
  virtual std::int64_t n_rows() const = 0;  // the rows that the tree is grown on
  virtual std::vector<double> column_maxima() = 0;
  virtual std::vector<double> column_magnitudes(const std::vector<double>& unit) = 0;
  virtual void quantize(const std::vector<int>& exponents) = 0;
  virtual Histogram<Lane> root() = 0;
  virtual void expand(const std::vector<Order>& orders, const Ready& ready) = 0;
  virtual std::vector<std::int64_t> cell_sizes(const std::vector<Cell>& cells) = 0;  // the number of rows of each
  // Whether a call costs more than building histograms: then all nodes that may be split are expanded together, a level
  // at a time.
  virtual bool distant() const = 0;
};

// Rows in this process. `first_row` is the number of their first row among the rows of all shards.
template <class Lane>
class LocalSource final : public Source<Lane> {
 public:
  LocalSource(const BinnedView& data, const StatisticsView& statistics, Rows rows,
              const std::vector<std::int32_t>& features, std::uint64_t first_row, std::uint64_t seed, int n_threads)
      : data_(data),
        statistics_(statistics),
        shape_(data, lane_count(statistics.m), features),
        first_row_(first_row),
        seed_(seed),
        n_threads_(n_threads),
        rows_(std::move(rows)),
        spare_(rows_.size()),
        cells_{{0, rows_.size()}} {}

  std::int64_t n_rows() const override { return static_cast<std::int64_t>(rows_.size()); }
  bool distant() const override { return false; }
  const HistogramShape<Lane>& shape() const { return shape_; }

  std::vector<double> column_maxima() override {
    return simplexboost::column_maxima(statistics_.values(), statistics_.columns(), rows_, n_threads_);
  }
  std::vector<double> column_magnitudes(const std::vector<double>& unit) override {
    return simplexboost::column_magnitudes(statistics_.values(), statistics_.columns(), rows_, unit, n_threads_);
  }
  void quantize(const std::vector<int>& exponents) override {
    q_ = simplexboost::quantize<Lane>(statistics_, data_.n, rows_, exponents, first_row_, seed_, n_threads_);
  }

  Histogram<Lane> root() override { return build(cells_[0], n_threads_); }

  // Several orders run in parallel, on one thread each, and call `ready` while their histograms are in the cache.
  void expand(const std::vector<Order>& orders, const typename Source<Lane>::Ready& ready) override {
    for (const Order& order : orders)
      cells_.resize(std::max(cells_.size(), static_cast<std::size_t>(std::max(order.left, order.right)) + 1));
    const int inside = orders.size() > 1 ? 1 : n_threads_;
    parallel_for(orders.size(), n_threads_, [&](std::size_t i) {
      const Order& order = orders[i];
      cut(order, inside);
      Histogram<Lane> left, right;
      if (order.build_left) left = build(cell(order.left), inside);
      if (order.build_right) right = build(cell(order.right), inside);
      ready(i, std::move(left), std::move(right), inside);
    });
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

  Histogram<Lane> build(const Range& range, int n_threads) const {
    return HistogramBuilder<Lane>(data_, q_, shape_).build(rows_.data() + range.begin, range.size(), n_threads);
  }

  void cut(const Order& order, int n_threads) {
    const Range range = cell(order.cell);
    const std::size_t middle = range.begin + partition(rows_.data() + range.begin, range.size(),
                                                       spare_.data() + range.begin, data_, order.split, n_threads);
    cell(order.left) = {range.begin, middle};
    cell(order.right) = {middle, range.end};
  }

  const BinnedView& data_;
  const StatisticsView& statistics_;
  HistogramShape<Lane> shape_;
  std::uint64_t first_row_, seed_;
  int n_threads_;
  Rows rows_;
  std::vector<std::uint32_t> spare_;
  std::vector<Range> cells_;
  Quantized<Lane> q_{};
};

}  // namespace simplexboost
