// Loops of forest.hpp and add.hpp: rows go down trees, values are added to F. Part of core/hot.inl.

// 8 rows go down a tree: ranks (p, 8), `at` (8,) the nodes where they end. See forest.hpp for the packing. The loads of
// the eight rows overlap; vector gathers are not faster, so the loop must stay scalar.
__attribute__((optimize("no-tree-vectorize", "no-tree-slp-vectorize"))) void walk(const std::uint64_t* nodes,
                                                                                  std::int32_t depth,
                                                                                  const std::int32_t* ranks,
                                                                                  std::uint32_t* at) {
  std::uint32_t a0 = 0, a1 = 0, a2 = 0, a3 = 0, a4 = 0, a5 = 0, a6 = 0, a7 = 0;
  const auto next = [nodes, ranks](std::uint32_t from, std::size_t l) {
    const std::uint64_t node = nodes[from];
    return static_cast<std::uint32_t>(node >> 16 & 0xffff) +
           (ranks[(node >> 32) + l] > static_cast<std::int32_t>(node & 0xffff));
  };
  for (std::int32_t step = 0; step < depth; ++step) {
    a0 = next(a0, 0), a1 = next(a1, 1), a2 = next(a2, 2), a3 = next(a3, 3);
    a4 = next(a4, 4), a5 = next(a5, 5), a6 = next(a6, 6), a7 = next(a7, 7);
  }
  at[0] = a0, at[1] = a1, at[2] = a2, at[3] = a3, at[4] = a4, at[5] = a5, at[6] = a6, at[7] = a7;
}

// The same if some values are missing: bit 15 of a node says that they go left.
void walk_missing(const std::uint64_t* nodes, std::int32_t depth, const std::int32_t* ranks, std::uint32_t* at) {
  for (std::size_t l = 0; l < kGroup; ++l) at[l] = 0;
  for (std::int32_t step = 0; step < depth; ++step)
    for (std::size_t l = 0; l < kGroup; ++l) {
      const std::uint64_t node = nodes[at[l]];
      const std::int32_t rank = ranks[(node >> 32) + l], last = static_cast<std::int32_t>(node & 0x7fff);
      const bool right = rank == kMissingRank ? (node & 0x8000) == 0 : rank > last;
      at[l] = static_cast<std::uint32_t>(node >> 16 & 0xffff) + (right ? 1u : 0u);
    }
}

// The same if nodes may split categories (bit 63): `sets` has 32 bytes per set, with a bit per category that goes left.
void walk_categories(const std::uint64_t* nodes, std::int32_t depth, const std::int32_t* ranks,
                     const std::uint8_t* sets, std::uint32_t* at) {
  for (std::size_t l = 0; l < kGroup; ++l) at[l] = 0;
  for (std::int32_t step = 0; step < depth; ++step)
    for (std::size_t l = 0; l < kGroup; ++l) {
      const std::uint64_t node = nodes[at[l]];
      const std::int32_t rank = ranks[(node << 1 >> 33) + l], last = static_cast<std::int32_t>(node & 0x7fff);
      bool right;
      if (rank == kMissingRank) right = (node & 0x8000) == 0;
      else if (node >> 63) right = (sets[last * 32 + rank / 8] >> (rank % 8) & 1) == 0;
      else right = rank > last;
      at[l] = static_cast<std::uint32_t>(node >> 16 & 0xffff) + (right ? 1u : 0u);
    }
}

// F[row] += step * values[leaf of row], rows begin .. end
template <class Value>
void add_values(Value* F, std::size_t d, const Value* values, Value step, const std::int32_t* leaf_of_row,
                std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) {
    const Value* v = values + static_cast<std::size_t>(leaf_of_row[i]) * d;
    Value* f = F + i * d;
    for (std::size_t j = 0; j < d; ++j) f[j] += step * v[j];
  }
}
