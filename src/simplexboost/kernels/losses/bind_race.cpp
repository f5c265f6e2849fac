// Bindings: the race of a row's rivals against its true class (see losses/race.inl), and votes.
#include "core/bind.hpp"

#include "core/hot.hpp"
#include "core/pool.hpp"
#include "module.hpp"

namespace simplexboost {
namespace {

// The race of the rivals in every row, written to E (n, K), Z (n,) and lead (n,); see losses/race.inl.
void race(In<double, Matrix> U, In<std::int64_t, Vector> c, double rate, Out<double, Matrix> E, Out<double, Vector> Z,
          Out<double, Vector> lead) {
  const std::size_t n = U.shape(0), K = U.shape(1);
  check_labels(c, n, K);
  require(E.shape(0) == n && E.shape(1) == K && Z.shape(0) == n && lead.shape(0) == n, "U, E, Z and lead disagree");
  WithoutGil release;
  std::vector<double> scratch(2 * (K + 8));
  hot().race(U.data(), n, K, c.data(), rate, scratch.data(), E.data(), Z.data(), lead.data());
}

// Turns the E (n, K) of a race into the residual, in place: -w E / Z, and w at the true class.
void pull_rows(Out<double, Matrix> E, In<std::int64_t, Vector> c, In<double, Vector> w, In<double, Vector> Z) {
  const std::size_t n = E.shape(0), K = E.shape(1);
  require(w.shape(0) == n && Z.shape(0) == n, "E, w and Z disagree");
  check_labels(c, n, K);
  WithoutGil release;
  hot().pull_rows(E.data(), n, K, c.data(), w.data(), Z.data());
}

// Updates P (n, K) and own (n,) for votes for `classes`, in place; see losses/race.inl.
void vote_rows(Out<double, Matrix> P, In<std::int64_t, Vector> c, In<std::int64_t, Vector> classes, double up,
               double down, Out<double, Vector> own) {
  const std::size_t n = P.shape(0), K = P.shape(1);
  require(own.shape(0) == n, "P and own disagree");
  check_labels(c, n, K);
  check_labels(classes, n, K);
  WithoutGil release;
  hot().vote_rows(P.data(), n, K, c.data(), classes.data(), up, down, own.data());
}

// The race at U + alpha W; only (Z, lead, mean, variance) are returned.
nb::tuple race_along(In<double, Matrix> U, In<std::int64_t, Vector> c, In<double, Matrix> W, double alpha,
                     double rate) {
  const std::size_t n = U.shape(0), K = U.shape(1);
  check_labels(c, n, K);
  require(W.shape(0) == n && W.shape(1) == K, "W must have the shape of U");
  std::vector<double> Z(n), lead(n), mean(n), variance(n), scratch(2 * (K + 8));
  {
    WithoutGil release;
    hot().race_along(U.data(), W.data(), alpha, n, K, c.data(), rate, scratch.data(), scratch.data() + K + 8, Z.data(),
                     lead.data(), mean.data(), variance.data());
  }
  return nb::make_tuple(to_numpy(std::move(Z), {n}), to_numpy(std::move(lead), {n}), to_numpy(std::move(mean), {n}),
                        to_numpy(std::move(variance), {n}));
}

// out (n, K) = factor * A (n, m) M (m, K); see losses/product.inl.
template <class T>
void times(In<T, Matrix> A, In<T, Matrix> M, double factor, Out<T, Matrix> out, int n_threads) {
  check_threads(n_threads);
  const std::size_t n = A.shape(0), m = A.shape(1), K = M.shape(1);
  require(M.shape(0) == m && out.shape(0) == n && out.shape(1) == K, "A, M and out disagree");
  if (out.size() == 0) return;
  WithoutGil release;
  const std::size_t pitch = (K + kProductColumns - 1) / kProductColumns * kProductColumns;
  std::vector<T> padded(m * pitch, T{0});
  for (std::size_t j = 0; j < m; ++j) std::copy_n(M.data() + j * K, K, padded.data() + j * pitch);
  parallel_ranges(n, 1024, worth_threads(n * m * K, std::size_t{1} << 18, n_threads),
                  [&](std::size_t begin, std::size_t end) {
                    const T *from = A.data() + begin * m, scale = static_cast<T>(factor);
                    T* to = out.data() + begin * K;
                    if constexpr (sizeof(T) == 8)
                      hot().times_double(from, end - begin, padded.data(), m, pitch, K, scale, to);
                    else hot().times_float(from, end - begin, padded.data(), m, pitch, K, scale, to);
                  });
}

}  // namespace

void bind_race(nb::module_& m) {
  m.def("race", &race, "U"_a, "c"_a, "rate"_a, "E"_a.noconvert(), "Z"_a.noconvert(), "lead"_a.noconvert(),
        "exp(rate (U_k - highest rival)), its row sums, and the true class's lead.");
  m.def("pull_rows", &pull_rows, "E"_a.noconvert(), "c"_a, "w"_a, "Z"_a,
        "E becomes -w E / Z, and w at the true class.");
  m.def("vote_rows", &vote_rows, "P"_a.noconvert(), "c"_a, "classes"_a, "up"_a, "down"_a, "own"_a.noconvert(),
        "The residual of an exponential loss after votes, in place.");
  m.def("times", &times<double>, "A"_a, "M"_a, "factor"_a, "out"_a.noconvert(), "n_threads"_a, "factor * A M.");
  m.def("times", &times<float>, "A"_a, "M"_a, "factor"_a, "out"_a.noconvert(), "n_threads"_a, "factor * A M.");
  m.def("race_along", &race_along, "U"_a, "c"_a, "W"_a, "alpha"_a, "rate"_a,
        "The race at U + alpha W: row sums, leads, mean and variance of W among the rivals.");
}

}  // namespace simplexboost
