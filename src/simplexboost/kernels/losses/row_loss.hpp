// The logistic loss on the rows of one shard; tables that depend on codewords and costs only are computed once. Leaf
// values are computed in two steps, integer sums and values from the sums, so that the sums of several shards can be
// added in between.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/hot.hpp"
#include "losses/codewords.hpp"
#include "losses/logistic.hpp"
#include "losses/newton.hpp"

namespace simplexboost {

// The rows and the loss; see RowProblem in engine/interface.py.
struct RowProblem {
  const float* Y;         // (K, d), null for canonical codewords
  const std::int64_t* c;  // (n,)
  const float* weight;    // (n,) or null
  const float* log_cost;  // (K, K) or null
  std::size_t n, K, d;    // d = K for canonical codewords
  std::uint64_t n_all;    // rows of all shards
  int exponent_a, exponent_b;
};

// What `pull` writes for every row, and the leaves read again. The pull of the rows is their negative gradient, the
// direction in which they would move F.
struct RowArrays {
  const float* F;  // (n, d)
  float* G;        // (n, d), null for canonical codewords
  float* loss;     // (n,)
  double* scale;   // (n,), or null if all weights are one
};

class LogisticLoss {
 public:
  explicit LogisticLoss(const RowProblem& problem) : problem_(problem), Kp_(padded(problem.K)) {
    const std::size_t K = problem.K;
    if (problem.Y != nullptr) {
      Y_.assign(problem.Y, problem.Y + K * problem.d);
      YT_ = transposed(problem.Y, K, problem.d, Kp_);
    }
    if (problem.log_cost != nullptr) {
      log_cost_.assign(K * Kp_, 0.0f);
      for (std::size_t k = 0; k < K; ++k) std::copy_n(problem.log_cost + k * K, K, log_cost_.data() + k * Kp_);
    }
  }

  bool canonical() const { return Y_.empty(); }
  bool tilted() const { return problem_.exponent_a != 0 || problem_.exponent_b != 0; }
  std::size_t n() const { return problem_.n; }
  std::size_t K() const { return problem_.K; }
  std::size_t d() const { return problem_.d; }

  // Fills in G, stats (n, s + 1), loss and scale at F, with sketched codewords Z (K, s).
  void pull(const RowArrays& arrays, const float* Z, std::size_t s, float tilt_scale, double* stats, int n_threads) {
    const std::size_t K = problem_.K, d = problem_.d, Ep = canonical() ? 0 : padded(d + s + 1);
    std::vector<float> E(canonical() ? (s + 1) * Kp_ : K * Ep, 0.0f);
    for (std::size_t k = 0; k < K; ++k) {
      if (!canonical()) std::copy_n(Y_.data() + k * d, d, E.data() + k * Ep);
      const auto sketched = [&](std::size_t j) -> float& { return canonical() ? E[j * Kp_ + k] : E[k * Ep + d + j]; };
      for (std::size_t j = 0; j < s; ++j) {
        const float z = Z[k * s + j];
        sketched(j) = z;
        sketched(s) += z * z;
      }
    }
    if (canonical() && P_.empty() && problem_.n_all * Kp_ <= kMostKept) P_.resize(problem_.n * Kp_);
    LogisticArgs args = arguments(arrays);
    args.E = E.data(), args.s = s, args.Ep = Ep, args.tilt_scale = tilt_scale, args.stats = stats;
    logistic_pull(args, n_threads);
  }

  // The largest weight of a row in the last `pull`.
  double largest_weight(const double* scale) const {
    return scale == nullptr ? 1.0 : hot().largest_magnitude(scale, problem_.n);
  }

  // The number of integers per leaf: for canonical codewords slope and curvature (2 K), otherwise the gradient and the
  // weight (d + 1) and the sums over the sample.
  std::size_t sums_size() const { return canonical() ? 2 * problem_.K : problem_.d + 1 + sample_size(codewords()); }

  // sums (L, sums_size()) over this shard's rows.
  std::vector<std::uint64_t> leaf_sums(const RowArrays& arrays, const LeafRows& leaves,
                                       const std::vector<LeafShare>& shares, const LeafScales& scales, int n_threads) {
    const LogisticArgs args = arguments(arrays);
    if (canonical()) return diagonal_sums(leaves, args, scales, n_threads);
    const Codewords code = codewords();
    const std::size_t d = problem_.d, size = sums_size();
    const auto gradient = gradient_sums(leaves, args, code, scales, n_threads);
    std::vector<std::uint64_t> out(leaves.size() * size);
    parallel_for(leaves.size(), n_threads, [&](std::size_t leaf) {
      std::copy_n(gradient.data() + leaf * (d + 1), d + 1, out.data() + leaf * size);
      sample_sums(args, code, leaves[leaf], shares[leaf], scales, out.data() + leaf * size + d + 1);
    });
    return out;
  }

  // values (L, d) from the sums of all shards.
  void leaf_values(const std::uint64_t* sums, std::size_t n_leaves, const LeafScales& scales,
                   const LeafOptions& options, float* values, int n_threads) const {
    const std::size_t K = problem_.K, d = problem_.d, size = sums_size();
    if (canonical()) {
      const int threads = worth_threads(n_leaves * K, 1 << 12, n_threads);
      return parallel_ranges(n_leaves, 8, threads, [&](std::size_t begin, std::size_t end) {
        std::vector<float> scratch;
        for (std::size_t leaf = begin; leaf < end; ++leaf)
          diagonal_step(sums + leaf * size, K, scales, options, values + leaf * d, scratch);
      });
    }
    const Codewords code = codewords();
    parallel_for(n_leaves, n_threads, [&](std::size_t leaf) {
      const std::uint64_t* of = sums + leaf * size;
      exact_step(code, of, of + d + 1, scales, options.l2, options.max_step, values + leaf * d);
    });
  }

  // Both steps, if this shard has all rows. The sums over a leaf's sample are used at once and not kept, because those
  // of all leaves together may be large.
  void newton_leaves(const RowArrays& arrays, const RowLeaves& of, const LeafScales& scales, const LeafOptions& options,
                     float* values, int n_threads) {
    const LogisticArgs args = arguments(arrays);
    if (canonical() && table_size(of.n_leaves, Kp_) <= kSmallTable) {
      const auto sums = diagonal_sums(of, args, scales, n_threads);
      return leaf_values(sums.data(), of.n_leaves, scales, options, values, n_threads);
    }
    const GroupedRows grouped(of, n_threads);
    const LeafRows& leaves = grouped.leaves;
    if (canonical()) {
      const auto sums = diagonal_sums(leaves, args, scales, n_threads);
      return leaf_values(sums.data(), leaves.size(), scales, options, values, n_threads);
    }
    const Codewords code = codewords();
    const std::size_t d = problem_.d;
    const auto gradient = gradient_sums(leaves, args, code, scales, n_threads);
    parallel_for(leaves.size(), n_threads, [&](std::size_t leaf) {
      std::vector<std::uint64_t> sample(sample_size(code));
      sample_sums(args, code, leaves[leaf], {0, leaves[leaf].size()}, scales, sample.data());
      exact_step(code, gradient.data() + leaf * (d + 1), sample.data(), scales, options.l2, options.max_step,
                 values + leaf * d);
    });
  }

 private:
  Codewords codewords() const { return Codewords(Y_.data(), problem_.K, problem_.d); }

  LogisticArgs arguments(const RowArrays& arrays) {
    LogisticArgs args{};
    args.F = arrays.F, args.G = arrays.G, args.loss = arrays.loss, args.scale = arrays.scale;
    args.YT = canonical() ? nullptr : YT_.data(), args.c = problem_.c, args.weight = problem_.weight;
    args.log_cost = log_cost_.empty() ? nullptr : log_cost_.data();
    args.tilt_a = problem_.exponent_a, args.tilt_b = problem_.exponent_b;
    args.n = problem_.n, args.K = problem_.K, args.Kp = Kp_, args.d = problem_.d;
    args.P = P_.empty() ? nullptr : P_.data();
    return args;
  }

  RowProblem problem_;
  std::size_t Kp_;
  std::vector<float> Y_, YT_, log_cost_, P_;

  // Probabilities are kept from `pull` to the leaves if they fit in the third-level cache. Otherwise they are computed
  // again from the logits, which moves half as many bytes. All shards must decide the same way, because the two differ
  // in the last digits.
  static constexpr std::size_t kMostKept = 1 << 21;
};

}  // namespace simplexboost
