// The logistic loss for many classes: gradient, sketch and curvature in one pass over rows, in single precision.
#pragma once

#include <cstddef>
#include <cstdint>

namespace simplexboost {

constexpr std::size_t kBlockRows =
    48;  // rows of a block: 48 x 438 scores and the codewords stay in the second-level cache

// Logits are 2U = F Yᵀ, twice the class scores U. With their soft-max p: G = y_c - p Y, without the weights w, which
// are applied later in double precision; stats = w (Z_c - p Z) and w (p ‖Z‖² - ‖p Z‖²), where Z = Y R (K, s) are the
// codewords along the sketch's directions. The results of a row do not depend on its place in a block.
//
// Robust losses are the logistic one with other weights, which depend on the probability p_c of the true class: w
// becomes w * tilt_scale * p_c^a (1 - p_c)^b with small integers a and b, and is written to `scale`. Savage's loss has
// a = b = 1, the soft-max risk a = 1 and b = 0. Costs weight the pairs (c, k): log cost[c, k] is added to the logit of
// rival k.
struct LogisticArgs {
  const float* F;         // (n, d)
  const float* YT;        // (d, Kp) codewords transposed, null for canonical ones (d = K)
  const float* E;         // (K, Ep) [Y | Z | ‖Z‖²]; for canonical codewords [Z | ‖Z‖²]ᵀ (s + 1, Kp); padded with zeros
  const std::int64_t* c;  // (n,), null if P has p - 1 for the true class (losses/blocks.hpp)
  const float* weight;    // (n,) or null
  const float* log_cost;  // (K, Kp) or null
  int tilt_a, tilt_b;
  float tilt_scale;
  std::size_t n, K, Kp, d, s, Ep;
  float* G;       // (n, d), null for canonical codewords, where it is 1[k = c] - p_k
  float* P;       // (n, Kp) probabilities, for canonical codewords if they are few enough to be kept, or null
  double* stats;  // (n, s + 1)
  float* loss;    // (n,) -log p_c, without the weight
  double* scale;  // (n,) the weight used for each row, or null
};

void logistic_pull(const LogisticArgs& args, int n_threads);

// P (n, K) = soft-max of the logits; uses F, YT, n, K, Kp and d of the arguments.
void probabilities(const LogisticArgs& args, double* P, int n_threads);

// P (n_rows, Kp) = soft-max of the logits of at most kBlockRows rows; Fb (kBlockRows, d) is scratch.
void softmax_rows(const LogisticArgs& args, const std::uint32_t* rows, std::size_t n_rows, float* Fb, float* P);

// Sums over rows are sums of integers, so that they do not depend on the order (core/exact.hpp): each addend times
// `unit`, a power of two, is rounded to nearest and added modulo 2^64. Weights are those in `scale`.
//
// out (2 K) += slope and curvature of the listed rows in every class, for canonical codewords; see logistic.inl.
void newton_rows(const LogisticArgs& args, const std::uint32_t* rows, std::size_t n_rows, double unit, float* S,
                 std::uint64_t* sums, std::uint64_t* out);
constexpr std::size_t kRowsAtOnce = 4;  // of newton_rows: S (kRowsAtOnce, Kp) and sums (2 Kp) are scratch
// The same sums in another form, row by row for several leaves at once; see logistic.inl. S (Kp) is scratch.
void newton_range(const LogisticArgs& args, const std::uint32_t* rows, std::size_t begin, std::size_t end,
                  const std::int32_t* leaf_of_row, double unit, float* S, std::uint64_t* tables, std::uint64_t* counts);
// out (K) += w P of rows of probabilities P (n_rows, Kp), with weights w (n_rows,) that are already times `unit`.
void weigh_rows(const LogisticArgs& args, const float* P, const double* w, std::size_t n_rows, std::uint64_t* out);
// out (d) += w G of the listed rows.
void gradient_rows(const LogisticArgs& args, const std::uint32_t* rows, std::size_t n_rows, double unit,
                   std::uint64_t* out);

// Rows are padded to a multiple of this many floats, the widest vector of any instruction set.
constexpr std::size_t kLanesFloat = 16;

}  // namespace simplexboost
