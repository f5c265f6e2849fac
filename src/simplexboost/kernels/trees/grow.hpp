// Growing a tree: take a node from the queue, split it, find the best splits of its two children, put them into the
// queue. Level-wise and best-first growth differ only in the order of the queue. A source (source.hpp) keeps the rows;
// the grower sees only histograms, which tell it how many rows go left and right.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <vector>

#include "core/pool.hpp"
#include "trees/data.hpp"
#include "trees/grown.hpp"
#include "trees/histogram.hpp"
#include "trees/interactions.hpp"
#include "trees/live.hpp"
#include "trees/noise.hpp"
#include "trees/quantize.hpp"
#include "trees/score.hpp"
#include "trees/source.hpp"
#include "trees/split.hpp"
#include "trees/symmetric.hpp"
#include "trees/tree.hpp"

namespace simplexboost {

// The work of a node is measured in integer additions: those of its histogram and of the scan over the bins. Several
// threads grow the first nodes together: so many at a time that each thread has kBatchWork to do (two milliseconds), or
// as many nodes as there are threads. Each step of such a batch ends with a wait for all threads. (A million rows of 50
// features on 16 cores: 68 ms a round, and 79 with an eighth of it.) Nodes below kSmallNode (50 us) would
// mostly wait; of these every thread expands others. That takes a thread for every kAsideWork of the whole tree: more
// threads expand more nodes for nothing, and histograms move between the caches of more cores.
constexpr std::size_t kBatchWork = std::size_t{1} << 23, kSmallNode = std::size_t{1} << 18,
                      kAsideWork = std::size_t{1} << 19;

// The most small nodes that are expanded before the threads meet again.
constexpr std::size_t kMostAside = 1024;

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
    auto root = std::make_unique<Candidate>();
    root->at = {0, source_.n_rows(), 0, 1, nullptr};
    root->node = add_node(root->at);
    if (may_split(root->at)) {
      root->found = look_at_root();
      push(std::move(root));
    }
    while (!finished()) {
      if ((*queue_.begin())->expanded) split_first();
      else if (n_threads_ > 1 && is_small(**queue_.begin())) expand_aside();
      else expand_first();
    }
    number_leaves();
    return std::move(grown_);
  }

 private:
  struct Place {  // a new node: its rows, its depth, the turns that lead to it (noise.hpp), and what it may split
    Cell cell;
    std::int64_t count;
    std::int32_t depth;
    std::uint64_t path;
    ReachPtr reach;
  };
  struct Found {  // the best split of a node, if there is one
    Split split;
    Histogram<Lane> histogram;  // empty if memory is short; both children are then built from their rows
    LivePtr live = nullptr;     // of sparse codes: the features whose bins the histogram holds, one after another
  };
  struct Candidate {
    Place at{};
    std::int32_t node = -1;  // -1 as long as its parent is not split
    Found found{};
    std::size_t kept = 0;                    // bytes of its histogram
    bool ordered = false;                    // its cell is being cut
    bool expanded = false;                   // it is cut, and the children's best splits are known
    std::unique_ptr<Candidate> left, right;  // its children, as soon as it is planned
  };
  // The histograms of a node's children, before the best splits are searched.
  struct Children {
    Histogram<Lane> small, large;  // one that is not needed, or that follows by subtraction, may be empty
  };
  // How a node is expanded: the smaller child's histogram is built, the larger one's is the parent's minus that.
  struct Plan {
    Candidate* parent;
    bool left_small, need_small, need_large;
    std::uint64_t small_path, large_path;
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

  std::int32_t add_node(const Place& place) {
    places_.push_back(place);
    grown_.tree.nodes.emplace_back();
    grown_.tree.gain.push_back(0.0);
    grown_.tree.count.push_back(place.count);
    return static_cast<std::int32_t>(places_.size()) - 1;
  }

  void push(std::unique_ptr<Candidate> candidate) {
    if (!candidate->found.split.found()) return;
    keep(*candidate);
    queue_.insert(std::move(candidate));
  }

  // Keeps the histogram of a node that waits, as long as there is memory for it.
  void keep(Candidate& candidate) {
    if (candidate.kept > 0 || candidate.expanded) return;
    auto& histogram = candidate.found.histogram;
    if (kept_ >= options_.histogram_memory || !candidate.found.split.found()) histogram.reset();
    candidate.kept = histogram.size() * sizeof(Lane);
    kept_ += candidate.kept;
  }

  bool finished() const { return queue_.empty() || leaves_left() == 0; }

  void split_first() {
    const auto parent = std::move(queue_.extract(queue_.begin()).value());
    kept_ -= parent->kept;
    parent->left->node = add_node(parent->left->at);
    parent->right->node = add_node(parent->right->at);
    record(parent->node, parent->found.split, parent->left->node, parent->right->node);
    ++n_leaves_;
    push(std::move(parent->left));
    push(std::move(parent->right));
  }

  // Expands the first node of the queue, and others with it. The result for a node does not depend on when it is
  // expanded, so the tree is the same for any number of threads and any source. A node may be expanded for nothing,
  // because the limit of leaves is reached before its turn; that only costs time.
  void expand_first() {
    const std::vector<Plan> plans = source_.distant() ? plan_level() : plan_few();
    std::vector<Order> orders;
    for (const Plan& plan : plans) orders.push_back(order(plan));
    std::vector<Children> children(plans.size());
    source_.expand(orders, [&](std::size_t i, Histogram<Lane> left, Histogram<Lane> right, int) {
      children[i] = children_of(plans[i], std::move(left), std::move(right));
    });
    const int threads = worth_threads(plans.size() * shape_.size(), kThreadWork, n_threads_);
    if (columns_.zero != nullptr) {
      const int inside = plans.size() > 1 ? 1 : threads;
      parallel_for(plans.size(), threads,
                   [&](std::size_t i) { look_at_live(plans[i], std::move(children[i]), inside); });
      for (const Plan& plan : plans) plan.parent->expanded = true;
      return;
    }
    if (threads > 1) look_together(plans, children, threads);
    for (std::size_t i = 0; i < plans.size(); ++i) {
      if (threads == 1) look_at_children(plans[i], std::move(children[i]));
      plans[i].parent->expanded = true;
      if (!source_.distant()) continue;
      for (Candidate* child : {plans[i].parent->left.get(), plans[i].parent->right.get()}) keep(*child);
    }
  }

  // Small nodes: every thread takes the first one that nobody has taken, expands it alone, and comes back for another,
  // so that nobody waits after every step. Whoever comes back also splits the nodes whose turn it is.
  void expand_aside() {
    const std::size_t whole =
        work(static_cast<std::size_t>(source_.n_rows())) + std::min<std::size_t>(leaves_left(), 255) * work(0);
    const int threads = worth_threads(whole, kAsideWork, n_threads_);
    const std::size_t room = static_cast<std::size_t>(n_cells_) + 2 * kMostAside;
    source_.make_room(room);
    parallel_for(static_cast<std::size_t>(threads), threads, [&](std::size_t) { work_aside(room); });
  }

  void work_aside(std::size_t room) {
    std::unique_lock<ShortLock> lock(lock_);
    for (;;) {
      while (!finished() && (*queue_.begin())->expanded) split_first();
      const std::vector<Plan> plans =
          failed_ || static_cast<std::size_t>(n_cells_) + 2 > room ? std::vector<Plan>{} : plan_small();
      if (plans.empty()) {
        if (under_way_ == 0) return;
        const std::size_t seen = changes_;
        lock.unlock();
        wait_until([&] { return changes_ != seen; });
        lock.lock();
        continue;
      }
      const Plan& plan = plans.front();
      const Order asked = order(plan);
      ++under_way_;
      lock.unlock();
      try {
        source_.expand_alone(asked, [&](std::size_t, Histogram<Lane> left, Histogram<Lane> right, int) {
          look_at_children(plan, children_of(plan, std::move(left), std::move(right)));
        });
      } catch (...) {
        lock.lock();
        failed_ = true, --under_way_, ++changes_;
        throw;
      }
      lock.lock();
      plan.parent->expanded = true;
      --under_way_, ++changes_;
    }
  }

  // The first node of the queue that nobody has taken, unless it is a large one, which waits for all threads.
  std::vector<Plan> plan_small() {
    std::size_t rank = 0;
    for (const auto& candidate : queue_) {
      if (rank++ == leaves_left()) break;
      if (candidate->ordered) continue;
      if (!is_small(*candidate)) break;
      return {plan(*candidate, leaves_left() > rank)};
    }
    return {};
  }

  // All nodes that will be split before the limit of leaves is reached, as far as that is known, and as far as memory
  // allows: each call of a distant source is a round trip, so there should be few of them. Nodes whose children are
  // known are split here in thought, which brings their children into the sequence; so nodes are also expanded whose
  // parents are still to be split. What is not known yet can only put others in between: no node is split earlier than
  // here.
  std::vector<Plan> plan_level() {
    struct Thought {
      Candidate* candidate;
      std::size_t number;  // of the node, as far as numbers tell which of two is the older one
    };
    const auto earlier = [this](const Thought& a, const Thought& b) {
      const double gain_a = a.candidate->found.split.gain, gain_b = b.candidate->found.split.gain;
      if (options_.order == GrowthOrder::best && gain_a != gain_b) return gain_a > gain_b;
      return a.number < b.number;
    };
    std::set<Thought, decltype(earlier)> sequence(earlier);
    for (const auto& candidate : queue_) sequence.insert({candidate.get(), static_cast<std::size_t>(candidate->node)});
    std::vector<Plan> plans;
    std::size_t rank = 0, number = places_.size();
    const std::size_t most =
        std::max<std::size_t>(1, options_.histogram_memory / std::max<std::size_t>(1, shape_.bytes()));
    while (!sequence.empty() && rank++ < leaves_left() && plans.size() < most) {
      Candidate& candidate = *sequence.extract(sequence.begin()).value().candidate;
      if (!candidate.ordered) plans.push_back(plan(candidate, leaves_left() > rank));
      if (!candidate.expanded) continue;
      for (Candidate* child : {candidate.left.get(), candidate.right.get()}) {
        if (child->found.split.found()) sequence.insert({child, number});
        ++number;
      }
    }
    return plans;
  }

  // The first node, and so many of the next ones that all threads have enough to do.
  std::vector<Plan> plan_few() {
    const auto threads = static_cast<std::size_t>(n_threads_);
    std::vector<Plan> plans;
    std::size_t rank = 0, total = 0;
    for (const auto& candidate : queue_) {
      if (rank++ == leaves_left() || plans.size() == threads || total >= threads * kBatchWork) break;
      if (candidate->ordered) continue;
      plans.push_back(plan(*candidate, leaves_left() > rank));
      total += work(*candidate);
    }
    return plans;
  }

  std::size_t work(const Candidate& candidate) const {
    const LivePtr& live = candidate.found.live;
    return work(static_cast<std::size_t>(candidate.at.count),
                live == nullptr ? columns_.total_bins() : live->offset.back());
  }
  std::size_t work(std::size_t count) const { return work(count, columns_.total_bins()); }
  std::size_t work(std::size_t count, std::size_t bins) const {
    return (count * source_.row_entries() + bins) * units_.lanes;
  }

  // Small in itself, or compared with the whole tree.
  bool is_small(const Candidate& candidate) const {
    const std::size_t part =
        work(static_cast<std::size_t>(source_.n_rows())) / (8 * static_cast<std::size_t>(n_threads_));
    return !source_.distant() && work(candidate) < std::max(kSmallNode, part);
  }

  // `go_on`: whether the children may be split in turn.
  Plan plan(Candidate& parent, bool go_on) const {
    const Place& of = parent.at;
    const ReachPtr below = extended(of.reach, parent.found.split.feature, options_.interactions, features_);
    const std::int64_t count = parent.found.split.left_count;
    if (count <= 0 || count >= of.count)  // a source whose sums disagree could go on for ever
      throw std::invalid_argument("the histograms of the source do not fit its rows");
    parent.left = std::make_unique<Candidate>(), parent.right = std::make_unique<Candidate>();
    parent.left->at = {0, count, of.depth + 1, child_place(of.path, false), below};
    parent.right->at = {0, of.count - count, of.depth + 1, child_place(of.path, true), below};
    const bool left_small = parent.left->at.count <= parent.right->at.count;
    const Place& small = (left_small ? parent.left : parent.right)->at;
    const Place& large = (left_small ? parent.right : parent.left)->at;
    return {&parent, left_small, go_on && may_split(small), go_on && may_split(large), small.path, large.path};
  }

  // Cuts the parent's cell. If the parent's histogram was kept, at most the smaller child's is built, and the larger
  // one's follows by subtraction; otherwise each one that is needed is built.
  Order order(const Plan& plan) {
    Candidate& parent = *plan.parent;
    parent.ordered = true;
    parent.left->at.cell = n_cells_++;
    parent.right->at.cell = n_cells_++;
    const bool kept = !parent.found.histogram.empty();
    const bool small = plan.need_small || (plan.need_large && kept), large = plan.need_large && !kept;
    return {parent.at.cell,
            parent.left->at.cell,
            parent.right->at.cell,
            parent.found.split,
            plan.left_small ? small : large,
            plan.left_small ? large : small,
            parent.found.live == nullptr ? nullptr : &parent.found.live->features};
  }

  static Children children_of(const Plan& plan, Histogram<Lane> left, Histogram<Lane> right) {
    if (plan.left_small) return {std::move(left), std::move(right)};
    return {std::move(right), std::move(left)};
  }

  static Found& small_of(const Plan& plan) { return (plan.left_small ? plan.parent->left : plan.parent->right)->found; }
  static Found& large_of(const Plan& plan) { return (plan.left_small ? plan.parent->right : plan.parent->left)->found; }
  static const ReachPtr& below(const Plan& plan) { return plan.parent->left->at.reach; }  // what children may split

  void look_at_children(const Plan& plan, Children children) {
    if (columns_.zero != nullptr) return look_at_live(plan, std::move(children), 1);
    if (plan.need_large) {
      if (children.large.empty()) {
        children.large = std::move(plan.parent->found.histogram);
        shape_.subtract(children.large.data(), children.small.data(), 1);
      }
      large_of(plan) = look(std::move(children.large), plan.large_path, below(plan), 1);
    } else {
      plan.parent->found.histogram.reset();
    }
    if (plan.need_small) small_of(plan) = look(std::move(children.small), plan.small_path, below(plan), 1);
  }

  // The same for sparse codes. What is built has the usual layout, but holds only the features that are live in the
  // parent; what is kept has their bins one after another.
  void look_at_live(const Plan& plan, Children children, int n_threads) {
    Found& parent = plan.parent->found;
    const LivePtr live = parent.live;
    const std::size_t lanes = units_.lanes;
    const auto built = [&](const Histogram<Lane>& histogram) {
      return [&](std::size_t i) {
        return histogram.data() + columns_.offset[static_cast<std::size_t>(live->features[i])] * lanes;
      };
    };
    const auto look = [&](const auto& bins, std::uint64_t path) {
      return look_live(live, bins, path, below(plan), n_threads);
    };
    if (plan.need_large && children.large.empty()) {
      Lane* kept = parent.histogram.data();
      const auto small = built(children.small);
      for (std::size_t i = 0; i < live->features.size(); ++i)
        hot().template lanes<Lane>().subtract(kept + live->offset[i] * lanes, small(i),
                                              (live->offset[i + 1] - live->offset[i]) * lanes);
      large_of(plan) = look([&](std::size_t i) { return kept + live->offset[i] * lanes; }, plan.large_path);
    } else if (plan.need_large) {
      large_of(plan) = look(built(children.large), plan.large_path);
    }
    parent.histogram.reset();
    if (plan.need_small) small_of(plan) = look(built(children.small), plan.small_path);
  }

  Found look_at_root() const {
    Histogram<Lane> root = source_.root();
    if (columns_.zero == nullptr) return look(std::move(root), 1, nullptr, options_.n_threads);
    const auto bins = [&](std::size_t i) {
      return root.data() + columns_.offset[static_cast<std::size_t>(features_[i])] * units_.lanes;
    };
    return look_live(all_live(columns_, features_), bins, 1, nullptr, n_threads_);
  }

  // The best split of a node of sparse codes, and the bins of the features that are live in it; bins(i) are those of
  // feature i of the node above.
  template <class Bins>
  Found look_live(const LivePtr& above, const Bins& bins, std::uint64_t path, const ReachPtr& reach,
                  int n_threads) const {
    if (above->features.empty()) return {};
    const std::size_t lanes = units_.lanes, m = units_.m;
    std::vector<std::int64_t> total(m + 1, 0);  // from the bins of any feature
    for (std::size_t b = 0; b < above->offset[1]; ++b)
      for (std::size_t j = 0; j <= m; ++j) total[j] += bins(0)[b * lanes + j];
    const LivePtr live = live_in(above, columns_, lanes, m, total[m], options_.split.min_samples_leaf, bins);
    std::vector<const Lane*> at;
    for (std::size_t i = 0, k = 0; k < live->features.size(); ++i)
      if (above->features[i] == live->features[k]) at.push_back(bins(i)), ++k;
    std::vector<Split> candidates(at.size());
    const int threads = worth_threads(live->offset.back() * m, kThreadScan, n_threads);
    parallel_ranges(at.size(), 16, threads, [&](std::size_t begin, std::size_t end) {
      for (std::size_t k = begin; k < end; ++k)
        if (allows(reach, live->place[k]))
          candidates[k] = split_of_feature(at[k], live->features[k], columns_, units_, total, options_.split, score_);
    });
    Found found{choose(candidates, score_({total.data(), units_.inverse.data(), m}), noise_at(path)), {}, live};
    if (!found.split.found()) return found;
    found.histogram = Histogram<Lane>(std::bit_ceil(live->offset.back() * lanes));  // few sizes for the arena
    for (std::size_t k = 0; k < at.size(); ++k)
      std::copy_n(at[k], (live->offset[k + 1] - live->offset[k]) * lanes,
                  found.histogram.data() + live->offset[k] * lanes);
    return found;
  }

  // The same as look_at_children for several nodes and by all threads: a task is a block of features of a node.
  void look_together(const std::vector<Plan>& plans, std::vector<Children>& children, int n_threads) {
    struct Sight {  // of a node's children
      bool subtract;
      std::vector<std::int64_t> of_small, of_large;   // the sums of all rows
      std::vector<Split> small_splits, large_splits;  // the best split of every feature
    };
    std::vector<Sight> sights(plans.size());
    for (std::size_t i = 0; i < plans.size(); ++i) {
      const Plan& plan = plans[i];
      auto& [small, large] = children[i];
      Sight& sight = sights[i];
      sight.subtract = plan.need_large && large.empty();
      if (plan.need_small || sight.subtract) sight.of_small = total_of(small.data(), columns_, features_, units_);
      if (sight.subtract) large = std::move(plan.parent->found.histogram);
      if (plan.need_large) sight.of_large = total_of(large.data(), columns_, features_, units_);
      if (sight.subtract)
        for (std::size_t j = 0; j < sight.of_large.size(); ++j) sight.of_large[j] -= sight.of_small[j];
      if (plan.need_small) sight.small_splits.resize(features_.size());
      if (plan.need_large) sight.large_splits.resize(features_.size());
      plan.parent->found.histogram.reset();
    }
    const auto& blocks = shape_.blocks();
    parallel_for(plans.size() * blocks.size(), n_threads, [&](std::size_t task) {
      const std::size_t i = task / blocks.size(), block = blocks[task % blocks.size()];
      auto& [small, large] = children[i];
      Sight& sight = sights[i];
      if (sight.subtract) shape_.subtract_block(large.data(), small.data(), block);
      const std::size_t begin = first_feature(block), end = first_feature(block + 1);
      const auto scan = [&](const Histogram<Lane>& of, const std::vector<std::int64_t>& sums, std::vector<Split>& out) {
        if (!out.empty())
          scan_features(of.data(), columns_, features_, begin, end, units_, sums, options_.split, score_,
                        below(plans[i]), out);
      };
      scan(small, sight.of_small, sight.small_splits);
      scan(large, sight.of_large, sight.large_splits);
    });
    const auto best = [&](const std::vector<Split>& splits, const std::vector<std::int64_t>& sums, std::uint64_t path) {
      return choose(splits, score_({sums.data(), units_.inverse.data(), units_.m}), noise_at(path));
    };
    for (std::size_t i = 0; i < plans.size(); ++i) {
      const Plan& plan = plans[i];
      auto& [small, large] = children[i];
      const Sight& sight = sights[i];
      if (plan.need_small)
        small_of(plan) = {best(sight.small_splits, sight.of_small, plan.small_path), std::move(small)};
      if (plan.need_large)
        large_of(plan) = {best(sight.large_splits, sight.of_large, plan.large_path), std::move(large)};
    }
  }

  // The place in features_ of the first feature of a block.
  std::size_t first_feature(std::size_t block) const {
    const auto first = static_cast<std::int32_t>(block * kTile);
    return static_cast<std::size_t>(std::lower_bound(features_.begin(), features_.end(), first) - features_.begin());
  }

  GainNoise noise_at(std::uint64_t path) const { return GainNoise(options_.noise, options_.seed, path); }

  Found look(Histogram<Lane> histogram, std::uint64_t path, const ReachPtr& reach, int n_threads) const {
    const Split split = best_split(histogram.data(), columns_, features_, units_,
                                   total_of(histogram.data(), columns_, features_, units_), options_.split, score_,
                                   noise_at(path), reach, n_threads);
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
  int n_threads_ = std::max(1, options_.n_threads);
  std::vector<Place> places_;
  std::set<std::unique_ptr<Candidate>, Earlier> queue_{Earlier{options_.order == GrowthOrder::best}};
  std::size_t kept_ = 0;  // bytes of the histograms that the queue holds
  std::size_t n_leaves_ = 1;
  Cell n_cells_ = 1;
  Grown grown_;

  // While small nodes are expanded in several threads, the lock protects everything above.
  ShortLock lock_;
  std::size_t under_way_ = 0;            // nodes that are being expanded
  std::atomic<std::size_t> changes_{0};  // how many have been
  bool failed_ = false;
};

// Grows a tree on m statistics per row.
template <class Lane>
Grown grow_tree(Source<Lane>& source, const Columns& columns, std::size_t m, const std::vector<std::int32_t>& features,
                const GrowOptions& options) {
  const auto largest = source.column_maxima(), magnitude = source.column_magnitudes(magnitude_units(largest));
  if (magnitude.size() != largest.size() || (largest.size() != m && largest.size() != 1))
    throw std::invalid_argument("the source has another number of columns");
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
