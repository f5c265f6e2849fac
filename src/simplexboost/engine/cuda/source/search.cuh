// Members of Grower: a warp finds the best split of a feature of a node.

  // What a warp has in shared memory while it searches.
  struct Desk {
    double* scores;  // (2 BINS,) of all splits of a feature: missing values to the right, then to the left
    i64 *total, *left;  // (lanes,)
    u8* order;       // (256,) bins in the order in which they go left
  };

  __device__ static int desk_size(int lanes) { return 16 * BINS + 16 * lanes + 256; }

  __device__ Desk desk() const {
    u8* at = room + warp_id() * desk_size(lanes);
    double* scores = reinterpret_cast<double*>(at);
    i64* total = reinterpret_cast<i64*>(scores + 2 * BINS);
    return {scores, total, total + lanes, reinterpret_cast<u8*>(total + 2 * lanes)};
  }

  // A warp's task is a feature of one of the two cells of a work.
  __device__ __noinline__ void search() const {
    const int n_works = state().n_works, nf = P.n_features, units = n_units();
    const int n_tasks = n_works * 2 * nf, warps = n_workers * WARPS;
#pragma unroll 1
    for (int task = worker + n_workers * warp_id(); task < n_tasks; task += warps) {
      const int side = task / nf, i = side / 2, place = task % nf, f = P.features[place];
      const Work& work = P.works[i];
      const bool is_large = side % 2 != 0;
      if (!(is_large ? work.need_large : work.need_small)) continue;
      if (lane_id() == 0) wait_for_tasks(P.built + i, (first_built[i + 1] - first_built[i]) * units);
      __syncwarp();
      const i64 at = static_cast<i64>(f) * lanes * BINS;
      const Lane* small = P.histograms + work.small_slot * P.slot_size + at;
      Lane* large = P.histograms + work.large_slot * P.slot_size + at;
      if (COLUMNS == 2 && SCORE == NEWTON && !P.categorical[f]) {
        search_two(small, is_large ? large : nullptr, is_large ? work.large : work.small, side, place, f);
        continue;
      }
      if (is_large) {
        for (int k = lane_id(); k < lanes * BINS; k += WARP) large[k] -= small[k];
        __syncwarp();
      }
      look(is_large ? large : small, is_large ? work.large : work.small, side, place, f);
    }
  }

  // The best split of a feature of a cell.
  __device__ __noinline__ void look(const Lane* bins, int cell, int side, int place, int f) const {
    const Desk at = desk();
    __syncwarp();
    totals_of(bins, at);
    if (place == 0)
      for (int j = lane_id(); j < lanes; j += WARP) P.totals[static_cast<i64>(cell) * lanes + j] = at.total[j];
    const int n_bins = P.n_bins[f];
    const bool missing = P.has_missing[f] && bins[P.m * BINS + n_bins] > 0;
    int found = -1;
    if (allowed(cell, f)) {
      for (int k = lane_id(); k < 2 * BINS; k += WARP) at.scores[k] = minus_infinity();
      __syncwarp();
      const int n_order = P.categorical[f] ? category_order(bins, n_bins, at) : in_order(n_bins, at);
#pragma unroll 1
      for (int turn = 0; turn < (missing ? 2 : 1); ++turn)
        scan(bins, at, n_bins, turn != 0, P.categorical[f] ? n_order : missing && turn == 0 ? n_bins : n_bins - 1,
             [&](int i, i64 count, i64 rows, const Score& of_left, const Score& of_right) {
               if (count > 0 && rows >= P.min_samples && at.total[P.m] - rows >= P.min_samples)
                 at.scores[turn * BINS + i] = of_left.value() + of_right.value();
             });
      __syncwarp();
      const double* scores = at.scores;
      found = first_best(2 * BINS, [&](int i) { return scores[i]; });
    }
    const bool to_left = found >= BINS;
    const int last = to_left ? found - BINS : found;
    int count = 0;  // rows that go left
    if (found >= 0) {
      const Lane* of = bins + P.m * BINS;
      for (int k = lane_id(); k <= last; k += WARP) count += static_cast<int>(of[at.order[k]]);
      count = warp_sum(count) + (to_left ? static_cast<int>(of[n_bins]) : 0);
    }
    if (found >= 0 && P.categorical[f]) write_set(at, side, place, n_bins, last, to_left);
    offer(cell, side, place, found < 0 ? minus_infinity() : at.scores[found],
          found < 0 ? -1 : last + (to_left ? 256 : 0), count);
  }

  // Writes down the best split of a feature; whoever does so for the last feature of a cell also chooses among them.
  __device__ void offer(int cell, int side, int place, double score, int found, int left_count) const {
    if (note(side, place, {score, found, left_count})) choose(cell, side);
  }

  // Writes it down; true if it was the last one of its side.
  __device__ bool note(int side, int place, const FeatureBest& best) const {
    __syncwarp();
    bool last_one = false;
    if (lane_id() == 0) {
      P.bests[static_cast<i64>(side) * P.n_features + place] = best;
      __threadfence();
      last_one = atomicAdd(P.done + side, 1) == P.n_features - 1;
      __threadfence();
    }
    __syncwarp();  // all lanes read what others wrote; a shuffle alone does not order that
    return __shfl_sync(ALL, static_cast<int>(last_one), 0) != 0;
  }

  __device__ void write_set(const Desk& at, int side, int place, int n_bins, int last, bool to_left) const {
    u32 bytes = 0;  // of byte lane_id()
    for (int k = 0; k <= last; ++k)
      if (at.order[k] / 8 == lane_id()) bytes |= 1u << (at.order[k] % 8);
    if (to_left && n_bins / 8 == lane_id()) bytes |= 1u << (n_bins % 8);
    P.sets[(static_cast<i64>(side) * P.n_features + place) * 32 + lane_id()] = static_cast<u8>(bytes);
  }

  // ---- one feature: two columns, Newton's score ----

  static constexpr int PER = BINS / WARP;  // bins of a lane, one after another

  struct Part {  // a lane's bins of one feature
    Lane g[PER], h[PER], n[PER];
  };

  __device__ static void load(const Lane* bins, Part& part) {
    struct alignas(sizeof(Lane) * (PER % 4 == 0 ? 4 : PER % 2 == 0 ? 2 : 1)) Some {
      Lane x[PER % 4 == 0 ? 4 : PER % 2 == 0 ? 2 : 1];
    };
    constexpr int EACH = sizeof(Some) / sizeof(Lane);
#pragma unroll
    for (int k = 0; k < PER; k += EACH) {
      const int at = lane_id() * PER + k;
      const Some g = *reinterpret_cast<const Some*>(bins + at), h = *reinterpret_cast<const Some*>(bins + BINS + at),
                 n = *reinterpret_cast<const Some*>(bins + 2 * BINS + at);
#pragma unroll
      for (int j = 0; j < EACH; ++j) part.g[k + j] = g.x[j], part.h[k + j] = h.x[j], part.n[k + j] = n.x[j];
    }
  }

  // Of the larger cell's histogram, only that of the parent is known before.
  __device__ void search_two(const Lane* of_small, Lane* of_large, int cell, int side, int place, int f) const {
    Part part;
    load(of_small, part);
    if (of_large != nullptr) {
      Part all;
      load(of_large, all);
#pragma unroll
      for (int k = 0; k < PER; ++k) {
        part.g[k] = all.g[k] - part.g[k], part.h[k] = all.h[k] - part.h[k], part.n[k] = all.n[k] - part.n[k];
        const int at = lane_id() * PER + k;
        of_large[at] = part.g[k], of_large[BINS + at] = part.h[k], of_large[2 * BINS + at] = part.n[k];
      }
    }
    look_two(part, cell, side, place, f);
  }

  __device__ double both_scores(Lane g, Lane h, Lane all_g, Lane all_h) const {
    const double u = P.inverse[0], v = P.inverse[1];
    return newton_score(static_cast<double>(g) * u, static_cast<double>(h) * v + P.l2) +
           newton_score(static_cast<double>(all_g - g) * u, static_cast<double>(all_h - h) * v + P.l2);
  }

  // The number of a bin is on one lane; all lanes get it.
  __device__ static Lane bin_of(const Lane (&x)[PER], int bin) {
    Lane own = 0;
#pragma unroll
    for (int k = 0; k < PER; ++k)
      if (bin % PER == k) own = x[k];
    return __shfl_sync(ALL, own, bin / PER);
  }

  __device__ void look_two(Part& part, int cell, int side, int place, int f) const {
    const int n_bins = P.n_bins[f];
    const Lane missing_n = P.has_missing[f] ? bin_of(part.n, n_bins) : 0;
    const bool missing = missing_n > 0;
    const Lane missing_g = missing ? bin_of(part.g, n_bins) : 0, missing_h = missing ? bin_of(part.h, n_bins) : 0;
    // part becomes the sums up to every bin
    u32 filled = 0;
#pragma unroll
    for (int k = 0; k < PER; ++k) {
      filled |= (part.n[k] > 0 && lane_id() * PER + k < n_bins ? 1u : 0u) << k;
      if (k > 0) part.g[k] += part.g[k - 1], part.h[k] += part.h[k - 1], part.n[k] += part.n[k - 1];
    }
    const Lane up_g = warp_prefix(part.g[PER - 1]), up_h = warp_prefix(part.h[PER - 1]), up_n = warp_prefix(part.n[PER - 1]);
    const Lane all_g = __shfl_sync(ALL, up_g, WARP - 1), all_h = __shfl_sync(ALL, up_h, WARP - 1),
               all = __shfl_sync(ALL, up_n, WARP - 1), least = static_cast<Lane>(P.min_samples);
    const Lane before_g = up_g - part.g[PER - 1], before_h = up_h - part.h[PER - 1], before_n = up_n - part.n[PER - 1];
    if (place == 0 && lane_id() == 0) {
      i64* total = P.totals + static_cast<i64>(cell) * 3;
      total[0] = all_g, total[1] = all_h, total[2] = all;
    }
    // Missing values to the right, then to the left. All scores are computed, so that the divisions of a lane's bins
    // overlap; those that do not count are replaced.
    const bool in_reach = allowed(cell, f);
    Scan best;
    Lane left_g = before_g, left_h = before_h, left_n = before_n;
#pragma unroll 1
    for (int turn = 0; turn < (missing ? 2 : 1); ++turn) {
      const int end = missing && turn == 0 ? n_bins : n_bins - 1;
      double scores[PER];
#pragma unroll
      for (int k = 0; k < PER; ++k) {
        const Lane n = left_n + part.n[k];
        const bool counts = in_reach && (filled >> k & 1u) && lane_id() * PER + k < end && n >= least && all - n >= least;
        const double score = both_scores(left_g + part.g[k], left_h + part.h[k], all_g, all_h);
        scores[k] = counts ? score : minus_infinity();
      }
      go_on(best, scores, 256 * turn);
      left_g += missing_g, left_h += missing_h, left_n += missing_n;
    }
    int count = 0;
    if (best.at >= 0) {
      const int last = best.at & 255;
#pragma unroll
      for (int k = 0; k < PER; ++k)
        if (last % PER == k) count = static_cast<int>(before_n + part.n[k]);
      count = __shfl_sync(ALL, count, last / PER) + (best.at >= 256 ? static_cast<int>(missing_n) : 0);
    }
    offer(cell, side, place, best.score, best.at, count);
  }

  struct Scan {  // how far a scan from left to right has come
    double score = minus_infinity();
    int at = -1;
  };

  // `first_best` of scores in registers, of which lane i has PER ones from place i PER on; what was found before counts
  // as the first candidate.
  __device__ static void go_on(Scan& best, const double (&scores)[PER], int offset) {
    double most = best.score;
#pragma unroll
    for (int k = 0; k < PER; ++k) most = larger(most, scores[k]);
    most = warp_max(most);
    if (most == minus_infinity() || (best.at >= 0 && !is_better(most, best.score))) return;
    int first = BINS;
#pragma unroll
    for (int k = PER - 1; k >= 0; --k)
      if (scores[k] != minus_infinity() && !is_better(most, scores[k])) first = lane_id() * PER + k;
    first = warp_min(first);
    double before = best.score, of_first = minus_infinity();
#pragma unroll
    for (int k = 0; k < PER; ++k) {
      const int at = lane_id() * PER + k;
      if (at < first) before = larger(before, scores[k]);
      if (at == first) of_first = scores[k];
    }
    before = warp_max(before), of_first = warp_max(of_first);
    if (before == minus_infinity() || is_better(of_first, before)) {
      best.at = offset + first, best.score = of_first;
      return;
    }
#pragma unroll 1
    for (int lane = 0; lane < WARP; ++lane)
#pragma unroll
      for (int k = 0; k < PER; ++k) {
        const double s = __shfl_sync(ALL, scores[k], lane);
        if (s != minus_infinity() && (best.at < 0 || is_better(s, best.score))) best.at = offset + lane * PER + k, best.score = s;
      }
  }

  // ---- one feature: any number of columns, any score ----

  __device__ void totals_of(const Lane* bins, const Desk& at) const {
    for (int j = 0; j < lanes; ++j) {
      i64 sum = 0;
      for (int k = lane_id(); k < BINS; k += WARP) sum += bins[j * BINS + k];
      sum = warp_sum(sum);
      if (lane_id() == 0) at.total[j] = sum;
    }
    __syncwarp();
  }

  __device__ int in_order(int n_bins, const Desk& at) const {
    for (int b = lane_id(); b < n_bins; b += WARP) at.order[b] = static_cast<u8>(b);
    __syncwarp();
    return n_bins;
  }

  // Calls use(i, rows of bin i, rows on the left, score of the left, score of the right) for every place i before the end.
  template <class Use>
  __device__ __noinline__ void scan(const Lane* bins, const Desk& at, int n_bins, bool missing_left, int end, const Use& use) const {
    const int stride = BINS, m = P.m;
    for (int j = lane_id(); j < lanes; j += WARP) at.left[j] = missing_left ? bins[j * stride + n_bins] : 0;
    __syncwarp();
    for (int begin = 0; begin < end; begin += WARP) {
      const int i = begin + lane_id();
      const int b = i < end ? at.order[i] : 0;
      Score of_left, of_right;
      i64 count = 0, rows = 0;
      for (int j = 0; j < lanes; ++j) {
        const i64 own = i < end ? static_cast<i64>(bins[j * stride + b]) : 0;
        const i64 before = at.left[j], sum = before + warp_prefix(own), all = at.total[j];
        __syncwarp();
        if (lane_id() == WARP - 1) at.left[j] = sum;
        if (j == m) {
          count = own, rows = sum;
        } else {
          of_left.add(static_cast<double>(sum) * P.inverse[j], j, m, P.l2);
          of_right.add(static_cast<double>(all - sum) * P.inverse[j], j, m, P.l2);
        }
      }
      __syncwarp();
      if (i < end) use(i, count, rows, of_left, of_right);
    }
  }
