// Loops of forest.hpp: ranks, the leaves of symmetric trees, and the values of many trees' leaves. Part of
// core/hot.inl.

// ranks[i] = the number of thresholds below x[i], of n values, a multiple of 8. There are 2^steps - 1 thresholds,
// ascending, the last ones infinite. Eight searches are interleaved, so that their loads overlap; vector gathers are
// not faster.
__attribute__((optimize("no-tree-vectorize", "no-tree-slp-vectorize"))) void find_ranks(const double* thresholds,
                                                                                        std::size_t steps,
                                                                                        const double* x, std::size_t n,
                                                                                        std::int32_t* ranks) {
  for (std::size_t i = 0; i < n; i += 8) {
    std::size_t a0 = 0, a1 = 0, a2 = 0, a3 = 0, a4 = 0, a5 = 0, a6 = 0, a7 = 0;
    const auto next = [thresholds](std::size_t at, std::size_t half, double value) {
      return at + (half & (std::size_t{0} - static_cast<std::size_t>(thresholds[at + half - 1] < value)));
    };
    for (std::size_t half = std::size_t{1} << steps >> 1; half > 0; half >>= 1) {
      a0 = next(a0, half, x[i]), a1 = next(a1, half, x[i + 1]), a2 = next(a2, half, x[i + 2]);
      a3 = next(a3, half, x[i + 3]), a4 = next(a4, half, x[i + 4]), a5 = next(a5, half, x[i + 5]);
      a6 = next(a6, half, x[i + 6]), a7 = next(a7, half, x[i + 7]);
    }
    const std::size_t found[8] = {a0, a1, a2, a3, a4, a5, a6, a7};
    for (std::size_t l = 0; l < 8; ++l) ranks[i + l] = static_cast<std::int32_t>(found[l]);
  }
}

// The leaves of rows in a symmetric tree, a register of rows at a time: a leaf's number is made of the answers of the
// levels, one bit each. Ranks are bytes, (columns, stride), with 128 subtracted, because only signed bytes can be
// compared in one instruction everywhere. `ranks_left` has ranks that send missing values left, `ranks` those that send
// them right. There is room for a multiple of 64 rows.
void symmetric_leaves(const PackedLevel* levels, std::int32_t depth, const std::int8_t* ranks,
                      const std::int8_t* ranks_left, std::size_t stride, std::size_t n_rows, std::uint16_t* leaves) {
  typedef std::int8_t Bytes __attribute__((vector_size(VECTOR_BYTES), aligned(1), may_alias));
  typedef std::uint8_t Bits __attribute__((vector_size(VECTOR_BYTES), aligned(1), may_alias));
  for (std::size_t r = 0; r < n_rows; r += VECTOR_BYTES) {
    Bits low{}, high{};  // of the leaves' numbers
    for (std::int32_t l = 0; l < depth; ++l) {
      const std::int8_t* column = (levels[l].missing_left ? ranks_left : ranks) + levels[l].column * stride + r;
      const Bits right = (Bits)(*reinterpret_cast<const Bytes*>(column) > levels[l].last);  // 255 where it is true
      if (l + 8 < depth) high = high + high - right;
      else low = low + low - right;
    }
    std::uint8_t bytes[VECTOR_BYTES];
    __builtin_memcpy(bytes, &low, sizeof low);
    for (std::size_t i = 0; i < VECTOR_BYTES; ++i) leaves[r + i] = bytes[i];
    if (depth <= 8) continue;
    __builtin_memcpy(bytes, &high, sizeof high);
    for (std::size_t i = 0; i < VECTOR_BYTES; ++i)
      leaves[r + i] = static_cast<std::uint16_t>(leaves[r + i] + 256u * bytes[i]);
  }
}

// Adds the leaf values of trees, one tree after another, to `Bytes` bytes of R rows; the sums stay in registers.
template <class Leaf, std::size_t Bytes, std::size_t R>
inline void add_columns(Leaf* scores, std::size_t pitch, const Leaf* const* values, std::size_t d, std::size_t n_trees,
                        const std::uint16_t* leaves, std::size_t stride) {
  constexpr std::size_t width = Bytes < VECTOR_BYTES ? Bytes : VECTOR_BYTES, n = Bytes / width;
  typedef Leaf Vector __attribute__((vector_size(width), aligned(sizeof(Leaf)), may_alias));
  Vector sum[R][n];
  for (std::size_t r = 0; r < R; ++r)
    for (std::size_t v = 0; v < n; ++v) sum[r][v] = reinterpret_cast<const Vector*>(scores + r * pitch)[v];
  for (std::size_t t = 0; t < n_trees; ++t)
    for (std::size_t r = 0; r < R; ++r) {
      const Vector* leaf = reinterpret_cast<const Vector*>(values[t] + leaves[t * stride + r] * d);
      for (std::size_t v = 0; v < n; ++v) sum[r][v] += leaf[v];
    }
  for (std::size_t r = 0; r < R; ++r)
    for (std::size_t v = 0; v < n; ++v) reinterpret_cast<Vector*>(scores + r * pitch)[v] = sum[r][v];
}

template <class Leaf, std::size_t Bytes>
void add_trees_of(Leaf* scores, std::size_t pitch, const Leaf* const* values, std::size_t d, std::size_t n_trees,
                  const std::uint16_t* leaves, std::size_t stride, std::size_t n_rows) {
  constexpr std::size_t registers = Bytes < VECTOR_BYTES ? 1 : Bytes / VECTOR_BYTES, rows = 8 / registers;
  for (std::size_t r = 0; r < n_rows; r += rows)
    add_columns<Leaf, Bytes, rows>(scores + r * pitch, pitch, values, d, n_trees, leaves + r, stride);
}

// scores (n_rows, pitch) += the trees' values at their leaves, one tree after another; values[t] (n_leaves, d) of tree
// t, and its leaves from leaves[t * stride]. What lies beyond the d columns of scores is overwritten, and up to 64
// bytes beyond the values are read. n_rows is a multiple of 8; a row of scores is 16, 32 or a multiple of 64 bytes.
template <class Leaf>
void add_trees(Leaf* scores, std::size_t pitch, const Leaf* const* values, std::size_t d, std::size_t n_trees,
               const std::uint16_t* leaves, std::size_t stride, std::size_t n_rows) {
  constexpr std::size_t most = 64 / sizeof(Leaf);
  if (pitch == most / 4) return add_trees_of<Leaf, 16>(scores, pitch, values, d, n_trees, leaves, stride, n_rows);
  if (pitch == most / 2) return add_trees_of<Leaf, 32>(scores, pitch, values, d, n_trees, leaves, stride, n_rows);
  const Leaf* from[kTreeBatch];
  for (std::size_t j = 0; j < d; j += most) {
    for (std::size_t t = 0; t < n_trees; ++t) from[t] = values[t] + j;
    add_trees_of<Leaf, 64>(scores + j, pitch, from, d, n_trees, leaves, stride, n_rows);
  }
}
