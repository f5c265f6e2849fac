// Loops of gram.hpp: rows of the matrix of kernel values. Part of svm/hot.inl.

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
  const Vec8 scaled = (Vec8)((Bits8)y + ((Bits8)shifted << 52));
  return x < low ? Vec8{} : scaled;
}

// One vector of kernel values from inner products.
inline Vec8 kernel_values(const SvmKernelSpec& spec, Vec8 dot, double own_norm, Vec8 norm) {
  if (spec.kind == SvmKernel::rbf) {
    Vec8 distance = own_norm + norm - 2.0 * dot;
    distance = distance > Vec8{} ? distance : Vec8{};
    dot = exp_nonpositive(distance * -spec.gamma);
  } else if (spec.kind == SvmKernel::poly) {
    Vec8 power = spec.gamma * dot + spec.coef0;  // to the powers 1, 2, 4, ...
    dot = splat(1.0);
    for (int left = spec.degree; left > 0; left /= 2, power *= power)
      if (left % 2) dot *= power;
  }
  return dot + spec.bias;
}

// out[r] (columns begin .. end) = k(x_r, .) for R rows of dense data; XT (p, ld) holds the examples as columns. Columns
// are processed in whole vectors: from `end` to the next multiple of 8, the arrays must have padding.
template <int R, int V, class T>
inline void gram_tile(const SvmKernelSpec& spec, const double* const* x, const double* own_norm, std::size_t p,
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
void gram_rows(const SvmKernelSpec& spec, const double* const* x, const double* own_norm, std::size_t n_rows,
               std::size_t p, const double* XT, std::size_t ld, const double* norm, std::size_t begin, std::size_t end,
               T* const* out) {
  for (std::size_t at = begin; at < end; at += 32) {  // each panel of 32 columns is used for all rows
    std::size_t r = 0;
    if (at + 32 <= end) {
      for (; r + 4 <= n_rows; r += 4) gram_tile<4, 4>(spec, x + r, own_norm + r, p, XT, ld, norm, at, out + r);
      for (; r < n_rows; ++r) gram_tile<1, 4>(spec, x + r, own_norm + r, p, XT, ld, norm, at, out + r);
    } else {
      for (; r < n_rows; ++r)
        for (std::size_t v = at; v < end; v += 8)
          gram_tile<1, 1>(spec, x + r, own_norm + r, p, XT, ld, norm, v, out + r);
    }
  }
}

// The same from known inner products, which out[begin .. end) holds in double precision.
template <class T>
void gram_from_dots(const SvmKernelSpec& spec, const double* dots, double own_norm, const double* norm,
                    std::size_t begin, std::size_t end, T* out) {
  for (std::size_t at = begin; at < end; at += 8)
    store(out + at, kernel_values(spec, load(dots + at), own_norm, load(norm + at)));
}
