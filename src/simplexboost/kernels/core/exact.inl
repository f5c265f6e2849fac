// Loops of exact.hpp: numbers become integers. Part of core/hot.inl.

// Adding this constant to a number below 2^51 rounds it to an integer: the bits of the sum minus those of the constant.
// These are added modulo 2^64, so that intermediate overflows do no harm.
constexpr double kRound = 0x1.8p52;

inline std::uint64_t rounded_bits(double x) {
  return __builtin_bit_cast(std::uint64_t, x + kRound) - __builtin_bit_cast(std::uint64_t, kRound);
}

// sums[0] and sums[1] += x (n,) in two integers.
void sum_limbs(const double* x, std::size_t n, double scale, double second, std::uint64_t* sums) {
  WideBits hi = WideBits{}, lo = WideBits{};
  std::size_t i = 0;
  for (; i + kWide <= n; i += kWide) {
    const Wide y = *reinterpret_cast<const Wide*>(x + i) * scale, rounded = y + kRound;
    const Wide rest = (y - (rounded - kRound)) * second + kRound;
    hi += (WideBits)rounded, lo += (WideBits)rest;
  }
  const std::uint64_t constant = i * __builtin_bit_cast(std::uint64_t, kRound);
  std::uint64_t a = 0, b = 0;
  for (std::size_t l = 0; l < kWide; ++l) a += hi[l], b += lo[l];
  sums[0] += a - constant, sums[1] += b - constant;
  for (; i < n; ++i) {
    const double y = x[i] * scale;
    sums[0] += rounded_bits(y);
    sums[1] += rounded_bits((y - ((y + kRound) - kRound)) * second);
  }
}

// The largest |x| of n numbers; NaN if one of them is not finite.
double largest_magnitude(const double* x, std::size_t n) {
  Wide top = Wide{}, zero = Wide{};
  std::size_t i = 0;
  for (; i + kWide <= n; i += kWide) {
    const Wide v = *reinterpret_cast<const Wide*>(x + i), a = v < 0.0 ? -v : v;
    top = a > top ? a : top;
    zero += v * 0.0;
  }
  double largest = wide_max(top), check = wide_sum(zero);
  for (; i < n; ++i) {
    const double a = x[i] < 0.0 ? -x[i] : x[i];
    largest = a > largest ? a : largest;
    check += x[i] * 0.0;
  }
  return check == 0.0 ? largest : check;
}
