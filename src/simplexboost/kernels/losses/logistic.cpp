#include "losses/logistic.hpp"

#include <memory>

#include "core/hot.hpp"
#include "core/pool.hpp"

namespace simplexboost {

namespace baseline {
#define VECTOR_BYTES 16
#define TILE_ROWS 4
#define TILE_VECTORS 2
#include "losses/logistic.inl"
#undef VECTOR_BYTES
#undef TILE_ROWS
#undef TILE_VECTORS
}  // namespace baseline

#ifdef SIMPLEXBOOST_CLONES
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,fma")
namespace avx2 {
#define VECTOR_BYTES 32
#define TILE_ROWS 6
#define TILE_VECTORS 2
#include "losses/logistic.inl"
#undef VECTOR_BYTES
#undef TILE_ROWS
#undef TILE_VECTORS
}  // namespace avx2
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,fma,avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")
namespace avx512 {
#define VECTOR_BYTES 64
#define TILE_ROWS 6
#define TILE_VECTORS 4
#include "losses/logistic.inl"
#undef VECTOR_BYTES
#undef TILE_ROWS
#undef TILE_VECTORS
}  // namespace avx512
#pragma GCC pop_options
#endif

namespace {

struct Kernels {
  void (*block)(const LogisticArgs&, std::size_t, std::size_t, float*);
  void (*softmax_rows)(const LogisticArgs&, const std::uint32_t*, std::size_t, float*, float*);
  void (*probability_block)(const LogisticArgs&, std::size_t, std::size_t, float*, double*);
  void (*newton_rows)(const LogisticArgs&, const std::uint32_t*, std::size_t, float*, double*, double*);
};

Kernels kernels() {
#ifdef SIMPLEXBOOST_CLONES
  if (instruction_level() == 2)
    return {avx512::logistic_block, avx512::softmax_rows, avx512::probability_block, avx512::newton_rows};
  if (instruction_level() == 1)
    return {avx2::logistic_block, avx2::softmax_rows, avx2::probability_block, avx2::newton_rows};
#endif
  return {baseline::logistic_block, baseline::softmax_rows, baseline::probability_block, baseline::newton_rows};
}

}  // namespace

void logistic_pull(const LogisticArgs& a, int n_threads) {
  const auto block = kernels().block;
  const std::size_t scratch = kBlockRows * (a.Kp + a.Ep + a.d);
  const std::size_t grain = kBlockRows * 8;  // rows per task
  parallel_ranges(a.n, grain, n_threads, [&](std::size_t begin, std::size_t end) {
    std::unique_ptr<float[]> buffer(new float[scratch]);
    for (std::size_t at = begin; at < end; at += kBlockRows)
      block(a, at, at + kBlockRows < end ? at + kBlockRows : end, buffer.get());
  });
}

void probabilities(const LogisticArgs& a, double* P, int n_threads) {
  const auto block = kernels().probability_block;
  parallel_ranges(a.n, kBlockRows * 8, n_threads, [&](std::size_t begin, std::size_t end) {
    std::unique_ptr<float[]> buffer(new float[kBlockRows * (a.Kp + a.d)]);
    for (std::size_t at = begin; at < end; at += kBlockRows)
      block(a, at, at + kBlockRows < end ? at + kBlockRows : end, buffer.get(), P);
  });
}

void softmax_rows(const LogisticArgs& args, const std::uint32_t* rows, std::size_t n_rows, float* Fb, float* P) {
  kernels().softmax_rows(args, rows, n_rows, Fb, P);
}

void newton_rows(const LogisticArgs& args, const std::uint32_t* rows, std::size_t n_rows, float* S, double* sums,
                 double* out) {
  kernels().newton_rows(args, rows, n_rows, S, sums, out);
}

}  // namespace simplexboost
