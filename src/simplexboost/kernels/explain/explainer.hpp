// Shapley values of a forest whose leaves hold vectors: the weights of a tree's leaves are computed once for a few
// rows, as many as a vector of 64 bytes holds, and serve all columns of the values.
//
// Real is the precision of the computation, that of the model's predictions: in single precision a vector holds twice
// as many rows, and all takes half the time. Results of some trees are then moved to numbers of double precision, so
// that small numbers are not lost in the sum of many.
//
// Trees are the outer loop of a block of rows, so that a tree's paths and values are read from memory once for many
// rows; a block has as many rows as leave its results in the second-level cache. Rows never mix, and trees and leaves
// are added in a fixed order: results depend neither on threads nor on which rows are explained together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <vector>

#include "core/arena.hpp"
#include "core/pool.hpp"
#include "explain/paths.hpp"
#include "explain/rounding.hpp"
#include "explain/shapley.hpp"
#include "trees/tree.hpp"

namespace simplexboost {

constexpr std::size_t kBlockBytes = 1 << 19;  // of the results of a block: half of a usual second-level cache
constexpr std::size_t kMostGroups = 32;       // vectors of rows in a block
constexpr std::size_t kTrees = 16;            // that are summed in single precision

template <class Real>
class Explainer {
  static constexpr std::size_t R = kLanes<Real>;
  using Answer = Flag<Real>;
  using Leaves = LeafValues<Real>;

 public:
  // Trees in flat arrays, as in forest/forest.hpp; count (nodes,) are the training rows of every node.
  Explainer(const Node* nodes, const std::int64_t* first_node, const double* count, const CategorySet* sets,
            const std::int64_t* first_set, std::size_t n_trees, std::size_t n_features)
      : sets_(sets, sets + first_set[n_trees]), first_set_(first_set, first_set + n_trees + 1), p_(n_features) {
    for (std::size_t t = 0; t < n_trees; ++t) {
      const auto size = static_cast<std::size_t>(first_node[t + 1] - first_node[t]);
      check_tree(nodes + first_node[t], size, static_cast<std::size_t>(first_set[t + 1] - first_set[t]), n_features);
      trees_.push_back(PathMaker<Real>(nodes + first_node[t], size, count + first_node[t], rules_).make());
    }
    for (const PathTree<Real>& tree : trees_) {
      n_leaves_ += tree.n_leaves();
      most_splits_ = std::max(most_splits_, tree.splits.size());
      most_links_ = std::max(most_links_, tree.feature.size());
      for (std::size_t l = 0; l < tree.n_leaves(); ++l) longest_ = std::max(longest_, tree.n_links(l));
    }
  }

  std::size_t n_features() const { return p_; }
  std::size_t n_leaves() const { return n_leaves_; }

  // From now on values are differences to the mean over these rows (n, p).
  template <class Value>
  void set_background(const Value* X, std::size_t n, int n_threads) {
    if (longest_ > 64) throw std::invalid_argument("a path with more than 64 features has no background values");
    beta_ = beta_integrals(longest_ + 1);
    parallel_for(trees_.size(), n_threads, [&](std::size_t t) { find_patterns(t, X, n); });
  }

  // out (n, p, D) = the values of the rows of X (n, p), where leaves hold these values, tree after tree. If total (n,
  // D) is not null, they are made to add up to it while they are in the cache.
  template <class Value>
  void values(const Value* X, std::size_t n, const Leaves& leaves, const double* total, double* out,
              int n_threads) const {
    const std::size_t size = p_ * leaves.D;
    run(X, n, leaves, size, n_threads, false, [&](const Real* phi, std::size_t first, std::size_t rows, Part part) {
      for (std::size_t tile = 0; tile < size; tile += R)  // a few cache lines of phi, and one or two of each row
        for (std::size_t r = 0; r < rows; ++r)
          for (std::size_t e = tile; e < std::min(tile + R, size); ++e)
            place(out[(first + r) * size + e], phi[e * R + r], part);
      if (part.last && total != nullptr)
        share_rounding(out + first * size, rows, p_, leaves.D, total + first * leaves.D);
    });
  }

  // out (n, p, p, D) = the values of pairs of features.
  template <class Value>
  void interactions(const Value* X, std::size_t n, const Leaves& leaves, double* out, int n_threads) const {
    const std::size_t D = leaves.D, size = p_ * p_ * D;
    run(X, n, leaves, size, n_threads, true, [&](const Real* phi, std::size_t first, std::size_t rows, Part part) {
      for (std::size_t f = 0; f < p_; ++f)
        for (std::size_t g = 0; g < p_; ++g) {
          const Real* from = phi + (std::min(f, g) * p_ + std::max(f, g)) * D * R;
          for (std::size_t k = 0; k < D; ++k)
            for (std::size_t r = 0; r < rows; ++r)
              place(out[(first + r) * size + (f * p_ + g) * D + k], from[k * R + r], part);
        }
    });
  }

 private:
  // Of the trees, those whose results are moved: the first of them, the last of them, or some between.
  struct Part {
    bool first, last;
  };

  static void place(double& out, Real value, Part part) {
    out = part.first ? static_cast<double>(value) : out + static_cast<double>(value);
  }

  struct Scratch {
    const double* x;
    Real *weights, *phi;
    Answer* answers;
  };

  template <class Value, class Write>
  void run(const Value* X, std::size_t n, const Leaves& leaves, std::size_t size, int n_threads, bool pairs,
           const Write& write) const {
    const std::size_t groups = std::clamp<std::size_t>(kBlockBytes / (size * R * sizeof(Real) + 1), 1, kMostGroups);
    // Where rows are few, blocks are smaller, so that all threads have some.
    const std::size_t share = n / R / static_cast<std::size_t>(std::max(1, n_threads));
    const std::size_t grain = std::clamp<std::size_t>(share, 1, groups) * R;
    parallel_ranges(n, grain, n_threads, [&](std::size_t begin, std::size_t end) {
      const std::size_t in_block = (end - begin + R - 1) / R;
      Buffer<double> x(in_block * p_ * R);
      Buffer<Real> phi(in_block * size * R), weights(most_links_ * R);
      Buffer<Answer> answers(2 * most_splits_ * R);
      std::fill(phi.data(), phi.data() + in_block * size * R, Real{0});
      for (std::size_t g = 0; g < in_block; ++g)
        gather(X + (begin + g * R) * p_, std::min(R, end - begin - g * R), x.data() + g * p_ * R);
      Leaves of_tree = leaves;
      for (std::size_t t = 0; t < trees_.size(); ++t) {
        const bool last = t + 1 == trees_.size(), moves = last || (sizeof(Real) == 4 && t % kTrees == kTrees - 1);
        for (std::size_t g = 0; g < in_block; ++g) {
          Real* of_group = phi.data() + g * size * R;
          add_tree(t, of_tree, {x.data() + g * p_ * R, weights.data(), of_group, answers.data()}, pairs);
          if (!moves) continue;
          write(of_group, begin + g * R, std::min(R, end - begin - g * R), Part{t < kTrees || sizeof(Real) == 8, last});
          if (!last) std::fill(of_group, of_group + size * R, Real{0});
        }
        if (leaves.columns == nullptr) of_tree.values += trees_[t].n_leaves() * leaves.D;
        else of_tree.start += trees_[t].n_leaves();
      }
    });
  }

  void add_tree(std::size_t t, const Leaves& leaves, const Scratch& scratch, bool pairs) const {
    const ShapleyTable<Real>& loops = shapley_loops<Real>();
    const PathTree<Real>& tree = trees_[t];
    loops.ask(tree, sets_.data() + first_set_[t], scratch.x, scratch.answers);
    if (pairs) return loops.interact(tree, rules_.data(), scratch.answers, leaves, p_, scratch.phi);
    if (beta_.empty()) loops.weigh(tree, rules_.data(), scratch.answers, scratch.weights);
    else loops.weigh_background(tree, beta_.data(), longest_ + 1, scratch.answers, scratch.weights);
    loops.add(tree, leaves, scratch.weights, scratch.phi);
  }

  // x (p, R) = up to R rows of X (rows, p); the last one is repeated.
  template <class Value>
  void gather(const Value* X, std::size_t rows, double* x) const {
    for (std::size_t f = 0; f < p_; ++f)
      for (std::size_t r = 0; r < R; ++r) x[f * R + r] = static_cast<double>(X[std::min(r, rows - 1) * p_ + f]);
  }

  template <class Value>
  void find_patterns(std::size_t t, const Value* X, std::size_t n) {
    PathTree<Real>& tree = trees_[t];
    Buffer<double> x(p_ * R);
    Buffer<Answer> answers(2 * tree.splits.size() * R);
    std::vector<std::map<std::uint64_t, std::size_t>> rows_like(tree.n_leaves());
    for (std::size_t first = 0; first < n; first += R) {
      const std::size_t rows = std::min(R, n - first);
      gather(X + first * p_, rows, x.data());
      shapley_loops<Real>().ask(tree, sets_.data() + first_set_[t], x.data(), answers.data());
      for (std::size_t l = 0; l < tree.n_leaves(); ++l)
        for (std::size_t r = 0; r < rows; ++r) ++rows_like[l][pattern_of(tree, l, answers.data(), r)];
    }
    tree.pattern_first = {0}, tree.patterns.clear();
    for (const auto& of_leaf : rows_like) {
      for (const auto& [yes, rows] : of_leaf)
        tree.patterns.push_back({yes, static_cast<double>(rows) / static_cast<double>(n)});
      tree.pattern_first.push_back(tree.patterns.size());
    }
  }

  static std::uint64_t pattern_of(const PathTree<Real>& tree, std::size_t leaf, const Answer* answers,
                                  std::size_t row) {
    std::uint64_t yes = 0;
    for (std::size_t j = 0; j < tree.n_links(leaf); ++j) {
      const std::size_t link = tree.first[leaf] + j;
      const auto begin = tree.steps.begin() + tree.step_first[link],
                 end = tree.steps.begin() + tree.step_first[link + 1];
      const bool all = std::all_of(begin, end, [&](std::uint32_t step) { return answers[step * R + row] != 0; });
      if (all) yes |= std::uint64_t{1} << j;
    }
    return yes;
  }

  // The integrals of t^a (1 - t)^b over [0, 1], (most, most): a! b! / (a + b + 1)!
  static std::vector<double> beta_integrals(std::size_t most) {
    std::vector<double> beta(most * most);
    for (std::size_t a = 0; a < most; ++a)
      for (std::size_t b = 0; b < most; ++b)
        beta[a * most + b] = b == 0 ? 1.0 / static_cast<double>(a + 1)
                                    : beta[a * most + b - 1] * static_cast<double>(b) / static_cast<double>(a + b + 1);
    return beta;
  }

  std::vector<CategorySet> sets_;
  std::vector<std::int64_t> first_set_;
  Rules<Real> rules_;
  std::vector<PathTree<Real>> trees_;
  std::vector<double> beta_;  // empty without a background
  std::size_t p_, n_leaves_ = 0, most_splits_ = 0, most_links_ = 0, longest_ = 0;
};

}  // namespace simplexboost
