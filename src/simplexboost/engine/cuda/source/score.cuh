// The score of a node's sums, and the place at which a scan of scores ends.

__device__ inline double newton_score(double slope, double bend) {
  return (bend > 0.0 ? slope * slope : 0.0) / (bend > 0.0 ? bend : 1.0);
}

// The score of sums, column after column: see kernels/trees/score.hpp.
struct Score {
  double a = SCORE == MAX ? minus_infinity() : 0.0, b = 0.0;
  double squares[SCORE == GINI ? 8 : 1], sums[SCORE == GINI ? 8 : 1];

  __device__ Score() {
    for (int i = 0; i < (SCORE == GINI ? 8 : 1); ++i) squares[i] = sums[i] = 0.0;
  }
  // Column j of m. (For Gini, calls with the same j % 8 must be unrolled by the caller.)
  __device__ void add(double v, int j, int m, double l2) {
    if (SCORE == NEWTON) {
      if (j + 1 < m) a += v * v;
      else b = v + l2;
    } else if (SCORE == NORM) {
      a += v * v;
    } else if (SCORE == MAX) {
      a = v > a ? v : a;
    } else if (SCORE == SIGN) {
      a += fabs(v);
    } else if (SCORE == ENTROPY) {
      if (v > 0.0) a += v, b += v * log(v);
    } else {
      const double w = v * v;
#pragma unroll
      for (int i = 0; i < 8; ++i)
        if ((j & 7) == i) squares[i & (SCORE == GINI ? 7 : 0)] += w, sums[i & (SCORE == GINI ? 7 : 0)] += v;
    }
  }
  __device__ static double combined(const double* x) {
    return ((x[0] + x[4]) + (x[1] + x[5])) + ((x[2] + x[6]) + (x[3] + x[7]));
  }
  __device__ double value() const {
    if (SCORE == NEWTON) return b > 0.0 ? a / b : 0.0;
    if (SCORE == NORM) return sqrt(a);
    if (SCORE == ENTROPY) return a > 0.0 ? b - a * log(a) : 0.0;
    if (SCORE == GINI) {
      const double total = SCORE == GINI ? combined(sums) : 0.0;
      return total > 0.0 ? combined(squares) / total : 0.0;
    }
    return a;
  }
};

// Whether a scan goes on from a score to a later one.
__device__ inline bool is_better(double later, double score) { return later > score + TOLERANCE * fabs(score); }

// The place at which a scan from left to right ends that goes on to a candidate only if it is better by more than the
// tolerance; -1 if there is none (score(i) = -inf). Called by a warp. That is the first candidate that no other one
// beats, unless one before it is so close that it would not have been beaten; then the scan is done step by step.
template <class ScoreAt>
__device__ __noinline__ int first_best(int n, const ScoreAt& score) {
  const int lane = lane_id();
  double most = minus_infinity();
#pragma unroll 1
  for (int i = lane; i < n; i += WARP) most = larger(most, score(i));
  most = warp_max(most);
  if (most == minus_infinity()) return -1;
  int first = n;
#pragma unroll 1
  for (int i = lane; i < n; i += WARP) {
    const double s = score(i);
    if (s != minus_infinity() && !is_better(most, s)) {
      first = i;
      break;
    }
  }
  first = warp_min(first);
  double before = minus_infinity();
#pragma unroll 1
  for (int i = lane; i < first; i += WARP) before = larger(before, score(i));
  before = warp_max(before);
  if (before == minus_infinity() || is_better(score(first), before)) return first;
  int best = -1;
  double of_best = 0.0;
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
    const double s = score(i);
    if (s == minus_infinity()) continue;
    if (best < 0 || is_better(s, of_best)) best = i, of_best = s;
  }
  return best;
}
