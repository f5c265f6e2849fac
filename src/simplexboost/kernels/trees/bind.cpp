// Bindings: growing a tree, from the rows of one shard or from a source that is written in Python.
#include "trees/bind.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "module.hpp"
#include "trees/bind_tables.hpp"
#include "trees/bytes.hpp"
#include "trees/grow.hpp"
#include "trees/leaves.hpp"
#include "trees/source.hpp"
#include "trees/sparse.hpp"

namespace simplexboost {
namespace {

// Statistics are dense (n, m), or sparse: classes (n,) and weight (n,) with m columns.
StatisticsView statistics_view(const std::optional<In<double, Matrix>>& dense,
                               const std::optional<In<std::int32_t, Vector>>& classes,
                               const std::optional<In<double, Vector>>& weight, std::size_t m, std::size_t n) {
  require(m >= 1 && m < kMostItems, "m must lie in 1 .. 2^31 - 1");
  StatisticsView statistics;
  statistics.m = m;
  if (dense) {
    require(!classes && !weight, "statistics are either dense or one-hot");
    require(dense->shape(0) == n && dense->shape(1) == m, "statistics must be (n, m)");
    statistics.dense = dense->data();
  } else {
    require(classes && weight && classes->shape(0) == n && weight->shape(0) == n, "classes and weight must be (n,)");
    statistics.classes = classes->data();
    statistics.weight = weight->data();
    require(all_below(classes->data(), n, m), "classes must lie in 0 .. m - 1");
  }
  return statistics;
}

Segments segments_of(const In<std::int64_t, Matrix>& segments, std::size_t n) {
  require(segments.shape(0) >= 1 && segments.shape(1) == 2 && segments.data()[0] == 0,
          "segments must be (s, 2), the first beginning at row 0");
  Segments out;
  for (std::size_t i = 0; i < segments.shape(0); ++i) {
    const std::int64_t begin = segments.data()[2 * i], number = segments.data()[2 * i + 1];
    require(begin >= 0 && number >= 0 && (out.empty() || static_cast<std::uint64_t>(begin) > out.back().begin) &&
                static_cast<std::size_t>(begin) <= n,
            "segments must ascend");
    out.push_back({static_cast<std::uint64_t>(begin), static_cast<std::uint64_t>(number)});
  }
  return out;
}

template <class Lane>
void copy_histogram(const HistogramShape<Lane>& shape, const Lane* from, Lane* to) {
  for (std::size_t block : shape.blocks())
    std::copy(from + shape.begin(block), from + shape.end(block), to + shape.begin(block));
}

// Orders (source.hpp) as arrays. cells (b, 3): parent, left, right. splits (b, 4): feature, bin, whether missing values
// go left, whether it is a split of categories. sets (b, 32): the categories that go left. build (b, 2): whether to
// build the left and the right histogram.
struct OrderArrays {
  std::vector<std::int32_t> cells, splits;
  std::vector<std::uint8_t> sets, build;

  explicit OrderArrays(const std::vector<Order>& orders) {
    for (const Order& o : orders) {
      cells.insert(cells.end(), {o.cell, o.left, o.right});
      splits.insert(splits.end(), {o.split.feature, o.split.bin, o.split.missing_left, o.split.categorical});
      sets.insert(sets.end(), std::begin(o.split.left.bytes), std::end(o.split.left.bytes));
      build.insert(build.end(), {o.build_left, o.build_right});
    }
  }
};

std::vector<Order> orders_of(const In<std::int32_t, Matrix>& cells, const In<std::int32_t, Matrix>& splits,
                             const In<std::uint8_t, Matrix>& sets, const In<std::uint8_t, Matrix>& build,
                             std::size_t n_cells, std::size_t p) {
  const std::size_t b = cells.shape(0);
  require(cells.shape(1) == 3 && splits.shape(0) == b && splits.shape(1) == 4 && sets.shape(0) == b &&
              sets.shape(1) == sizeof(CategorySet) && build.shape(0) == b && build.shape(1) == 2,
          "orders must be cells (b, 3), splits (b, 4), sets (b, 32) and build (b, 2)");
  require(n_cells + 2 * b < kMostItems, "there are fewer than 2^31 cells");
  std::vector<Order> orders(b);
  std::vector<bool> cut(n_cells);
  for (std::size_t i = 0; i < b; ++i) {
    const std::int32_t *cell = cells.data() + 3 * i, *split = splits.data() + 4 * i;
    const auto known = static_cast<std::int32_t>(n_cells);
    require(cell[0] >= 0 && cell[0] < known && !cut[static_cast<std::size_t>(cell[0])] &&
                cell[1] == known + 2 * static_cast<std::int32_t>(i) && cell[2] == cell[1] + 1,
            "an order must cut a cell that is there in two new ones, which are numbered in sequence");
    cut[static_cast<std::size_t>(cell[0])] = true;
    require(split[0] >= 0 && static_cast<std::size_t>(split[0]) < p && split[1] >= 0 && split[1] < 256,
            "splits must name a feature and a bin");
    Order& o = orders[i];
    o.cell = cell[0], o.left = cell[1], o.right = cell[2];
    o.split.feature = split[0], o.split.bin = static_cast<std::uint8_t>(split[1]);
    o.split.missing_left = split[2] != 0, o.split.categorical = split[3] != 0;
    std::copy_n(sets.data() + i * sizeof(CategorySet), sizeof(CategorySet), o.split.left.bytes);
    o.build_left = build.data()[2 * i] != 0, o.build_right = build.data()[2 * i + 1] != 0;
  }
  return orders;
}

// The rows of one shard: a LocalSource and the arrays that it reads.
template <class Lane>
class Shard {
 public:
  Shard(const DenseTable* codes, const SparseTable* sparse, In<std::int32_t, Vector> n_bins,
        In<std::uint8_t, Vector> has_missing, In<std::uint8_t, Vector> categorical,
        std::optional<In<double, Matrix>> dense, std::optional<In<std::int32_t, Vector>> classes,
        std::optional<In<double, Vector>> weight, std::size_t m, std::optional<In<std::uint32_t, Vector>> rows,
        std::optional<In<std::int32_t, Vector>> features, In<std::int64_t, Matrix> segments, std::uint64_t seed,
        int n_threads)
      : arrays_{n_bins, has_missing, categorical, dense, classes, weight},
        data_(view(codes, sparse, columns_of(n_bins, has_missing, categorical))),
        statistics_(statistics_view(dense, classes, weight, m, data_.n)),
        n_threads_(n_threads),
        features_(features_of(features, data_.p)),
        source_(data_, statistics_, rows_of(rows, data_.n, n_threads), features_, segments_of(segments, data_.n), seed,
                n_threads) {
    check_threads(n_threads);
  }
  Shard(const Shard&) = delete;  // the source refers to the shard's views

  LocalSource<Lane>& source() { return source_; }
  const BinnedView& data() const { return data_; }
  const StatisticsView& statistics() const { return statistics_; }

  // Whether a tree on these columns, statistics and features may be grown from here; the rows must not be cut yet.
  bool fits(const Columns& columns, std::size_t m, const std::vector<std::int32_t>& features) const {
    return data_.offset == columns.offset &&
           std::equal(data_.has_missing, data_.has_missing + data_.p, columns.has_missing) &&
           std::equal(data_.categorical, data_.categorical + data_.p, columns.categorical) && statistics_.m == m &&
           features_ == features && source_.n_cells() == 1;
  }

  // The largest absolute value of every column, of the statistics or of other values (n, d).
  nb::ndarray<nb::numpy, double> column_maxima(std::optional<In<double, Matrix>> values) {
    require(!values || values->shape(0) == data_.n, "leaf_statistics must have n rows");
    std::vector<double> largest;
    {
      WithoutGil release;
      largest = values ? simplexboost::column_maxima(values->data(), values->shape(1), source_.rows(), n_threads_)
                       : source_.column_maxima();
    }
    const std::size_t columns = largest.size();
    return to_numpy(std::move(largest), {columns});
  }

  nb::ndarray<nb::numpy, double> column_magnitudes(In<double, Vector> unit) {
    require(unit.shape(0) == statistics_.columns() && all_finite(unit.data(), unit.shape(0)) &&
                std::all_of(unit.data(), unit.data() + unit.shape(0), [](double x) { return x > 0.0; }),
            "unit must have a finite, positive entry per column");
    units_.assign(unit.data(), unit.data() + unit.shape(0));
    {
      WithoutGil release;
      magnitudes_ = source_.column_magnitudes(units_);
    }
    return to_numpy(std::vector<double>(magnitudes_), {magnitudes_.size()});
  }

  void quantize(In<std::int32_t, Vector> exponents) {
    require(exponents.shape(0) == statistics_.columns(), "exponents must have an entry per column");
    for (std::size_t j = 0; j < exponents.shape(0); ++j)
      require(exponents.data()[j] >= -1000 && exponents.data()[j] <= 1000, "exponents must lie in -1000 .. 1000");
    WithoutGil release;
    if (magnitudes_.empty()) {  // nobody has asked for them
      units_ = magnitude_units(source_.column_maxima());
      magnitudes_ = source_.column_magnitudes(units_);
    }
    for (std::size_t j = 0; j < exponents.shape(0); ++j)
      require(scale_fits<Lane>(exponents.data()[j], magnitudes_[j], units_[j], source_.rows().size()),
              "exponents must not be so large that sums of the statistics overflow; these must be finite");
    source_.quantize(std::vector<int>(exponents.data(), exponents.data() + exponents.shape(0)));
    quantized_ = true;
  }

  nb::ndarray<nb::numpy, Lane> root() {
    require(quantized_ && source_.n_cells() == 1, "quantize first, and cut afterwards");
    const auto& shape = source_.shape();
    std::vector<Lane> out(shape.size(), 0);
    {
      WithoutGil release;
      const auto histogram = source_.root();
      copy_histogram(shape, histogram.data(), out.data());
    }
    return to_numpy(std::move(out), {shape.size()});
  }

  // (number, size): the requested histograms, in the sequence of the orders, left before right.
  nb::ndarray<nb::numpy, Lane> expand(In<std::int32_t, Matrix> cells, In<std::int32_t, Matrix> splits,
                                      In<std::uint8_t, Matrix> sets, In<std::uint8_t, Matrix> build) {
    require(quantized_, "quantize first");
    const auto orders = orders_of(cells, splits, sets, build, source_.n_cells(), data_.p);
    const auto& shape = source_.shape();
    std::vector<std::size_t> first(orders.size() + 1, 0);
    for (std::size_t i = 0; i < orders.size(); ++i)
      first[i + 1] = first[i] + orders[i].build_left + orders[i].build_right;
    std::vector<Lane> out(first.back() * shape.size(), 0);
    {
      WithoutGil release;
      source_.expand(orders, [&](std::size_t i, Histogram<Lane> left, Histogram<Lane> right, int) {
        Lane* to = out.data() + first[i] * shape.size();
        if (!left.empty()) copy_histogram(shape, left.data(), to), to += shape.size();
        if (!right.empty()) copy_histogram(shape, right.data(), to);
      });
    }
    return to_numpy(std::move(out), {first.back(), shape.size()});
  }

  // (b,): the number of rows of each of these cells.
  nb::ndarray<nb::numpy, std::int64_t> cell_sizes(In<std::int32_t, Vector> cells) {
    std::vector<std::int64_t> sizes;
    for (const auto& rows : leaf_rows(cells)) sizes.push_back(static_cast<std::int64_t>(rows.size()));
    return to_numpy(std::move(sizes), {cells.shape(0)});
  }

  // (L, 2, m): the integer sums of the statistics, or of other values (n, m), over these cells. `largest` (m,) and
  // `n_rows` are those of all shards.
  nb::ndarray<nb::numpy, std::uint64_t> leaf_limbs(In<std::int32_t, Vector> cells,
                                                   std::optional<In<double, Matrix>> values, In<double, Vector> largest,
                                                   std::int64_t n_rows) {
    StatisticsView statistics = statistics_;
    if (values) {
      require(values->shape(0) == data_.n, "leaf_statistics must have n rows");
      statistics = {};
      statistics.dense = values->data(), statistics.m = values->shape(1);
    }
    require(largest.shape(0) == statistics.columns() && n_rows >= 1, "largest must have an entry per column");
    const LeafRows leaves = leaf_rows(cells);
    const LimbScales scales(std::vector<double>(largest.data(), largest.data() + largest.shape(0)), n_rows);
    std::vector<std::uint64_t> limbs;
    {
      WithoutGil release;
      limbs = simplexboost::leaf_limbs(leaves, statistics, scales, n_threads_);
    }
    return to_numpy(std::move(limbs), {leaves.size(), 2, statistics.m});
  }

  // (n,): the leaf of every row, also of those the tree was not grown on.
  nb::ndarray<nb::numpy, std::int32_t> leaf_of_row(In<std::uint8_t, Matrix> nodes, In<std::uint8_t, Matrix> sets,
                                                   In<std::int32_t, Vector> cells) {
    check_tree(nodes_of(nodes), nodes.shape(0), sets.shape(0), data_.p);
    Tree tree;
    tree.nodes.assign(nodes_of(nodes), nodes_of(nodes) + nodes.shape(0));
    tree.category_sets.assign(sets_of(sets), sets_of(sets) + sets.shape(0));
    require(cells.shape(0) == (nodes.shape(0) + 1) / 2, "cells must have an entry per leaf");
    const LeafRows leaves = leaf_rows(cells);
    check_disjoint(leaves);
    Buffer<std::int32_t> out(data_.n);
    {
      WithoutGil release;
      leaf_of_rows(tree, leaves, data_, out.data(), n_threads_);
    }
    return to_numpy(std::move(out), {data_.n});
  }

 private:
  LeafRows leaf_rows(const In<std::int32_t, Vector>& cells) const {
    LeafRows leaves;
    for (std::size_t leaf = 0; leaf < cells.shape(0); ++leaf) {
      require(cells.data()[leaf] >= 0 && static_cast<std::size_t>(cells.data()[leaf]) < source_.n_cells(),
              "cells must be cells of the source");
      leaves.push_back(source_.rows_of(cells.data()[leaf]));
    }
    return leaves;
  }

  // As many rows as there are must be all of them.
  static void check_disjoint(LeafRows leaves) {
    std::sort(leaves.begin(), leaves.end(), [](const auto& a, const auto& b) { return a.data() < b.data(); });
    const std::uint32_t* end = nullptr;
    for (const auto& rows : leaves) {
      if (rows.empty()) continue;
      require(end == nullptr || end <= rows.data(), "the cells of leaves must not overlap");
      end = rows.data() + rows.size();
    }
  }

  struct Arrays {  // kept alive
    In<std::int32_t, Vector> n_bins;
    In<std::uint8_t, Vector> has_missing, categorical;
    std::optional<In<double, Matrix>> dense;
    std::optional<In<std::int32_t, Vector>> classes;
    std::optional<In<double, Vector>> weight;
  } arrays_;
  BinnedView data_;
  StatisticsView statistics_;
  int n_threads_;
  std::vector<std::int32_t> features_;
  LocalSource<Lane> source_;
  std::vector<double> units_, magnitudes_;  // of the columns, when they were last asked for; else empty
  bool quantized_ = false;
};

// A source that is written in Python, for shards in other places; it has the methods of Shard, for all rows together.
template <class Lane>
class PythonSource final : public Source<Lane> {
 public:
  PythonSource(nb::handle source, const HistogramShape<Lane>& shape, int n_threads)
      : source_(source), shape_(shape), n_threads_(n_threads), n_rows_(nb::cast<std::int64_t>(source.attr("n_rows"))) {}

  std::int64_t n_rows() const override { return n_rows_; }
  std::size_t row_entries() const override { return shape_.columns(); }
  bool distant() const override { return true; }

  std::vector<double> column_maxima() override {
    WithGil lock;
    return numbers(source_.attr("column_maxima")());
  }
  std::vector<double> column_magnitudes(const std::vector<double>& unit) override {
    WithGil lock;
    return numbers(source_.attr("column_magnitudes")(to_numpy(std::vector<double>(unit), {unit.size()})));
  }
  void quantize(const std::vector<int>& exponents) override {
    WithGil lock;
    source_.attr("quantize")(
        to_numpy(std::vector<std::int32_t>(exponents.begin(), exponents.end()), {exponents.size()}));
  }
  Histogram<Lane> root() override {
    WithGil lock;
    const auto array = nb::cast<In<Lane, Vector>>(source_.attr("root")());
    require(array.shape(0) == shape_.size(), "the source's histogram has another size");
    return copied(array.data());
  }

  void expand(const std::vector<Order>& orders, const typename Source<Lane>::Ready& ready) override {
    std::vector<Histogram<Lane>> left(orders.size()), right(orders.size());
    {
      WithGil lock;
      OrderArrays arrays(orders);
      const std::size_t b = orders.size();
      const auto built = nb::cast<In<Lane, Matrix>>(source_.attr("expand")(
          to_numpy(std::move(arrays.cells), {b, 3}), to_numpy(std::move(arrays.splits), {b, 4}),
          to_numpy(std::move(arrays.sets), {b, sizeof(CategorySet)}), to_numpy(std::move(arrays.build), {b, 2})));
      std::size_t wanted = 0;
      for (const Order& order : orders) wanted += order.build_left + order.build_right;
      require(built.shape(0) == wanted && built.shape(1) == shape_.size(), "the source built other histograms");
      const Lane* at = built.data();
      for (std::size_t i = 0; i < b; ++i) {
        if (orders[i].build_left) left[i] = copied(at), at += shape_.size();
        if (orders[i].build_right) right[i] = copied(at), at += shape_.size();
      }
    }
    const int inside = orders.size() > 1 ? 1 : n_threads_;
    parallel_for(orders.size(), n_threads_,
                 [&](std::size_t i) { ready(i, std::move(left[i]), std::move(right[i]), inside); });
  }

  std::vector<std::int64_t> cell_sizes(const std::vector<Cell>& cells) override {
    WithGil lock;
    const auto sizes = nb::cast<In<std::int64_t, Vector>>(
        source_.attr("cell_sizes")(to_numpy(std::vector<std::int32_t>(cells), {cells.size()})));
    require(sizes.shape(0) == cells.size(), "the source has other cells");
    return {sizes.data(), sizes.data() + sizes.shape(0)};
  }

  void make_room(std::size_t) override {}
  void expand_alone(const Order& order, const typename Source<Lane>::Ready& ready) override { expand({order}, ready); }

 private:
  static std::vector<double> numbers(const nb::object& array) {
    const auto values = nb::cast<In<double, Vector>>(array);
    return {values.data(), values.data() + values.shape(0)};
  }
  Histogram<Lane> copied(const Lane* from) const {
    Histogram<Lane> histogram(shape_.size());
    std::copy_n(from, shape_.size(), histogram.data());
    return histogram;
  }

  nb::handle source_;  // owned by the caller
  const HistogramShape<Lane>& shape_;
  int n_threads_;
  std::int64_t n_rows_;
};

// Grows one tree from a source: a Shard that has all rows, or a Python object.
template <class Lane>
nb::tuple grow_from(nb::handle source, const Columns& columns, std::size_t m, const std::vector<std::int32_t>& features,
                    const GrowOptions& options) {
  Grown grown;
  if (nb::isinstance<Shard<Lane>>(source)) {
    auto& shard = nb::cast<Shard<Lane>&>(source);
    Columns of_shard = columns;
    of_shard.zero = shard.data().sparse.zero;
    require(shard.fits(columns, m, features), "the source and the tree disagree");
    require(shard.source().n_rows() > 0, "rows must not be empty");
    WithoutGil release;
    grown = grow_tree<Lane>(shard.source(), of_shard, m, features, options);
  } else {
    using Other = std::conditional_t<sizeof(Lane) == 8, std::int32_t, std::int64_t>;
    require(!nb::isinstance<Shard<Other>>(source), "the source and the tree disagree about the bits");
    const HistogramShape<Lane> shape(columns, lane_count(m), features);
    PythonSource<Lane> python(source, shape, options.n_threads);
    require(python.n_rows() > 0, "rows must not be empty");
    WithoutGil release;
    grown = grow_tree<Lane>(python, columns, m, features, options);
  }
  const std::size_t n_nodes = grown.tree.nodes.size(), n_leaves = grown.tree.n_leaves,
                    n_sets = grown.tree.category_sets.size(), n_columns = grown.largest.size();
  return nb::make_tuple(
      to_numpy(node_bytes(grown.tree.nodes), {n_nodes, sizeof(Node)}), to_numpy(std::move(grown.tree.gain), {n_nodes}),
      to_numpy(std::move(grown.tree.count), {n_nodes}),
      to_numpy(set_bytes(grown.tree.category_sets), {n_sets, sizeof(CategorySet)}),
      to_numpy(std::move(grown.leaf_cell), {n_leaves}), to_numpy(std::move(grown.largest), {n_columns}));
}

nb::tuple grow(nb::handle source, In<std::int32_t, Vector> n_bins, In<std::uint8_t, Vector> has_missing,
               In<std::uint8_t, Vector> categorical, std::size_t m, std::optional<In<std::int32_t, Vector>> features,
               int score, double l2, int max_depth, int max_leaves, std::int64_t min_samples_leaf,
               std::int64_t min_category_count, double category_smoothing, int order, double noise, std::uint64_t seed,
               int bits, std::size_t histogram_memory, std::size_t most_together,
               std::optional<In<std::int32_t, Vector>> groups, std::optional<In<std::int64_t, Vector>> group_starts,
               int n_threads) {
  check_threads(n_threads);
  const Columns columns = columns_of(n_bins, has_missing, categorical);
  require(m >= 1 && m < kMostItems, "m must lie in 1 .. 2^31 - 1");
  const GrowOptions options =
      grow_options(score, l2, max_depth, max_leaves, min_samples_leaf, min_category_count, category_smoothing, order,
                   noise, seed, bits, histogram_memory, most_together, groups, group_starts, m, columns.p, n_threads);
  const auto used = features_of(features, columns.p);
  return bits == 64 ? grow_from<std::int64_t>(source, columns, m, used, options)
                    : grow_from<std::int32_t>(source, columns, m, used, options);
}

// The sums (L, m) that the integers (L, 2, m) of all shards represent.
nb::ndarray<nb::numpy, double> sums_of_limbs(In<std::uint64_t, nb::ndim<3>> limbs, In<double, Vector> largest,
                                             std::int64_t n_rows) {
  const std::size_t n_leaves = limbs.shape(0), m = limbs.shape(2);
  require(limbs.shape(1) == 2 && (largest.shape(0) == m || largest.shape(0) == 1) && n_rows >= 1,
          "limbs must be (L, 2, m), and largest have an entry per column");
  const LimbScales scales(std::vector<double>(largest.data(), largest.data() + largest.shape(0)), n_rows);
  return to_numpy(
      simplexboost::limb_values(std::vector<std::uint64_t>(limbs.data(), limbs.data() + limbs.size()), m, scales),
      {n_leaves, m});
}

template <class Lane>
void bind_shard(nb::module_& m, const char* name) {
  nb::class_<Shard<Lane>>(m, name, "The rows of one shard, for growing a tree; see kernels/trees/source.hpp.")
      .def(
          nb::init<const DenseTable*, const SparseTable*, In<std::int32_t, Vector>, In<std::uint8_t, Vector>,
                   In<std::uint8_t, Vector>, std::optional<In<double, Matrix>>, std::optional<In<std::int32_t, Vector>>,
                   std::optional<In<double, Vector>>, std::size_t, std::optional<In<std::uint32_t, Vector>>,
                   std::optional<In<std::int32_t, Vector>>, In<std::int64_t, Matrix>, std::uint64_t, int>(),
          nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), "codes"_a.none(), "sparse"_a.none(), "n_bins"_a,
          "has_missing"_a, "categorical"_a, "dense"_a.none(), "classes"_a.none(), "weight"_a.none(), "m"_a,
          "rows"_a.none(), "features"_a.none(), "segments"_a, "seed"_a, "n_threads"_a)
      .def_prop_ro("n_rows", [](Shard<Lane>& self) { return self.source().n_rows(); })
      .def("column_maxima", &Shard<Lane>::column_maxima, "values"_a.none() = nb::none())
      .def("column_magnitudes", &Shard<Lane>::column_magnitudes, "unit"_a)
      .def("quantize", &Shard<Lane>::quantize, "exponents"_a)
      .def("root", &Shard<Lane>::root)
      .def("expand", &Shard<Lane>::expand, "cells"_a, "splits"_a, "sets"_a, "build"_a)
      .def("cell_sizes", &Shard<Lane>::cell_sizes, "cells"_a)
      .def("leaf_limbs", &Shard<Lane>::leaf_limbs, "cells"_a, "values"_a.none(), "largest"_a, "n_rows"_a)
      .def("leaf_of_row", &Shard<Lane>::leaf_of_row, "nodes"_a, "category_sets"_a, "cells"_a);
}

}  // namespace

void bind_trees(nb::module_& m) {
  m.attr("NODE_SIZE") = sizeof(Node);
  nb::class_<DenseTable>(m, "DenseTable", "Codes that are known to be bins; see kernels/trees/data.hpp.")
      .def(nb::init<In<std::uint8_t, Codes>, In<std::int32_t, Vector>, In<std::uint8_t, Vector>, int>(), "codes"_a,
           "n_bins"_a, "has_missing"_a, "n_threads"_a);
  nb::class_<SparseTable>(m, "SparseTable", "Sparse codes by columns and by rows; see kernels/trees/data.hpp.")
      .def(nb::init<In<std::uint8_t, Vector>, In<std::int64_t, Vector>, In<std::uint32_t, Vector>,
                    In<std::uint8_t, Vector>, In<std::int32_t, Vector>, In<std::uint8_t, Vector>, std::size_t, int>(),
           "zero"_a, "first"_a, "rows"_a, "codes"_a, "n_bins"_a, "has_missing"_a, "n"_a, "n_threads"_a);
  bind_shard<std::int64_t>(m, "Shard64");
  bind_shard<std::int32_t>(m, "Shard32");
  m.def("grow", &grow, "source"_a, "n_bins"_a, "has_missing"_a, "categorical"_a, "m"_a, "features"_a.none(), "score"_a,
        "l2"_a, "max_depth"_a, "max_leaves"_a, "min_samples_leaf"_a, "min_category_count"_a, "category_smoothing"_a,
        "order"_a, "noise"_a, "seed"_a, "bits"_a, "histogram_memory"_a, "most_together"_a, "groups"_a.none(),
        "group_starts"_a.none(), "n_threads"_a,
        "Grow one tree: (nodes, gain, count, category sets, cell of each leaf, largest statistics).");
  m.def("lane_count", &lane_count, "m"_a, "The numbers that a histogram has for each bin of m statistics.");
  m.def("limb_values", &sums_of_limbs, "limbs"_a, "largest"_a, "n_rows"_a, "Exact sums (L, m) from their limbs.");
}

}  // namespace simplexboost
