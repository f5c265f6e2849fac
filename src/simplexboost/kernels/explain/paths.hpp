// The trees of a forest as paths: what the Shapley values of a leaf need to know of the way from the root to it.
//
// A leaf takes part in the values of m features, those that are split on its path. A feature may be split several times
// there; all these steps together ask one question, to which a row answers yes or no, and z is the part of the training
// rows that it lets through: the product of the shares (rows of the child over rows of the node) of its steps. A pair
// of a leaf and one of its features is called a link. Links are stored leaf by leaf, and the weights that are computed
// for them feature by feature, because they are added up in this order.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numbers>
#include <stdexcept>
#include <vector>

#include "trees/tree.hpp"

namespace simplexboost {

// A question of a tree; set -1: about a number.
struct Split {
  double threshold;
  std::int32_t feature, set;
  bool missing_left;
};

// Gauss-Legendre quadrature with Q points on [0, 1]: exact for polynomials of degree 2 Q - 1.
template <class Real>
struct Rule {
  std::vector<Real> at, rest, weight, inverse_rest;  // t, 1 - t, the weight of the point, 1 / (1 - t); (Q,)
};

template <class Real>
Rule<Real> gauss_rule(std::size_t Q) {
  Rule<Real> rule;
  for (std::size_t i = 0; i < Q; ++i) {
    const double n = static_cast<double>(Q);
    double x = std::cos(std::numbers::pi * (static_cast<double>(i) + 0.75) / (n + 0.5)), slope = 1.0;
    for (int step = 0; step < 100; ++step) {  // Newton's method for the zero of the Legendre polynomial
      double before = 1.0, value = x;
      for (std::size_t k = 2; k <= Q; ++k) {
        const double degree = static_cast<double>(k);
        const double next = ((2.0 * degree - 1.0) * x * value - (degree - 1.0) * before) / degree;
        before = value, value = next;
      }
      slope = n * (x * value - before) / (x * x - 1.0);
      const double change = value / slope;
      x -= change;
      if (std::abs(change) < 1e-16) break;
    }
    const double t = 0.5 * (1.0 + x);
    rule.at.push_back(static_cast<Real>(t));
    rule.rest.push_back(static_cast<Real>(1.0 - t));
    rule.weight.push_back(static_cast<Real>(1.0 / ((1.0 - x * x) * slope * slope)));
    rule.inverse_rest.push_back(static_cast<Real>(1.0 / (1.0 - t)));
  }
  return rule;
}

// The rules that paths need, each computed when it is first asked for: one with Q points takes Q * Q steps.
template <class Real>
class Rules {
 public:
  const Rule<Real>& of(std::size_t Q) {
    if (Q >= rules_.size()) rules_.resize(Q + 1);
    if (rules_[Q].at.size() < Q) rules_[Q] = gauss_rule<Real>(Q);
    return rules_[Q];
  }
  const Rule<Real>* data() const { return rules_.data(); }  // by the number of points

 private:
  std::vector<Rule<Real>> rules_;
};

// What a background row looks like from a leaf: which of its questions the row answers with yes, and the part of all
// background rows that are like this.
struct Pattern {
  std::uint64_t yes;
  double share;
};

// Leaves with equally many links, from begin to end in PathTree::by_length.
struct Run {
  std::size_t n_links;
  std::uint32_t begin, end;
};

template <class Real>
struct PathTree {
  std::vector<Split> splits;               // in the order of the nodes
  std::vector<std::uint32_t> first;        // (L + 1,) where the links of a leaf begin
  std::vector<std::int32_t> feature;       // of a link
  std::vector<Real> z;                     // of a link
  std::vector<std::uint32_t> slot;         // of a link: the place of its weight, feature by feature
  std::vector<std::uint32_t> step_first;   // where the steps of a link begin; one more at the end
  std::vector<std::uint32_t> steps;        // 2 split + (1 if the path goes right)
  std::vector<std::uint32_t> by_length;    // the leaves, those with fewer links first
  std::vector<Run> runs;                   // of leaves with equally many links
  std::vector<std::size_t> ratio_first;    // (L,)
  std::vector<Real> ratio;                 // of a link: (1 - z) / (t + (1 - t) z) at the Q points t of the leaf's rule
  std::vector<std::int32_t> used;          // the features, ascending
  std::vector<std::uint32_t> used_first;   // where their slots begin; one more at the end
  std::vector<std::uint32_t> slot_leaf;    // the leaf of a slot
  std::vector<std::size_t> pattern_first;  // (L + 1,) where the patterns of a leaf begin; empty without a background
  std::vector<Pattern> patterns;

  std::size_t n_leaves() const { return first.size() - 1; }
  std::size_t n_links(std::size_t leaf) const { return first[leaf + 1] - first[leaf]; }
};

inline std::size_t n_points(std::size_t n_links) { return (n_links + 1) / 2; }

// Takes a tree apart. `count` are the rows of the nodes; a node without rows shares them evenly.
template <class Real>
class PathMaker {
 public:
  PathMaker(const Node* nodes, std::size_t size, const double* count, Rules<Real>& rules)
      : nodes_(nodes), count_(count), rules_(rules), number_(size, 0), paths_((size + 1) / 2), seen_((size + 1) / 2) {
    for (std::size_t i = 0; i < size; ++i) {
      if (nodes[i].feature < 0) continue;
      number_[i] = static_cast<std::uint32_t>(tree_.splits.size());
      tree_.splits.push_back({nodes[i].threshold, nodes[i].feature, nodes[i].category, nodes[i].missing_left != 0});
    }
  }

  PathTree<Real> make() {
    descend();
    if (std::find(seen_.begin(), seen_.end(), false) != seen_.end())
      throw std::invalid_argument("every leaf of a tree must have an index of its own");
    tree_.first = {0}, tree_.step_first = {0};
    for (const Path& path : paths_) add_leaf(path);
    sort_by_feature();
    sort_by_length();
    return std::move(tree_);
  }

 private:
  struct Question {
    double z = 1.0;
    std::vector<std::uint32_t> steps;
  };
  using Path = std::map<std::int32_t, Question>;  // by feature, ascending

  // Without recursion: a tree may be as deep as it has leaves.
  void descend() {
    std::vector<std::pair<std::size_t, Path>> waiting;
    waiting.emplace_back(0, Path{});
    while (!waiting.empty()) {
      auto [at, path] = std::move(waiting.back());
      waiting.pop_back();
      const Node& node = nodes_[at];
      const auto left = static_cast<std::size_t>(node.left);
      if (node.feature < 0) {
        if (seen_[left]) throw std::invalid_argument("every leaf of a tree must have an index of its own");
        seen_[left] = true, paths_[left] = std::move(path);
        continue;
      }
      const double total = count_[left] + count_[left + 1];
      for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
        Path longer = path;
        Question& question = longer[node.feature];
        question.z *= total > 0.0 ? count_[left + side] / total : 0.5;
        question.steps.push_back(2 * number_[at] + static_cast<std::uint32_t>(side));
        waiting.emplace_back(left + side, std::move(longer));
      }
    }
  }

  void add_leaf(const Path& path) {
    tree_.ratio_first.push_back(tree_.ratio.size());
    const std::size_t Q = n_points(path.size());
    const Rule<Real>& rule = rules_.of(Q);
    for (const auto& [feature, question] : path) {
      tree_.feature.push_back(feature);
      tree_.z.push_back(static_cast<Real>(question.z));
      tree_.steps.insert(tree_.steps.end(), question.steps.begin(), question.steps.end());
      tree_.step_first.push_back(static_cast<std::uint32_t>(tree_.steps.size()));
      for (std::size_t q = 0; q < Q; ++q)
        tree_.ratio.push_back(static_cast<Real>((1.0 - question.z) / (rule.at[q] + rule.rest[q] * question.z)));
    }
    tree_.first.push_back(static_cast<std::uint32_t>(tree_.feature.size()));
  }

  void sort_by_feature() {
    std::map<std::int32_t, std::vector<std::uint32_t>> links;
    std::vector<std::uint32_t> leaf_of;
    for (std::size_t l = 0; l < tree_.n_leaves(); ++l)
      leaf_of.resize(tree_.first[l + 1], static_cast<std::uint32_t>(l));
    for (std::size_t k = 0; k < tree_.feature.size(); ++k)
      links[tree_.feature[k]].push_back(static_cast<std::uint32_t>(k));
    tree_.slot.resize(tree_.feature.size());
    for (const auto& [feature, of_feature] : links) {
      tree_.used.push_back(feature);
      tree_.used_first.push_back(static_cast<std::uint32_t>(tree_.slot_leaf.size()));
      for (const std::uint32_t link : of_feature) {
        tree_.slot[link] = static_cast<std::uint32_t>(tree_.slot_leaf.size());
        tree_.slot_leaf.push_back(leaf_of[link]);
      }
    }
    tree_.used_first.push_back(static_cast<std::uint32_t>(tree_.slot_leaf.size()));
  }

  void sort_by_length() {
    std::map<std::size_t, std::vector<std::uint32_t>> leaves;
    for (std::size_t l = 0; l < tree_.n_leaves(); ++l)
      leaves[tree_.n_links(l)].push_back(static_cast<std::uint32_t>(l));
    for (const auto& [n_links, of_length] : leaves) {
      const auto begin = static_cast<std::uint32_t>(tree_.by_length.size());
      tree_.by_length.insert(tree_.by_length.end(), of_length.begin(), of_length.end());
      tree_.runs.push_back({n_links, begin, static_cast<std::uint32_t>(tree_.by_length.size())});
    }
  }

  const Node* nodes_;
  const double* count_;
  Rules<Real>& rules_;
  std::vector<std::uint32_t> number_;  // of a node among the splits
  std::vector<Path> paths_;
  std::vector<bool> seen_;
  PathTree<Real> tree_;
};

}  // namespace simplexboost
