// Codewords in the form that the loops of the logistic loss read: transposed, with rows padded to whole vectors.
#pragma once

#include <cstddef>
#include <vector>

#include "losses/logistic.hpp"

namespace simplexboost {

inline std::size_t padded(std::size_t columns) { return (columns + kLanesFloat - 1) / kLanesFloat * kLanesFloat; }

// Y (K, d) as (d, Kp), padded with zeros.
inline std::vector<float> transposed(const float* Y, std::size_t K, std::size_t d, std::size_t Kp) {
  std::vector<float> YT(d * Kp, 0.0f);
  for (std::size_t k = 0; k < K; ++k)
    for (std::size_t j = 0; j < d; ++j) YT[j * Kp + k] = Y[k * d + j];
  return YT;
}

}  // namespace simplexboost
