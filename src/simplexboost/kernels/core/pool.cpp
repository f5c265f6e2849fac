#include "core/pool.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "core/arena.hpp"

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#include <signal.h>
#define SIMPLEXBOOST_HAS_FORK 1
#endif

namespace simplexboost {
namespace {

// One batch of tasks. It is on the caller's stack, so a worker may use it only while it holds a seat.
struct Batch {
  const Task* task;
  std::size_t n_tasks;
  alignas(64) std::atomic<std::size_t> next{0};  // apart from what is only read
  alignas(64) std::atomic<bool> failed{false};
  std::exception_ptr error = nullptr;

  void work(bool is_caller = false) {
    for (std::size_t i;
         !failed.load(std::memory_order_relaxed) && (i = next.fetch_add(1, std::memory_order_relaxed)) < n_tasks;) {
      try {
        (*task)(i);
        if (is_caller && between_tasks != nullptr) between_tasks();
      } catch (...) {
        if (!failed.exchange(true)) error = std::current_exception();
      }
    }
  }
};

// A tree is hundreds of short batches in a row. A worker that slept after each would be woken as often, for 20 to 50 us
// each (two threads would then be only 1.1 times as fast as one, for 100000 rows). So a worker waits actively for the
// next batch for a while before it sleeps.
constexpr int kSpins = 4000;  // 50 to 200 us, depending on the processor

constexpr int kMostThreads = 1024;

// A worker's place, on cache lines of its own: only the caller and this worker touch it, so that a batch for four
// threads costs the same whether the pool has four or sixteen. The caller offers a batch; the worker takes it, unless
// the caller has withdrawn it first, because the others were done before this worker woke up.
struct alignas(64) Seat {
  enum State : int { idle, offered, taken };
  std::atomic<int> state{idle};
  std::atomic<bool> asleep{false};
  Batch* batch = nullptr;   // what is offered
  std::size_t n_seats = 0;  // to how many workers
  std::mutex mutex;
  std::condition_variable called;

  void offer(Batch& work, std::size_t n) {
    batch = &work;
    n_seats = n;
    state.store(offered, std::memory_order_release);
  }

  bool take() {
    int expected = offered;
    return state.compare_exchange_strong(expected, taken);
  }

  void withdraw() {
    int expected = offered;
    state.compare_exchange_strong(expected, idle);
  }

  void leave() { state.store(idle, std::memory_order_release); }

  bool is_idle() const { return state.load(std::memory_order_acquire) == idle; }

  void wake() {
    if (!asleep) return;
    std::lock_guard<std::mutex> lock(mutex);
    called.notify_one();
  }

  void wait_for_offer() {
    for (int spins = 0; spins < kSpins; ++spins) {
      if (!is_idle()) return;
      relax();
    }
    std::unique_lock<std::mutex> lock(mutex);
    asleep = true;
    called.wait(lock, [&] { return state != idle; });
    asleep = false;
  }
};

// Blocks signals for threads that are started in its scope. Signals are for the threads of the program: one that a
// worker received would not wake the thread that waits for it. Those that report a thread's own fault, and those of
// profilers, are let through.
class WithoutSignals {
#ifdef SIMPLEXBOOST_HAS_FORK
 public:
  WithoutSignals() {
    sigset_t all;
    sigfillset(&all);
    for (int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF}) sigdelset(&all, own);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~WithoutSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
#endif
};

class Pool {
 public:
  // Returns false if another caller uses the pool; this caller must then work alone.
  bool run(Batch& batch, int n_threads) {
    std::unique_lock<std::mutex> owner(owner_, std::try_to_lock);
    if (!owner.owns_lock()) return false;
    grow(static_cast<std::size_t>(n_threads - 1));
    const std::size_t n = std::min(seats_.size(), static_cast<std::size_t>(n_threads - 1));
    for (std::size_t i = n; i-- > 0;) seats_[i]->offer(batch, n);  // the last first: see wake_next
    wake_next(0, n);
    batch.work(true);
    for (std::size_t i = 0; i < n; ++i) seats_[i]->withdraw();
    for (std::size_t i = 0; i < n; ++i) wait_until([&] { return seats_[i]->is_idle(); });
    return true;
  }

 private:
  // If the system refuses to start another thread, the pool stays as it is, and so do the results.
  void grow(std::size_t n_workers) {
    if (seats_.size() >= n_workers || refused_) return;
    const WithoutSignals in_workers;
    while (seats_.size() < n_workers && !refused_) {
      seats_.push_back(std::make_unique<Seat>());
      try {
        std::thread([this, seat = seats_.back().get(), place = seats_.size()] { serve(*seat, place); }).detach();
      } catch (const std::system_error&) {
        seats_.pop_back();
        refused_ = true;
      }
    }
  }

  // Thread 0 is the caller, and thread i has seat i - 1.
  void serve(Seat& seat, std::size_t place) {
    for (;;) {
      seat.wait_for_offer();
      if (!seat.take()) continue;
      wake_next(place, seat.n_seats);
      seat.batch->work();
      seat.leave();
    }
  }

  // To wake a sleeping thread takes microseconds, so each thread wakes two others. Their seats were offered before its
  // own was.
  void wake_next(std::size_t place, std::size_t n_seats) {
    std::atomic_thread_fence(std::memory_order_seq_cst);  // offers come before the look whether somebody sleeps
    for (std::size_t i = 2 * place; i < std::min(2 * place + 2, n_seats); ++i) seats_[i]->wake();
  }

  std::mutex owner_;
  std::vector<std::unique_ptr<Seat>> seats_;
  bool refused_ = false;
};

// Never destroyed: detached workers may outlive static destructors at interpreter exit.
Pool* pool = nullptr;

}  // namespace

void (*between_tasks)() = nullptr;

void make_pool() {
  pool = new Pool;
  Arena::renew();
#ifdef SIMPLEXBOOST_HAS_FORK
  // A forked child inherits memory but no threads: the workers are gone, and so is a thread that held the arena's lock.
  // So it gets a new pool and a new arena (the old ones leak).
  pthread_atfork(nullptr, nullptr, [] {
    pool = new Pool;
    Arena::renew();
  });
#endif
}

void parallel_for(std::size_t n_tasks, int n_threads, const Task& task) {
  Batch batch{&task, n_tasks};
  const int allowed = std::clamp(n_threads, 1, kMostThreads);
  const int useful = static_cast<int>(std::min<std::size_t>(n_tasks, static_cast<std::size_t>(allowed)));
  if (useful <= 1 || !pool->run(batch, useful)) batch.work(true);
  if (batch.error) std::rethrow_exception(batch.error);
}

void parallel_ranges(std::size_t n, std::size_t grain, int n_threads,
                     const std::function<void(std::size_t, std::size_t)>& body) {
  const std::size_t n_ranges = (n + grain - 1) / grain;
  parallel_for(n_ranges, n_threads, [&](std::size_t r) { body(r * grain, std::min(n, (r + 1) * grain)); });
}

}  // namespace simplexboost
