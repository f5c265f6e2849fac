// Growing a tree: pop a node, split it, look for the best splits of its two children, push them.
// Level-wise growth and best-first growth differ in the queue alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <vector>

#include "core/pool.hpp"
#include "trees/data.hpp"
#include "trees/histogram.hpp"
#include "trees/partition.hpp"
#include "trees/quantize.hpp"
#include "trees/score.hpp"
#include "trees/split.hpp"
#include "trees/tree.hpp"

namespace simplexboost {

// The work of a node is about so many lane additions: its histogram, and going through the bins. Below kSmallNode it is
// left to one thread, with others beside it; below kTinyNode handing it over costs more than it saves.
constexpr std::size_t kSmallNode = std::size_t{1} << 18, kTinyNode = std::size_t{1} << 13;

struct GrowOptions {
  Score score = Score::newton;
  double l2 = 0.0;
  std::int32_t max_depth = 0;   // 0: no limit
  std::int32_t max_leaves = 0;  // 0: no limit
  SplitOptions split;
  bool best_first = false;
  std::uint64_t seed = 0;                               // of the random rounding of 32-bit lanes
  std::size_t histogram_memory = std::size_t{1} << 29;  // bytes that nodes in the queue may keep
  int n_threads = 1;
};

struct Grown {
  Tree tree;
  std::vector<std::uint32_t> rows;    // the training rows, leaf by leaf, ascending within a leaf
  std::vector<std::size_t> leaf_end;  // (n_leaves,) where each leaf's rows end
};

template <class Lane, class ScoreOf>
class Grower {
 public:
  Grower(const BinnedView& data, const Quantized<Lane>& q, Rows rows, const std::vector<std::int32_t>& features,
         const ScoreOf& score, const GrowOptions& options)
      : data_(data),
        q_(q),
        features_(features),
        score_(score),
        options_(options),
        builder_(data, q, features),
        spare_(rows.size()) {
    grown_.rows = std::move(rows);
  }

  Grown grow() {
    const std::size_t n = grown_.rows.size();
    add_node({0, n, 0});
    if (may_split({0, n, 0}))
      push(0, look(builder_.build(grown_.rows.data(), n, options_.n_threads), options_.n_threads));
    while (!queue_.empty() && leaves_left() > 0) split_next();
    restore_rows();
    number_leaves();
    return std::move(grown_);
  }

 private:
  // A node in the making: its rows are grown_.rows[begin, end).
  struct Range {
    std::size_t begin, end;
    std::int32_t depth;
    std::size_t size() const { return end - begin; }
  };
  struct Found {  // the best split of a node, if there is one
    Split split;
    Histogram<Lane> histogram;  // empty where memory is short; the children are then built from scratch
  };
  struct Candidate {
    std::int32_t node;
    Found found;
    bool kept;              // its histogram was kept
    bool expanded = false;  // its rows are cut at `middle`, and its children have been looked at
    std::size_t middle = 0;
    Found left, right;
  };
  struct Earlier {  // best-first: the larger gain first; level-wise: the older node first
    bool best_first;
    bool operator()(const std::unique_ptr<Candidate>& a, const std::unique_ptr<Candidate>& b) const {
      const double gain_a = a->found.split.gain, gain_b = b->found.split.gain;
      if (best_first && gain_a != gain_b) return gain_a > gain_b;
      return a->node < b->node;
    }
  };

  std::size_t leaves_left() const {
    if (options_.max_leaves == 0) return std::numeric_limits<std::size_t>::max();
    return static_cast<std::size_t>(options_.max_leaves) - n_leaves_;
  }

  bool may_split(const Range& range) const {
    return (options_.max_depth == 0 || range.depth < options_.max_depth) &&
           static_cast<std::int64_t>(range.size()) >= 2 * options_.split.min_samples_leaf;
  }

  std::int32_t add_node(const Range& range) {
    ranges_.push_back(range);
    grown_.tree.nodes.emplace_back();
    grown_.tree.gain.push_back(0.0);
    grown_.tree.count.push_back(static_cast<std::int64_t>(range.size()));
    return static_cast<std::int32_t>(ranges_.size()) - 1;
  }

  void push(std::int32_t node, Found found) {
    if (!found.split.found()) return;
    if (kept_ * builder_.bytes() >= options_.histogram_memory) found.histogram.reset();
    const bool kept = !found.histogram.empty();
    kept_ += kept;
    queue_.insert(std::make_unique<Candidate>(Candidate{node, std::move(found), kept, false, 0, {}, {}}));
  }

  void split_next() {
    if (!(*queue_.begin())->expanded) expand_first();
    const auto parent = std::move(queue_.extract(queue_.begin()).value());
    kept_ -= parent->kept;
    const Range range = ranges_[static_cast<std::size_t>(parent->node)];
    const std::int32_t left = add_node({range.begin, parent->middle, range.depth + 1});
    const std::int32_t right = add_node({parent->middle, range.end, range.depth + 1});
    record(parent->node, parent->found.split, left, right);
    ++n_leaves_;
    push(left, std::move(parent->left));
    push(right, std::move(parent->right));
  }

  // Expands the first node of the queue: a large one with all threads; a small one on one thread, and beside it those
  // that come next. What comes of a node does not depend on when it is expanded, so the tree is the same for any number
  // of threads; a node expanded in vain, because the leaves ran out before its turn, costs time alone.
  void expand_first() {
    Candidate& first = **queue_.begin();
    if (work(first) >= kSmallNode) return expand(first, leaves_left() > 1, options_.n_threads);
    std::vector<std::pair<Candidate*, bool>> batch;  // nodes, and whether their children may be split in turn
    std::size_t rank = 0;
    const std::size_t most = work(first) < kTinyNode ? 1 : static_cast<std::size_t>(options_.n_threads);
    for (const auto& candidate : queue_) {
      if (rank++ == leaves_left() || batch.size() == most) break;
      const bool fits = batch.empty() || (work(*candidate) >= kTinyNode && work(*candidate) < kSmallNode);
      if (!candidate->expanded && fits) batch.emplace_back(candidate.get(), leaves_left() > rank);
    }
    const int inside = batch.size() > 1 ? 1 : options_.n_threads;
    parallel_for(batch.size(), options_.n_threads,
                 [&](std::size_t i) { expand(*batch[i].first, batch[i].second, inside); });
  }

  std::size_t work(const Candidate& candidate) const {
    return (ranges_[static_cast<std::size_t>(candidate.node)].size() * data_.p + data_.total_bins()) * q_.lanes;
  }

  // Cuts a node's rows in two and, where its children may be split in turn, looks for their best splits. The smaller
  // child's histogram is counted, the larger one's is what remains of the parent's.
  void expand(Candidate& parent, bool go_on, int n_threads) {
    const Range range = ranges_[static_cast<std::size_t>(parent.node)];
    const std::uint32_t* rows = grown_.rows.data();
    parent.middle = range.begin + partition(grown_.rows.data() + range.begin, range.size(), spare_.data() + range.begin,
                                            data_, parent.found.split, n_threads);
    parent.expanded = true;
    const Range left{range.begin, parent.middle, range.depth + 1}, right{parent.middle, range.end, range.depth + 1};
    const bool left_small = left.size() <= right.size();
    const Range &small = left_small ? left : right, &large = left_small ? right : left;
    const bool need_small = go_on && may_split(small), need_large = go_on && may_split(large);
    Histogram<Lane> of_large = std::move(parent.found.histogram), of_small;
    if (need_small || (need_large && !of_large.empty()))
      of_small = builder_.build(rows + small.begin, small.size(), n_threads);
    if (need_large) {
      if (of_large.empty()) of_large = builder_.build(rows + large.begin, large.size(), n_threads);
      else builder_.subtract(of_large.data(), of_small.data(), n_threads);
      (left_small ? parent.right : parent.left) = look(std::move(of_large), n_threads);
    }
    if (need_small) (left_small ? parent.left : parent.right) = look(std::move(of_small), n_threads);
  }

  Found look(Histogram<Lane> histogram, int n_threads) const {
    const Split split =
        best_split(histogram.data(), data_, features_, q_, total(histogram.data()), options_.split, score_, n_threads);
    return {split, std::move(histogram)};
  }

  std::vector<std::int64_t> total(const Lane* histogram) const {
    const auto f = static_cast<std::size_t>(features_.front());
    std::vector<std::int64_t> sums(q_.m + 1, 0);
    for (std::size_t b = data_.offset[f]; b < data_.offset[f + 1]; ++b)
      for (std::size_t j = 0; j <= q_.m; ++j) sums[j] += histogram[b * q_.lanes + j];
    return sums;
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

  // Nodes that were expanded in vain become leaves: their rows ascend again.
  void restore_rows() {
    for (const auto& candidate : queue_) {
      if (!candidate->expanded) continue;
      const Range& range = ranges_[static_cast<std::size_t>(candidate->node)];
      const auto row = [&](std::size_t r) { return grown_.rows.begin() + static_cast<std::ptrdiff_t>(r); };
      std::inplace_merge(row(range.begin), row(candidate->middle), row(range.end));
    }
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
  std::set<std::unique_ptr<Candidate>, Earlier> queue_{Earlier{options_.best_first}};
  std::size_t kept_ = 0;  // histograms held by the queue
  std::size_t n_leaves_ = 1;
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
