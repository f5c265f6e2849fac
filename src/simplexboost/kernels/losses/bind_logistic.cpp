// Bindings: the logistic loss.
#include "losses/bind_logistic.hpp"

#include "losses/codewords.hpp"
#include "losses/logistic.hpp"
#include "module.hpp"

namespace simplexboost {
namespace {

// P (n, K) = softmax(F Yᵀ); Y is none for canonical codewords. The caller allocates P: to allocate it here and fill it
// with zeros, on one thread, took two thirds of the time for 438 classes.
void softmax_scores(In<float, Matrix> F, std::optional<In<float, Matrix>> Y, Out<double, Matrix> P, int n_threads) {
  const std::size_t n = F.shape(0), d = F.shape(1), K = Y ? Y->shape(0) : d, Kp = padded(K);
  check_threads(n_threads);
  require(K >= 1 && d >= 1 && (!Y || Y->shape(1) == d), "F and Y disagree");
  require(P.shape(0) == n && P.shape(1) == K, "P must be (n, K)");
  const std::vector<float> YT = Y ? transposed(Y->data(), K, d, Kp) : std::vector<float>();
  LogisticArgs args{};
  args.F = F.data(), args.YT = Y ? YT.data() : nullptr, args.n = n, args.K = K, args.Kp = Kp, args.d = d;
  WithoutGil release;
  probabilities(args, P.data(), n_threads);
}

}  // namespace

void bind_logistic(nb::module_& m) {
  nb::class_<BoundLoss>(m, "LogisticLoss",
                        "The logistic loss of one shard's rows, a pass per round; see kernels/losses/row_loss.hpp.")
      .def(nb::init<std::optional<In<float, Matrix>>, In<std::int64_t, Vector>, std::size_t,
                    std::optional<In<float, Vector>>, std::optional<In<float, Matrix>>, int, int, std::uint64_t>(),
           "Y"_a.none(), "c"_a, "K"_a, "weight"_a.none(), "log_cost"_a.none(), "a"_a, "b"_a, "n_all"_a)
      .def("pull", &BoundLoss::pull, "F"_a, "Z"_a, "tilt_scale"_a, "G"_a.none().noconvert(), "stats"_a.noconvert(),
           "loss"_a.noconvert(), "scale"_a.none().noconvert(), "n_threads"_a)
      .def("largest_weight", &BoundLoss::largest_weight, "scale"_a.none())
      .def("newton_leaves", &BoundLoss::newton_leaves, "F"_a, "G"_a.none(), "loss"_a, "scale"_a.none(), "leaf_of_row"_a,
           "rows"_a.none(), "n_leaves"_a, "l2"_a, "max_step"_a, "thin"_a, "n_threads"_a)
      .def("leaf_sums", &BoundLoss::leaf_sums, "F"_a, "G"_a.none(), "loss"_a, "scale"_a.none(), "leaf_of_row"_a,
           "rows"_a.none(), "before"_a, "all"_a, "largest_weight"_a, "n_rows"_a, "n_threads"_a)
      .def("leaf_values", &BoundLoss::leaf_values, "sums"_a, "largest_weight"_a, "n_rows"_a, "l2"_a, "max_step"_a,
           "thin"_a, "n_threads"_a);
  m.def("softmax_scores", &softmax_scores, "F"_a, "Y"_a.none(), "P"_a.noconvert(), "n_threads"_a,
        "P (n, K) = softmax(F Y^T).");
}

}  // namespace simplexboost
