// The log-loss of several questions at once, in single precision: labels, each of which a row has or has not, or blocks
// of classes, of each of which a row has one.
#pragma once

#include <cstddef>
#include <cstdint>

namespace simplexboost {

// F are the logits, a column for every label, or for every class of every block. With p the probability of a column, σ
// of its logit for a label and the soft-max of the block for a class, a column has the mistake N = p - 1[own], the
// derivative of the loss in its logit; stats = -w N Z and the curvature w Σ_blocks (p ‖Z‖² - ‖p Z‖²), for labels
// w p (1 - p) ‖Z‖². The results of a row do not depend on other rows.
struct BlockArgs {
  const float* F;            // (n, K)
  const std::uint8_t* own;   // (S, K), 1 for the labels of a set, or for its class of every block
  const std::int64_t* c;     // (n,) the set of every row
  const std::int32_t* ends;  // (B,) where blocks end; null if every column is a label
  const float* weight;       // (n,) or null
  const float* E;            // (s + 1, Kp) [Z | ‖Z‖²]ᵀ, padded with zeros
  float temperature;         // what logits are multiplied by, of block_losses
  std::size_t n, K, Kp, B, s;
  float* N;       // (n, Kp), padded with zeros
  double* stats;  // (n, s + 1)
  float* loss;    // (n,) summed over the blocks, without the weight
};

// Fills in N, stats and loss.
void blocks_pull(const BlockArgs& args, int n_threads);

// out (n, B) = the loss of every block of every row; uses F, own, c, ends, temperature and the sizes of the arguments.
void block_losses(const BlockArgs& args, float* out, int n_threads);

}  // namespace simplexboost
