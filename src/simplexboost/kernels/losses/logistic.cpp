#include "losses/logistic.hpp"

#include <memory>

#include "core/isa.hpp"
#include "core/pool.hpp"

namespace simplexboost {

namespace logistic_loops {

struct Table {
  void (*block)(const LogisticArgs&, std::size_t, std::size_t, float*);
  void (*softmax_rows)(const LogisticArgs&, const std::uint32_t*, std::size_t, float*, float*);
  void (*probability_block)(const LogisticArgs&, std::size_t, std::size_t, float*, double*);
  void (*newton_rows)(const LogisticArgs&, const std::uint32_t*, std::size_t, double, float*, std::uint64_t*,
                      std::uint64_t*);
  void (*newton_range)(const LogisticArgs&, const std::uint32_t*, std::size_t, std::size_t, const std::int32_t*, double,
                       float*, std::uint64_t*, std::uint64_t*);
  void (*weigh_rows)(const LogisticArgs&, const float*, const double*, std::size_t, std::uint64_t*);
  void (*gradient_rows)(const LogisticArgs&, const std::uint32_t*, std::size_t, double, std::uint64_t*);
};

#define LOOPS "losses/logistic.inl"
#include "core/clones.inl"

}  // namespace logistic_loops

void logistic_pull(const LogisticArgs& a, int n_threads) {
  const auto block = logistic_loops::chosen().block;
  const std::size_t scratch = kBlockRows * (a.Kp + a.Ep + a.d);
  const std::size_t grain = kBlockRows * 8;  // rows per task
  parallel_ranges(a.n, grain, n_threads, [&](std::size_t begin, std::size_t end) {
    std::unique_ptr<float[]> buffer(new float[scratch]);
    for (std::size_t at = begin; at < end; at += kBlockRows)
      block(a, at, at + kBlockRows < end ? at + kBlockRows : end, buffer.get());
  });
}

void probabilities(const LogisticArgs& a, double* P, int n_threads) {
  const auto block = logistic_loops::chosen().probability_block;
  parallel_ranges(a.n, kBlockRows * 8, n_threads, [&](std::size_t begin, std::size_t end) {
    std::unique_ptr<float[]> buffer(new float[kBlockRows * (a.Kp + a.d)]);
    for (std::size_t at = begin; at < end; at += kBlockRows)
      block(a, at, at + kBlockRows < end ? at + kBlockRows : end, buffer.get(), P);
  });
}

void softmax_rows(const LogisticArgs& args, const std::uint32_t* rows, std::size_t n_rows, float* Fb, float* P) {
  logistic_loops::chosen().softmax_rows(args, rows, n_rows, Fb, P);
}

void newton_rows(const LogisticArgs& args, const std::uint32_t* rows, std::size_t n_rows, double unit, float* S,
                 std::uint64_t* sums, std::uint64_t* out) {
  logistic_loops::chosen().newton_rows(args, rows, n_rows, unit, S, sums, out);
}

void newton_range(const LogisticArgs& args, const std::uint32_t* rows, std::size_t begin, std::size_t end,
                  const std::int32_t* leaf_of_row, double unit, float* S, std::uint64_t* tables,
                  std::uint64_t* counts) {
  logistic_loops::chosen().newton_range(args, rows, begin, end, leaf_of_row, unit, S, tables, counts);
}

void weigh_rows(const LogisticArgs& args, const float* P, const double* w, std::size_t n_rows, std::uint64_t* out) {
  logistic_loops::chosen().weigh_rows(args, P, w, n_rows, out);
}

void gradient_rows(const LogisticArgs& args, const std::uint32_t* rows, std::size_t n_rows, double unit,
                   std::uint64_t* out) {
  logistic_loops::chosen().gradient_rows(args, rows, n_rows, unit, out);
}

}  // namespace simplexboost
