// The log-loss of labels and of blocks of classes, compiled once per instruction set (core/isa.hpp); see blocks.hpp.

#include "losses/vectors.inl"

// log(1 + e) for e in 0 .. 1, to about 1e-7: a polynomial around 1, or around 2 where 1 + e is nearer to that.
inline Vec log_one_plus(Vec e) {
  const auto nearer_two = e > 0.41421356f;
  const Vec f = nearer_two ? (e - 1.0f) * 0.5f : e;
  Vec y = splat(7.0376836292e-2f);
  y = y * f - 1.1514610310e-1f;
  y = y * f + 1.1676998740e-1f;
  y = y * f - 1.2420140846e-1f;
  y = y * f + 1.4249322787e-1f;
  y = y * f - 1.6668057665e-1f;
  y = y * f + 2.0000714765e-1f;
  y = y * f - 2.4999993993e-1f;
  y = y * f + 3.3333331174e-1f;
  const Vec square = f * f, log = f + (y * f - 0.5f) * square;
  return nearer_two ? log + 0.693147181f : log;
}

// What is wrong with labels whose logits are x: sign is -1 for labels that the row has and 1 for the others.
struct Wrong {
  Vec probability, loss;
};
inline Wrong wrong(Vec x, Vec sign) {
  const Vec s = x * sign, zero = Vec{};
  const Vec e = exp_nonpositive(s < 0.0f ? s : -s), q = 1.0f / (1.0f + e);
  return {s < 0.0f ? e * q : q, log_one_plus(e) + vmax(s, zero)};
}

// S (Kp) = the logits of row i, times the temperature, padded with very low numbers; sign (Kp) = 1 - 2 own, padded with
// ones.
inline void load_row(const BlockArgs& a, std::size_t i, float temperature, float* S, float* sign) {
  const float* F = a.F + i * a.K;
  const std::uint8_t* own = a.own + static_cast<std::size_t>(a.c[i]) * a.K;
  for (std::size_t k = 0; k < a.K; ++k) S[k] = temperature * F[k];
  for (std::size_t k = 0; k < a.K; ++k) sign[k] = own[k] ? -1.0f : 1.0f;
  for (std::size_t k = a.K; k < a.Kp; ++k) S[k] = -1e30f, sign[k] = 1.0f;
}

// The loss of row i of labels; N is written to a.N, p (1 - p) to `bend` (Kp).
inline float label_row(const BlockArgs& a, std::size_t i, const float* S, const float* sign, float* bend) {
  Vec loss = Vec{};
  for (std::size_t k = 0; k < a.Kp; k += W) {
    const Vec s = load(sign + k);
    const Wrong w = wrong(load(S + k), s);
    loss += w.loss;
    store(a.N + i * a.Kp + k, w.probability * s);
    store(bend + k, w.probability * (1.0f - w.probability));
  }
  return sum_across(loss);
}

// S (Kp) becomes the soft-max of every block; loss (B) is that of each block. `level` (Kp) is scratch.
inline void block_row(const BlockArgs& a, float* S, const float* sign, float* level, float* loss) {
  for (std::size_t b = 0, k = 0; b < a.B; ++b) {
    const std::size_t begin = k, end = static_cast<std::size_t>(a.ends[b]);
    float high = S[begin], own = 0.0f;
    for (; k < end; ++k) {
      high = S[k] > high ? S[k] : high;
      own = sign[k] < 0.0f ? S[k] : own;
    }
    for (std::size_t j = begin; j < end; ++j) level[j] = high;
    loss[b] = high - own;
  }
  for (std::size_t k = a.K; k < a.Kp; ++k) level[k] = 0.0f;
  for (std::size_t k = 0; k < a.Kp; k += W) store(S + k, exp_nonpositive(load(S + k) - load(level + k)));
  for (std::size_t b = 0, k = 0; b < a.B; ++b) {
    const std::size_t begin = k, end = static_cast<std::size_t>(a.ends[b]);
    float total = 0.0f;
    for (; k < end; ++k) total += S[k];
    loss[b] += __builtin_logf(total);
    const float scale = 1.0f / total;
    for (std::size_t j = begin; j < end; ++j) S[j] *= scale;
  }
}

// Σ_blocks (p ‖Z‖² - ‖p Z‖²) of probabilities P (Kp).
inline float block_spread(const BlockArgs& a, const float* P) {
  float spread = dot(P, a.E + a.s * a.Kp, a.Kp);
  for (std::size_t j = 0; j < a.s; ++j) {
    const float* z = a.E + j * a.Kp;
    for (std::size_t b = 0, k = 0; b < a.B; ++b) {
      float mean = 0.0f;
      for (const std::size_t end = static_cast<std::size_t>(a.ends[b]); k < end; ++k) mean += P[k] * z[k];
      spread -= mean * mean;
    }
  }
  return spread > 0.0f ? spread : 0.0f;
}

// Rows begin .. end; `scratch` has 3 Kp + B floats.
void pull_rows(const BlockArgs& a, std::size_t begin, std::size_t end, float* scratch) {
  float *S = scratch, *sign = S + a.Kp, *more = sign + a.Kp, *loss = more + a.Kp;
  for (std::size_t i = begin; i < end; ++i) {
    load_row(a, i, 1.0f, S, sign);
    float* N = a.N + i * a.Kp;
    float spread;
    if (a.ends == nullptr) {
      a.loss[i] = label_row(a, i, S, sign, more);
      spread = dot(more, a.E + a.s * a.Kp, a.Kp);
    } else {
      block_row(a, S, sign, more, loss);
      float total = 0.0f;
      for (std::size_t b = 0; b < a.B; ++b) total += loss[b];
      a.loss[i] = total;
      for (std::size_t k = 0; k < a.Kp; ++k) N[k] = sign[k] < 0.0f ? S[k] - 1.0f : S[k];
      spread = block_spread(a, S);
    }
    const double w = a.weight == nullptr ? 1.0 : static_cast<double>(a.weight[i]);
    double* out = a.stats + i * (a.s + 1);
    for (std::size_t j = 0; j < a.s; ++j) out[j] = -w * static_cast<double>(dot(N, a.E + j * a.Kp, a.Kp));
    out[a.s] = w * static_cast<double>(spread);
  }
}

// out (n, B), rows begin .. end; `scratch` as above.
void loss_rows(const BlockArgs& a, std::size_t begin, std::size_t end, float* scratch, float* out) {
  float *S = scratch, *sign = S + a.Kp, *more = sign + a.Kp;
  for (std::size_t i = begin; i < end; ++i) {
    load_row(a, i, a.temperature, S, sign);
    if (a.ends != nullptr) {
      block_row(a, S, sign, more, out + i * a.B);
      continue;
    }
    for (std::size_t k = 0; k < a.Kp; k += W) store(more + k, wrong(load(S + k), load(sign + k)).loss);
    __builtin_memcpy(out + i * a.B, more, a.B * sizeof(float));
  }
}

Table table() { return {pull_rows, loss_rows}; }
