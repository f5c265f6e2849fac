// Loops of quantize.hpp: statistics become integers. Part of core/hot.inl.

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

// For 64-bit lanes numbers are rounded to nearest; for 32-bit lanes up or down at random, without bias, unless the seed
// is 0. Row i is row `first_row` + i of all shards together.
template <class Lane>
void quantize_rows(const double* v, std::size_t m, std::size_t lanes, const std::uint32_t* rows, std::size_t n_rows,
                   const double* scale, std::uint64_t first_row, std::uint64_t seed, Lane* out) {
  for (std::size_t r = 0; r < n_rows; ++r) {
    const std::size_t i = rows[r];
    const double* x = v + i * m;
    Lane* q = out + i * lanes;
    if (sizeof(Lane) == 8 || seed == 0)
      for (std::size_t j = 0; j < m; ++j) q[j] = static_cast<Lane>(__builtin_nearbyint(x[j] * scale[j]));
    else
      for (std::size_t j = 0; j < m; ++j)
        q[j] = static_cast<Lane>(__builtin_floor(x[j] * scale[j] + hashed_uniform(seed, first_row + i, j)));
  }
}
