// Loops of histogram.hpp: sums per bin. Part of core/hot.inl.
//
// Lanes are added and subtracted as numbers without a sign, that is modulo 2^64 or 2^32. Sums that anybody reads do not
// overflow (quantize.hpp); but of sparse codes the bins of features that are not wanted are added to without being set
// to zero before, and what is in the memory then may be any number.

template <class Lane>
using Unsigned = std::make_unsigned_t<Lane>;

template <class Lane>
inline void increase(Lane& sum, Lane by) {
  sum = static_cast<Lane>(static_cast<Unsigned<Lane>>(sum) + static_cast<Unsigned<Lane>>(by));
}

template <class Lane>
inline void decrease(Lane& sum, Lane by) {
  sum = static_cast<Lane>(static_cast<Unsigned<Lane>>(sum) - static_cast<Unsigned<Lane>>(by));
}

// Adds rows to the histograms of one block of up to 8 features; base[f] is feature f's first bin.
// `stats` is in the order of the row list if Packed, otherwise indexed by row number.
template <class Lane, std::size_t L, bool Packed>
void accumulate_fixed(const std::uint64_t* words, const std::uint32_t* rows, std::size_t n_rows, const Lane* stats,
                      Lane* const* base, std::size_t n_features) {
  constexpr std::size_t ahead = 16;  // rows of prefetch distance
  // Vectors are written explicitly: otherwise some compilers do not keep the sums in registers, which takes twice as
  // long.
  constexpr std::size_t bytes = L * sizeof(Lane), power = bytes & ~(bytes - 1), line = power < 64 ? power : 64;
  constexpr std::size_t n_lines = bytes / line;
  typedef Unsigned<Lane> Line __attribute__((vector_size(line), aligned(sizeof(Lane)), may_alias));
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
      for (std::size_t l = 0; l < lanes; ++l) increase(h[l], s[l]);
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

// One non-zero per row: its weight is added to the lane of its class, and 1 to the count.
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
      increase(h[k], w);
      increase(h[m], Lane{1});
    }
  }
}

// Adds rows to the histogram of sparse codes, a strip of columns (data.hpp): row i has the bins starts[i] ..
// starts[i + 1] - 1. `stats` as above.
template <class Lane, std::size_t L, bool Packed>
void accumulate_entries_fixed(const std::int64_t* starts, const std::uint32_t* bins, const std::uint32_t* rows,
                              std::size_t n_rows, const Lane* stats, Lane* histogram) {
  constexpr std::size_t ahead = 8;  // rows of prefetch distance
  constexpr std::size_t bytes = L * sizeof(Lane), power = bytes & ~(bytes - 1), line = power < 64 ? power : 64;
  constexpr std::size_t n_lines = bytes / line;
  typedef Unsigned<Lane> Line __attribute__((vector_size(line), aligned(sizeof(Lane)), may_alias));
  for (std::size_t r = 0; r < n_rows; ++r) {
    if (r + 2 * ahead < n_rows) __builtin_prefetch(starts + rows[r + 2 * ahead]);
    if (r + ahead < n_rows) __builtin_prefetch(bins + starts[rows[r + ahead]]);
    const Lane* s = stats + (Packed ? r : rows[r]) * L;
    Line v[n_lines];
    for (std::size_t l = 0; l < n_lines; ++l) v[l] = reinterpret_cast<const Line*>(s)[l];
    const std::int64_t end = starts[rows[r] + 1];
    for (std::int64_t e = starts[rows[r]]; e < end; ++e) {
      Line* h = reinterpret_cast<Line*>(histogram + bins[e] * L);
      for (std::size_t l = 0; l < n_lines; ++l) h[l] += v[l];
    }
  }
}

template <class Lane, bool Packed>
void accumulate_entries(const std::int64_t* starts, const std::uint32_t* bins, const std::uint32_t* rows,
                        std::size_t n_rows, const Lane* stats, std::size_t lanes, Lane* histogram) {
  if (lanes == 2) return accumulate_entries_fixed<Lane, 2, Packed>(starts, bins, rows, n_rows, stats, histogram);
  if (lanes == 4) return accumulate_entries_fixed<Lane, 4, Packed>(starts, bins, rows, n_rows, stats, histogram);
  if (lanes == 8) return accumulate_entries_fixed<Lane, 8, Packed>(starts, bins, rows, n_rows, stats, histogram);
  for (std::size_t r = 0; r < n_rows; ++r) {
    const Lane* s = stats + (Packed ? r : rows[r]) * lanes;
    for (std::int64_t e = starts[rows[r]]; e < starts[rows[r] + 1]; ++e) {
      Lane* h = histogram + bins[e] * lanes;
      for (std::size_t l = 0; l < lanes; ++l) increase(h[l], s[l]);
    }
  }
}

// The same for one non-zero statistic per row.
template <class Lane>
void accumulate_entries_sparse(const std::int64_t* starts, const std::uint32_t* bins, const std::uint32_t* rows,
                               std::size_t n_rows, const std::int32_t* classes, const Lane* weight, std::size_t m,
                               std::size_t lanes, Lane* histogram) {
  for (std::size_t r = 0; r < n_rows; ++r) {
    const std::size_t k = static_cast<std::size_t>(classes[rows[r]]);
    const Lane w = weight[rows[r]];
    for (std::int64_t e = starts[rows[r]]; e < starts[rows[r] + 1]; ++e) {
      Lane* h = histogram + bins[e] * lanes;
      increase(h[k], w);
      increase(h[m], Lane{1});
    }
  }
}

// Bin `zero` of a feature = total - the feature's other bins.
template <class Lane>
void fill_zero_bin(Lane* bins, std::size_t n_bins, std::size_t zero, const Lane* total, std::size_t lanes) {
  Lane* out = bins + zero * lanes;
  for (std::size_t l = 0; l < lanes; ++l) out[l] = total[l];
  for (std::size_t b = 0; b < n_bins; ++b)
    if (b != zero)
      for (std::size_t l = 0; l < lanes; ++l) decrease(out[l], bins[b * lanes + l]);
}

template <class Lane>
void add_lanes(Lane* a, const Lane* b, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) increase(a[i], b[i]);
}

template <class Lane>
void subtract_lanes(Lane* a, const Lane* b, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) decrease(a[i], b[i]);
}
