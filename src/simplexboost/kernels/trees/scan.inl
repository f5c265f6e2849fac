// Loops of split.hpp: the scores of all splits of a feature. Part of core/hot.inl.

// The scores of all prefixes of a feature's bins: scores[i] is the score of the bins up to i, which go left, plus that
// of the rest; if bin i is empty, scores[i] is not changed. The score is max_k v_k or, if Gini, sum_k v_k^2 / sum_k v_k
// with sums in eight lanes (GiniScore). `left` holds the sums that are on the left before the first bin. left, total,
// inverse and pad (0; for a maximum, -inf beyond the statistics) are as long as a bin, whose lane m is the count. If
// W > 0, a bin is W vectors, which are kept in registers.
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

// Writes to `at` the places of the numbers x (n, at most 256) that are less than `margin` times the largest below it;
// returns how many there are. If `used` (n,) is not null, the others count as minus infinity, which is never near.
std::size_t near_largest(const double* x, const std::uint8_t* used, std::size_t n, double margin, std::uint8_t* at) {
  constexpr std::size_t group = 8 * kWide;
  typedef std::uint8_t Bytes __attribute__((vector_size(kWide), aligned(1), may_alias));
  const double none = -__builtin_inf();
  double tops[kMostBins / group + 1], top = none;
  for (std::size_t begin = 0, g = 0; begin < n; begin += group, ++g) {
    const std::size_t end = begin + group < n ? begin + group : n;
    Wide most = Wide{} + none;
    std::size_t i = begin;
    for (; i + kWide <= end; i += kWide) {
      Wide v = *reinterpret_cast<const Wide*>(x + i);
      if (used != nullptr)
        v = __builtin_convertvector(*reinterpret_cast<const Bytes*>(used + i), WideInt) != 0 ? v : Wide{} + none;
      most = v > most ? v : most;
    }
    double here = wide_max(most);
    for (; i < end; ++i) here = (used == nullptr || used[i]) && x[i] > here ? x[i] : here;
    tops[g] = here;
    top = here > top ? here : top;
  }
  if (top == none) return 0;
  const double least = top - margin * (top < 0.0 ? -top : top);
  std::size_t count = 0;
  for (std::size_t begin = 0, g = 0; begin < n; begin += group, ++g) {
    if (tops[g] < least) continue;
    for (std::size_t i = begin; i < n && i < begin + group; ++i) {
      at[count] = static_cast<std::uint8_t>(i);
      count += (used == nullptr || used[i]) && x[i] >= least;
    }
  }
  return count;
}

// NewtonScore of eight gradient sums and curvature sums.
inline Wide newton_scores(WideInt gradient, WideInt curvature, const double* inverse, double l2) {
  const Wide slope = __builtin_convertvector(gradient, Wide) * inverse[0];
  const Wide bend = __builtin_convertvector(curvature, Wide) * inverse[1] + l2;
  return (bend > 0.0 ? slope * slope : Wide{}) / (bend > 0.0 ? bend : Wide{} + 1.0);
}

// GiniScore of eight nodes of two classes.
inline Wide gini_scores(WideInt first, WideInt second, const double* inverse) {
  const Wide a = __builtin_convertvector(first, Wide) * inverse[0];
  const Wide b = __builtin_convertvector(second, Wide) * inverse[1];
  const Wide both = a + b;
  return (both > 0.0 ? a * a + b * b : Wide{}) / (both > 0.0 ? both : Wide{} + 1.0);
}

// Two columns and the count of eight bins of four lanes.
struct Columns {
  WideInt first, second, count;
};

template <class Lane>
inline Columns columns_of(const Lane* bins) {
  Columns out;
  if constexpr (VECTOR_BYTES == 64) {
    constexpr WideInt pairs = {0, 4, 8, 12, 1, 5, 9, 13}, third = {2, 6, 10, 14, 2, 6, 10, 14};
    constexpr WideInt front = {0, 1, 2, 3, 8, 9, 10, 11}, back = {4, 5, 6, 7, 12, 13, 14, 15};
    const WideInt a = load_lanes(bins), b = load_lanes(bins + 8), c = load_lanes(bins + 16), d = load_lanes(bins + 24);
    const WideInt low = __builtin_shuffle(a, b, pairs), high = __builtin_shuffle(c, d, pairs);
    out.first = __builtin_shuffle(low, high, front), out.second = __builtin_shuffle(low, high, back);
    out.count = __builtin_shuffle(__builtin_shuffle(a, b, third), __builtin_shuffle(c, d, third), front);
  } else {
    for (std::size_t j = 0; j < kWide; ++j)
      out.first[j] = bins[4 * j], out.second[j] = bins[4 * j + 1], out.count[j] = bins[4 * j + 2];
  }
  return out;
}

// A bin of four lanes as one vector.
template <class Lane>
struct BinOf {
  typedef Lane Four __attribute__((vector_size(4 * sizeof(Lane)), aligned(sizeof(Lane)), may_alias));
};

// The same for two columns: the Newton score of a gradient and a curvature, as the flagship has, or the Gini score of
// two classes. A bin has four lanes. Bins without rows are left out: left (kMostBins, 4) holds the sums up to the bins
// at[0], at[1], ..; returns the number of these bins. `begin` holds the sums that are on the left before the first bin.
// The Gini score has no l2.
template <class Lane, bool Gini>
std::size_t prefix_pairs(const Lane* bins, std::size_t n_bins, const Lane* begin, const Lane* total,
                         const double* inverse, double l2, Lane* left, std::uint8_t* at, double* scores) {
  using Four = typename BinOf<Lane>::Four;
  const auto score = [&](WideInt first, WideInt second) {
    return Gini ? gini_scores(first, second, inverse) : newton_scores(first, second, inverse, l2);
  };
  Four sum = {begin[0], begin[1], begin[2], 0};
  std::size_t n = 0;
  for (std::size_t i = 0; i < n_bins; ++i) {  // without a branch, because empty bins cannot be predicted
    reinterpret_cast<Four*>(left)[n] = sum += reinterpret_cast<const Four*>(bins)[i];
    at[n] = static_cast<std::uint8_t>(i);
    n += bins[4 * i + 2] != 0;
  }
  for (std::size_t i = n; i % kWide != 0; ++i) reinterpret_cast<Four*>(left)[i] = Four{};  // what is read beyond
  for (std::size_t i = 0; i < n; i += kWide) {
    const Columns sums = columns_of(left + 4 * i);
    const Wide both =
        score(sums.first, sums.second) + score(WideInt{} + total[0] - sums.first, WideInt{} + total[1] - sums.second);
    __builtin_memcpy(scores + i, &both, sizeof both);
  }
  return n;
}

// What one node says about all splits of a feature, for a level of a symmetric tree: scores[i] += the score of the bins
// up to i plus that of the rest, and votes[i] = 1; or, if one of them has fewer than `min_samples` rows, scores[i] +=
// own, the score of the node. Empty bins are not left out, because another node may have rows there. `scores` has room
// for a multiple of eight numbers. A bin has four lanes.
template <class Lane>
void newton_votes(const Lane* bins, std::size_t n_bins, const Lane* begin, const Lane* total, const double* inverse,
                  double l2, std::int64_t min_samples, double own, double* scores, std::uint8_t* votes) {
  using Four = typename BinOf<Lane>::Four;
  Lane sums[4 * kMostBins];
  Four so_far = {begin[0], begin[1], begin[2], 0};
  for (std::size_t i = 0; i < n_bins; ++i)
    reinterpret_cast<Four*>(sums)[i] = so_far += reinterpret_cast<const Four*>(bins)[i];
  for (std::size_t i = n_bins; i % kWide != 0; ++i) reinterpret_cast<Four*>(sums)[i] = Four{};
  const std::int64_t most = total[2] - min_samples;
  const auto score = [&](WideInt a, WideInt b) {
    return newton_scores(a, b, inverse, l2) +
           newton_scores(WideInt{} + total[0] - a, WideInt{} + total[1] - b, inverse, l2);
  };
  std::size_t first = 0, last = n_bins;  // the splits with enough rows on both sides, since counts ascend
  while (first < n_bins && sums[4 * first + 2] < min_samples) ++first;
  while (last > first && sums[4 * (last - 1) + 2] > most) --last;
  for (std::size_t i = first; i < last; ++i) votes[i] = 1;
  for (std::size_t i = 0; i < n_bins; i += kWide) {
    Wide* sum = reinterpret_cast<Wide*>(scores + i);
    if (i + kWide <= first || i >= last) {
      *sum += own;
      continue;
    }
    const auto [a, b, n] = columns_of(sums + 4 * i);
    *sum += (n >= min_samples) & (n <= most) ? score(a, b) : Wide{} + own;
  }
}
