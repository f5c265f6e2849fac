// Bindings: Shapley values of a forest.
#include "core/bind.hpp"

#include "explain/explainer.hpp"
#include "explain/rounding.hpp"
#include "module.hpp"
#include "trees/bind.hpp"

namespace simplexboost {
namespace {

using Cube = nb::ndim<3>;
using Hypercube = nb::ndim<4>;

template <class Real>
struct Leaves {
  In<Real, Vector> values;
  std::optional<In<std::int32_t, Vector>> columns;
  std::optional<In<std::int64_t, Vector>> start;
};

// The values of all leaves, checked.
template <class Real>
LeafValues<Real> checked_leaves(const Leaves<Real>& leaves, std::size_t n_leaves, std::size_t D) {
  require(leaves.columns.has_value() == leaves.start.has_value(), "columns and start go together");
  const std::size_t size = leaves.values.shape(0);
  if (!leaves.columns) {
    require(size == n_leaves * D, "values must have an entry per leaf and column of the result");
    return {leaves.values.data(), nullptr, nullptr, D};
  }
  const std::int64_t* start = leaves.start->data();
  require(leaves.start->shape(0) == n_leaves + 1 && start[0] == 0 && std::is_sorted(start, start + n_leaves + 1) &&
              static_cast<std::size_t>(start[n_leaves]) == size,
          "start must ascend from zero to the number of values, with an entry per leaf and one more");
  require(leaves.columns->shape(0) == size && all_below(leaves.columns->data(), size, D),
          "columns must be columns of the result, one per value");
  return {leaves.values.data(), leaves.columns->data(), start, D};
}

template <class Value, class Real>
void bind_values(nb::class_<Explainer<Real>>& explainer) {
  explainer.def(
      "set_background",
      [](Explainer<Real>& self, In<Value, Matrix> X, int n_threads) {
        check_threads(n_threads);
        require(X.shape(1) == self.n_features() && X.shape(0) > 0,
                "the background must have rows, and the columns of X");
        WithoutGil release;
        self.set_background(X.data(), X.shape(0), n_threads);
      },
      "X"_a, "n_threads"_a);
  explainer.def(
      "values",
      [](const Explainer<Real>& self, In<Value, Matrix> X, In<Real, Vector> values,
         std::optional<In<std::int32_t, Vector>> columns, std::optional<In<std::int64_t, Vector>> start,
         std::optional<In<double, Matrix>> total, Out<double, Cube> out, int n_threads) {
        check_threads(n_threads);
        const std::size_t n = X.shape(0), p = self.n_features();
        require(X.shape(1) == p && out.shape(0) == n && out.shape(1) == p, "X and out disagree with the forest");
        const LeafValues<Real> leaves = checked_leaves<Real>({values, columns, start}, self.n_leaves(), out.shape(2));
        require(!total || (total->shape(0) == n && total->shape(1) == leaves.D),
                "total must have the rows and columns of out");
        WithoutGil release;
        self.values(X.data(), n, leaves, total ? total->data() : nullptr, out.data(), n_threads);
      },
      "X"_a, "values"_a, "columns"_a.none(), "start"_a.none(), "total"_a.none(), "out"_a.noconvert(), "n_threads"_a);
  explainer.def(
      "interactions",
      [](const Explainer<Real>& self, In<Value, Matrix> X, In<Real, Vector> values,
         std::optional<In<std::int32_t, Vector>> columns, std::optional<In<std::int64_t, Vector>> start,
         Out<double, Hypercube> out, int n_threads) {
        check_threads(n_threads);
        const std::size_t n = X.shape(0), p = self.n_features();
        require(X.shape(1) == p && out.shape(0) == n && out.shape(1) == p && out.shape(2) == p,
                "X and out disagree with the forest");
        const LeafValues<Real> leaves = checked_leaves<Real>({values, columns, start}, self.n_leaves(), out.shape(3));
        WithoutGil release;
        self.interactions(X.data(), n, leaves, out.data(), n_threads);
      },
      "X"_a, "values"_a, "columns"_a.none(), "start"_a.none(), "out"_a.noconvert(), "n_threads"_a);
}

template <class Real>
void bind_explainer(nb::module_& m, const char* name) {
  auto explainer =
      nb::class_<Explainer<Real>>(m, name, "Shapley values of a forest; see kernels/explain/explainer.hpp.");
  explainer.def(
      "__init__",
      [](Explainer<Real>* self, In<std::uint8_t, Matrix> nodes, In<std::int64_t, Vector> first_node,
         In<double, Vector> count, In<std::uint8_t, Matrix> category_sets, In<std::int64_t, Vector> first_set,
         std::size_t n_features) {
        require(first_node.shape(0) > 1 && first_set.shape(0) == first_node.shape(0),
                "the arrays of the forest disagree");
        const std::size_t n_trees = first_node.shape(0) - 1;
        const auto ascends = [n_trees](const std::int64_t* first, std::size_t end) {
          return first[0] == 0 && std::is_sorted(first, first + n_trees + 1) &&
                 static_cast<std::size_t>(first[n_trees]) == end;
        };
        require(ascends(first_node.data(), nodes.shape(0)) && ascends(first_set.data(), category_sets.shape(0)),
                "where trees begin must ascend from zero to the end");
        require(count.shape(0) == nodes.shape(0), "count must have an entry per node");
        require(std::all_of(count.data(), count.data() + count.shape(0), is_amount),
                "counts must be finite and not negative");
        require(n_features >= 1 && n_features < kMostItems, "n_features must lie in 1 .. 2^31 - 1");
        WithoutGil release;
        new (self) Explainer<Real>(nodes_of(nodes), first_node.data(), count.data(), sets_of(category_sets),
                                   first_set.data(), n_trees, n_features);
      },
      "nodes"_a, "first_node"_a, "count"_a, "category_sets"_a, "first_set"_a, "n_features"_a);
  bind_values<double>(explainer);
  bind_values<float>(explainer);
}

}  // namespace

void bind_explain(nb::module_& m) {
  m.def(
      "share_rounding",
      [](Out<double, Cube> phi, In<double, Matrix> total) {
        const std::size_t n = phi.shape(0), p = phi.shape(1), D = phi.shape(2);
        require(total.shape(0) == n && total.shape(1) == D, "total must have the rows and columns of phi");
        if (phi.size() == 0) return;
        WithoutGil release;
        share_rounding(phi.data(), n, p, D, total.data());
      },
      "phi"_a.noconvert(), "total"_a);
  bind_explainer<double>(m, "Explainer");
  bind_explainer<float>(m, "SingleExplainer");
}

}  // namespace simplexboost
