// Bindings: sums of numbers that do not depend on their order.
#include "core/bind.hpp"

#include <algorithm>
#include <cmath>

#include "core/exact.hpp"
#include "core/pool.hpp"
#include "module.hpp"

namespace simplexboost {
namespace {

double largest_magnitude(In<double, Vector> values) {
  WithoutGil release;
  return hot().largest_magnitude(values.data(), values.shape(0));
}

// The two integer sums of some of n_all numbers, whose largest absolute value is `largest`.
nb::tuple sum_limbs(In<double, Vector> values, double largest, std::uint64_t n_all) {
  require(n_all >= values.shape(0), "n_all must not be less than the numbers here");
  require(is_amount(largest) && hot().largest_magnitude(values.data(), values.shape(0)) <= largest,
          "largest must be finite, and no |value| above it");
  std::uint64_t sums[2] = {0, 0};
  {
    WithoutGil release;
    const int width = exact_width(n_all);
    add_exact(values.data(), values.shape(0), exact_exponent(largest, width), width, sums);
  }
  return nb::make_tuple(static_cast<std::int64_t>(sums[0]), static_cast<std::int64_t>(sums[1]));
}

double limb_total(std::int64_t hi, std::int64_t lo, double largest, std::uint64_t n_all) {
  require(is_amount(largest), "largest must be finite and not negative");
  const int width = exact_width(n_all);
  return ExactUnits(exact_exponent(largest, width), width)
      .value(static_cast<std::uint64_t>(hi), static_cast<std::uint64_t>(lo));
}

template <class Value>
double total(In<Value, Vector> values, int n_threads) {
  check_threads(n_threads);
  WithoutGil release;
  return exact_total(values.shape(0), n_threads, [&](std::size_t begin, std::size_t size, double* buffer) {
    const Value* x = values.data() + begin;
    if constexpr (sizeof(Value) == sizeof(double)) return x;
    std::copy_n(x, size, buffer);
    return static_cast<const double*>(buffer);
  });
}

// The sum of |value| over a column of a matrix.
double total_magnitude(nb::ndarray<const double, Vector, nb::device::cpu> values, int n_threads) {
  check_threads(n_threads);
  WithoutGil release;
  return exact_total(values.shape(0), n_threads, [&](std::size_t begin, std::size_t size, double* buffer) {
    const double* x = values.data() + static_cast<std::int64_t>(begin) * values.stride(0);
    for (std::size_t i = 0; i < size; ++i) buffer[i] = std::abs(x[static_cast<std::int64_t>(i) * values.stride(0)]);
    return static_cast<const double*>(buffer);
  });
}

}  // namespace

void bind_exact(nb::module_& m) {
  m.def("total", &total<float>, "values"_a.noconvert(), "n_threads"_a);
  m.def("total", &total<double>, "values"_a, "n_threads"_a, "The exact sum; NaN if a value is not finite.");
  m.def("total_magnitude", &total_magnitude, "values"_a, "n_threads"_a, "The exact sum of |value|.");
  m.def("largest_magnitude", &largest_magnitude, "values"_a, "The largest |value|; NaN where one is not finite.");
  m.def("sum_limbs", &sum_limbs, "values"_a, "largest"_a, "n_all"_a, "The sum in two integers; see core/exact.hpp.");
  m.def("limb_total", &limb_total, "hi"_a, "lo"_a, "largest"_a, "n_all"_a, "The sum that two integers stand for.");
}

}  // namespace simplexboost
