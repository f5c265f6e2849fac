// Rows that are on the device already: whether they hold infinity, and their codes.
//
// Macro: VALUE (float or double, the numbers of X).

struct Values {
  const VALUE* X;
  u64* found;
  i64 size;
};

// found = the place of the first number that is infinite, if that is less than what it was.
extern "C" __global__ void __launch_bounds__(BLOCK) find_infinity(const __grid_constant__ Values a) {
  const i64 stride = static_cast<i64>(gridDim.x) * BLOCK;
  for (i64 i = static_cast<i64>(blockIdx.x) * BLOCK + threadIdx.x; i < a.size; i += stride)
    if (fabs(static_cast<double>(a.X[i])) == -minus_infinity()) atomicMin(a.found, static_cast<u64>(i));
}

struct Hashes {
  const VALUE* X;      // (n, p)
  const u64* factors;  // (p,)
  u64* out;            // (n,)
  i64 n;
  int p, pad;
};

// A number as an integer in which every bit has a say: zero stays zero, and all kinds of NaN are one. The same integers as
// `tables.order.hashed` makes, so that rows have one order wherever they are.
__device__ inline u64 hashed(double value) {
  const double plain = value + 0.0;  // turns −0.0 into 0.0
  u64 bits = plain != plain ? 0x7FF8000000000000ull : static_cast<u64>(__double_as_longlong(plain));
  bits ^= bits >> 32;
  bits *= 0xBF58476D1CE4E5B9ull;
  return bits ^ bits >> 29;
}

// out = Σ_j hash(X_ij) factors_j, modulo 2⁶⁴. A thread has a row.
extern "C" __global__ void __launch_bounds__(BLOCK) hash_rows(const __grid_constant__ Hashes a) {
  const i64 stride = static_cast<i64>(gridDim.x) * BLOCK;
  for (i64 row = static_cast<i64>(blockIdx.x) * BLOCK + threadIdx.x; row < a.n; row += stride) {
    u64 sum = 0;
    for (int j = 0; j < a.p; ++j) sum += hashed(static_cast<double>(a.X[row * a.p + j])) * a.factors[j];
    a.out[row] = sum;
  }
}

struct Bins {
  const VALUE* X;       // (n, p), some or all of the rows
  const double* edges;  // of all features
  const int* first;     // (p + 1,) where those of a feature begin
  u64* codes;           // (n_tiles, all) words of eight codes, from the first of these rows on
  int* missing;         // (p,) 0 in the beginning
  i64 n, all;
  int p, pad;
};

// The code of a value is the number of edges below it; a missing value has the code behind the last bin, and its feature
// is marked. See kernels/bins/bin.hpp. A thread has a row of a tile: the eight numbers that it reads are neighbours, and
// the words that neighbours write are, too. The edges come from the cache.
extern "C" __global__ void __launch_bounds__(BLOCK) find_codes(const __grid_constant__ Bins a) {
  const i64 stride = static_cast<i64>(gridDim.x) * BLOCK;
  for (int begin = 0; begin < a.p; begin += TILE) {
    const int width = smaller(TILE, a.p - begin);
    u64* out = a.codes + static_cast<i64>(begin / TILE) * a.all;
    for (i64 row = static_cast<i64>(blockIdx.x) * BLOCK + threadIdx.x; row < a.n; row += stride) {
      const VALUE* x = a.X + row * a.p + begin;
      u64 word = 0;
      for (int c = 0; c < width; ++c) {
        const double own = static_cast<double>(x[c]);
        const double* edges = a.edges + a.first[begin + c];
        const int n_edges = a.first[begin + c + 1] - a.first[begin + c];
        int low = 0, high = n_edges;
        while (low < high) {
          const int middle = (low + high) / 2;
          if (edges[middle] < own) low = middle + 1;
          else high = middle;
        }
        if (own != own) low = n_edges + 1, a.missing[begin + c] = 1;
        word |= static_cast<u64>(low) << (8 * c);
      }
      out[row] = word;
    }
  }
}
