// Divides the rows of nodes between their children.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/pool.hpp"
#include "trees/data.hpp"
#include "trees/quantize.hpp"
#include "trees/split.hpp"

namespace simplexboost {

// Copies rows[0, n_rows) to `spare`, those that go left from its front and the others from its back; returns the number
// that go left. Each row is written at both ends, and only the valid end advances, so that there is no branch to
// mispredict.
template <class GoesLeft>
std::size_t scatter_by(const std::uint32_t* rows, std::size_t n_rows, std::uint32_t* spare, const GoesLeft& goes_left) {
  std::uint32_t *front = spare, *back = spare + n_rows - 1;
  for (std::size_t r = 0; r < n_rows; ++r) {
    const bool left = goes_left(rows[r]);
    *front = *back = rows[r];
    front += left;
    back -= !left;
  }
  return static_cast<std::size_t>(front - spare);
}

// The first of some ascending row numbers that is at least `row`, by steps that double: as fast as a merge where many
// of them are passed one by one, and as a bisection where few are asked for.
inline const std::uint32_t* advance_to(const std::uint32_t* at, const std::uint32_t* end, std::uint32_t row) {
  std::ptrdiff_t step = 1;
  while (step < end - at && at[step] < row) step *= 2;
  return std::lower_bound(at + step / 2, std::min(at + step, end), row);
}

// The rows ascend, and so do those of the column's entries; all others have the code of zero.
inline std::size_t scatter_sparse(const std::uint32_t* rows, std::size_t n_rows, std::uint32_t* spare,
                                  const BinnedView& data, const Split& split) {
  const std::size_t f = static_cast<std::size_t>(split.feature);
  const int missing = data.has_missing[f] ? data.n_bins[f] : 256;
  const auto left = [&](int code) {
    if (split.categorical) return split.left.has(static_cast<std::size_t>(code));
    return code == missing ? split.missing_left : code <= split.bin;
  };
  const SparseView& sparse = data.sparse;
  const std::uint32_t *at = sparse.rows + sparse.first[f], *end = sparse.rows + sparse.first[f + 1];
  const bool zero_left = left(sparse.zero[f]);
  return scatter_by(rows, n_rows, spare, [&](std::uint32_t row) {
    if (at != end && *at < row) at = advance_to(at, end, row);
    return at != end && *at == row ? left(sparse.codes[at - sparse.rows]) : zero_left;
  });
}

inline std::size_t scatter(const std::uint32_t* rows, std::size_t n_rows, std::uint32_t* spare, const BinnedView& data,
                           const Split& split) {
  if (data.is_sparse()) return scatter_sparse(rows, n_rows, spare, data, split);
  const std::size_t f = static_cast<std::size_t>(split.feature);
  const std::uint8_t* codes = data.column(f);
  if (split.categorical)
    return scatter_by(rows, n_rows, spare, [&](std::uint32_t row) { return split.left.has(codes[row * kTile]); });
  const int missing = data.has_missing[f] ? data.n_bins[f] : 256;
  return scatter_by(rows, n_rows, spare, [&](std::uint32_t row) {
    const int code = codes[row * kTile];
    return code == missing ? split.missing_left : code <= split.bin;
  });
}

// Cuts of several ranges of rows, each by its own split, together: a pass over all rows copies them to `spare` chunk by
// chunk, and another one copies them back, those that go left first. Both keep the order of the rows, whatever the
// chunks.
class Partition {
 public:
  Partition(std::uint32_t* rows, std::uint32_t* spare, const BinnedView& data)
      : rows_(rows), spare_(spare), data_(data) {}

  void add(std::size_t begin, std::size_t end, const Split& split) { cuts_.push_back({begin, end, begin, &split}); }

  std::size_t middle(std::size_t cut) const { return cuts_[cut].middle; }  // where the right part begins

  // placed(cut, goes_left, begin, end) is called for rows that are at their new places.
  template <class Placed>
  void run(std::size_t grain, int n_threads, const Placed& placed) {
    for (std::size_t i = 0; i < cuts_.size(); ++i)
      for (std::size_t at = cuts_[i].begin; at < cuts_[i].end; at += grain)
        chunks_.push_back({i, at, std::min(at + grain, cuts_[i].end), 0, 0});
    parallel_for(chunks_.size(), n_threads, [&](std::size_t i) {
      Chunk& chunk = chunks_[i];
      chunk.n_left =
          scatter(rows_ + chunk.begin, chunk.end - chunk.begin, spare_ + chunk.begin, data_, *cuts_[chunk.cut].split);
    });
    for (Chunk& chunk : chunks_) {
      chunk.left_at = cuts_[chunk.cut].middle;
      cuts_[chunk.cut].middle += chunk.n_left;
    }
    parallel_for(chunks_.size(), n_threads, [&](std::size_t i) {
      const Chunk& chunk = chunks_[i];
      const Cut& cut = cuts_[chunk.cut];
      const std::size_t n_right = chunk.end - chunk.begin - chunk.n_left;
      const std::size_t right_at = cut.middle + (chunk.begin - cut.begin) - (chunk.left_at - cut.begin);
      std::copy_n(spare_ + chunk.begin, chunk.n_left, rows_ + chunk.left_at);
      std::reverse_copy(spare_ + chunk.begin + chunk.n_left, spare_ + chunk.end, rows_ + right_at);
      placed(chunk.cut, true, chunk.left_at, chunk.left_at + chunk.n_left);
      placed(chunk.cut, false, right_at, right_at + n_right);
    });
  }

 private:
  struct Cut {
    std::size_t begin, end, middle;
    const Split* split;
  };
  struct Chunk {
    std::size_t cut, begin, end, n_left, left_at;
  };

  std::uint32_t *rows_, *spare_;
  const BinnedView& data_;
  std::vector<Cut> cuts_;
  std::vector<Chunk> chunks_;
};

}  // namespace simplexboost
