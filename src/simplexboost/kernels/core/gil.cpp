#include "core/gil.hpp"

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "core/pool.hpp"

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace simplexboost {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kPatience = std::chrono::milliseconds(100);  // between two looks; a look may wait for Python's lock

std::atomic<unsigned long> main_thread{0};  // as Python identifies it

// When this thread looks for signals again; never, unless it is the main thread without Python's lock.
thread_local Clock::time_point next_look = Clock::time_point::max();

// Takes Python's lock. While the interpreter ends, Python gives it to no other thread any more: up to version 3.13 it
// ends a thread that asks for it, by unwinding its stack, which the destructors here must not let pass: the process
// would be aborted. So the thread stays here until the process is gone, as it does in later versions of Python.
template <class Take>
auto take_or_stay(const Take& take) {
  try {
    return take();
  } catch (...) {
    for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
  }
}

void look_for_signals() {
  if (next_look == Clock::time_point::max() || Clock::now() < next_look) return;
  const WithGil lock;
  if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
  next_look = Clock::now() + kPatience;
}

}  // namespace

WithoutGil::WithoutGil() : state_(PyEval_SaveThread()) {
  if (PyThread_get_thread_ident() == main_thread) next_look = Clock::now() + kPatience;
}

WithoutGil::~WithoutGil() {
  next_look = Clock::time_point::max();
  take_or_stay([this] {
    PyEval_RestoreThread(state_);
    return 0;
  });
}

WithGil::WithGil() : state_(take_or_stay([] { return PyGILState_Ensure(); })) {}

void watch_signals() {
  const auto threading = nanobind::module_::import_("threading");
  main_thread = nanobind::cast<unsigned long>(threading.attr("main_thread")().attr("ident"));
#if defined(__unix__) || defined(__APPLE__)
  // In a forked child the thread that forked is the main thread.
  pthread_atfork(nullptr, nullptr, [] { main_thread = PyThread_get_thread_ident(); });
#endif
  between_tasks = look_for_signals;
}

}  // namespace simplexboost
