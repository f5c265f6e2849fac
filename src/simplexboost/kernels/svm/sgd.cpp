// The multiclass SVM by stochastic sub-gradients.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "svm/linear.hpp"
#include "svm/problem.hpp"
#include "svm/tools.hpp"

namespace simplexboost {

SvmResult svm_sgd(const SvmProblem& problem, double bias, const SvmOptions& options) {
  // With lambda = 1 / (n C) and steps 1 / (lambda t), W_t = V_t / t where V adds n C_i x_i for y and subtracts it for
  // the worst rival; the average that weights W_t by t is the sum of all V_t divided by T (T + 1) / 2. Both are almost
  // dual feasible: an example is visited once per pass, and each visit adds at most n C_i / T to its dual variable, so
  // that the gap can be computed in one more pass.
  const std::size_t n = problem.rows.n, K = problem.K;
  const LinearScores linear(problem, bias);
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
