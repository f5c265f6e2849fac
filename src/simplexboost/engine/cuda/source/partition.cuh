// Members of Grower: the rows of a node, each to one of its two children.

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
