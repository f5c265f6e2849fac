// The multiclass SVM by the sequential dual method, which keeps W up to date.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "svm/face.hpp"
#include "svm/hot.hpp"
#include "svm/linear.hpp"
#include "svm/problem.hpp"
#include "svm/tools.hpp"

namespace simplexboost {
namespace {

// Examples become inactive if only a change of scores by this many times the mean violation could move them. The
// largest violation would not do: one heavy example would keep all others active (twice the time on a set with repeated
// rows).
constexpr double kReach = 3.0;
constexpr std::size_t kPause = 16;  // passes between steps among the free variables, as long as these gain enough

// Whether the example sits in a corner of its simplex (all zero, or everything on one rival) that it would leave only
// if scores moved by more than `reach`.
bool settled(const double* F, const double* a, std::size_t K, std::size_t y, double C, double reach) {
  std::size_t corner = y;
  if (a[y] != 0.0) {
    corner = static_cast<std::size_t>(std::min_element(a, a + K) - a);
    if (a[corner] > -C * (1.0 - kDust)) return false;
  }
  double other = -INFINITY;
  for (std::size_t l = 0; l < K; ++l)
    if (l != corner) other = std::max(other, F[l]);
  return F[corner] - other > reach;
}

// Conjugate gradients among the free variables of the first `active` examples of the order, as long as they gain more
// than `rate` per visit; updates a and W.
SvmFaceStep face_step(const SvmProblem& problem, const LinearScores& linear, const std::vector<double>& square,
                      const std::vector<std::size_t>& order, std::size_t active, double rate, double* a, double* W) {
  const std::size_t K = problem.K;
  SvmFace face;
  face.K = K;
  std::vector<std::size_t> rows;
  for (std::size_t r = 0; r < active; ++r) {
    const std::size_t i = order[r];
    if (square[i] > 0.0 && svm_is_free(a + i * K, K, static_cast<std::size_t>(problem.y[i]), problem.C[i]))
      rows.push_back(i);
  }
  face.m = rows.size();
  if (rows.empty()) return {};
  std::vector<double> F(linear.Kp()), V(linear.w_size());
  std::vector<Change> change(K);
  for (const std::size_t i : rows) {
    linear.margins(i, W, 1.0, F.data());
    face.y.push_back(static_cast<std::size_t>(problem.y[i]));
    face.C.push_back(problem.C[i]), face.square.push_back(square[i]);
    face.a.insert(face.a.end(), a + i * K, a + (i + 1) * K);
    face.F.insert(face.F.end(), F.data(), F.data() + K);
  }
  const auto add = [&](const double* D, double* to) {
    for (std::size_t r = 0; r < rows.size(); ++r) {
      std::size_t n_changed = 0;
      for (std::size_t l = 0; l < K; ++l)
        if (D[r * K + l] != 0.0) change[n_changed++] = {l, D[r * K + l]};
      if (n_changed > 0) linear.add(rows[r], change.data(), n_changed, to);
    }
  };
  const SvmFaceStep step = svm_face_step(face, rate * static_cast<double>(face.m), [&](const double* D, double* QD) {
    std::fill(V.begin(), V.end(), 0.0);
    add(D, V.data());
    for (std::size_t r = 0; r < rows.size(); ++r) {
      linear.scores(rows[r], V.data(), F.data());
      std::copy_n(F.data(), K, QD + r * K);
    }
  });
  if (step.change.empty()) return step;
  add(step.change.data(), W);
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (std::size_t l = 0; l < K; ++l) a[rows[r] * K + l] += step.change[r * K + l];
  return step;
}

}  // namespace

SvmResult svm_linear(const SvmProblem& problem, double bias, const SvmOptions& options) {
  const std::size_t n = problem.rows.n, K = problem.K;
  const LinearScores linear(problem, bias);
  const auto visit = svm_hot().visit;
  SvmResult result;
  result.a.assign(n * K, 0.0);
  std::vector<double> W(linear.w_size(), 0.0), F(linear.Kp()), scratch(2 * K), square(n);
  std::vector<Change> change(K);
  for (std::size_t i = 0; i < n; ++i) square[i] = linear.square(i);
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::size_t active = n;
  Random random(options.seed);
  Clock clock(256);
  double reach = INFINITY, trigger = INFINITY, sum_own = 0.0;
  std::size_t since = 0, pause = kPause;
  std::int64_t visited = 0;
  const std::int64_t limit = visits(options.max_iter, n);

  while (visited < limit && !result.converged) {
    visited += static_cast<std::int64_t>(active);
    result.n_iter = passes(visited, n);
    for (std::size_t r = active; r > 1; --r) std::swap(order[r - 1], order[random.below(r)]);
    double gap = 0.0, worst = 0.0, sum = 0.0;
    std::size_t n_violated = 0;
    for (std::size_t r = 0; r < active;) {
      const std::size_t i = order[r], y = static_cast<std::size_t>(problem.y[i]);
      double* a = result.a.data() + i * K;
      const double C = problem.C[i], before = a[y];
      linear.margins(i, W.data(), 1.0, F.data());
      const Visit seen = visit(F.data(), a, K, y, C, square[i], 1e-12, scratch.data(), change.data());
      gap += seen.gap;
      worst = std::max(worst, seen.violation);
      sum += seen.violation, n_violated += seen.violation > 0.0;
      if (seen.n_changed > 0) {
        linear.add(i, change.data(), seen.n_changed, W.data());
        sum_own += a[y] - before;
      } else if (settled(F.data(), a, K, y, C, reach)) {
        std::swap(order[r], order[--active]);
        continue;
      }
      ++r;
      if (clock.due()) options.tick({result.n_iter, NAN, NAN, active});
    }
    reach = std::min(worst, kReach * sum / static_cast<double>(std::max<std::size_t>(n_violated, 1)));
    const double before = result.dual;
    result.dual = sum_own - 0.5 * linear.square_norm(W.data());
    if (++since >= pause) {
      const double rate = (result.dual - before) / static_cast<double>(active);  // what a visit gains
      const SvmFaceStep step = face_step(problem, linear, square, order, active, rate, result.a.data(), W.data());
      pause = step.gain > rate * static_cast<double>(step.products * step.m)
                  ? kPause
                  : std::min<std::size_t>(2 * pause, 64 * kPause);
      since = 0;
      visited += static_cast<std::int64_t>(step.products * step.m);
      if (step.gain > 0.0) {
        sum_own = 0.0;
        for (std::size_t i = 0; i < n; ++i) sum_own += result.a[i * K + static_cast<std::size_t>(problem.y[i])];
        reach = INFINITY;
      }
    }
    options.tick({result.n_iter, result.dual + gap, result.dual, active});
    const bool last = visited >= limit;
    if (!last && gap > std::min(trigger, options.tol * (result.dual + gap))) continue;
    // The gap summed during a pass is only a hint to stop; the exact one is that of the current W over all examples.
    result.primal = 0.5 * linear.square_norm(W.data()) + linear.sum_of_hinges(W.data());
    result.converged = result.primal - result.dual <= options.tol * result.primal;
    trigger = 0.7 * gap;
    active = n;
    reach = INFINITY;
  }
  result.W = linear.unpadded(W.data());
  return result;
}

}  // namespace simplexboost
