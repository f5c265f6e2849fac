// A small thread pool. Threads take tasks from an atomic counter, so it is not fixed which thread runs a task; every
// loop is written so that its result does not depend on that (exact integer sums, fixed row order).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>

namespace simplexboost {

inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

using Task = std::function<void(std::size_t)>;

// Runs task(0) ... task(n_tasks - 1) on up to n_threads threads, including the caller's; returns when all are done.
// It runs serially if one thread suffices or another caller uses the pool, and on fewer threads if the system starts no
// more. Exceptions are rethrown in the caller; tasks that have not begun by then are left out.
void parallel_for(std::size_t n_tasks, int n_threads, const Task& task);

// What the caller of parallel_for calls after each of its own tasks, unless it is null. It may throw, like a task.
extern void (*between_tasks)();

// Makes the pool. A process may fork at any moment, so this is called while the module is imported, not at first use.
void make_pool();

// Returns when ready() is true; it waits actively, for what takes other threads microseconds.
template <class Ready>
void wait_until(const Ready& ready) {
  for (int spins = 0; !ready(); ++spins) spins < 4000 ? relax() : std::this_thread::yield();
}

// A lock for a few hundred nanoseconds. A mutex would put waiting threads to sleep, and to wake them takes longer than
// the work that they wait for.
class ShortLock {
 public:
  void lock() {
    while (taken_.exchange(true, std::memory_order_acquire))
      wait_until([&] { return !taken_.load(std::memory_order_relaxed); });
  }
  void unlock() { taken_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> taken_{false};
};

// As many of n_threads as `work` is worth: to hand a part to a thread, and to wait for it, costs a few microseconds, so
// each should have at least `enough`.
inline int worth_threads(std::size_t work, std::size_t enough, int n_threads) {
  return static_cast<int>(std::clamp<std::size_t>(work / enough, 1, static_cast<std::size_t>(std::max(1, n_threads))));
}

// Splits [0, n) into ranges of at most `grain` and runs body(begin, end) on each. Ranges do not depend on n_threads.
void parallel_ranges(std::size_t n, std::size_t grain, int n_threads,
                     const std::function<void(std::size_t, std::size_t)>& body);

}  // namespace simplexboost
