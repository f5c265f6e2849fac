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

// The same for two columns: the Newton score of a gradient and a curvature, as the flagship has, or the Gini score of
// two classes. Bins without rows are left out: left (3 columns of kMostBins: both sums, count) holds the sums up to the
// bins at[0], at[1], ..; returns the number of these bins. `begin` holds the sums that are on the left before the first
// bin. The Gini score has no l2.
template <class Lane, bool Gini>
std::size_t prefix_pairs(const Lane* bins, std::size_t n_bins, std::size_t lanes, const Lane* begin, const Lane* total,
                         const double* inverse, double l2, Lane* left, std::uint8_t* at, double* scores) {
  const auto score = [&](WideInt first, WideInt second) {
    return Gini ? gini_scores(first, second, inverse) : newton_scores(first, second, inverse, l2);
  };
  Lane *g = left, *h = left + kMostBins, *count = left + 2 * kMostBins;
  Lane g_sum = begin[0], h_sum = begin[1], n_sum = begin[2];
  std::size_t n = 0;
  for (std::size_t i = 0; i < n_bins; ++i) {  // without a branch, because empty bins cannot be predicted
    const Lane* bin = bins + i * lanes;
    g[n] = g_sum += bin[0];
    h[n] = h_sum += bin[1];
    count[n] = n_sum += bin[2];
    at[n] = static_cast<std::uint8_t>(i);
    n += bin[2] != 0;
  }
  for (std::size_t i = n; i % kWide != 0; ++i) g[i] = h[i] = 0;  // what the last vector reads beyond the bins
  for (std::size_t i = 0; i < n; i += kWide) {
    const WideInt a = load_lanes(g + i), b = load_lanes(h + i);
    const Wide both = score(a, b) + score(WideInt{} + total[0] - a, WideInt{} + total[1] - b);
    __builtin_memcpy(scores + i, &both, sizeof both);
  }
  return n;
}

// What one node says about all splits of a feature, for a level of a symmetric tree: scores[i] += the score of the bins
// up to i plus that of the rest, and votes[i] = 1; or, if one of them has fewer than `min_samples` rows, scores[i] +=
// own, the score of the node. Empty bins are not left out, because another node may have rows there. `scores` has room
// for a multiple of eight numbers.
template <class Lane>
void newton_votes(const Lane* bins, std::size_t n_bins, std::size_t lanes, const Lane* begin, const Lane* total,
                  const double* inverse, double l2, std::int64_t min_samples, double own, double* scores,
                  std::uint8_t* votes) {
  Lane g[kMostBins], h[kMostBins], count[kMostBins];
  Lane g_sum = begin[0], h_sum = begin[1], n_sum = begin[2];
  for (std::size_t i = 0; i < n_bins; ++i) {
    const Lane* bin = bins + i * lanes;
    g[i] = g_sum += bin[0];
    h[i] = h_sum += bin[1];
    count[i] = n_sum += bin[2];
  }
  for (std::size_t i = n_bins; i % kWide != 0; ++i) g[i] = h[i] = count[i] = 0;
  const WideInt most = WideInt{} + (total[2] - min_samples);
  for (std::size_t i = 0; i < n_bins; i += kWide) {
    const WideInt a = load_lanes(g + i), b = load_lanes(h + i), n = load_lanes(count + i);
    const Wide both = newton_scores(a, b, inverse, l2) +
                      newton_scores(WideInt{} + total[0] - a, WideInt{} + total[1] - b, inverse, l2);
    const WideInt votes_here = (n >= min_samples) & (n <= most);
    Wide* sum = reinterpret_cast<Wide*>(scores + i);
    *sum += votes_here ? both : Wide{} + own;
    for (std::size_t j = 0; j < kWide; ++j)
      votes[i + j] = static_cast<std::uint8_t>(votes[i + j] | (votes_here[j] & 1));
  }
}
