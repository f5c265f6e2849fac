// Loops of newton.hpp: outer products, a system of equations. Part of core/hot.inl.

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
