// The thread pool and the arena in a program of their own, which `make sanitize` builds with TSan: callers that
// overlap, batches of every size, exceptions, tasks that ask for threads themselves, a short lock, and memory that is
// handed on.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include "core/arena.hpp"
#include "core/pool.hpp"

using namespace simplexboost;

namespace {

// Batches of 0 to 40 tasks; every result must be there when the call returns, written by whichever thread.
std::size_t batches(std::size_t rounds, int n_threads) {
  std::size_t wrong = 0;
  for (std::size_t round = 0; round < rounds; ++round) {
    std::vector<std::size_t> out(round % 41, 0);  // not atomic: the pool must order what tasks write and callers read
    parallel_for(out.size(), n_threads, [&](std::size_t i) { out[i] = i + round; });
    for (std::size_t i = 0; i < out.size(); ++i) wrong += out[i] != i + round;
  }
  return wrong;
}

std::size_t exceptions(std::size_t rounds, int n_threads) {
  std::size_t caught = 0;
  for (std::size_t round = 0; round < rounds; ++round) {
    try {
      parallel_for(16, n_threads, [&](std::size_t i) {
        if (i == round % 16) throw std::runtime_error("meant");
      });
    } catch (const std::runtime_error&) {
      ++caught;
    }
  }
  return rounds - caught;
}

std::size_t locked_sums(std::size_t rounds, int n_threads) {
  std::size_t wrong = 0;
  for (std::size_t round = 0; round < rounds; ++round) {
    ShortLock lock;
    std::size_t sum = 0;
    parallel_for(64, n_threads, [&](std::size_t i) {
      std::lock_guard<ShortLock> guard(lock);
      sum += i;
    });
    wrong += sum != 64 * 63 / 2;
  }
  return wrong;
}

// Buffers that tasks take, fill and give back, so that one thread gets the memory of another.
std::size_t buffers(std::size_t rounds, int n_threads) {
  std::vector<std::uint64_t> sums(rounds, 0);
  parallel_ranges(rounds, 3, n_threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) {
      Buffer<std::uint64_t> buffer(64 + r % 3);
      std::iota(buffer.data(), buffer.data() + 64, r);
      sums[r] = std::accumulate(buffer.data(), buffer.data() + 64, std::uint64_t{0});
    }
  });
  std::size_t wrong = 0;
  for (std::size_t r = 0; r < rounds; ++r) wrong += sums[r] != 64 * r + 64 * 63 / 2;
  return wrong;
}

std::size_t nested(std::size_t rounds, int n_threads) {
  std::size_t wrong = 0;
  for (std::size_t round = 0; round < rounds; ++round) {
    std::vector<std::size_t> of_task(8, 0);
    parallel_for(8, n_threads, [&](std::size_t i) { of_task[i] = batches(3, n_threads); });
    wrong += std::accumulate(of_task.begin(), of_task.end(), std::size_t{0});
  }
  return wrong;
}

}  // namespace

int main() {
  make_pool();
  std::vector<std::size_t> wrong(4, 0);
  std::vector<std::thread> callers;
  for (std::size_t caller = 0; caller < wrong.size(); ++caller)
    callers.emplace_back([&wrong, caller] {
      const int n_threads = 2 + static_cast<int>(caller);
      wrong[caller] = batches(20000, n_threads) + exceptions(3000, n_threads) + locked_sums(2000, n_threads) +
                      buffers(20000, n_threads) + nested(1000, n_threads);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));  // workers fall asleep, and are woken again
      wrong[caller] += batches(2000, 2 * n_threads);
    });
  for (std::thread& caller : callers) caller.join();
  const std::size_t all = std::accumulate(wrong.begin(), wrong.end(), std::size_t{0});
  std::printf("the thread pool: %zu wrong results\n", all);
  return all == 0 ? 0 : 1;
}
