// The logistic loss for many classes: gradient, sketch and curvature in one pass over rows, in single precision.
#pragma once

#include <cstddef>
#include <cstdint>

namespace simplexboost {

constexpr std::size_t kBlockRows = 48;  // rows of a block: 48 x 438 scores and the codewords stay in the second-level cache

// Soft-max p of the scores F Yᵀ; G = w (y_c - p Y); stats = w (Z_c - p Z) and w (p ‖Z‖² - ‖p Z‖²), where the sketch
// Z = Y R (K, s) are the codewords along the sketch's directions.
struct LogisticArgs {
  const float* F;             // (n, d)
  const float* YT;            // (d, Kp) codewords transposed, null for canonical ones (d = K)
  const float* E;             // (K, Ep) [Y | Z | ‖Z‖²], without Y for canonical codewords; padded with zeros
  const std::int64_t* c;      // (n,)
  const float* weight;        // (n,) or null
  std::size_t n, K, Kp, d, s, Ep;
  float* G;                   // (n, d)
  double* stats;              // (n, s + 1)
  float* loss;                // (n,) -log p_c, without the weight
};

void logistic_pull(const LogisticArgs& args, int n_threads);

// P (n_rows, Kp) = soft-max of the scores F Yᵀ of at most kBlockRows rows; Fb (kBlockRows, d) is scratch.
void softmax_rows(const float* F, std::size_t d, const float* YT, std::size_t K, std::size_t Kp, const std::uint32_t* rows,
                  std::size_t n_rows, float* Fb, float* P);

// Columns are padded to this many floats, the widest vector there is.
constexpr std::size_t kLanesFloat = 16;

}  // namespace simplexboost
