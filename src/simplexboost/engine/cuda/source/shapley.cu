// Shapley values of a forest whose leaves hold vectors; the formulas are in kernels/explain/shapley.inl.
//
// A block has 32 rows and adds tree after tree, in three steps. It asks all questions of the tree: the answers of the rows
// to one of them are the bits of a word. It weighs the leaves: a warp has a leaf and a lane a row, and the weights of a
// leaf's features (its links) are written feature by feature. It adds weights times leaf values: a warp has a feature and
// some columns, a thread one column of some rows, whose sums stay in registers while the leaves pass. So nothing depends
// on which rows are explained together.
//
// Macros: VALUE (float or double, the numbers of X), REAL (that of the computation), COLUMNS (lanes of different columns,
// a power of two up to 32), PER (columns of a thread, 1 or 2), POINTS (of the longest rule).
#include "node.cuh"

constexpr int ROWS = WARP;  // of a block
// In `add` a thread has PER columns, COLUMNS apart, of EACH rows. Its sums and what it reads next are in registers, of
// which there are enough for three blocks on a processor: their warps are what hides the time that reading takes.
constexpr int EACH = COLUMNS < 16 ? COLUMNS : 16;
constexpr int HALVES = ROWS * COLUMNS / (WARP * EACH);  // tasks that share the rows of the block
constexpr int WIDTH = PER * COLUMNS;                    // columns of a warp
constexpr int PACK = EACH < 4 ? EACH : 4;               // weights that are read together
constexpr int AHEAD = 4;                                // leaves whose values are read together

struct Paths {
  const VALUE* X;           // (n, p)
  const u8* nodes;          // the nodes of all trees, 24 bytes each
  const u8* sets;           // the category sets of all trees, 32 bytes each
  const i64* first_set;     // (T,)
  const int* first_split;   // (T + 1,) where the questions of a tree begin
  const int* split;         // the node of a question
  const int* first_leaf;    // (T + 1,)
  const int* leaf_link;     // the first link of a leaf; the leaves of a tree are in the order of their lengths
  const int* leaf_length;   // the number of its links
  const i64* leaf_ratio;    // where its numbers in `ratio` begin
  const REAL* z;            // of a link: the part of the training rows that its question lets through
  const int* slot;          // of a link: where its weight stands among those of the tree
  const int* first_step;    // of a link: where its steps begin; one more at the end
  const int* steps;         // 2 question + (1 if the path goes right)
  const REAL* ratio;        // of a link: (1 - z) / (t + (1 - t) z) at the points t of the leaf's rule
  const int* first_used;    // (T + 1,) where the features of a tree begin
  const int* used;          // the feature
  const int* used_slot;     // the first slot of a feature, among those of all trees; one more at the end
  const int* slot_leaf;     // the leaf of a slot: a row of `values`
  const REAL* rules;        // (POINTS + 1, 4, POINTS) by the number of points: t, 1 - t, the weight, 1 / (1 - t)
  const REAL* values;       // (leaves, D)
  REAL* weights;            // of every block: (most_links, ROWS)
  u32* answers;             // of every block: (most_splits,)
  double* out;              // (n, p, D), zeros at first
  i64 n;
  int p, D, n_trees, most_links, most_splits, pad;
};

__device__ inline float fused(float a, float b, float c) { return fmaf(a, b, c); }
__device__ inline double fused(double a, double b, double c) { return fma(a, b, c); }

// answers[question] = the bits of the rows that go left
__device__ inline void ask(const Paths& a, int tree, i64 first, u32* answers) {
  const VALUE* x = a.X + smaller(first + lane_id(), a.n - 1) * a.p;
  const u8* sets = a.sets + 32 * a.first_set[tree];
  const int begin = a.first_split[tree], end = a.first_split[tree + 1];
  for (int s = begin + warp_id(); s < end; s += WARPS) {
    const u8* node = a.nodes + 24 * static_cast<i64>(a.split[s]);
    const int f = *reinterpret_cast<const int*>(node + 8);
    const u32 left = __ballot_sync(ALL, goes_left(node, sets, static_cast<double>(x[f])));
    if (lane_id() == 0) answers[s - begin] = left;
  }
}

// The bits of the rows that answer the question of a link with yes.
__device__ inline u32 answer(const Paths& a, int link, const u32* answers) {
  u32 yes = ALL;
  for (int i = a.first_step[link]; i < a.first_step[link + 1]; ++i) {
    const u32 left = answers[a.steps[i] >> 1];
    yes &= (a.steps[i] & 1) != 0 ? ~left : left;
  }
  return yes;
}

// The weights of a leaf with m links. If EXACT, its rule has MOST points, and their products are in registers.
template <int MOST, bool EXACT>
__device__ inline void weigh_leaf(const Paths& a, int leaf, int m, const u32* answers, REAL* weights) {
  const int Q = EXACT ? MOST : (m + 1) / 2, link = a.leaf_link[leaf];
  const REAL *at = a.rules + static_cast<i64>(Q) * 4 * POINTS, *rest = at + POINTS, *weight = rest + POINTS,
             *inverse_rest = weight + POINTS, *ratio = a.ratio + a.leaf_ratio[leaf];
  REAL G[MOST], no = 0;
  u64 yes = 0;  // a bit per link
#pragma unroll
  for (int q = 0; q < MOST; ++q)
    if (EXACT || q < Q) G[q] = weight[q];
  for (int j = 0; j < m; ++j) {
    const bool own = (answer(a, link + j, answers) >> lane_id() & 1) != 0;
    const REAL z = a.z[link + j];
    yes |= static_cast<u64>(own) << j;
#pragma unroll
    for (int q = 0; q < MOST; ++q)
      if (EXACT || q < Q) G[q] *= rest[q] * z + (own ? at[q] : REAL(0));
  }
#pragma unroll
  for (int q = 0; q < MOST; ++q)
    if (EXACT || q < Q) no -= G[q] * inverse_rest[q];
  for (int j = 0; j < m; ++j, ratio += Q) {
    REAL sum = 0;
#pragma unroll
    for (int q = 0; q < MOST; ++q)
      if (EXACT || q < Q) sum += G[q] * ratio[q];
    weights[a.slot[link + j] * ROWS + lane_id()] = (yes >> j & 1) != 0 ? sum : no;
  }
}

__device__ inline void weigh(const Paths& a, int tree, const u32* answers, REAL* weights) {
  for (int leaf = a.first_leaf[tree] + warp_id(); leaf < a.first_leaf[tree + 1]; leaf += WARPS) {
    const int m = a.leaf_length[leaf];
    switch ((m + 1) / 2) {
      case 0: break;  // a tree without splits
      case 1: weigh_leaf<1, true>(a, leaf, m, answers, weights); break;
      case 2: weigh_leaf<2, true>(a, leaf, m, answers, weights); break;
      case 3: weigh_leaf<3, true>(a, leaf, m, answers, weights); break;
      case 4: weigh_leaf<4, true>(a, leaf, m, answers, weights); break;
      case 5: weigh_leaf<5, true>(a, leaf, m, answers, weights); break;
      case 6: weigh_leaf<6, true>(a, leaf, m, answers, weights); break;
      default: weigh_leaf<POINTS, false>(a, leaf, m, answers, weights);
    }
  }
}

struct alignas(PACK * sizeof(REAL) < 16 ? PACK * sizeof(REAL) : 16) Pack {
  REAL of[PACK];
};

// out += the sums over the leaves of a tree, which are added in the precision of the computation
__device__ inline void add(const Paths& a, int tree, i64 first, const REAL* weights) {
  const int begin = a.first_used[tree], n_used = a.first_used[tree + 1] - begin, first_slot = a.used_slot[begin];
  const int layers = (a.D + WIDTH - 1) / WIDTH;
  const i64 stride = static_cast<i64>(a.p) * a.D;
  for (int task = warp_id(); task < n_used * layers * HALVES; task += WARPS) {
    const int u = begin + task / (layers * HALVES), k = task / HALVES % layers * WIDTH + lane_id() % COLUMNS;
    const int row = task % HALVES * EACH + lane_id() / COLUMNS * EACH, end = a.used_slot[u + 1];
    REAL sums[PER][EACH];
#pragma unroll
    for (int c = 0; c < PER; ++c)
#pragma unroll
      for (int e = 0; e < EACH; ++e) sums[c][e] = 0;
    for (int some = a.used_slot[u]; some < end; some += WARP) {  // slots whose leaves the lanes have read
      const int count = smaller(static_cast<int>(WARP), end - some);
      const int leaf = a.slot_leaf[smaller(some + lane_id(), end - 1)];
      for (int i = 0; i < count; i += AHEAD) {
        REAL value[AHEAD][PER];
#pragma unroll
        for (int j = 0; j < AHEAD; ++j) {
          const REAL* of_leaf = a.values + static_cast<i64>(__shfl_sync(ALL, leaf, (i + j) % WARP)) * a.D;
#pragma unroll
          for (int c = 0; c < PER; ++c) value[j][c] = of_leaf[smaller(k + c * COLUMNS, a.D - 1)];
        }
#pragma unroll
        for (int j = 0; j < AHEAD; ++j) {
          if (i + j >= count) break;
          const Pack* w = reinterpret_cast<const Pack*>(weights + (some + i + j - first_slot) * ROWS + row);
#pragma unroll
          for (int e = 0; e < EACH; e += PACK) {
            const Pack pack = w[e / PACK];
#pragma unroll
            for (int x = 0; x < PACK; ++x)
#pragma unroll
              for (int c = 0; c < PER; ++c) sums[c][e + x] = fused(pack.of[x], value[j][c], sums[c][e + x]);
          }
        }
      }
    }
    double* out = a.out + ((first + row) * a.p + a.used[u]) * a.D + k;
#pragma unroll
    for (int c = 0; c < PER; ++c)
#pragma unroll
      for (int e = 0; e < EACH; ++e)
        if (k + c * COLUMNS < a.D && first + row + e < a.n)
          out[e * stride + c * COLUMNS] += static_cast<double>(sums[c][e]);
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK, sizeof(REAL) == 4 ? 3 : 2) explain(const __grid_constant__ Paths a) {
  REAL* weights = a.weights + static_cast<i64>(blockIdx.x) * a.most_links * ROWS;
  u32* answers = a.answers + static_cast<i64>(blockIdx.x) * a.most_splits;
  const i64 stride = static_cast<i64>(gridDim.x) * ROWS;
  for (i64 first = static_cast<i64>(blockIdx.x) * ROWS; first < a.n; first += stride)
    for (int tree = 0; tree < a.n_trees; ++tree) {
      ask(a, tree, first, answers);
      __syncthreads();
      weigh(a, tree, answers, weights);
      __syncthreads();
      add(a, tree, first, weights);
    }
}

struct Sums {
  double* phi;          // (n, p, D)
  const double* total;  // (n, D)
  i64 n;
  int p, D;
};

// Makes the sums of phi over p the totals, as kernels/explain/rounding.hpp does; a thread has a row and a column.
extern "C" __global__ void __launch_bounds__(BLOCK) share_rounding(const __grid_constant__ Sums a) {
  const i64 stride = static_cast<i64>(gridDim.x) * BLOCK;
  for (i64 i = static_cast<i64>(blockIdx.x) * BLOCK + threadIdx.x; i < a.n * a.D; i += stride) {
    double* phi = a.phi + i / a.D * a.p * a.D + i % a.D;
    double missing = a.total[i], size = 0.0;
    for (int f = 0; f < a.p; ++f) {
      const double x = phi[static_cast<i64>(f) * a.D];
      missing -= x, size += fabs(x);
    }
    const double part = size > 0.0 ? missing / size : 0.0;
    for (int f = 0; f < a.p; ++f) phi[static_cast<i64>(f) * a.D] += fabs(phi[static_cast<i64>(f) * a.D]) * part;
  }
}
