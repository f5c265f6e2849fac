// Loops of candidates.cpp, compiled once per instruction set (core/clones.inl).

#include "losses/vectors.inl"

// The factor of the weight of a row whose true class has probability p.
inline float tilted(const CandidatePull& a, float p) {
  float factor = a.tilt_scale;
  for (int i = 0; i < a.tilt_a; ++i) factor *= p;
  for (int i = 0; i < a.tilt_b; ++i) factor *= 1.0f - p;
  return factor;
}

inline float exp_of_one(float x) { return exp_nonpositive(splat(x < 0.0f ? x : 0.0f))[0]; }

// P (C,) = exp(scores - level), 0 for empty places; returns the sum.
inline float exponentials(const float* scores, std::size_t C, float level, float* P) {
  Vec sum = Vec{};
  for (std::size_t j = 0; j < C; j += W) {
    const Vec x = load(scores + j) - level, e = exp_nonpositive(x < 0.0f ? x : Vec{});
    store(P + j, e);
    sum += e;
  }
  return sum_across(sum);
}

// Rows begin .. end; P (C,) is scratch. With q the probability of a class of the rest, the mean of Z is
// q sum_k Z_k + sum (p_k - q) Z_k over the own class and the candidates, and so is that of ‖Z‖².
void pull_range(const CandidateRows& r, const CandidatePull& a, std::size_t begin, std::size_t end, float* P) {
  for (std::size_t i = begin; i < end; ++i) {
    r.check(i);
    const float *scores = r.scores + i * r.C, own = r.own[i];
    const std::int32_t* classes = r.classes + i * r.C;
    const std::size_t c = static_cast<std::size_t>(r.c[i]), m = static_cast<std::size_t>(r.count[i]);
    const float others = static_cast<float>(r.K - 1 - m);
    Vec top = splat(others > 0.0f && r.rest[i] > own ? r.rest[i] : own);
    for (std::size_t j = 0; j < r.C; j += W) top = vmax(top, load(scores + j));
    const float high = across(top, [](auto x, auto y) { return x > y ? x : y; });
    const float e_own = exp_of_one(own - high), e_rest = others > 0.0f ? exp_of_one(r.rest[i] - high) : 0.0f;
    const float total = exponentials(scores, r.C, high, P) + e_own + others * e_rest;
    const float part = 1.0f / total, q = e_rest * part, p = e_own * part;
    a.loss[i] = high + __builtin_logf(total) - own;
    double w = a.weight == nullptr ? 1.0 : static_cast<double>(a.weight[i]);
    w *= static_cast<double>(tilted(a, p));
    if (a.scale != nullptr) a.scale[i] = w;
    for (std::size_t j = 0; j < r.C; j += W) store(P + j, load(P + j) * part - q);
    double* out = a.stats + i * (a.s + 1);
    float spread = q * a.totals[a.s] + (p - q) * a.square[c];
    for (std::size_t j = 0; j < m; ++j) spread += P[j] * a.square[classes[j]];
    for (std::size_t l = 0; l < a.s; ++l) {
      float mean = q * a.totals[l] + (p - q) * a.Z[c * a.s + l];
      for (std::size_t j = 0; j < m; ++j) mean += P[j] * a.Z[static_cast<std::size_t>(classes[j]) * a.s + l];
      out[l] = w * static_cast<double>(a.Z[c * a.s + l] - mean);
      spread -= mean * mean;
    }
    out[a.s] = w * static_cast<double>(spread > 0.0f ? spread : 0.0f);
  }
}

// Adding this constant to a number below 2^51 rounds it to an integer, see core/exact.inl.
constexpr double kRound = 0x1.8p52;
inline std::uint64_t rounded(double x) {
  return __builtin_bit_cast(std::uint64_t, x + kRound) - __builtin_bit_cast(std::uint64_t, kRound);
}

// Adds slope and curvature of the listed rows to `sums`. Every class has those of a class of the rest, which are added
// to `base`; what the own class and the candidates have beyond that is added to the class itself.
void sum_rows(const CandidateRows& r, const float* loss, const double* scale, const std::uint32_t* rows,
              std::size_t n_rows, double unit, float* P, ClassSums& sums, std::uint64_t* base) {
  for (std::size_t at = 0; at < n_rows; ++at) {
    const std::size_t i = rows[at], m = static_cast<std::size_t>(r.count[i]);
    if (at + 4 < n_rows) {
      __builtin_prefetch(r.scores + rows[at + 4] * r.C);
      __builtin_prefetch(r.classes + rows[at + 4] * r.C);
    }
    r.check(i);
    const std::int32_t* classes = r.classes + i * r.C;
    const double w = scale == nullptr ? unit : unit * scale[i];
    const float level = r.own[i] + loss[i], p = exp_of_one(-loss[i]);
    const float q = r.K - 1 > m ? exp_of_one(r.rest[i] - level) : 0.0f, bend = q * (1.0f - q);
    exponentials(r.scores + i * r.C, r.C, level, P);
    base[0] -= rounded(w * static_cast<double>(q));
    base[1] += rounded(w * static_cast<double>(bend));
    std::uint64_t* own = sums.of(static_cast<std::size_t>(r.c[i]));
    own[0] += rounded(w) - rounded(w * static_cast<double>(p - q));
    own[1] += rounded(w * static_cast<double>(p * (1.0f - p) - bend));
    for (std::size_t j = 0; j < m; ++j) {
      std::uint64_t* of = sums.of(static_cast<std::size_t>(classes[j]));
      of[0] -= rounded(w * static_cast<double>(P[j] - q));
      of[1] += rounded(w * static_cast<double>(P[j] * (1.0f - P[j]) - bend));
    }
  }
}

// How many of C scores are below x.
inline std::size_t below(const float* scores, std::size_t C, float x) {
  BitsVec found = BitsVec{};
  for (std::size_t j = 0; j < C; j += W) found -= (BitsVec)(load(scores + j) < x);
  std::size_t n = 0;
  for (std::size_t l = 0; l < W; ++l) n += found[l];
  return n;
}

// Moves the scores of a row by the values of its leaf; see candidates.hpp.
void move_row(const CandidateRows& r, std::size_t i, LeafMoves& leaf) {
  r.check(i);
  float* scores = r.scores + i * r.C;
  std::int32_t *classes = r.classes + i * r.C, &count = r.count[i];
  const float rest = r.rest[i];
  const std::size_t n_moves = leaf.moves.size();
  std::size_t known = 0;        // moves of the own class and of candidates
  double unknown = leaf.total;  // the sum of exp(move) over the others
  leaf.next_row();
  const auto moved = [&](std::size_t k, float& score) {
    const std::int32_t at = leaf.place[k];
    if (at < 0) return;
    score += leaf.moves[static_cast<std::size_t>(at)];
    unknown -= leaf.factors[static_cast<std::size_t>(at)];
    leaf.take(static_cast<std::size_t>(at));
    ++known;
  };
  moved(static_cast<std::size_t>(r.c[i]), r.own[i]);
  for (std::int32_t j = 0; j < count; ++j) moved(static_cast<std::size_t>(classes[j]), scores[j]);
  std::size_t at = 0;
  const auto next = [&] {  // the next newcomer, or n_moves
    while (at < n_moves && leaf.taken(at)) ++at;
    return at;
  };
  const auto enter = [&](std::size_t to) {
    scores[to] = rest + leaf.moves[at], classes[to] = leaf.classes[at];
    unknown -= leaf.factors[at++];
    ++known;
  };
  while (static_cast<std::size_t>(count) < r.C && next() < n_moves) enter(static_cast<std::size_t>(count++));
  // A newcomer enters a full list if more candidates stand below it than newcomers have entered before.
  leaf.newcomers.clear();
  float seen = 0.0f;
  for (std::size_t room = 0, first = next(); next() < n_moves; ++at) {
    const float score = rest + leaf.moves[at];
    if (at == first || score != seen) room = below(scores, r.C, score), seen = score;
    if (leaf.newcomers.size() >= room) break;
    leaf.newcomers.push_back(static_cast<std::uint32_t>(at));
  }
  std::size_t gone = 0;
  double back = 0.0;  // the sum of exp(score - rest) over those who go
  if (!leaf.newcomers.empty()) {
    const std::size_t n = leaf.newcomers.size();
    leaf.buffer.assign(scores, scores + r.C);
    for (float& x : leaf.buffer) x = x == x ? x : kEmpty;  // what is no number has no order
    std::nth_element(leaf.buffer.begin(), leaf.buffer.begin() + static_cast<std::ptrdiff_t>(n - 1), leaf.buffer.end());
    const float limit = leaf.buffer[n - 1];
    std::size_t ties = n - std::min(n, below(scores, r.C, limit));  // so many of those at the limit go, the first ones
    leaf.buffer.assign((n + W - 1) / W * W, kEmpty);
    for (std::size_t j = 0; j < r.C && gone < n; ++j) {
      if (!(scores[j] < limit) && !(scores[j] == limit && ties > 0)) continue;
      if (scores[j] == limit) --ties;
      leaf.buffer[gone] = scores[j];
      at = leaf.newcomers[gone++];
      enter(j);
    }
    back = static_cast<double>(exponentials(leaf.buffer.data(), leaf.buffer.size(), limit, leaf.buffer.data())) *
           __builtin_exp(static_cast<double>(limit) - static_cast<double>(rest));
  }
  const std::size_t others = r.K - 1 - static_cast<std::size_t>(count), still = n_moves - known;
  if ((still == 0 && gone == 0) || others == 0) return;
  const double mass = static_cast<double>(others - gone - still) + (unknown > 0.0 ? unknown : 0.0) + back;
  r.rest[i] = rest + static_cast<float>(__builtin_log(mass / static_cast<double>(others)));
}

Table table() { return {pull_range, sum_rows, move_row}; }
