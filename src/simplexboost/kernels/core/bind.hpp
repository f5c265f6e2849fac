// What all bindings use: array types, the check of an argument, conversion of vectors to NumPy arrays.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/gil.hpp"

namespace simplexboost {

namespace nb = nanobind;
using namespace nb::literals;

template <class T, class... Shape>
using In = nb::ndarray<const T, nb::c_contig, nb::device::cpu, Shape...>;
template <class T, class... Shape>
using Out = nb::ndarray<T, nb::c_contig, nb::device::cpu, Shape...>;
using Vector = nb::ndim<1>;
using Matrix = nb::ndim<2>;
using Codes = nb::ndim<3>;

inline void require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(message);
}

// Whether x (n,) are numbers in 0 .. limit - 1. There is no branch in the loop, so that it runs at the speed of memory.
inline bool all_below(const std::int32_t* x, std::size_t n, std::size_t limit) {
  std::uint32_t largest = 0;  // a negative number is a very large one without its sign
  for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, static_cast<std::uint32_t>(x[i]));
  return n == 0 || largest < limit;
}

// Whether all numbers of x (n,) are finite; no branch in the loop here either.
inline bool all_finite(const double* x, std::size_t n) {
  std::uint64_t largest = 0;  // a number that is not finite has the highest exponent
  for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, std::bit_cast<std::uint64_t>(x[i]) << 1);
  return largest < std::uint64_t{0x7ff} << 53;
}

inline void check_threads(int n_threads) { require(n_threads >= 1, "n_threads must be 1 or more"); }

// Sizes that arrays of the kernels are multiplied by: below this, no product of two of them overflows.
constexpr std::size_t kMostItems = std::size_t{1} << 31;

// Whether a number is finite and not negative.
inline bool is_amount(double x) { return x >= 0.0 && std::isfinite(x); }

inline void check_labels(const In<std::int64_t, Vector>& c, std::size_t n, std::size_t K) {
  require(c.shape(0) == n, "labels must have an entry per row");
  std::uint64_t largest = 0;  // as in all_below
  for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, static_cast<std::uint64_t>(c.data()[i]));
  require(n == 0 || largest < K, "labels must lie in 0 .. K - 1");
}

// An array that owns the values, of a vector or of a Buffer (core/arena.hpp); they are moved, not copied.
template <class Values>
auto to_numpy(Values&& values, std::initializer_list<std::size_t> shape) {
  using Owned = std::remove_reference_t<Values>;
  using T = std::remove_reference_t<decltype(*values.data())>;
  auto* owned = new Owned(std::move(values));
  nb::capsule owner(owned, [](void* pointer) noexcept { delete static_cast<Owned*>(pointer); });
  return nb::ndarray<nb::numpy, T>(owned->data(), shape, owner);
}

}  // namespace simplexboost
