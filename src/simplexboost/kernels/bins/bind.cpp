// Bindings: edges of bins, values to codes.
#include "core/bind.hpp"

#include "bins/bin.hpp"
#include "bins/edges.hpp"
#include "module.hpp"

namespace simplexboost {
namespace {

template <class Value>
void bind_values(nb::module_& m) {
  m.def(
      "find_edges",
      [](In<Value, Matrix> X, std::optional<In<std::int64_t, Vector>> rows, std::size_t max_bins, int n_threads) {
        const std::size_t n = X.shape(0), p = X.shape(1);
        require(n < (std::size_t{1} << 30), "more than 2^30 rows");
        require(max_bins >= 1 && max_bins <= 255, "max_bins must lie in 1 .. 255");
        if (rows)
          for (std::size_t r = 0; r < rows->shape(0); ++r)
            require(rows->data()[r] >= 0 && static_cast<std::size_t>(rows->data()[r]) < n, "rows must be row numbers");
        Edges edges;
        {
          nb::gil_scoped_release release;
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
        const std::size_t n = X.shape(0), p = X.shape(1);
        require(first_edge.shape(0) == p + 1 && codes.shape(1) == n && codes.shape(0) == (p + kTile - 1) / kTile &&
                    codes.shape(2) == kTile && has_missing.shape(0) == p,
                "shapes disagree");
        const std::int64_t* first = first_edge.data();
        require(first[0] == 0 && first[p] == static_cast<std::int64_t>(edges.shape(0)),
                "first_edge must span the edges");
        for (std::size_t f = 0; f < p; ++f)
          require(first[f] <= first[f + 1] && first[f + 1] - first[f] <= 254, "a feature has 0 .. 254 edges");
        nb::gil_scoped_release release;
        bin_values(X.data(), n, p, edges.data(), first, codes.data(), has_missing.data(), n_threads);
      },
      "X"_a, "edges"_a, "first_edge"_a, "codes"_a, "has_missing"_a, "n_threads"_a);
}

}  // namespace

void bind_bins(nb::module_& m) {
  m.attr("TILE") = kTile;
  bind_values<double>(m);
  bind_values<float>(m);
}

}  // namespace simplexboost
