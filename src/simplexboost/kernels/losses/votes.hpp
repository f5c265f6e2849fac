// What votes of a weak classifier gain and lose.
#pragma once

#include <cstddef>
#include <cstdint>

namespace simplexboost {

struct VoteSums {
  double gained = 0.0;    // the right answers' own pull
  double lost = 0.0;      // the pull of the rivals that wrong answers name
  double total = 0.0;     // the own pull of all rows
  std::size_t wrong = 0;  // wrong answers
};

// Sums over the rows of the residual P (n, K), in their order, of votes for `classes` (n,) where c (n,) are the labels.
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
