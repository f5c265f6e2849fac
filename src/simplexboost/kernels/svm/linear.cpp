// The multiclass SVM with W kept up to date: the sequential dual method, and stochastic sub-gradients.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "svm/face.hpp"
#include "svm/hot.hpp"
#include "svm/problem.hpp"
#include "svm/tools.hpp"

namespace simplexboost {
namespace {

// Examples rest when scores would have to move by this many times the mean violation. Not by the largest: a heavy
// example would keep all others awake (twice the time on a set with repeated rows).
constexpr double kReach = 3.0;
constexpr std::size_t kPause = 16;  // passes between steps among the free variables, while these pay

// The examples with their constant appended, and W (p + 1, Kp) feature by feature, so that vectors run along classes.
class Linear {
 public:
  Linear(const SvmProblem& problem, double bias)
      : problem_(problem), rows_(problem.rows), bias_(bias), Kp_(padded8(problem.K)), hot_(svm_hot()) {}

  std::size_t Kp() const { return Kp_; }
  std::size_t w_size() const { return (rows_.p + 1) * Kp_; }

  double square(std::size_t i) const {  // |x|^2, the constant included
    double sum = bias_ * bias_;
    if (rows_.dense)
      for (std::size_t j = 0; j < rows_.p; ++j) sum += rows_.dense[i * rows_.p + j] * rows_.dense[i * rows_.p + j];
    else
      for (std::int64_t j = rows_.indptr[i]; j < rows_.indptr[i + 1]; ++j) sum += rows_.data[j] * rows_.data[j];
    return sum;
  }

  // F (Kp,) = scale <w_l, x_i> + [l != y]
  void margins(std::size_t i, const double* W, double scale, double* F) const {
    scores(i, W, F);
    for (std::size_t k = 0; k < Kp_; ++k) F[k] = F[k] * scale + 1.0;
    F[problem_.y[i]] -= 1.0;
  }

  void scores(std::size_t i, const double* W, double* F) const {
    const double* constant = W + rows_.p * Kp_;
    for (std::size_t k = 0; k < Kp_; ++k) F[k] = bias_ * constant[k];
    if (rows_.dense) {
      hot_.scores_dense(rows_.dense + i * rows_.p, rows_.p, W, Kp_, F);
    } else {
      const std::int64_t begin = rows_.indptr[i];
      hot_.scores_sparse(rows_.data + begin, rows_.indices + begin,
                         static_cast<std::size_t>(rows_.indptr[i + 1] - begin), W, Kp_, F);
    }
  }

  void add(std::size_t i, const Change* change, std::size_t n_changed, double* W) const {
    double* constant = W + rows_.p * Kp_;
    for (std::size_t c = 0; c < n_changed; ++c) constant[change[c].k] += change[c].by * bias_;
    if (rows_.dense) {
      hot_.add_dense(rows_.dense + i * rows_.p, rows_.p, change, n_changed, W, Kp_);
    } else {
      const std::int64_t begin = rows_.indptr[i];
      hot_.add_sparse(rows_.data + begin, rows_.indices + begin, static_cast<std::size_t>(rows_.indptr[i + 1] - begin),
                      change, n_changed, W, Kp_);
    }
  }

  double square_norm(const double* W) const {
    double sum = 0.0;
    for (std::size_t j = 0; j < w_size(); ++j) sum += W[j] * W[j];
    return sum;
  }

  double sum_of_hinges(const double* W) const {
    std::vector<double> F(Kp_);
    double sum = 0.0;
    for (std::size_t i = 0; i < rows_.n; ++i) {
      margins(i, W, 1.0, F.data());
      sum += problem_.C[i] * (*std::max_element(F.data(), F.data() + problem_.K) - F[problem_.y[i]]);
    }
    return sum;
  }

  std::vector<double> unpadded(const double* W) const {  // (p + 1, K)
    const std::size_t K = problem_.K;
    std::vector<double> out((rows_.p + 1) * K);
    for (std::size_t j = 0; j <= rows_.p; ++j) std::copy_n(W + j * Kp_, K, out.data() + j * K);
    return out;
  }

 private:
  const SvmProblem& problem_;
  const SvmRows& rows_;
  double bias_;
  std::size_t Kp_;
  const SvmHot& hot_;
};

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
// than `rate` per visit; a and W follow.
SvmFaceStep face_step(const SvmProblem& problem, const Linear& linear, const std::vector<double>& square,
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
  const Linear linear(problem, bias);
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
    // The sum over a pass says it is time; what counts is the gap of the W at hand, over all examples.
    result.primal = 0.5 * linear.square_norm(W.data()) + linear.sum_of_hinges(W.data());
    result.converged = result.primal - result.dual <= options.tol * result.primal;
    trigger = 0.7 * gap;
    active = n;
    reach = INFINITY;
  }
  result.W = linear.unpadded(W.data());
  return result;
}

SvmResult svm_sgd(const SvmProblem& problem, double bias, const SvmOptions& options) {
  // With lambda = 1 / (n C) and steps 1 / (lambda t), W_t = V_t / t where V adds n C_i x_i for y and subtracts it for
  // the worst rival; the average that weighs W_t by t is the sum of all V_t over T (T + 1) / 2. Both are dual feasible,
  // nearly: an example is seen once a pass, and then adds n C_i / T to its own dual variable, so the gap costs one
  // pass.
  const std::size_t n = problem.rows.n, K = problem.K;
  const Linear linear(problem, bias);
  SvmResult result;
  std::vector<double> V(linear.w_size(), 0.0), late(linear.w_size(), 0.0), average(linear.w_size()), F(linear.Kp());
  std::vector<double> count(n, 0.0), times(n, 0.0);  // how often an example was violated, and the sum of those t
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  Random random(options.seed);
  Clock clock(256);
  double t = 0.0;
  std::int64_t next_look = 1;
  while (result.n_iter < options.max_iter && !result.converged) {
    ++result.n_iter;
    for (std::size_t r = n; r > 1; --r) std::swap(order[r - 1], order[random.below(r)]);
    for (const std::size_t i : order) {
      const std::size_t y = static_cast<std::size_t>(problem.y[i]);
      linear.margins(i, V.data(), t > 0.0 ? 1.0 / t : 0.0, F.data());
      t += 1.0;
      const std::size_t worst = static_cast<std::size_t>(std::max_element(F.data(), F.data() + K) - F.data());
      if (F[worst] > F[y]) {
        const double step = static_cast<double>(n) * problem.C[i];
        Change change[2] = {{y, step}, {worst, -step}};
        linear.add(i, change, 2, V.data());
        change[0].by *= t, change[1].by *= t;
        linear.add(i, change, 2, late.data());
        count[i] += 1.0, times[i] += t;
      }
      if (clock.due()) options.tick({result.n_iter, NAN, NAN, n});
    }
    if (result.n_iter < next_look && result.n_iter < options.max_iter) continue;
    next_look = result.n_iter + (result.n_iter + 3) / 4;
    const double share = 2.0 / (t * (t + 1.0));
    for (std::size_t j = 0; j < V.size(); ++j) average[j] = share * ((t + 1.0) * V[j] - late[j]);
    double sum_own = 0.0, largest = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      const double own = share * ((t + 1.0) * count[i] - times[i]) * static_cast<double>(n);  // in units of C_i
      sum_own += own * problem.C[i];
      largest = std::max(largest, own);
    }
    const double square = linear.square_norm(average.data());
    const double shrink = std::min(largest > 0.0 ? 1.0 / largest : 0.0, square > 0.0 ? sum_own / square : 1.0);
    result.dual = shrink * sum_own - 0.5 * shrink * shrink * square;
    result.primal = 0.5 * square + linear.sum_of_hinges(average.data());
    result.converged = result.primal - result.dual <= options.tol * result.primal;
    options.tick({result.n_iter, result.primal, result.dual, n});
  }
  result.W = linear.unpadded(average.data());
  return result;
}

}  // namespace simplexboost
