// Members of Grower: statistics as integers.

  // Calls use(value, column) for all values of the rows in use, and combines the results of the threads that have the
  // same column: each thread has one column at a time, and neighbours read neighbouring numbers.
  template <class Use, class Join, class Store>
  __device__ void over_columns(const double* v, int width, const Use& use, const Join& join, const Store& store) const {
    u64* parts = reinterpret_cast<u64*>(room);  // (BLOCK,)
    for (int group = 0; group < width; group += BLOCK) {
      const int some = smaller(BLOCK, width - group), per_pass = BLOCK / some;
      const int column = threadIdx.x % some, place = threadIdx.x / some;
      u64 sum = 0;
      if (place < per_pass)
        for (i64 r = static_cast<i64>(blockIdx.x) * per_pass + place; r < P.n_rows; r += static_cast<i64>(gridDim.x) * per_pass)
          sum = join(sum, use(v[static_cast<i64>(row(static_cast<int>(r))) * width + group + column], group + column));
      __syncthreads();
      parts[threadIdx.x] = sum;
      __syncthreads();
      if (threadIdx.x < some) {
        for (int i = threadIdx.x + some; i < some * per_pass; i += some) sum = join(sum, parts[i]);
        store(group + static_cast<int>(threadIdx.x), sum);
      }
    }
  }

  __device__ void find_maxima(const double* v, int width, double* maxima) const {
    over_columns(
        v, width, [](double x, int) { return static_cast<u64>(__double_as_longlong(fabs(x))); },
        [](u64 a, u64 b) { return larger(a, b); },
        [&](int j, u64 most) { atomicMax(reinterpret_cast<u64*>(maxima + j), most); });
  }

  __device__ __noinline__ void quantize() const {
    const int width = columns();
    find_maxima(P.values, width, P.maxima);
    if (P.leaf_values != nullptr) find_maxima(P.leaf_values, P.d, P.maxima + width);
    meet(&P.state->barrier, [&] {
      for (int j = threadIdx.x; j < width; j += BLOCK) P.unit[j] = ldexp(1.0, clamped(20 - exponent_of(P.maxima[j])));
    });
    over_columns(
        P.values, width, [&](double x, int j) { return static_cast<u64>(ceil(fabs(x) * P.unit[j])); },
        [](u64 a, u64 b) { return a + b; }, [&](int j, u64 sum) { atomicAdd(P.magnitudes + j, sum); });
    meet(&P.state->barrier, [&] {
      for (int j = threadIdx.x; j < P.m; j += BLOCK) {
        const int k = width == 1 ? 0 : j;
        const int room_bits = sizeof(Lane) == 8 ? 61 : 30;
        const int e = P.maxima[k] == 0.0 ? 0
                                         : clamped(room_bits - exponent_of(static_cast<double>(P.magnitudes[k])) + 20 -
                                                   exponent_of(P.maxima[k]));
        if (j < width) P.scale[j] = ldexp(1.0, e);
        P.inverse[j] = ldexp(1.0, -e);
      }
    });
    const bool nearest = sizeof(Lane) == 8 || P.seed == 0;
    const i64 all = static_cast<i64>(P.n_rows) * width;
    for (i64 k = static_cast<i64>(blockIdx.x) * BLOCK + threadIdx.x; k < all; k += static_cast<i64>(gridDim.x) * BLOCK) {
      const int r = static_cast<int>(k / width), j = static_cast<int>(k % width), i = row(r);
      const double scaled = P.values[static_cast<i64>(i) * width + j] * P.scale[j];
      const double rounded = nearest ? rint(scaled) : floor(scaled + hashed_uniform(P.seed, static_cast<u64>(i), static_cast<u64>(j)));
      P.quantized[static_cast<i64>(i) * width + j] = static_cast<Lane>(rounded);
      if (j == 0) P.list[0][r] = i;
    }
    clear_slot(0, static_cast<int>(blockIdx.x), static_cast<int>(gridDim.x));
  }

  // One of n_parts parts of a histogram.
  __device__ void clear_slot(int slot, int part, int n_parts) const {
    Lane* to = P.histograms + slot * P.slot_size;
    for (i64 k = static_cast<i64>(part) * BLOCK + threadIdx.x; k < P.slot_size; k += static_cast<i64>(n_parts) * BLOCK) to[k] = 0;
  }
