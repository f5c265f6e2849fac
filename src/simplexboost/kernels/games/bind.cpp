// Bindings: potentials of the boosting game.
#include "core/bind.hpp"

#include "core/pool.hpp"
#include "games/potential.hpp"
#include "module.hpp"

namespace simplexboost {
namespace {

// Potentials of states given as the leads (m, K - 1) of the rivals over the true class, rows sorted.
nb::ndarray<nb::numpy, double> zero_one_potential(int t, In<double, Vector> b, In<std::int32_t, Matrix> leads,
                                                  int n_threads) {
  require(t >= 0, "t must not be negative");
  const std::size_t m = leads.shape(0), K = b.shape(0);
  require(K >= 2 && leads.shape(1) == K - 1, "leads must have a column per rival class");
  std::vector<double> values(m);
  {
    nb::gil_scoped_release release;
    const ZeroOnePotential potential(t, b.data(), K);
    if (m <= 8) {  // too few to share anything
      ZeroOnePotential::Workspace work;
      for (std::size_t i = 0; i < m; ++i) values[i] = potential(leads.data() + i * (K - 1), work);
    } else {
      parallel_ranges(m, 1024, n_threads, [&](std::size_t begin, std::size_t end) {
        potential.many(leads.data() + begin * (K - 1), end - begin, values.data() + begin);
      });
    }
  }
  return to_numpy(std::move(values), {m});
}

}  // namespace

void bind_games(nb::module_& m) {
  m.def("zero_one_potential", &zero_one_potential, "t"_a, "b"_a, "leads"_a, "n_threads"_a,
        "The probability that a walk of t steps ends with the true class not strictly ahead; see "
        "kernels/games/potential.hpp.");
}

}  // namespace simplexboost
