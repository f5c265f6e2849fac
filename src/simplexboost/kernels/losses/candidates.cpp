#include "losses/candidates.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>

#include "core/isa.hpp"
#include "core/pool.hpp"

namespace simplexboost {

inline void CandidateRows::check(std::size_t i) const {
  const auto m = static_cast<std::uint32_t>(count[i]);
  if (m > C || m >= K) throw std::invalid_argument("a row has more candidates than places or rivals");
  std::uint32_t top = 0;  // a negative number is a very large one without its sign
  for (std::size_t j = 0; j < m; ++j) top = std::max(top, static_cast<std::uint32_t>(classes[i * C + j]));
  if (top >= K) throw std::invalid_argument("candidates must lie in 0 .. K - 1");
}

namespace {

// Slope and curvature of the classes that rows of a leaf have, in tables of all classes that are used again.
class ClassSums {
 public:
  explicit ClassSums(std::size_t K) : sums_(2 * K, 0), leaf_(K, 0) {}

  void next_leaf() { ++now_, found_.clear(); }

  std::uint64_t* of(std::size_t k) {
    if (leaf_[k] != now_) leaf_[k] = now_, sums_[2 * k] = sums_[2 * k + 1] = 0, found_.push_back(k);
    return sums_.data() + 2 * k;
  }

  const std::vector<std::size_t>& found() const { return found_; }

 private:
  std::vector<std::uint64_t> sums_;
  std::vector<std::uint32_t> leaf_;  // the last leaf that had the class
  std::vector<std::size_t> found_;
  std::uint32_t now_ = 0;
};

// The moves of a leaf by class, and which of them a row has taken already.
struct LeafMoves {
  std::vector<float> moves = {};     // in the order of the leaf's entries
  std::vector<double> factors = {};  // exp(move)
  std::vector<std::int32_t> classes = {};
  std::vector<std::int32_t> place;      // (K,) where a class is in the above, or -1
  std::vector<std::uint64_t> row = {};  // the last row that took the move
  std::uint64_t now = 0;
  double total = 0.0;                         // of the factors
  std::vector<std::uint32_t> newcomers = {};  // scratch
  std::vector<float> buffer = {};

  explicit LeafMoves(std::size_t K) : place(K, -1) {}

  void next_leaf(const float* values, const std::int32_t* of, std::size_t n, float step) {
    for (std::int32_t k : classes) place[static_cast<std::size_t>(k)] = -1;
    classes.assign(of, of + n);
    moves.resize(n), factors.resize(n), row.assign(n, now);
    total = 0.0;
    for (std::size_t at = 0; at < n; ++at) {
      moves[at] = step * values[at];
      total += factors[at] = std::exp(static_cast<double>(moves[at]));
      place[static_cast<std::size_t>(of[at])] = static_cast<std::int32_t>(at);
    }
  }

  void next_row() { ++now; }
  void take(std::size_t at) { row[at] = now; }
  bool taken(std::size_t at) const { return row[at] == now; }
};

}  // namespace

namespace candidate_loops {

struct Table {
  void (*pull_range)(const CandidateRows&, const CandidatePull&, std::size_t, std::size_t, float*);
  void (*sum_rows)(const CandidateRows&, const float*, const double*, const std::uint32_t*, std::size_t, double, float*,
                   ClassSums&, std::uint64_t*);
  void (*move_row)(const CandidateRows&, std::size_t, LeafMoves&);
};

#define LOOPS "losses/candidates.inl"
#include "core/clones.inl"

}  // namespace candidate_loops

void candidate_pull(const CandidateRows& rows, const CandidatePull& pull, int n_threads) {
  const auto pull_range = candidate_loops::chosen().pull_range;
  parallel_ranges(rows.n, 1024, n_threads, [&](std::size_t begin, std::size_t end) {
    std::vector<float> P(rows.C);
    pull_range(rows, pull, begin, end, P.data());
  });
}

namespace {

// The sums of some rows of a leaf: (slope, curvature) of a class of the rest, and what single classes have beyond it.
struct ChunkSums {
  std::uint64_t base[2] = {0, 0};
  std::vector<std::uint64_t> sums = {};    // (m, 2)
  std::vector<std::int32_t> classes = {};  // (m,)
};

// Consecutive chunks of a task; tables as large as the number of classes are made once for each task.
std::vector<std::pair<std::size_t, std::size_t>> tasks_of(const std::vector<LeafChunk>& chunks, std::size_t n_rows,
                                                          int n_threads) {
  const std::size_t wanted = n_threads == 1 ? 1 : 4 * static_cast<std::size_t>(n_threads);
  std::vector<std::pair<std::size_t, std::size_t>> tasks;
  std::size_t first = 0, rows = 0;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    rows += chunks[i].end - chunks[i].begin;
    if (rows * wanted < n_rows && i + 1 < chunks.size()) continue;
    tasks.emplace_back(first, i + 1);
    first = i + 1, rows = 0;
  }
  return tasks;
}

struct Entry {
  double longing;  // the step before it is limited
  float value;
  std::int32_t k;
};

// slope / (curvature + l2), which may be infinite: l2 may be zero.
double free_step(double slope, double curvature) { return curvature > 0.0 ? slope / curvature : 0.0; }

// The entries of a leaf, from the sums of its classes and `base`, those of a class of the rest.
std::vector<Entry> leaf_entries(ClassSums& sums, const std::uint64_t* base, const LeafScales& scales,
                                const LeafOptions& options, const float* preference, std::vector<double>& steps) {
  const double inverse = scales.inverse(0);
  const auto step = [&](std::uint64_t slope, std::uint64_t curvature) {
    return free_step(value_of(slope, inverse), value_of(curvature, inverse) + options.l2);
  };
  const auto limited = [&](double x) { return static_cast<float>(std::clamp(x, -options.max_step, options.max_step)); };
  const float of_rest = limited(step(base[0], base[1]));
  float largest = 0.0f;
  steps.clear();
  for (std::size_t k : sums.found()) {
    const std::uint64_t* of = sums.of(k);
    steps.push_back(step(of[0] + base[0], of[1] + base[1]));
    largest = std::max(largest, std::abs(limited(steps.back()) - of_rest));
  }
  const float least = static_cast<float>(options.thin) * largest;
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const float value = limited(steps[i]) - of_rest;
    if (value != 0.0f && !(std::abs(value) < least))
      entries.push_back({steps[i], value, static_cast<std::int32_t>(sums.found()[i])});
  }
  const auto liking = [&](std::int32_t k) { return std::isnan(preference[k]) ? 0.0f : preference[k]; };
  std::sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
    if (a.longing != b.longing) return a.longing > b.longing;
    const float x = liking(a.k), y = liking(b.k);
    return x != y ? x > y : a.k < b.k;
  });
  return entries;
}

// All entries, leaf by leaf.
LeafEntries joined(const std::vector<std::vector<Entry>>& entries) {
  LeafEntries out;
  out.starts.push_back(0);
  for (const auto& of_leaf : entries) {
    for (const Entry& e : of_leaf) out.values.push_back(e.value), out.classes.push_back(e.k);
    out.starts.push_back(static_cast<std::int64_t>(out.values.size()));
  }
  return out;
}

}  // namespace

// Large leaves are cut into chunks, whose sums are added when all of them are there; others are finished at once.
LeafEntries candidate_leaves(const CandidateRows& rows, const float* loss, const double* scale, const float* preference,
                             const RowLeaves& of, const LeafOptions& options, int n_threads) {
  const LeafScales scales{scale == nullptr ? 1.0 : hot().largest_magnitude(scale, rows.n), of.used()};
  const GroupedRows grouped(of, n_threads);
  const auto sum_rows = candidate_loops::chosen().sum_rows;
  const std::vector<LeafChunk> chunks = leaf_chunks(grouped.leaves, std::max<std::size_t>(4096, of.used() / 64));
  std::vector<std::size_t> first(of.n_leaves + 1, 0);  // the first chunk of each leaf
  for (const LeafChunk& chunk : chunks) ++first[chunk.leaf + 1];
  for (std::size_t leaf = 0; leaf < of.n_leaves; ++leaf) first[leaf + 1] += first[leaf];
  std::vector<ChunkSums> sums(chunks.size());
  std::vector<std::vector<Entry>> entries(of.n_leaves);
  const auto tasks = tasks_of(chunks, of.used(), n_threads);
  parallel_for(tasks.size(), n_threads, [&](std::size_t task) {
    ClassSums table(rows.K);
    std::vector<float> P(rows.C);
    std::vector<double> steps;
    for (std::size_t i = tasks[task].first; i < tasks[task].second; ++i) {
      const LeafChunk& chunk = chunks[i];
      table.next_leaf();
      sum_rows(rows, loss, scale, grouped.leaves[chunk.leaf].data() + chunk.begin, chunk.end - chunk.begin,
               scales.unit(0), P.data(), table, sums[i].base);
      if (first[chunk.leaf + 1] - first[chunk.leaf] == 1) {
        entries[chunk.leaf] = leaf_entries(table, sums[i].base, scales, options, preference, steps);
        continue;
      }
      for (std::size_t k : table.found()) {
        const std::uint64_t* of_class = table.of(k);
        sums[i].classes.push_back(static_cast<std::int32_t>(k));
        sums[i].sums.insert(sums[i].sums.end(), of_class, of_class + 2);
      }
    }
  });
  parallel_for(of.n_leaves, n_threads, [&](std::size_t leaf) {
    if (first[leaf + 1] - first[leaf] < 2) return;
    ClassSums table(rows.K);
    std::vector<double> steps;
    std::uint64_t base[2] = {0, 0};
    table.next_leaf();
    for (std::size_t i = first[leaf]; i < first[leaf + 1]; ++i) {
      base[0] += sums[i].base[0], base[1] += sums[i].base[1];
      for (std::size_t j = 0; j < sums[i].classes.size(); ++j) {
        std::uint64_t* of_class = table.of(static_cast<std::size_t>(sums[i].classes[j]));
        of_class[0] += sums[i].sums[2 * j], of_class[1] += sums[i].sums[2 * j + 1];
      }
    }
    entries[leaf] = leaf_entries(table, base, scales, options, preference, steps);
  });
  return joined(entries);
}

void candidate_add(const CandidateRows& rows, const float* values, const std::int32_t* classes,
                   const std::int64_t* starts, std::size_t n_leaves, float step, const std::int32_t* leaf_of_row,
                   int n_threads) {
  const GroupedRows grouped({leaf_of_row, rows.n, n_leaves, nullptr, 0}, n_threads);
  const auto move_row = candidate_loops::chosen().move_row;
  const std::vector<LeafChunk> chunks = leaf_chunks(grouped.leaves, std::max<std::size_t>(4096, rows.n / 64));
  const auto tasks = tasks_of(chunks, rows.n, n_threads);
  parallel_for(tasks.size(), n_threads, [&](std::size_t task) {
    LeafMoves moves(rows.K);
    for (std::size_t i = tasks[task].first; i < tasks[task].second; ++i) {
      const LeafChunk& chunk = chunks[i];
      const std::int64_t begin = starts[chunk.leaf], end = starts[chunk.leaf + 1];
      moves.next_leaf(values + begin, classes + begin, static_cast<std::size_t>(end - begin), step);
      for (std::size_t r = chunk.begin; r < chunk.end; ++r) move_row(rows, grouped.leaves[chunk.leaf][r], moves);
    }
  });
}

}  // namespace simplexboost
