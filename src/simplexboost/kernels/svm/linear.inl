// Loops of linear.hpp: the scores of an example, and its contribution to W. Part of svm/hot.inl.

// out += sum_j x_j W[j] over classes k .. k + 8 N; U features at a time, each with separate sums.
template <int N, int U, class Index>
inline void scores_chunk(const double* x, Index index, std::size_t m, const double* W, std::size_t Kp, double* out) {
  Vec8 sum[U][N] = {};
  std::size_t j = 0;
  for (; j + U <= m; j += U)
    for (int u = 0; u < U; ++u) {
      const double* w = W + index(j + u) * Kp;
      for (int v = 0; v < N; ++v) sum[u][v] += x[j + u] * load(w + 8 * v);
    }
  for (; j < m; ++j) {
    const double* w = W + index(j) * Kp;
    for (int v = 0; v < N; ++v) sum[0][v] += x[j] * load(w + 8 * v);
  }
  for (int v = 0; v < N; ++v) {
    Vec8 total = sum[0][v];
    for (int u = 1; u < U; ++u) total += sum[u][v];
    store(out + 8 * v, load(out + 8 * v) + total);
  }
}

template <class Index>
inline void scores(const double* x, Index index, std::size_t m, const double* W, std::size_t Kp, double* out) {
  std::size_t k = 0;
  for (; k + 32 <= Kp; k += 32) scores_chunk<4, 2>(x, index, m, W + k, Kp, out + k);
  if (k + 16 <= Kp) scores_chunk<2, 4>(x, index, m, W + k, Kp, out + k), k += 16;
  if (k < Kp) scores_chunk<1, 8>(x, index, m, W + k, Kp, out + k);
}

void scores_dense(const double* x, std::size_t p, const double* W, std::size_t Kp, double* out) {
  scores(x, [](std::size_t j) { return j; }, p, W, Kp, out);
}

void scores_sparse(const double* x, const std::int32_t* indices, std::size_t m, const double* W, std::size_t Kp,
                   double* out) {
  scores(x, [indices](std::size_t j) { return static_cast<std::size_t>(indices[j]); }, m, W, Kp, out);
}

template <class Index>
inline void add(const double* x, Index index, std::size_t m, const Change* change, std::size_t n_changed, double* W,
                std::size_t Kp) {
  if (n_changed == 2) {  // by far the most frequent case
    const std::size_t k0 = change[0].k, k1 = change[1].k;
    const double d0 = change[0].by, d1 = change[1].by;
    for (std::size_t j = 0; j < m; ++j) {
      double* w = W + index(j) * Kp;
      w[k0] += d0 * x[j];
      w[k1] += d1 * x[j];
    }
    return;
  }
  for (std::size_t j = 0; j < m; ++j) {
    double* w = W + index(j) * Kp;
    for (std::size_t c = 0; c < n_changed; ++c) w[change[c].k] += change[c].by * x[j];
  }
}

void add_dense(const double* x, std::size_t p, const Change* change, std::size_t n_changed, double* W, std::size_t Kp) {
  add(x, [](std::size_t j) { return j; }, p, change, n_changed, W, Kp);
}

void add_sparse(const double* x, const std::int32_t* indices, std::size_t m, const Change* change,
                std::size_t n_changed, double* W, std::size_t Kp) {
  add(x, [indices](std::size_t j) { return static_cast<std::size_t>(indices[j]); }, m, change, n_changed, W, Kp);
}
