// Bindings: growing a tree.
#include "core/bind.hpp"

#include <numeric>

#include "module.hpp"
#include "trees/bytes.hpp"
#include "trees/grow.hpp"
#include "trees/leaves.hpp"

namespace simplexboost {
namespace {

BinnedView view(const In<std::uint8_t, Codes>& codes, const In<std::int32_t, Vector>& n_bins,
                const In<std::uint8_t, Vector>& has_missing, const In<std::uint8_t, Vector>& categorical) {
  const std::size_t p = n_bins.shape(0);
  require(p > 0 && codes.shape(0) == (p + kTile - 1) / kTile && codes.shape(2) == kTile,
          "codes must be (n_blocks, n, 8)");
  require(has_missing.shape(0) == p && categorical.shape(0) == p,
          "has_missing and categorical must have one entry per feature");
  BinnedView data{codes.data(),
                  codes.shape(1),
                  p,
                  n_bins.data(),
                  has_missing.data(),
                  categorical.data(),
                  std::vector<std::size_t>(p + 1)};
  for (std::size_t f = 0; f < p; ++f) {
    require(n_bins.data()[f] >= 1 && n_bins.data()[f] <= 255, "n_bins must lie in 1 .. 255");
    data.offset[f + 1] = data.offset[f] + static_cast<std::size_t>(n_bins.data()[f]) + (has_missing.data()[f] ? 1 : 0);
  }
  require(data.n < (std::size_t{1} << 30), "more than 2^30 rows");
  return data;
}

// Statistics are dense (n, m), or sparse: classes (n,) and weight (n,) with m columns.
nb::tuple grow(In<std::uint8_t, Codes> codes, In<std::int32_t, Vector> n_bins, In<std::uint8_t, Vector> has_missing,
               In<std::uint8_t, Vector> categorical, std::optional<In<double, Matrix>> dense,
               std::optional<In<std::int32_t, Vector>> classes, std::optional<In<double, Vector>> weight, std::size_t m,
               In<double, Matrix> leaf_statistics, std::optional<In<std::uint32_t, Vector>> rows,
               std::optional<In<std::int32_t, Vector>> features, int score, double l2, int max_depth, int max_leaves,
               std::int64_t min_samples_leaf, std::int64_t min_category_count, double category_smoothing,
               bool best_first, int bits, std::uint64_t seed, std::size_t histogram_memory, int n_threads) {
  const BinnedView data = view(codes, n_bins, has_missing, categorical);
  StatisticsView statistics;
  statistics.m = m;
  if (dense) {
    require(dense->shape(0) == data.n && dense->shape(1) == m && m >= 1, "statistics must be (n, m)");
    statistics.dense = dense->data();
  } else {
    require(classes && weight && classes->shape(0) == data.n && weight->shape(0) == data.n,
            "classes and weight must be (n,)");
    statistics.classes = classes->data();
    statistics.weight = weight->data();
    for (std::size_t i = 0; i < data.n; ++i)
      require(classes->data()[i] >= 0 && static_cast<std::size_t>(classes->data()[i]) < m,
              "classes must lie in 0 .. m - 1");
  }
  require(score >= 0 && score <= static_cast<int>(Score::gini), "unknown score");
  require(static_cast<Score>(score) != Score::newton || m >= 2,
          "the newton score needs gradient and curvature columns");
  require(bits == 32 || bits == 64, "bits must be 32 or 64");
  require(leaf_statistics.shape(0) == data.n, "leaf_statistics must have n rows");
  require(min_category_count >= 1 && category_smoothing >= 0.0,
          "min_category_count must be 1 or more, category_smoothing not negative");

  Rows used(rows ? rows->shape(0) : data.n);
  if (rows) std::copy_n(rows->data(), used.size(), used.begin());
  else std::iota(used.begin(), used.end(), 0u);
  require(!used.empty(), "rows must not be empty");
  for (std::size_t r = 0; r < used.size(); ++r)
    require(used[r] < data.n && (r == 0 || used[r - 1] < used[r]), "rows must be ascending row numbers");
  std::vector<std::int32_t> columns(features ? features->shape(0) : data.p);
  if (features) std::copy_n(features->data(), columns.size(), columns.begin());
  else std::iota(columns.begin(), columns.end(), 0);
  require(!columns.empty(), "features must not be empty");
  for (std::size_t i = 0; i < columns.size(); ++i)
    require(columns[i] >= 0 && static_cast<std::size_t>(columns[i]) < data.p && (i == 0 || columns[i - 1] < columns[i]),
            "features must be ascending feature numbers");

  const GrowOptions options{static_cast<Score>(score),
                            l2,
                            max_depth,
                            max_leaves,
                            {min_samples_leaf, {min_category_count, category_smoothing}},
                            best_first,
                            seed,
                            histogram_memory,
                            n_threads};
  const std::size_t d = leaf_statistics.shape(1);
  Grown grown;
  std::vector<std::int32_t> leaf_of_row(data.n);
  std::vector<double> sums;
  {
    nb::gil_scoped_release release;
    grown = bits == 64 ? grow_tree<std::int64_t>(data, statistics, used, columns, options)
                       : grow_tree<std::int32_t>(data, statistics, used, columns, options);
    sums = leaf_sums(grown, leaf_statistics.data(), d, n_threads);
    leaf_of_rows(grown, data, leaf_of_row.data(), n_threads);
  }
  const std::size_t n_nodes = grown.tree.nodes.size(), n_leaves = grown.tree.n_leaves,
                    n_sets = grown.tree.category_sets.size();
  return nb::make_tuple(to_numpy(node_bytes(grown.tree.nodes), {n_nodes, sizeof(Node)}),
                        to_numpy(std::move(grown.tree.gain), {n_nodes}),
                        to_numpy(std::move(grown.tree.count), {n_nodes}),
                        to_numpy(set_bytes(grown.tree.category_sets), {n_sets, sizeof(CategorySet)}),
                        to_numpy(std::move(leaf_of_row), {data.n}), to_numpy(std::move(sums), {n_leaves, d}));
}

}  // namespace

void bind_trees(nb::module_& m) {
  m.attr("NODE_SIZE") = sizeof(Node);
  m.def("grow", &grow, "codes"_a, "n_bins"_a, "has_missing"_a, "categorical"_a, "dense"_a.none(), "classes"_a.none(),
        "weight"_a.none(), "m"_a, "leaf_statistics"_a, "rows"_a.none(), "features"_a.none(), "score"_a, "l2"_a,
        "max_depth"_a, "max_leaves"_a, "min_samples_leaf"_a, "min_category_count"_a, "category_smoothing"_a,
        "best_first"_a, "bits"_a, "seed"_a, "histogram_memory"_a, "n_threads"_a,
        "Grow one tree: (nodes, gain, count, category sets, leaf of each row, leaf sums).");
}

}  // namespace simplexboost
