// Loops of leaves.hpp: sums over the rows of a leaf. Part of core/hot.inl.

// For few columns, as in the flagship's sketch, the sums are in registers (two columns: 10 instructions per number
// instead of 36).
template <std::size_t D>
void add_limbs_few(const double* v, const std::uint32_t* rows, std::size_t n_rows, const double* scale, double second,
                   std::uint64_t* hi, std::uint64_t* lo) {
  const std::uint64_t constant = n_rows * __builtin_bit_cast(std::uint64_t, kRound);
  std::uint64_t first[D] = {}, rest[D] = {};
  for (std::size_t r = 0; r < n_rows; ++r)
    for (std::size_t j = 0; j < D; ++j) {
      const double y = v[rows[r] * D + j] * scale[j], rounded = y + kRound;
      first[j] += __builtin_bit_cast(std::uint64_t, rounded);
      rest[j] += __builtin_bit_cast(std::uint64_t, (y - (rounded - kRound)) * second + kRound);
    }
  for (std::size_t j = 0; j < D; ++j) hi[j] += first[j] - constant, lo[j] += rest[j] - constant;
}

// hi[j] and lo[j] += v[row][j] in two integers, over the listed rows; see core/exact.hpp.
void add_limbs(const double* v, std::size_t d, const std::uint32_t* rows, std::size_t n_rows, const double* scale,
               double second, std::uint64_t* hi, std::uint64_t* lo) {
  if (d == 1) return add_limbs_few<1>(v, rows, n_rows, scale, second, hi, lo);
  if (d == 2) return add_limbs_few<2>(v, rows, n_rows, scale, second, hi, lo);
  if (d == 3) return add_limbs_few<3>(v, rows, n_rows, scale, second, hi, lo);
  constexpr std::size_t ahead = 8, line = 8;  // rows of prefetch distance, numbers of a cache line
  for (std::size_t r = 0; r < n_rows; ++r) {
    if (r + ahead < n_rows)
      for (std::size_t j = 0; j < d && j < 8 * line; j += line) __builtin_prefetch(v + rows[r + ahead] * d + j);
    const double* x = v + rows[r] * d;
    for (std::size_t j = 0; j < d; ++j) {
      const double y = x[j] * scale[j];
      hi[j] += rounded_bits(y);
      lo[j] += rounded_bits((y - ((y + kRound) - kRound)) * second);
    }
  }
}

// The same if row i has one number, weight[i] in column classes[i].
void add_limbs_sparse(const std::int32_t* classes, const double* weight, const std::uint32_t* rows, std::size_t n_rows,
                      double scale, double second, std::uint64_t* hi, std::uint64_t* lo) {
  for (std::size_t r = 0; r < n_rows; ++r) {
    const double y = weight[rows[r]] * scale;
    hi[classes[rows[r]]] += rounded_bits(y);
    lo[classes[rows[r]]] += rounded_bits((y - ((y + kRound) - kRound)) * second);
  }
}
