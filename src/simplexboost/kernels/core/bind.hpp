// What all bindings use: array types, the check of an argument, conversion of vectors to NumPy arrays.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
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

inline void check_labels(const In<std::int64_t, Vector>& c, std::size_t n, std::size_t K) {
  require(c.shape(0) == n, "labels must have an entry per row");
  for (std::size_t i = 0; i < n; ++i)
    require(c.data()[i] >= 0 && static_cast<std::size_t>(c.data()[i]) < K, "labels must lie in 0 .. K - 1");
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
