// Vectors of floats in the registers of an instruction set, and their exponential; part of the files that are compiled
// once per instruction set (core/clones.inl).

constexpr std::size_t W = VECTOR_BYTES / sizeof(float);  // floats per vector
typedef float Vec __attribute__((vector_size(VECTOR_BYTES), aligned(4), may_alias));
typedef std::uint32_t BitsVec __attribute__((vector_size(VECTOR_BYTES), aligned(4), may_alias));  // sums may overflow

inline Vec load(const float* p) { return *reinterpret_cast<const Vec*>(p); }
inline void store(float* p, Vec v) { *reinterpret_cast<Vec*>(p) = v; }
inline Vec splat(float x) { return Vec{} + x; }
inline Vec vmax(Vec a, Vec b) { return a > b ? a : b; }

// The sum over the lanes of a vector: its halves are added until four numbers remain, and these one after another.
typedef float Four __attribute__((vector_size(16)));
template <class Op>
inline float across(Vec v, Op op) {
#if VECTOR_BYTES == 64
  typedef float Eight __attribute__((vector_size(32)));
  const Eight eight = op(__builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7),
                         __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15));
#elif VECTOR_BYTES == 32
  const Vec eight = v;
#endif
#if VECTOR_BYTES >= 32
  const Four four =
      op(__builtin_shufflevector(eight, eight, 0, 1, 2, 3), __builtin_shufflevector(eight, eight, 4, 5, 6, 7));
#else
  const Four four = v;
#endif
  const Four two = op(four, __builtin_shufflevector(four, four, 2, 3, 2, 3));
  return op(two, __builtin_shufflevector(two, two, 1, 1, 1, 1))[0];
}
inline float sum_across(Vec v) {
  return across(v, [](auto a, auto b) { return a + b; });
}

// The scalar product of two rows of N floats, N a multiple of W.
inline float dot(const float* a, const float* b, std::size_t N) {
  Vec sum = Vec{};
  for (std::size_t i = 0; i < N; i += W) sum += load(a + i) * load(b + i);
  return sum_across(sum);
}

// exp(x) for x <= 0 to about 1e-7, and exactly 0 for very low x: x = k ln 2 + r, a polynomial in r, and k is added to
// the exponent bits.
inline Vec exp_nonpositive(Vec x) {
  const Vec low = splat(-87.0f);
  const Vec clamped = vmax(x, low);
  const Vec shifted = clamped * 1.442695041f + 12582912.0f;  // 1.5 * 2^23: rounds, and leaves k in the low bits
  const Vec k = shifted - 12582912.0f;
  const Vec r = (clamped - k * 0.693359375f) + k * 2.12194440e-4f;
  Vec y = splat(1.9875691500e-4f);
  y = y * r + 1.3981999507e-3f;
  y = y * r + 8.3334519073e-3f;
  y = y * r + 4.1665795894e-2f;
  y = y * r + 1.6666665459e-1f;
  y = y * r + 5.0000001201e-1f;
  y = y * r * r + r + 1.0f;
  const Vec scaled = (Vec)((BitsVec)y + ((BitsVec)shifted << 23));
  return x < low ? Vec{} : scaled;
}
