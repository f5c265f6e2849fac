#include "core/pool.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#define SIMPLEXBOOST_HAS_FORK 1
#endif

namespace simplexboost {
namespace {

// One batch of tasks. It is on the caller's stack, so workers may use it only while they hold one of its seats.
struct Batch {
  const Task* task;
  std::size_t n_tasks;
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  std::exception_ptr error;

  void work() {
    for (std::size_t i; !failed && (i = next.fetch_add(1, std::memory_order_relaxed)) < n_tasks;) {
      try {
        (*task)(i);
      } catch (...) {
        if (!failed.exchange(true)) error = std::current_exception();
      }
    }
  }
};

inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

// A tree is a thousand short batches in a row. A worker that slept after each would be woken a thousand times, for 20
// to 50 us each (two threads would then be only 1.1 times as fast as one, for 100000 rows). So a worker waits actively
// for the next batch for a while before it sleeps.
constexpr int kSpins = 4000;  // 50 to 200 us, depending on the processor

class Pool {
 public:
  // Returns false if another caller uses the pool; this caller must then work alone.
  bool run(Batch& batch, int n_threads) {
    std::unique_lock<std::mutex> owner(owner_, std::try_to_lock);
    if (!owner.owns_lock()) return false;
    grow(n_threads - 1);
    batch_ = &batch;
    seats_ = n_threads - 1;
    ++epoch_;
    if (sleepers_ > 0) {
      std::lock_guard<std::mutex> lock(mutex_);
      wake_.notify_all();
    }
    batch.work();
    seats_ = 0;  // no more workers may enter
    for (int spins = 0; active_ > 0; ++spins) spins < kSpins ? relax() : std::this_thread::yield();
    return true;
  }

 private:
  void grow(int n_workers) {
    while (n_workers_ < n_workers) {
      std::thread([this] { serve(); }).detach();
      ++n_workers_;
    }
  }

  void serve() {
    for (std::size_t seen = 0;;) {
      seen = wait_for_batch(seen);
      ++active_;  // before taking the seat: the caller waits for all that may have one
      if (take_seat()) batch_.load()->work();
      --active_;
    }
  }

  std::size_t wait_for_batch(std::size_t seen) {
    for (int spins = 0; spins < kSpins; ++spins) {
      if (epoch_ != seen) return epoch_;
      relax();
    }
    std::unique_lock<std::mutex> lock(mutex_);
    ++sleepers_;
    wake_.wait(lock, [&] { return epoch_ != seen; });
    --sleepers_;
    return epoch_;
  }

  bool take_seat() {
    int seats = seats_;
    while (seats > 0 && !seats_.compare_exchange_weak(seats, seats - 1)) {
    }
    return seats > 0;
  }

  std::mutex owner_, mutex_;
  std::condition_variable wake_;
  int n_workers_ = 0;
  std::atomic<Batch*> batch_{nullptr};
  std::atomic<int> seats_{0}, active_{0}, sleepers_{0};
  std::atomic<std::size_t> epoch_{0};
};

// Never destroyed: detached workers may outlive static destructors at interpreter exit.
Pool* pool = nullptr;

Pool& shared_pool() {
  static std::once_flag once;
  std::call_once(once, [] {
    pool = new Pool;
#ifdef SIMPLEXBOOST_HAS_FORK
    // A forked child inherits the pool's memory but none of its threads, so it gets a new pool (the old one leaks).
    pthread_atfork(nullptr, nullptr, [] { pool = new Pool; });
#endif
  });
  return *pool;
}

}  // namespace

void parallel_for(std::size_t n_tasks, int n_threads, const Task& task) {
  Batch batch{&task, n_tasks, {0}, {false}, nullptr};
  const int useful = static_cast<int>(std::min<std::size_t>(n_tasks, static_cast<std::size_t>(std::max(1, n_threads))));
  if (useful <= 1 || !shared_pool().run(batch, useful)) batch.work();
  if (batch.error) std::rethrow_exception(batch.error);
}

void parallel_ranges(std::size_t n, std::size_t grain, int n_threads,
                     const std::function<void(std::size_t, std::size_t)>& body) {
  const std::size_t n_ranges = (n + grain - 1) / grain;
  parallel_for(n_ranges, n_threads, [&](std::size_t r) { body(r * grain, std::min(n, (r + 1) * grain)); });
}

}  // namespace simplexboost
