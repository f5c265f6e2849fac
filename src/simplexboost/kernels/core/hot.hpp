// The table of the inner loops in hot.inl, of trees, forests and losses, for the instruction set chosen at run time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace simplexboost {

constexpr std::size_t kMostBins = 256;  // of a feature, including that of missing values

constexpr std::size_t kProductColumns = 16;  // of a tile of a product (losses/product.inl)

// Of forests (forest/forest.hpp).
constexpr std::size_t kGroup = 8;               // rows that walk down a tree together
constexpr std::int32_t kMissingRank = 1 << 20;  // above every rank
constexpr std::size_t kTileRows = 64;           // rows whose leaves in a symmetric tree are found together
constexpr std::size_t kTreeBatch = 64;          // trees whose values are added together

// A level of a symmetric tree: ranks of this column up to `last` go left. It is in hot.hpp because loops read it.
struct PackedLevel {
  std::uint32_t column;
  std::int8_t last;  // less 128
  std::uint8_t missing_left;
};

template <class Lane>
struct HotLanes {
  using Words = const std::uint64_t*;
  using Rows = const std::uint32_t*;
  void (*quantize_rows)(const double* v, std::size_t m, std::size_t lanes, Rows rows, std::size_t n_rows,
                        const double* scale, std::uint64_t first_row, std::uint64_t seed, Lane* out);
  void (*accumulate_packed)(Words words, Rows rows, std::size_t n_rows, const Lane* stats, std::size_t lanes,
                            Lane* const* base, std::size_t n_features);
  void (*accumulate_rows)(Words words, Rows rows, std::size_t n_rows, const Lane* stats, std::size_t lanes,
                          Lane* const* base, std::size_t n_features);
  void (*accumulate_sparse)(Words words, Rows rows, std::size_t n_rows, const std::int32_t* classes, const Lane* weight,
                            std::size_t m, std::size_t lanes, Lane* const* base, std::size_t n_features);
  using Entries = void (*)(const std::int64_t* starts, const std::uint32_t* bins, Rows rows, std::size_t n_rows,
                           const Lane* stats, std::size_t lanes, Lane* histogram);
  Entries accumulate_entries_packed, accumulate_entries_rows;
  void (*accumulate_entries_sparse)(const std::int64_t* starts, const std::uint32_t* bins, Rows rows,
                                    std::size_t n_rows, const std::int32_t* classes, const Lane* weight, std::size_t m,
                                    std::size_t lanes, Lane* histogram);
  void (*fill_zero_bin)(Lane* bins, std::size_t n_bins, std::size_t zero, const Lane* total, std::size_t lanes);
  void (*add)(Lane* a, const Lane* b, std::size_t size);
  void (*subtract)(Lane* a, const Lane* b, std::size_t size);
  using PrefixScores = void (*)(const Lane* bins, std::size_t n_bins, std::size_t lanes, std::size_t m,
                                const std::int64_t* left, const std::int64_t* total, const double* inverse,
                                const double* pad, std::int64_t* sums, double* scores);
  PrefixScores prefix_max, prefix_gini;
  using PrefixPairs = std::size_t (*)(const Lane* bins, std::size_t n_bins, const Lane* begin, const Lane* total,
                                      const double* inverse, double l2, Lane* left, std::uint8_t* at, double* scores);
  PrefixPairs prefix_newton, prefix_gini_pairs;
  void (*newton_votes)(const Lane* bins, std::size_t n_bins, const Lane* begin, const Lane* total,
                       const double* inverse, double l2, std::int64_t min_samples, double own, double* scores,
                       std::uint8_t* votes);
};

struct HotTable {
  void (*column_maxima)(const double* v, std::size_t m, const std::uint32_t* rows, std::size_t n_rows, double* out);
  void (*column_magnitudes)(const double* v, std::size_t m, const std::uint32_t* rows, std::size_t n_rows,
                            const double* unit, double* out);
  void (*add_limbs)(const double* v, std::size_t d, const std::uint32_t* rows, std::size_t n_rows, const double* scale,
                    double second, std::uint64_t* hi, std::uint64_t* lo);
  void (*add_limbs_sparse)(const std::int32_t* classes, const double* weight, const std::uint32_t* rows,
                           std::size_t n_rows, double scale, double second, std::uint64_t* hi, std::uint64_t* lo);
  void (*sum_limbs)(const double* x, std::size_t n, double scale, double second, std::uint64_t* sums);
  double (*largest_magnitude)(const double* x, std::size_t n);
  std::size_t (*near_largest)(const double* x, const std::uint8_t* used, std::size_t n, double margin,
                              std::uint8_t* at);
  void (*add_outer_bits)(std::uint64_t* H, const double* v, const double* scale, std::size_t n_rows, std::size_t d);
  void (*add_outer)(double* H, const double* v, double scale, std::size_t d);
  bool (*solve_positive)(double* A, double* b, double* column, std::size_t d, double least);
  void (*add_values_float)(float* F, std::size_t d, const float* values, float step, const std::int32_t* leaf_of_row,
                           std::size_t begin, std::size_t end);
  void (*add_values_double)(double* F, std::size_t d, const double* values, double step,
                            const std::int32_t* leaf_of_row, std::size_t begin, std::size_t end);
  void (*walk)(const std::uint64_t* nodes, std::int32_t depth, const std::int32_t* ranks, std::uint32_t* at);
  void (*walk_missing)(const std::uint64_t* nodes, std::int32_t depth, const std::int32_t* ranks, std::uint32_t* at);
  void (*walk_categories)(const std::uint64_t* nodes, std::int32_t depth, const std::int32_t* ranks,
                          const std::uint8_t* sets, std::uint32_t* at);
  void (*find_ranks)(const double* thresholds, std::size_t steps, const double* x, std::size_t n, std::int32_t* ranks);
  void (*symmetric_leaves)(const PackedLevel* levels, std::int32_t depth, const std::int8_t* ranks,
                           const std::int8_t* ranks_left, std::size_t stride, std::size_t n_rows,
                           std::uint16_t* leaves);
  void (*add_trees_float)(float* scores, std::size_t pitch, const float* const* values, std::size_t d,
                          std::size_t n_trees, const std::uint16_t* leaves, std::size_t stride, std::size_t n_rows);
  void (*add_trees_double)(double* scores, std::size_t pitch, const double* const* values, std::size_t d,
                           std::size_t n_trees, const std::uint16_t* leaves, std::size_t stride, std::size_t n_rows);
  void (*race)(const double* U, std::size_t n, std::size_t K, const std::int64_t* c, double rate, double* scratch,
               double* E, double* Z, double* lead);
  void (*pull_rows)(double* E, std::size_t n, std::size_t K, const std::int64_t* c, const double* w, const double* Z);
  void (*vote_rows)(double* P, std::size_t n, std::size_t K, const std::int64_t* c, const std::int64_t* classes,
                    double up, double down, double* own);
  void (*race_along)(const double* U, const double* W, double alpha, std::size_t n, std::size_t K,
                     const std::int64_t* c, double rate, double* v, double* E, double* Z, double* lead, double* mean,
                     double* variance);
  void (*times_float)(const float* A, std::size_t n, const float* M, std::size_t m, std::size_t pitch, std::size_t K,
                      float factor, float* out);
  void (*times_double)(const double* A, std::size_t n, const double* M, std::size_t m, std::size_t pitch, std::size_t K,
                       double factor, double* out);
  HotLanes<std::int64_t> lanes64;
  HotLanes<std::int32_t> lanes32;

  template <class Lane>
  const HotLanes<Lane>& lanes() const {
    if constexpr (sizeof(Lane) == 8) return lanes64;
    else return lanes32;
  }
};

const HotTable& hot();  // the table in use

constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15ull;  // the step of splitmix64's counter

// splitmix64's finaliser: the bits of a counter, thoroughly mixed.
inline std::uint64_t mixed_bits(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

// A uniform number in [0, 1) from (seed, row, column).
inline double hashed_uniform(std::uint64_t seed, std::uint64_t row, std::uint64_t column) {
  return static_cast<double>(mixed_bits(seed + kGolden * (row * 1024 + column + 1)) >> 11) * 0x1.0p-53;
}

}  // namespace simplexboost
