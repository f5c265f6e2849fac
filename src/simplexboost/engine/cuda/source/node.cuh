// The question of a node: see kernels/trees/tree.hpp.

__device__ inline bool goes_left(const u8* node, const u8* sets, double x) {
  const int category = *reinterpret_cast<const int*>(node + 20);
  const bool missing_left = node[17] != 0;
  if (x != x) return missing_left;
  if (category < 0) return x <= *reinterpret_cast<const double*>(node);
  if (!(x >= 0.0 && x < 256.0) || x != floor(x)) return missing_left;
  const int code = static_cast<int>(x);
  return (sets[32 * static_cast<i64>(category) + code / 8] >> (code % 8) & 1) != 0;
}
