// Members of Grower: the order of categories, along which their subsets are searched; see kernels/trees/categories.hpp.

  __device__ static double bounded_ratio(double sum, double weight) {
    const double ratio = sum / weight;
    return ratio < -1e300 ? -1e300 : ratio > 1e300 ? 1e300 : ratio;
  }

  __device__ double along(const double* point, const double* axis, int d) const {
    double sum = 0.0;
    for (int j = 0; j < d; ++j) sum += point[j] * axis[j];
    return sum;
  }

  // Divides by the coordinate of largest absolute value (the first of them), with its sign; false if all are zero.
  __device__ bool scale_axis(double* axis, int d) const {
    double most = 0.0;
    for (int j = lane_id(); j < d; j += WARP) most = larger(most, fabs(axis[j]));
    most = warp_max(most);
    if (most == 0.0) return false;
    int first_one = d;
    for (int j = lane_id(); j < d && first_one == d; j += WARP)
      if (fabs(axis[j]) == most) first_one = j;
    first_one = warp_min(first_one);
    const double by = axis[first_one];
    __syncwarp();
    for (int j = lane_id(); j < d; j += WARP) axis[j] /= by;
    __syncwarp();
    return true;
  }

  __device__ __noinline__ int category_order(const Lane* bins, int n_bins, const Desk& at) const {
    const int stride = BINS, m = P.m, d = m - (SCORE == NEWTON ? 1 : 0);
    double* scratch = P.scratch + static_cast<i64>(blockIdx.x * WARPS + warp_id()) * P.scratch_size;
    double *points = scratch, *weight = points + 256 * d, *keys = weight + 256, *axis = keys + 256, *next = axis + d;
    int n = 0;
#pragma unroll 1
    for (int begin = 0; begin < n_bins; begin += WARP) {
      const int b = begin + lane_id();
      const u32 votes = __ballot_sync(ALL, b < n_bins && bins[m * stride + b] >= P.min_category_count);
      if (votes >> lane_id() & 1u) at.order[n + __popc(votes & ((1u << lane_id()) - 1u))] = static_cast<u8>(b);
      n += __popc(votes);
    }
    __syncwarp();
    if (n == 0) return 0;
    const double rows = static_cast<double>(at.total[m]);
    const auto node = [&](int j) { return static_cast<double>(at.total[j]) * P.inverse[j]; };
    const double node_weight = SCORE == NEWTON ? node(m - 1) : rows;
    double largest = 0.0;
#pragma unroll 1
    for (int i = lane_id(); i < n; i += WARP) {
      const int b = at.order[i];
      const auto of = [&](int j) { return static_cast<double>(bins[j * stride + b]) * P.inverse[j]; };
      const double w = (SCORE == NEWTON ? of(m - 1) : static_cast<double>(bins[m * stride + b])) + P.smoothing * (node_weight / rows);
      weight[i] = w;
#pragma unroll 1
      for (int j = 0; j < d; ++j) {
        const double mean = node_weight > 0.0 ? bounded_ratio(node(j), node_weight) : 0.0;
        const double x = w > 0.0 ? bounded_ratio(of(j) + P.smoothing * (node(j) / rows), w) - mean : 0.0;
        points[i * d + j] = x;
        largest = larger(largest, fabs(x));
      }
    }
    largest = warp_max(largest);
    __syncwarp();
    double weights = 0.0;
#pragma unroll 1
    for (int i = 0; i < n; ++i) weights += weight[i];
    __syncwarp();
    if (largest > 0.0)
#pragma unroll 1
      for (int k = lane_id(); k < n * d; k += WARP) points[k] /= largest;
    if (weights > 0.0)
#pragma unroll 1
      for (int i = lane_id(); i < n; i += WARP) weight[i] /= weights;
    __syncwarp();
    double most = minus_infinity();
#pragma unroll 1
    for (int i = lane_id(); i < n; i += WARP) {
      keys[i] = weight[i] * along(points + i * d, points + i * d, d);
      most = larger(most, keys[i]);
    }
    most = warp_max(most);
    __syncwarp();
    int farthest = n - 1;
#pragma unroll 1
    for (int i = lane_id(); i < n; i += WARP)
      if (keys[i] == most) {
        farthest = i;
        break;
      }
    farthest = warp_min(farthest);
#pragma unroll 1
    for (int j = lane_id(); j < d; j += WARP) axis[j] = points[farthest * d + j];
    __syncwarp();
    if (!scale_axis(axis, d)) {
      if (lane_id() == 0) axis[0] = 1.0;
      __syncwarp();
    }
#pragma unroll 1
    for (int step = 0; step < (d > 1 ? AXIS_STEPS : 0); ++step) {
#pragma unroll 1
      for (int i = lane_id(); i < n; i += WARP) keys[i] = weight[i] * along(points + i * d, axis, d);
      __syncwarp();
#pragma unroll 1
      for (int j = lane_id(); j < d; j += WARP) {
        double sum = 0.0;
#pragma unroll 1
        for (int i = 0; i < n; ++i) sum += keys[i] * points[i * d + j];
        next[j] = sum;
      }
      __syncwarp();
      if (!scale_axis(next, d)) break;
      double* other = axis;
      axis = next, next = other;
    }
#pragma unroll 1
    for (int i = lane_id(); i < n; i += WARP) keys[i] = along(points + i * d, axis, d);
    __syncwarp();
    // The place of each is the number of those before it. All places are known before any is written.
    u8 mine[8];
    int places[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const int i = k * WARP + lane_id();
      mine[k] = 0, places[k] = -1;
      if (i >= n) continue;
      const double key = keys[i];
      int before = 0;
#pragma unroll 1
      for (int other = 0; other < n; ++other) before += keys[other] < key || (keys[other] == key && other < i);
      mine[k] = at.order[i], places[k] = before;
    }
    __syncwarp();
#pragma unroll
    for (int k = 0; k < 8; ++k)
      if (places[k] >= 0) at.order[places[k]] = mine[k];
    __syncwarp();
    return n;
  }
