// Bindings: the log-loss of several labels, or of several class targets.
#include "core/bind.hpp"

#include "losses/bind_leaves.hpp"
#include "losses/blocks.hpp"
#include "losses/codewords.hpp"
#include "losses/newton.hpp"
#include "module.hpp"

namespace simplexboost {
namespace {

// The log-loss of labels or of blocks of classes on some rows, and the arrays that it reads; see losses/blocks.hpp.
class BoundBlocks {
 public:
  // own (S, K) are sets of labels, or one class of each block; c (n,) is the set of every row. Blocks end at `ends`
  // (B,), ascending up to K; without it every column is a label.
  BoundBlocks(In<std::uint8_t, Matrix> own, In<std::int64_t, Vector> c, std::optional<In<std::int32_t, Vector>> ends,
              std::optional<In<float, Vector>> weight)
      : own_(own), c_(c), ends_(ends), weight_(weight) {
    const std::size_t K = own.shape(1);
    require(K >= 1 && K < kMostItems, "K must lie in 1 .. 2^31 - 1");
    check_labels(c, c.shape(0), own.shape(0));
    require(!weight || weight->shape(0) == c.shape(0), "weight must have an entry per row");
    if (ends) {
      const std::size_t B = ends->shape(0);
      require(B >= 1 && static_cast<std::size_t>(ends->data()[B - 1]) == K, "the last block must end at K");
      for (std::size_t b = 0; b < B; ++b)
        require(ends->data()[b] > (b == 0 ? 0 : ends->data()[b - 1]), "blocks must have columns, and ends ascend");
    }
    for (std::size_t i = 0; i < c.shape(0) && weight; ++i)
      largest_ = std::max(largest_, static_cast<double>(std::abs(weight->data()[i])));
  }

  // Fills in N (n, Kp), stats (n, s + 1) and loss (n,) at F (n, K), with directions Z (K, s); Kp is `padded`.
  void pull(In<float, Matrix> F, In<float, Matrix> Z, Out<float, Matrix> N, Out<double, Matrix> stats,
            Out<float, Vector> loss, int n_threads) const {
    BlockArgs args = arguments(F);
    check_threads(n_threads);
    const std::size_t s = Z.shape(1);
    require(Z.shape(0) == args.K, "Z must be (K, s)");
    require(N.shape(0) == args.n && N.shape(1) == args.Kp, "N must be (n, Kp)");
    require(stats.shape(0) == args.n && stats.shape(1) == s + 1, "stats must be (n, s + 1)");
    require(loss.shape(0) == args.n, "loss must be (n,)");
    std::vector<float> E((s + 1) * args.Kp, 0.0f);
    for (std::size_t k = 0; k < args.K; ++k)
      for (std::size_t j = 0; j < s; ++j) {
        const float z = Z.data()[k * s + j];
        E[j * args.Kp + k] = z;
        E[s * args.Kp + k] += z * z;
      }
    args.E = E.data(), args.s = s, args.N = N.data(), args.stats = stats.data(), args.loss = loss.data();
    WithoutGil release;
    blocks_pull(args, n_threads);
  }

  // out (n, B) = the loss of every block of every row at the logits temperature · F.
  void losses(In<float, Matrix> F, float temperature, Out<float, Matrix> out, int n_threads) const {
    BlockArgs args = arguments(F);
    check_threads(n_threads);
    require(out.shape(0) == args.n && out.shape(1) == args.B, "out must be (n, B)");
    require(std::isfinite(temperature), "temperature must be finite");
    args.temperature = temperature;
    WithoutGil release;
    block_losses(args, out.data(), n_threads);
  }

  // Newton steps (L, K) in the leaves at the N of the last pull; weight (n,) in double precision, none for ones.
  nb::object newton_leaves(In<float, Matrix> N, std::optional<Out<double, Vector>> weight,
                           In<std::int32_t, Vector> leaf_of_row, std::optional<In<std::uint32_t, Vector>> rows,
                           std::size_t n_leaves, double l2, double max_step, int n_threads) const {
    const std::size_t n = c_.shape(0), K = own_.shape(1), Kp = padded(K);
    require(N.shape(0) == n && N.shape(1) == Kp, "N must be (n, Kp)");
    require(!weight || weight->shape(0) == n, "weight must be (n,)");
    check_leaves(n, leaf_of_row, rows, n_leaves);
    check_few_leaves(n, n_leaves);
    check_options(l2, max_step, 0.0, n_threads);
    std::vector<float> values(n_leaves * K);
    {
      WithoutGil release;
      LogisticArgs args{};
      args.P = const_cast<float*>(N.data()), args.scale = weight ? weight->data() : nullptr;
      args.n = n, args.K = K, args.d = K, args.Kp = Kp;
      const RowLeaves of = row_leaves(n, leaf_of_row, rows, n_leaves);
      const LeafScales scales{weight_ ? largest_ : 1.0, std::max<std::size_t>(of.used(), 1)};
      const auto sums = sums_of(of, args, scales, n_threads);
      std::vector<float> scratch;
      for (std::size_t leaf = 0; leaf < n_leaves; ++leaf)
        diagonal_step(sums.data() + leaf * 2 * K, K, scales, {l2, max_step, 0.0}, values.data() + leaf * K, scratch);
    }
    return nb::cast(to_numpy(std::move(values), {n_leaves, K}));
  }

 private:
  // (L, 2 K), row by row if the sums of all leaves fit in the cache, otherwise leaf by leaf.
  static std::vector<std::uint64_t> sums_of(const RowLeaves& of, const LogisticArgs& args, const LeafScales& scales,
                                            int n_threads) {
    if (table_size(of.n_leaves, args.Kp) <= kSmallTable) return diagonal_sums(of, args, scales, n_threads);
    return diagonal_sums(GroupedRows(of, n_threads).leaves, args, scales, n_threads);
  }

  BlockArgs arguments(const In<float, Matrix>& F) const {
    BlockArgs args{};
    args.n = c_.shape(0), args.K = own_.shape(1), args.Kp = padded(args.K);
    require(F.shape(0) == args.n && F.shape(1) == args.K, "F must be (n, K)");
    args.F = F.data(), args.own = own_.data(), args.c = c_.data();
    args.ends = ends_ ? ends_->data() : nullptr, args.B = ends_ ? ends_->shape(0) : args.K;
    args.weight = weight_ ? weight_->data() : nullptr;
    return args;
  }

  In<std::uint8_t, Matrix> own_;  // these are kept alive
  In<std::int64_t, Vector> c_;
  std::optional<In<std::int32_t, Vector>> ends_;
  std::optional<In<float, Vector>> weight_;
  double largest_ = 0.0;  // weight
};

}  // namespace

void bind_blocks(nb::module_& m) {
  nb::class_<BoundBlocks>(
      m, "BlockLoss", "The log-loss of labels, or of blocks of classes, on some rows; see kernels/losses/blocks.hpp.")
      .def(nb::init<In<std::uint8_t, Matrix>, In<std::int64_t, Vector>, std::optional<In<std::int32_t, Vector>>,
                    std::optional<In<float, Vector>>>(),
           "own"_a, "c"_a, "ends"_a.none(), "weight"_a.none())
      .def("pull", &BoundBlocks::pull, "F"_a, "Z"_a, "N"_a.noconvert(), "stats"_a.noconvert(), "loss"_a.noconvert(),
           "n_threads"_a)
      .def("losses", &BoundBlocks::losses, "F"_a, "temperature"_a, "out"_a.noconvert(), "n_threads"_a)
      .def("newton_leaves", &BoundBlocks::newton_leaves, "N"_a, "weight"_a.none(), "leaf_of_row"_a, "rows"_a.none(),
           "n_leaves"_a, "l2"_a, "max_step"_a, "n_threads"_a);
}

}  // namespace simplexboost
