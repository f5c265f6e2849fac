#include "pool.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#define SIMPLEXBOOST_HAS_FORK 1
#endif

namespace simplexboost {
namespace {

// One batch of tasks. Lives on the caller's stack; workers touch it only between `enter` and `leave`.
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

class Pool {
 public:
  // False when another caller holds the pool: the caller then works alone.
  bool run(Batch& batch, int n_threads) {
    std::unique_lock<std::mutex> owner(owner_, std::try_to_lock);
    if (!owner.owns_lock()) return false;
    grow(n_threads - 1);
    {
      std::lock_guard<std::mutex> lock(mutex_);
      batch_ = &batch;
      seats_ = n_threads - 1;
      ++epoch_;
    }
    wake_.notify_all();
    batch.work();
    std::unique_lock<std::mutex> lock(mutex_);
    batch_ = nullptr;  // nobody may enter any more
    idle_.wait(lock, [this] { return active_ == 0; });
    return true;
  }

 private:
  void grow(int n_workers) {
    while (static_cast<int>(workers_.size()) < n_workers) {
      workers_.emplace_back([this] { serve(); });
      workers_.back().detach();
    }
  }

  void serve() {
    std::size_t seen = 0;
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return epoch_ != seen; });
      seen = epoch_;
      if (batch_ == nullptr || seats_ == 0) continue;
      Batch& batch = *batch_;
      --seats_;
      ++active_;
      lock.unlock();
      batch.work();
      lock.lock();
      if (--active_ == 0) idle_.notify_one();
    }
  }

  std::mutex owner_;
  std::mutex mutex_;
  std::condition_variable wake_, idle_;
  std::vector<std::thread> workers_;
  Batch* batch_ = nullptr;
  int seats_ = 0;
  int active_ = 0;
  std::size_t epoch_ = 0;
};

// Never destroyed: detached workers may outlive static destructors at interpreter exit.
Pool* pool = nullptr;

Pool& shared_pool() {
  static std::once_flag once;
  std::call_once(once, [] {
    pool = new Pool;
#ifdef SIMPLEXBOOST_HAS_FORK
    // A forked child inherits the pool's memory but none of its threads: give it a fresh pool (the old one leaks).
    pthread_atfork(nullptr, nullptr, [] { pool = new Pool; });
#endif
  });
  return *pool;
}

}  // namespace

void parallel_for(std::size_t n_tasks, int n_threads, const Task& task) {
  Batch batch{&task, n_tasks};
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
