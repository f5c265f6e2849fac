// A hash of every row, which depends only on its values: rows with equal hashes may be repetitions and are compared.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "svm/problem.hpp"

namespace simplexboost {

inline std::uint64_t mixed(std::uint64_t z) {  // splitmix64's finaliser
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

// (n,) The hash is a sum with one number per value that is not zero, so that dense and sparse rows agree.
inline std::vector<std::uint64_t> hash_rows(const SvmRows& rows) {
  std::vector<std::uint64_t> hashes(rows.n, 0);
  const auto of = [](double value, std::size_t feature) {
    return value == 0.0 ? 0 : mixed(std::bit_cast<std::uint64_t>(value) + mixed(feature + 1) * 0x9E3779B97F4A7C15ull);
  };
  for (std::size_t i = 0; i < rows.n; ++i) {
    if (rows.dense)
      for (std::size_t j = 0; j < rows.p; ++j) hashes[i] += of(rows.dense[i * rows.p + j], j);
    else
      for (std::int64_t j = rows.indptr[i]; j < rows.indptr[i + 1]; ++j)
        hashes[i] += of(rows.data[j], static_cast<std::size_t>(rows.indices[j]));
  }
  return hashes;
}

}  // namespace simplexboost
