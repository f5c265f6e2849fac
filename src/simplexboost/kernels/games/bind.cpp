// Bindings: potentials of the boosting game.
#include "core/bind.hpp"

#include "games/potential.hpp"
#include "module.hpp"

namespace simplexboost {
namespace {

constexpr int kMostSteps = 1 << 20;                        // there are tables of so many numbers
constexpr std::int32_t kFarthest = std::int32_t{1} << 30;  // a lead and the steps can be added

nb::ndarray<nb::numpy, double> potentials(int t, In<double, Vector> b, In<std::int32_t, Matrix> leads, int n_threads) {
  check_threads(n_threads);
  require(t >= 0 && t <= kMostSteps, "t must lie in 0 .. 2^20");
  const std::size_t m = leads.shape(0), K = b.shape(0);
  require(K >= 2 && leads.shape(1) == K - 1, "leads must have a column per rival class");
  require(std::all_of(b.data(), b.data() + K, is_amount), "b must be finite and not negative");
  const auto is_near = [](std::int32_t lead) { return lead > -kFarthest && lead < kFarthest; };
  require(std::all_of(leads.data(), leads.data() + m * (K - 1), is_near), "leads must lie within 2^30");
  std::vector<double> values(m);
  {
    WithoutGil release;
    zero_one_potential(t, b.data(), K, leads.data(), m, values.data(), n_threads);
  }
  return to_numpy(std::move(values), {m});
}

}  // namespace

void bind_games(nb::module_& m) {
  m.def("zero_one_potential", &potentials, "t"_a, "b"_a, "leads"_a, "n_threads"_a,
        "The probability that a walk of t steps ends with the true class not strictly ahead; see "
        "kernels/games/potential.hpp.");
}

}  // namespace simplexboost
