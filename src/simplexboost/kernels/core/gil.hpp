// Python's global lock, around computations that need no Python: other Python threads run meanwhile, and a signal such
// as Ctrl-C ends the computation.
#pragma once

#include <Python.h>

namespace simplexboost {

// Releases Python's lock until the end of the scope. In the main thread, which is the one that handles signals,
// parallel_for looks for them between two tasks, ten times a second; the exception of the signal's handler, for Ctrl-C
// KeyboardInterrupt, then ends the batch, and with it the computation.
class WithoutGil {
 public:
  WithoutGil();
  ~WithoutGil();
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* state_;
};

// Takes Python's lock until the end of the scope, in any thread.
class WithGil {
 public:
  WithGil();
  ~WithGil() { PyGILState_Release(state_); }
  WithGil(const WithGil&) = delete;
  WithGil& operator=(const WithGil&) = delete;

 private:
  PyGILState_STATE state_;
};

// Lets parallel_for look for signals; to be called once, while the module is imported.
void watch_signals();

}  // namespace simplexboost
