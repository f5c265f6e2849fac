// Members of Grower: the histograms of the smaller children, in shared memory.

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
