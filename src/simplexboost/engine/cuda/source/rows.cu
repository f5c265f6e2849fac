// The flagship's loss on the device, for canonical codewords: soft-max, sketched gradient and curvature, sums over the
// leaves, Newton's steps, and the update of F. The formulas are those of kernels/losses/logistic.inl and newton.hpp, in
// single precision; sums over leaves are integers, so that the same device gives the same bytes every time.
//
// Macros: GROUP (threads per row in `pull`, a power of two up to 32; rows per warp in `add_leaves`), EACH (classes of each of them, if
// they are few enough for registers, else 0), DIRECTIONS (of the sketch), CLASSES (threads per row in `leaf_sums`, a power
// of two up to 256), TURNS (classes of each of them).

struct Rows {
  const float* F;         // (n, K)
  const int* c;           // (n,) true classes
  const float* weight;    // (n,) or null
  const float* log_cost;  // (K, K) or null
  const float* Z;         // (K, DIRECTIONS)
  double* stats;          // (n, DIRECTIONS + 1)
  float* loss;            // (n,) -log p_c
  double* scale;          // (n,) the weights used, or null
  i64 n;
  int K, tilt_a, tilt_b;
  float tilt_scale;
};

template <class T>
__device__ inline T group_sum(T x) {
  for (int step = GROUP / 2; step > 0; step /= 2) x += __shfl_xor_sync(ALL, x, step);
  return x;
}

__device__ inline float tilt(const Rows& a, float p) {
  float factor = a.tilt_scale;
  for (int i = 0; i < a.tilt_a; ++i) factor *= p;
  for (int i = 0; i < a.tilt_b; ++i) factor *= 1.0f - p;
  return factor;
}

// What a thread adds up over its classes of a row.
struct Moments {
  float total = 0.0f, squares = 0.0f, mean[DIRECTIONS];

  __device__ Moments() {
#pragma unroll
    for (int j = 0; j < DIRECTIONS; ++j) mean[j] = 0.0f;
  }
  __device__ void add(float e, const float* z) {
    total += e;
    float square = 0.0f;
#pragma unroll
    for (int j = 0; j < DIRECTIONS; ++j) mean[j] += e * z[j], square += z[j] * z[j];
    squares += e * square;
  }
  __device__ void sum_over_group() {
    total = group_sum(total), squares = group_sum(squares);
#pragma unroll
    for (int j = 0; j < DIRECTIONS; ++j) mean[j] = group_sum(mean[j]);
  }
};

__device__ inline float group_max(float x) {
  for (int step = GROUP / 2; step > 0; step /= 2) x = fmaxf(x, __shfl_xor_sync(ALL, x, step));
  return x;
}

constexpr int KEPT = EACH == 0 ? 1 : EACH;

// GROUP neighbouring threads have a row; thread t has classes t, t + GROUP, ... With EACH, they are read once, and the
// sketch is in registers for all rows. (At 1 M rows and 100 classes, 32 threads per row that read it twice took 0.68 ms.)
extern "C" __global__ void __launch_bounds__(BLOCK) pull(const __grid_constant__ Rows a) {
  const int K = a.K, lane = threadIdx.x % GROUP;
  const i64 per_pass = static_cast<i64>(gridDim.x) * (BLOCK / GROUP);
  float z[KEPT][DIRECTIONS];
  if (EACH > 0) {
#pragma unroll
    for (int i = 0; i < EACH; ++i)
#pragma unroll
      for (int j = 0; j < DIRECTIONS; ++j) z[i][j] = lane + i * GROUP < K ? a.Z[(lane + i * GROUP) * DIRECTIONS + j] : 0.0f;
  }
  for (i64 first = static_cast<i64>(blockIdx.x) * (BLOCK / GROUP); first < a.n; first += per_pass) {
    const i64 mine = first + threadIdx.x / GROUP, row = mine < a.n ? mine : a.n - 1;
    const float* F = a.F + row * K;
    const int own = a.c[row];
    const float* cost = a.log_cost == nullptr ? nullptr : a.log_cost + static_cast<i64>(own) * K;
    const float of_own = F[own];
    float high = -3.0e38f;
    Moments sums;
    if (EACH > 0) {
      float x[KEPT];
#pragma unroll
      for (int i = 0; i < EACH; ++i) x[i] = lane + i * GROUP < K ? F[lane + i * GROUP] : -3.0e38f;
      if (cost != nullptr) {
#pragma unroll
        for (int i = 0; i < EACH; ++i)
          if (lane + i * GROUP < K) x[i] += cost[lane + i * GROUP];
      }
#pragma unroll
      for (int i = 0; i < EACH; ++i) high = fmaxf(high, x[i]);
      high = group_max(high);
#pragma unroll
      for (int i = 0; i < EACH; ++i)
        if (lane + i * GROUP < K) sums.add(expf(x[i] - high), z[i]);
    } else {
      for (int k = lane; k < K; k += GROUP) high = fmaxf(high, F[k] + (cost == nullptr ? 0.0f : cost[k]));
      high = group_max(high);
      for (int k = lane; k < K; k += GROUP)
        sums.add(expf(F[k] + (cost == nullptr ? 0.0f : cost[k]) - high), a.Z + static_cast<i64>(k) * DIRECTIONS);
    }
    sums.sum_over_group();
    if (lane != 0 || mine >= a.n) continue;
    const float part = 1.0f / sums.total, behind = of_own - high;
    double w = a.weight == nullptr ? 1.0 : static_cast<double>(a.weight[row]);
    w *= static_cast<double>(tilt(a, expf(behind) * part));
    if (a.scale != nullptr) a.scale[row] = w;
    a.loss[row] = logf(sums.total) - behind;
    double* out = a.stats + row * (DIRECTIONS + 1);
    float spread = sums.squares * part;
#pragma unroll
    for (int j = 0; j < DIRECTIONS; ++j) {
      const float m = sums.mean[j] * part;
      out[j] = w * static_cast<double>(a.Z[own * DIRECTIONS + j] - m);
      spread -= m * m;
    }
    out[DIRECTIONS] = w * static_cast<double>(spread > 0.0f ? spread : 0.0f);
  }
}

struct Totals {
  const float* loss;    // (n,)
  const float* weight;  // (n,) or null
  const double* stats;  // (n, s + 1)
  const int* rows;      // (n_rows,) or null for all
  double* parts;        // (2, gridDim.x)
  i64 n, n_rows;
  int s, pad;
};

// What the blocks add to the weighted sum of the losses over all rows, and to the sum of the sizes of the sketched gradients
// over those in use. The host adds up the parts in their order, so that the same device gives the same bytes every time.
extern "C" __global__ void __launch_bounds__(BLOCK) totals(const __grid_constant__ Totals a) {
  const i64 first = static_cast<i64>(blockIdx.x) * BLOCK + threadIdx.x, stride = static_cast<i64>(gridDim.x) * BLOCK;
  double loss = 0.0, size = 0.0;
  for (i64 row = first; row < a.n; row += stride)
    loss += static_cast<double>(a.loss[row]) * (a.weight == nullptr ? 1.0 : static_cast<double>(a.weight[row]));
  for (i64 i = first; i < a.n_rows; i += stride) {
    const double* g = a.stats + (a.rows == nullptr ? i : static_cast<i64>(a.rows[i])) * (a.s + 1);
    double squares = 0.0;
    for (int j = 0; j < a.s; ++j) squares += g[j] * g[j];
    size += a.s == 1 ? fabs(g[0]) : sqrt(squares);
  }
  double* parts = reinterpret_cast<double*>(shared_bytes);  // (2, WARPS)
  loss = warp_sum(loss), size = warp_sum(size);
  if (lane_id() == 0) parts[warp_id()] = loss, parts[WARPS + warp_id()] = size;
  __syncthreads();
  if (threadIdx.x >= 2) return;
  double sum = 0.0;
  for (int w = 0; w < WARPS; ++w) sum += parts[threadIdx.x * WARPS + w];
  a.parts[threadIdx.x * gridDim.x + blockIdx.x] = sum;
}

struct LeafRows {
  const float* F;
  const int* c;
  const float* log_cost;
  const float* loss;
  const double* scale;     // (n,) or null
  const int* order;        // (n_rows,) rows, leaf by leaf
  const int* leaf_of_row;  // (n,)
  u64* sums;               // (L, 2, K) slope and curvature, zeros in the beginning
  double unit;
  int n_rows, K, rows_per_part, pad;
};

// CLASSES neighbouring threads go through a part of the rows, each for TURNS classes (k, k + CLASSES, ...), and add up in
// registers what the rows of a leaf say; parts are cut without regard to leaves. blockIdx.y counts groups of classes.
// What belongs to the row alone is read by one thread for some rows at a time and handed on within the warp: read by all
// threads, one number after another, it took half of the time.
extern "C" __global__ void __launch_bounds__(BLOCK) leaf_sums(const __grid_constant__ LeafRows a) {
  constexpr int AHEAD = CLASSES < WARP ? CLASSES : WARP;  // rows that are read ahead
  const int K = a.K, first = blockIdx.y * CLASSES * TURNS + threadIdx.x % CLASSES;
  const int part = blockIdx.x * (BLOCK / CLASSES) + threadIdx.x / CLASSES;
  const i64 begin = static_cast<i64>(part) * a.rows_per_part;
  const i64 end = smaller(begin + a.rows_per_part, static_cast<i64>(a.n_rows));
  const int mates = lane_id() / AHEAD * AHEAD;  // the first lane of this warp with the same part
  int leaf = -1;
  u64 slope[TURNS], bend[TURNS];
#pragma unroll
  for (int t = 0; t < TURNS; ++t) slope[t] = bend[t] = 0;
  const auto flush = [&] {
#pragma unroll
    for (int t = 0; t < TURNS; ++t) {
      const int k = first + t * CLASSES;
      if (leaf >= 0 && k < K) {
        add_bits(a.sums + static_cast<i64>(leaf) * 2 * K + k, slope[t]);
        add_bits(a.sums + (static_cast<i64>(leaf) * 2 + 1) * K + k, bend[t]);
      }
      slope[t] = bend[t] = 0;
    }
  };
#pragma unroll 1
  for (int ahead = 0; ahead < a.rows_per_part; ahead += AHEAD) {  // the same number of times for all lanes
    const i64 r = begin + ahead + lane_id() % AHEAD;
    const int own_row = r < end ? a.order[r] : -1;
    int own_class = 0, own_leaf = 0;
    float own_level = 0.0f;
    double own_weight = a.unit;
    if (own_row >= 0) {
      own_class = a.c[own_row], own_leaf = a.leaf_of_row[own_row];
      own_level = a.F[static_cast<i64>(own_row) * K + own_class] + a.loss[own_row];
      if (a.scale != nullptr) own_weight *= a.scale[own_row];
    }
#pragma unroll 4
    for (int i = 0; i < AHEAD; ++i) {
      const int row = __shfl_sync(ALL, own_row, mates + i), own = __shfl_sync(ALL, own_class, mates + i);
      const int at = __shfl_sync(ALL, own_leaf, mates + i);
      const float level = __shfl_sync(ALL, own_level, mates + i);
      const double w = a.scale == nullptr ? a.unit : __shfl_sync(ALL, own_weight, mates + i);
      if (row < 0) continue;
      const float* F = a.F + static_cast<i64>(row) * K;
      float x[TURNS];
#pragma unroll
      for (int t = 0; t < TURNS; ++t) x[t] = first + t * CLASSES < K ? F[first + t * CLASSES] - level : -3.0e38f;
      if (a.log_cost != nullptr) {
#pragma unroll
        for (int t = 0; t < TURNS; ++t)
          if (first + t * CLASSES < K) x[t] += a.log_cost[static_cast<i64>(own) * K + first + t * CLASSES];
      }
      if (at != leaf) {
        flush();
        leaf = at;
      }
#pragma unroll
      for (int t = 0; t < TURNS; ++t) {
        const float p = expf(fminf(x[t], 0.0f));
        if (first + t * CLASSES == own) slope[t] += rounded_bits(w);
        slope[t] -= rounded_bits(static_cast<double>(p) * w);
        bend[t] += rounded_bits(static_cast<double>(p * (1.0f - p)) * w);
      }
    }
  }
  flush();
}

struct LeafSteps {
  const u64* sums;  // (L, 2, K)
  float* values;    // (L, K)
  const int* n_leaves;  // L; there may be more blocks
  int* counts;      // (L,) how many of a leaf's values are not zero; written if values are thinned
  double inverse, l2, max_step;
  float thin;
  int K;
};

// A number whose order as an unsigned integer is that of x.
__device__ inline u32 ordered(float x) {
  const u32 bits = __float_as_uint(x);
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}
__device__ inline float unordered(u32 bits) { return __uint_as_float(bits & 0x80000000u ? bits & 0x7fffffffu : ~bits); }

// A block per leaf: slope / (curvature + l2), limited; then the median is subtracted and small values become zero. The
// median is found bit by bit: `below` is the number of values that are less than a trial.
extern "C" __global__ void __launch_bounds__(BLOCK) leaf_steps(const __grid_constant__ LeafSteps a) {
  const int K = a.K;
  if (static_cast<int>(blockIdx.x) >= *a.n_leaves) return;
  const u64* sums = a.sums + static_cast<i64>(blockIdx.x) * 2 * K;
  float* values = a.values + static_cast<i64>(blockIdx.x) * K;
  for (int k = threadIdx.x; k < K; k += BLOCK) {
    const double g = static_cast<double>(static_cast<i64>(sums[k])) * a.inverse;
    const double h = static_cast<double>(static_cast<i64>(sums[K + k])) * a.inverse + a.l2;
    const double step = g / h;
    values[k] = static_cast<float>(h > 0.0 ? (step < -a.max_step ? -a.max_step : step > a.max_step ? a.max_step : step) : 0.0);
  }
  if (a.thin == 0.0f) return;
  u32 median = 0;
  for (int bit = 31; bit >= 0; --bit) {
    const u32 trial = median | 1u << bit;
    int below = 0;
    for (int begin = 0; begin < K; begin += BLOCK) {
      const int k = begin + static_cast<int>(threadIdx.x);
      below += __syncthreads_count(k < K && ordered(values[k]) < trial);
    }
    if (below <= K / 2) median = trial;
  }
  const float middle = unordered(median);
  float largest = 0.0f;
  for (int k = threadIdx.x; k < K; k += BLOCK) {
    values[k] -= middle;
    largest = fmaxf(largest, fabsf(values[k]));
  }
  float* parts = reinterpret_cast<float*>(shared_bytes);  // (BLOCK / WARP,)
  largest = warp_max(largest);
  if (lane_id() == 0) parts[warp_id()] = largest;
  __syncthreads();
  for (int w = 0; w < WARPS; ++w) largest = fmaxf(largest, parts[w]);
  int n_filled = 0;
  for (int begin = 0; begin < K; begin += BLOCK) {
    const int k = begin + static_cast<int>(threadIdx.x);
    if (k < K && fabsf(values[k]) < a.thin * largest) values[k] = 0.0f;
    n_filled += __syncthreads_count(k < K && values[k] != 0.0f);
  }
  if (threadIdx.x == 0) a.counts[blockIdx.x] = n_filled;
}

struct LeafPairs {
  const float* values;  // (L, K)
  const int* n_leaves;
  const int* counts;  // (L,)
  int* ends;          // (L + 1,) where the pairs of a leaf begin
  int* pairs;         // (ends[L], 2) columns and the bits of the values
  int K, pad;
};

// The leaf values that are not zero, leaf by leaf, a block each: few numbers come to the host instead of many zeros.
extern "C" __global__ void __launch_bounds__(BLOCK) pack_leaves(const __grid_constant__ LeafPairs a) {
  const int leaf = static_cast<int>(blockIdx.x);
  if (leaf >= *a.n_leaves) return;
  int* sums = reinterpret_cast<int*>(shared_bytes);  // (WARPS,)
  int before = 0, start = 0;
  for (int i = threadIdx.x; i < leaf; i += BLOCK) before += a.counts[i];
  sum_before(before, sums, &start);
  if (threadIdx.x == 0) {
    if (leaf == 0) a.ends[0] = 0;
    a.ends[leaf + 1] = start + a.counts[leaf];
  }
  const float* values = a.values + static_cast<i64>(leaf) * a.K;
  for (int begin = 0; begin < a.K; begin += BLOCK) {
    const int k = begin + static_cast<int>(threadIdx.x);
    const float x = k < a.K ? values[k] : 0.0f;
    int total;
    const i64 place = 2 * static_cast<i64>(start + sum_before(x != 0.0f ? 1 : 0, sums, &total));
    if (x != 0.0f) a.pairs[place] = k, a.pairs[place + 1] = static_cast<int>(__float_as_uint(x));
    start += total;
  }
}

struct Update {
  float* F;             // (n, d)
  const float* values;  // (L, d)
  const int* leaf_of_row;
  const int* n_leaves;  // or null
  i64 n;
  int d;
  float step;
};

// F[i] += step * values[leaf of i]; a product and a sum, each rounded, as in the other engines. A warp has GROUP rows, a
// multiple of four, whose numbers lie one after another: every lane reads and writes four neighbours at once, whether or
// not they belong to the same row. (Eight lanes per row, one number each, reached 1 of 4.2 TB/s at 100 classes.) Whoever
// launches it before the tree is finished gives the number of leaves: a single leaf may turn out to say nothing.
extern "C" __global__ void __launch_bounds__(BLOCK) add_leaves(const __grid_constant__ Update a) {
  static_assert(GROUP % 4 == 0, "the numbers of a warp begin at a multiple of 16 bytes");
  if (a.n_leaves != nullptr && *a.n_leaves < 2) return;
  const u32 d = static_cast<u32>(a.d), lane = static_cast<u32>(lane_id());
  const i64 step = static_cast<i64>(gridDim.x) * WARPS * GROUP;
#pragma unroll 1
  for (i64 first = (static_cast<i64>(blockIdx.x) * WARPS + warp_id()) * GROUP; first < a.n; first += step) {
    const u32 n_rows = static_cast<u32>(smaller(static_cast<i64>(GROUP), a.n - first)), all = n_rows * d;
    const int leaf = lane < n_rows ? a.leaf_of_row[first + lane] : 0;
    float* F = a.F + first * d;
#pragma unroll 2
    for (u32 begin = 0; begin < all; begin += 4 * WARP) {  // all lanes, since they ask each other for leaves
      const u32 at = begin + 4 * lane, row = at / d, last = smaller(at + 3, all - 1) / d;
      const int own = __shfl_sync(ALL, leaf, static_cast<int>(row)), next = __shfl_sync(ALL, leaf, static_cast<int>(last));
      if (at >= all) continue;
      u32 k = at - row * d;
      if (at + 3 < all && last <= row + 1) {
        const float *here = a.values + static_cast<i64>(own) * d, *there = a.values + static_cast<i64>(next) * d - d;
        float4* place = reinterpret_cast<float4*>(F + at);
        float4 x = *place;
        x.x += a.step * (k < d ? here : there)[k];
        x.y += a.step * (k + 1 < d ? here : there)[k + 1];
        x.z += a.step * (k + 2 < d ? here : there)[k + 2];
        x.w += a.step * (k + 3 < d ? here : there)[k + 3];
        *place = x;
      } else {  // the end, or rows of one or two numbers
        for (u32 i = at; i < smaller(at + 4, all); ++i)
          F[i] += a.step * a.values[static_cast<i64>(a.leaf_of_row[first + i / d]) * d + i % d];
      }
    }
  }
}

struct Route {
  const u64* codes;
  const int* n_bins;
  const u8* has_missing;
  const u8* nodes;  // (N, 24), see trees/tree.hpp
  const u8* sets;   // (n_sets, 32)
  int* leaf_of_row;
  i64 n;
};

// The leaf of every row, found by its codes.
extern "C" __global__ void __launch_bounds__(BLOCK) route(const __grid_constant__ Route a) {
  const i64 stride = static_cast<i64>(gridDim.x) * BLOCK;
  for (i64 row = static_cast<i64>(blockIdx.x) * BLOCK + threadIdx.x; row < a.n; row += stride) {
    int at = 0;
    for (;;) {
      const u8* node = a.nodes + 24 * static_cast<i64>(at);
      const int f = *reinterpret_cast<const int*>(node + 8), left = *reinterpret_cast<const int*>(node + 12);
      if (f < 0) {
        a.leaf_of_row[row] = left;
        break;
      }
      const int code = static_cast<int>(a.codes[static_cast<i64>(f / TILE) * a.n + row] >> (8 * (f % TILE)) & 255u);
      const int category = *reinterpret_cast<const int*>(node + 20);
      bool goes_left;
      if (category >= 0) goes_left = (a.sets[32 * static_cast<i64>(category) + code / 8] >> (code % 8) & 1) != 0;
      else goes_left = a.has_missing[f] && code == a.n_bins[f] ? node[17] != 0 : code <= node[16];
      at = left + (goes_left ? 0 : 1);
    }
  }
}
