// Members of Grower: rows by leaf, and sums over the leaves.

  __device__ __noinline__ void finish() const {
    const State& s = state();
    const int warps = gridDim.x * WARPS;
#pragma unroll 1
    for (int task = blockIdx.x + gridDim.x * warp_id(); task < s.n_final; task += warps) {
      const int c = part_of(P.first_task, s.n_cells, task);
      const Cell& cell = P.cells[c];
      const int begin = (task - P.first_task[c]) * FINAL_ROWS, end = smaller(begin + FINAL_ROWS, cell.count);
      const int *list = P.list[cell.buffer] + cell.begin, leaf = cell.leaf;
#pragma unroll 1
      for (int r = begin + lane_id(); r < end; r += WARP) {
        P.order[cell.begin + r] = list[r];
        P.leaf_of_row[list[r]] = leaf;
      }
      add_limbs(list, begin, end, P.limbs + static_cast<i64>(leaf) * 2 * P.d);
    }
  }

  // See kernels/core/exact.hpp: hi in the first d numbers, lo behind.
  __device__ void add_limbs(const int* list, int begin, int end, u64* out) const {
    const int width = exact_width(static_cast<u64>(P.n_rows)), d = P.d;
    const double second = ldexp(1.0, width);
    const bool own = P.leaf_values == nullptr;
    const double *v = own ? P.values : P.leaf_values, *maxima = own ? P.maxima : P.maxima + columns();
    if (own && P.classes != nullptr) {
      const double scale = ldexp(1.0, clamped(width - exponent_of(maxima[0])));
#pragma unroll 1
      for (int r = begin + lane_id(); r < end; r += WARP) {
        const double y = v[list[r]] * scale;
        add_bits(out + P.classes[list[r]], rounded_bits(y));
        add_bits(out + d + P.classes[list[r]], rounded_bits((y - ((y + ROUND) - ROUND)) * second));
      }
      return;
    }
#pragma unroll 1
    for (int j = 0; j < d; ++j) {
      const double scale = ldexp(1.0, clamped(width - exponent_of(maxima[j])));
      u64 hi = 0, lo = 0;
#pragma unroll 1
      for (int r = begin + lane_id(); r < end; r += WARP) {
        const double y = v[static_cast<i64>(list[r]) * d + j] * scale;
        hi += rounded_bits(y);
        lo += rounded_bits((y - ((y + ROUND) - ROUND)) * second);
      }
      hi = warp_sum(hi), lo = warp_sum(lo);
      if (lane_id() == 0) add_bits(out + j, hi), add_bits(out + d + j, lo);
    }
  }
