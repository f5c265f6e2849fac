// The constants and structures of the tree kernel; those that Python fills in are described in layout.py, too.

#ifndef BLOCKS_PER_PROCESSOR
#define BLOCKS_PER_PROCESSOR 3
#endif

constexpr int CHUNK = 4 * BLOCK;       // rows of a task of the partition
constexpr int MOST_WORKS = 512;        // nodes that are expanded together
constexpr int FINAL_ROWS = 256;        // rows of a warp's task at the end
constexpr double TOLERANCE = 1e-12;    // of ties between scores, and of gains
constexpr int AXIS_STEPS = 3;          // see kernels/trees/categories.hpp
enum { NEWTON = 0, NORM = 1, MAX = 2, SIGN = 3, ENTROPY = 4, GINI = 5 };
enum { LEVEL = 0, BEST = 1 };

typedef LANE Lane;

// With TRACE defined, the first two blocks (the one that plans, and one that works) write down the clock of their
// processors after every step.
#ifdef TRACE
__device__ i64 trace[2][4096];
__device__ int trace_size[2];
#define MARK(what)                                                                  \
  do {                                                                              \
    if (blockIdx.x < 2 && threadIdx.x == 0 && trace_size[blockIdx.x] < 2047) {      \
      trace[blockIdx.x][2 * trace_size[blockIdx.x]] = what;                         \
      trace[blockIdx.x][2 * trace_size[blockIdx.x] + 1] = clock64();                \
      ++trace_size[blockIdx.x];                                                     \
    }                                                                               \
  } while (0)
#else
#define MARK(what)
#endif

struct Cell {  // the rows of a node that may become part of the tree
  double gain;
  double path_gain;  // the least gain on the path from the root: what decides when the node is split
  u64 path;          // the turns that lead to it
  int begin, count;  // its rows
  int buffer;        // which of the two lists has them
  int parent;  // cell
  int depth;
  int slot;  // of its histogram; -1 if it has none
  int feature, left_count;
  int bin, missing_left, missing_seen, is_categorical;
  int leaf;  // of the tree, at the end, if its rows are in no other cell
  u8 set[32];
};

struct Work {  // an expansion: two cells to look at, one of which is built, and the other one follows by subtraction
  int parent;  // -1 at the root
  int small, large;  // cells
  int small_slot, large_slot;
  int need_small, need_large;
};

struct FeatureBest {
  double score;
  int at;  // bin or last place in the order of categories; + 256 if missing values go left; -1: no split
  int left_count;
};

struct Result {
  int n_nodes, n_leaves, n_sets, error;
};

struct OutNode {
  double threshold;
  int feature, left;
  u8 bin, missing_left, pad[2];
  int category;
};

struct State {
  Barrier barrier;
  int n_cells, n_works, finished, n_final, rows_per_task, spare;
};

struct Problem {
  const u64* codes;         // (n_tiles, n) words of eight codes
  const int* n_bins;        // (p,)
  const u8* has_missing;    // (p,)
  const u8* categorical;    // (p,)
  const int* features;      // (n_features,) ascending
  const int* tiles;         // (n_used_tiles,) tiles with a feature in use
  const int* tile_mask;     // (n_used_tiles,) which of their features
  const double* values;     // (n, m), or (n,) weights
  const int* classes;       // (n,), null if the statistics are dense
  const int* rows;          // (n_rows,) in use, ascending; null for all
  const double* leaf_values;  // (n, d), or null for the statistics
  const u32* groups;        // (n_groups, words) features that may be split together
  // work space
  State* state;
  double* maxima;           // (m,) largest |v|; the first m of m + d numbers, those of leaf_values behind
  u64* magnitudes;          // (m,)
  double* scale;            // (m,)
  double* inverse;          // (m,)
  double* unit;             // (m,)
  Lane* quantized;          // (n, m) or (n,)
  int* list[2];             // (n_rows,) rows by cell
  Cell* cells;              // (cell_capacity,)
  u32* used;                // (cell_capacity, words) features split above; null without constraints
  i64* totals;              // (cell_capacity, m + 1)
  Work* works;              // (MOST_WORKS,)
  int* cursors;             // (2 MOST_WORKS,) rows placed so far
  int* done;                // (2 MOST_WORKS,) features searched so far
  int* cut;                 // (MOST_WORKS,) tasks of `partition` that are finished
  int* built;               // (MOST_WORKS,) and of `build`
  int* first_cut;           // (MOST_WORKS + 1,) the first task of each work in `partition`
  int* first_built;         // (MOST_WORKS + 1,) and in `build`, for one unit
  FeatureBest* bests;       // (2 MOST_WORKS, n_features)
  u8* sets;                 // (2 MOST_WORKS, n_features, 32), null without categories
  Lane* histograms;         // (slot_capacity, slot_size)
  double* scratch;          // (warps, scratch_size) for categories
  u8* planning;             // memory of the planner; null if it has room for it in shared memory
  int* queue;               // (3, cell_capacity) for `split_many`
  int* first_task;          // (cell_capacity + 1,) of the last phase
  // results
  Result* result;
  OutNode* nodes;           // (nodes,)
  double* gains;            // (nodes,)
  i64* counts;              // (nodes,)
  u8* out_sets;             // (leaves, 32)
  int* leaf_begin;          // (cell_capacity,) where the rows of a leaf begin in `order`
  u64* limbs;               // (leaves, 2, d), zeros in the beginning
  int* order;               // (n_rows,) rows by leaf
  int* leaf_of_row;         // (n,), filled in for the rows in use
  i64 n;
  i64 slot_size;
  u64 seed;
  double l2, noise, smoothing;
  int p, m, d, n_rows, n_features, n_used_tiles, spare;
  int max_depth, max_leaves, min_samples, order_of_growth;
  int min_category_count;
  int cell_capacity, slot_capacity, scratch_size;
  int pass_features, pass_lanes;  // of a pass over the rows: what fits in shared memory
  int n_groups, most_features, words;
};

