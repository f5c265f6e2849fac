// Growing a tree: take a node from the queue, split it, find the best splits of its two children, put them into the
// queue. Level-wise and best-first growth differ only in the order of the queue. A source (source.hpp) keeps the rows;
// the grower sees only histograms, which tell it how many rows go left and right.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <vector>

#include "core/pool.hpp"
#include "trees/data.hpp"
#include "trees/grown.hpp"
#include "trees/histogram.hpp"
#include "trees/noise.hpp"
#include "trees/quantize.hpp"
#include "trees/score.hpp"
#include "trees/source.hpp"
#include "trees/split.hpp"
#include "trees/symmetric.hpp"
#include "trees/tree.hpp"

namespace simplexboost {

// The work of a node is measured in integer additions: those of its histogram and of the scan over the bins. A node
// below kSmallNode is left to one thread, while other threads work on other nodes; below kTinyNode even handing it to
// another thread costs more than it saves.
constexpr std::size_t kSmallNode = std::size_t{1} << 18, kTinyNode = std::size_t{1} << 13;

template <class Lane, class ScoreOf>
class Grower {
 public:
  Grower(Source<Lane>& source, const Columns& columns, const LaneUnits& units,
         const std::vector<std::int32_t>& features, const ScoreOf& score, const GrowOptions& options)
      : source_(source),
        columns_(columns),
        units_(units),
        features_(features),
        score_(score),
        options_(options),
        shape_(columns, units.lanes, features) {}

  Grown grow() {
    add_node({0, source_.n_rows(), 0, 1});
    if (may_split(places_[0])) push(0, look(source_.root(), 1, options_.n_threads));
    while (!queue_.empty() && leaves_left() > 0) split_next();
    number_leaves();
    return std::move(grown_);
  }

 private:
  struct Place {  // a new node: its rows, its depth, and the turns that lead to it (noise.hpp)
    Cell cell;
    std::int64_t count;
    std::int32_t depth;
    std::uint64_t path;
  };
  struct Found {  // the best split of a node, if there is one
    Split split;
    Histogram<Lane> histogram;  // empty if memory is short; both children are then built from their rows
  };
  struct Candidate {
    std::int32_t node;
    Found found;
    bool kept;              // its histogram was kept
    bool expanded = false;  // its cell is cut into `left` and `left + 1`, and the children's best splits are known
    Cell left = 0;
    Found of_left, of_right;
  };
  // How a node is expanded: the smaller child's histogram is built, the larger one's is the parent's minus that.
  struct Plan {
    Candidate* parent;
    bool left_small, need_small, need_large;
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

  bool may_split(const Place& place) const {
    return (options_.max_depth == 0 || place.depth < options_.max_depth) &&
           place.count / 2 >= options_.split.min_samples_leaf;
  }

  const Place& place(const Candidate& candidate) const { return places_[static_cast<std::size_t>(candidate.node)]; }

  std::int32_t add_node(const Place& place) {
    places_.push_back(place);
    grown_.tree.nodes.emplace_back();
    grown_.tree.gain.push_back(0.0);
    grown_.tree.count.push_back(place.count);
    return static_cast<std::int32_t>(places_.size()) - 1;
  }

  void push(std::int32_t node, Found found) {
    if (!found.split.found()) return;
    if (kept_ * shape_.bytes() >= options_.histogram_memory) found.histogram.reset();
    const bool kept = !found.histogram.empty();
    kept_ += kept;
    queue_.insert(std::make_unique<Candidate>(Candidate{node, std::move(found), kept, false, 0, {}, {}}));
  }

  void split_next() {
    if (!(*queue_.begin())->expanded) expand_first();
    const auto parent = std::move(queue_.extract(queue_.begin()).value());
    kept_ -= parent->kept;
    const Place of = place(*parent);
    const std::int64_t left_count = parent->found.split.left_count;
    const std::int32_t left = add_node({parent->left, left_count, of.depth + 1, child_place(of.path, false)});
    const std::int32_t right =
        add_node({parent->left + 1, of.count - left_count, of.depth + 1, child_place(of.path, true)});
    record(parent->node, parent->found.split, left, right);
    ++n_leaves_;
    push(left, std::move(parent->of_left));
    push(right, std::move(parent->of_right));
  }

  // Expands the first node of the queue, and others with it. The result for a node does not depend on when it is
  // expanded, so the tree is the same for any number of threads and any source. A node may be expanded for nothing,
  // because the limit of leaves is reached before its turn; that only costs time.
  void expand_first() {
    const std::vector<Plan> plans = source_.distant() ? plan_level() : plan_few();
    std::vector<Order> orders;
    for (const Plan& plan : plans) orders.push_back(order(plan));
    source_.expand(orders, [&](std::size_t i, Histogram<Lane> left, Histogram<Lane> right, int n_threads) {
      look_at_children(plans[i], std::move(left), std::move(right), n_threads);
    });
  }

  // All nodes that may be split before the limit of leaves is reached, as far as memory allows: each call of a distant
  // source is a round trip, so there should be few of them.
  std::vector<Plan> plan_level() {
    std::vector<Plan> plans;
    std::size_t rank = 0;
    const std::size_t most =
        std::max<std::size_t>(1, options_.histogram_memory / std::max<std::size_t>(1, shape_.bytes()));
    for (const auto& candidate : queue_) {
      if (rank++ == leaves_left() || plans.size() == most) break;
      if (!candidate->expanded) plans.push_back(plan(*candidate, leaves_left() > rank));
    }
    return plans;
  }

  // A large node alone, with all threads; or a small one on one thread, and the next ones on the other threads.
  std::vector<Plan> plan_few() {
    Candidate& first = **queue_.begin();
    if (work(first) >= kSmallNode) return {plan(first, leaves_left() > 1)};
    std::vector<Plan> plans;
    std::size_t rank = 0;
    const std::size_t most = work(first) < kTinyNode ? 1 : static_cast<std::size_t>(options_.n_threads);
    for (const auto& candidate : queue_) {
      if (rank++ == leaves_left() || plans.size() == most) break;
      const bool fits = plans.empty() || (work(*candidate) >= kTinyNode && work(*candidate) < kSmallNode);
      if (!candidate->expanded && fits) plans.push_back(plan(*candidate, leaves_left() > rank));
    }
    return plans;
  }

  std::size_t work(const Candidate& candidate) const {
    return (static_cast<std::size_t>(place(candidate).count) * columns_.p + columns_.total_bins()) * units_.lanes;
  }

  // `go_on`: whether the children may be split in turn.
  Plan plan(Candidate& parent, bool go_on) const {
    const Place& of = place(parent);
    const Place left{0, parent.found.split.left_count, of.depth + 1, 0},
        right{0, of.count - left.count, of.depth + 1, 0};
    const bool left_small = left.count <= right.count;
    return {&parent, left_small, go_on && may_split(left_small ? left : right),
            go_on && may_split(left_small ? right : left)};
  }

  // Cuts the parent's cell. If the parent's histogram was kept, at most the smaller child's is built, and the larger
  // one's follows by subtraction; otherwise each one that is needed is built.
  Order order(const Plan& plan) {
    Candidate& parent = *plan.parent;
    parent.expanded = true;
    parent.left = n_cells_;
    n_cells_ += 2;
    const bool kept = !parent.found.histogram.empty();
    const bool small = plan.need_small || (plan.need_large && kept), large = plan.need_large && !kept;
    return {place(parent).cell,
            parent.left,
            parent.left + 1,
            parent.found.split,
            plan.left_small ? small : large,
            plan.left_small ? large : small};
  }

  void look_at_children(const Plan& plan, Histogram<Lane> left, Histogram<Lane> right, int n_threads) {
    Candidate& parent = *plan.parent;
    const std::uint64_t path = place(parent).path;
    Histogram<Lane>&of_small = plan.left_small ? left : right, &of_large = plan.left_small ? right : left;
    if (plan.need_large) {
      if (of_large.empty()) {
        of_large = std::move(parent.found.histogram);
        shape_.subtract(of_large.data(), of_small.data(), n_threads);
      }
      (plan.left_small ? parent.of_right : parent.of_left) =
          look(std::move(of_large), child_place(path, plan.left_small), n_threads);
    } else {
      parent.found.histogram.reset();
    }
    if (plan.need_small)
      (plan.left_small ? parent.of_left : parent.of_right) =
          look(std::move(of_small), child_place(path, !plan.left_small), n_threads);
  }

  Found look(Histogram<Lane> histogram, std::uint64_t path, int n_threads) const {
    const Split split = best_split(histogram.data(), columns_, features_, units_,
                                   total_of(histogram.data(), columns_, features_, units_), options_.split, score_,
                                   GainNoise(options_.noise, options_.seed, path), n_threads);
    return {split, std::move(histogram)};
  }

  void record(std::int32_t node, const Split& split, std::int32_t left, std::int32_t right) {
    auto& out = grown_.tree.nodes[static_cast<std::size_t>(node)];
    out.feature = split.feature;
    out.left = left;
    out.bin = split.bin;
    // If the node has no missing values of the feature, those in later data go to the larger child (ties: left).
    out.missing_left = split.missing_seen ? split.missing_left : size(left) >= size(right);
    if (split.categorical) out.category = keep_set(split, out.missing_left != 0);
    grown_.tree.gain[static_cast<std::size_t>(node)] = split.gain;
  }

  // The set of a node also contains the code of missing values if they go left, so that codes need no other test.
  std::int32_t keep_set(const Split& split, bool missing_left) {
    auto& sets = grown_.tree.category_sets;
    sets.push_back(split.left);
    if (missing_left) sets.back().add(static_cast<std::size_t>(columns_.n_bins[split.feature]));
    return static_cast<std::int32_t>(sets.size()) - 1;
  }

  std::int64_t size(std::int32_t node) const { return grown_.tree.count[static_cast<std::size_t>(node)]; }

  // Leaves are numbered in node order.
  void number_leaves() {
    for (std::size_t node = 0; node < places_.size(); ++node) {
      auto& out = grown_.tree.nodes[node];
      if (out.feature >= 0) continue;
      out.left = static_cast<std::int32_t>(grown_.leaf_cell.size());
      grown_.leaf_cell.push_back(places_[node].cell);
    }
    grown_.tree.n_leaves = grown_.leaf_cell.size();
  }

  Source<Lane>& source_;
  const Columns& columns_;
  const LaneUnits& units_;
  const std::vector<std::int32_t>& features_;
  const ScoreOf& score_;
  const GrowOptions& options_;
  HistogramShape<Lane> shape_;
  std::vector<Place> places_;
  std::set<std::unique_ptr<Candidate>, Earlier> queue_{Earlier{options_.order == GrowthOrder::best}};
  std::size_t kept_ = 0;  // the number of histograms that the queue holds
  std::size_t n_leaves_ = 1;
  Cell n_cells_ = 1;
  Grown grown_;
};

// Grows a tree on m statistics per row.
template <class Lane>
Grown grow_tree(Source<Lane>& source, const Columns& columns, std::size_t m, const std::vector<std::int32_t>& features,
                const GrowOptions& options) {
  const auto largest = source.column_maxima(), magnitude = source.column_magnitudes(magnitude_units(largest));
  std::vector<int> exponents(largest.size());
  for (std::size_t j = 0; j < exponents.size(); ++j) exponents[j] = scale_exponent<Lane>(largest[j], magnitude[j]);
  source.quantize(exponents);
  const LaneUnits units = lane_units(m, exponents);
  Grown grown = with_score(options.score, options.l2, [&](const auto& score) {
    using ScoreOf = std::decay_t<decltype(score)>;
    if (options.order == GrowthOrder::symmetric)
      return SymmetricGrower<Lane, ScoreOf>(source, columns, units, features, score, options).grow();
    return Grower<Lane, ScoreOf>(source, columns, units, features, score, options).grow();
  });
  grown.largest = largest;
  return grown;
}

}  // namespace simplexboost
