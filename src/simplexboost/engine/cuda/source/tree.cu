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
#include "score.cuh"

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

  // Its members, a file for each step of the list above.
#include "quantize.cuh"
#include "partition.cuh"
#include "histogram.cuh"
#include "search.cuh"
#include "categories.cuh"
#include "choose.cuh"
#include "finish.cuh"

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
