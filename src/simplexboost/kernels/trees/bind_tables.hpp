// Tables and the options of growth as bindings get them: checked once, for growing one tree and for many rounds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "core/bind.hpp"
#include "trees/grown.hpp"
#include "trees/quantize.hpp"
#include "trees/sparse.hpp"
#include "trees/symmetric.hpp"

namespace simplexboost {

inline Columns columns_of(const In<std::int32_t, Vector>& n_bins, const In<std::uint8_t, Vector>& has_missing,
                          const In<std::uint8_t, Vector>& categorical) {
  const std::size_t p = n_bins.shape(0);
  require(p > 0 && has_missing.shape(0) == p && categorical.shape(0) == p,
          "has_missing and categorical must have one entry per feature");
  Columns columns{p, n_bins.data(), has_missing.data(), categorical.data(), std::vector<std::size_t>(p + 1)};
  for (std::size_t f = 0; f < p; ++f) {
    require(n_bins.data()[f] >= 1 && n_bins.data()[f] <= 255, "n_bins must lie in 1 .. 255");
    columns.offset[f + 1] =
        columns.offset[f] + static_cast<std::size_t>(n_bins.data()[f]) + (has_missing.data()[f] ? 1 : 0);
  }
  return columns;
}

// The bins of a table's features, of which all its codes are known to be.
class Bins {
 public:
  explicit Bins(const Columns& columns)
      : offset_(columns.offset), missing_(columns.has_missing, columns.has_missing + columns.p) {}
  std::size_t p() const { return missing_.size(); }
  std::size_t of(std::size_t f) const { return offset_[f + 1] - offset_[f]; }  // with the one of missing values
  bool are_those_of(const Columns& columns) const {
    return offset_ == columns.offset && std::equal(missing_.begin(), missing_.end(), columns.has_missing);
  }

 private:
  std::vector<std::size_t> offset_;
  std::vector<std::uint8_t> missing_;
};

// Dense codes (n_blocks, n, 8) whose range has been checked. That takes a pass over all of them, as a tree takes
// several: so it is done once for all trees.
class DenseTable {
 public:
  DenseTable(In<std::uint8_t, Codes> codes, In<std::int32_t, Vector> n_bins, In<std::uint8_t, Vector> has_missing,
             int n_threads)
      : codes_(codes), bins_(columns_of(n_bins, has_missing, has_missing)) {
    check_threads(n_threads);
    require(codes.shape(0) == (bins_.p() + kTile - 1) / kTile && codes.shape(2) == kTile,
            "codes must be (n_blocks, n, 8)");
    require(n() < (std::size_t{1} << 30), "more than 2^30 rows");
    WithoutGil release;
    parallel_for(codes.shape(0), n_threads, [&](std::size_t block) { check_block(block); });
  }

  std::size_t n() const { return codes_.shape(1); }
  const std::uint8_t* codes() const { return codes_.data(); }
  const Bins& bins() const { return bins_; }

 private:
  void check_block(std::size_t block) const {
    std::uint8_t largest[kTile] = {};
    const std::uint8_t* codes = codes_.data() + block * n() * kTile;
    for (std::size_t i = 0; i < n() * kTile; i += kTile)
      for (std::size_t c = 0; c < kTile; ++c) largest[c] = std::max(largest[c], codes[i + c]);
    for (std::size_t f = block * kTile; f < std::min(bins_.p(), (block + 1) * kTile); ++f)
      require(n() == 0 || largest[f % kTile] < bins_.of(f), "a code beyond the bins of its column");
  }

  In<std::uint8_t, Codes> codes_;
  Bins bins_;
};

// Sparse codes, by columns as Python has them and by rows.
class SparseTable {
 public:
  SparseTable(In<std::uint8_t, Vector> zero, In<std::int64_t, Vector> first, In<std::uint32_t, Vector> rows,
              In<std::uint8_t, Vector> codes, In<std::int32_t, Vector> n_bins, In<std::uint8_t, Vector> has_missing,
              std::size_t n, int n_threads)
      : zero_(zero),
        first_(first),
        rows_(rows),
        codes_(codes),
        n_(n),
        bins_(columns_of(n_bins, has_missing, has_missing)) {
    check_threads(n_threads);
    const Columns columns = columns_of(n_bins, has_missing, has_missing);
    const std::size_t p = columns.p, n_entries = rows.shape(0);
    require(n < (std::size_t{1} << 30), "more than 2^30 rows");
    require(columns.total_bins() < (std::size_t{1} << 32), "more than 2^32 bins");
    require(zero.shape(0) == p && first.shape(0) == p + 1 && codes.shape(0) == n_entries,
            "the arrays of the sparse codes disagree");
    require(first.data()[0] == 0 && std::is_sorted(first.data(), first.data() + p + 1) &&
                first.data()[p] == static_cast<std::int64_t>(n_entries),
            "the columns must span the entries");
    for (std::size_t f = 0; f < p; ++f) {
      const std::size_t bins = columns.offset[f + 1] - columns.offset[f];
      require(zero.data()[f] < bins, "a code beyond the bins of its column");
      for (std::int64_t e = first.data()[f]; e < first.data()[f + 1]; ++e)
        require(codes.data()[e] < bins && rows.data()[e] < n &&
                    (e == first.data()[f] || rows.data()[e - 1] < rows.data()[e]),
                "the rows of a column must ascend, and its codes be bins");
    }
    WithoutGil release;
    strips_ = make_strips(columns, first.data(), rows.data(), codes.data(), n, n_threads);
  }

  std::size_t n() const { return n_; }
  const Bins& bins() const { return bins_; }
  SparseView view() const {
    return {zero_.data(),       first_.data(),        rows_.data(),          codes_.data(),
            strips_.n_strips(), strips_.strip.data(), strips_.starts.data(), strips_.bins.data()};
  }

 private:
  In<std::uint8_t, Vector> zero_;
  In<std::int64_t, Vector> first_;
  In<std::uint32_t, Vector> rows_;
  In<std::uint8_t, Vector> codes_;
  std::size_t n_;
  Bins bins_;
  Strips strips_;
};

inline BinnedView view(const DenseTable* dense, const SparseTable* sparse, const Columns& columns) {
  require((dense != nullptr) != (sparse != nullptr), "codes are either dense or sparse");
  require((dense != nullptr ? dense->bins() : sparse->bins()).are_those_of(columns), "the codes have other bins");
  if (sparse != nullptr) return {columns, nullptr, sparse->n(), sparse->view()};
  return {columns, dense->codes(), dense->n()};
}

inline Rows rows_of(const std::optional<In<std::uint32_t, Vector>>& rows, std::size_t n, int n_threads) {
  Rows used(rows ? rows->shape(0) : n);
  parallel_ranges(used.size(), kRowGrain, n_threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) used[r] = rows ? rows->data()[r] : static_cast<std::uint32_t>(r);
  });
  for (std::size_t r = 0; rows && r < used.size(); ++r)
    require(used[r] < n && (r == 0 || used[r - 1] < used[r]), "rows must be ascending row numbers");
  return used;
}

// Some features (ascending), or all p if there is no list.
inline std::vector<std::int32_t> checked_features(const std::int32_t* features, std::size_t n_features, std::size_t p) {
  std::vector<std::int32_t> columns(features == nullptr ? p : n_features);
  if (features != nullptr) std::copy_n(features, n_features, columns.begin());
  else std::iota(columns.begin(), columns.end(), 0);
  require(!columns.empty(), "features must not be empty");
  for (std::size_t i = 0; i < columns.size(); ++i)
    require(columns[i] >= 0 && static_cast<std::size_t>(columns[i]) < p && (i == 0 || columns[i - 1] < columns[i]),
            "features must be ascending feature numbers");
  return columns;
}

inline std::vector<std::int32_t> features_of(const std::optional<In<std::int32_t, Vector>>& features, std::size_t p) {
  return checked_features(features ? features->data() : nullptr, features ? features->shape(0) : 0, p);
}

// Groups of features: group g is features[starts[g] .. starts[g + 1] - 1].
inline std::vector<std::vector<std::int32_t>> groups_of(const std::optional<In<std::int32_t, Vector>>& features,
                                                        const std::optional<In<std::int64_t, Vector>>& starts,
                                                        std::size_t p) {
  std::vector<std::vector<std::int32_t>> groups;
  require(features.has_value() == starts.has_value(), "groups and group_starts go together");
  if (!features) return groups;
  const auto size = static_cast<std::int64_t>(features->shape(0));
  for (std::size_t g = 0; g + 1 < starts->shape(0); ++g) {
    const std::int64_t begin = starts->data()[g], end = starts->data()[g + 1];
    require(begin >= 0 && begin <= end && end <= size, "group_starts must be ascending places in groups");
    groups.emplace_back(features->data() + begin, features->data() + end);
    const auto& group = groups.back();
    for (std::size_t i = 0; i < group.size(); ++i)
      require(group[i] >= 0 && static_cast<std::size_t>(group[i]) < p && (i == 0 || group[i - 1] < group[i]),
              "groups must hold ascending feature numbers");
  }
  return groups;
}

inline GrowOptions grow_options(int score, double l2, int max_depth, int max_leaves, std::int64_t min_samples_leaf,
                                std::int64_t min_category_count, double category_smoothing, int order, double noise,
                                std::uint64_t seed, int bits, std::size_t histogram_memory, std::size_t most_together,
                                const std::optional<In<std::int32_t, Vector>>& groups,
                                const std::optional<In<std::int64_t, Vector>>& group_starts, std::size_t m,
                                std::size_t p, int n_threads) {
  require(is_amount(l2), "l2 must be finite and not negative");
  require(max_depth >= 0 && max_leaves >= 0, "max_depth and max_leaves must not be negative");
  require(min_samples_leaf >= 1, "min_samples_leaf must be 1 or more");
  require(score >= 0 && score <= static_cast<int>(Score::gini), "unknown score");
  require(static_cast<Score>(score) != Score::newton || m >= 2,
          "the newton score needs gradient and curvature columns");
  require(bits == 32 || bits == 64, "bits must be 32 or 64");
  require(order >= 0 && order <= static_cast<int>(GrowthOrder::symmetric), "unknown order of growth");
  require(order != static_cast<int>(GrowthOrder::symmetric) || (max_depth >= 0 && max_depth <= kMostLevels),
          "max_depth must be at most 15 for a symmetric tree");
  require(is_amount(noise), "noise must be finite and not negative");
  require(min_category_count >= 1 && is_amount(category_smoothing),
          "min_category_count must be 1 or more, category_smoothing finite and not negative");
  return {static_cast<Score>(score),
          l2,
          max_depth,
          max_leaves,
          {min_samples_leaf, {min_category_count, category_smoothing}},
          static_cast<GrowthOrder>(order),
          noise,
          seed,
          histogram_memory,
          n_threads,
          {most_together, groups_of(groups, group_starts, p)}};
}

}  // namespace simplexboost
