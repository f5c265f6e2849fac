// Planning, by the first block alone: which nodes are expanded next, and in the end which of them are the tree.
//
// Every step waits for the plan, so what counts is the length of the chain of dependent reads. The planner therefore
// takes no part in the work, keeps its lists in shared memory from step to step (a read from the memory of the device
// takes 700 cycles, one from shared memory 30), and reads the cells twice per step only: what was found in the new ones,
// and the rows of those that are expanded. On an H200 the former version, which worked in the memory of the device, took
// 40 000 to 170 000 cycles per step.
//
// Best first. A node is split after all those whose least gain on the path from the root (`path_gain`) is larger than its
// own. With room for `most` splits, only those with the `most` largest path gains can be in the tree; whatever is not
// among them is dropped with all that would come below it. The list of those that are left is kept in descending order.
// Equal numbers are kept, and `settle` decides about them. Whatever lies below a node of small gain has its path gain or
// less, so the equal ones can be hundreds; if there are many, or if the memory for cells runs short, the exact order of
// what is known so far tells which of them may stay (`keep_popped`).

struct Planner {
  const Problem& P;
  int* sums;  // (warps,) shared
  // Kept from step to step. The cells made by expansion i are 2 i + 1 and 2 i + 2.
  double* gain;  // (n_listed,) path gains of the splits that may be part of the tree
  int* cell;     // (n_listed,) and their cells
  int* link;     // (cells,) the left child, or NONE, or FIRST_SLOT - slot: it waits, with its histogram in that slot
  int* parent;   // (expansions,)
  int* free_slots;
  int *n_free, *n_listed, *n_expanded, *n_new;  // n_new: cells that were made in the last step
  // Used within a step.
  double* fresh_gain;  // (2 MOST_WORKS,) what was found in the last step
  int* fresh_cell;     // (2 MOST_WORKS,)
  int *build_rows, *cut_rows;  // (MOST_WORKS,)

  enum { NONE = -1, FIRST_SLOT = -2, FEW = 2 * MOST_WORKS, MANY_EQUAL = 16, RESERVE = 16 };

  // The memory; layout.py computes the same size.
  __device__ Planner(const Problem& problem, u8* room, int* sums) : P(problem), sums(sums) {
    u8* at = P.planning == nullptr ? room : P.planning;
    const int cells = P.cell_capacity;
    gain = reinterpret_cast<double*>(at);
    fresh_gain = gain + cells;
    cell = reinterpret_cast<int*>(fresh_gain + FEW);
    link = cell + cells;
    parent = link + cells;
    fresh_cell = parent + cells / 2 + 1;
    build_rows = fresh_cell + FEW;
    cut_rows = build_rows + MOST_WORKS;
    n_free = cut_rows + MOST_WORKS;
    n_listed = n_free + 1, n_expanded = n_free + 2, n_new = n_free + 3;
    free_slots = n_free + 4;
  }

  __device__ int most_splits() const { return P.max_leaves == 0 ? 0x7fffffff : P.max_leaves - 1; }
  __device__ bool ranked() const { return P.order_of_growth == BEST && P.max_leaves > 0; }
  __device__ bool may_split(int depth, int count) const {
    return (P.max_depth == 0 || depth < P.max_depth) && count / 2 >= P.min_samples;
  }
  __device__ int n_cells() const { return 1 + 2 * *n_expanded; }

  // ---- the root ------------------------------------------------------------------------------------------------------

  __device__ __noinline__ void begin() const {
#pragma unroll 1
    for (int i = threadIdx.x; i < P.slot_capacity; i += BLOCK) free_slots[i] = P.slot_capacity - 1 - i;
#pragma unroll 1
    for (int i = threadIdx.x; i < 2 * MOST_WORKS; i += BLOCK) P.done[i] = 0;
    if (P.used != nullptr)
#pragma unroll 1
      for (int w = threadIdx.x; w < P.words; w += BLOCK) P.used[w] = 0;
    if (threadIdx.x == 0) {
      *n_free = P.slot_capacity - 1, *n_listed = *n_expanded = 0, *n_new = 1;
      Cell& root = P.cells[0];
      root.begin = 0, root.count = P.n_rows, root.buffer = 0, root.parent = -1, root.depth = 0;
      root.slot = 0, root.feature = -1, root.path = 1;
      const bool need = may_split(0, P.n_rows);
      P.works[0] = {-1, 0, 0, 0, 0, need, 0};
      P.cut[0] = P.built[0] = 0;
      link[0] = NONE;
      build_rows[0] = need ? P.n_rows : 0, cut_rows[0] = 0;
    }
    __syncthreads();
    hand_out(1);
  }

  // ---- a step --------------------------------------------------------------------------------------------------------

  __device__ __noinline__ void step() const {
    const int n_fresh = collect(), n_before = *n_listed;
    if (ranked()) merge(n_before, n_fresh);
    else append(n_before, n_fresh);
    __syncthreads();
    const int n_equal = drop(n_before + n_fresh);  // beyond those that the tree has room for
    __syncthreads();
    const bool in_order = ranked() && (n_equal > MANY_EQUAL || n_room() < n_needed() + RESERVE);
    int n_waiting = 0;
    int* splits = nullptr;
    const int n_splits = in_order ? keep_popped(splits) : 0;
    const int n_works = in_order ? pick_popped(splits, n_splits, n_waiting) : pick(n_waiting);
    expand(n_works);
    if (n_works > 0) {
      hand_out(n_works);
    } else {
      if (threadIdx.x == 0) P.state->finished = 1, P.state->n_final = 0, P.result->error = n_waiting > 0;
      if (n_waiting == 0) settle();
    }
  }

  // A level of a symmetric tree: its n cells from the first on are expanded together, or with n = 0 the tree is finished.
  __device__ void step_level(int first, int n) const {
#pragma unroll 1
    for (int i = threadIdx.x; i < n; i += BLOCK) {
      const Cell& of = P.cells[first + i];
      link[first + i] = FIRST_SLOT - of.slot, fresh_cell[i] = first + i, build_rows[i] = of.depth + 1 < P.max_depth;
    }
    __syncthreads();
    expand(n);
    if (n > 0) {
      hand_out(n);
    } else {
      if (threadIdx.x == 0) P.state->finished = 1, P.result->error = 0;
      settle();
    }
  }

  __device__ void free_slot(int slot) const { free_slots[atomicAdd(n_free, 1)] = slot; }

  // The new cells with a split, in their order; the others give back their histograms.
  __device__ int collect() const {
    const int n = *n_new, first = n_cells() - n;
    int n_fresh = 0;
    for (int begin = 0; begin < n; begin += BLOCK) {
      const int c = first + begin + static_cast<int>(threadIdx.x);
      bool found = false;
      double path_gain = 0.0;
      if (c < first + n) {
        const Cell& of = P.cells[c];
        const int slot = of.slot;
        path_gain = of.path_gain;
        found = of.feature >= 0;
        link[c] = found ? FIRST_SLOT - slot : NONE;
        if (!found) free_slot(slot);
      }
      int total;
      const int place = n_fresh + sum_before(found ? 1 : 0, sums, &total);
      if (found) fresh_gain[place] = path_gain, fresh_cell[place] = c;
      n_fresh += total;
    }
    __syncthreads();
    return n_fresh;
  }

  __device__ void append(int n_before, int n_fresh) const {
#pragma unroll 1
    for (int i = threadIdx.x; i < n_fresh; i += BLOCK) cell[n_before + i] = fresh_cell[i], gain[n_before + i] = fresh_gain[i];
  }

  // How many of a descending list are larger than x, or at least x.
  __device__ static int n_larger(const double* list, int n, double x, bool or_equal) {
    int low = 0, high = n;
    while (low < high) {
      const int middle = (low + high) / 2;
      if (list[middle] > x || (or_equal && list[middle] == x)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // The place of number j among n numbers in descending order; of equal ones the first comes first.
  __device__ static int rank_among(const double* list, int n, int j) {
    const double own = list[j];
    int rank = 0;
#pragma unroll 4
    for (int i = 0; i < n; ++i) rank += list[i] > own || (list[i] == own && i < j);
    return rank;
  }

  // Sorts what is new into the list. The places of all entries are known before any is moved, and those of the list only
  // move backwards, so it is moved in place, its end first.
  __device__ void merge(int n_before, int n_fresh) const {
    constexpr int EACH = FEW / BLOCK;
    double of[EACH];
    int place[EACH], number[EACH];
#pragma unroll
    for (int k = 0; k < EACH; ++k) {
      const int j = k * BLOCK + static_cast<int>(threadIdx.x);
      place[k] = -1, of[k] = 0.0, number[k] = 0;
      if (j < n_fresh) of[k] = fresh_gain[j], number[k] = fresh_cell[j], place[k] = rank_among(fresh_gain, n_fresh, j);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < EACH; ++k)
      if (place[k] >= 0) {
        fresh_gain[place[k]] = of[k];
        place[k] += n_larger(gain, n_before, of[k], true);
      }
    __syncthreads();
    for (int begin = (n_before - 1) / BLOCK * BLOCK; begin >= 0 && n_before > 0; begin -= BLOCK) {
      const int from = begin + static_cast<int>(threadIdx.x);
      double own = 0.0;
      int of_own = 0, to = 0;
      if (from < n_before) own = gain[from], of_own = cell[from], to = from + n_larger(fresh_gain, n_fresh, own, false);
      __syncthreads();
      if (from < n_before) gain[to] = own, cell[to] = of_own;
      __syncthreads();
    }
#pragma unroll
    for (int k = 0; k < EACH; ++k)
      if (place[k] >= 0) gain[place[k]] = of[k], cell[place[k]] = number[k];
  }

  // For how many expansions there is memory.
  __device__ int n_room() const { return P.cell_capacity / 2 - 1 - *n_expanded; }

  // How many the tree takes at most, one at a time in its order.
  __device__ int n_needed() const { return smaller(most_splits(), P.n_rows / P.min_samples); }

  // Cuts off what cannot be in the tree, now that n splits are listed; returns by how many too many are left.
  __device__ int drop(int n) const {
    const int most = most_splits();
    int keep = n;
    if (ranked() && n > most) keep = most == 0 ? 0 : n_larger(gain, n, gain[most - 1], true);
#pragma unroll 1
    for (int e = keep + static_cast<int>(threadIdx.x); e < n; e += BLOCK) {
      const int c = cell[e];
      if (link[c] <= FIRST_SLOT) free_slot(FIRST_SLOT - link[c]), link[c] = NONE;
    }
    if (threadIdx.x == 0) *n_listed = keep;
    return keep - smaller(n, most);
  }

  // Splits the nodes in their exact order, as if those that wait had no children; whatever is not split within the limit
  // then never will be, since nodes that are still to be found only come in between. It is dropped from the list. Returns
  // the number of the splits, and them in their order. (This takes 20 us for 254 splits on an H200.)
  __device__ __noinline__ int keep_popped(int*& splits) const {
    const int n_splits = split_in_order(splits), n = *n_listed;
    int* stays = reinterpret_cast<int*>(gain);  // (cells,); the path gains are read again below
#pragma unroll 1
    for (int c = threadIdx.x; c < n_cells(); c += BLOCK) stays[c] = 0;
    __syncthreads();
#pragma unroll 1
    for (int i = threadIdx.x; i < n_splits; i += BLOCK) stays[splits[i]] = 1;
    __syncthreads();
    int n_left = 0;
    for (int begin = 0; begin < n; begin += BLOCK) {
      const int e = begin + static_cast<int>(threadIdx.x), c = e < n ? cell[e] : 0;
      const bool keep = e < n && stays[c] != 0;
      int total;
      const int place = n_left + sum_before(keep ? 1 : 0, sums, &total);
      if (keep) cell[place] = c;
      else if (e < n && link[c] <= FIRST_SLOT) free_slot(FIRST_SLOT - link[c]), link[c] = NONE;
      n_left += total;
    }
    __syncthreads();
#pragma unroll 1
    for (int e = threadIdx.x; e < n_left; e += BLOCK) gain[e] = P.cells[cell[e]].path_gain;
    if (threadIdx.x == 0) *n_listed = n_left;
    __syncthreads();
    return n_splits;
  }

  // `pick` from the splits in their exact order. The first one that waits is certainly part of the tree, so that going on
  // with one at a time never takes more expansions than the tree has splits; more are taken together as long as so many
  // are left over.
  __device__ int pick_popped(const int* splits, int n_splits, int& n_waiting) const {
    const int most = most_splits(), room = n_room();
    int taken = 0, space = 0;
    for (int begin = 0; begin < n_splits; begin += BLOCK) {
      const int i = begin + static_cast<int>(threadIdx.x), c = i < n_splits ? splits[i] : 0;
      const bool waits = i < n_splits && link[c] <= FIRST_SLOT;
      int total;
      const int place = taken + sum_before(waits ? 1 : 0, sums, &total);
      if (taken == 0 && total > 0) {
        if (waits && place == 0) sums[0] = i;
        __syncthreads();
        space = smaller(smaller(static_cast<int>(MOST_WORKS), *n_free), smaller(room, larger(1, room - (n_needed() - sums[0]) + 1)));
        __syncthreads();
      }
      if (waits && place < space) fresh_cell[place] = c, build_rows[place] = i + 1 < most;
      taken += total;
    }
    n_waiting = taken;
    __syncthreads();
    return larger(0, smaller(taken, space));
  }

  // Which cells are expanded now: fresh_cell, with build_rows as a mark whether their children may be split in turn.
  // All that wait, as far as memory allows.
  __device__ int pick(int& n_waiting) const {
    const int most = most_splits(), n = *n_listed, n_done = *n_expanded;
    const int space = smaller(smaller(static_cast<int>(MOST_WORKS), *n_free), n_room() - (ranked() ? n_needed() : 0));
    int taken = 0;
    for (int begin = 0; begin < n; begin += BLOCK) {
      const int e = begin + static_cast<int>(threadIdx.x);
      const bool waits = e < n && link[cell[e]] <= FIRST_SLOT;
      int total;
      const int place = taken + sum_before(waits ? 1 : 0, sums, &total);
      int before = 0;  // splits that certainly come before
      if (P.order_of_growth == LEVEL) before = n_done + place;
      else if (waits && ranked())
        for (before = e; before > 0 && gain[before - 1] == gain[e];) --before;
      if (waits && place < space && before < most) fresh_cell[place] = cell[e], build_rows[place] = before + 1 < most;
      taken += total;
    }
    if (P.order_of_growth == LEVEL) taken = larger(0, smaller(taken, most - n_done));
    n_waiting = taken;
    __syncthreads();
    return larger(0, smaller(taken, space));
  }

  __device__ void expand(int n_works) const {
    const int first = n_cells(), last_free = *n_free - 1, n_done = *n_expanded;
    __syncthreads();
#pragma unroll 1
    for (int i = threadIdx.x; i < n_works; i += BLOCK) {
      const int c = fresh_cell[i], left = first + 2 * i, small_slot = free_slots[last_free - i], large_slot = FIRST_SLOT - link[c];
      const bool go_on = build_rows[i] != 0;
      const Cell& of = P.cells[c];
      const int n_left = of.left_count, count = of.count, begin = of.begin, depth = of.depth + 1, buffer = 1 - of.buffer;
      const u64 path = 2 * of.path;
      const bool left_small = n_left <= count - n_left;
      for (int right = 0; right < 2; ++right) {
        Cell& child = P.cells[left + right];
        child.begin = begin + (right ? n_left : 0), child.count = right ? count - n_left : n_left;
        child.buffer = buffer, child.parent = c, child.depth = depth, child.path = path + static_cast<u64>(right);
        child.feature = -1;
        child.slot = (right == 0) == left_small ? small_slot : large_slot;
        link[left + right] = NONE;
      }
      const int small = left_small ? left : left + 1, rows = smaller(n_left, count - n_left);
      // All nodes of a symmetric tree have histograms, even those without rows.
      const bool need_small = go_on && (SYMMETRIC || may_split(depth, rows));
      const bool need_large = go_on && (SYMMETRIC || may_split(depth, count - rows));
      P.works[i] = {c, small, left_small ? left + 1 : left, small_slot, large_slot, need_small, need_large};
      P.cursors[2 * i] = P.cursors[2 * i + 1] = P.cut[i] = P.built[i] = 0;
      link[c] = left, parent[n_done + i] = c;
      build_rows[i] = need_small || need_large ? larger(rows, SYMMETRIC) : 0, cut_rows[i] = count;
      if (P.used != nullptr) write_used(c, left, of.feature);
    }
    __syncthreads();
    if (threadIdx.x == 0) *n_free = last_free + 1 - n_works, *n_expanded = n_done + n_works, *n_new = 2 * n_works;
    __syncthreads();
  }

  __device__ void write_used(int c, int left, int feature) const {
    for (int w = 0; w < P.words; ++w) {
      const u32 used = P.used[static_cast<i64>(c) * P.words + w] | (w == feature / 32 ? 1u << (feature % 32) : 0u);
      P.used[static_cast<i64>(left) * P.words + w] = P.used[static_cast<i64>(left + 1) * P.words + w] = used;
    }
  }

  // Cuts the works into tasks for the other blocks. In `build` a task has so many rows that every block gets a few tasks,
  // and that clearing and adding up the histogram is little work compared with them.
  __device__ void hand_out(int n_works) const {
    const int workers = static_cast<int>(gridDim.x) - 1;
    const int units = P.n_used_tiles * (TILE / P.pass_features) * ((P.m + P.pass_lanes) / P.pass_lanes);
    prefix(n_works, P.first_cut, sums, [&](int i) { return (cut_rows[i] + CHUNK - 1) / CHUNK; });
    const int all = prefix(n_works, P.first_built, sums, [&](int i) { return build_rows[i]; });
    const i64 share = smaller((static_cast<i64>(all) * units + 2 * workers - 1) / (2 * workers), static_cast<i64>(all));
    const int size = larger(4 * BLOCK, static_cast<int>((share + BLOCK - 1) / BLOCK * BLOCK));
    prefix(n_works, P.first_built, sums, [&](int i) { return (build_rows[i] + size - 1) / size; });
    if (threadIdx.x == 0) P.state->rows_per_task = size, P.state->n_works = n_works;
  }

  // ---- the tree ------------------------------------------------------------------------------------------------------

  // Numbers the nodes in the order in which they come into being: split i of `splits` makes nodes 2 i + 1 and 2 i + 2.
  __device__ __noinline__ void settle() const {
    int* splits = parent;  // level by level, cells are made in this order
    const int n_splits = P.order_of_growth == BEST ? split_in_order(splits) : *n_expanded;
    __syncthreads();
    int* split_of = cell;                              // (cells,) the number of its split, or NONE
    int* leaf_of = reinterpret_cast<int*>(gain);       // (cells,) the number of its leaf, or NONE
#pragma unroll 1
    for (int c = threadIdx.x; c < n_cells(); c += BLOCK) split_of[c] = leaf_of[c] = NONE;
    __syncthreads();
#pragma unroll 1
    for (int i = threadIdx.x; i < n_splits; i += BLOCK) split_of[splits[i]] = i;
    __syncthreads();
    write_nodes(splits, n_splits, split_of, leaf_of);
    write_sets(splits, n_splits, split_of);
    find_final_rows(leaf_of);
  }

  // The splits best first, and their number. What is in `gain`, `fresh_gain` and `fresh_cell` is lost.
  __device__ int split_in_order(int*& splits) const {
    splits = reinterpret_cast<int*>(fresh_gain);
    const int n_splits = *n_listed <= FEW ? split_few(splits) : -1;
    if (n_splits >= 0) return n_splits;
    splits = P.queue;
    return split_many();
  }

  // The order of splits if gains differ and are few; -1 if there are equal ones. A bit for every split that waits, in the
  // order of gains: one word per lane of the first warp, so that the best one is found in about a hundred cycles.
  __device__ int split_few(int* splits) const {
    constexpr int EACH = FEW / BLOCK;
    const int n = *n_listed;
    int* rank_of = reinterpret_cast<int*>(gain);  // (cells,)
    int* cell_of = rank_of + P.cell_capacity;     // (n,)
    u32* kids = reinterpret_cast<u32*>(fresh_cell);  // (n,) the ranks of the two children
#pragma unroll 1
    for (int e = threadIdx.x; e < n; e += BLOCK) fresh_gain[e] = P.cells[cell[e]].gain;
#pragma unroll 1
    for (int c = threadIdx.x; c < n_cells(); c += BLOCK) rank_of[c] = NONE;
    __syncthreads();
    int rank[EACH];
    bool tie = false;
#pragma unroll
    for (int k = 0; k < EACH; ++k) {
      const int e = k * BLOCK + static_cast<int>(threadIdx.x);
      rank[k] = NONE;
      if (e >= n) continue;
      const double own = fresh_gain[e];
      int larger_ones = 0, equal_ones = 0;
#pragma unroll 4
      for (int i = 0; i < n; ++i) larger_ones += fresh_gain[i] > own, equal_ones += fresh_gain[i] == own;
      rank[k] = larger_ones, tie = tie || equal_ones > 1;
    }
    if (__syncthreads_count(tie) > 0) return -1;
#pragma unroll
    for (int k = 0; k < EACH; ++k)
      if (rank[k] >= 0) {
        const int c = cell[k * BLOCK + static_cast<int>(threadIdx.x)];
        rank_of[c] = rank[k], cell_of[rank[k]] = c;
      }
    __syncthreads();
#pragma unroll 1
    for (int r = threadIdx.x; r < n; r += BLOCK) {
      const int left = link[cell_of[r]];
      kids[r] = left < 0 ? 0xffffffffu : (static_cast<u32>(rank_of[left]) & 0xffffu) | static_cast<u32>(rank_of[left + 1]) << 16;
    }
    __syncthreads();
    if (warp_id() == 0) {
      const int n_splits = pop_in_order(kids, rank_of[0], splits);
      if (lane_id() == 0) sums[0] = n_splits;
    }
    __syncthreads();
    const int n_splits = sums[0];
#pragma unroll 1
    for (int i = threadIdx.x; i < n_splits; i += BLOCK) splits[i] = cell_of[splits[i]];
    __syncthreads();
    return n_splits;
  }

  __device__ int pop_in_order(const u32* kids, int root, int* ranks) const {
    const int most = most_splits();
    const u32 lane = static_cast<u32>(lane_id());
    u32 waits = root >= 0 && root / WARP == lane_id() ? 1u << (root % WARP) : 0u;
    int n = 0;
    for (; n < most; ++n) {
      const u32 lanes = __ballot_sync(ALL, waits != 0);
      if (lanes == 0) break;
      const int at = __ffs(static_cast<int>(lanes)) - 1;
      const int best = at * WARP + __ffs(static_cast<int>(__shfl_sync(ALL, waits, at))) - 1;
      const u32 both = kids[best], left = both & 0xffffu, right = both >> 16;
      if (lane_id() == at) waits &= waits - 1;
      if (left / WARP == lane) waits |= 1u << (left % WARP);
      if (right / WARP == lane) waits |= 1u << (right % WARP);
      if (lane == 0) ranks[n] = best;
    }
    return n;
  }

  // The same for any number of splits, equal gains included: of these, the node that is older comes first. One warp looks
  // at all that wait.
  __device__ int split_many() const {
    int *splits = P.queue, *queue = splits + P.cell_capacity, *numbers = queue + P.cell_capacity;
    if (warp_id() == 0) {
      const int n_splits = pop_by_search(splits, queue, numbers);
      if (lane_id() == 0) sums[0] = n_splits;
    }
    __syncthreads();
    return sums[0];
  }

  __device__ __noinline__ int pop_by_search(int* splits, int* queue, int* numbers) const {
    const int most = most_splits();
    int n = 0, size = P.cells[0].feature >= 0 ? 1 : 0;
    if (lane_id() == 0) queue[0] = numbers[0] = 0;
    __syncwarp();
    while (size > 0 && n < most) {
      double best = minus_infinity();
      int number = 0x7fffffff, place = -1;
      for (int i = lane_id(); i < size; i += WARP) {
        const double own = P.cells[queue[i]].gain;
        if (own > best || (own == best && numbers[i] < number)) best = own, number = numbers[i], place = i;
      }
      const double top = warp_max(best);
      const int oldest = warp_min(best == top ? number : 0x7fffffff);
      const u32 votes = __ballot_sync(ALL, best == top && number == oldest);
      place = __shfl_sync(ALL, place, __ffs(static_cast<int>(votes)) - 1);
      const int c = queue[place], left = link[c];  // negative if it waits
      const bool more_left = left >= 0 && P.cells[left].feature >= 0, more_right = left >= 0 && P.cells[left + 1].feature >= 0;
      __syncwarp();
      if (lane_id() == 0) {
        int at = size - 1;
        queue[place] = queue[at], numbers[place] = numbers[at];
        if (more_left) queue[at] = left, numbers[at++] = 2 * n + 1;
        if (more_right) queue[at] = left + 1, numbers[at] = 2 * n + 2;
        splits[n] = c;
      }
      size += more_left + more_right - 1;
      ++n;
      __syncwarp();
    }
    return n;
  }

  __device__ void write_nodes(const int* splits, int n_splits, const int* split_of, int* leaf_of) const {
    const int n_nodes = 1 + 2 * n_splits;
    int n_leaves = 0;
    for (int begin = 0; begin < n_nodes; begin += BLOCK) {
      const int i = begin + static_cast<int>(threadIdx.x);
      const int c = i == 0 ? 0 : i < n_nodes ? link[splits[(i - 1) / 2]] + (i - 1) % 2 : -1;
      const int split = c >= 0 ? split_of[c] : 0;
      int total;
      const int leaf = n_leaves + sum_before(split < 0 ? 1 : 0, sums, &total);
      n_leaves += total;
      if (c < 0) continue;
      const Cell& of = P.cells[c];
      OutNode out = {0.0, -1, leaf, 0, 0, {0, 0}, -1};
      if (split >= 0) {
        out.feature = of.feature, out.left = 2 * split + 1;
        out.bin = static_cast<u8>(of.bin);
        out.missing_left = static_cast<u8>(of.missing_seen ? of.missing_left != 0 : 2 * of.left_count >= of.count);
      } else {
        leaf_of[c] = leaf;
        P.leaf_begin[leaf] = of.begin;
      }
      P.nodes[i] = out;
      P.gains[i] = split >= 0 ? of.gain : 0.0;
      P.counts[i] = of.count;
    }
    if (threadIdx.x == 0) {
      P.result->n_nodes = n_nodes, P.result->n_leaves = n_leaves, P.result->n_sets = 0;
      P.leaf_begin[n_leaves] = P.n_rows;
    }
    __syncthreads();
  }

  // Category sets are numbered in the order of the splits.
  __device__ void write_sets(const int* splits, int n_splits, const int* split_of) const {
    if (P.sets == nullptr) return;
    if (SYMMETRIC) return write_level_sets(n_splits);
    int n_sets = 0;
    for (int begin = 0; begin < n_splits; begin += BLOCK) {
      const int i = begin + static_cast<int>(threadIdx.x), c = i < n_splits ? splits[i] : 0;
      const Cell& of = P.cells[c];
      const bool has_set = i < n_splits && of.is_categorical;
      int total;
      const int place = n_sets + sum_before(has_set ? 1 : 0, sums, &total);
      n_sets += total;
      if (!has_set) continue;
      u8* set = P.out_sets + 32 * static_cast<i64>(place);
      for (int k = 0; k < 32; ++k) set[k] = of.set[k];
      const int number = c == 0 ? 0 : 2 * split_of[parent[(c - 1) / 2]] + 1 + (c - 1) % 2;
      OutNode& node = P.nodes[number];
      node.category = place;
      const int missing = P.n_bins[of.feature];
      if (node.missing_left) set[missing / 8] = static_cast<u8>(set[missing / 8] | 1u << (missing % 8));
    }
    if (threadIdx.x == 0) P.result->n_sets = n_sets;
    __syncthreads();
  }

  // A symmetric tree has one set for all nodes of a level, whose numbers are those of their cells.
  __device__ void write_level_sets(int n_splits) const {
    int n_sets = 0;
    for (int first = 0; first < n_splits; first = 2 * first + 1) {
      const Cell& of = P.cells[first];
      if (!of.is_categorical) continue;
      for (int i = first + static_cast<int>(threadIdx.x); i <= 2 * first; i += BLOCK) P.nodes[i].category = n_sets;
      u8* set = P.out_sets + 32 * static_cast<i64>(n_sets++);
      if (threadIdx.x < 32) {
        const int missing = P.n_bins[of.feature], k = static_cast<int>(threadIdx.x);
        set[k] = static_cast<u8>(of.set[k] | (P.nodes[first].missing_left && missing / 8 == k ? 1u << (missing % 8) : 0u));
      }
    }
    __syncthreads();
    if (threadIdx.x == 0) P.result->n_sets = n_sets;
    __syncthreads();
  }

  // The rows of a leaf are those of the cells below it that were not expanded.
  __device__ void find_final_rows(const int* leaf_of) const {
#pragma unroll 1
    for (int c = threadIdx.x; c < n_cells(); c += BLOCK) {
      int at = c;
      while (link[c] < 0 && leaf_of[at] < 0) at = parent[(at - 1) / 2];
      P.cells[c].leaf = leaf_of[at];
    }
    const int n_tasks = prefix(n_cells(), P.first_task, sums, [&](int c) {
      return link[c] >= 0 ? 0 : (P.cells[c].count + FINAL_ROWS - 1) / FINAL_ROWS;
    });
    if (threadIdx.x == 0) P.state->n_final = n_tasks, P.state->n_cells = n_cells();
  }
};
