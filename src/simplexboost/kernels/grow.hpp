// Growing a tree: pop a node, split it, look for the best splits of its two children, push them.
// Level-wise growth and best-first growth differ in the queue alone.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <queue>
#include <vector>

#include "data.hpp"
#include "histogram.hpp"
#include "pool.hpp"
#include "quantize.hpp"
#include "score.hpp"
#include "split.hpp"
#include "tree.hpp"

namespace simplexboost {

struct GrowOptions {
  Score score = Score::newton;
  double l2 = 0.0;
  std::int32_t max_depth = 0;   // 0: no limit
  std::int32_t max_leaves = 0;  // 0: no limit
  SplitOptions split;
  bool best_first = false;
  std::uint64_t seed = 0;  // of the random rounding of 32-bit lanes
  std::size_t histogram_memory = std::size_t{1} << 29;  // bytes that nodes in the queue may keep
  int n_threads = 1;
};

struct Grown {
  Tree tree;
  std::vector<std::uint32_t> rows;   // the training rows, leaf by leaf, ascending within a leaf
  std::vector<std::size_t> leaf_end; // (n_leaves,) where each leaf's rows end
};

// Cuts rows[0, n_rows) in two, keeping their order; returns the number that go left.
template <class GoesLeft>
std::size_t partition_by(std::uint32_t* rows, std::size_t n_rows, std::uint32_t* spare, int n_threads,
                         const GoesLeft& goes_left) {
  const std::size_t n_chunks = (n_rows + kRowGrain - 1) / kRowGrain;
  std::vector<std::size_t> lefts(n_chunks + 1, 0);  // left rows before each chunk, after the sum below
  parallel_ranges(n_rows, kRowGrain, n_threads, [&](std::size_t begin, std::size_t end) {
    std::size_t count = 0;
    for (std::size_t r = begin; r < end; ++r) count += goes_left(rows[r]);
    lefts[begin / kRowGrain + 1] = count;
  });
  for (std::size_t chunk = 0; chunk < n_chunks; ++chunk) lefts[chunk + 1] += lefts[chunk];
  parallel_ranges(n_rows, kRowGrain, n_threads, [&](std::size_t begin, std::size_t end) {
    std::size_t to_left = lefts[begin / kRowGrain], to_right = lefts[n_chunks] + begin - to_left;
    for (std::size_t r = begin; r < end; ++r) spare[goes_left(rows[r]) ? to_left++ : to_right++] = rows[r];
  });
  parallel_ranges(n_rows, kRowGrain, n_threads, [&](std::size_t begin, std::size_t end) {
    std::memcpy(rows + begin, spare + begin, (end - begin) * sizeof(std::uint32_t));
  });
  return lefts[n_chunks];
}

inline std::size_t partition(std::uint32_t* rows, std::size_t n_rows, std::uint32_t* spare, const BinnedView& data,
                             const Split& split, int n_threads) {
  const std::size_t f = static_cast<std::size_t>(split.feature);
  const std::uint8_t* codes = data.column(f);
  if (split.categorical)
    return partition_by(rows, n_rows, spare, n_threads, [&](std::uint32_t row) { return split.left.has(codes[row * kTile]); });
  const int missing = data.has_missing[f] ? data.n_bins[f] : 256;
  return partition_by(rows, n_rows, spare, n_threads, [&](std::uint32_t row) {
    const int code = codes[row * kTile];
    return code == missing ? split.missing_left : code <= split.bin;
  });
}

template <class Lane, class ScoreOf>
class Grower {
 public:
  Grower(const BinnedView& data, const Quantized<Lane>& q, Rows rows, const std::vector<std::int32_t>& features,
         const ScoreOf& score, const GrowOptions& options)
      : data_(data), q_(q), features_(features), score_(score), options_(options),
        builder_(data, q, features, options.n_threads), spare_(rows.size()) {
    grown_.rows = std::move(rows);
  }

  Grown grow() {
    add_node(0, grown_.rows.size(), 0);
    n_leaves_ = 1;
    if (may_split(0)) consider(0, builder_.build(grown_.rows.data(), grown_.rows.size()));
    while (!queue_.empty() && room_for_leaves()) split_next();
    number_leaves();
    return std::move(grown_);
  }

 private:
  // A node in the making: its rows are grown_.rows[begin, end).
  struct Range {
    std::size_t begin, end;
    std::int32_t depth;
  };
  struct Candidate {
    std::int32_t node;
    Split split;
    Histogram<Lane> histogram;  // empty where memory is short; the children are then built from scratch
  };
  struct Later {  // best-first: the larger gain first; level-wise: the older node first
    bool best_first;
    bool operator()(const Candidate* a, const Candidate* b) const {
      if (best_first && a->split.gain != b->split.gain) return a->split.gain < b->split.gain;
      return a->node > b->node;
    }
  };

  bool room_for_leaves() const { return options_.max_leaves == 0 || n_leaves_ < options_.max_leaves; }

  bool may_split(std::int32_t node) const {
    const Range& range = ranges_[static_cast<std::size_t>(node)];
    return room_for_leaves() && (options_.max_depth == 0 || range.depth < options_.max_depth) &&
           static_cast<std::int64_t>(range.end - range.begin) >= 2 * options_.split.min_samples_leaf;
  }

  std::int32_t add_node(std::size_t begin, std::size_t end, std::int32_t depth) {
    ranges_.push_back({begin, end, depth});
    grown_.tree.nodes.emplace_back();
    grown_.tree.gain.push_back(0.0);
    grown_.tree.count.push_back(static_cast<std::int64_t>(end - begin));
    return static_cast<std::int32_t>(ranges_.size()) - 1;
  }

  std::vector<std::int64_t> total(const Lane* histogram) const {
    const auto f = static_cast<std::size_t>(features_.front());
    std::vector<std::int64_t> sums(q_.m + 1, 0);
    for (std::size_t b = data_.offset[f]; b < data_.offset[f + 1]; ++b)
      for (std::size_t j = 0; j <= q_.m; ++j) sums[j] += histogram[b * q_.lanes + j];
    return sums;
  }

  void consider(std::int32_t node, Histogram<Lane> histogram) {
    const Split split = best_split(histogram.data(), data_, features_, q_, total(histogram.data()),
                                   options_.split, score_, options_.n_threads);
    if (!split.found()) return;
    if (kept_ * builder_.bytes() >= options_.histogram_memory) histogram.reset();
    kept_ += !histogram.empty();
    candidates_.push_back(std::make_unique<Candidate>(Candidate{node, split, std::move(histogram)}));
    queue_.push(candidates_.back().get());
  }

  void split_next() {
    Candidate& parent = *queue_.top();
    queue_.pop();
    kept_ -= !parent.histogram.empty();
    const Range range = ranges_[static_cast<std::size_t>(parent.node)];
    std::uint32_t* rows = grown_.rows.data() + range.begin;
    const std::size_t n_left = partition(rows, range.end - range.begin, spare_.data(), data_, parent.split, options_.n_threads);
    const std::int32_t left = add_node(range.begin, range.begin + n_left, range.depth + 1);
    const std::int32_t right = add_node(range.begin + n_left, range.end, range.depth + 1);
    record(parent.node, parent.split, left, right);
    ++n_leaves_;
    consider_children(parent, left, right);
  }

  void record(std::int32_t node, const Split& split, std::int32_t left, std::int32_t right) {
    auto& out = grown_.tree.nodes[static_cast<std::size_t>(node)];
    out.feature = split.feature;
    out.left = left;
    out.bin = split.bin;
    // A feature without missing values here sends later ones with the larger child (ties: left).
    out.missing_left = split.missing_seen ? split.missing_left : size(left) >= size(right);
    if (split.categorical) out.category = keep_set(split, out.missing_left != 0);
    grown_.tree.gain[static_cast<std::size_t>(node)] = split.gain;
  }

  // In the set of a node the code of missing values goes where they go, so that rows of codes need no second question.
  std::int32_t keep_set(const Split& split, bool missing_left) {
    auto& sets = grown_.tree.category_sets;
    sets.push_back(split.left);
    if (missing_left) sets.back().add(static_cast<std::size_t>(data_.n_bins[split.feature]));
    return static_cast<std::int32_t>(sets.size()) - 1;
  }

  std::int64_t size(std::int32_t node) const { return grown_.tree.count[static_cast<std::size_t>(node)]; }

  // The smaller child's histogram is counted, the larger one's is what remains of the parent's.
  void consider_children(Candidate& parent, std::int32_t left, std::int32_t right) {
    const std::int32_t small = size(left) <= size(right) ? left : right, large = small == left ? right : left;
    const bool need_small = may_split(small), need_large = may_split(large);
    Histogram<Lane> of_small, of_large;
    if (need_small || (need_large && !parent.histogram.empty())) of_small = build(small);
    if (need_large) {
      of_large = std::move(parent.histogram);
      if (!of_large.empty()) builder_.subtract(of_large.data(), of_small.data());
      else of_large = build(large);
    }
    parent.histogram.reset();
    if (need_small) consider(small, std::move(of_small));
    if (need_large) consider(large, std::move(of_large));
  }

  Histogram<Lane> build(std::int32_t node) {
    const Range& range = ranges_[static_cast<std::size_t>(node)];
    return builder_.build(grown_.rows.data() + range.begin, range.end - range.begin);
  }

  // Leaves are numbered in node order, and the rows regrouped in that order.
  void number_leaves() {
    Rows rows;
    rows.reserve(grown_.rows.size());
    for (std::size_t node = 0; node < ranges_.size(); ++node) {
      auto& out = grown_.tree.nodes[node];
      if (out.feature >= 0) continue;
      out.left = static_cast<std::int32_t>(grown_.leaf_end.size());
      rows.insert(rows.end(), grown_.rows.begin() + static_cast<std::ptrdiff_t>(ranges_[node].begin),
                  grown_.rows.begin() + static_cast<std::ptrdiff_t>(ranges_[node].end));
      grown_.leaf_end.push_back(rows.size());
    }
    grown_.rows = std::move(rows);
    grown_.tree.n_leaves = grown_.leaf_end.size();
  }

  const BinnedView& data_;
  const Quantized<Lane>& q_;
  const std::vector<std::int32_t>& features_;
  const ScoreOf& score_;
  const GrowOptions& options_;
  HistogramBuilder<Lane> builder_;
  std::vector<std::uint32_t> spare_;
  std::vector<Range> ranges_;
  std::vector<std::unique_ptr<Candidate>> candidates_;
  std::priority_queue<Candidate*, std::vector<Candidate*>, Later> queue_{Later{options_.best_first}};
  std::size_t kept_ = 0;  // histograms held by the queue
  std::int32_t n_leaves_ = 0;
  Grown grown_;
};

template <class Lane>
Grown grow_tree(const BinnedView& data, const StatisticsView& statistics, const Rows& rows,
                const std::vector<std::int32_t>& features, const GrowOptions& options) {
  const auto q = quantize<Lane>(statistics, data.n, rows, options.seed, options.n_threads);
  return with_score(options.score, options.l2, [&](const auto& score) {
    return Grower<Lane, std::decay_t<decltype(score)>>(data, q, rows, features, score, options).grow();
  });
}

}  // namespace simplexboost
