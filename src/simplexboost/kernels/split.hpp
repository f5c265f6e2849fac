// The best split of a node, from its histograms.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "categories.hpp"
#include "data.hpp"
#include "pool.hpp"
#include "quantize.hpp"
#include "score.hpp"
#include "tree.hpp"

namespace simplexboost {

// A gain smaller than this part of the scores it is the difference of is rounding noise, not a gain.
constexpr double kGainTolerance = 1e-12;
constexpr double kTieTolerance = 1e-12;  // scores closer than this part are a tie, whatever rounding made of them
constexpr std::size_t kSerialScan = 1 << 14;  // bins x statistics: below this, waking a worker costs more than it saves

struct SplitOptions {
  std::int64_t min_samples_leaf = 1;
  CategoryOptions categories;
};

struct Split {
  double score = -std::numeric_limits<double>::infinity();  // of the two children together
  double gain = 0.0;                                        // over the node's own score
  std::int32_t feature = -1;
  std::uint8_t bin = 0;  // codes <= bin go left
  bool missing_left = false;
  bool missing_seen = false;  // the node has rows without a value of the feature
  bool categorical = false;
  CategorySet left;  // of a categorical split: the codes that go left, that of missing values included
  bool found() const { return feature >= 0; }
  bool loses_to(double other) const { return !found() || other > score + kTieTolerance * std::abs(score); }
};

// Scans one feature. Ties go to the earlier candidate: missing to the right before missing to the left, lower bins
// first (categories: shorter prefixes first); across features, the lower feature. Bins without rows repeat the candidate
// before them and are passed over.
template <class Lane, class ScoreOf>
class FeatureScan {
 public:
  FeatureScan(const Lane* bins, std::size_t n_bins, bool has_missing, const Quantized<Lane>& q,
              const std::vector<std::int64_t>& total, const SplitOptions& options, const ScoreOf& score)
      : bins_(bins), n_bins_(n_bins), q_(q), total_(total), options_(options),
        min_samples_(std::max<std::int64_t>(options.min_samples_leaf, 1)), score_(score),
        left_(q.m + 1), right_(q.m + 1) {
    missing_ = has_missing && bin(n_bins)[q.m] > 0;
  }

  Split best(std::int32_t feature) {
    Split split;
    const auto same = [](std::size_t b) { return b; };
    // With missing values on the right the last bin is a candidate too: all known values against the missing ones.
    scan(split, feature, false, missing_ ? n_bins_ : n_bins_ - 1, same);
    if (missing_) scan(split, feature, true, n_bins_ - 1, same);
    return split;
  }

  // The same over prefixes of the order of categories; those left out of the order stay on the right.
  Split best_categorical(std::int32_t feature) {
    const auto order = category_order<ScoreOf>(bins_, n_bins_, q_, total_, options_.categories);
    const auto at = [&](std::size_t i) { return static_cast<std::size_t>(order[i]); };
    Split split;
    scan(split, feature, false, order.size(), at);
    if (missing_) scan(split, feature, true, order.size(), at);
    if (!split.found()) return split;
    split.categorical = true;
    for (std::size_t i = 0; i <= split.bin; ++i) split.left.add(at(i));
    if (split.missing_left) split.left.add(n_bins_);
    split.bin = 0;
    return split;
  }

 private:
  const Lane* bin(std::size_t b) const { return bins_ + b * q_.lanes; }

  // Tries the first 1, 2, .., end of the bins at(0), at(1), .. on the left.
  template <class At>
  void scan(Split& split, std::int32_t feature, bool missing_left, std::size_t end, const At& at) {
    std::fill(left_.begin(), left_.end(), 0);
    if (missing_left) add(bin(n_bins_));
    for (std::size_t i = 0; i < end; ++i) {
      if (bin(at(i))[q_.m] == 0) continue;
      add(bin(at(i)));
      for (std::size_t j = 0; j <= q_.m; ++j) right_[j] = total_[j] - left_[j];
      if (left_[q_.m] < min_samples_) continue;
      if (right_[q_.m] < min_samples_) break;
      const double score = score_({left_.data(), q_.inverse.data(), q_.m}) + score_({right_.data(), q_.inverse.data(), q_.m});
      if (split.loses_to(score)) split = {score, 0.0, feature, static_cast<std::uint8_t>(i), missing_left, missing_, false, {}};
    }
  }

  void add(const Lane* values) {
    for (std::size_t j = 0; j <= q_.m; ++j) left_[j] += values[j];
  }

  const Lane* bins_;
  std::size_t n_bins_;
  const Quantized<Lane>& q_;
  const std::vector<std::int64_t>& total_;
  const SplitOptions& options_;
  std::int64_t min_samples_;
  const ScoreOf& score_;
  std::vector<std::int64_t> left_, right_;
  bool missing_;
};

template <class Lane, class ScoreOf>
Split best_split(const Lane* histogram, const BinnedView& data, const std::vector<std::int32_t>& features,
                 const Quantized<Lane>& q, const std::vector<std::int64_t>& total, const SplitOptions& options,
                 const ScoreOf& score, int n_threads) {
  std::vector<Split> candidates(features.size());
  const bool small = data.total_bins() * q.m < kSerialScan;
  const std::size_t grain = 8;  // features per task
  parallel_ranges(features.size(), grain, small ? 1 : n_threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto f = static_cast<std::size_t>(features[i]);
      const Lane* bins = histogram + data.offset[f] * q.lanes;
      FeatureScan<Lane, ScoreOf> scan(bins, static_cast<std::size_t>(data.n_bins[f]), data.has_missing[f] != 0, q, total,
                                      options, score);
      candidates[i] = data.categorical[f] ? scan.best_categorical(features[i]) : scan.best(features[i]);
    }
  });
  Split best;
  for (const auto& candidate : candidates)
    if (candidate.found() && best.loses_to(candidate.score)) best = candidate;
  const double own = score({total.data(), q.inverse.data(), q.m});
  best.gain = best.score - own;
  if (!(best.gain > kGainTolerance * (std::abs(best.score) + std::abs(own)))) return Split{};
  return best;
}

}  // namespace simplexboost
