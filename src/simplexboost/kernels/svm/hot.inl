// Inner loops of the multiclass SVM, compiled once per instruction set (see svm_hot.cpp). Vectors run along classes or
// along examples, never along a sum, so that every instruction set gets the same bits.

typedef double Vec8 __attribute__((vector_size(64), aligned(8), may_alias));
typedef std::int64_t Int8 __attribute__((vector_size(64), aligned(8), may_alias));
typedef float Float8 __attribute__((vector_size(32), aligned(4), may_alias));

inline Vec8 load(const double* p) { return *reinterpret_cast<const Vec8*>(p); }
inline Vec8 load(const float* p) { return __builtin_convertvector(*reinterpret_cast<const Float8*>(p), Vec8); }
inline void store(double* p, Vec8 v) { *reinterpret_cast<Vec8*>(p) = v; }
inline void store(float* p, Vec8 v) { *reinterpret_cast<Float8*>(p) = __builtin_convertvector(v, Float8); }
inline Vec8 splat(double x) { return Vec8{} + x; }

// ---- the problem of one example -------------------------------------------------------------------------------------

// Moves a (K,) to the maximum of the dual in this example: a_l = C_l - max(0, D_l - beta) / A, a projection on a
// simplex. Writes the change and the classes that changed; returns how much the example violated its conditions before.
// `gap` is its part of the duality gap, before.
inline Visit visit(const double* F, double* a, std::size_t K, std::size_t y, double C, double A, double small,
                   double* D, Change* change) {
  Visit out{0.0, 0.0, 0.0, 0};
  double high = F[0];
  for (std::size_t l = 1; l < K; ++l) high = F[l] > high ? F[l] : high;
  double low = high, gap = 0.0;
  for (std::size_t l = 0; l < K; ++l) {
    const double room = (l == y ? C : 0.0) - a[l];
    if (room > kDust * C) {
      low = F[l] < low ? F[l] : low;
      gap += room * (high - F[l]);
    }
  }
  out.violation = high - low;
  out.gap = gap;
  out.hinge = high - F[y];
  if (out.violation <= small) return out;

  std::size_t n_kept = 0;
  double* kept = D + K;
  double own = 0.0;
  if (A <= 0.0) {  // the example is zero: the dual is linear in it, its maximum a corner
    std::size_t top = y;
    for (std::size_t l = 0; l < K; ++l)
      if (F[l] > F[top]) top = l;
    for (std::size_t l = 0; l < K; ++l) {
      if (l == y) continue;
      const double next = l == top ? -C : 0.0;
      if (next != a[l]) change[out.n_changed++] = {l, next - a[l]}, a[l] = next;
      own -= next;
    }
  } else {
    double top = -1e300;
    for (std::size_t l = 0; l < K; ++l) {
      D[l] = F[l] + A * ((l == y ? C : 0.0) - a[l]);
      top = D[l] > top ? D[l] : top;
    }
    const double radius = A * C, floor = top - radius;
    double sum = 0.0;
    for (std::size_t l = 0; l < K; ++l)
      if (D[l] > floor) kept[n_kept++] = D[l] - floor, sum += D[l] - floor;
    double beta = (sum - radius) / static_cast<double>(n_kept);
    for (bool changed = n_kept > 1; changed;) {  // Michelot: drop what lies below the mean until nothing does
      std::size_t left = 0;
      double rest = 0.0;
      for (std::size_t k = 0; k < n_kept; ++k)
        if (kept[k] > beta) rest += kept[k], kept[left++] = kept[k];
      changed = left < n_kept && left > 0;
      if (left == 0) break;
      n_kept = left;
      beta = (rest - radius) / static_cast<double>(n_kept);
    }
    beta += floor;
    for (std::size_t l = 0; l < K; ++l) {
      if (l == y) continue;
      const double next = D[l] > beta ? (beta - D[l]) / A : 0.0;
      if (next != a[l]) change[out.n_changed++] = {l, next - a[l]}, a[l] = next;
      own -= next;
    }
  }
  own = own > C ? C : own;
  if (own != a[y]) change[out.n_changed++] = {y, own - a[y]}, a[y] = own;
  return out;
}

// ---- linear ---------------------------------------------------------------------------------------------------------

// out += sum_j x_j W[j] over classes k .. k + 8 N; U features at a time, each with sums of its own.
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
  if (n_changed == 2) {  // by far the most frequent
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

Visit visit_row(const double* F, double* a, std::size_t K, std::size_t y, double C, double A, double small, double* D,
                Change* change) {
  return visit(F, a, K, y, C, A, small, D, change);
}

// ---- kernels --------------------------------------------------------------------------------------------------------

// exp(x) for x <= 0 to a few units in the last place; 0 below -708. x = k ln 2 + r, a Taylor polynomial in r.
inline Vec8 exp_nonpositive(Vec8 x) {
  const Vec8 low = splat(-708.0);
  const Vec8 clamped = x > low ? x : low;
  const Vec8 shifted =
      clamped * 1.4426950408889634 + 6755399441055744.0;  // 1.5 * 2^52: rounds, leaves k in the low bits
  const Vec8 k = shifted - 6755399441055744.0;
  const Vec8 r = (clamped - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10;
  Vec8 y = splat(1.0 / 6227020800.0);
  y = y * r + 1.0 / 479001600.0;
  y = y * r + 1.0 / 39916800.0;
  y = y * r + 1.0 / 3628800.0;
  y = y * r + 1.0 / 362880.0;
  y = y * r + 1.0 / 40320.0;
  y = y * r + 1.0 / 5040.0;
  y = y * r + 1.0 / 720.0;
  y = y * r + 1.0 / 120.0;
  y = y * r + 1.0 / 24.0;
  y = y * r + 1.0 / 6.0;
  y = y * r + 0.5;
  y = y * r + 1.0;
  y = y * r + 1.0;
  const Vec8 scaled = (Vec8)((Int8)y + ((Int8)shifted << 52));
  return x < low ? Vec8{} : scaled;
}

// One vector of kernel values from inner products.
inline Vec8 kernel_values(const SvmKernelSpec& spec, Vec8 dot, double own_norm, Vec8 norm) {
  if (spec.kind == SvmKernel::rbf) {
    Vec8 distance = own_norm + norm - 2.0 * dot;
    distance = distance > Vec8{} ? distance : Vec8{};
    dot = exp_nonpositive(distance * -spec.gamma);
  } else if (spec.kind == SvmKernel::poly) {
    const Vec8 base = spec.gamma * dot + spec.coef0;
    dot = splat(1.0);
    for (int i = 0; i < spec.degree; ++i) dot *= base;
  }
  return dot + spec.bias;
}

// out[r] (columns begin .. end) = k(x_r, .) for R rows of dense data; XT (p, ld) holds the examples as columns. Columns
// come in vectors: whatever lies behind `end`, up to the next multiple of 8, is padding of the same arrays.
template <int R, int V, class T>
inline void kernel_tile(const SvmKernelSpec& spec, const double* const* x, const double* own_norm, std::size_t p,
                        const double* XT, std::size_t ld, const double* norm, std::size_t at, T* const* out) {
  Vec8 sum[R][V] = {};
  for (std::size_t f = 0; f < p; ++f) {
    Vec8 column[V];
    for (int v = 0; v < V; ++v) column[v] = load(XT + f * ld + at + 8 * v);
    for (int r = 0; r < R; ++r)
      for (int v = 0; v < V; ++v) sum[r][v] += x[r][f] * column[v];
  }
  for (int r = 0; r < R; ++r)
    for (int v = 0; v < V; ++v)
      store(out[r] + at + 8 * v, kernel_values(spec, sum[r][v], own_norm[r], load(norm + at + 8 * v)));
}

template <class T>
void kernel_rows(const SvmKernelSpec& spec, const double* const* x, const double* own_norm, std::size_t n_rows,
                 std::size_t p, const double* XT, std::size_t ld, const double* norm, std::size_t begin,
                 std::size_t end, T* const* out) {
  for (std::size_t at = begin; at < end; at += 32) {  // a panel of 32 columns serves all rows
    std::size_t r = 0;
    if (at + 32 <= end) {
      for (; r + 4 <= n_rows; r += 4) kernel_tile<4, 4>(spec, x + r, own_norm + r, p, XT, ld, norm, at, out + r);
      for (; r < n_rows; ++r) kernel_tile<1, 4>(spec, x + r, own_norm + r, p, XT, ld, norm, at, out + r);
    } else {
      for (; r < n_rows; ++r)
        for (std::size_t v = at; v < end; v += 8)
          kernel_tile<1, 1>(spec, x + r, own_norm + r, p, XT, ld, norm, v, out + r);
    }
  }
}

// The same from inner products that are there already: out[begin .. end) holds them in double precision.
template <class T>
void kernel_from_dots(const SvmKernelSpec& spec, const double* dots, double own_norm, const double* norm,
                      std::size_t begin, std::size_t end, T* out) {
  for (std::size_t at = begin; at < end; at += 8)
    store(out + at, kernel_values(spec, load(dots + at), own_norm, load(norm + at)));
}

// F[k] (columns begin .. end) += sum over the entries of class k of by * row; entries sorted by class, first (K + 1).
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

// Passes over the q examples of a block until the largest violation is below `enough`; S (K, ldq) are their F, Q (q,
// ldq) their kernel matrix, a (q, K). Returns the number of steps.
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

SvmHot table() {
  return {scores_dense,
          scores_sparse,
          add_dense,
          add_sparse,
          visit_row,
          column_highs,
          solve_block,
          kernel_rows<double>,
          kernel_rows<float>,
          kernel_from_dots<double>,
          kernel_from_dots<float>,
          gradient<double>,
          gradient<float>};
}
