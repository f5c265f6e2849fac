// What votes of a weak classifier gain and lose.
#pragma once

#include <cstddef>
#include <cstdint>

namespace simplexboost {

struct VoteSums {
  double gained = 0.0;    // P at the true class, over right answers
  double lost = 0.0;      // |P| at the rivals that wrong answers name
  double total = 0.0;     // P at the true class, over all rows
  std::size_t wrong = 0;  // wrong answers
};

// What votes for `classes` (n,) gain and lose of the residual P (n, K): sums over the rows, in their order; c (n,) are
// the labels.
inline VoteSums vote_sums(const double* P, std::size_t n, std::size_t K, const std::int64_t* c,
                          const std::int64_t* classes) {
  VoteSums sums;
  for (std::size_t i = 0; i < n; ++i) {
    const double* p = P + i * K;
    const double own = p[c[i]];
    sums.total += own;
    if (classes[i] == c[i]) {
      sums.gained += own;
    } else {
      sums.lost -= p[classes[i]];
      ++sums.wrong;
    }
  }
  return sums;
}

}  // namespace simplexboost
