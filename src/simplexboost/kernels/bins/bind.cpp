// Bindings: edges of bins, values to codes.
#include "core/bind.hpp"

#include <limits>

#include "bins/bin.hpp"
#include "bins/edges.hpp"
#include "bins/sparse.hpp"
#include "module.hpp"

namespace simplexboost {
namespace {

void check_edges(const In<std::int64_t, Vector>& first_edge, const In<double, Vector>& edges, std::size_t p) {
  const std::int64_t* first = first_edge.data();
  const std::size_t n_edges = edges.shape(0);
  require(first_edge.shape(0) == p + 1, "shapes disagree");
  require(first[0] == 0 && first[p] == static_cast<std::int64_t>(n_edges), "first_edge must span the edges");
  for (std::size_t f = 0; f < p; ++f) {
    require(first[f] <= first[f + 1] && first[f + 1] - first[f] <= 254, "a feature has 0 .. 254 edges");
    double last = -std::numeric_limits<double>::infinity();
    for (std::int64_t e = first[f]; e < first[f + 1]; last = edges.data()[e++])
      require(last <= edges.data()[e], "the edges of a feature must ascend");  // which NaN does not
  }
}

template <class Value>
SparseColumns<Value> sparse_columns(std::size_t n, const In<std::int64_t, Vector>& first,
                                    const In<std::int32_t, Vector>& rows, const In<Value, Vector>& values) {
  require(n < (std::size_t{1} << 30), "more than 2^30 rows");
  require(first.shape(0) > 0 && rows.shape(0) == values.shape(0), "the arrays of the table disagree");
  const std::size_t p = first.shape(0) - 1;
  require(first.data()[0] == 0 && std::is_sorted(first.data(), first.data() + p + 1) &&
              first.data()[p] == static_cast<std::int64_t>(rows.shape(0)),
          "the columns must span the entries");
  require(all_below(rows.data(), rows.shape(0), n), "rows must be row numbers");
  for (std::size_t f = 0; f < p; ++f)
    require(first.data()[f + 1] - first.data()[f] <= static_cast<std::int64_t>(n),
            "a column has more entries than rows");
  return {n, p, first.data(), rows.data(), values.data()};
}

template <class Value>
void bind_sparse(nb::module_& m) {
  m.def(
      "find_edges_sparse",
      [](std::size_t n, In<std::int64_t, Vector> first, In<std::int32_t, Vector> rows, In<Value, Vector> values,
         std::size_t max_bins, int n_threads) {
        check_threads(n_threads);
        const auto X = sparse_columns(n, first, rows, values);
        require(max_bins >= 1 && max_bins <= 255, "max_bins must lie in 1 .. 255");
        Edges edges;
        {
          WithoutGil release;
          edges = find_edges_sparse(X, max_bins, n_threads);
        }
        const std::size_t n_edges = edges.values.size(), p = X.p;
        return nb::make_tuple(to_numpy(std::move(edges.values), {n_edges}), to_numpy(std::move(edges.first), {p + 1}));
      },
      "n"_a, "first"_a, "rows"_a, "values"_a, "max_bins"_a, "n_threads"_a);

  m.def(
      "bin_sparse",
      [](std::size_t n, In<std::int64_t, Vector> first, In<std::int32_t, Vector> rows, In<Value, Vector> values,
         In<double, Vector> edges, In<std::int64_t, Vector> first_edge, int n_threads) {
        check_threads(n_threads);
        const auto X = sparse_columns(n, first, rows, values);
        check_edges(first_edge, edges, X.p);
        SparseCodes out;
        {
          WithoutGil release;
          out = bin_sparse(X, edges.data(), first_edge.data(), n_threads);
        }
        const std::size_t n_entries = out.rows.size(), p = X.p;
        return nb::make_tuple(to_numpy(std::move(out.zero), {p}), to_numpy(std::move(out.first), {p + 1}),
                              to_numpy(std::move(out.rows), {n_entries}), to_numpy(std::move(out.codes), {n_entries}),
                              to_numpy(std::move(out.has_missing), {p}));
      },
      "n"_a, "first"_a, "rows"_a, "values"_a, "edges"_a, "first_edge"_a, "n_threads"_a);
}

template <class Value>
void bind_values(nb::module_& m) {
  m.def(
      "find_edges",
      [](In<Value, Matrix> X, std::optional<In<std::int64_t, Vector>> rows, std::size_t max_bins, int n_threads) {
        check_threads(n_threads);
        const std::size_t n = X.shape(0), p = X.shape(1);
        require(n < (std::size_t{1} << 30), "more than 2^30 rows");
        require(max_bins >= 1 && max_bins <= 255, "max_bins must lie in 1 .. 255");
        if (rows)
          for (std::size_t r = 0; r < rows->shape(0); ++r)
            require(rows->data()[r] >= 0 && static_cast<std::size_t>(rows->data()[r]) < n, "rows must be row numbers");
        Edges edges;
        {
          WithoutGil release;
          const auto row_of = [&rows](std::size_t i) { return static_cast<std::size_t>(rows->data()[i]); };
          const auto itself = [](std::size_t i) { return i; };
          edges = rows ? find_edges(X.data(), p, rows->shape(0), row_of, max_bins, n_threads)
                       : find_edges(X.data(), p, n, itself, max_bins, n_threads);
        }
        const std::size_t n_edges = edges.values.size();
        return nb::make_tuple(to_numpy(std::move(edges.values), {n_edges}), to_numpy(std::move(edges.first), {p + 1}));
      },
      "X"_a, "rows"_a.none(), "max_bins"_a, "n_threads"_a);

  m.def(
      "bin_values",
      [](In<Value, Matrix> X, In<double, Vector> edges, In<std::int64_t, Vector> first_edge,
         Out<std::uint8_t, Codes> codes, Out<std::uint8_t, Vector> has_missing, int n_threads) {
        check_threads(n_threads);
        const std::size_t n = X.shape(0), p = X.shape(1);
        require(codes.shape(1) == n && codes.shape(0) == (p + kTile - 1) / kTile && codes.shape(2) == kTile &&
                    has_missing.shape(0) == p,
                "shapes disagree");
        check_edges(first_edge, edges, p);
        const std::int64_t* first = first_edge.data();
        WithoutGil release;
        bin_values(X.data(), n, p, edges.data(), first, codes.data(), has_missing.data(), n_threads);
      },
      "X"_a, "edges"_a, "first_edge"_a, "codes"_a.noconvert(), "has_missing"_a.noconvert(), "n_threads"_a);
}

}  // namespace

void bind_bins(nb::module_& m) {
  m.attr("TILE") = kTile;
  bind_values<double>(m);
  bind_values<float>(m);
  bind_sparse<double>(m);
  bind_sparse<float>(m);
}

}  // namespace simplexboost
