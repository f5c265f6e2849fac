// Values whose sums are known: the difference is shared out, in proportion to their size.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/arena.hpp"

namespace simplexboost {

// phi (n, p, D), whose sums over p become total (n, D); columns of zeros stay what they are.
inline void share_rounding(double* phi, std::size_t n, std::size_t p, std::size_t D, const double* total) {
  Buffer<double> missing(D), size(D);
  for (std::size_t i = 0; i < n; ++i, phi += p * D, total += D) {
    std::copy(total, total + D, missing.data());
    std::fill(size.data(), size.data() + D, 0.0);
    for (std::size_t f = 0; f < p; ++f)
      for (std::size_t k = 0; k < D; ++k) {
        missing.data()[k] -= phi[f * D + k];
        size.data()[k] += std::abs(phi[f * D + k]);
      }
    for (std::size_t k = 0; k < D; ++k)
      missing.data()[k] = size.data()[k] > 0.0 ? missing.data()[k] / size.data()[k] : 0.0;
    for (std::size_t f = 0; f < p; ++f)
      for (std::size_t k = 0; k < D; ++k) phi[f * D + k] += std::abs(phi[f * D + k]) * missing.data()[k];
  }
}

}  // namespace simplexboost
