// The inner loops, compiled once per instruction set: hot.cpp includes this file inside a namespace of its own with the
// matching `#pragma GCC target`. Plain loops over plain pointers, so that the compiler vectorises them; no standard
// library call that could be emitted out of line with the wrong instructions.

// Eight numbers side by side; on narrower machines the compiler makes several vectors of one.
constexpr std::size_t kWide = 8;
typedef double Wide __attribute__((vector_size(8 * kWide), aligned(8), may_alias));
typedef std::int64_t WideInt __attribute__((vector_size(8 * kWide), aligned(8), may_alias));

// ---- quantisation --------------------------------------------------------------------------------------------------

// out[j] = max over rows of |v[row][j]|
void column_maxima(const double* v, std::size_t m, const std::uint32_t* rows, std::size_t n_rows, double* out) {
  for (std::size_t r = 0; r < n_rows; ++r) {
    const double* x = v + rows[r] * m;
    for (std::size_t j = 0; j < m; ++j) {
      const double a = x[j] < 0 ? -x[j] : x[j];
      out[j] = a > out[j] ? a : out[j];
    }
  }
}

// out[j] += sum over rows of ceil(|v[row][j]| * unit[j]): integers below 2^53, so the sum is exact in any order.
void column_magnitudes(const double* v, std::size_t m, const std::uint32_t* rows, std::size_t n_rows,
                       const double* unit, double* out) {
  for (std::size_t r = 0; r < n_rows; ++r) {
    const double* x = v + rows[r] * m;
    for (std::size_t j = 0; j < m; ++j) out[j] += __builtin_ceil((x[j] < 0 ? -x[j] : x[j]) * unit[j]);
  }
}

// 64-bit lanes round to nearest; 32-bit lanes round up or down at random, without bias, unless the seed is 0.
template <class Lane>
void quantize_rows(const double* v, std::size_t m, std::size_t lanes, const std::uint32_t* rows, std::size_t n_rows,
                   const double* scale, std::uint64_t seed, Lane* out) {
  for (std::size_t r = 0; r < n_rows; ++r) {
    const std::size_t i = rows[r];
    const double* x = v + i * m;
    Lane* q = out + i * lanes;
    if (sizeof(Lane) == 8 || seed == 0)
      for (std::size_t j = 0; j < m; ++j) q[j] = static_cast<Lane>(__builtin_nearbyint(x[j] * scale[j]));
    else
      for (std::size_t j = 0; j < m; ++j)
        q[j] = static_cast<Lane>(__builtin_floor(x[j] * scale[j] + hashed_uniform(seed, i, j)));
  }
}

// ---- histograms ----------------------------------------------------------------------------------------------------

// Adds rows to the histograms of one block of up to 8 features; base[f] is feature f's first bin.
// `stats` is in row-list order (packed) where Packed, else indexed by row number.
template <class Lane, std::size_t L, bool Packed>
void accumulate_fixed(const std::uint64_t* words, const std::uint32_t* rows, std::size_t n_rows, const Lane* stats,
                      Lane* const* base, std::size_t n_features) {
  constexpr std::size_t ahead = 16;  // rows of prefetch distance
  // Vectors are spelled out: left to itself, the compiler keeps the sums in registers or not, a factor of two.
  constexpr std::size_t bytes = L * sizeof(Lane), power = bytes & ~(bytes - 1), line = power < 64 ? power : 64;
  constexpr std::size_t n_lines = bytes / line;
  typedef Lane Line __attribute__((vector_size(line), aligned(sizeof(Lane)), may_alias));
  for (std::size_t r = 0; r < n_rows; ++r) {
    if (r + ahead < n_rows) __builtin_prefetch(words + rows[r + ahead]);
    std::uint64_t word = words[rows[r]];
    const Lane* s = stats + (Packed ? r : rows[r]) * L;
    Line v[n_lines];
    for (std::size_t l = 0; l < n_lines; ++l) v[l] = reinterpret_cast<const Line*>(s)[l];
    for (std::size_t f = 0; f < n_features; ++f, word >>= 8) {
      Line* h = reinterpret_cast<Line*>(base[f] + (word & 255u) * L);
      for (std::size_t l = 0; l < n_lines; ++l) h[l] += v[l];
    }
  }
}

template <class Lane, bool Packed>
void accumulate_any(const std::uint64_t* words, const std::uint32_t* rows, std::size_t n_rows, const Lane* stats,
                    std::size_t lanes, Lane* const* base, std::size_t n_features) {
  for (std::size_t r = 0; r < n_rows; ++r) {
    std::uint64_t word = words[rows[r]];
    const Lane* s = stats + (Packed ? r : rows[r]) * lanes;
    for (std::size_t f = 0; f < n_features; ++f, word >>= 8) {
      Lane* h = base[f] + (word & 255u) * lanes;
      for (std::size_t l = 0; l < lanes; ++l) h[l] += s[l];
    }
  }
}

template <class Lane, bool Packed>
void accumulate(const std::uint64_t* words, const std::uint32_t* rows, std::size_t n_rows, const Lane* stats,
                std::size_t lanes, Lane* const* base, std::size_t n_features) {
  switch (lanes) {
    case 2:
      return accumulate_fixed<Lane, 2, Packed>(words, rows, n_rows, stats, base, n_features);
    case 4:
      return accumulate_fixed<Lane, 4, Packed>(words, rows, n_rows, stats, base, n_features);
    case 8:
      return accumulate_fixed<Lane, 8, Packed>(words, rows, n_rows, stats, base, n_features);
    case 16:
      return accumulate_fixed<Lane, 16, Packed>(words, rows, n_rows, stats, base, n_features);
    case 24:
      return accumulate_fixed<Lane, 24, Packed>(words, rows, n_rows, stats, base, n_features);
    case 32:
      return accumulate_fixed<Lane, 32, Packed>(words, rows, n_rows, stats, base, n_features);
    default:
      return accumulate_any<Lane, Packed>(words, rows, n_rows, stats, lanes, base, n_features);
  }
}

// One non-zero a row: its weight in its class's lane, and the count.
template <class Lane>
void accumulate_sparse(const std::uint64_t* words, const std::uint32_t* rows, std::size_t n_rows,
                       const std::int32_t* classes, const Lane* weight, std::size_t m, std::size_t lanes,
                       Lane* const* base, std::size_t n_features) {
  for (std::size_t r = 0; r < n_rows; ++r) {
    std::uint64_t word = words[rows[r]];
    const std::size_t k = static_cast<std::size_t>(classes[rows[r]]);
    const Lane w = weight[rows[r]];
    for (std::size_t f = 0; f < n_features; ++f, word >>= 8) {
      Lane* h = base[f] + (word & 255u) * lanes;
      h[k] += w;
      h[m] += 1;
    }
  }
}

template <class Lane>
void add_lanes(Lane* a, const Lane* b, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) a[i] += b[i];
}

template <class Lane>
void subtract_lanes(Lane* a, const Lane* b, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) a[i] -= b[i];
}

// ---- splits --------------------------------------------------------------------------------------------------------

// Eight statistics of a bin.
template <class Lane>
inline WideInt load_lanes(const Lane* x) {
  typedef Lane Eight __attribute__((vector_size(8 * sizeof(Lane)), aligned(sizeof(Lane)), may_alias));
  return __builtin_convertvector(*reinterpret_cast<const Eight*>(x), WideInt);
}

inline double wide_sum(Wide x) { return ((x[0] + x[4]) + (x[1] + x[5])) + ((x[2] + x[6]) + (x[3] + x[7])); }

inline double wide_max(Wide x) {
  const Wide y = __builtin_shuffle(x, WideInt{4, 5, 6, 7, 0, 1, 2, 3}), a = x > y ? x : y;
  const Wide z = __builtin_shuffle(a, WideInt{2, 3, 0, 1, 6, 7, 4, 5}), b = a > z ? a : z;
  return b[0] > b[1] ? b[0] : b[1];
}

// The scores of all prefixes of a feature's bins: scores[i] is that of the bins up to i on the left plus that of the
// rest, left alone where bin i is empty. max_k v_k, or where Gini sum_k v_k^2 / sum_k v_k, sums in eight lanes
// (GiniScore). `left` holds what is on the left from the start; left, total, inverse and pad (0, or -inf beyond the
// statistics where a maximum is taken) are as long as a bin, whose lane m is the count. W > 0: a bin is W vectors, kept
// in registers.
template <class Lane, bool Gini, std::size_t W>
void prefix_scores_of(const Lane* bins, std::size_t n_bins, std::size_t lanes, std::size_t m, const std::int64_t* left,
                      const std::int64_t* total, const double* inverse, const double* pad, std::int64_t* sums,
                      double* scores) {
  const std::size_t n_wide = W > 0 ? W : lanes / kWide;
  WideInt kept[W > 0 ? W : 1];
  WideInt* sum = W > 0 ? kept : reinterpret_cast<WideInt*>(sums);
  for (std::size_t v = 0; v < n_wide; ++v) sum[v] = load_lanes(left + v * kWide);
  for (std::size_t i = 0; i < n_bins; ++i) {
    const Lane* bin = bins + i * lanes;
    if (bin[m] == 0) continue;
    Wide a = Wide{} - (Gini ? 0.0 : __builtin_inf()), b = a, a_sum = Wide{}, b_sum = Wide{};
    for (std::size_t v = 0; v < n_wide; ++v) {
      const Wide unit = reinterpret_cast<const Wide*>(inverse)[v];
      sum[v] += load_lanes(bin + v * kWide);
      Wide x = __builtin_convertvector(sum[v], Wide) * unit;
      Wide y = __builtin_convertvector(load_lanes(total + v * kWide) - sum[v], Wide) * unit;
      if constexpr (Gini) {
        a += x * x, b += y * y, a_sum += x, b_sum += y;
      } else {
        const Wide none = reinterpret_cast<const Wide*>(pad)[v];
        x += none, y += none;
        a = x > a ? x : a, b = y > b ? y : b;
      }
    }
    if constexpr (Gini) {
      const double x = wide_sum(a_sum), y = wide_sum(b_sum);
      scores[i] = (x > 0.0 ? wide_sum(a) / x : 0.0) + (y > 0.0 ? wide_sum(b) / y : 0.0);
    } else {
      scores[i] = wide_max(a) + wide_max(b);
    }
  }
}

template <class Lane, bool Gini>
void prefix_scores(const Lane* bins, std::size_t n_bins, std::size_t lanes, std::size_t m, const std::int64_t* left,
                   const std::int64_t* total, const double* inverse, const double* pad, std::int64_t* sums,
                   double* scores) {
  switch (lanes) {
    case 8:
      return prefix_scores_of<Lane, Gini, 1>(bins, n_bins, lanes, m, left, total, inverse, pad, sums, scores);
    case 16:
      return prefix_scores_of<Lane, Gini, 2>(bins, n_bins, lanes, m, left, total, inverse, pad, sums, scores);
    case 24:
      return prefix_scores_of<Lane, Gini, 3>(bins, n_bins, lanes, m, left, total, inverse, pad, sums, scores);
    case 32:
      return prefix_scores_of<Lane, Gini, 4>(bins, n_bins, lanes, m, left, total, inverse, pad, sums, scores);
    default:
      return prefix_scores_of<Lane, Gini, 0>(bins, n_bins, lanes, m, left, total, inverse, pad, sums, scores);
  }
}

// The same for the Newton score of one gradient and one curvature column, the flagship's. Bins without rows are left
// out: left (3 columns of kMostBins: gradient, curvature, count) are the sums up to the bins at[0], at[1], ..; returns
// how many. `begin` holds what is on the left from the start.
template <class Lane>
std::size_t prefix_newton(const Lane* bins, std::size_t n_bins, std::size_t lanes, const Lane* begin, const Lane* total,
                          const double* inverse, double l2, Lane* left, std::uint8_t* at, double* scores) {
  Lane *g = left, *h = left + kMostBins, *count = left + 2 * kMostBins;
  Lane g_sum = begin[0], h_sum = begin[1], n_sum = begin[2];
  std::size_t n = 0;
  for (std::size_t i = 0; i < n_bins; ++i) {  // without a branch: which bins are empty cannot be foreseen
    const Lane* bin = bins + i * lanes;
    g[n] = g_sum += bin[0];
    h[n] = h_sum += bin[1];
    count[n] = n_sum += bin[2];
    at[n] = static_cast<std::uint8_t>(i);
    n += bin[2] != 0;
  }
  const auto score = [&](WideInt gradient, WideInt curvature) {
    const Wide slope = __builtin_convertvector(gradient, Wide) * inverse[0];
    const Wide bend = __builtin_convertvector(curvature, Wide) * inverse[1] + l2;
    return (bend > 0.0 ? slope * slope : Wide{}) / (bend > 0.0 ? bend : Wide{} + 1.0);
  };
  for (std::size_t i = 0; i < n; i += kWide) {
    const WideInt a = load_lanes(g + i), b = load_lanes(h + i);
    const Wide both = score(a, b) + score(WideInt{} + total[0] - a, WideInt{} + total[1] - b);
    __builtin_memcpy(scores + i, &both, sizeof both);
  }
  return n;
}

// ---- leaves --------------------------------------------------------------------------------------------------------

// out[j] += sum over rows, in their order, of v[row][j]
void sum_rows(const double* v, std::size_t d, const std::uint32_t* rows, std::size_t n_rows, double* out) {
  constexpr std::size_t ahead = 8, line = 8;  // rows of prefetch distance, numbers of a cache line
  for (std::size_t r = 0; r < n_rows; ++r) {
    if (r + ahead < n_rows)
      for (std::size_t j = 0; j < d && j < 8 * line; j += line) __builtin_prefetch(v + rows[r + ahead] * d + j);
    const double* x = v + rows[r] * d;
    for (std::size_t j = 0; j < d; ++j) out[j] += x[j];
  }
}

// H (d, d) += scale * v v^T, lower triangle
void add_outer(double* H, const double* v, double scale, std::size_t d) {
  for (std::size_t i = 0; i < d; ++i) {
    const double w = scale * v[i];
    double* h = H + i * d;
    for (std::size_t j = 0; j <= i; ++j) h[j] += w * v[j];
  }
}

// Solves A x = b in place by Cholesky, A (d, d) symmetric and positive, its lower triangle used; `column` (d,) is
// scratch. Returns whether all pivots are at least `least`; a smaller one is a rounding error, and x is of no use.
// Right-looking, so that every inner loop runs along a row.
bool solve_positive(double* A, double* b, double* column, std::size_t d, double least) {
  bool safe = true;
  for (std::size_t j = 0; j < d; ++j) {
    const double square = A[j * d + j], pivot = __builtin_sqrt(square > 1e-12 ? square : 1e-12);
    safe = safe && square >= least;
    A[j * d + j] = pivot;
    b[j] /= pivot;
    for (std::size_t i = j + 1; i < d; ++i) {
      column[i] = A[i * d + j] / pivot;
      A[i * d + j] = column[i];
      b[i] -= column[i] * b[j];
    }
    for (std::size_t i = j + 1; i < d; ++i) {
      double* row = A + i * d;
      const double factor = column[i];
      for (std::size_t k = j + 1; k <= i; ++k) row[k] -= factor * column[k];
    }
  }
  for (std::size_t j = d; j-- > 0;) {
    b[j] /= A[j * d + j];
    for (std::size_t i = 0; i < j; ++i) b[i] -= A[j * d + i] * b[j];
  }
  return safe;
}

// F[row] += step * values[leaf of row], rows begin .. end
template <class Value>
void add_values(Value* F, std::size_t d, const Value* values, Value step, const std::int32_t* leaf_of_row,
                std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) {
    const Value* v = values + static_cast<std::size_t>(leaf_of_row[i]) * d;
    Value* f = F + i * d;
    for (std::size_t j = 0; j < d; ++j) f[j] += step * v[j];
  }
}

// ---- forests -------------------------------------------------------------------------------------------------------

// 8 rows walk down a tree: ranks (p, 8), `at` (8,) the nodes where they end. See forest.hpp for the packing. Eight
// chains of loads hide each other's latency; gathers would not be faster, so the loop must stay scalar.
__attribute__((optimize("no-tree-vectorize", "no-tree-slp-vectorize"))) void walk(const std::uint64_t* nodes,
                                                                                  std::int32_t depth,
                                                                                  const std::int32_t* ranks,
                                                                                  std::uint32_t* at) {
  std::uint32_t a0 = 0, a1 = 0, a2 = 0, a3 = 0, a4 = 0, a5 = 0, a6 = 0, a7 = 0;
  const auto next = [nodes, ranks](std::uint32_t from, std::size_t l) {
    const std::uint64_t node = nodes[from];
    return static_cast<std::uint32_t>(node >> 16 & 0xffff) +
           (ranks[(node >> 32) + l] > static_cast<std::int32_t>(node & 0xffff));
  };
  for (std::int32_t step = 0; step < depth; ++step) {
    a0 = next(a0, 0), a1 = next(a1, 1), a2 = next(a2, 2), a3 = next(a3, 3);
    a4 = next(a4, 4), a5 = next(a5, 5), a6 = next(a6, 6), a7 = next(a7, 7);
  }
  at[0] = a0, at[1] = a1, at[2] = a2, at[3] = a3, at[4] = a4, at[5] = a5, at[6] = a6, at[7] = a7;
}

// The same where some values are missing: bit 15 of a node says that they go left.
void walk_missing(const std::uint64_t* nodes, std::int32_t depth, const std::int32_t* ranks, std::uint32_t* at) {
  for (std::size_t l = 0; l < kGroup; ++l) at[l] = 0;
  for (std::int32_t step = 0; step < depth; ++step)
    for (std::size_t l = 0; l < kGroup; ++l) {
      const std::uint64_t node = nodes[at[l]];
      const std::int32_t rank = ranks[(node >> 32) + l], last = static_cast<std::int32_t>(node & 0x7fff);
      const bool right = rank == kMissingRank ? (node & 0x8000) == 0 : rank > last;
      at[l] = static_cast<std::uint32_t>(node >> 16 & 0xffff) + (right ? 1u : 0u);
    }
}

// The same where nodes may split categories (bit 63): `sets` has 32 bytes a set, a bit per category that goes left.
void walk_categories(const std::uint64_t* nodes, std::int32_t depth, const std::int32_t* ranks,
                     const std::uint8_t* sets, std::uint32_t* at) {
  for (std::size_t l = 0; l < kGroup; ++l) at[l] = 0;
  for (std::int32_t step = 0; step < depth; ++step)
    for (std::size_t l = 0; l < kGroup; ++l) {
      const std::uint64_t node = nodes[at[l]];
      const std::int32_t rank = ranks[(node << 1 >> 33) + l], last = static_cast<std::int32_t>(node & 0x7fff);
      bool right;
      if (rank == kMissingRank) right = (node & 0x8000) == 0;
      else if (node >> 63) right = (sets[last * 32 + rank / 8] >> (rank % 8) & 1) == 0;
      else right = rank > last;
      at[l] = static_cast<std::uint32_t>(node >> 16 & 0xffff) + (right ? 1u : 0u);
    }
}

template <class Leaf>
void add_leaves(Leaf* F, std::size_t d, const Leaf* values, const std::int32_t* leaf, const std::uint32_t* nodes,
                std::size_t n_rows) {
  for (std::size_t r = 0; r < n_rows; ++r) {
    const Leaf* v = values + static_cast<std::size_t>(leaf[nodes[r]]) * d;
    Leaf* f = F + r * d;
    for (std::size_t j = 0; j < d; ++j) f[j] += v[j];
  }
}

// ---- losses --------------------------------------------------------------------------------------------------------

// exp(x) for x <= 0, to about one unit in the last place; 0 below -708: x = k ln 2 + r, a Taylor polynomial in
// |r| <= ln(2)/2, and k added to the exponent bits.
inline Wide exp_nonpositive(Wide x) {
  const Wide shift = Wide{} + 0x1.8p52;  // adding it rounds to an integer and leaves that integer in the low bits
  const Wide clamped = x < -708.0 ? Wide{} - 708.0 : x;
  const Wide shifted = clamped * 0x1.71547652b82fep0 + shift;
  const Wide k = shifted - shift;
  const Wide r = (clamped - k * 0x1.62e42fefa38p-1) - k * 0x1.ef35793c7673p-45;
  Wide y = Wide{} + 1.0 / 6227020800.0;
  y = y * r + 1.0 / 479001600.0;
  y = y * r + 1.0 / 39916800.0;
  y = y * r + 1.0 / 3628800.0;
  y = y * r + 1.0 / 362880.0;
  y = y * r + 1.0 / 40320.0;
  y = y * r + 1.0 / 5040.0;
  y = y * r + 1.0 / 720.0;
  y = y * r + 1.0 / 120.0;
  y = y * r + 1.0 / 24.0;
  y = y * r + 1.0 / 6.0;
  y = y * r + 0.5;
  y = y * r + 1.0;
  y = y * r + 1.0;
  const WideInt bits = reinterpret_cast<const WideInt&>(y) + (reinterpret_cast<const WideInt&>(shifted) << 52);
  return x < -708.0 ? Wide{} : reinterpret_cast<const Wide&>(bits);
}

// The race of the rivals k != c of one row at scores v: e[k] = exp(rate (v_k - top)), 0 for the true class. Returns the
// sum; `top` is the highest rival. Whole vectors are read and written: both v and e must have room for K rounded up to
// a multiple of kWide, and what lies there beyond K comes to nothing.
inline double race_row(const double* v, std::size_t K, std::size_t c, double rate, double* e, double* top) {
  const Wide* from = reinterpret_cast<const Wide*>(v);
  Wide* to = reinterpret_cast<Wide*>(e);
  const WideInt number{0, 1, 2, 3, 4, 5, 6, 7}, own = WideInt{} + static_cast<std::int64_t>(c);
  const Wide out = Wide{} - __builtin_inf();
  const std::size_t n_wide = (K + kWide - 1) / kWide;
  const auto rivals = [&](std::size_t i) {
    const WideInt k = number + static_cast<std::int64_t>(i * kWide);
    const Wide x = k == own ? out : from[i];
    return i + 1 < n_wide ? x : k < WideInt{} + static_cast<std::int64_t>(K) ? x : out;
  };
  Wide high = rivals(0), sum = Wide{};
  for (std::size_t i = 1; i < n_wide; ++i) {
    const Wide x = rivals(i);
    high = x > high ? x : high;
  }
  const double best = wide_max(high);
  for (std::size_t i = 0; i < n_wide; ++i) {
    const Wide x = exp_nonpositive(rate * (rivals(i) - best));
    sum += x;
    to[i] = x;
  }
  *top = best;
  return wide_sum(sum);
}

// Rows of U (n, K): E (n, K), Z (n,) and lead (n,) = U[c] - top. A row runs over into the next, which is written
// after it; the last one makes do with `scratch`, twice K + kWide.
void race(const double* U, std::size_t n, std::size_t K, const std::int64_t* c, double rate, double* scratch, double* E,
          double* Z, double* lead) {
  for (std::size_t i = 0; i < n; ++i) {
    double top;
    const std::size_t own = static_cast<std::size_t>(c[i]);
    const bool room = (n - i) * K >= K + kWide;
    const double* v = U + i * K;
    double* e = room ? E + i * K : scratch + K + kWide;
    if (!room) {
      for (std::size_t k = 0; k < K; ++k) scratch[k] = v[k];
      v = scratch;
    }
    Z[i] = race_row(v, K, own, rate, e, &top);
    lead[i] = v[own] - top;
    if (!room)
      for (std::size_t k = 0; k < K; ++k) E[i * K + k] = e[k];
  }
}

// E (n, K) from a race becomes the residual: E * -w / Z, and w at the true class.
void pull_rows(double* E, std::size_t n, std::size_t K, const std::int64_t* c, const double* w, const double* Z) {
  for (std::size_t i = 0; i < n; ++i) {
    double* e = E + i * K;
    const double scale = -w[i] / Z[i];
    for (std::size_t k = 0; k < K; ++k) e[k] *= scale;
    e[static_cast<std::size_t>(c[i])] = w[i];
  }
}

// The residual P (n, K) of an exponential loss after votes: all rivals of a right answer lose by the factor `down`, the
// one that a wrong answer names gains by the factor `up`; own (n,) is P at the true class.
void vote_rows(double* P, std::size_t n, std::size_t K, const std::int64_t* c, const std::int64_t* classes, double up,
               double down, double* own) {
  for (std::size_t i = 0; i < n; ++i) {
    double* p = P + i * K;
    if (classes[i] == c[i]) {
      for (std::size_t k = 0; k < K; ++k) p[k] *= down;
    } else {
      double& rival = p[static_cast<std::size_t>(classes[i])];  // minus its weight
      p[static_cast<std::size_t>(c[i])] -= (up - 1.0) * rival;
      rival *= up;
    }
    own[i] = p[static_cast<std::size_t>(c[i])];
  }
}

// The same race at U + alpha W, with the mean and the variance of W among the rivals; `v` and `E` are scratch of
// K + kWide numbers.
void race_along(const double* U, const double* W, double alpha, std::size_t n, std::size_t K, const std::int64_t* c,
                double rate, double* v, double* E, double* Z, double* lead, double* mean, double* variance) {
  for (std::size_t i = 0; i < n; ++i) {
    const double *u = U + i * K, *w = W + i * K;
    for (std::size_t k = 0; k < K; ++k) v[k] = u[k] + alpha * w[k];
    double top, first = 0.0, second = 0.0;
    const std::size_t own = static_cast<std::size_t>(c[i]);
    Z[i] = race_row(v, K, own, rate, E, &top);
    lead[i] = v[own] - top;
    for (std::size_t k = 0; k < K; ++k) first += E[k] * w[k];
    mean[i] = first / Z[i];
    for (std::size_t k = 0; k < K; ++k) second += E[k] * ((w[k] - mean[i]) * (w[k] - mean[i]));
    variance[i] = second / Z[i];
  }
}

template <class Lane>
HotLanes<Lane> hot_lanes() {
  return {quantize_rows<Lane>,        accumulate<Lane, true>,    accumulate<Lane, false>,
          accumulate_sparse<Lane>,    add_lanes<Lane>,           subtract_lanes<Lane>,
          prefix_scores<Lane, false>, prefix_scores<Lane, true>, prefix_newton<Lane>};
}

HotTable table() {
  return {column_maxima,
          column_magnitudes,
          sum_rows,
          add_outer,
          solve_positive,
          add_values<float>,
          add_values<double>,
          walk,
          walk_missing,
          walk_categories,
          add_leaves<float>,
          add_leaves<double>,
          race,
          pull_rows,
          vote_rows,
          race_along,
          hot_lanes<std::int64_t>(),
          hot_lanes<std::int32_t>()};
}
