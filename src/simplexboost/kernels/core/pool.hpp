// A small thread pool. Tasks are claimed from an atomic counter, so which thread runs a task is not fixed;
// every loop is written so that its result does not depend on it (exact integer sums, fixed row order).
#pragma once

#include <cstddef>
#include <functional>

namespace simplexboost {

using Task = std::function<void(std::size_t)>;

// Runs task(0) ... task(n_tasks - 1) on up to n_threads threads, the caller among them; returns when all are done.
// Serial when one thread suffices, or when the pool is busy with another caller. Exceptions reach the caller.
void parallel_for(std::size_t n_tasks, int n_threads, const Task& task);

// Splits [0, n) in ranges of at most `grain` and runs body(begin, end) on each. Ranges do not depend on n_threads.
void parallel_ranges(std::size_t n, std::size_t grain, int n_threads,
                     const std::function<void(std::size_t, std::size_t)>& body);

}  // namespace simplexboost
