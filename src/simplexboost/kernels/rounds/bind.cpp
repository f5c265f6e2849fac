// Bindings: many rounds of the flagship in one call.
#include "core/bind.hpp"

#include <chrono>

#include "losses/bind_logistic.hpp"
#include "module.hpp"
#include "rounds/rounds.hpp"
#include "trees/bind.hpp"
#include "trees/bind_tables.hpp"

namespace simplexboost {
namespace {

using Features = std::optional<In<std::int32_t, Vector>>;
using Places = std::optional<In<std::int64_t, Vector>>;

// What was drawn for every round. Rows and features of one round stand after those of another: those of round t are
// rows[row_starts[t] .. row_starts[t + 1] - 1]. Without places all rounds have the same ones, or all.
std::vector<RoundDraw> draws_of(const In<float, Matrix>& Z, const In<std::uint64_t, Vector>& seeds,
                                const SomeRows& rows, const Places& row_starts, const Features& features,
                                const Places& feature_starts, const In<std::int64_t, Vector>& min_category_counts,
                                std::size_t n, std::size_t p) {
  const std::size_t rounds = Z.shape(0);
  require(seeds.shape(0) == rounds && min_category_counts.shape(0) == rounds, "there must be a seed per round");
  const auto check_places = [&](const Places& places, bool there, std::size_t size) {
    require(!places || there, "there are places of nothing");
    require(!places || (places->shape(0) == rounds + 1 && places->data()[0] == 0 &&
                        std::is_sorted(places->data(), places->data() + rounds + 1) &&
                        places->data()[rounds] == static_cast<std::int64_t>(size)),
            "places must ascend from 0 to the end, one for every round and one more");
  };
  check_places(row_starts, rows.has_value(), rows ? rows->shape(0) : 0);
  check_places(feature_starts, features.has_value(), features ? features->shape(0) : 0);
  const auto part = [](const Places& places, std::size_t round, std::size_t size) {
    if (!places) return std::pair<std::size_t, std::size_t>(0, size);
    return std::pair(static_cast<std::size_t>(places->data()[round]),
                     static_cast<std::size_t>(places->data()[round + 1]));
  };
  std::vector<RoundDraw> draws;
  for (std::size_t t = 0; t < rounds; ++t) {
    RoundDraw draw{Z.data() + t * Z.shape(1), seeds.data()[t], nullptr, n, {}, min_category_counts.data()[t]};
    require(draw.min_category_count >= 1, "min_category_counts must be 1 or more");
    if (rows) {
      const auto [begin, end] = part(row_starts, t, rows->shape(0));
      draw.rows = rows->data() + begin, draw.n_rows = end - begin;
      if (t == 0 || row_starts)
        for (std::size_t r = begin; r < end; ++r)
          require(rows->data()[r] < n && (r == begin || rows->data()[r - 1] < rows->data()[r]),
                  "rows must be ascending row numbers");
    }
    require(draw.n_rows > 0, "rows must not be empty");
    const auto [begin, end] = part(feature_starts, t, features ? features->shape(0) : 0);
    draw.features = checked_features(features ? features->data() + begin : nullptr, end - begin, p);
    draws.push_back(std::move(draw));
  }
  return draws;
}

// A table, a loss of its rows, and how they are boosted.
class BoundRounds {
 public:
  BoundRounds(BoundLoss& loss, const DenseTable* codes, const SparseTable* sparse, In<std::int32_t, Vector> n_bins,
              In<std::uint8_t, Vector> has_missing, In<std::uint8_t, Vector> categorical, In<double, Vector> edges,
              In<std::int64_t, Vector> first_edge, In<std::uint8_t, Matrix> seen, double l2, int max_depth,
              int max_leaves, std::int64_t min_samples_leaf, double category_smoothing, int order, double noise,
              int bits, std::size_t histogram_memory, std::size_t most_together, Features groups, Places group_starts,
              double leaf_l2, double max_step, double thin)
      : arrays_{n_bins, has_missing, categorical, edges, first_edge, seen},
        loss_(loss),
        data_(view(codes, sparse, columns_of(n_bins, has_missing, categorical))),
        rounds_(loss.loss(), data_, values_of(data_, edges, first_edge, seen),
                {grow_options(static_cast<int>(Score::newton), l2, max_depth, max_leaves, min_samples_leaf, 1,
                              category_smoothing, order, noise, 0, bits, histogram_memory, most_together, groups,
                              group_starts, 2, data_.p, 1),
                 bits,
                 {leaf_l2, max_step, thin}}) {
    require(loss.loss().n() == data_.n, "the loss and the table have other rows");
    require(!loss.loss().tilted(), "the loss must be logistic");
    check_options(leaf_l2, max_step, thin, 1);
  }
  BoundRounds(const BoundRounds&) = delete;  // `rounds_` refers to `data_`

  // Makes rounds until there is none left, one is unusual or so many seconds have passed; F += step * values in each.
  // Returns the arrays of the trees one after another, and what the history records of every round.
  nb::tuple make(Out<float, Matrix> F, std::optional<Out<float, Matrix>> G, Out<double, Matrix> stats,
                 Out<float, Vector> loss, std::optional<Out<double, Vector>> scale,
                 std::optional<In<double, Vector>> weight, double weights, In<float, Matrix> Z,
                 In<std::uint64_t, Vector> seeds, SomeRows rows, Places row_starts, Features features,
                 Places feature_starts, In<std::int64_t, Vector> min_category_counts, double step, double reach,
                 double limit, double seconds, int n_threads) {
    check_threads(n_threads);
    const std::size_t n = data_.n;
    RoundState state{
        F.data(), loss_.row_arrays(F, G, loss, scale), stats.data(), weight ? weight->data() : nullptr, weights, reach,
        limit};
    require(stats.shape(0) == n && stats.shape(1) == 2 && (!weight || weight->shape(0) == n),
            "stats must be (n, 2), and weight have an entry per row");
    require(Z.shape(1) == loss_.loss().K(), "Z must be (rounds, K)");
    const auto draws = draws_of(Z, seeds, rows, row_starts, features, feature_starts, min_category_counts, n, data_.p);
    MadeRounds made;
    {
      WithoutGil release;
      const auto begin = std::chrono::steady_clock::now();
      for (const RoundDraw& draw : draws) {
        if (!rounds_.make(draw, state, step, n_threads, made)) break;
        const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
        made.seconds.push_back(passed.count());
        if (passed.count() >= seconds) break;
      }
    }
    const std::size_t size = made.size(), n_nodes = made.gain.size(), d = loss_.loss().d(),
                      n_sets = made.sets.size() / sizeof(CategorySet), n_leaves = made.values.size() / d;
    return nb::make_tuple(
        to_numpy(std::move(made.nodes), {n_nodes, sizeof(Node)}), to_numpy(std::move(made.gain), {n_nodes}),
        to_numpy(std::move(made.count), {n_nodes}), to_numpy(std::move(made.sets), {n_sets, sizeof(CategorySet)}),
        to_numpy(std::move(made.values), {n_leaves, d}), to_numpy(std::move(made.first_node), {size + 1}),
        to_numpy(std::move(made.first_set), {size + 1}), to_numpy(std::move(made.risk), {size}),
        to_numpy(std::move(made.edge), {size}), to_numpy(std::move(made.seconds), {size}), state.reach);
  }

 private:
  static ColumnValues values_of(const Columns& columns, const In<double, Vector>& edges,
                                const In<std::int64_t, Vector>& first, const In<std::uint8_t, Matrix>& seen) {
    const std::size_t p = columns.p;
    require(first.shape(0) == p + 1 && first.data()[0] == 0 && std::is_sorted(first.data(), first.data() + p + 1) &&
                first.data()[p] == static_cast<std::int64_t>(edges.shape(0)),
            "first_edge must tell where the edges of every feature begin");
    require(seen.shape(0) == p && seen.shape(1) == sizeof(CategorySet), "seen must be (p, 32)");
    return {edges.data(), first.data(), reinterpret_cast<const CategorySet*>(seen.data())};
  }

  struct Arrays {  // kept alive
    In<std::int32_t, Vector> n_bins;
    In<std::uint8_t, Vector> has_missing, categorical;
    In<double, Vector> edges;
    In<std::int64_t, Vector> first_edge;
    In<std::uint8_t, Matrix> seen;
  } arrays_;
  BoundLoss& loss_;
  BinnedView data_;
  Rounds rounds_;
};

}  // namespace

void bind_rounds(nb::module_& m) {
  nb::class_<BoundRounds>(m, "Rounds", "Many rounds of the flagship in one call; see kernels/rounds/rounds.hpp.")
      .def(nb::init<BoundLoss&, const DenseTable*, const SparseTable*, In<std::int32_t, Vector>,
                    In<std::uint8_t, Vector>, In<std::uint8_t, Vector>, In<double, Vector>, In<std::int64_t, Vector>,
                    In<std::uint8_t, Matrix>, double, int, int, std::int64_t, double, int, double, int, std::size_t,
                    std::size_t, Features, Places, double, double, double>(),
           nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(), "loss"_a, "codes"_a.none(),
           "sparse"_a.none(), "n_bins"_a, "has_missing"_a, "categorical"_a, "edges"_a, "first_edge"_a, "seen"_a, "l2"_a,
           "max_depth"_a, "max_leaves"_a, "min_samples_leaf"_a, "category_smoothing"_a, "order"_a, "noise"_a, "bits"_a,
           "histogram_memory"_a, "most_together"_a, "groups"_a.none(), "group_starts"_a.none(), "leaf_l2"_a,
           "max_step"_a, "thin"_a)
      .def("make", &BoundRounds::make, "F"_a.noconvert(), "G"_a.none().noconvert(), "stats"_a.noconvert(),
           "loss"_a.noconvert(), "scale"_a.none().noconvert(), "weight"_a.none(), "weights"_a, "Z"_a, "seeds"_a,
           "rows"_a.none(), "row_starts"_a.none(), "features"_a.none(), "feature_starts"_a.none(),
           "min_category_counts"_a, "step"_a, "reach"_a, "limit"_a, "seconds"_a, "n_threads"_a);
}

}  // namespace simplexboost
