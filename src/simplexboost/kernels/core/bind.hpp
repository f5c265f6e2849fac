// What all bindings use: array types, the check of an argument, conversion of vectors to NumPy arrays.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

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

inline void check_labels(const In<std::int64_t, Vector>& c, std::size_t n, std::size_t K) {
  require(c.shape(0) == n, "labels must have an entry per row");
  for (std::size_t i = 0; i < n; ++i)
    require(c.data()[i] >= 0 && static_cast<std::size_t>(c.data()[i]) < K, "labels must lie in 0 .. K - 1");
}

// An array that owns the values; they are moved, not copied.
template <class T>
nb::ndarray<nb::numpy, T> to_numpy(std::vector<T>&& values, std::initializer_list<std::size_t> shape) {
  auto* owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void* pointer) noexcept { delete static_cast<std::vector<T>*>(pointer); });
  return nb::ndarray<nb::numpy, T>(owned->data(), shape, owner);
}

}  // namespace simplexboost
