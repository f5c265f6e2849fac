// Bindings of losses/candidates.hpp.
#include "core/bind.hpp"
#include "losses/candidates.hpp"
#include "module.hpp"

namespace simplexboost {
namespace {

using Labels = In<std::int64_t, Vector>;
using Floats = Out<float, Vector>;
using Counts = Out<std::int32_t, Vector>;
using Classes = Out<std::int32_t, Matrix>;
using Scores = Out<float, Matrix>;

CandidateRows checked(const Labels& c, std::size_t K, const Floats& own, const Floats& rest, const Counts& count,
                      const Classes& classes, const Scores& scores) {
  const std::size_t n = c.shape(0), C = classes.shape(1);
  require(K >= 2 && K < kMostItems, "K must lie in 2 .. 2^31 - 1");
  check_labels(c, n, K);
  require(own.shape(0) == n && rest.shape(0) == n && count.shape(0) == n, "own, rest and count must be (n,)");
  require(C >= 1 && C % kPlaces == 0 && C < kMostItems, "lists must have a multiple of 16 places");
  require(classes.shape(0) == n && scores.shape(0) == n && scores.shape(1) == C, "lists must be (n, C)");
  return {c.data(), own.data(), rest.data(), count.data(), classes.data(), scores.data(), n, K, C};
}

void pull(Labels c, std::size_t K, Floats own, Floats rest, Counts count, Classes classes, Scores scores,
          std::optional<In<float, Vector>> weight, int a, int b, float tilt_scale, In<float, Matrix> Z,
          Out<double, Matrix> stats, Floats loss, std::optional<Out<double, Vector>> scale, int n_threads) {
  const CandidateRows rows = checked(c, K, own, rest, count, classes, scores);
  const std::size_t n = rows.n, s = Z.shape(1);
  check_threads(n_threads);
  require(a >= 0 && a <= 64 && b >= 0 && b <= 64, "exponents must lie in 0 .. 64");
  require(Z.shape(0) == K, "Z must be (K, s)");
  require(!weight || weight->shape(0) == n, "weight must have an entry per row");
  require(stats.shape(0) == n && stats.shape(1) == s + 1, "stats must be (n, s + 1)");
  require(loss.shape(0) == n && (!scale || scale->shape(0) == n), "loss and scale must be (n,)");
  WithoutGil release;
  std::vector<float> square(K, 0.0f), totals(s + 1);
  std::vector<double> sums(s + 1, 0.0);
  for (std::size_t k = 0; k < K; ++k) {
    for (std::size_t l = 0; l < s; ++l) {
      const float z = Z.data()[k * s + l];
      square[k] += z * z;
      sums[l] += static_cast<double>(z);
    }
    sums[s] += static_cast<double>(square[k]);
  }
  for (std::size_t l = 0; l <= s; ++l) totals[l] = static_cast<float>(sums[l]);
  candidate_pull(rows,
                 {weight ? weight->data() : nullptr, a, b, tilt_scale, Z.data(), square.data(), totals.data(), s,
                  stats.data(), loss.data(), scale ? scale->data() : nullptr},
                 n_threads);
}

void check_leaves(const In<std::int32_t, Vector>& leaf_of_row, std::size_t n, std::size_t n_leaves) {
  require(leaf_of_row.shape(0) == n, "leaf_of_row must be (n,)");
  require(n_leaves < kMostItems, "there are fewer than 2^31 leaves");
  require(all_below(leaf_of_row.data(), n, n_leaves), "leaves must lie in 0 .. n_leaves - 1");
}

nb::tuple leaves(Labels c, std::size_t K, Floats own, Floats rest, Counts count, Classes classes, Scores scores,
                 In<float, Vector> loss, std::optional<In<double, Vector>> scale, In<float, Vector> preference,
                 In<std::int32_t, Vector> leaf_of_row, std::optional<In<std::uint32_t, Vector>> used,
                 std::size_t n_leaves, double l2, double max_step, double thin, int n_threads) {
  const CandidateRows rows = checked(c, K, own, rest, count, classes, scores);
  check_threads(n_threads);
  check_leaves(leaf_of_row, rows.n, n_leaves);
  require(n_leaves <= std::max<std::size_t>(rows.n, 1 << 15), "there are too many leaves for the rows");
  require(loss.shape(0) == rows.n && (!scale || scale->shape(0) == rows.n), "loss and scale must be (n,)");
  require(preference.shape(0) == K, "preference must be (K,)");
  require(is_amount(l2) && is_amount(thin), "l2 and thin must be finite and not negative");
  require(max_step > 0.0, "max_step must be positive");
  if (used)
    for (std::size_t r = 0; r < used->shape(0); ++r)
      require(used->data()[r] < rows.n && (r == 0 || used->data()[r - 1] < used->data()[r]),
              "rows must be ascending row numbers");
  LeafEntries found;
  {
    WithoutGil release;
    found = candidate_leaves(
        rows, loss.data(), scale ? scale->data() : nullptr, preference.data(),
        {leaf_of_row.data(), rows.n, n_leaves, used ? used->data() : nullptr, used ? used->shape(0) : 0},
        {l2, max_step, thin}, n_threads);
  }
  const std::size_t size = found.values.size();
  return nb::make_tuple(to_numpy(std::move(found.values), {size}), to_numpy(std::move(found.classes), {size}),
                        to_numpy(std::move(found.starts), {n_leaves + 1}));
}

void add(Labels c, std::size_t K, Floats own, Floats rest, Counts count, Classes classes, Scores scores,
         In<float, Vector> values, In<std::int32_t, Vector> columns, In<std::int64_t, Vector> starts, float step,
         In<std::int32_t, Vector> leaf_of_row, int n_threads) {
  const CandidateRows rows = checked(c, K, own, rest, count, classes, scores);
  check_threads(n_threads);
  require(starts.shape(0) >= 1 && columns.shape(0) == values.shape(0), "every value must have a column");
  const std::size_t n_leaves = starts.shape(0) - 1;
  check_leaves(leaf_of_row, rows.n, n_leaves);
  require(starts.data()[0] == 0 && std::is_sorted(starts.data(), starts.data() + n_leaves + 1) &&
              static_cast<std::size_t>(starts.data()[n_leaves]) == values.shape(0),
          "starts must ascend from 0 to the number of values");
  require(all_below(columns.data(), columns.shape(0), K), "columns must lie in 0 .. K - 1");
  WithoutGil release;
  candidate_add(rows, values.data(), columns.data(), starts.data(), n_leaves, step, leaf_of_row.data(), n_threads);
}

}  // namespace

void bind_candidates(nb::module_& m) {
  m.def("candidate_pull", &pull, "c"_a, "K"_a, "own"_a.noconvert(), "rest"_a.noconvert(), "count"_a.noconvert(),
        "classes"_a.noconvert(), "scores"_a.noconvert(), "weight"_a.none(), "a"_a, "b"_a, "tilt_scale"_a, "Z"_a,
        "stats"_a.noconvert(), "loss"_a.noconvert(), "scale"_a.none().noconvert(), "n_threads"_a,
        "Sketched gradient and curvature of rows with candidates; see kernels/losses/candidates.hpp.");
  m.def("candidate_leaves", &leaves, "c"_a, "K"_a, "own"_a.noconvert(), "rest"_a.noconvert(), "count"_a.noconvert(),
        "classes"_a.noconvert(), "scores"_a.noconvert(), "loss"_a, "scale"_a.none(), "preference"_a, "leaf_of_row"_a,
        "rows"_a.none(), "n_leaves"_a, "l2"_a, "max_step"_a, "thin"_a, "n_threads"_a,
        "Newton's steps in the leaves as values, columns and the starts of leaves.");
  m.def("candidate_add", &add, "c"_a, "K"_a, "own"_a.noconvert(), "rest"_a.noconvert(), "count"_a.noconvert(),
        "classes"_a.noconvert(), "scores"_a.noconvert(), "values"_a, "columns"_a, "starts"_a, "step"_a, "leaf_of_row"_a,
        "n_threads"_a, "Adds step times the values of its leaf to every row.");
}

}  // namespace simplexboost
