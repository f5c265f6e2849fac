// Runs CUDA kernels on the processor, to test their logic where there is no GPU. Every thread of every block is a fiber
// with a stack of its own; fibers take turns, and one that waits (for a barrier, for its warp, for another block) lets
// the others go on. So atomics are plain operations, and a run is repeatable.
#pragma once
#define EMULATED

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

extern "C" void switch_fiber(void** save, void* load);
asm(R"(
.text
.globl switch_fiber
.type switch_fiber,@function
switch_fiber:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size switch_fiber,.-switch_fiber
)");

namespace emulated {

struct Warp {
  alignas(16) unsigned char slots[2][32][16];
  int arrived = 0, size = 0;
  unsigned generation = 0;
};
struct Block {
  std::vector<unsigned char> shared;
  int arrived = 0, size = 0, counted = 0, count = 0;
  const char* file = "";  // the barrier at which threads wait
  int line = 0;
  unsigned generation = 0;
  std::vector<Warp> warps;
};
struct Fiber {
  void* stack_pointer = nullptr;
  std::unique_ptr<unsigned char[]> stack;
  unsigned thread = 0, block = 0;
  Block* of = nullptr;
  bool done = false;
};

inline std::vector<Fiber> fibers;
inline std::vector<Block> blocks;
inline Fiber* current = nullptr;
inline void* scheduler = nullptr;
inline std::function<void()> body;
inline unsigned n_blocks = 0, n_threads = 0;

inline void yield() { switch_fiber(&current->stack_pointer, scheduler); }

inline void enter() {
  body();
  current->done = true;
  yield();
  std::abort();
}

inline unsigned layer = 0;

// A warp goes on for as long as its lanes only wait for each other, so that it is as far ahead of other warps as
// barriers let it be; false if it is done.
inline bool run_warp(std::size_t first) {
  bool any = false;
  for (bool goes_on = true; goes_on;) {
    const Warp& w = fibers[first].of->warps[fibers[first].thread / 32];
    const unsigned before = w.generation;
    for (std::size_t i = first; i < first + 32; ++i) {
      if (fibers[i].done) continue;
      any = true;
      current = &fibers[i];
      switch_fiber(&scheduler, current->stack_pointer);
    }
    goes_on = w.generation != before;
  }
  return any;
}

inline void launch(unsigned grid, unsigned block, std::size_t shared, std::function<void()> what, unsigned layers = 1) {
  if (layers > 1) {  // blocks with different blockIdx.y one after another
    for (unsigned y = 0; y < layers; ++y) launch(grid, block, shared, [&, y] { what(); }, 1), layer = y + 1;
    layer = 0;
    return;
  }
  constexpr std::size_t stack_size = 1 << 16;
  n_blocks = grid, n_threads = block, body = std::move(what);
  blocks.assign(grid, Block{});
  for (auto& b : blocks) {
    b.shared.assign(shared + 16, 0xAB);  // rubbish, as on the device
    b.size = static_cast<int>(block);
    b.warps.resize(block / 32);
    for (auto& w : b.warps) w.size = 32;
  }
  fibers.resize(static_cast<std::size_t>(grid) * block);
  for (std::size_t i = 0; i < fibers.size(); ++i) {
    Fiber& f = fibers[i];
    if (!f.stack) f.stack.reset(new unsigned char[stack_size]);
    f.thread = static_cast<unsigned>(i % block), f.block = static_cast<unsigned>(i / block);
    f.of = &blocks[f.block];
    f.done = false;
    auto top = reinterpret_cast<std::uintptr_t>(f.stack.get() + stack_size) & ~std::uintptr_t{15};
    auto* sp = reinterpret_cast<void**>(top);
    *--sp = nullptr;                               // so that the stack is aligned as after a call
    *--sp = reinterpret_cast<void*>(&enter);       // where the first switch returns to
    for (int r = 0; r < 6; ++r) *--sp = nullptr;   // the registers
    f.stack_pointer = sp;
  }
  for (bool any = true; any;) {
    any = false;
    for (std::size_t first = 0; first < fibers.size(); first += 32) any = run_warp(first) || any;
  }
}

// All threads of a block must wait at the same barrier: if some have gone another way, the order of writes and reads is
// left to chance on a GPU, even where their numbers of barriers are equal.
inline void sync_block(const char* file, int line) {
  Block& b = *current->of;
  const unsigned generation = b.generation;
  if (b.arrived == 0) b.file = file, b.line = line;
  if (b.line != line || std::strcmp(b.file, file) != 0) {
    std::fprintf(stderr, "threads of a block wait at different barriers: %s:%d and %s:%d\n", b.file, b.line, file, line);
    std::abort();
  }
  if (++b.arrived == b.size) {
    b.arrived = 0, ++b.generation;
    b.counted = b.count, b.count = 0;
  }
  while (b.generation == generation) yield();
}

inline Warp& warp() { return current->of->warps[current->thread / 32]; }

// All lanes of a warp put down a value, and read that of lane `from(lane)` when all have.
template <class T, class From>
T exchange(T value, const From& from) {
  static_assert(sizeof(T) <= 16);
  Warp& w = warp();
  const unsigned generation = w.generation, lane = current->thread % 32;
  auto& slots = w.slots[generation & 1];
  std::memcpy(slots[lane], &value, sizeof(T));
  if (++w.arrived == w.size) w.arrived = 0, ++w.generation;
  while (w.generation == generation) yield();
  T out;
  std::memcpy(&out, slots[from(lane)], sizeof(T));
  return out;
}

struct Index {
  unsigned (*get)();
  operator unsigned() const { return get(); }
};
struct Three {
  Index x, y = {[] { return layer; }};
};
inline Three thread_index{{[] { return current->thread; }}}, block_index{{[] { return current->block; }}},
    block_size{{[] { return n_threads; }}}, grid_size{{[] { return n_blocks; }}};

}  // namespace emulated

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __noinline__
#define __grid_constant__
#define __launch_bounds__(...)
#define __restrict__
#define __align__(n)
#define threadIdx emulated::thread_index
#define blockIdx emulated::block_index
#define blockDim emulated::block_size
#define gridDim emulated::grid_size
#define shared_bytes (reinterpret_cast<unsigned char*>((reinterpret_cast<std::uintptr_t>(emulated::current->of->shared.data()) + 15) & ~std::uintptr_t{15}))
#define RELAX() emulated::yield()

inline void __syncthreads(const char* file = __builtin_FILE(), int line = __builtin_LINE()) { emulated::sync_block(file, line); }
inline void __syncwarp(unsigned = 0) { emulated::exchange(0, [](unsigned lane) { return lane; }); }
inline int __syncthreads_count(int x, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  emulated::current->of->count += x != 0;
  emulated::sync_block(file, line);
  const int out = emulated::current->of->counted;
  emulated::sync_block(file, line);
  return out;
}
inline void __threadfence() {}
template <class T>
T __shfl_sync(unsigned, T x, int from) { return emulated::exchange(x, [=](unsigned) { return unsigned(from) & 31u; }); }
template <class T>
T __shfl_xor_sync(unsigned, T x, int with) { return emulated::exchange(x, [=](unsigned lane) { return lane ^ unsigned(with); }); }
template <class T>
T __shfl_up_sync(unsigned, T x, int by) {
  return emulated::exchange(x, [=](unsigned lane) { return lane >= unsigned(by) ? lane - unsigned(by) : lane; });
}
inline unsigned __ballot_sync(unsigned, int x) {
  unsigned bits = (x != 0 ? 1u : 0u) << (emulated::current->thread % 32);
  for (int step = 16; step > 0; step /= 2) bits |= __shfl_xor_sync(~0u, bits, step);
  return bits;
}
inline bool __any_sync(unsigned m, int x) { return __ballot_sync(m, x) != 0; }
inline bool __all_sync(unsigned m, int x) { return __ballot_sync(m, x) == ~0u; }
template <class T>
T atomicAdd(T* p, T x) {
  const T old = *p;
  *p = static_cast<T>(old + x);
  return old;
}
template <class T>
T atomicMin(T* p, T x) {
  const T old = *p;
  if (x < old) *p = x;
  return old;
}
template <class T>
T atomicMax(T* p, T x) {
  const T old = *p;
  if (x > old) *p = x;
  return old;
}
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x)); }
inline long long __double_as_longlong(double x) { long long y; std::memcpy(&y, &x, 8); return y; }
inline double __longlong_as_double(long long x) { double y; std::memcpy(&y, &x, 8); return y; }
inline unsigned __float_as_uint(float x) { unsigned y; std::memcpy(&y, &x, 4); return y; }
inline float __uint_as_float(unsigned x) { float y; std::memcpy(&y, &x, 4); return y; }
struct alignas(16) float4 {
  float x, y, z, w;
};
using std::frexp;
using std::ldexp;
