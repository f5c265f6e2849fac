// Bindings: prediction with one tree and with a forest; a tree's values added to the scores.
#include "core/bind.hpp"

#include "forest/add.hpp"
#include "forest/forest.hpp"
#include "forest/predict.hpp"
#include "module.hpp"
#include "trees/bind.hpp"

namespace simplexboost {
namespace {

template <class Value>
void add_tree(Out<Value, Matrix> F, In<Value, Matrix> values, Value step, In<std::int32_t, Vector> leaf_of_row,
              int n_threads) {
  check_threads(n_threads);
  const std::size_t n = F.shape(0), d = F.shape(1), n_leaves = values.shape(0);
  require(values.shape(1) == d && leaf_of_row.shape(0) == n, "F, values and leaf_of_row disagree");
  require(all_below(leaf_of_row.data(), n, n_leaves), "leaves must be rows of values");
  WithoutGil release;
  add_values(F.data(), n, d, values.data(), n_leaves, step, leaf_of_row.data(), n_threads);
}

template <class Value>
void bind_apply(nb::module_& m) {
  m.def(
      "apply",
      [](In<std::uint8_t, Matrix> nodes, In<std::uint8_t, Matrix> category_sets, In<Value, Matrix> X,
         Out<std::int32_t, Vector> leaves, int n_threads) {
        check_threads(n_threads);
        require(leaves.shape(0) == X.shape(0), "leaves must have an entry per row of X");
        check_tree(nodes_of(nodes), nodes.shape(0), category_sets.shape(0), X.shape(1));
        WithoutGil release;
        apply(nodes_of(nodes), sets_of(category_sets), X.data(), X.shape(0), X.shape(1), leaves.data(), n_threads);
      },
      "nodes"_a, "category_sets"_a, "X"_a, "leaves"_a.noconvert(), "n_threads"_a);
}

// out (n, u) = some columns of a sparse table by rows: column f goes to place[f], those with place -1 are left out.
template <class Value>
void gather_columns(In<std::int64_t, Vector> first, In<std::int32_t, Vector> columns, In<Value, Vector> values,
                    In<std::int32_t, Vector> place, Out<Value, Matrix> out, int n_threads) {
  check_threads(n_threads);
  const std::size_t n = out.shape(0), u = out.shape(1), p = place.shape(0);
  require(first.shape(0) == n + 1 && columns.shape(0) == values.shape(0), "the arrays of the table disagree");
  require(first.data()[0] >= 0 && std::is_sorted(first.data(), first.data() + n + 1) &&
              first.data()[n] <= static_cast<std::int64_t>(columns.shape(0)),
          "the rows must lie within the entries");
  require(all_below(columns.data() + first.data()[0], static_cast<std::size_t>(first.data()[n] - first.data()[0]), p),
          "columns must be column numbers");
  for (std::size_t f = 0; f < p; ++f)
    require(place.data()[f] < static_cast<std::int64_t>(u), "places must be columns of the result");
  WithoutGil release;
  parallel_ranges(n, 256, n_threads, [&](std::size_t begin, std::size_t end) {
    std::fill(out.data() + begin * u, out.data() + end * u, Value{0});
    for (std::size_t i = begin; i < end; ++i)
      for (std::int64_t e = first.data()[i]; e < first.data()[i + 1]; ++e) {
        const std::int32_t at = place.data()[columns.data()[e]];
        if (at >= 0) out.data()[i * u + static_cast<std::size_t>(at)] = values.data()[e];
      }
  });
}

template <class Leaf>
void bind_packed(nb::module_& m, const char* name) {
  auto forest = nb::class_<Forest<Leaf>>(m, name, "Trees packed for prediction; see kernels/forest/forest.hpp.");
  forest.def(
      "__init__",
      [](Forest<Leaf>* self, In<std::uint8_t, Matrix> nodes, In<std::int64_t, Vector> first_node,
         In<Leaf, Vector> values, In<std::int64_t, Vector> first_value, std::optional<In<std::int32_t, Vector>> columns,
         std::optional<In<std::int64_t, Vector>> row_start, In<std::int32_t, Vector> coordinate,
         In<double, Vector> step, In<std::uint8_t, Matrix> category_sets, In<std::int64_t, Vector> first_set,
         std::size_t n_features) {
        const std::size_t n_trees = step.shape(0);
        require(n_features < std::size_t{1} << 28,
                "a forest has fewer than 2^28 features");  // a packed node has 31 bits for 8 times one
        require(n_trees > 0 && first_node.shape(0) == n_trees + 1 && first_value.shape(0) == n_trees + 1 &&
                    coordinate.shape(0) == n_trees && first_set.shape(0) == n_trees + 1,
                "the arrays of the forest disagree");
        require(static_cast<std::size_t>(first_node.data()[n_trees]) == nodes.shape(0),
                "first_node must end at the last node");
        require(static_cast<std::size_t>(first_value.data()[n_trees]) == values.shape(0),
                "first_value must end at the last value");
        require(columns.has_value() == row_start.has_value(), "columns and row_start go together");
        require(!row_start || row_start->shape(0) > 0, "row_start must not be empty");
        const std::size_t n_rows = row_start ? row_start->shape(0) - 1 : 0;
        if (columns) {
          require(columns->shape(0) == values.shape(0), "columns must have an entry per value");
          require(static_cast<std::size_t>(row_start->data()[n_rows]) == values.shape(0),
                  "row_start must end at the last value");
          require(n_rows == (nodes.shape(0) + n_trees) / 2, "row_start must have an entry per leaf and one more");
        }
        require(static_cast<std::size_t>(first_set.data()[n_trees]) == category_sets.shape(0),
                "first_set must end at the last set");
        new (self)
            Forest<Leaf>(nodes_of(nodes), first_node.data(), values.data(), values.shape(0), first_value.data(),
                         columns ? columns->data() : nullptr, row_start ? row_start->data() : nullptr, n_rows,
                         coordinate.data(), step.data(), sets_of(category_sets), first_set.data(), n_trees, n_features);
      },
      "nodes"_a, "first_node"_a, "values"_a, "first_value"_a, "columns"_a.none(), "row_start"_a.none(), "coordinate"_a,
      "step"_a, "category_sets"_a, "first_set"_a, "n_features"_a);
  const auto predict = [](const Forest<Leaf>& self, const auto& X, Out<Leaf, Matrix>& F, int n_threads) {
    check_threads(n_threads);
    require(F.shape(0) == X.shape(0), "F must have a row per row of X");
    require(self.fits(X.shape(1), F.shape(1)),
            "X must have the columns that the forest was packed for, and F those of the values");
    WithoutGil release;
    self.predict(X.data(), X.shape(0), F.shape(1), F.data(), n_threads);
  };
  forest.def(
      "predict",
      [predict](const Forest<Leaf>& self, In<double, Matrix> X, Out<Leaf, Matrix> F, int n_threads) {
        predict(self, X, F, n_threads);
      },
      "X"_a, "F"_a.noconvert(), "n_threads"_a);
  forest.def(
      "predict",
      [predict](const Forest<Leaf>& self, In<float, Matrix> X, Out<Leaf, Matrix> F, int n_threads) {
        predict(self, X, F, n_threads);
      },
      "X"_a, "F"_a.noconvert(), "n_threads"_a);
}

}  // namespace

void bind_forest(nb::module_& m) {
  // No conversions: a converted F would be a copy, and the values would be added to the copy.
  m.def("add_values", &add_tree<float>, "F"_a.noconvert(), "values"_a.noconvert(), "step"_a, "leaf_of_row"_a,
        "n_threads"_a, "F[row] += step * values[leaf of row].");
  m.def("add_values", &add_tree<double>, "F"_a.noconvert(), "values"_a.noconvert(), "step"_a, "leaf_of_row"_a,
        "n_threads"_a);
  m.def("gather_columns", &gather_columns<double>, "first"_a, "columns"_a, "values"_a.noconvert(), "place"_a,
        "out"_a.noconvert(), "n_threads"_a, "Some columns of a sparse table, dense.");
  m.def("gather_columns", &gather_columns<float>, "first"_a, "columns"_a, "values"_a.noconvert(), "place"_a,
        "out"_a.noconvert(), "n_threads"_a);
  bind_apply<double>(m);
  bind_apply<float>(m);
  bind_packed<double>(m, "Forest64");
  bind_packed<float>(m, "Forest32");
}

}  // namespace simplexboost
