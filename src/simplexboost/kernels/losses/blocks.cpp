#include "losses/blocks.hpp"

#include <vector>

#include "core/isa.hpp"
#include "core/pool.hpp"

namespace simplexboost {

namespace block_loops {

struct Table {
  void (*pull_rows)(const BlockArgs&, std::size_t, std::size_t, float*);
  void (*loss_rows)(const BlockArgs&, std::size_t, std::size_t, float*, float*);
};

#define LOOPS "losses/blocks.inl"
#include "core/clones.inl"

}  // namespace block_loops

namespace {

constexpr std::size_t kRowsOfTask = 384;

std::vector<float> scratch(const BlockArgs& a) { return std::vector<float>(3 * a.Kp + a.B); }

}  // namespace

void blocks_pull(const BlockArgs& a, int n_threads) {
  parallel_ranges(a.n, kRowsOfTask, n_threads, [&](std::size_t begin, std::size_t end) {
    block_loops::chosen().pull_rows(a, begin, end, scratch(a).data());
  });
}

void block_losses(const BlockArgs& a, float* out, int n_threads) {
  parallel_ranges(a.n, kRowsOfTask, n_threads, [&](std::size_t begin, std::size_t end) {
    block_loops::chosen().loss_rows(a, begin, end, scratch(a).data(), out);
  });
}

}  // namespace simplexboost
