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

// The sum of n numbers, NaN if one of them is not finite; read(begin, size, buffer) returns some of them as doubles,
// which it may write to the buffer.
template <class Read>
double exact_total(std::size_t n, int n_threads, const Read& read) {
  constexpr std::size_t grain = 1 << 14, step = 512;  // numbers per task; per call of `read`
  const auto for_parts = [&](const auto& each) {
    parallel_ranges(n, grain, n_threads, [&](std::size_t begin, std::size_t end) {
      double buffer[step];
      for (std::size_t at = begin; at < end; at += step) {
        const std::size_t size = std::min(step, end - at);
        each(begin / grain, read(at, size, buffer), size);
      }
    });
  };
  std::vector<double> most(n / grain + 1, 0.0);
  for_parts([&](std::size_t part, const double* x, std::size_t size) {
    const double largest = hot().largest_magnitude(x, size);
    if (std::isfinite(most[part]) && !(largest <= most[part])) most[part] = largest;
  });
  double largest = 0.0;
  for (double m : most) {
    if (!std::isfinite(m)) return std::numeric_limits<double>::quiet_NaN();
    largest = std::max(largest, m);
  }
  const int width = exact_width(n), exponent = exact_exponent(largest, width);
  std::vector<std::uint64_t> sums(2 * most.size(), 0);
  for_parts([&](std::size_t part, const double* x, std::size_t size) {
    add_exact(x, size, exponent, width, sums.data() + 2 * part);
  });
  for (std::size_t part = 1; part < most.size(); ++part) sums[0] += sums[2 * part], sums[1] += sums[2 * part + 1];
  return ExactUnits(exponent, width).value(sums[0], sums[1]);
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
