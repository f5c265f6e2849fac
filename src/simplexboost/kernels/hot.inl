// The inner loops, compiled once per instruction set: hot.cpp includes this file inside a namespace of its own with the
// matching `#pragma GCC target`. Plain loops over plain pointers, so that the compiler vectorises them; no standard
// library call that could be emitted out of line with the wrong instructions.

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

// 64-bit lanes round to nearest; 32-bit lanes round up or down at random, without bias.
template <class Lane>
void quantize_rows(const double* v, std::size_t m, std::size_t lanes, const std::uint32_t* rows, std::size_t n_rows,
                   const double* scale, std::uint64_t seed, Lane* out) {
  for (std::size_t r = 0; r < n_rows; ++r) {
    const std::size_t i = rows[r];
    const double* x = v + i * m;
    Lane* q = out + i * lanes;
    for (std::size_t j = 0; j < m; ++j) {
      if constexpr (sizeof(Lane) == 8)
        q[j] = static_cast<Lane>(__builtin_nearbyint(x[j] * scale[j]));
      else
        q[j] = static_cast<Lane>(__builtin_floor(x[j] * scale[j] + hashed_uniform(seed, i, j)));
    }
  }
}

// ---- histograms ----------------------------------------------------------------------------------------------------

// Adds rows to the histograms of one block of up to 8 features; base[f] is feature f's first bin.
// `stats` is in row-list order (packed) where Packed, else indexed by row number.
template <class Lane, std::size_t L, bool Packed>
void accumulate_fixed(const std::uint64_t* words, const std::uint32_t* rows, std::size_t n_rows, const Lane* stats,
                      Lane* const* base, std::size_t n_features) {
  constexpr std::size_t ahead = 16;  // rows of prefetch distance
  for (std::size_t r = 0; r < n_rows; ++r) {
    if (r + ahead < n_rows) __builtin_prefetch(words + rows[r + ahead]);
    std::uint64_t word = words[rows[r]];
    const Lane* s = stats + (Packed ? r : rows[r]) * L;
    Lane v[L];
    for (std::size_t l = 0; l < L; ++l) v[l] = s[l];
    for (std::size_t f = 0; f < n_features; ++f, word >>= 8) {
      Lane* h = base[f] + (word & 255u) * L;
      for (std::size_t l = 0; l < L; ++l) h[l] += v[l];
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
    case 2: return accumulate_fixed<Lane, 2, Packed>(words, rows, n_rows, stats, base, n_features);
    case 4: return accumulate_fixed<Lane, 4, Packed>(words, rows, n_rows, stats, base, n_features);
    case 8: return accumulate_fixed<Lane, 8, Packed>(words, rows, n_rows, stats, base, n_features);
    default: return accumulate_any<Lane, Packed>(words, rows, n_rows, stats, lanes, base, n_features);
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

// ---- leaves --------------------------------------------------------------------------------------------------------

// out[j] += sum over rows, in their order, of v[row][j]
void sum_rows(const double* v, std::size_t d, const std::uint32_t* rows, std::size_t n_rows, double* out) {
  for (std::size_t r = 0; r < n_rows; ++r) {
    const double* x = v + rows[r] * d;
    for (std::size_t j = 0; j < d; ++j) out[j] += x[j];
  }
}

template <class Lane>
HotLanes<Lane> hot_lanes() {
  return {quantize_rows<Lane>, accumulate<Lane, true>, accumulate<Lane, false>,
          accumulate_sparse<Lane>, add_lanes<Lane>, subtract_lanes<Lane>};
}

HotTable table() { return {column_maxima, column_magnitudes, sum_rows, hot_lanes<std::int64_t>(), hot_lanes<std::int32_t>()}; }
