// A small thread pool. Threads take tasks from an atomic counter, so it is not fixed which thread runs a task; every
// loop is written so that its result does not depend on that (exact integer sums, fixed row order).
#pragma once

#include <cstddef>
#include <functional>

namespace simplexboost {

using Task = std::function<void(std::size_t)>;

// Runs task(0) ... task(n_tasks - 1) on up to n_threads threads, including the caller's; returns when all are done.
// It runs serially if one thread suffices or another caller uses the pool. Exceptions are rethrown in the caller.
void parallel_for(std::size_t n_tasks, int n_threads, const Task& task);

// Splits [0, n) into ranges of at most `grain` and runs body(begin, end) on each. Ranges do not depend on n_threads.
void parallel_ranges(std::size_t n, std::size_t grain, int n_threads,
                     const std::function<void(std::size_t, std::size_t)>& body);

}  // namespace simplexboost
