// How tests call the kernels.
#define ENTRY(NAME, TYPE)                                                                        \
  extern "C" void emulate_##NAME(int grid, int block, int shared, const TYPE* arguments) {      \
    const TYPE copy = *arguments;                                                                \
    emulated::launch(grid, block, shared, [&] { NAME(copy); });                                  \
  }
#ifdef ENTRIES_OF_tree
extern "C" int problem_size() { return sizeof(Problem); }
extern "C" int cell_size() { return sizeof(Cell); }
extern "C" int state_size() { return sizeof(State); }
ENTRY(grow_tree, Problem)
#endif
#ifdef ENTRIES_OF_forest
ENTRY(predict, Forest)
ENTRY(probabilities, Scores)
ENTRY(winners, Scores)
#endif
#ifdef ENTRIES_OF_shapley
ENTRY(explain, Paths)
ENTRY(share_rounding, Sums)
#endif
#ifdef ENTRIES_OF_bins
ENTRY(find_infinity, Values)
ENTRY(hash_rows, Hashes)
ENTRY(find_codes, Bins)
#endif
#ifdef ENTRIES_OF_rows
ENTRY(pull, Rows)
ENTRY(totals, Totals)
ENTRY(leaf_steps, LeafSteps)
ENTRY(pack_leaves, LeafPairs)
ENTRY(add_leaves, Update)
ENTRY(route, Route)
extern "C" void emulate_leaf_sums(int grid, int block, int shared, const LeafRows* arguments) {
  const LeafRows copy = *arguments;
  emulated::launch(grid, block, shared, [&] { leaf_sums(copy); }, (copy.K + CLASSES * TURNS - 1) / (CLASSES * TURNS));
}
#endif
