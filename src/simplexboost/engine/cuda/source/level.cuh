// A symmetric tree: all nodes of a level have the same split, the one with the highest sum of scores over the children of
// all nodes; see kernels/trees/level.hpp and symmetric.hpp. Nodes without rows are allowed, and every node of a level has a
// histogram, which tells how many of its rows go left.
//
// A node votes for a split if both of its children have enough rows; otherwise it counts with its own score. The sums are
// in the order of the nodes, since their last bits depend on it: a warp has a feature, and adds up one node after another.
// The rows of a level are those of the root, so the root tells which features have missing values, and the order of
// categories, for all levels.

struct LevelGrower : Grower {
  __device__ explicit LevelGrower(const Problem& problem) : Grower(problem) {}

  // What the root tells about a feature. It lies where trees of other orders keep the bests and the sets of other nodes.
  __device__ int& has_gaps(int place) const { return P.bests[P.n_features + place].at; }  // missing values among the rows
  __device__ u8* kept_order(int place) const { return P.sets + (2 * static_cast<i64>(P.n_features) + 8 * place) * 32; }
  __device__ int& n_kept(int place) const { return P.bests[P.n_features + place].left_count; }

  __device__ bool votes(i64 count) const { return count / 2 >= P.min_samples; }

  // Nodes of the level that is searched; they are numbered one after another, from the left to the right.
  __device__ int n_level() const { return P.works[0].parent < 0 ? 1 : 2 * state().n_works; }
  __device__ int first_of_level() const { return P.works[0].parent < 0 ? 0 : smaller(P.works[0].small, P.works[0].large); }

  __device__ int end_of(int place, int f, bool missing_left) const {
    if (P.categorical[f]) return n_kept(place);
    return has_gaps(place) && !missing_left ? P.n_bins[f] : P.n_bins[f] - 1;
  }

  // ---- search --------------------------------------------------------------------------------------------------------

  __device__ __noinline__ void search_level() const {
    if (!P.works[0].need_small) return;  // then none is needed
#pragma unroll 1
    for (int place = worker + n_workers * warp_id(); place < P.n_features; place += n_workers * WARPS) look_at(place);
  }

  // The best split of a feature for the level.
  __device__ __noinline__ void look_at(int place) const {
    const int n_works = state().n_works, units = n_units(), f = P.features[place];
    const Desk at = desk();
    const i64 offset = static_cast<i64>(f) * lanes * BINS;
    u32 voted = 0;  // bit k: the split at place 32 k + lane; the upper half is for missing values to the left
    __syncwarp();
#pragma unroll 1
    for (int k = lane_id(); k < 2 * BINS; k += WARP) at.scores[k] = 0.0;
    __syncwarp();
#pragma unroll 1
    for (int i = 0; i < n_works; ++i) {
      const Work& work = P.works[i];
      if (lane_id() == 0) wait_for_tasks(P.built + i, (first_built[i + 1] - first_built[i]) * units);
      __syncwarp();
      Lane* small = P.histograms + work.small_slot * P.slot_size + offset;
      if (work.parent < 0) {
        take_root(small, at, place, f);
        add_node(small, work.small, at, place, f, voted);
        break;
      }
      Lane* large = P.histograms + work.large_slot * P.slot_size + offset;
#pragma unroll 1
      for (int k = lane_id(); k < lanes * BINS; k += WARP) large[k] -= small[k];
      __syncwarp();
      if (i == 0) load_order(at, place, f);
      const bool small_first = work.small < work.large;
      add_node(small_first ? small : large, small_first ? work.small : work.large, at, place, f, voted);
      add_node(small_first ? large : small, small_first ? work.large : work.small, at, place, f, voted);
    }
    offer_level(at, place, f, voted);
  }

  __device__ __noinline__ void take_root(const Lane* bins, const Desk& at, int place, int f) const {
    totals_of(bins, at);
    const int n_bins = P.n_bins[f], n = P.categorical[f] ? category_order(bins, n_bins, at) : in_order(n_bins, at);
    if (P.categorical[f])
#pragma unroll 1
      for (int k = lane_id(); k < n; k += WARP) kept_order(place)[k] = at.order[k];
    if (lane_id() == 0) has_gaps(place) = P.has_missing[f] && bins[P.m * BINS + n_bins] > 0, n_kept(place) = n;
    __syncwarp();
  }

  __device__ void load_order(const Desk& at, int place, int f) const {
    if (!P.categorical[f]) {
      in_order(P.n_bins[f], at);
      return;
    }
#pragma unroll 1
    for (int k = lane_id(); k < n_kept(place); k += WARP) at.order[k] = kept_order(place)[k];
    __syncwarp();
  }

  // Adds the scores of a node to those of the level.
  __device__ __noinline__ void add_node(const Lane* bins, int cell, const Desk& at, int place, int f, u32& voted) const {
    __syncwarp();
    totals_of(bins, at);
    if (place == 0)
#pragma unroll 1
      for (int j = lane_id(); j < lanes; j += WARP) P.totals[static_cast<i64>(cell) * lanes + j] = at.total[j];
    if (!votes(at.total[P.m])) return;
    const double own = score_of(at.total);
#pragma unroll 1
    for (int turn = 0; turn < (has_gaps(place) ? 2 : 1); ++turn) {
      scan(bins, at, P.n_bins[f], turn != 0, end_of(place, f, turn != 0),
           [&](int i, i64, i64 rows, const Score& of_left, const Score& of_right) {
             const bool vote = rows >= P.min_samples && at.total[P.m] - rows >= P.min_samples;
             at.scores[turn * BINS + i] += vote ? of_left.value() + of_right.value() : own;
             voted |= (vote ? 1u : 0u) << (16 * turn + i / WARP);
           });
      __syncwarp();
    }
  }

  __device__ __noinline__ void offer_level(const Desk& at, int place, int f, u32 voted) const {
    __syncwarp();
#pragma unroll 1
    for (int k = lane_id(); k < BINS; k += WARP)
#pragma unroll 1
      for (int turn = 0; turn < 2; ++turn)
        if (!(voted >> (16 * turn + k / WARP) & 1u)) at.scores[turn * BINS + k] = minus_infinity();
    __syncwarp();
    const double* scores = at.scores;
    const int found = allowed(first_of_level(), f) ? first_best(2 * BINS, [&](int i) { return scores[i]; }) : -1;
    const bool to_left = found >= BINS;
    const int last = to_left ? found - BINS : found;
    if (found >= 0 && P.categorical[f]) write_set(at, 0, place, P.n_bins[f], last, to_left);
    if (note(0, place, {found < 0 ? minus_infinity() : scores[found], found < 0 ? -1 : last + (to_left ? 256 : 0), 0}))
      choose_level();
  }

  // The best feature, written to the first node of the level.
  __device__ __noinline__ void choose_level() const {
    const int first = first_of_level(), n = n_level();
    double own = 0.0;  // the sum of the nodes' own scores
#pragma unroll 1
    for (int begin = 0; begin < n; begin += WARP) {
      const int c = first + begin + lane_id();
      const i64* total = P.totals + static_cast<i64>(c) * lanes;
      const double mine = begin + lane_id() < n && votes(total[P.m]) ? score_of(total) : 0.0;
#pragma unroll 1
      for (int k = 0; k < WARP; ++k) own += __shfl_sync(ALL, mine, k);
    }
    const int best = best_of(P.bests, own, static_cast<u64>(P.cells[first].depth));
    Cell& cell = P.cells[first];
    const int f = best < 0 ? -1 : P.features[best];
    if (best >= 0 && P.categorical[f]) cell.set[lane_id()] = P.sets[static_cast<i64>(best) * 32 + lane_id()];
    if (lane_id() != 0) return;
    P.done[0] = 0;
    if (best < 0) return;
    const int at = P.bests[best].at;
    cell.is_categorical = P.categorical[f];
    cell.bin = cell.is_categorical ? 0 : at & 255;
    cell.missing_left = at >> 8;
    cell.missing_seen = has_gaps(best);
    cell.feature = f;
  }

  // ---- plan ----------------------------------------------------------------------------------------------------------

  // The first block: gives every node of the level the split, its number of rows on the left and its gain, and lets the
  // planner expand all of them.
  __device__ __noinline__ void plan_level(const Planner& planner) const {
    const int first = first_of_level(), n = n_level();
    if (P.works[0].need_small && P.cells[first].feature >= 0) {
#pragma unroll 1
      for (int i = 1 + warp_id(); i < n; i += WARPS) copy_split(first, first + i);
      __syncthreads();
#pragma unroll 1
      for (int i = warp_id(); i < n; i += WARPS) measure(first + i);
      __syncthreads();
      const bool none_lacks = !P.cells[first].missing_seen;
      __syncthreads();  // all warps have read it before `choose_side` writes it
      if (none_lacks) choose_side(first, n);
      planner.step_level(first, n);
    } else {
      planner.step_level(first, 0);
    }
  }

  __device__ void copy_split(int from, int to) const {
    const Cell& split = P.cells[from];
    Cell& cell = P.cells[to];
    cell.set[lane_id()] = split.set[lane_id()];
    if (lane_id() != 0) return;
    cell.feature = split.feature, cell.bin = split.bin, cell.is_categorical = split.is_categorical;
    cell.missing_left = split.missing_left, cell.missing_seen = split.missing_seen;
  }

  // The rows of a node that go left, and what it gains; nothing if one of its children has too few rows.
  __device__ __noinline__ void measure(int number) const {
    Cell& cell = P.cells[number];
    const int f = cell.feature, n_bins = P.n_bins[f], m = P.m;
    const Lane* bins = P.histograms + cell.slot * P.slot_size + static_cast<i64>(f) * lanes * BINS;
    const i64* total = P.totals + static_cast<i64>(number) * lanes;
    Score of_left, of_right;
    i64 rows = 0;
#pragma unroll 1
    for (int j = 0; j < lanes; ++j) {
      i64 sum = 0;
#pragma unroll 1
      for (int b = lane_id(); b < n_bins + (P.has_missing[f] ? 1 : 0); b += WARP)
        if (code_goes_left(cell, b)) sum += bins[j * BINS + b];
      sum = warp_sum(sum);
      if (j == m) rows = sum;
      else {
        of_left.add(static_cast<double>(sum) * P.inverse[j], j, m, P.l2);
        of_right.add(static_cast<double>(total[j] - sum) * P.inverse[j], j, m, P.l2);
      }
    }
    const bool enough = rows >= P.min_samples && total[m] - rows >= P.min_samples;
    const double gain = enough ? of_left.value() + of_right.value() - score_of(total) : 0.0;
    if (lane_id() == 0) cell.left_count = static_cast<int>(rows), cell.gain = gain, cell.path_gain = 0.0;
  }

  // If no row lacks a value of the feature, those that do in later data go to the larger side of the level.
  __device__ void choose_side(int first, int n) const {
    if (warp_id() == 0) {
      i64 lean = 0;  // rows on the left less rows on the right
#pragma unroll 1
      for (int i = lane_id(); i < n; i += WARP) lean += 2 * static_cast<i64>(P.cells[first + i].left_count) - P.cells[first + i].count;
      lean = warp_sum(lean);
#pragma unroll 1
      for (int i = lane_id(); i < n; i += WARP) P.cells[first + i].missing_left = lean >= 0, P.cells[first + i].missing_seen = 1;
    }
    __syncthreads();
  }

  __device__ void run() const {
    const Planner planner(P, room, sums);
    Barrier* barrier = &P.state->barrier;
    quantize();
    meet(barrier, [&] { planner.begin(); });
    do {
      if (blockIdx.x != 0) {
        load_tasks();
        partition();
        build();
        search_level();
      }
      meet(barrier, [&] { plan_level(planner); });
    } while (!state().finished);
    finish();
  }
};
