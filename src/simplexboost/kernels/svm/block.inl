// Loops of kernel.cpp: solving a block of examples, and updating the scores after it. Part of svm/hot.inl.

// F[k] (columns begin .. end) += sum of by * row over the entries of class k; entries are sorted by class, and
// first (K + 1) says where those of each class begin.
template <int V, class T>
inline void gradient_chunk(double* F, const Entry* entries, std::size_t n_entries, const T* const* rows,
                           std::size_t at) {
  Vec8 sum[V];
  for (int v = 0; v < V; ++v) sum[v] = load(F + at + 8 * v);
  for (std::size_t e = 0; e < n_entries; ++e) {
    const T* row = rows[entries[e].row] + at;
    for (int v = 0; v < V; ++v) sum[v] += entries[e].by * load(row + 8 * v);
  }
  for (int v = 0; v < V; ++v) store(F + at + 8 * v, sum[v]);
}

template <class T>
void gradient(double* F, std::size_t ld, std::size_t K, const Entry* entries, const std::size_t* first,
              const T* const* rows, std::size_t begin, std::size_t end) {
  for (std::size_t panel = begin; panel < end; panel += 128) {
    const std::size_t stop = panel + 128 < end ? panel + 128 : end;
    for (std::size_t k = 0; k < K; ++k) {
      const std::size_t n_entries = first[k + 1] - first[k];
      if (n_entries == 0) continue;
      std::size_t at = panel;
      for (; at + 64 <= stop; at += 64) gradient_chunk<8>(F + k * ld, entries + first[k], n_entries, rows, at);
      for (; at < stop; at += 8) gradient_chunk<1>(F + k * ld, entries + first[k], n_entries, rows, at);
    }
  }
}

// high[j] = max_k F[k, j], columns begin .. end.
void column_highs(const double* F, std::size_t ld, std::size_t K, std::size_t begin, std::size_t end, double* high) {
  for (std::size_t at = begin; at < end; at += 8) {
    Vec8 top = load(F + at);
    for (std::size_t k = 1; k < K; ++k) {
      const Vec8 other = load(F + k * ld + at);
      top = other > top ? other : top;
    }
    store(high + at, top);
  }
}

// Passes over the q examples of a block until the largest violation is below `enough`. S (K, ldq) are their F, Q
// (q, ldq) is their Gram matrix, a (q, K) their dual variables. Returns the number of steps.
std::size_t solve_block(double* S, std::size_t ldq, std::size_t q, std::size_t K, const double* Q, double* a,
                        const std::size_t* y, const double* C, double enough, std::size_t max_passes, double* scratch,
                        Change* change) {
  double *F = scratch, *D = scratch + K;
  std::size_t steps = 0;
  for (std::size_t pass = 0; pass < max_passes; ++pass) {
    double worst = 0.0;
    for (std::size_t b = 0; b < q; ++b) {
      for (std::size_t k = 0; k < K; ++k) F[k] = S[k * ldq + b];
      const Visit step = visit(F, a + b * K, K, y[b], C[b], Q[b * ldq + b], 0.1 * enough, D, change);
      worst = step.violation > worst ? step.violation : worst;
      if (step.n_changed == 0) continue;
      ++steps;
      const double* row = Q + b * ldq;
      for (std::size_t c = 0; c < step.n_changed; ++c) {
        double* s = S + change[c].k * ldq;
        for (std::size_t at = 0; at < ldq; at += 8) store(s + at, load(s + at) + change[c].by * load(row + at));
      }
    }
    if (worst <= enough) break;
  }
  return steps;
}
