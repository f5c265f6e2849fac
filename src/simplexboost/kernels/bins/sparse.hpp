// Bins of sparse columns: edges from the values that are stored and the number of zeros, and the codes that differ from
// the code of zero. Both are those of the dense column.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "bins/bin.hpp"
#include "bins/edges.hpp"
#include "core/pool.hpp"

namespace simplexboost {

// A table by columns: column f has values[first[f] .. first[f + 1]) in `rows`, ascending and not zero, and zeros in all
// other rows.
template <class Value>
struct SparseColumns {
  std::size_t n, p;
  const std::int64_t* first;
  const std::int32_t* rows;
  const Value* values;
};

// Adds zeros to the k distinct values; returns their new number.
template <class Value>
std::size_t insert_zeros(Scratch<Value>& scratch, std::size_t k, std::size_t count) {
  auto& values = scratch.values;
  auto& ends = scratch.ends;
  values.resize(k), ends.resize(k);
  const auto at = std::lower_bound(values.begin(), values.end(), 0.0) - values.begin();
  values.insert(values.begin() + at, 0.0);
  ends.insert(ends.begin() + at, at == 0 ? 0 : ends[static_cast<std::size_t>(at) - 1]);
  for (auto i = static_cast<std::size_t>(at); i <= k; ++i) ends[i] += static_cast<std::uint32_t>(count);
  return k + 1;
}

// The distinct values of a column of few entries: a Tally would first make room for thousands of integers.
template <class Value>
std::size_t few_distinct(const Value* x, std::size_t m, Scratch<Value>& scratch) {
  auto& values = scratch.values;
  auto& ends = scratch.ends;
  values.assign(x, x + m);
  values.resize(drop_missing(values.data(), m));
  std::sort(values.begin(), values.end());
  ends.resize(values.size());
  std::size_t k = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    k += i > 0 && values[i] != values[k];
    values[k] = values[i];
    ends[k] = static_cast<std::uint32_t>(i + 1);
  }
  return values.empty() ? 0 : k + 1;
}

template <class Value>
std::size_t many_distinct(const Value* x, std::size_t m, Scratch<Value>& scratch) {
  Tally<Value> tally(m);
  Value chunk[kChunk];
  for (std::size_t e = 0; e < m; e += kChunk) {
    const std::size_t size = std::min(kChunk, m - e);
    std::copy_n(x + e, size, chunk);
    tally.add(chunk, size);
  }
  return tally.distinct(scratch);
}

template <class Value>
std::vector<double> edges_of_sparse(const SparseColumns<Value>& X, std::size_t f, std::size_t max_bins,
                                    Scratch<Value>& scratch) {
  const Value* x = X.values + X.first[f];
  const auto m = static_cast<std::size_t>(X.first[f + 1] - X.first[f]);
  std::size_t k = m <= kSlots ? few_distinct(x, m, scratch) : many_distinct(x, m, scratch);
  if (m < X.n) k = insert_zeros(scratch, k, X.n - m);
  return edges_of({scratch.values.data(), k}, {scratch.ends.data(), k}, max_bins);
}

// The edges of some columns are kept one after the other: most of millions of columns have none.
template <class Value>
Edges find_edges_sparse(const SparseColumns<Value>& X, std::size_t max_bins, int n_threads) {
  constexpr std::size_t grain = 64;
  std::vector<std::vector<double>> parts(ceil_div(X.p, grain));
  Edges all{{}, std::vector<std::int64_t>(X.p + 1, 0)};
  parallel_ranges(X.p, grain, n_threads, [&](std::size_t begin, std::size_t end) {
    Scratch<Value> scratch;
    auto& part = parts[begin / grain];
    for (std::size_t f = begin; f < end; ++f) {
      if (X.first[f] == X.first[f + 1]) continue;  // zeros only
      const std::vector<double> edges = edges_of_sparse(X, f, max_bins, scratch);
      all.first[f + 1] = static_cast<std::int64_t>(edges.size());
      part.insert(part.end(), edges.begin(), edges.end());
    }
  });
  for (std::size_t f = 0; f < X.p; ++f) all.first[f + 1] += all.first[f];
  all.values.reserve(static_cast<std::size_t>(all.first[X.p]));
  for (auto& part : parts) {
    all.values.insert(all.values.end(), part.begin(), part.end());
    std::vector<double>().swap(part);
  }
  return all;
}

struct SparseCodes {
  std::vector<std::uint8_t> zero, has_missing;  // (p,)
  std::vector<std::int64_t> first;              // (p + 1,)
  std::vector<std::uint32_t> rows;              // (n_entries,) those whose codes differ from that of zero
  std::vector<std::uint8_t> codes;
};

// Feature f's edges are edges[first_edge[f] .. first_edge[f + 1]).
template <class Value>
SparseCodes bin_sparse(const SparseColumns<Value>& X, const double* edges, const std::int64_t* first_edge,
                       int n_threads) {
  SparseCodes out{
      std::vector<std::uint8_t>(X.p), std::vector<std::uint8_t>(X.p, 0), std::vector<std::int64_t>(X.p + 1, 0), {}, {}};
  std::vector<std::uint8_t> codes(static_cast<std::size_t>(X.first[X.p]));
  parallel_ranges(X.p, 64, n_threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t f = begin; f < end; ++f) {
      const double *from = edges + first_edge[f], *to = edges + first_edge[f + 1];
      const auto code = [&](double x) { return static_cast<std::uint8_t>(std::lower_bound(from, to, x) - from); };
      out.zero[f] = code(0.0);
      for (std::int64_t e = X.first[f]; e < X.first[f + 1]; ++e) {
        const auto x = static_cast<double>(X.values[e]);
        codes[static_cast<std::size_t>(e)] = x == x ? code(x) : static_cast<std::uint8_t>(to - from + 1);
        out.has_missing[f] |= x != x;
        out.first[f + 1] += codes[static_cast<std::size_t>(e)] != out.zero[f];
      }
    }
  });
  for (std::size_t f = 0; f < X.p; ++f) out.first[f + 1] += out.first[f];
  out.rows.resize(static_cast<std::size_t>(out.first[X.p]));
  out.codes.resize(out.rows.size());
  parallel_ranges(X.p, 64, n_threads, [&](std::size_t begin, std::size_t end) {
    auto at = static_cast<std::size_t>(out.first[begin]);
    for (std::size_t f = begin; f < end; ++f)
      for (auto e = static_cast<std::size_t>(X.first[f]); e < static_cast<std::size_t>(X.first[f + 1]); ++e) {
        if (codes[e] == out.zero[f]) continue;
        out.rows[at] = static_cast<std::uint32_t>(X.rows[e]);
        out.codes[at++] = codes[e];
      }
  });
  return out;
}

}  // namespace simplexboost
