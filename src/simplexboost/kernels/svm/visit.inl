// The dual problem of one example. Part of svm/hot.inl.

// Moves a (K,) to the maximum of the dual in this example: a_l = C_l - max(0, D_l - beta) / A, a projection on a
// simplex. Writes the change and the classes that changed; returns how much the example violated its optimality
// conditions before, and as `gap` its part of the duality gap before.
inline Visit visit(const double* F, double* a, std::size_t K, std::size_t y, double C, double A, double small,
                   double* D, Change* change) {
  Visit out{0.0, 0.0, 0.0, 0};
  double high = F[0];
  for (std::size_t l = 1; l < K; ++l) high = F[l] > high ? F[l] : high;
  double low = high, gap = 0.0;
  for (std::size_t l = 0; l < K; ++l) {
    const double room = (l == y ? C : 0.0) - a[l];
    if (room > kDust * C) {
      low = F[l] < low ? F[l] : low;
      gap += room * (high - F[l]);
    }
  }
  out.violation = high - low;
  out.gap = gap;
  out.hinge = high - F[y];
  if (out.violation <= small) return out;

  std::size_t n_kept = 0;
  double* kept = D + K;
  double own = 0.0;
  if (A <= 0.0) {  // the example is zero: the dual is linear in it and has its maximum at a corner
    std::size_t top = y;
    for (std::size_t l = 0; l < K; ++l)
      if (F[l] > F[top]) top = l;
    for (std::size_t l = 0; l < K; ++l) {
      if (l == y) continue;
      const double next = l == top ? -C : 0.0;
      if (next != a[l]) change[out.n_changed++] = {l, next - a[l]}, a[l] = next;
      own -= next;
    }
  } else {
    double top = -1e300;
    for (std::size_t l = 0; l < K; ++l) {
      D[l] = F[l] + A * ((l == y ? C : 0.0) - a[l]);
      top = D[l] > top ? D[l] : top;
    }
    const double radius = A * C, floor = top - radius;
    double sum = 0.0;
    for (std::size_t l = 0; l < K; ++l)
      if (D[l] > floor) kept[n_kept++] = D[l] - floor, sum += D[l] - floor;
    double beta = (sum - radius) / static_cast<double>(n_kept);
    for (bool changed = n_kept > 1; changed;) {  // Michelot's method: drop what lies below the mean until nothing does
      std::size_t left = 0;
      double rest = 0.0;
      for (std::size_t k = 0; k < n_kept; ++k)
        if (kept[k] > beta) rest += kept[k], kept[left++] = kept[k];
      changed = left < n_kept && left > 0;
      if (left == 0) break;
      n_kept = left;
      beta = (rest - radius) / static_cast<double>(n_kept);
    }
    beta += floor;
    for (std::size_t l = 0; l < K; ++l) {
      if (l == y) continue;
      const double next = D[l] > beta ? (beta - D[l]) / A : 0.0;
      if (next != a[l]) change[out.n_changed++] = {l, next - a[l]}, a[l] = next;
      own -= next;
    }
  }
  own = own > C ? C : own;
  if (own != a[y]) change[out.n_changed++] = {y, own - a[y]}, a[y] = own;
  return out;
}

Visit visit_row(const double* F, double* a, std::size_t K, std::size_t y, double C, double A, double small, double* D,
                Change* change) {
  return visit(F, a, K, y, C, A, small, D, change);
}
