// Loops of leaves.hpp: sums over the rows of a leaf. Part of core/hot.inl.

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
