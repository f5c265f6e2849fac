// Loops of the exponential losses: the race of a row's rivals, and votes. Part of core/hot.inl.
//
// These losses are sums of exp(rate (U_k - U_c)) over the rivals k of the true class c. The race of a row is these
// exponentials, computed relative to the highest rival so that none of them overflows.

// exp(x) for x <= 0, to about one unit in the last place; 0 below -708: x = k ln 2 + r, a Taylor polynomial in
// |r| <= ln(2)/2, and k added to the exponent bits.
inline Wide exp_nonpositive(Wide x) {
  const Wide shift = Wide{} + 0x1.8p52;  // adding it rounds to an integer and leaves that integer in the low bits
  const Wide clamped = x < -708.0 ? Wide{} - 708.0 : x;
  const Wide shifted = clamped * 0x1.71547652b82fep0 + shift;
  const Wide k = shifted - shift;
  const Wide r = (clamped - k * 0x1.62e42fefa38p-1) - k * 0x1.ef35793c7673p-45;
  Wide y = Wide{} + 1.0 / 6227020800.0;
  y = y * r + 1.0 / 479001600.0;
  y = y * r + 1.0 / 39916800.0;
  y = y * r + 1.0 / 3628800.0;
  y = y * r + 1.0 / 362880.0;
  y = y * r + 1.0 / 40320.0;
  y = y * r + 1.0 / 5040.0;
  y = y * r + 1.0 / 720.0;
  y = y * r + 1.0 / 120.0;
  y = y * r + 1.0 / 24.0;
  y = y * r + 1.0 / 6.0;
  y = y * r + 0.5;
  y = y * r + 1.0;
  y = y * r + 1.0;
  const WideBits bits = reinterpret_cast<const WideBits&>(y) + (reinterpret_cast<const WideBits&>(shifted) << 52);
  return x < -708.0 ? Wide{} : reinterpret_cast<const Wide&>(bits);
}

// The race of the rivals k != c of one row at scores v: e[k] = exp(rate (v_k - top)), and 0 for the true class. Returns
// the sum; `top` is the score of the highest rival. Whole vectors are read and written: both v and e must have room for
// K rounded up to a multiple of kWide, and what they hold beyond K has no effect on the results.
inline double race_row(const double* v, std::size_t K, std::size_t c, double rate, double* e, double* top) {
  const Wide* from = reinterpret_cast<const Wide*>(v);
  Wide* to = reinterpret_cast<Wide*>(e);
  const WideInt number{0, 1, 2, 3, 4, 5, 6, 7}, own = WideInt{} + static_cast<std::int64_t>(c);
  const Wide out = Wide{} - __builtin_inf();
  const std::size_t n_wide = (K + kWide - 1) / kWide;
  const auto rivals = [&](std::size_t i) {
    const WideInt k = number + static_cast<std::int64_t>(i * kWide);
    const Wide x = k == own ? out : from[i];
    return i + 1 < n_wide ? x : k < WideInt{} + static_cast<std::int64_t>(K) ? x : out;
  };
  Wide high = rivals(0), sum = Wide{};
  for (std::size_t i = 1; i < n_wide; ++i) {
    const Wide x = rivals(i);
    high = x > high ? x : high;
  }
  const double best = wide_max(high);
  for (std::size_t i = 0; i < n_wide; ++i) {
    const Wide x = exp_nonpositive(rate * (rivals(i) - best));
    sum += x;
    to[i] = x;
  }
  *top = best;
  return wide_sum(sum);
}

// The races of all rows of U (n, K): E (n, K), Z (n,) and lead (n,) = U[c] - top. Whole vectors overwrite the beginning
// of the next row, which is computed afterwards; the last row uses `scratch`, of twice K + kWide numbers, instead.
void race(const double* U, std::size_t n, std::size_t K, const std::int64_t* c, double rate, double* scratch, double* E,
          double* Z, double* lead) {
  for (std::size_t i = 0; i < n; ++i) {
    double top;
    const std::size_t own = static_cast<std::size_t>(c[i]);
    const bool room = (n - i) * K >= K + kWide;
    const double* v = U + i * K;
    double* e = room ? E + i * K : scratch + K + kWide;
    if (!room) {
      for (std::size_t k = 0; k < K; ++k) scratch[k] = v[k];
      v = scratch;
    }
    Z[i] = race_row(v, K, own, rate, e, &top);
    lead[i] = v[own] - top;
    if (!room)
      for (std::size_t k = 0; k < K; ++k) E[i * K + k] = e[k];
  }
}

// Turns the E (n, K) of a race into the residual: E * -w / Z, and w at the true class.
void pull_rows(double* E, std::size_t n, std::size_t K, const std::int64_t* c, const double* w, const double* Z) {
  for (std::size_t i = 0; i < n; ++i) {
    double* e = E + i * K;
    const double scale = -w[i] / Z[i];
    for (std::size_t k = 0; k < K; ++k) e[k] *= scale;
    e[static_cast<std::size_t>(c[i])] = w[i];
  }
}

// Updates the residual P (n, K) of an exponential loss for votes: after a right answer all rivals are multiplied by
// `down`, after a wrong one the rival that it names, by `up`; own (n,) is P at the true class.
void vote_rows(double* P, std::size_t n, std::size_t K, const std::int64_t* c, const std::int64_t* classes, double up,
               double down, double* own) {
  for (std::size_t i = 0; i < n; ++i) {
    double* p = P + i * K;
    if (classes[i] == c[i]) {
      for (std::size_t k = 0; k < K; ++k) p[k] *= down;
    } else {
      double& rival = p[static_cast<std::size_t>(classes[i])];  // minus its weight
      p[static_cast<std::size_t>(c[i])] -= (up - 1.0) * rival;
      rival *= up;
    }
    own[i] = p[static_cast<std::size_t>(c[i])];
  }
}

// The same race at U + alpha W, with the mean and the variance of W over the rivals, weighted by E; `v` and `E` are
// scratch of K + kWide numbers.
void race_along(const double* U, const double* W, double alpha, std::size_t n, std::size_t K, const std::int64_t* c,
                double rate, double* v, double* E, double* Z, double* lead, double* mean, double* variance) {
  for (std::size_t i = 0; i < n; ++i) {
    const double *u = U + i * K, *w = W + i * K;
    for (std::size_t k = 0; k < K; ++k) v[k] = u[k] + alpha * w[k];
    double top, first = 0.0, second = 0.0;
    const std::size_t own = static_cast<std::size_t>(c[i]);
    Z[i] = race_row(v, K, own, rate, E, &top);
    lead[i] = v[own] - top;
    for (std::size_t k = 0; k < K; ++k) first += E[k] * w[k];
    mean[i] = first / Z[i];
    for (std::size_t k = 0; k < K; ++k) second += E[k] * ((w[k] - mean[i]) * (w[k] - mean[i]));
    variance[i] = second / Z[i];
  }
}
