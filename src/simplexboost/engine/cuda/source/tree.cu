// Growing one tree in one launch. All blocks run at the same time and meet at barriers; nothing waits for the host.
//
//   quantize   the largest value of every column, the sum of magnitudes, then statistics as integers (three barriers)
//   repeat     partition  the rows of the nodes that are expanded, each to its two children
//              build      histograms of the smaller children, in shared memory
//              search     larger child = parent - smaller; a warp finds the best split of a feature of a node, and the
//                         warp that finishes a node's last feature chooses among the features
//              plan       the first block decides which nodes are expanded next (plan.cuh)
//   finish     the order in which the nodes are split, node numbers, rows by leaf, sums over the leaves
//
// All sums are integers, so neither the order of atomics nor the cut into blocks changes a bit. Scores are computed by
// the same operations in the same order as in kernels/trees (compile without fused multiply-add), and ties are broken
// in the same way, so that the tree is that of the compiled engine. What becomes of a node does not depend on when it
// is expanded. So all nodes that may still be split are expanded together, as far as gains tell; the exact order, which
// decides the limit of leaves, is settled at the end (`settle`). There is one barrier of all blocks per step; within a
// step, a task waits for those whose results it needs only.
//
// Symmetric trees go another way from the search on: see level.cuh.
//
// Macros: SYMMETRIC (1 for symmetric trees), LANE (int or i64), SCORE (the number of the score), COLUMNS (the number of statistics if it is 2, else 0),
// BINS (the room for the bins of a feature, a multiple of 32), BLOCKS_PER_PROCESSOR (the blocks that a multiprocessor must have room for).

#ifndef SYMMETRIC
#define SYMMETRIC 0
#endif

#include "problem.cuh"
#include "plan.cuh"

__device__ inline double newton_score(double slope, double bend) {
  return (bend > 0.0 ? slope * slope : 0.0) / (bend > 0.0 ? bend : 1.0);
}

// The score of sums, column after column: see kernels/trees/score.hpp.
struct Score {
  double a = SCORE == MAX ? minus_infinity() : 0.0, b = 0.0;
  double squares[SCORE == GINI ? 8 : 1], sums[SCORE == GINI ? 8 : 1];

  __device__ Score() {
    for (int i = 0; i < (SCORE == GINI ? 8 : 1); ++i) squares[i] = sums[i] = 0.0;
  }
  // Column j of m. (For Gini, calls with the same j % 8 must be unrolled by the caller.)
  __device__ void add(double v, int j, int m, double l2) {
    if (SCORE == NEWTON) {
      if (j + 1 < m) a += v * v;
      else b = v + l2;
    } else if (SCORE == NORM) {
      a += v * v;
    } else if (SCORE == MAX) {
      a = v > a ? v : a;
    } else if (SCORE == SIGN) {
      a += fabs(v);
    } else if (SCORE == ENTROPY) {
      if (v > 0.0) a += v, b += v * log(v);
    } else {
      const double w = v * v;
#pragma unroll
      for (int i = 0; i < 8; ++i)
        if ((j & 7) == i) squares[i & (SCORE == GINI ? 7 : 0)] += w, sums[i & (SCORE == GINI ? 7 : 0)] += v;
    }
  }
  __device__ static double combined(const double* x) {
    return ((x[0] + x[4]) + (x[1] + x[5])) + ((x[2] + x[6]) + (x[3] + x[7]));
  }
  __device__ double value() const {
    if (SCORE == NEWTON) return b > 0.0 ? a / b : 0.0;
    if (SCORE == NORM) return sqrt(a);
    if (SCORE == ENTROPY) return a > 0.0 ? b - a * log(a) : 0.0;
    if (SCORE == GINI) {
      const double total = SCORE == GINI ? combined(sums) : 0.0;
      return total > 0.0 ? combined(squares) / total : 0.0;
    }
    return a;
  }
};

// Whether a scan goes on from a score to a later one.
__device__ inline bool is_better(double later, double score) { return later > score + TOLERANCE * fabs(score); }

// The place at which a scan from left to right ends that goes on to a candidate only if it is better by more than the
// tolerance; -1 if there is none (score(i) = -inf). Called by a warp. That is the first candidate that no other one
// beats, unless one before it is so close that it would not have been beaten; then the scan is done step by step.
template <class ScoreAt>
__device__ __noinline__ int first_best(int n, const ScoreAt& score) {
  const int lane = lane_id();
  double most = minus_infinity();
#pragma unroll 1
  for (int i = lane; i < n; i += WARP) most = larger(most, score(i));
  most = warp_max(most);
  if (most == minus_infinity()) return -1;
  int first = n;
#pragma unroll 1
  for (int i = lane; i < n; i += WARP) {
    const double s = score(i);
    if (s != minus_infinity() && !is_better(most, s)) {
      first = i;
      break;
    }
  }
  first = warp_min(first);
  double before = minus_infinity();
#pragma unroll 1
  for (int i = lane; i < first; i += WARP) before = larger(before, score(i));
  before = warp_max(before);
  if (before == minus_infinity() || is_better(score(first), before)) return first;
  int best = -1;
  double of_best = 0.0;
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
    const double s = score(i);
    if (s == minus_infinity()) continue;
    if (best < 0 || is_better(s, of_best)) best = i, of_best = s;
  }
  return best;
}

struct Grower {
  const Problem& P;
  int* sums;       // shared: a number per warp
  int* first_cut;    // shared (MOST_WORKS + 1,) the first task of each work in `partition`
  int* first_built;  // shared (MOST_WORKS + 1,) and in `build`, for one unit
  u8* room;        // shared: for the phase; the first block keeps its plan there
  int lanes, worker, n_workers;  // the first block plans, the others work

  __device__ explicit Grower(const Problem& problem) : P(problem) {
    sums = reinterpret_cast<int*>(shared_bytes);
    first_cut = reinterpret_cast<int*>(shared_bytes + 64);
    first_built = first_cut + MOST_WORKS + 4;
    room = reinterpret_cast<u8*>(first_built + MOST_WORKS + 4);
    lanes = P.m + 1;
    worker = static_cast<int>(blockIdx.x) - 1, n_workers = static_cast<int>(gridDim.x) - 1;
  }

  __device__ State& state() const { return *P.state; }

  // The part that place t lies in: the last i with starts[i] <= t, of n parts.
  __device__ static int part_of(const int* starts, int n, int t) {
    int low = 0, high = n - 1;
#pragma unroll 1
    while (low < high) {
      const int middle = (low + high + 1) / 2;
      if (starts[middle] <= t) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  __device__ int row(int r) const { return P.rows == nullptr ? r : P.rows[r]; }
  __device__ int columns() const { return P.classes == nullptr ? P.m : 1; }

  // ---- quantize ------------------------------------------------------------------------------------------------------

  // Calls use(value, column) for all values of the rows in use, and combines the results of the threads that have the
  // same column: each thread has one column at a time, and neighbours read neighbouring numbers.
  template <class Use, class Join, class Store>
  __device__ void over_columns(const double* v, int width, const Use& use, const Join& join, const Store& store) const {
    u64* parts = reinterpret_cast<u64*>(room);  // (BLOCK,)
    for (int group = 0; group < width; group += BLOCK) {
      const int some = smaller(BLOCK, width - group), per_pass = BLOCK / some;
      const int column = threadIdx.x % some, place = threadIdx.x / some;
      u64 sum = 0;
      if (place < per_pass)
        for (i64 r = static_cast<i64>(blockIdx.x) * per_pass + place; r < P.n_rows; r += static_cast<i64>(gridDim.x) * per_pass)
          sum = join(sum, use(v[static_cast<i64>(row(static_cast<int>(r))) * width + group + column], group + column));
      __syncthreads();
      parts[threadIdx.x] = sum;
      __syncthreads();
      if (threadIdx.x < some) {
        for (int i = threadIdx.x + some; i < some * per_pass; i += some) sum = join(sum, parts[i]);
        store(group + static_cast<int>(threadIdx.x), sum);
      }
    }
  }

  __device__ void find_maxima(const double* v, int width, double* maxima) const {
    over_columns(
        v, width, [](double x, int) { return static_cast<u64>(__double_as_longlong(fabs(x))); },
        [](u64 a, u64 b) { return larger(a, b); },
        [&](int j, u64 most) { atomicMax(reinterpret_cast<u64*>(maxima + j), most); });
  }

  __device__ __noinline__ void quantize() const {
    const int width = columns();
    find_maxima(P.values, width, P.maxima);
    if (P.leaf_values != nullptr) find_maxima(P.leaf_values, P.d, P.maxima + width);
    meet(&P.state->barrier, [&] {
      for (int j = threadIdx.x; j < width; j += BLOCK) P.unit[j] = ldexp(1.0, clamped(20 - exponent_of(P.maxima[j])));
    });
    over_columns(
        P.values, width, [&](double x, int j) { return static_cast<u64>(ceil(fabs(x) * P.unit[j])); },
        [](u64 a, u64 b) { return a + b; }, [&](int j, u64 sum) { atomicAdd(P.magnitudes + j, sum); });
    meet(&P.state->barrier, [&] {
      for (int j = threadIdx.x; j < P.m; j += BLOCK) {
        const int k = width == 1 ? 0 : j;
        const int room_bits = sizeof(Lane) == 8 ? 61 : 30;
        const int e = P.maxima[k] == 0.0 ? 0
                                         : clamped(room_bits - exponent_of(static_cast<double>(P.magnitudes[k])) + 20 -
                                                   exponent_of(P.maxima[k]));
        if (j < width) P.scale[j] = ldexp(1.0, e);
        P.inverse[j] = ldexp(1.0, -e);
      }
    });
    const bool nearest = sizeof(Lane) == 8 || P.seed == 0;
    const i64 all = static_cast<i64>(P.n_rows) * width;
    for (i64 k = static_cast<i64>(blockIdx.x) * BLOCK + threadIdx.x; k < all; k += static_cast<i64>(gridDim.x) * BLOCK) {
      const int r = static_cast<int>(k / width), j = static_cast<int>(k % width), i = row(r);
      const double scaled = P.values[static_cast<i64>(i) * width + j] * P.scale[j];
      const double rounded = nearest ? rint(scaled) : floor(scaled + hashed_uniform(P.seed, static_cast<u64>(i), static_cast<u64>(j)));
      P.quantized[static_cast<i64>(i) * width + j] = static_cast<Lane>(rounded);
      if (j == 0) P.list[0][r] = i;
    }
    clear_slot(0, static_cast<int>(blockIdx.x), static_cast<int>(gridDim.x));
  }

  // One of n_parts parts of a histogram.
  __device__ void clear_slot(int slot, int part, int n_parts) const {
    Lane* to = P.histograms + slot * P.slot_size;
    for (i64 k = static_cast<i64>(part) * BLOCK + threadIdx.x; k < P.slot_size; k += static_cast<i64>(n_parts) * BLOCK) to[k] = 0;
  }

  // ---- partition -----------------------------------------------------------------------------------------------------

  __device__ bool goes_left(const Cell& cell, int row) const {
    const int f = cell.feature;
    const u64 word = P.codes[static_cast<i64>(f / TILE) * P.n + row];
    return code_goes_left(cell, static_cast<int>(word >> (8 * (f % TILE)) & 255u));
  }

  __device__ bool code_goes_left(const Cell& cell, int code) const {
    const int f = cell.feature;
    if (cell.is_categorical) return (cell.set[code / 8] >> (code % 8) & 1) != 0;
    return P.has_missing[f] && code == P.n_bins[f] ? cell.missing_left != 0 : code <= cell.bin;
  }

  // Copies where the tasks of works begin to shared memory.
  __device__ void load_tasks() const {
    const int n_works = state().n_works;
    for (int i = threadIdx.x; i <= n_works; i += BLOCK) first_cut[i] = P.first_cut[i], first_built[i] = P.first_built[i];
    __syncthreads();
  }

  // A task also clears its part of the histogram, if several tasks of `build` will add to it.
  __device__ __noinline__ void partition() const {
    const int n_works = state().n_works, n_tasks = first_cut[n_works];
    int* before = reinterpret_cast<int*>(room);  // (WARP,) rows that go left before each of 32 parts of the chunk
    int* base = before + WARP;                   // (3,)
#pragma unroll 1
    for (int task = worker; task < n_tasks; task += n_workers) {
      const int i = part_of(first_cut, n_works, task);
      const Cell& cell = P.cells[P.works[i].parent];
      if (first_built[i + 1] - first_built[i] > 1)
        clear_slot(P.works[i].small_slot, task - first_cut[i], first_cut[i + 1] - first_cut[i]);
      const int begin = (task - first_cut[i]) * CHUNK, end = smaller(begin + CHUNK, cell.count);
      const int* from = P.list[cell.buffer] + cell.begin;
      int* to = P.list[1 - cell.buffer] + cell.begin;
      int own[CHUNK / BLOCK];
      u32 votes[CHUNK / BLOCK];
#pragma unroll
      for (int k = 0; k < CHUNK / BLOCK; ++k) {
        const int r = begin + k * BLOCK + threadIdx.x;
        own[k] = r < end ? from[r] : -1;
      }
      __syncthreads();
#pragma unroll
      for (int k = 0; k < CHUNK / BLOCK; ++k) {
        votes[k] = __ballot_sync(ALL, own[k] >= 0 && goes_left(cell, own[k]));
        if (lane_id() == 0) before[k * (BLOCK / WARP) + warp_id()] = __popc(votes[k]);
      }
      __syncthreads();
      if (warp_id() == 0) {
        const int mine = before[lane_id()], up_to = warp_prefix(mine);
        before[lane_id()] = up_to - mine;
        if (lane_id() == WARP - 1) {
          base[0] = atomicAdd(P.cursors + 2 * i, up_to);
          base[1] = atomicAdd(P.cursors + 2 * i + 1, end - begin - up_to);
        }
      }
      __syncthreads();
#pragma unroll
      for (int k = 0; k < CHUNK / BLOCK; ++k) {
        if (own[k] < 0) continue;
        const int lefts = before[k * (BLOCK / WARP) + warp_id()] + __popc(votes[k] & ((1u << lane_id()) - 1u));
        const int place = k * BLOCK + threadIdx.x;
        if (votes[k] >> lane_id() & 1u) to[base[0] + lefts] = own[k];
        else to[cell.left_count + base[1] + place - lefts] = own[k];
      }
      __syncthreads();
      if (threadIdx.x == 0) task_done(P.cut + i);
    }
  }

  // ---- build ---------------------------------------------------------------------------------------------------------

  __device__ int n_units() const {
    return P.n_used_tiles * (TILE / P.pass_features) * ((lanes + P.pass_lanes - 1) / P.pass_lanes);
  }

  __device__ __noinline__ void build() const {
    const int n_works = state().n_works, size = state().rows_per_task, units = n_units();
    const int n_tasks = first_built[n_works] * units;
#pragma unroll 1
    for (int task = worker; task < n_tasks; task += n_workers) {
      const int part = task / units, i = part_of(first_built, n_works, part);
      if (threadIdx.x == 0) wait_for_tasks(P.cut + i, first_cut[i + 1] - first_cut[i]);
      __syncthreads();
      const Cell& cell = P.cells[P.works[i].small];
      const int begin = (part - first_built[i]) * size, end = smaller(begin + size, cell.count);
      build_part(P.list[cell.buffer] + cell.begin, begin, end, task % units, P.works[i].small_slot,
                 first_built[i + 1] - first_built[i] > 1);
      if (threadIdx.x == 0) task_done(P.built + i);
    }
  }

  __device__ void build_part(const int* list, int begin, int end, int unit, int slot, bool shared) const {
    Lane* sums = reinterpret_cast<Lane*>(room);  // (pass_features, pass_lanes, BINS)
    if (COLUMNS == 2) {
      const int tile = P.tiles[unit];
      clear_sums(sums, TILE * 3 * BINS);
      add_rows_of_two(sums, list, begin, end, P.codes + static_cast<i64>(tile) * P.n, static_cast<u32>(P.tile_mask[unit]));
      __syncthreads();
      store_sums(P.histograms + slot * P.slot_size + static_cast<i64>(tile) * TILE * 3 * BINS, sums,
                 smaller(TILE, P.p - tile * TILE) * 3 * BINS, shared);
      return;
    }
    const int passes = TILE / P.pass_features, of_tile = unit % P.n_used_tiles, rest = unit / P.n_used_tiles;
    const int tile = P.tiles[of_tile], first_feature = rest % passes * P.pass_features;
    const int first_lane = rest / passes * P.pass_lanes, n_lanes = smaller(P.pass_lanes, lanes - first_lane);
    const u32 mask = static_cast<u32>(P.tile_mask[of_tile]) >> first_feature;
    clear_sums(sums, P.pass_features * n_lanes * BINS);
    const u64* codes = P.codes + static_cast<i64>(tile) * P.n;
    for (int r = begin + threadIdx.x; r < end; r += BLOCK)
      add_row(sums, list[r], codes[list[r]] >> (8 * first_feature), mask, first_lane, n_lanes);
    __syncthreads();
    Lane* to = P.histograms + slot * P.slot_size;
#pragma unroll 1
    for (int s = 0; s < P.pass_features; ++s) {
      const int f = tile * TILE + first_feature + s;
      if (f < P.p) store_sums(to + (static_cast<i64>(f) * lanes + first_lane) * BINS, sums + s * n_lanes * BINS, n_lanes * BINS, shared);
    }
  }

  struct alignas(16) Vector {  // what a thread moves at a time; histograms of a feature are a multiple of 32 numbers
    Lane x[16 / sizeof(Lane)];
  };
  static constexpr int WIDE = 16 / sizeof(Lane);

  __device__ void clear_sums(Lane* sums, int size) const {
    const Vector zeros = {};
#pragma unroll 2
    for (int k = threadIdx.x * WIDE; k < size; k += BLOCK * WIDE) *reinterpret_cast<Vector*>(sums + k) = zeros;
    __syncthreads();
  }

  // To a histogram that is this task's alone, or to which others add, too.
  __device__ void store_sums(Lane* to, const Lane* sums, int size, bool shared) const {
    if (!shared) {
#pragma unroll 2
      for (int k = threadIdx.x * WIDE; k < size; k += BLOCK * WIDE)
        *reinterpret_cast<Vector*>(to + k) = *reinterpret_cast<const Vector*>(sums + k);
    } else {
#pragma unroll 4
      for (int k = threadIdx.x; k < size; k += BLOCK)
        if (sums[k] != 0) add_lane(to + k, sums[k]);
    }
    __syncthreads();
  }

  // Four rows of a thread at a time, so that their numbers are on the way together. Neighbouring threads begin with
  // different features, so that rows with the same code seldom add to the same number.
  __device__ void add_rows_of_two(Lane* sums, const int* list, int begin, int end, const u64* codes, u32 mask) const {
    constexpr int AT_ONCE = 4;
    struct alignas(2 * sizeof(Lane)) Pair {
      Lane g, h;
    };
    const Pair* pairs = reinterpret_cast<const Pair*>(P.quantized);
    for (int r = begin + threadIdx.x; r < end; r += AT_ONCE * BLOCK) {
      int rows[AT_ONCE];
      u64 words[AT_ONCE];
      Pair of[AT_ONCE];
#pragma unroll
      for (int k = 0; k < AT_ONCE; ++k) rows[k] = r + k * BLOCK < end ? list[r + k * BLOCK] : -1;
#pragma unroll
      for (int k = 0; k < AT_ONCE; ++k) {
        const int row = rows[k] < 0 ? rows[0] : rows[k];
        words[k] = codes[row];
        of[k] = pairs[row];
      }
#pragma unroll
      for (int k = 0; k < AT_ONCE; ++k) {
        if (rows[k] < 0) break;
#pragma unroll
        for (int s = 0; s < TILE; ++s) {
          const int f = (s + threadIdx.x) & (TILE - 1);
          if (!(mask >> f & 1u)) continue;
          Lane* to = sums + 3 * f * BINS + static_cast<int>(words[k] >> (8 * f) & 255u);
          add_lane(to, of[k].g);
          add_lane(to + BINS, of[k].h);
          add_lane(to + 2 * BINS, static_cast<Lane>(1));
        }
      }
    }
  }

  __device__ void add_row(Lane* sums, int row, u64 word, u32 mask, int first_lane, int n_lanes) const {
    constexpr int stride = BINS;
    const int last = P.m - first_lane;  // where the count is
    for (int s = 0; s < P.pass_features; ++s) {
      const int f = (s + threadIdx.x) & (P.pass_features - 1);
      if (!(mask >> f & 1u)) continue;
      Lane* to = sums + f * n_lanes * stride + static_cast<int>(word >> (8 * f) & 255u);
      if (P.classes != nullptr) {
        const int j = P.classes[row] - first_lane;
        if (j >= 0 && j < n_lanes) add_lane(to + j * stride, P.quantized[row]);
      } else {
        const Lane* q = P.quantized + static_cast<i64>(row) * P.m + first_lane;
        for (int j = 0; j < smaller(n_lanes, last); ++j) add_lane(to + j * stride, q[j]);
      }
      if (last < n_lanes) add_lane(to + last * stride, static_cast<Lane>(1));
    }
  }

  // ---- search --------------------------------------------------------------------------------------------------------

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

  // ---- the order of categories; see kernels/trees/categories.hpp ----

  __device__ static double bounded_ratio(double sum, double weight) {
    const double ratio = sum / weight;
    return ratio < -1e300 ? -1e300 : ratio > 1e300 ? 1e300 : ratio;
  }

  __device__ double along(const double* point, const double* axis, int d) const {
    double sum = 0.0;
    for (int j = 0; j < d; ++j) sum += point[j] * axis[j];
    return sum;
  }

  // Divides by the coordinate of largest absolute value (the first of them), with its sign; false if all are zero.
  __device__ bool scale_axis(double* axis, int d) const {
    double most = 0.0;
    for (int j = lane_id(); j < d; j += WARP) most = larger(most, fabs(axis[j]));
    most = warp_max(most);
    if (most == 0.0) return false;
    int first_one = d;
    for (int j = lane_id(); j < d && first_one == d; j += WARP)
      if (fabs(axis[j]) == most) first_one = j;
    first_one = warp_min(first_one);
    const double by = axis[first_one];
    __syncwarp();
    for (int j = lane_id(); j < d; j += WARP) axis[j] /= by;
    __syncwarp();
    return true;
  }

  __device__ __noinline__ int category_order(const Lane* bins, int n_bins, const Desk& at) const {
    const int stride = BINS, m = P.m, d = m - (SCORE == NEWTON ? 1 : 0);
    double* scratch = P.scratch + static_cast<i64>(blockIdx.x * WARPS + warp_id()) * P.scratch_size;
    double *points = scratch, *weight = points + 256 * d, *keys = weight + 256, *axis = keys + 256, *next = axis + d;
    int n = 0;
#pragma unroll 1
    for (int begin = 0; begin < n_bins; begin += WARP) {
      const int b = begin + lane_id();
      const u32 votes = __ballot_sync(ALL, b < n_bins && bins[m * stride + b] >= P.min_category_count);
      if (votes >> lane_id() & 1u) at.order[n + __popc(votes & ((1u << lane_id()) - 1u))] = static_cast<u8>(b);
      n += __popc(votes);
    }
    __syncwarp();
    if (n == 0) return 0;
    const double rows = static_cast<double>(at.total[m]);
    const auto node = [&](int j) { return static_cast<double>(at.total[j]) * P.inverse[j]; };
    const double node_weight = SCORE == NEWTON ? node(m - 1) : rows;
    double largest = 0.0;
#pragma unroll 1
    for (int i = lane_id(); i < n; i += WARP) {
      const int b = at.order[i];
      const auto of = [&](int j) { return static_cast<double>(bins[j * stride + b]) * P.inverse[j]; };
      const double w = (SCORE == NEWTON ? of(m - 1) : static_cast<double>(bins[m * stride + b])) + P.smoothing * (node_weight / rows);
      weight[i] = w;
#pragma unroll 1
      for (int j = 0; j < d; ++j) {
        const double mean = node_weight > 0.0 ? bounded_ratio(node(j), node_weight) : 0.0;
        const double x = w > 0.0 ? bounded_ratio(of(j) + P.smoothing * (node(j) / rows), w) - mean : 0.0;
        points[i * d + j] = x;
        largest = larger(largest, fabs(x));
      }
    }
    largest = warp_max(largest);
    __syncwarp();
    double weights = 0.0;
#pragma unroll 1
    for (int i = 0; i < n; ++i) weights += weight[i];
    __syncwarp();
    if (largest > 0.0)
#pragma unroll 1
      for (int k = lane_id(); k < n * d; k += WARP) points[k] /= largest;
    if (weights > 0.0)
#pragma unroll 1
      for (int i = lane_id(); i < n; i += WARP) weight[i] /= weights;
    __syncwarp();
    double most = minus_infinity();
#pragma unroll 1
    for (int i = lane_id(); i < n; i += WARP) {
      keys[i] = weight[i] * along(points + i * d, points + i * d, d);
      most = larger(most, keys[i]);
    }
    most = warp_max(most);
    __syncwarp();
    int farthest = n - 1;
#pragma unroll 1
    for (int i = lane_id(); i < n; i += WARP)
      if (keys[i] == most) {
        farthest = i;
        break;
      }
    farthest = warp_min(farthest);
#pragma unroll 1
    for (int j = lane_id(); j < d; j += WARP) axis[j] = points[farthest * d + j];
    __syncwarp();
    if (!scale_axis(axis, d)) {
      if (lane_id() == 0) axis[0] = 1.0;
      __syncwarp();
    }
#pragma unroll 1
    for (int step = 0; step < (d > 1 ? AXIS_STEPS : 0); ++step) {
#pragma unroll 1
      for (int i = lane_id(); i < n; i += WARP) keys[i] = weight[i] * along(points + i * d, axis, d);
      __syncwarp();
#pragma unroll 1
      for (int j = lane_id(); j < d; j += WARP) {
        double sum = 0.0;
#pragma unroll 1
        for (int i = 0; i < n; ++i) sum += keys[i] * points[i * d + j];
        next[j] = sum;
      }
      __syncwarp();
      if (!scale_axis(next, d)) break;
      double* other = axis;
      axis = next, next = other;
    }
#pragma unroll 1
    for (int i = lane_id(); i < n; i += WARP) keys[i] = along(points + i * d, axis, d);
    __syncwarp();
    // The place of each is the number of those before it. All places are known before any is written.
    u8 mine[8];
    int places[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const int i = k * WARP + lane_id();
      mine[k] = 0, places[k] = -1;
      if (i >= n) continue;
      const double key = keys[i];
      int before = 0;
#pragma unroll 1
      for (int other = 0; other < n; ++other) before += keys[other] < key || (keys[other] == key && other < i);
      mine[k] = at.order[i], places[k] = before;
    }
    __syncwarp();
#pragma unroll
    for (int k = 0; k < 8; ++k)
      if (places[k] >= 0) at.order[places[k]] = mine[k];
    __syncwarp();
    return n;
  }

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

  // ---- finish --------------------------------------------------------------------------------------------------------

  __device__ __noinline__ void finish() const {
    const State& s = state();
    const int warps = gridDim.x * WARPS;
#pragma unroll 1
    for (int task = blockIdx.x + gridDim.x * warp_id(); task < s.n_final; task += warps) {
      const int c = part_of(P.first_task, s.n_cells, task);
      const Cell& cell = P.cells[c];
      const int begin = (task - P.first_task[c]) * FINAL_ROWS, end = smaller(begin + FINAL_ROWS, cell.count);
      const int *list = P.list[cell.buffer] + cell.begin, leaf = cell.leaf;
#pragma unroll 1
      for (int r = begin + lane_id(); r < end; r += WARP) {
        P.order[cell.begin + r] = list[r];
        P.leaf_of_row[list[r]] = leaf;
      }
      add_limbs(list, begin, end, P.limbs + static_cast<i64>(leaf) * 2 * P.d);
    }
  }

  // See kernels/core/exact.hpp: hi in the first d numbers, lo behind.
  __device__ void add_limbs(const int* list, int begin, int end, u64* out) const {
    const int width = exact_width(static_cast<u64>(P.n_rows)), d = P.d;
    const double second = ldexp(1.0, width);
    const bool own = P.leaf_values == nullptr;
    const double *v = own ? P.values : P.leaf_values, *maxima = own ? P.maxima : P.maxima + columns();
    if (own && P.classes != nullptr) {
      const double scale = ldexp(1.0, clamped(width - exponent_of(maxima[0])));
#pragma unroll 1
      for (int r = begin + lane_id(); r < end; r += WARP) {
        const double y = v[list[r]] * scale;
        add_bits(out + P.classes[list[r]], rounded_bits(y));
        add_bits(out + d + P.classes[list[r]], rounded_bits((y - ((y + ROUND) - ROUND)) * second));
      }
      return;
    }
#pragma unroll 1
    for (int j = 0; j < d; ++j) {
      const double scale = ldexp(1.0, clamped(width - exponent_of(maxima[j])));
      u64 hi = 0, lo = 0;
#pragma unroll 1
      for (int r = begin + lane_id(); r < end; r += WARP) {
        const double y = v[static_cast<i64>(list[r]) * d + j] * scale;
        hi += rounded_bits(y);
        lo += rounded_bits((y - ((y + ROUND) - ROUND)) * second);
      }
      hi = warp_sum(hi), lo = warp_sum(lo);
      if (lane_id() == 0) add_bits(out + j, hi), add_bits(out + d + j, lo);
    }
  }

  __device__ void run() const {
    const Planner planner(P, room, sums);
    Barrier* barrier = &P.state->barrier;
    MARK(0);
    quantize();
    meet(barrier, [&] { planner.begin(); });
    MARK(1);
    do {
      if (blockIdx.x != 0) {
        load_tasks();
        partition();
        MARK(2);
        build();
        MARK(3);
        search();
        MARK(4);
      }
      meet(barrier, [&] {
        MARK(5);
        planner.step();
        MARK(6);
      });
      MARK(7);
    } while (!state().finished);
    finish();
    MARK(8);
  }
};

#if SYMMETRIC
#include "level.cuh"
typedef LevelGrower TheGrower;
#else
typedef Grower TheGrower;
#endif

extern "C" __global__ void __launch_bounds__(BLOCK, BLOCKS_PER_PROCESSOR) grow_tree(const __grid_constant__ Problem problem) {
  TheGrower(problem).run();
}
