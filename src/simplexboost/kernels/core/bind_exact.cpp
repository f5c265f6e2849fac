// Bindings: sums of numbers that do not depend on their order.
#include "core/bind.hpp"

#include "core/exact.hpp"
#include "module.hpp"

namespace simplexboost {
namespace {

double largest_magnitude(In<double, Vector> values) {
  nb::gil_scoped_release release;
  return hot().largest_magnitude(values.data(), values.shape(0));
}

// The two integer sums of some of n_all numbers, whose largest absolute value is `largest`.
nb::tuple sum_limbs(In<double, Vector> values, double largest, std::uint64_t n_all) {
  std::uint64_t sums[2] = {0, 0};
  {
    nb::gil_scoped_release release;
    const int width = exact_width(n_all);
    add_exact(values.data(), values.shape(0), exact_exponent(largest, width), width, sums);
  }
  return nb::make_tuple(static_cast<std::int64_t>(sums[0]), static_cast<std::int64_t>(sums[1]));
}

double limb_total(std::int64_t hi, std::int64_t lo, double largest, std::uint64_t n_all) {
  const int width = exact_width(n_all);
  return ExactUnits(exact_exponent(largest, width), width)
      .value(static_cast<std::uint64_t>(hi), static_cast<std::uint64_t>(lo));
}

}  // namespace

void bind_exact(nb::module_& m) {
  m.def("largest_magnitude", &largest_magnitude, "values"_a, "The largest |value|; NaN where one is not finite.");
  m.def("sum_limbs", &sum_limbs, "values"_a, "largest"_a, "n_all"_a, "The sum in two integers; see core/exact.hpp.");
  m.def("limb_total", &limb_total, "hi"_a, "lo"_a, "largest"_a, "n_all"_a, "The sum that two integers stand for.");
}

}  // namespace simplexboost
