// Bindings: the logistic loss.
#include "core/bind.hpp"

#include "losses/codewords.hpp"
#include "losses/logistic.hpp"
#include "losses/newton.hpp"
#include "module.hpp"

namespace simplexboost {
namespace {

// The logistic loss of one training set, ready for a pass per round. Keeps what the codewords and costs give once.
class LogisticLoss {
 public:
  LogisticLoss(std::optional<In<float, Matrix>> Y, In<std::int64_t, Vector> c, std::size_t K,
               std::optional<In<float, Vector>> weight, std::optional<In<float, Matrix>> log_cost, int tilt)
      : c_(c), weight_(weight), K_(K), Kp_(padded(K)), tilt_(static_cast<Tilt>(tilt)) {
    check_labels(c, c.shape(0), K);
    require(K >= 2 && (!Y || Y->shape(0) == K), "Y must have a row per class");
    require(!weight || weight->shape(0) == c.shape(0), "weight must have an entry per row");
    require(!log_cost || (log_cost->shape(0) == K && log_cost->shape(1) == K), "log_cost must be (K, K)");
    require(tilt >= 0 && tilt <= 2, "unknown tilt");
    if (Y) {
      d_ = Y->shape(1);
      Y_.assign(Y->data(), Y->data() + K * d_);
      YT_ = transposed(Y->data(), K, d_, Kp_);
    }
    if (log_cost) {
      log_cost_.assign(K * Kp_, 0.0f);
      for (std::size_t k = 0; k < K; ++k) std::copy_n(log_cost->data() + k * K, K, log_cost_.data() + k * Kp_);
    }
  }

  // Fills in G (n, d), stats (n, s + 1), loss (n,) and scale (n,) at F (n, d), with sketched codewords Z (K, s).
  // Canonical codewords need no G.
  void pull(In<float, Matrix> F, In<float, Matrix> Z, float tilt_scale, std::optional<Out<float, Matrix>> G,
            Out<double, Matrix> stats, Out<float, Vector> loss, std::optional<Out<double, Vector>> scale,
            int n_threads) {
    const std::size_t n = c_.shape(0), d = canonical() ? K_ : d_, s = Z.shape(1),
                      Ep = canonical() ? 0 : padded(d + s + 1);
    require(F.shape(0) == n && F.shape(1) == d && Z.shape(0) == K_, "F must be (n, d) and Z (K, s)");
    require(canonical() || (G && G->shape(0) == n && G->shape(1) == d), "G must be (n, d)");
    require(stats.shape(0) == n && stats.shape(1) == s + 1 && loss.shape(0) == n,
            "stats and loss must be (n, s + 1) and (n,)");
    require(!scale || scale->shape(0) == n, "scale must be (n,)");
    std::vector<float> E(canonical() ? (s + 1) * Kp_ : K_ * Ep, 0.0f);
    for (std::size_t k = 0; k < K_; ++k) {
      if (!canonical()) std::copy_n(Y_.data() + k * d, d, E.data() + k * Ep);
      const auto sketched = [&](std::size_t j) -> float& { return canonical() ? E[j * Kp_ + k] : E[k * Ep + d + j]; };
      for (std::size_t j = 0; j < s; ++j) {
        const float z = Z.data()[k * s + j];
        sketched(j) = z;
        sketched(s) += z * z;
      }
    }
    LogisticArgs args = arguments(F.data(), d, scale ? scale->data() : nullptr);
    if (canonical() && P_.empty() && n * Kp_ <= kMostKept) P_.resize(n * Kp_);
    args.P = P_.empty() ? nullptr : P_.data();
    args.E = E.data(), args.s = s, args.Ep = Ep, args.tilt_scale = tilt_scale;
    args.G = G ? G->data() : nullptr, args.stats = stats.data(), args.loss = loss.data();
    nb::gil_scoped_release release;
    logistic_pull(args, n_threads);
  }

  // Newton steps (L, d) in the leaves at the F, G, loss and scale of the last pull: by the diagonal for canonical
  // codewords, else by the whole Hessian of the leaf.
  nb::object newton_leaves(In<float, Matrix> F, std::optional<Out<float, Matrix>> G, Out<float, Vector> loss,
                           std::optional<Out<double, Vector>> scale, In<std::int32_t, Vector> leaf_of_row,
                           std::optional<In<std::uint32_t, Vector>> rows, std::size_t n_leaves, double l2,
                           double max_step, double thin, int n_threads) {
    const std::size_t n = c_.shape(0), d = canonical() ? K_ : d_;
    require(F.shape(0) == n && F.shape(1) == d && loss.shape(0) == n, "F and loss must be (n, d) and (n,)");
    require(canonical() || (G && G->shape(0) == n && G->shape(1) == d), "G must be (n, d)");
    require(leaf_of_row.shape(0) == n && (!scale || scale->shape(0) == n), "leaf_of_row and scale must be (n,)");
    require(max_step > 0.0, "max_step must be positive");
    for (std::size_t i = 0; i < n; ++i)
      require(leaf_of_row.data()[i] >= 0 && static_cast<std::size_t>(leaf_of_row.data()[i]) < n_leaves,
              "leaves must lie in 0 .. n_leaves - 1");
    if (rows)
      for (std::size_t r = 0; r < rows->shape(0); ++r) require(rows->data()[r] < n, "rows must be row numbers");
    std::vector<float> values(n_leaves * d);
    LogisticArgs args = arguments(F.data(), d, scale ? scale->data() : nullptr);
    args.G = G ? G->data() : nullptr, args.loss = loss.data(), args.P = P_.empty() ? nullptr : P_.data();
    {
      nb::gil_scoped_release release;
      const LeafRows leaves(leaf_of_row.data(), n, n_leaves, rows ? rows->data() : nullptr, rows ? rows->shape(0) : 0);
      if (canonical()) newton_diagonal(leaves, args, {l2, max_step, thin}, values.data(), n_threads);
      else newton_exact(leaves, args, Y_.data(), l2, max_step, values.data(), n_threads);
    }
    return nb::cast(to_numpy(std::move(values), {n_leaves, d}));
  }

 private:
  bool canonical() const { return Y_.empty(); }

  LogisticArgs arguments(const float* F, std::size_t d, double* scale) const {
    LogisticArgs args{};
    args.F = F, args.YT = canonical() ? nullptr : YT_.data(), args.c = c_.data();
    args.weight = weight_ ? weight_->data() : nullptr;
    args.log_cost = log_cost_.empty() ? nullptr : log_cost_.data();
    args.tilt = tilt_, args.n = c_.shape(0), args.K = K_, args.Kp = Kp_, args.d = d, args.scale = scale;
    return args;
  }

  In<std::int64_t, Vector> c_;
  std::optional<In<float, Vector>> weight_;
  std::size_t K_, Kp_, d_ = 0;
  Tilt tilt_;
  std::vector<float> Y_, YT_, log_cost_, P_;

  // Probabilities are kept from the pull to the leaves while they stay in the third-level cache; beyond, the scores are
  // read and raised again, which moves half the bytes.
  static constexpr std::size_t kMostKept = 1 << 21;
};

// P (n, K) = softmax(F Yᵀ); Y is none for canonical codewords. P comes from outside: zeros written here, by one thread,
// took two thirds of the time for 438 classes.
void softmax_scores(In<float, Matrix> F, std::optional<In<float, Matrix>> Y, Out<double, Matrix> P, int n_threads) {
  const std::size_t n = F.shape(0), d = F.shape(1), K = Y ? Y->shape(0) : d, Kp = padded(K);
  require(!Y || Y->shape(1) == d, "F and Y disagree");
  require(P.shape(0) == n && P.shape(1) == K, "P must be (n, K)");
  const std::vector<float> YT = Y ? transposed(Y->data(), K, d, Kp) : std::vector<float>();
  LogisticArgs args{};
  args.F = F.data(), args.YT = Y ? YT.data() : nullptr, args.n = n, args.K = K, args.Kp = Kp, args.d = d;
  nb::gil_scoped_release release;
  probabilities(args, P.data(), n_threads);
}

}  // namespace

void bind_logistic(nb::module_& m) {
  nb::class_<LogisticLoss>(m, "LogisticLoss",
                           "The logistic loss of one training set, a pass per round; see kernels/losses/logistic.hpp.")
      .def(nb::init<std::optional<In<float, Matrix>>, In<std::int64_t, Vector>, std::size_t,
                    std::optional<In<float, Vector>>, std::optional<In<float, Matrix>>, int>(),
           "Y"_a.none(), "c"_a, "K"_a, "weight"_a.none(), "log_cost"_a.none(), "tilt"_a)
      .def("pull", &LogisticLoss::pull, "F"_a, "Z"_a, "tilt_scale"_a, "G"_a.none(), "stats"_a, "loss"_a,
           "scale"_a.none(), "n_threads"_a)
      .def("newton_leaves", &LogisticLoss::newton_leaves, "F"_a, "G"_a.none(), "loss"_a, "scale"_a.none(),
           "leaf_of_row"_a, "rows"_a.none(), "n_leaves"_a, "l2"_a, "max_step"_a, "thin"_a, "n_threads"_a);
  m.def("softmax_scores", &softmax_scores, "F"_a, "Y"_a.none(), "P"_a.noconvert(), "n_threads"_a,
        "P (n, K) = softmax(F Y^T).");
}

}  // namespace simplexboost
