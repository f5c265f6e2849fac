// Vectors of eight numbers, for the loops of hot.inl.

// Eight numbers in one vector; on machines with narrower registers the compiler uses several registers for it.
constexpr std::size_t kWide = 8;
typedef double Wide __attribute__((vector_size(8 * kWide), aligned(8), may_alias));
typedef std::int64_t WideInt __attribute__((vector_size(8 * kWide), aligned(8), may_alias));
typedef std::uint64_t WideBits __attribute__((vector_size(8 * kWide), aligned(8), may_alias));  // sums may overflow

// Eight statistics of a bin.
template <class Lane>
inline WideInt load_lanes(const Lane* x) {
  typedef Lane Eight __attribute__((vector_size(8 * sizeof(Lane)), aligned(sizeof(Lane)), may_alias));
  return __builtin_convertvector(*reinterpret_cast<const Eight*>(x), WideInt);
}

inline double wide_sum(Wide x) { return ((x[0] + x[4]) + (x[1] + x[5])) + ((x[2] + x[6]) + (x[3] + x[7])); }

inline double wide_max(Wide x) {
  const Wide y = __builtin_shuffle(x, WideInt{4, 5, 6, 7, 0, 1, 2, 3}), a = x > y ? x : y;
  const Wide z = __builtin_shuffle(a, WideInt{2, 3, 0, 1, 6, 7, 4, 5}), b = a > z ? a : z;
  return b[0] > b[1] ? b[0] : b[1];
}
