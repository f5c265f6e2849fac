// Products of rows and a matrix. Part of core/hot.inl.
//
// Each entry is a sum in the order of j, whatever the number of rows. A product by BLAS may add in another order for
// one row than for many, so that a model would depend on how its rows are spread over machines.

// Some rows and kProductColumns columns, whose sums stay in registers: two vectors for each row.
template <class T, int Rows>
inline void product_tile(const T* A, const T* M, std::size_t m, std::size_t pitch, T factor,
                         T (*sums)[kProductColumns]) {
  typedef T Half __attribute__((vector_size(kProductColumns / 2 * sizeof(T)), aligned(sizeof(T)), may_alias));
  Half low[Rows] = {}, high[Rows] = {};
  for (std::size_t j = 0; j < m; ++j, M += pitch) {
    const Half a = *reinterpret_cast<const Half*>(M), b = *reinterpret_cast<const Half*>(M + kProductColumns / 2);
    for (int r = 0; r < Rows; ++r) {
      const T x = A[static_cast<std::size_t>(r) * m + j];
      low[r] += x * a;
      high[r] += x * b;
    }
  }
  for (int r = 0; r < Rows; ++r) {
    *reinterpret_cast<Half*>(sums[r]) = low[r] * factor;
    *reinterpret_cast<Half*>(sums[r] + kProductColumns / 2) = high[r] * factor;
  }
}

template <class T, int Rows>
inline void product_rows(const T* A, const T* M, std::size_t m, std::size_t pitch, std::size_t K, T factor, T* out) {
  T sums[Rows][kProductColumns];
  for (std::size_t k = 0; k < K; k += kProductColumns) {
    product_tile<T, Rows>(A, M + k, m, pitch, factor, sums);
    const std::size_t columns = K - k < kProductColumns ? K - k : kProductColumns;
    for (int r = 0; r < Rows; ++r)
      for (std::size_t i = 0; i < columns; ++i) out[static_cast<std::size_t>(r) * K + k + i] = sums[r][i];
  }
}

// out (n, K) = factor * A (n, m) M (m, K); the rows of M are `pitch` apart, K rounded up to whole tiles.
template <class T>
void times(const T* A, std::size_t n, const T* M, std::size_t m, std::size_t pitch, std::size_t K, T factor, T* out) {
  constexpr int kRows = 4;
  std::size_t i = 0;
  for (; i + kRows <= n; i += kRows) product_rows<T, kRows>(A + i * m, M, m, pitch, K, factor, out + i * K);
  for (; i < n; ++i) product_rows<T, 1>(A + i * m, M, m, pitch, K, factor, out + i * K);
}
