// The logistic loss as bindings get it: its arrays are checked whenever they come.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/bind.hpp"
#include "losses/bind_leaves.hpp"
#include "losses/row_loss.hpp"

namespace simplexboost {

// The logistic loss of one shard and the arrays that it reads; see losses/row_loss.hpp.
class BoundLoss {
 public:
  BoundLoss(std::optional<In<float, Matrix>> Y, In<std::int64_t, Vector> c, std::size_t K,
            std::optional<In<float, Vector>> weight, std::optional<In<float, Matrix>> log_cost, int a, int b,
            std::uint64_t n_all)
      : c_(c), weight_(weight), loss_(checked(Y, c, K, weight, log_cost, a, b, n_all)) {}

  // Fills in G (n, d), stats (n, s + 1), loss (n,) and scale (n,) at F (n, d), with sketched codewords Z (K, s).
  // For canonical codewords G is not needed.
  void pull(In<float, Matrix> F, In<float, Matrix> Z, float tilt_scale, std::optional<Out<float, Matrix>> G,
            Out<double, Matrix> stats, Out<float, Vector> loss, std::optional<Out<double, Vector>> scale,
            int n_threads) {
    const RowArrays arrays = row_arrays(F, G, loss, scale);
    check_threads(n_threads);
    const std::size_t s = Z.shape(1);
    require(Z.shape(0) == loss_.K(), "Z must be (K, s)");
    require(stats.shape(0) == loss_.n() && stats.shape(1) == s + 1, "stats must be (n, s + 1)");
    WithoutGil release;
    loss_.pull(arrays, Z.data(), s, tilt_scale, stats.data(), n_threads);
  }

  double largest_weight(std::optional<Out<double, Vector>> scale) const {
    require(!scale || scale->shape(0) == loss_.n(), "scale must be (n,)");
    WithoutGil release;
    return loss_.largest_weight(scale ? scale->data() : nullptr);
  }

  // Newton steps (L, d) in the leaves at the F, G, loss and scale of the last pull, if this shard has all rows.
  nb::object newton_leaves(In<float, Matrix> F, std::optional<Out<float, Matrix>> G, Out<float, Vector> loss,
                           std::optional<Out<double, Vector>> scale, In<std::int32_t, Vector> leaf_of_row,
                           std::optional<In<std::uint32_t, Vector>> rows, std::size_t n_leaves, double l2,
                           double max_step, double thin, int n_threads) {
    const RowArrays arrays = row_arrays(F, G, loss, scale);
    check_leaves(loss_.n(), leaf_of_row, rows, n_leaves);
    check_few_leaves(loss_.n(), n_leaves);
    check_options(l2, max_step, thin, n_threads);
    std::vector<float> values(n_leaves * loss_.d());
    {
      WithoutGil release;
      const RowLeaves of = row_leaves(loss_.n(), leaf_of_row, rows, n_leaves);
      const LeafScales scales{loss_.largest_weight(arrays.scale), of.used()};
      loss_.newton_leaves(arrays, of, scales, {l2, max_step, thin}, values.data(), n_threads);
    }
    return nb::cast(to_numpy(std::move(values), {n_leaves, loss_.d()}));
  }

  // The integer sums (L, size) over this shard's rows from which the steps are computed. `before` and `all` (L,) are
  // the numbers of a leaf's rows in earlier shards and in all of them; `largest_weight` and `n_rows` are those of all
  // shards.
  nb::object leaf_sums(In<float, Matrix> F, std::optional<Out<float, Matrix>> G, Out<float, Vector> loss,
                       std::optional<Out<double, Vector>> scale, In<std::int32_t, Vector> leaf_of_row,
                       std::optional<In<std::uint32_t, Vector>> rows, In<std::int64_t, Vector> before,
                       In<std::int64_t, Vector> all, double largest_weight, std::uint64_t n_rows, int n_threads) {
    const RowArrays arrays = row_arrays(F, G, loss, scale);
    const std::size_t n_leaves = all.shape(0);
    check_leaves(loss_.n(), leaf_of_row, rows, n_leaves);
    check_threads(n_threads);
    check_scales(largest_weight, n_rows);
    require(before.shape(0) == n_leaves, "before and all must have an entry per leaf");
    std::vector<LeafShare> shares(n_leaves);
    for (std::size_t leaf = 0; leaf < n_leaves; ++leaf) {
      require(before.data()[leaf] >= 0 && before.data()[leaf] <= all.data()[leaf], "before must lie in 0 .. all");
      shares[leaf] = {static_cast<std::uint64_t>(before.data()[leaf]), static_cast<std::uint64_t>(all.data()[leaf])};
    }
    std::vector<std::uint64_t> sums;
    {
      WithoutGil release;
      const GroupedRows grouped(row_leaves(loss_.n(), leaf_of_row, rows, n_leaves), n_threads);
      sums = loss_.leaf_sums(arrays, grouped.leaves, shares, {largest_weight, n_rows}, n_threads);
    }
    return nb::cast(to_numpy(std::move(sums), {n_leaves, loss_.sums_size()}));
  }

  // The steps (L, d) from the sums of all shards.
  nb::object leaf_values(In<std::uint64_t, Matrix> sums, double largest_weight, std::uint64_t n_rows, double l2,
                         double max_step, double thin, int n_threads) const {
    const std::size_t n_leaves = sums.shape(0);
    require(sums.shape(1) == loss_.sums_size(), "sums must be (L, size)");
    require(n_leaves < kMostItems, "sums must have fewer than 2^31 rows");
    check_options(l2, max_step, thin, n_threads);
    check_scales(largest_weight, n_rows);
    std::vector<float> values(n_leaves * loss_.d());
    {
      WithoutGil release;
      loss_.leaf_values(sums.data(), n_leaves, {largest_weight, n_rows}, {l2, max_step, thin}, values.data(),
                        n_threads);
    }
    return nb::cast(to_numpy(std::move(values), {n_leaves, loss_.d()}));
  }

  LogisticLoss& loss() { return loss_; }

  // The arrays of the rows, if they fit.
  template <class Predictor>
  RowArrays row_arrays(const Predictor& F, const std::optional<Out<float, Matrix>>& G, const Out<float, Vector>& loss,
                       const std::optional<Out<double, Vector>>& scale) const {
    const std::size_t n = loss_.n(), d = loss_.d();
    require(F.shape(0) == n && F.shape(1) == d && loss.shape(0) == n, "F and loss must be (n, d) and (n,)");
    require(loss_.canonical() || (G && G->shape(0) == n && G->shape(1) == d), "G must be (n, d)");
    require(!scale || scale->shape(0) == n, "scale must be (n,)");
    return {F.data(), G ? G->data() : nullptr, loss.data(), scale ? scale->data() : nullptr};
  }

 private:
  static RowProblem checked(const std::optional<In<float, Matrix>>& Y, const In<std::int64_t, Vector>& c, std::size_t K,
                            const std::optional<In<float, Vector>>& weight,
                            const std::optional<In<float, Matrix>>& log_cost, int a, int b, std::uint64_t n_all) {
    require(K >= 2 && K < kMostItems, "K must lie in 2 .. 2^31 - 1");
    check_labels(c, c.shape(0), K);
    require(!Y || (Y->shape(0) == K && Y->shape(1) >= 1), "Y must have a row per class, and columns");
    require(!weight || weight->shape(0) == c.shape(0), "weight must have an entry per row");
    require(!log_cost || (log_cost->shape(0) == K && log_cost->shape(1) == K), "log_cost must be (K, K)");
    require(a >= 0 && a <= 64 && b >= 0 && b <= 64, "exponents must lie in 0 .. 64");
    require(n_all >= c.shape(0), "n_all must not be less than the rows here");
    return {Y ? Y->data() : nullptr,
            c.data(),
            weight ? weight->data() : nullptr,
            log_cost ? log_cost->data() : nullptr,
            c.shape(0),
            K,
            Y ? Y->shape(1) : K,
            n_all,
            a,
            b};
  }

  static void check_scales(double largest_weight, std::uint64_t n_rows) {
    require(!(largest_weight < 0.0) && n_rows >= 1, "largest_weight must not be negative, and n_rows be 1 or more");
  }

  In<std::int64_t, Vector> c_;  // kept alive
  std::optional<In<float, Vector>> weight_;
  LogisticLoss loss_;
};

}  // namespace simplexboost
