// The multiclass SVM with a kernel function: a block of the worst examples is solved with all others fixed, then all
// scores are updated. A block needs its q rows of the Gram matrix (from a cache) and q x n products, which run at the
// speed of the first-level cache; one example at a time would read every score for every step.
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/pool.hpp"
#include "svm/face.hpp"
#include "svm/gram.hpp"
#include "svm/hot.hpp"
#include "svm/problem.hpp"
#include "svm/tools.hpp"

namespace simplexboost {
namespace {

constexpr std::size_t kBlock = 96;         // examples of a block
constexpr std::size_t kPasses = 10;        // the most passes over a block
constexpr double kEnough = 0.3;            // a block is done when its largest violation is reduced to this part
constexpr std::int64_t kShrinkEvery = 16;  // blocks
constexpr std::int64_t kPause = 8;   // blocks between steps among the free variables, as long as these gain enough
constexpr std::size_t kFace = 2048;  // the most examples in such a step

template <class T>
class KernelSolver {
 public:
  KernelSolver(const SvmProblem& problem, const SvmKernelSpec& spec, const SvmOptions& options)
      : problem_(problem),
        options_(options),
        gram_(problem, spec, options, 2 * kBlock),
        hot_(svm_hot()),
        n_(problem.rows.n),
        K_(problem.K),
        ld_(padded8(n_)),
        active_(n_),
        y_(n_),
        C_(n_),
        a_(n_ * K_, 0.0),
        F_(K_ * ld_, 1.0),
        high_(ld_),
        violation_(n_) {
    for (std::size_t i = 0; i < n_; ++i) {
      y_[i] = static_cast<std::size_t>(problem.y[i]);
      C_[i] = problem.C[i];
      F_[y_[i] * ld_ + i] = 0.0;
    }
  }

  SvmResult solve() {
    SvmResult result;
    std::int64_t blocks = 0, visited = 0, since = 0, pause = kPause;
    double last_dual = 0.0;
    const std::int64_t limit = visits(options_.max_iter, n_);
    for (;;) {
      const Sums sums = scan();
      result.primal = 0.5 * sums.square + sums.hinge, result.dual = sums.own - 0.5 * sums.square;
      result.n_iter = passes(visited, n_);
      if (blocks % 16 == 0) options_.tick({result.n_iter, result.primal, result.dual, active_});
      look_after_signals();
      const bool done = sums.gap <= options_.tol * result.primal || sums.worst <= 0.0;
      const bool last = visited >= limit;
      if (done || last) {
        if (active_ == n_) {
          result.converged = done;
          break;
        }
        unshrink();
        continue;
      }
      if (++blocks % kShrinkEvery == 0) shrink(sums.worst);
      visited += step();
      if (++since >= pause) {
        const SvmFaceStep face = face_step();
        pause = face.gain > result.dual - last_dual ? kPause : std::min<std::int64_t>(2 * pause, 64 * kPause);
        since = 0;
        last_dual = result.dual + face.gain;
        visited += static_cast<std::int64_t>(face.m);
      }
    }
    result.a.assign(n_ * K_, 0.0);
    for (std::size_t i = 0; i < n_; ++i) std::copy_n(a_.data() + i * K_, K_, result.a.data() + gram_.original(i) * K_);
    return result;
  }

 private:
  struct Sums {
    double gap = 0.0, square = 0.0, hinge = 0.0, own = 0.0, worst = 0.0;
  };
  // ---- what is violated, and how far from the optimum ---------------------------------------------------------------

  Sums scan() {
    Sums sums;
    hot_.column_highs(F_.data(), ld_, K_, 0, active_, high_.data());
    for (std::size_t i = 0; i < active_; ++i) {
      const double* a = a_.data() + i * K_;
      const double own = F_[y_[i] * ld_ + i], hinge = high_[i] - own;
      sums.hinge += C_[i] * hinge;
      double low = own, gap = C_[i] * hinge;
      if (a[y_[i]] > 0.0) {
        low = high_[i];
        gap = 0.0;
        double square = a[y_[i]];
        for (std::size_t l = 0; l < K_; ++l) {
          const double room = (l == y_[i] ? C_[i] : 0.0) - a[l], f = F_[l * ld_ + i];
          square += a[l] * f;
          if (room > kDust * C_[i]) low = std::min(low, f), gap += room * (high_[i] - f);
        }
        sums.square += square;
        sums.own += a[y_[i]];
      }
      sums.gap += gap;
      violation_[i] = high_[i] - low;
      sums.worst = std::max(sums.worst, violation_[i]);
    }
    for (std::size_t i = active_; i < n_; ++i) sums.own += a_[i * K_ + y_[i]];
    sums.square += resting_.square, sums.hinge += resting_.hinge;
    return sums;
  }

  // ---- a block ------------------------------------------------------------------------------------------------------

  std::int64_t step() {
    choose();
    const std::size_t q = block_.size(), ldq = padded8(q);
    gram_.fetch(block_, active_);
    std::vector<double> S(K_ * ldq, 0.0), Q(q * ldq, 0.0), a(q * K_), C(q), scratch(3 * K_);
    std::vector<std::size_t> y(q);
    std::vector<Change> change(K_);
    double worst = 0.0;
    for (std::size_t b = 0; b < q; ++b) {
      const std::size_t i = block_[b];
      for (std::size_t k = 0; k < K_; ++k) S[k * ldq + b] = F_[k * ld_ + i];
      for (std::size_t c = 0; c < q; ++c) Q[b * ldq + c] = gram_.row(i)[block_[c]];
      std::copy_n(a_.data() + i * K_, K_, a.data() + b * K_);
      C[b] = C_[i], y[b] = y_[i];
      worst = std::max(worst, violation_[i]);
    }
    hot_.solve_block(S.data(), ldq, q, K_, Q.data(), a.data(), y.data(), C.data(), kEnough * worst, kPasses,
                     scratch.data(), change.data());
    collect(q, [&](std::size_t b, std::size_t k) { return a[b * K_ + k] - a_[block_[b] * K_ + k]; });
    for (std::size_t b = 0; b < q; ++b) std::copy_n(a.data() + b * K_, K_, a_.data() + block_[b] * K_);
    add_entries(block_, 0, active_);
    return static_cast<std::int64_t>(q);
  }

  void look_after_signals() {
    if (clock_.due()) options_.tick({0, NAN, NAN, 0});
  }

  // Conjugate gradients among the free variables, if their Gram matrix is small enough to be kept.
  SvmFaceStep face_step() {
    std::vector<std::size_t> rows;
    for (std::size_t i = 0; i < active_; ++i)
      if (a_[i * K_ + y_[i]] > 0.0 && svm_is_free(a_.data() + i * K_, K_, y_[i], C_[i])) rows.push_back(i);
    const std::size_t m = rows.size(), ldm = padded8(m);
    if (m == 0 || m > std::min(kFace, gram_.capacity())) return {};
    gram_.fetch(rows, active_);
    SvmFace face;
    face.m = m, face.K = K_;
    std::vector<double> Q(m * ldm, 0.0), S(K_ * ldm);
    std::vector<const double*> Q_rows(m);
    for (std::size_t r = 0; r < m; ++r) {
      const std::size_t i = rows[r];
      const T* row = gram_.row(i);
      for (std::size_t s = 0; s < m; ++s) Q[r * ldm + s] = row[rows[s]];
      Q_rows[r] = Q.data() + r * ldm;
      face.y.push_back(y_[i]), face.C.push_back(C_[i]), face.square.push_back(Q[r * ldm + r]);
      face.a.insert(face.a.end(), a_.data() + i * K_, a_.data() + (i + 1) * K_);
      for (std::size_t k = 0; k < K_; ++k) face.F.push_back(F_[k * ld_ + i]);
    }
    const SvmFaceStep step = svm_face_step(face, 0.0, [&](const double* D, double* QD) {
      look_after_signals();
      collect(m, [&](std::size_t r, std::size_t k) { return D[r * K_ + k]; });
      std::fill(S.begin(), S.end(), 0.0);
      panels(0, m, options_.n_threads, [&](std::size_t from, std::size_t to) {
        hot_.gradient64(S.data(), ldm, K_, entries_.data(), first_.data(), Q_rows.data(), from, to);
      });
      for (std::size_t r = 0; r < m; ++r)
        for (std::size_t k = 0; k < K_; ++k) QD[r * K_ + k] = S[k * ldm + r];
    });
    if (step.change.empty()) return step;
    collect(m, [&](std::size_t r, std::size_t k) { return step.change[r * K_ + k]; });
    add_entries(rows, 0, active_);
    for (std::size_t r = 0; r < m; ++r)
      for (std::size_t k = 0; k < K_; ++k) a_[rows[r] * K_ + k] += step.change[r * K_ + k];
    return step;
  }

  // Fills entries_ and first_ with what the rows add to every class.
  template <class Value>
  void collect(std::size_t n_rows, const Value& value) {
    entries_.clear(), first_.assign(K_ + 1, 0);
    for (std::size_t k = 0; k < K_; ++k) {
      for (std::size_t r = 0; r < n_rows; ++r)
        if (const double by = value(r, k); by != 0.0) entries_.push_back({r, by});
      first_[k + 1] = entries_.size();
    }
  }

  // The examples that violate most, in order of position.
  void choose() {
    candidates_.clear();
    for (std::size_t i = 0; i < active_; ++i)
      if (violation_[i] > 0.0) candidates_.push_back(i);
    const std::size_t q = std::min(kBlock, candidates_.size());
    std::nth_element(candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(q) - 1, candidates_.end(),
                     [this](std::size_t i, std::size_t j) {
                       return violation_[i] != violation_[j] ? violation_[i] > violation_[j]
                                                             : gram_.original(i) < gram_.original(j);
                     });
    block_.assign(candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(q));
    std::sort(block_.begin(), block_.end());
  }

  // F[:, begin .. end) += entries times Gram rows of the examples at these positions.
  void add_entries(const std::vector<std::size_t>& positions, std::size_t begin, std::size_t end) {
    std::vector<const T*> rows(positions.size());
    for (std::size_t b = 0; b < positions.size(); ++b) rows[b] = gram_.row(positions[b]);
    panels(begin, end, options_.n_threads, [&](std::size_t from, std::size_t to) {
      if constexpr (sizeof(T) == 8)
        hot_.gradient64(F_.data(), ld_, K_, entries_.data(), first_.data(), rows.data(), from, to);
      else hot_.gradient32(F_.data(), ld_, K_, entries_.data(), first_.data(), rows.data(), from, to);
    });
  }

  // ---- shrinking ----------------------------------------------------------------------------------------------------

  // Whether the example is in a corner of its simplex that it would leave only if scores moved by more than `reach`.
  bool settled(std::size_t i, double reach) const {
    const double* a = a_.data() + i * K_;
    std::size_t corner = y_[i];
    if (a[corner] != 0.0) {
      corner = static_cast<std::size_t>(std::min_element(a, a + K_) - a);
      if (a[corner] > -C_[i] * (1.0 - kDust)) return false;
    }
    const double own = F_[corner * ld_ + i];
    for (std::size_t l = 0; l < K_; ++l)
      if (l != corner && own - F_[l * ld_ + i] <= reach) return false;
    return true;
  }

  // Moves settled examples behind the active ones; they are not visited until the end.
  void shrink(double reach) {
    std::vector<std::size_t> order, rest;
    for (std::size_t i = 0; i < active_; ++i) (settled(i, reach) ? rest : order).push_back(i);
    if (rest.size() < active_ / 10) return;
    for (const std::size_t i : rest) {
      const double* a = a_.data() + i * K_;
      resting_.hinge += C_[i] * (high_[i] - F_[y_[i] * ld_ + i]);
      resting_.square += a[y_[i]];
      for (std::size_t l = 0; l < K_; ++l) resting_.square += a[l] * F_[l * ld_ + i];
    }
    const std::size_t left = order.size();
    order.insert(order.end(), rest.begin(), rest.end());
    permute(order);
    active_ = left;
  }

  // Position r takes what was at order[r]; only the first order.size() positions move.
  void permute(const std::vector<std::size_t>& order) {
    const std::size_t m = order.size();
    gram_.permute(order);
    reorder_values(order, y_.data());
    reorder_values(order, C_.data());
    reorder_values(order, high_.data());
    reorder_values(order, violation_.data());
    for (std::size_t k = 0; k < K_; ++k) reorder_values(order, F_.data() + k * ld_);
    std::vector<double> a(m * K_);
    for (std::size_t r = 0; r < m; ++r) std::copy_n(a_.data() + order[r] * K_, K_, a.data() + r * K_);
    std::copy(a.begin(), a.end(), a_.begin());
  }

  // Makes all examples active again; the scores of those that were inactive are computed anew.
  void unshrink() {
    const std::size_t from = active_;
    for (std::size_t k = 0; k < K_; ++k)
      for (std::size_t i = from; i < n_; ++i) F_[k * ld_ + i] = k == y_[i] ? 0.0 : 1.0;
    active_ = n_;
    resting_ = {};
    std::vector<std::size_t> support, part;
    for (std::size_t i = 0; i < n_; ++i)
      if (a_[i * K_ + y_[i]] > 0.0) support.push_back(i);
    std::vector<double> edge(K_ * 8);  // a panel begins at a multiple of 8: what lies before `from` must not change
    const std::size_t start = from / 8 * 8;
    for (std::size_t k = 0; k < K_; ++k) std::copy_n(F_.data() + k * ld_ + start, from - start, edge.data() + k * 8);
    for (std::size_t at = 0; at < support.size(); at += kBlock) {
      part.assign(support.begin() + static_cast<std::ptrdiff_t>(at),
                  support.begin() + static_cast<std::ptrdiff_t>(std::min(support.size(), at + kBlock)));
      gram_.fetch(part, n_);
      collect(part.size(), [&](std::size_t b, std::size_t k) { return a_[part[b] * K_ + k]; });
      add_entries(part, from, n_);
    }
    for (std::size_t k = 0; k < K_; ++k) std::copy_n(edge.data() + k * 8, from - start, F_.data() + k * ld_ + start);
  }

  const SvmProblem& problem_;
  const SvmOptions& options_;
  GramCache<T> gram_;
  const SvmHot& hot_;
  std::size_t n_, K_, ld_, active_;
  std::vector<std::size_t> y_;  // by position, like all that follows
  std::vector<double> C_, a_, F_, high_, violation_;
  std::vector<std::size_t> candidates_, block_, first_;
  std::vector<Entry> entries_;
  Sums resting_;
  Clock clock_{1};
};

}  // namespace

SvmResult svm_kernel(const SvmProblem& problem, const SvmKernelSpec& kernel, const SvmOptions& options) {
  // Double precision if the whole matrix fits in the cache, otherwise single precision, which fits twice as many rows.
  if (problem.rows.n <= options.cache_bytes / (padded8(problem.rows.n) * sizeof(double)))
    return KernelSolver<double>(problem, kernel, options).solve();
  return KernelSolver<float>(problem, kernel, options).solve();
}

}  // namespace simplexboost
