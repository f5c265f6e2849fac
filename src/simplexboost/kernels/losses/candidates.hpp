// The logistic loss for thousands of classes, with canonical codewords. A row keeps the scores of its own class and of
// at most C candidates, the rivals that score highest; all other classes, its rest, share one score. A round takes n C
// steps in place of n K, and n (8 C + 12) bytes in place of 4 n K.
//
// Boosting starts with empty lists and a rest of score zero, which is exact. A leaf moves the scores of a few classes:
// those of the row's list are moved, others join the list with the score of the rest plus the move. A list that is full
// exchanges its lowest candidates for newcomers that are higher. Classes that go back to the rest, and moves of classes
// that stay there, keep their mass: the score of the rest is the logarithm of the mean of exp(score) over its classes.
// So the sum of all exponentials is right after every round, as far as the scores of newcomers are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "losses/newton.hpp"

namespace simplexboost {

// Lists have a multiple of this many places, so that whole vectors fill them; an empty place has a very low score.
constexpr std::size_t kPlaces = 16;
constexpr float kEmpty = -1e30f;

// The predictor of n rows.
struct CandidateRows {
  const std::int64_t* c;  // (n,) the own class
  float* own;             // (n,) its score
  float* rest;            // (n,) the score of a class of the rest
  std::int32_t* count;    // (n,) candidates
  std::int32_t* classes;  // (n, C)
  float* scores;          // (n, C)
  std::size_t n, K, C;

  // Raises unless the numbers of a row can be trusted. It reads what is read next anyway.
  void check(std::size_t i) const;
};

// What `pull` is given besides, and what it writes.
struct CandidatePull {
  const float* weight;  // (n,) or null
  int tilt_a, tilt_b;   // see logistic.hpp
  float tilt_scale;
  const float* Z;       // (K, s) the sketched codewords
  const float* square;  // (K,) ‖Z‖²
  const float* totals;  // (s + 1,) the sums of Z and of ‖Z‖² over all classes
  std::size_t s;
  double* stats;  // (n, s + 1)
  float* loss;    // (n,) -log p_c
  double* scale;  // (n,) the weight used for each row, or null
};

void candidate_pull(const CandidateRows& rows, const CandidatePull& pull, int n_threads);

// The values of leaves that are not zero, leaf by leaf, the class that most deserves a place in a list first: the one
// with the longest step before it is limited, and of equal ones the one with the larger `preference` (K,).
struct LeafEntries {
  std::vector<float> values;
  std::vector<std::int32_t> classes;
  std::vector<std::int64_t> starts;  // (L + 1,)
};

LeafEntries candidate_leaves(const CandidateRows& rows, const float* loss, const double* scale, const float* preference,
                             const RowLeaves& of, const LeafOptions& options, int n_threads);

// Adds step times the values of its leaf to every row.
void candidate_add(const CandidateRows& rows, const float* values, const std::int32_t* classes,
                   const std::int64_t* starts, std::size_t n_leaves, float step, const std::int32_t* leaf_of_row,
                   int n_threads);

}  // namespace simplexboost
