// Loops of newton.hpp: outer products, a system of equations. Part of core/hot.inl.

// H (d, d) += sum over rows v (n_rows, d) of scale v v^T in integers, lower triangle
void add_outer_bits(std::uint64_t* H, const double* v, const double* scale, std::size_t n_rows, std::size_t d) {
  constexpr std::uint64_t constant = __builtin_bit_cast(std::uint64_t, kRound);
  std::size_t r = 0;
  for (; r + 4 <= n_rows; r += 4) {  // sums are read and written once for four rows
    const double *a = v + r * d, *b = a + d, *c = b + d, *e = c + d;
    for (std::size_t i = 0; i < d; ++i) {
      const double ai = scale[r] * a[i], bi = scale[r + 1] * b[i], ci = scale[r + 2] * c[i], ei = scale[r + 3] * e[i];
      std::uint64_t* h = H + i * d;
      for (std::size_t j = 0; j <= i; ++j)
        h[j] += (__builtin_bit_cast(std::uint64_t, ai* a[j] + kRound) +
                 __builtin_bit_cast(std::uint64_t, bi* b[j] + kRound)) +
                (__builtin_bit_cast(std::uint64_t, ci* c[j] + kRound) +
                 __builtin_bit_cast(std::uint64_t, ei* e[j] + kRound)) -
                4 * constant;
    }
  }
  for (; r < n_rows; ++r)
    for (std::size_t i = 0; i < d; ++i) {
      const double w = scale[r] * v[r * d + i];
      for (std::size_t j = 0; j <= i; ++j) H[i * d + j] += rounded_bits(w * v[r * d + j]);
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

// Solves A x = b in place by Cholesky, for A (d, d) symmetric and positive, of which the lower triangle is used;
// `column` (d,) is scratch. Returns whether all pivots are at least `least`; a smaller one is a rounding error, and x
// is then useless. The method is right-looking, so that every inner loop runs along a row.
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
