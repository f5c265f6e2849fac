// The logistic loss for many classes: gradient, sketch and curvature in one pass over rows, in single precision.
#pragma once

#include <cstddef>
#include <cstdint>

namespace simplexboost {

constexpr std::size_t kBlockRows =
    48;  // rows of a block: 48 x 438 scores and the codewords stay in the second-level cache

// Soft-max p of the scores F Yᵀ; G = y_c - p Y, without the weights w, which join in double precision; stats =
// w (Z_c - p Z) and w (p ‖Z‖² - ‖p Z‖²), where the sketch Z = Y R (K, s) are the codewords along the sketch's
// directions.
//
// Two robust losses are the logistic one with the rows weighed anew by the probability p_c of the true class: the
// gradient of Savage's is 2 p_c (1 - p_c), that of the soft-max risk p_c times the logistic one. `tilt` says which, and
// w becomes w * tilt_scale * that factor; it is written to `scale`. Costs weigh the pairs (c, k): log cost[c, k] joins
// the scores of the rivals.
enum class Tilt : int { none = 0, savage = 1, softmax = 2 };

struct LogisticArgs {
  const float* F;         // (n, d)
  const float* YT;        // (d, Kp) codewords transposed, null for canonical ones (d = K)
  const float* E;         // (K, Ep) [Y | Z | ‖Z‖²]; for canonical codewords [Z | ‖Z‖²]ᵀ (s + 1, Kp); padded with zeros
  const std::int64_t* c;  // (n,)
  const float* weight;    // (n,) or null
  const float* log_cost;  // (K, Kp) or null
  Tilt tilt;
  float tilt_scale;
  std::size_t n, K, Kp, d, s, Ep;
  float* G;       // (n, d), null for canonical codewords, where it is 1[k = c] - p_k
  float* P;       // (n, Kp) probabilities, for canonical codewords where they are few enough to be kept, or null
  double* stats;  // (n, s + 1)
  float* loss;    // (n,) -log p_c, without the weight
  double* scale;  // (n,) the weight each row has had, or null
};

void logistic_pull(const LogisticArgs& args, int n_threads);

// P (n, K) = soft-max of the scores F Yᵀ; uses F, YT, n, K, Kp and d of the arguments.
void probabilities(const LogisticArgs& args, double* P, int n_threads);

// P (n_rows, Kp) = soft-max of the scores F Yᵀ of at most kBlockRows rows; Fb (kBlockRows, d) is scratch.
void softmax_rows(const LogisticArgs& args, const std::uint32_t* rows, std::size_t n_rows, float* Fb, float* P);

// out (2 K) += slope and curvature of the rows listed along every class, for canonical codewords; see logistic.inl.
void newton_rows(const LogisticArgs& args, const std::uint32_t* rows, std::size_t n_rows, float* S, double* sums,
                 double* out);

// Columns are padded to this many floats, the widest vector there is.
constexpr std::size_t kLanesFloat = 16;

}  // namespace simplexboost
