// The logistic loss as a function of F, compiled once per instruction set (core/isa.hpp). Each block of rows stays in
// the cache: its logits 2U = F Yᵀ, their soft-max P, and the product P [Y | Z | ‖Z‖²]. No n x K array is stored.

#include "losses/vectors.inl"

// The size of a tile of the matrix products, in rows and in vectors of columns: its sums just fit in the registers.
constexpr std::size_t kTileRows = VECTOR_BYTES == 16 ? 4 : 6, kTileVectors = VECTOR_BYTES == 64 ? 4 : 2;

// C (kTileRows, N) = A (kTileRows, M) B (M, N) for NV vectors of columns; A has row stride lda, B and C have ldb and
// ldc.
template <std::size_t NV>
inline void product_tile(const float* A, std::size_t lda, const float* B, std::size_t ldb, float* C, std::size_t ldc,
                         std::size_t M) {
  Vec acc[kTileRows][NV] = {};
  for (std::size_t m = 0; m < M; ++m) {
    Vec b[NV];
    for (std::size_t v = 0; v < NV; ++v) b[v] = load(B + m * ldb + v * W);
    for (std::size_t r = 0; r < kTileRows; ++r)
      for (std::size_t v = 0; v < NV; ++v) acc[r][v] += A[r * lda + m] * b[v];
  }
  for (std::size_t r = 0; r < kTileRows; ++r)
    for (std::size_t v = 0; v < NV; ++v) store(C + r * ldc + v * W, acc[r][v]);
}

// C (rows, N) = A (rows, M) B (M, N); rows is a multiple of kTileRows, N of W. Each panel of columns of B is used for
// all rows before the next one.
inline void product(const float* A, std::size_t lda, const float* B, std::size_t ldb, float* C, std::size_t ldc,
                    std::size_t rows, std::size_t M, std::size_t N) {
  std::size_t n = 0;
  for (; n + kTileVectors * W <= N; n += kTileVectors * W)
    for (std::size_t r = 0; r < rows; r += kTileRows)
      product_tile<kTileVectors>(A + r * lda, lda, B + n, ldb, C + r * ldc + n, ldc, M);
  for (; n < N; n += W)
    for (std::size_t r = 0; r < rows; r += kTileRows)
      product_tile<1>(A + r * lda, lda, B + n, ldb, C + r * ldc + n, ldc, M);
}

// Turns a row of logits S (Kp,), padded with very low numbers, into probabilities; returns log sum exp.
inline float softmax_row(float* S, std::size_t Kp) {
  Vec top = load(S);
  for (std::size_t k = W; k < Kp; k += W) top = vmax(top, load(S + k));
  const float high = across(top, [](auto a, auto b) { return a > b ? a : b; });
  Vec sum = Vec{};
  for (std::size_t k = 0; k < Kp; k += W) {
    const Vec e = exp_nonpositive(load(S + k) - high);
    store(S + k, e);
    sum += e;
  }
  const float total = sum_across(sum);
  const float scale = 1.0f / total;
  for (std::size_t k = 0; k < Kp; k += W) store(S + k, load(S + k) * scale);
  return high + __builtin_logf(total);
}

inline void add_costs(const LogisticArgs& a, std::size_t own, float* S) {
  if (a.log_cost == nullptr) return;
  for (std::size_t k = 0; k < a.Kp; ++k) S[k] += a.log_cost[own * a.Kp + k];
}

// S (padded, Kp) = the logits of a block of rows; padding classes get very low logits.
inline void block_logits(const LogisticArgs& a, std::size_t begin, std::size_t rows, std::size_t padded, float* Fb,
                         float* S) {
  const float* F = a.F + begin * a.d;
  if (a.YT != nullptr) {
    if (padded != rows) {
      for (std::size_t i = 0; i < padded * a.d; ++i) Fb[i] = i < rows * a.d ? F[i] : 0.0f;
      F = Fb;
    }
    product(F, a.d, a.YT, a.Kp, S, a.Kp, padded, a.d, a.Kp);
  } else {
    for (std::size_t r = 0; r < rows; ++r) __builtin_memcpy(S + r * a.Kp, F + r * a.d, a.K * sizeof(float));
  }
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t k = a.K; k < a.Kp; ++k) S[r * a.Kp + k] = -1e30f;
}

// P (n, K), rows begin .. end: the soft-max of the logits, normalised in double precision.
void probability_block(const LogisticArgs& a, std::size_t begin, std::size_t end, float* scratch, double* P) {
  const std::size_t rows = end - begin, padded = (rows + kTileRows - 1) / kTileRows * kTileRows;
  float *S = scratch, *Fb = S + kBlockRows * a.Kp;
  block_logits(a, begin, rows, padded, Fb, S);
  for (std::size_t r = 0; r < rows; ++r) {
    softmax_row(S + r * a.Kp, a.Kp);
    double* out = P + (begin + r) * a.K;
    double sums[8] = {}, total = 0.0;  // eight at a time; the padding of a row adds next to nothing
    for (std::size_t k = 0; k < a.Kp; k += 8)
      for (std::size_t j = 0; j < 8; ++j) sums[j] += static_cast<double>(S[r * a.Kp + k + j]);
    for (double sum : sums) total += sum;
    const double scale = 1.0 / total;
    for (std::size_t k = 0; k < a.K; ++k) out[k] = scale * static_cast<double>(S[r * a.Kp + k]);
  }
}

// The factor of the weight of a row whose true class has probability p: tilt_scale p^a (1 - p)^b.
inline float tilt(const LogisticArgs& a, float p) {
  float factor = a.tilt_scale;
  for (int i = 0; i < a.tilt_a; ++i) factor *= p;
  for (int i = 0; i < a.tilt_b; ++i) factor *= 1.0f - p;
  return factor;
}

// One block of up to kBlockRows rows; `scratch` has kBlockRows (Kp + Ep + d) floats.
void logistic_block(const LogisticArgs& a, std::size_t begin, std::size_t end, float* scratch) {
  const std::size_t rows = end - begin, padded = (rows + kTileRows - 1) / kTileRows * kTileRows;
  float* S = scratch;                    // (kBlockRows, Kp)
  float* mean = S + kBlockRows * a.Kp;   // (kBlockRows, Ep): P [Y | Z | ‖Z‖²]
  float* Fb = mean + kBlockRows * a.Ep;  // (kBlockRows, d), rows beyond the last are zero
  block_logits(a, begin, rows, padded, Fb, S);
  for (std::size_t r = 0; r < rows; ++r) {
    const std::size_t own = static_cast<std::size_t>(a.c[begin + r]);
    add_costs(a, own, S + r * a.Kp);
    const float logit = S[r * a.Kp + own];
    a.loss[begin + r] = softmax_row(S + r * a.Kp, a.Kp) - logit;
  }
  if (a.YT != nullptr) product(S, a.Kp, a.E, a.Ep, mean, a.Ep, padded, a.K, a.Ep);
  for (std::size_t r = 0; r < rows; ++r) {
    const std::size_t i = begin + r, own = static_cast<std::size_t>(a.c[i]);
    const float p = S[r * a.Kp + own];
    double w = a.weight == nullptr ? 1.0 : static_cast<double>(a.weight[i]);
    w *= static_cast<double>(tilt(a, p));
    if (a.scale != nullptr) a.scale[i] = w;
    double* out = a.stats + i * (a.s + 1);
    float spread;
    if (a.YT != nullptr) {
      const float *y = a.E + own * a.Ep, *m = mean + r * a.Ep;
      float* G = a.G + i * a.d;
      for (std::size_t j = 0; j < a.d; ++j) G[j] = y[j] - m[j];
      spread = m[a.d + a.s];
      for (std::size_t j = a.d; j < a.d + a.s; ++j) {
        out[j - a.d] = w * static_cast<double>(y[j] - m[j]);
        spread -= m[j] * m[j];
      }
    } else {
      const float* P = S + r * a.Kp;
      if (a.P != nullptr)
        for (std::size_t k = 0; k < a.Kp; k += W) store(a.P + i * a.Kp + k, load(P + k));
      spread = dot(P, a.E + a.s * a.Kp, a.Kp);
      for (std::size_t j = 0; j < a.s; ++j) {
        const float* z = a.E + j * a.Kp;
        const float m = dot(P, z, a.Kp);
        out[j] = w * static_cast<double>(z[own] - m);
        spread -= m * m;
      }
    }
    out[a.s] = w * static_cast<double>(spread > 0.0f ? spread : 0.0f);
  }
}

// Half a vector of floats, converted to doubles, and the bits of these.
typedef float Half __attribute__((vector_size(VECTOR_BYTES / 2), aligned(4), may_alias));
typedef double Double __attribute__((vector_size(VECTOR_BYTES), aligned(8), may_alias));
typedef std::uint64_t Bits __attribute__((vector_size(VECTOR_BYTES), aligned(8), may_alias));

// Adding this constant to a number below 2^51 rounds it to an integer: the bits of the sum minus those of the constant.
// Sums of such bits are exact. (A fused multiply-add rounds once, a product and a sum twice; in both cases the integer
// depends on the row only, so the sums do not depend on the order.)
constexpr double kRound = 0x1.8p52;
constexpr std::uint64_t kRoundBits = __builtin_bit_cast(std::uint64_t, kRound);

inline Bits rounded(Half x, double w) { return (Bits)(__builtin_convertvector(x, Double) * w + kRound); }

// mass += w p and spread += w |p| (1 - |p|), class by class in double precision, for R rows of probabilities at once,
// so that sums are read and written once for all R rows. Blocks of classes (losses/blocks.hpp) have p - 1 in place of p
// where a class is the example's own, which makes no difference to the spread.
template <std::size_t R>
inline void add_moments(const float* const* p, const double* w, std::size_t Kp, std::uint64_t* mass,
                        std::uint64_t* spread) {
  for (std::size_t k = 0; k < Kp; k += W / 2) {
    Bits a = Bits{}, b = Bits{};
    for (std::size_t r = 0; r < R; ++r) {
      const Half x = *reinterpret_cast<const Half*>(p[r] + k);
      a += rounded(x, w[r]);
      const Half size = x < 0.0f ? -x : x;
      b += rounded(size * (1.0f - size), w[r]);
    }
    *reinterpret_cast<Bits*>(mass + k) += a;
    *reinterpret_cast<Bits*>(spread + k) += b;
  }
}

// The probabilities of row i, either kept or computed again from the loss: p_k = exp(logit_k - logit_c - loss), since
// loss = -log p_c.
inline const float* row_probabilities(const LogisticArgs& a, std::size_t i, float* S) {
  if (a.P != nullptr) return a.P + i * a.Kp;
  const std::size_t own = static_cast<std::size_t>(a.c[i]);
  const float *logit = a.F + i * a.d, level = logit[own] + a.loss[i];
  for (std::size_t k = 0; k < a.Kp; ++k) S[k] = k < a.K ? logit[k] : -1e30f;
  add_costs(a, own, S);
  for (std::size_t k = 0; k < a.Kp; k += W) {
    const Vec x = load(S + k) - level;
    store(S + k, exp_nonpositive(x < 0.0f ? x : Vec{}));
  }
  return S;
}

template <std::size_t R>
inline void newton_some(const LogisticArgs& a, const std::uint32_t* rows, double unit, float* S, std::uint64_t* sums,
                        std::uint64_t* out) {
  const float* P[R];
  double w[R];
  for (std::size_t r = 0; r < R; ++r) {
    w[r] = a.scale == nullptr ? unit : unit * a.scale[rows[r]];
    P[r] = row_probabilities(a, rows[r], S + r * a.Kp);
    if (a.c != nullptr) out[a.c[rows[r]]] += __builtin_bit_cast(std::uint64_t, w[r] + kRound) - kRoundBits;
  }
  add_moments<R>(P, w, a.Kp, sums, sums + a.Kp);
}

// out[k] += sum w (1[k = c] - p_k) and out[K + k] += sum w p_k (1 - p_k) over the listed rows, for canonical codewords,
// in integers; w = scale.
void newton_rows(const LogisticArgs& a, const std::uint32_t* rows, std::size_t n_rows, double unit, float* S,
                 std::uint64_t* sums, std::uint64_t* out) {
  for (std::size_t k = 0; k < 2 * a.Kp; ++k) sums[k] = 0;
  std::size_t r = 0;
  for (; r + kRowsAtOnce <= n_rows; r += kRowsAtOnce) {
    for (std::size_t next = r + 4 * kRowsAtOnce; next < r + 5 * kRowsAtOnce && next < n_rows; ++next)
      __builtin_prefetch(a.P == nullptr ? a.F + rows[next] * a.d : a.P + rows[next] * a.Kp);
    newton_some<kRowsAtOnce>(a, rows + r, unit, S, sums, out);
  }
  for (; r < n_rows; ++r) newton_some<1>(a, rows + r, unit, S, sums, out);
  for (std::size_t k = 0; k < a.K; ++k) {
    out[k] -= sums[k] - n_rows * kRoundBits;
    out[a.K + k] += sums[a.Kp + k] - n_rows * kRoundBits;
  }
}

// The same for rows begin .. end of the list, or of all rows if it is null, each added to the sums of its leaf: mass
// and spread (2 Kp) in `tables`, the number of rows in `counts`. The mass of the true class is lowered by w.
void newton_range(const LogisticArgs& a, const std::uint32_t* rows, std::size_t begin, std::size_t end,
                  const std::int32_t* leaf_of_row, double unit, float* S, std::uint64_t* tables,
                  std::uint64_t* counts) {
  for (std::size_t r = begin; r < end; ++r) {
    const std::size_t i = rows == nullptr ? r : rows[r], leaf = static_cast<std::size_t>(leaf_of_row[i]);
    const double w = a.scale == nullptr ? unit : unit * a.scale[i];
    const float* P = row_probabilities(a, i, S);
    std::uint64_t* sums = tables + leaf * 2 * a.Kp;
    add_moments<1>(&P, &w, a.Kp, sums, sums + a.Kp);
    if (a.c != nullptr) sums[a.c[i]] -= __builtin_bit_cast(std::uint64_t, w + kRound) - kRoundBits;
    ++counts[leaf];
  }
}

// out (K) += w P of rows of probabilities (n_rows, Kp), in integers.
void weigh_rows(const LogisticArgs& a, const float* P, const double* w, std::size_t n_rows, std::uint64_t* out) {
  for (std::size_t k = 0; k < a.Kp; k += W / 2) {
    Bits sum = Bits{};
    for (std::size_t r = 0; r < n_rows; ++r) sum += rounded(*reinterpret_cast<const Half*>(P + r * a.Kp + k), w[r]);
    for (std::size_t l = 0; l < W / 2 && k + l < a.K; ++l) out[k + l] += sum[l] - n_rows * kRoundBits;
  }
}

// out (d) += w G of the listed rows, in integers.
void gradient_rows(const LogisticArgs& a, const std::uint32_t* rows, std::size_t n_rows, double unit,
                   std::uint64_t* out) {
  for (std::size_t r = 0; r < n_rows; ++r) {
    const float* G = a.G + rows[r] * a.d;
    const double w = a.scale == nullptr ? unit : unit * a.scale[rows[r]];
    std::size_t j = 0;
    for (; j + W / 2 <= a.d; j += W / 2)
      *reinterpret_cast<Bits*>(out + j) += rounded(*reinterpret_cast<const Half*>(G + j), w);
    for (; j < a.d; ++j) out[j] += __builtin_bit_cast(std::uint64_t, static_cast<double>(G[j]) * w + kRound);
  }
  for (std::size_t j = 0; j < a.d; ++j) out[j] -= n_rows * kRoundBits;
}

// P (n_rows, Kp) = soft-max of the logits of the listed rows.
void softmax_rows(const LogisticArgs& a, const std::uint32_t* rows, std::size_t n_rows, float* Fb, float* P) {
  const std::size_t padded = (n_rows + kTileRows - 1) / kTileRows * kTileRows;
  for (std::size_t r = 0; r < padded; ++r)
    for (std::size_t j = 0; j < a.d; ++j) Fb[r * a.d + j] = r < n_rows ? a.F[rows[r] * a.d + j] : 0.0f;
  product(Fb, a.d, a.YT, a.Kp, P, a.Kp, padded, a.d, a.Kp);
  for (std::size_t r = 0; r < n_rows; ++r) {
    for (std::size_t k = a.K; k < a.Kp; ++k) P[r * a.Kp + k] = -1e30f;
    add_costs(a, static_cast<std::size_t>(a.c[rows[r]]), P + r * a.Kp);
    softmax_row(P + r * a.Kp, a.Kp);
  }
}

Table table() {
  return {logistic_block, softmax_rows, probability_block, newton_rows, newton_range, weigh_rows, gradient_rows};
}
