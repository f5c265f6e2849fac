// Bindings: the race of a row's rivals against its true class, and votes.
#include "core/bind.hpp"

#include "core/hot.hpp"
#include "module.hpp"

namespace simplexboost {
namespace {

void check_labels(const In<double, Matrix>& U, const In<std::int64_t, Vector>& c) {
  require(c.shape(0) == U.shape(0), "c must have a label per row of U");
  for (std::size_t i = 0; i < c.shape(0); ++i)
    require(c.data()[i] >= 0 && static_cast<std::size_t>(c.data()[i]) < U.shape(1), "labels must lie in 0 .. K - 1");
}

// The race of the rivals in every row, written to E (n, K), Z (n,) and lead (n,); see hot.inl.
void race(In<double, Matrix> U, In<std::int64_t, Vector> c, double rate, Out<double, Matrix> E, Out<double, Vector> Z,
          Out<double, Vector> lead) {
  check_labels(U, c);
  const std::size_t n = U.shape(0), K = U.shape(1);
  require(E.shape(0) == n && E.shape(1) == K && Z.shape(0) == n && lead.shape(0) == n, "U, E, Z and lead disagree");
  nb::gil_scoped_release release;
  std::vector<double> scratch(2 * (K + 8));
  hot().race(U.data(), n, K, c.data(), rate, scratch.data(), E.data(), Z.data(), lead.data());
}

// E (n, K) of a race becomes the residual, in place: -w E / Z, and w at the true class.
void pull_rows(Out<double, Matrix> E, In<std::int64_t, Vector> c, In<double, Vector> w, In<double, Vector> Z) {
  const std::size_t n = E.shape(0), K = E.shape(1);
  require(c.shape(0) == n && w.shape(0) == n && Z.shape(0) == n, "E, c, w and Z disagree");
  for (std::size_t i = 0; i < n; ++i)
    require(c.data()[i] >= 0 && static_cast<std::size_t>(c.data()[i]) < K, "labels must be classes");
  nb::gil_scoped_release release;
  hot().pull_rows(E.data(), n, K, c.data(), w.data(), Z.data());
}

// What votes for `classes` gain and lose, from the residual P (n, K): sums over the right answers' own pull, over the
// pull of the rivals that wrong ones name, over all; and the number of wrong answers.
nb::tuple vote_sums(In<double, Matrix> P, In<std::int64_t, Vector> c, In<std::int64_t, Vector> classes) {
  check_labels(P, c);
  check_labels(P, classes);
  double gained = 0.0, lost = 0.0, total = 0.0;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < P.shape(0); ++i) {
    const double* p = P.data() + i * P.shape(1);
    const double own = p[c.data()[i]];
    total += own;
    if (classes.data()[i] == c.data()[i]) {
      gained += own;
    } else {
      lost -= p[classes.data()[i]];
      ++wrong;
    }
  }
  return nb::make_tuple(gained, lost, total, wrong);
}

// P (n, K) and own (n,) after votes for `classes`, in place; see hot.inl.
void vote_rows(Out<double, Matrix> P, In<std::int64_t, Vector> c, In<std::int64_t, Vector> classes, double up,
               double down, Out<double, Vector> own) {
  const std::size_t n = P.shape(0), K = P.shape(1);
  require(c.shape(0) == n && classes.shape(0) == n && own.shape(0) == n, "P, c, classes and own disagree");
  for (std::size_t i = 0; i < n; ++i)
    require(c.data()[i] >= 0 && static_cast<std::size_t>(c.data()[i]) < K && classes.data()[i] >= 0 &&
                static_cast<std::size_t>(classes.data()[i]) < K,
            "labels must be classes");
  nb::gil_scoped_release release;
  hot().vote_rows(P.data(), n, K, c.data(), classes.data(), up, down, own.data());
}

// The race at U + alpha W, nothing kept but (Z, lead, mean, variance).
nb::tuple race_along(In<double, Matrix> U, In<std::int64_t, Vector> c, In<double, Matrix> W, double alpha,
                     double rate) {
  check_labels(U, c);
  const std::size_t n = U.shape(0), K = U.shape(1);
  require(W.shape(0) == n && W.shape(1) == K, "W must have the shape of U");
  std::vector<double> Z(n), lead(n), mean(n), variance(n), scratch(2 * (K + 8));
  {
    nb::gil_scoped_release release;
    hot().race_along(U.data(), W.data(), alpha, n, K, c.data(), rate, scratch.data(), scratch.data() + K + 8, Z.data(),
                     lead.data(), mean.data(), variance.data());
  }
  return nb::make_tuple(to_numpy(std::move(Z), {n}), to_numpy(std::move(lead), {n}), to_numpy(std::move(mean), {n}),
                        to_numpy(std::move(variance), {n}));
}

}  // namespace

void bind_race(nb::module_& m) {
  m.def("race", &race, "U"_a, "c"_a, "rate"_a, "E"_a.noconvert(), "Z"_a.noconvert(), "lead"_a.noconvert(),
        "exp(rate (U_k - highest rival)), its row sums, and the true class's lead.");
  m.def("pull_rows", &pull_rows, "E"_a.noconvert(), "c"_a, "w"_a, "Z"_a,
        "E becomes -w E / Z, and w at the true class.");
  m.def("vote_sums", &vote_sums, "P"_a, "c"_a, "classes"_a, "What votes gain and lose, of what total; wrong answers.");
  m.def("vote_rows", &vote_rows, "P"_a.noconvert(), "c"_a, "classes"_a, "up"_a, "down"_a, "own"_a.noconvert(),
        "The residual of an exponential loss after votes, in place.");
  m.def("race_along", &race_along, "U"_a, "c"_a, "W"_a, "alpha"_a, "rate"_a,
        "The race at U + alpha W: row sums, leads, mean and variance of W among the rivals.");
}

}  // namespace simplexboost
