// The zero-one potential of a fixed edge-over-random baseline b: the probability that a walk of t steps, each in
// direction l with probability b_l, ends with the true class (direction 0) not strictly ahead of every rival.
//
// Given x steps of the true class, N = t - x steps fall on the rivals, and rival l may take at most m_l = x - d_l - 1
// of them, where d_l is how far it is ahead at the start. The rivals' counts are distributed like independent Poisson
// counts with rates N r_l, r_l = b_l / (1 - b_0), conditioned on their sum N. Their probabilities are therefore
// products of truncated series: a convolution per rival, O(t^3 K) in all. With these rates the terms that matter are
// near one, so nothing overflows or underflows; sums have positive terms only, so small potentials are as exact as
// large ones.
//
// steps.hpp has the probabilities, one_state.hpp and many_states.hpp the products.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/pool.hpp"
#include "games/many_states.hpp"
#include "games/one_state.hpp"
#include "games/steps.hpp"

namespace simplexboost {

// values (m,) = the potentials of m states with t steps to go, b (K,) with the true class first. leads (m, K - 1) are
// the leads of the rivals over the true class, rows sorted lexicographically; each value depends on its own row only.
inline void zero_one_potential(int t, const double* b, std::size_t K, const std::int32_t* leads, std::size_t m,
                               double* values, int n_threads) {
  const WalkSteps steps(t, b, K);
  if (m <= 8) {  // too few states to share products
    OneState potential(steps);
    for (std::size_t i = 0; i < m; ++i) values[i] = potential(leads + i * (K - 1));
    return;
  }
  parallel_ranges(m, 1024, n_threads, [&](std::size_t begin, std::size_t end) {
    const ManyStates potentials(steps);
    potentials(leads + begin * (K - 1), end - begin, values + begin);
  });
}

}  // namespace simplexboost
