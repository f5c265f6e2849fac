// The best split of a node, from its histograms.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/hot.hpp"
#include "core/pool.hpp"
#include "trees/categories.hpp"
#include "trees/data.hpp"
#include "trees/interactions.hpp"
#include "trees/noise.hpp"
#include "trees/quantize.hpp"
#include "trees/score.hpp"
#include "trees/tree.hpp"

namespace simplexboost {

// A gain is a difference of scores; if it is smaller than this part of them, it is rounding noise.
constexpr double kGainTolerance = 1e-12;
constexpr double kTieTolerance = 1e-12;  // scores that differ by less than this part are a tie
// Of the splits of a feature, one after another, only those are looked at whose scores are by less than this part below
// the largest. It is more than 256 ties: among splits further below, whichever was the best before, the result is the
// same. (Two searches that differ in their best so far agree again as soon as a score is no tie with either of them.)
constexpr double kNear = 1e-9;
constexpr std::size_t kThreadScan = 1 << 12;  // bins x statistics that are worth a thread of their own

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
  std::int64_t left_count = 0;  // rows that go left
  CategorySet left;             // of a categorical split: the codes that go left, including that of missing values
  bool found() const { return feature >= 0; }
  bool loses_to(double other) const { return !found() || other > score + kTieTolerance * std::abs(score); }
};

// The bin at place i of an order: that of the bins themselves, or an order of categories.
struct InOrder {
  static constexpr bool in_order = true;
  std::size_t operator()(std::size_t i) const { return i; }
};
struct ByOrder {
  static constexpr bool in_order = false;
  const std::vector<std::uint8_t>& order;
  std::size_t operator()(std::size_t i) const { return static_cast<std::size_t>(order[i]); }
};

// Finds the best split of one feature. Ties go to the earlier candidate: missing values to the right come before
// missing values to the left, then lower bins first (categories: shorter prefixes first); across features, the lower
// feature first. A bin without rows gives the same split as the bin before it and is skipped.
template <class Lane, class ScoreOf>
class FeatureScan {
 public:
  FeatureScan(const Lane* bins, std::size_t n_bins, bool has_missing, const LaneUnits& q,
              const std::vector<std::int64_t>& total, const SplitOptions& options, const ScoreOf& score)
      : bins_(bins),
        n_bins_(n_bins),
        q_(q),
        total_(total),
        options_(options),
        min_samples_(std::max<std::int64_t>(options.min_samples_leaf, 1)),
        score_(score) {
    missing_ = has_missing && bin(n_bins)[q.m] > 0;
  }

  Split best(std::int32_t feature) {
    Split split;
    const InOrder same;
    // If missing values go right, the last bin is a candidate too: all known values against the missing ones.
    scan(false, missing_ ? n_bins_ : n_bins_ - 1, same, offers(split, feature, false));
    if (missing_) scan(true, n_bins_ - 1, same, offers(split, feature, true));
    return split;
  }

  // The same over prefixes of the order of categories; those that are left out of the order stay on the right.
  Split best_categorical(std::int32_t feature) {
    const auto order = category_order<ScoreOf>(bins_, n_bins_, q_, total_, options_.categories);
    const ByOrder at{order};
    Split split;
    scan(false, order.size(), at, offers(split, feature, false));
    if (missing_) scan(true, order.size(), at, offers(split, feature, true));
    if (!split.found()) return split;
    split.categorical = true;
    for (std::size_t i = 0; i <= split.bin; ++i) split.left.add(at(i));
    if (split.missing_left) split.left.add(n_bins_);
    split.bin = 0;
    return split;
  }

  const Lane* bin(std::size_t b) const { return bins_ + b * q_.lanes; }

  // Tries the first 1, 2, .., end of the bins at(0), at(1), .. on the left, and calls take(score, i, rows on the left)
  // for those that leave enough rows on both sides, except where bin at(i) is empty. All scans compute the same scores,
  // bit for bit; they differ in speed and in the scores that they can compute.
  template <class At, class Take>
  void scan(bool missing_left, std::size_t end, const At& at, const Take& take) const {
    if constexpr ((ScoreOf::scan == Scan::newton || ScoreOf::scan == Scan::gini) && At::in_order)
      if (q_.m == 2) return scan_pairs(missing_left, end, take);
    switch (q_.m) {
      case 1:
        return scan_few<1>(missing_left, end, at, take);
      case 2:
        return scan_few<2>(missing_left, end, at, take);
      case 3:
        return scan_few<3>(missing_left, end, at, take);
      case 5:
        return scan_few<5>(missing_left, end, at, take);
      default:
        return scan_many(missing_left, end, at, take);
    }
  }

 private:
  template <class At, class Take>
  void scan_many(bool missing_left, std::size_t end, const At& at, const Take& take) const {
    if constexpr ((ScoreOf::scan == Scan::max || ScoreOf::scan == Scan::gini) && At::in_order) {
      scan_prefixes(missing_left, end, take);
    } else {
      std::vector<std::int64_t> left(q_.m + 1, 0), right(q_.m + 1);
      if constexpr (ScoreOf::scan == Scan::entropy)
        scan_entropy(missing_left, end, at, take, left.data(), right.data());
      else scan_sums<0>(missing_left, end, at, take, left.data(), right.data());
    }
  }

  // The Newton score of one gradient and one curvature column, or the Gini score of two classes, bins in order: eight
  // bins at a time. Without it, half the time of a tree on 50 features with 255 bins was spent in `scan_few<2>`.
  template <class Take>
  void scan_pairs(bool missing_left, std::size_t end, const Take& take) const {
    Lane left[4 * kMostBins], begin[3] = {}, total[3];
    double scores[kMostBins];
    std::uint8_t at[kMostBins];
    for (std::size_t j = 0; j < 3; ++j) {
      total[j] = static_cast<Lane>(total_[j]);
      if (missing_left) begin[j] = bin(n_bins_)[j];
    }
    const auto& loops = hot().template lanes<Lane>();
    const bool gini = ScoreOf::scan == Scan::gini;
    double l2 = 0.0;
    if constexpr (ScoreOf::scan == Scan::newton) l2 = score_.l2;
    const std::size_t n = (gini ? loops.prefix_gini_pairs : loops.prefix_newton)(
        bins_, end, begin, total, q_.inverse.data(), l2, left, at, scores);
    const auto count = [&](std::size_t i) { return left[4 * i + 2]; };
    std::size_t first = 0, last = n;
    while (first < n && count(first) < min_samples_) ++first;
    while (last > first && total[2] - count(last - 1) < min_samples_) --last;
    if constexpr (requires { Take::only_best; }) {
      std::uint8_t near[kMostBins + 1];
      const std::size_t n_near = hot().near_largest(scores + first, nullptr, last - first, kNear, near);
      for (std::size_t k = 0; k < n_near; ++k) {
        const std::size_t i = first + near[k];
        take(scores[i], at[i], count(i));
      }
    } else {
      for (std::size_t i = first; i < last; ++i) take(scores[i], at[i], count(i));
    }
  }

  // The largest statistic, or the Gini score, of many classes, bins in order: `scan_sums` with its inner loops compiled
  // for the instruction set, eight classes at a time, in registers if there are at most 32 classes.
  template <class Take>
  void scan_prefixes(bool missing_left, std::size_t end, const Take& take) const {
    const std::size_t m = q_.m, lanes = q_.lanes;
    std::vector<std::int64_t> sums(3 * lanes, 0);
    std::vector<double> numbers(2 * lanes + end, 0.0);
    std::int64_t *left = sums.data(), *total = left + lanes, *spare = total + lanes;
    double *inverse = numbers.data(), *pad = inverse + lanes, *scores = pad + lanes;
    std::copy(total_.begin(), total_.end(), total);
    std::copy(q_.inverse.begin(), q_.inverse.end(), inverse);
    std::fill(pad + m, pad + lanes, -std::numeric_limits<double>::infinity());
    if (missing_left) std::copy(bin(n_bins_), bin(n_bins_) + lanes, left);
    const auto& loops = hot().template lanes<Lane>();
    const auto prefix_scores = ScoreOf::scan == Scan::max ? loops.prefix_max : loops.prefix_gini;
    prefix_scores(bins_, end, lanes, m, left, total, inverse, pad, spare, scores);
    std::int64_t count = left[m];
    for (std::size_t i = 0; i < end; ++i) {
      if (bin(i)[m] == 0) continue;
      count += bin(i)[m];
      if (count < min_samples_) continue;
      if (total[m] - count < min_samples_) break;
      take(scores[i], i, count);
    }
  }

  // The entropy of many classes, bins in any order: like `scan_sums`, but it computes logarithms only for the classes
  // that have rows in a bin, not for all m on both sides.
  template <class At, class Take>
  void scan_entropy(bool missing_left, std::size_t end, const At& at, const Take& take, std::int64_t* left,
                    std::int64_t* right) const {
    const std::size_t m = q_.m;
    std::vector<double> terms(4 * m, 0.0);  // w and w log w of every class, on both sides
    double *a = terms.data(), *a_log = a + m, *b = a_log + m, *b_log = b + m;
    const auto term = [](double w) { return w > 0.0 ? w * std::log(w) : 0.0; };
    const auto weigh = [&](std::size_t j) {
      right[j] = total_[j] - left[j];
      a[j] = std::max(0.0, static_cast<double>(left[j]) * q_.inverse[j]);
      b[j] = std::max(0.0, static_cast<double>(right[j]) * q_.inverse[j]);
      a_log[j] = term(a[j]);
      b_log[j] = term(b[j]);
    };
    const auto score = [&] {
      double a_total = 0.0, a_sum = 0.0, b_total = 0.0,
             b_sum = 0.0;  // four independent sums, whose additions overlap
      for (std::size_t j = 0; j < m; ++j) a_total += a[j], a_sum += a_log[j], b_total += b[j], b_sum += b_log[j];
      return (a_total > 0.0 ? a_sum - a_total * std::log(a_total) : 0.0) +
             (b_total > 0.0 ? b_sum - b_total * std::log(b_total) : 0.0);
    };
    if (missing_left)
      for (std::size_t j = 0; j <= m; ++j) left[j] += bin(n_bins_)[j];
    for (std::size_t j = 0; j < m; ++j) weigh(j);
    for (std::size_t i = 0; i < end; ++i) {
      const Lane* values = bin(at(i));
      if (values[m] == 0) continue;
      for (std::size_t j = 0; j < m; ++j)
        if (values[j] != 0) {
          left[j] += values[j];
          weigh(j);
        }
      left[m] += values[m];
      if (left[m] < min_samples_) continue;
      if (total_[m] - left[m] < min_samples_) break;
      take(score(), i, left[m]);
    }
  }

  // A scan's `take` that keeps the best split.
  struct Offers {
    static constexpr bool only_best = true;
    Split& split;
    std::int32_t feature;
    bool missing_left, missing;
    void operator()(double score, std::size_t i, std::int64_t left_count) const {
      if (!split.loses_to(score)) return;
      split.score = score;
      split.feature = feature;
      split.bin = static_cast<std::uint8_t>(i);
      split.missing_left = missing_left;
      split.missing_seen = missing;
      split.left_count = left_count;
    }
  };
  Offers offers(Split& split, std::int32_t feature, bool missing_left) const {
    return {split, feature, missing_left, missing_};
  }

  // Any score of few statistics, bins in any order: `scan_sums` with its sums in registers and its loops unrolled (617
  // features, 60 nodes: 30 ms per tree instead of 140 ms).
  template <std::size_t M, class At, class Take>
  void scan_few(bool missing_left, std::size_t end, const At& at, const Take& take) const {
    std::int64_t left[M + 1] = {}, right[M + 1];
    scan_sums<M>(missing_left, end, at, take, left, right);
  }

  // Any score, bins in any order: a bin's sums are added to the left side, and both sides are scored from their sums.
  // M > 0 is the number of statistics if it is known at compile time.
  template <std::size_t M, class At, class Take>
  void scan_sums(bool missing_left, std::size_t end, const At& at, const Take& take, std::int64_t* left,
                 std::int64_t* right) const {
    const std::size_t m = M == 0 ? q_.m : M;
    const double* inverse = q_.inverse.data();
    const auto add = [&](const Lane* values) {
      for (std::size_t j = 0; j <= m; ++j) left[j] += values[j];
    };
    if (missing_left) add(bin(n_bins_));
    for (std::size_t i = 0; i < end; ++i) {
      const Lane* values = bin(at(i));
      if (values[m] == 0) continue;
      add(values);
      for (std::size_t j = 0; j <= m; ++j) right[j] = total_[j] - left[j];
      if (left[m] < min_samples_) continue;
      if (right[m] < min_samples_) break;
      take(score_({left, inverse, m}) + score_({right, inverse, m}), i, left[m]);
    }
  }

  const Lane* bins_;
  std::size_t n_bins_;
  const LaneUnits& q_;
  const std::vector<std::int64_t>& total_;
  const SplitOptions& options_;
  std::int64_t min_samples_;
  const ScoreOf& score_;
  bool missing_;
};

// The best of the features' splits, given the score of what is split. Its gain must be more than rounding noise.
inline Split choose(const std::vector<Split>& candidates, double own, const GainNoise& noise) {
  const auto is_gain = [&](const Split& split) {
    return split.score - own > kGainTolerance * (std::abs(split.score) + std::abs(own));
  };
  Split best;
  if (noise.size > 0.0) {
    std::vector<double> gains;
    for (const auto& candidate : candidates)
      if (candidate.found()) gains.push_back(candidate.score - own);
    const double unit = noise.size * spread(gains);
    double most = -std::numeric_limits<double>::infinity();
    for (const auto& candidate : candidates) {
      if (!candidate.found() || !is_gain(candidate)) continue;
      const double noisy = candidate.score - own + unit * noise.normal(candidate.feature);
      if (noisy > most) most = noisy, best = candidate;
    }
  } else {
    for (const auto& candidate : candidates)
      if (candidate.found() && best.loses_to(candidate.score)) best = candidate;
    if (!is_gain(best)) return Split{};
  }
  best.gain = best.score - own;
  return best;
}

// The sums of a node's rows, from the bins of one feature.
template <class Lane>
std::vector<std::int64_t> total_of(const Lane* histogram, const Columns& columns,
                                   const std::vector<std::int32_t>& features, const LaneUnits& units) {
  const auto f = static_cast<std::size_t>(features.front());
  std::vector<std::int64_t> sums(units.m + 1, 0);
  for (std::size_t b = columns.offset[f]; b < columns.offset[f + 1]; ++b)
    for (std::size_t j = 0; j <= units.m; ++j) sums[j] += histogram[b * units.lanes + j];
  return sums;
}

// The best split of a feature that has these bins.
template <class Lane, class ScoreOf>
Split split_of_feature(const Lane* bins, std::int32_t feature, const Columns& data, const LaneUnits& q,
                       const std::vector<std::int64_t>& total, const SplitOptions& options, const ScoreOf& score) {
  const auto f = static_cast<std::size_t>(feature);
  FeatureScan<Lane, ScoreOf> scan(bins, static_cast<std::size_t>(data.n_bins[f]), data.has_missing[f] != 0, q, total,
                                  options, score);
  return data.categorical[f] ? scan.best_categorical(feature) : scan.best(feature);
}

// candidates[i] = the best split of features[i], for i from begin to end; those that are out of reach are left out.
template <class Lane, class ScoreOf>
void scan_features(const Lane* histogram, const Columns& data, const std::vector<std::int32_t>& features,
                   std::size_t begin, std::size_t end, const LaneUnits& q, const std::vector<std::int64_t>& total,
                   const SplitOptions& options, const ScoreOf& score, const ReachPtr& reach,
                   std::vector<Split>& candidates) {
  for (std::size_t i = begin; i < end; ++i) {
    if (!allows(reach, i)) continue;
    const Lane* bins = histogram + data.offset[static_cast<std::size_t>(features[i])] * q.lanes;
    candidates[i] = split_of_feature(bins, features[i], data, q, total, options, score);
  }
}

template <class Lane, class ScoreOf>
Split best_split(const Lane* histogram, const Columns& data, const std::vector<std::int32_t>& features,
                 const LaneUnits& q, const std::vector<std::int64_t>& total, const SplitOptions& options,
                 const ScoreOf& score, const GainNoise& noise, const ReachPtr& reach, int n_threads) {
  std::vector<Split> candidates(features.size());
  const int threads = worth_threads(data.total_bins() * q.m, kThreadScan, n_threads);
  const std::size_t grain = 4;  // features per task
  parallel_ranges(features.size(), grain, threads, [&](std::size_t begin, std::size_t end) {
    scan_features(histogram, data, features, begin, end, q, total, options, score, reach, candidates);
  });
  return choose(candidates, score({total.data(), q.inverse.data(), q.m}), noise);
}

}  // namespace simplexboost
