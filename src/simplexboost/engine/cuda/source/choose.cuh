// Members of Grower: the best of the features' splits of a node.

  // ---- which features may be split together; see kernels/trees/interactions.hpp ----

  __device__ bool allowed(int cell, int f) const {
    if (P.used == nullptr) return true;
    const u32* used = P.used + static_cast<i64>(cell) * P.words;
    int n = 0;
#pragma unroll 1
    for (int w = 0; w < P.words; ++w) n += __popc(used[w]);
    if (n == 0 || (used[f / 32] >> (f % 32) & 1u)) return true;
    if (P.n_groups == 0) return n < P.most_features;
#pragma unroll 1
    for (int g = 0; g < P.n_groups; ++g) {
      const u32* group = P.groups + static_cast<i64>(g) * P.words;
      if (!(group[f / 32] >> (f % 32) & 1u)) continue;
      bool all = true;
#pragma unroll 1
      for (int w = 0; w < P.words; ++w) all = all && (used[w] & ~group[w]) == 0;
      if (all) return true;
    }
    return false;
  }

  // ---- the best feature of a cell ----

  __device__ double score_of(const i64* total) const {
    Score score;
#pragma unroll 1
    for (int j = 0; j < P.m; ++j) score.add(static_cast<double>(total[j]) * P.inverse[j], j, P.m, P.l2);
    return score.value();
  }

  __device__ static bool is_gain(double score, double own) {
    return score - own > TOLERANCE * (fabs(score) + fabs(own));
  }

  // The best of the features' splits, given the score of what is split and its place in the tree; -1 if none gains.
  __device__ int best_of(const FeatureBest* bests, double own, u64 path) const {
    if (P.noise > 0.0) return noisy_best(bests, own, path);
    const int best = first_best(P.n_features, [&](int i) { return bests[i].at < 0 ? minus_infinity() : bests[i].score; });
    return best >= 0 && is_gain(bests[best].score, own) ? best : -1;
  }

  __device__ __noinline__ void choose(int number, int side) const {
    const FeatureBest* bests = P.bests + static_cast<i64>(side) * P.n_features;
    const double own = score_of(P.totals + static_cast<i64>(number) * lanes);
    const int best = best_of(bests, own, P.cells[number].path);
    Cell& cell = P.cells[number];
    if (best >= 0 && P.categorical[P.features[best]])
      cell.set[lane_id()] = P.sets[(static_cast<i64>(side) * P.n_features + best) * 32 + lane_id()];
    if (lane_id() != 0) return;
    P.done[side] = 0;
    if (best < 0) return;
    const int f = P.features[best];
    const FeatureBest& of = bests[best];
    const double gain = of.score - own;
    cell.gain = gain;
    cell.path_gain = cell.parent < 0 ? gain : smaller(gain, P.cells[cell.parent].path_gain);
    cell.left_count = of.left_count;
    cell.is_categorical = P.categorical[f];
    cell.bin = cell.is_categorical ? 0 : of.at & 255;
    cell.missing_left = of.at >> 8;
    // The node has missing values of the feature if its bin is not empty.
    const Lane* bins = P.histograms + cell.slot * P.slot_size + (static_cast<i64>(f) * lanes + P.m) * BINS;
    cell.missing_seen = P.has_missing[f] && bins[P.n_bins[f]] > 0;
    cell.feature = f;
  }

  // With noise on the gains; see kernels/trees/noise.hpp. Every lane does the same.
  __device__ int noisy_best(const FeatureBest* bests, double own, u64 path) const {
    double largest = 0.0, sum = 0.0, squares = 0.0;
    int n = 0;
#pragma unroll 1
    for (int i = 0; i < P.n_features; ++i)
      if (bests[i].at >= 0) ++n, largest = larger(largest, fabs(bests[i].score - own));
    double spread = 0.0;
    if (largest != 0.0) {
#pragma unroll 1
      for (int i = 0; i < P.n_features; ++i)
        if (bests[i].at >= 0) sum += (bests[i].score - own) / largest;
      const double mean = sum / static_cast<double>(n);
#pragma unroll 1
      for (int i = 0; i < P.n_features; ++i)
        if (bests[i].at >= 0) {
          const double x = (bests[i].score - own) / largest - mean;
          squares += x * x;
        }
      spread = largest * sqrt(squares / static_cast<double>(n));
    }
    const double unit = P.noise * spread;
    const u64 key = mixed_bits(P.seed ^ mixed_bits(path + 1));
    double most = minus_infinity();
    int best = -1;
#pragma unroll 1
    for (int i = 0; i < P.n_features; ++i) {
      if (bests[i].at < 0 || !is_gain(bests[i].score, own)) continue;
      u64 bits = 0;
#pragma unroll 1
      for (u64 k = 0; k < 6; ++k) {
        const u64 word = mixed_bits(key + GOLDEN * (6 * static_cast<u64>(P.features[i]) + k + 1));
        bits += (word >> 32) + (word & 0xFFFFFFFFull);
      }
      const double noisy = bests[i].score - own + unit * (static_cast<double>(bits) * 0x1.0p-32 - 6.0);
      if (noisy > most) most = noisy, best = i;
    }
    return best;
  }
