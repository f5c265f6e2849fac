// Many rounds of the flagship in one call. Each is what `SketchedNewton.propose` and `Run.apply` do in Python, by the
// same operations in the same order: the pull of the rows, a tree, its leaf values, F += step * values. It needs no
// Python: what is random was drawn before. A round that is unusual in any way (no edge, numbers that are not finite, F
// that might grow too large, statistics that cannot be grown on) is left to Python: it has changed nothing but the
// arrays of the pull, which the next pull writes again.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/exact.hpp"
#include "forest/add.hpp"
#include "losses/newton.hpp"
#include "losses/row_loss.hpp"
#include "rounds/complete.hpp"
#include "trees/bytes.hpp"
#include "trees/data.hpp"
#include "trees/grow.hpp"
#include "trees/leaves.hpp"
#include "trees/source.hpp"

namespace simplexboost {

// What is the same in every round.
struct RoundRule {
  GrowOptions growth;
  int bits;  // of a lane
  LeafOptions leaf;
};

// What was drawn for one round: the sketched codewords of one direction, the seed of the tree, the rows and the
// features that it is grown on, and the rows below which a category is not ordered.
struct RoundDraw {
  const float* Z;  // (K,)
  std::uint64_t seed;
  const std::uint32_t* rows;  // (n_rows,), null for all n rows
  std::size_t n_rows;
  std::vector<std::int32_t> features;
  std::int64_t min_category_count;
};

// The rows: the predictor, and what `pull` writes.
struct RoundState {
  float* F;  // (n, d)
  RowArrays arrays;
  double* stats;         // (n, 2)
  const double* weight;  // (n,) or null
  double weights;        // their sum
  double reach, limit;   // a bound on the entries of F, and what it must stay below
};

// The rounds so far: their trees one after another, and (rounds,) of what the history records.
struct MadeRounds {
  std::vector<std::uint8_t> nodes, sets;  // as bytes
  std::vector<double> gain;
  std::vector<std::int64_t> count, first_node = {0}, first_set = {0};
  std::vector<float> values;                // (leaves of all trees, d)
  std::vector<double> risk, edge, seconds;  // the risk before a round, its edge, and when it ended

  std::size_t size() const { return risk.size(); }
  void add(const Tree& tree, const std::vector<float>& of_leaves) {
    const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
    append(nodes, node_bytes(tree.nodes)), append(sets, set_bytes(tree.category_sets));
    append(gain, tree.gain), append(count, tree.count), append(values, of_leaves);
    first_node.push_back(static_cast<std::int64_t>(gain.size()));
    first_set.push_back(static_cast<std::int64_t>(sets.size() / sizeof(CategorySet)));
  }
};

class Rounds {
 public:
  Rounds(LogisticLoss& loss, const BinnedView& data, const ColumnValues& values, const RoundRule& rule)
      : loss_(loss), data_(data), values_(values), rule_(rule) {}

  // Makes one round, unless it is unusual.
  bool make(const RoundDraw& draw, RoundState& state, double step, int n_threads, MadeRounds& made) {
    try {
      return rule_.bits == 64 ? make_with<std::int64_t>(draw, state, step, n_threads, made)
                              : make_with<std::int32_t>(draw, state, step, n_threads, made);
    } catch (const std::invalid_argument&) {
      return false;  // Python will come upon the same error
    }
  }

 private:
  template <class Lane>
  bool make_with(const RoundDraw& draw, RoundState& state, double step, int n_threads, MadeRounds& made) {
    loss_.pull(state.arrays, draw.Z, 1, 1.0f, state.stats, n_threads);
    StatisticsView statistics;
    statistics.dense = state.stats, statistics.m = 2;
    LocalSource<Lane> source(data_, statistics, rows_of(draw, n_threads), draw.features, {{0, 0}}, draw.seed,
                             n_threads);
    Columns columns = data_;
    columns.zero = data_.sparse.zero;
    GrowOptions growth = rule_.growth;
    growth.seed = draw.seed, growth.n_threads = n_threads;
    growth.split.categories.min_count = draw.min_category_count;
    Grown grown = grow_tree<Lane>(source, columns, 2, draw.features, growth);
    complete(grown.tree, values_);
    LeafRows leaves;
    for (Cell cell : grown.leaf_cell) leaves.push_back(source.rows_of(cell));
    leaf_of_row_.resize(data_.n);
    leaf_of_rows(grown.tree, leaves, data_, leaf_of_row_.data(), n_threads);

    const RowLeaves of{leaf_of_row_.data(), data_.n, leaves.size(), draw.rows, draw.n_rows};
    std::vector<float> values(leaves.size() * loss_.d());
    const LeafScales scales{loss_.largest_weight(state.arrays.scale), of.used()};
    loss_.newton_leaves(state.arrays, of, scales, rule_.leaf, values.data(), n_threads);

    const LimbScales limbs(grown.largest, source.n_rows());
    const double edge = edge_of(limb_values(leaf_limbs(leaves, statistics, limbs, n_threads), 2, limbs), draw, state,
                                values, n_threads),
                 risk = risk_of(state, n_threads), moves = std::abs(step) * largest_of(values);
    if (edge == 0.0 || !std::isfinite(edge) || !std::isfinite(risk) || !(state.reach + moves < state.limit))
      return false;
    add_values(state.F, data_.n, loss_.d(), values.data(), leaves.size(), static_cast<float>(step), leaf_of_row_.data(),
               n_threads);
    state.reach += moves;
    made.add(grown.tree, values);
    made.risk.push_back(risk), made.edge.push_back(edge);
    return true;
  }

  Rows rows_of(const RoundDraw& draw, int n_threads) const {
    Rows rows(draw.rows == nullptr ? data_.n : draw.n_rows);
    parallel_ranges(rows.size(), kRowGrain, n_threads, [&](std::size_t begin, std::size_t end) {
      for (std::size_t r = begin; r < end; ++r)
        rows[r] = draw.rows == nullptr ? static_cast<std::uint32_t>(r) : draw.rows[r];
    });
    return rows;
  }

  // `sketched_edge` in parts/optimizers/sketched.py, from sums (L, 2) over the leaves; NaN where a number is not
  // finite.
  double edge_of(const std::vector<double>& sums, const RoundDraw& draw, const RoundState& state,
                 const std::vector<float>& values, int n_threads) const {
    const std::size_t n_leaves = sums.size() / 2;
    if (n_leaves == 1 && largest_of(values) < 1e-6) return 0.0;
    double longest = 0.0, along = 0.0;
    for (std::size_t leaf = 0; leaf < n_leaves; ++leaf) {
      const double g = sums[2 * leaf], h = sums[2 * leaf + 1] + rule_.leaf.l2, v = h > 0.0 ? g / h : 0.0;
      if (!std::isfinite(v)) return std::numeric_limits<double>::quiet_NaN();
      longest = std::max(longest, std::abs(v));
      along += g * v;
    }
    const double size = exact_total(
        draw.rows == nullptr ? data_.n : draw.n_rows, n_threads,
        [&](std::size_t begin, std::size_t count, double* buffer) {
          for (std::size_t i = 0; i < count; ++i)
            buffer[i] = std::abs(state.stats[2 * (draw.rows == nullptr ? begin + i : draw.rows[begin + i])]);
          return static_cast<const double*>(buffer);
        });
    const double most = size * longest;
    return most > 0.0 || std::isnan(most) ? along / most : 0.0;
  }

  // The mean weighted loss before the round.
  double risk_of(const RoundState& state, int n_threads) const {
    const double total = exact_total(data_.n, n_threads, [&](std::size_t begin, std::size_t count, double* buffer) {
      for (std::size_t i = 0; i < count; ++i) {
        const double loss = static_cast<double>(state.arrays.loss[begin + i]);
        buffer[i] = state.weight == nullptr ? loss : state.weight[begin + i] * loss;
      }
      return static_cast<const double*>(buffer);
    });
    return total / state.weights;
  }

  // The largest absolute value; infinite if one is not a number.
  static double largest_of(const std::vector<float>& values) {
    float largest = 0.0f;
    for (float value : values) {
      if (std::isnan(value)) return std::numeric_limits<double>::infinity();
      largest = std::max(largest, std::abs(value));
    }
    return static_cast<double>(largest);
  }

  LogisticLoss& loss_;
  const BinnedView& data_;
  ColumnValues values_;
  RoundRule rule_;
  std::vector<std::int32_t> leaf_of_row_;
};

}  // namespace simplexboost
