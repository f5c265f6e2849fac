// Prediction: F += the values of all trees, tree after tree, in the precision of F; probabilities and winners of F.
//
// Macros: VALUE (float or double, the numbers of X), REAL (float or double, those of F).

#include "node.cuh"

constexpr int CHUNK_OF_TREES = 256;  // whose leaves a warp keeps in shared memory
constexpr double SMALLEST = 2.2250738585072014e-308;  // the smallest number that is stored with all digits

struct Forest {
  const VALUE* X;           // (n, p)
  const u8* nodes;          // the nodes of all trees, 24 bytes each; see kernels/trees/tree.hpp
  const i64* first_node;    // (T,)
  const u8* sets;           // the category sets of all trees, 32 bytes each
  const i64* first_set;     // (T,)
  const REAL* values;       // the values of all leaves, times the step of their tree
  const i64* first_value;   // (T,)
  const int* coordinate;    // (T,) the column of F that a tree adds to, -1 for all of them
  REAL* F;                  // (n, d)
  i64 n;
  int p, d, n_trees, pad;
};

__device__ inline int leaf_of(const Forest& a, int tree, const VALUE* x) {
  const u8 *nodes = a.nodes + 24 * a.first_node[tree], *sets = a.sets + 32 * a.first_set[tree];
  for (int at = 0;;) {
    const u8* node = nodes + 24 * static_cast<i64>(at);
    const int f = *reinterpret_cast<const int*>(node + 8), left = *reinterpret_cast<const int*>(node + 12);
    if (f < 0) return left;
    at = left + (goes_left(node, sets, static_cast<double>(x[f])) ? 0 : 1);
  }
}

// A warp has a row: its lanes walk through different trees, and then add up different columns in the order of the trees.
extern "C" __global__ void __launch_bounds__(BLOCK) predict(const __grid_constant__ Forest a) {
  int* leaves = reinterpret_cast<int*>(shared_bytes) + warp_id() * CHUNK_OF_TREES;
  const i64 stride = static_cast<i64>(gridDim.x) * WARPS;
  for (i64 row = static_cast<i64>(blockIdx.x) * WARPS + warp_id(); row < a.n; row += stride) {
    const VALUE* x = a.X + row * a.p;
    for (int first = 0; first < a.n_trees; first += CHUNK_OF_TREES) {
      const int count = smaller(static_cast<int>(CHUNK_OF_TREES), a.n_trees - first);
      for (int t = lane_id(); t < count; t += WARP) leaves[t] = leaf_of(a, first + t, x);
      __syncwarp();
      for (int k = lane_id(); k < a.d; k += WARP) {
        REAL sum = a.F[row * a.d + k];
#pragma unroll 4
        for (int t = 0; t < count; ++t) {
          const int only = a.coordinate[first + t];
          const REAL* values = a.values + a.first_value[first + t];
          if (only < 0) sum += values[static_cast<i64>(leaves[t]) * a.d + k];
          else if (only == k) sum += values[leaves[t]];
        }
        a.F[row * a.d + k] = sum;
      }
      __syncwarp();
    }
  }
}

struct Scores {
  const REAL* F;  // (n, K)
  double* P;      // (n, K), of `probabilities`
  int* best;      // (n,), of `winners`
  i64 n;
  int K, pad;
};

__device__ inline REAL highest(const REAL* F, int K) {
  REAL high = F[0];
  for (int k = lane_id(); k < K; k += WARP) high = larger(high, F[k]);
  return warp_max(high);
}

// P = softmax(F), a warp per row; exponentials in single precision, their sum and the quotient in double. What is too small
// for a number becomes the smallest one.
extern "C" __global__ void __launch_bounds__(BLOCK) probabilities(const __grid_constant__ Scores a) {
  const i64 stride = static_cast<i64>(gridDim.x) * WARPS;
  for (i64 row = static_cast<i64>(blockIdx.x) * WARPS + warp_id(); row < a.n; row += stride) {
    const REAL *F = a.F + row * a.K, high = highest(F, a.K);
    double total = 0.0;
    for (int k = lane_id(); k < a.K; k += WARP) total += static_cast<double>(expf(static_cast<float>(F[k] - high)));
    total = warp_sum(total);
    for (int k = lane_id(); k < a.K; k += WARP) {
      const double p = static_cast<double>(expf(static_cast<float>(F[k] - high))) / total;
      a.P[row * a.K + k] = larger(p, static_cast<double>(SMALLEST));
    }
  }
}

// The column of the largest number of every row, the first of equal ones; a warp per row.
extern "C" __global__ void __launch_bounds__(BLOCK) winners(const __grid_constant__ Scores a) {
  const i64 stride = static_cast<i64>(gridDim.x) * WARPS;
  for (i64 row = static_cast<i64>(blockIdx.x) * WARPS + warp_id(); row < a.n; row += stride) {
    const REAL *F = a.F + row * a.K, high = highest(F, a.K);
    int first = a.K;
    for (int k = a.K - 1 - lane_id(); k >= 0; k -= WARP) first = F[k] == high ? k : first;
    first = warp_min(first);
    if (lane_id() == 0) a.best[row] = first;
  }
}
