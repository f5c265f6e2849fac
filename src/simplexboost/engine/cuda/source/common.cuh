// What all kernels share: short names of types, sums over a warp, and the barrier of all blocks.
//
// The sources are compiled by NVRTC, without headers. tests/cuda_emulator compiles the same text for the processor; it
// then defines EMULATED and provides the functions of CUDA that are used here.

#ifndef EMULATED
extern __shared__ __align__(16) unsigned char shared_bytes[];
#define RELAX() __nanosleep(20)
#endif

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

constexpr u32 ALL = 0xffffffffu;  // the mask of a whole warp: every warp function is called by all of its lanes
constexpr int WARP = 32;
constexpr int BLOCK = 256;  // threads of a block
constexpr int TILE = 8;  // features of a block of codes: one 64-bit word per row

__device__ inline double minus_infinity() { return -__longlong_as_double(0x7ff0000000000000ll); }

template <class T>
__device__ inline T smaller(T a, T b) { return a < b ? a : b; }
template <class T>
__device__ inline T larger(T a, T b) { return a > b ? a : b; }

__device__ inline int lane_id() { return threadIdx.x & (WARP - 1); }
__device__ inline int warp_id() { return threadIdx.x / WARP; }
constexpr int WARPS = BLOCK / WARP;

template <class T>
__device__ inline T warp_sum(T x) {
  for (int step = WARP / 2; step > 0; step /= 2) x += __shfl_xor_sync(ALL, x, step);
  return x;
}
template <class T>
__device__ inline T warp_max(T x) {
  for (int step = WARP / 2; step > 0; step /= 2) x = larger(x, __shfl_xor_sync(ALL, x, step));
  return x;
}
template <class T>
__device__ inline T warp_min(T x) {
  for (int step = WARP / 2; step > 0; step /= 2) x = smaller(x, __shfl_xor_sync(ALL, x, step));
  return x;
}
// The sum of the lanes up to this one.
template <class T>
__device__ inline T warp_prefix(T x) {
  for (int step = 1; step < WARP; step *= 2) {
    const T below = __shfl_up_sync(ALL, x, step);
    if (lane_id() >= step) x += below;
  }
  return x;
}

__device__ inline void add_bits(u64* to, u64 x) { atomicAdd(to, x); }
__device__ inline void add_lane(int* to, int x) { atomicAdd(to, x); }
__device__ inline void add_lane(i64* to, i64 x) { atomicAdd(reinterpret_cast<u64*>(to), static_cast<u64>(x)); }

// A barrier of all blocks, which must all run at the same time (a cooperative launch sees to that).
struct Barrier {
  u32 arrived, generation;
};

// What is in memory now: the compiler must read it anew.
template <class T>
__device__ inline T seen(const T* x) { return *const_cast<const volatile T*>(x); }

// Waits for all blocks. Between the arrival of the others and their going on, the first block calls decide() with all of
// its threads, so that a decision that needs everything that was computed so far takes no barrier of its own. It is always
// the same block, since it then has its state in shared memory and its instructions in the cache.
template <class Decide>
__device__ inline void meet(Barrier* barrier, const Decide& decide) {
  __syncthreads();
  if (blockIdx.x != 0) {
    if (threadIdx.x == 0) {
      const u32 generation = seen(&barrier->generation);
      __threadfence();
      atomicAdd(&barrier->arrived, 1u);
      while (seen(&barrier->generation) == generation) RELAX();
      __threadfence();
    }
  } else {
    if (threadIdx.x == 0) {
      while (seen(&barrier->arrived) != gridDim.x - 1) RELAX();
      __threadfence();
    }
    __syncthreads();
    decide();
    __syncthreads();
    if (threadIdx.x == 0) {
      barrier->arrived = 0;
      __threadfence();
      atomicAdd(&barrier->generation, 1u);
    }
  }
  __syncthreads();
}

// Counters of finished tasks, for those who need the results of a few tasks only. By one thread each, after (and before)
// a barrier of the threads that share the task.
__device__ inline void task_done(int* counter) {
  __threadfence();
  atomicAdd(counter, 1);
}
__device__ inline void wait_for_tasks(const int* counter, int n) {
  while (seen(counter) < n) RELAX();
  __threadfence();
}

// The sum of the numbers of the threads before this one, and that of all. All threads call it; `sums` is room for a number
// of every warp in shared memory. (Not inlined: code that many places need should be in the cache of instructions once.)
__device__ __noinline__ int sum_before(int own, int* sums, int* total) {
  const int up_to = warp_prefix(own);
  if (lane_id() == WARP - 1) sums[warp_id()] = up_to;
  __syncthreads();
  int before = up_to - own, all = 0;
#pragma unroll
  for (int w = 0; w < WARPS; ++w) {
    const int of_warp = sums[w];
    if (w < warp_id()) before += of_warp;
    all += of_warp;
  }
  __syncthreads();
  *total = all;
  return before;
}

// out[0 .. n] = where n parts of these sizes begin; returns the total. Called by the whole block.
template <class Size>
__device__ inline int prefix(int n, int* out, int* sums, const Size& size) {
  int all = 0;
#pragma unroll 1
  for (int begin = 0; begin < n; begin += BLOCK) {
    const int i = begin + static_cast<int>(threadIdx.x);
    int total;
    const int before = sum_before(i < n ? size(i) : 0, sums, &total);
    if (i < n) out[i] = all + before;
    all += total;
  }
  if (threadIdx.x == 0) out[n] = all;
  __syncthreads();
  return all;
}

// ---- numbers as integers; see kernels/core/exact.hpp and kernels/trees/quantize.hpp ---------------------------------

constexpr double ROUND = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds a number below 2^51 to an integer

__device__ inline u64 rounded_bits(double x) {
  return static_cast<u64>(__double_as_longlong(x + ROUND)) - static_cast<u64>(__double_as_longlong(ROUND));
}

__device__ inline int clamped(int x) { return x < -1000 ? -1000 : x > 1000 ? 1000 : x; }

__device__ inline int exponent_of(double x) {
  int e = 0;
  frexp(x, &e);
  return e;
}

__device__ inline int bit_width(u64 n) { return n == 0 ? 0 : 64 - __clzll(static_cast<i64>(n)); }
__device__ inline int exact_width(u64 n) { return smaller(50, 62 - bit_width(n)); }

constexpr u64 GOLDEN = 0x9E3779B97F4A7C15ull;

__device__ inline u64 mixed_bits(u64 z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

__device__ inline double hashed_uniform(u64 seed, u64 row, u64 column) {
  return static_cast<double>(mixed_bits(seed + GOLDEN * (row * 1024 + column + 1)) >> 11) * 0x1.0p-53;
}
