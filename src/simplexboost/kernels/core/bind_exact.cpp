// Bindings: sums of numbers that do not depend on their order.
#include "core/bind.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/exact.hpp"
#include "core/pool.hpp"
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

// Numbers as doubles: themselves, or a copy in `buffer`.
const double* as_doubles(const double* x, std::size_t, double*) { return x; }
const double* as_doubles(const float* x, std::size_t n, double* buffer) {
  std::copy_n(x, n, buffer);
  return buffer;
}

// The sum of all numbers, NaN if one of them is not finite.
template <class Value>
double total(In<Value, Vector> values, int n_threads) {
  constexpr std::size_t grain = 1 << 14, step = 512;  // per task; per copy
  const std::size_t n = values.shape(0);
  const Value* x = values.data();
  nb::gil_scoped_release release;
  const auto for_parts = [&](const auto& each) {
    parallel_ranges(n, grain, n_threads, [&](std::size_t begin, std::size_t end) {
      double buffer[step];
      for (std::size_t at = begin; at < end; at += step) {
        const std::size_t size = std::min(step, end - at);
        each(begin / grain, as_doubles(x + at, size, buffer), size);
      }
    });
  };
  std::vector<double> most(n / grain + 1, 0.0);
  for_parts([&](std::size_t part, const double* v, std::size_t size) {
    const double largest = hot().largest_magnitude(v, size);
    if (std::isfinite(most[part]) && !(largest <= most[part])) most[part] = largest;
  });
  double largest = 0.0;
  for (double m : most) {
    if (!std::isfinite(m)) return std::numeric_limits<double>::quiet_NaN();
    largest = std::max(largest, m);
  }
  const int width = exact_width(n), exponent = exact_exponent(largest, width);
  std::vector<std::uint64_t> sums(2 * most.size(), 0);
  for_parts([&](std::size_t part, const double* v, std::size_t size) {
    add_exact(v, size, exponent, width, sums.data() + 2 * part);
  });
  for (std::size_t part = 1; part < most.size(); ++part) sums[0] += sums[2 * part], sums[1] += sums[2 * part + 1];
  return ExactUnits(exponent, width).value(sums[0], sums[1]);
}

}  // namespace

void bind_exact(nb::module_& m) {
  m.def("total", &total<float>, "values"_a.noconvert(), "n_threads"_a);
  m.def("total", &total<double>, "values"_a, "n_threads"_a, "The exact sum; NaN if a value is not finite.");
  m.def("largest_magnitude", &largest_magnitude, "values"_a, "The largest |value|; NaN where one is not finite.");
  m.def("sum_limbs", &sum_limbs, "values"_a, "largest"_a, "n_all"_a, "The sum in two integers; see core/exact.hpp.");
  m.def("limb_total", &limb_total, "hi"_a, "lo"_a, "largest"_a, "n_all"_a, "The sum that two integers stand for.");
}

}  // namespace simplexboost
