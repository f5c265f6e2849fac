// The multiclass SVM with kernels: blocks of the worst examples are solved among themselves, then all scores follow. A
// block needs its q kernel rows (from a cache), and q x n products, which run at the speed of the first cache; one
// example at a time would read every score for every step.
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "core/pool.hpp"
#include "svm/face.hpp"
#include "svm/hot.hpp"
#include "svm/problem.hpp"
#include "svm/tools.hpp"

namespace simplexboost {
namespace {

constexpr std::size_t kBlock = 96;         // examples of a block
constexpr std::size_t kPasses = 10;        // over a block, at most
constexpr double kEnough = 0.3;            // a block is done when its largest violation fell to this part
constexpr std::int64_t kShrinkEvery = 16;  // blocks
constexpr std::size_t kEpochs = 64;        // orders of positions to remember
constexpr std::int64_t kPause = 8;         // blocks between steps among the free variables, while these pay
constexpr std::size_t kFace = 2048;        // examples in such a step, at most
constexpr std::size_t kPanel = 512;        // columns per task

template <class T>
class KernelSolver {
 public:
  KernelSolver(const SvmProblem& problem, const SvmKernelSpec& spec, const SvmOptions& options)
      : problem_(problem),
        spec_(spec),
        options_(options),
        hot_(svm_hot()),
        n_(problem.rows.n),
        K_(problem.K),
        ld_(padded8(n_)),
        active_(n_),
        original_(n_),
        y_(n_),
        C_(n_),
        a_(n_ * K_, 0.0),
        F_(K_ * ld_, 1.0),
        high_(ld_),
        violation_(n_),
        norm_(ld_, 0.0),
        row_(n_) {
    std::iota(original_.begin(), original_.end(), std::size_t{0});
    for (std::size_t i = 0; i < n_; ++i) {
      y_[i] = static_cast<std::size_t>(problem.y[i]);
      C_[i] = problem.C[i];
      F_[y_[i] * ld_ + i] = 0.0;
    }
    load_columns();
    positions_.emplace_back(original_.begin(), original_.end());
    spare_.reset(new T[ld_]());
    capacity_ = std::max(2 * kBlock, options.cache_bytes / (ld_ * sizeof(T)));
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
    for (std::size_t i = 0; i < n_; ++i) std::copy_n(a_.data() + i * K_, K_, result.a.data() + original_[i] * K_);
    return result;
  }

 private:
  struct Sums {
    double gap = 0.0, square = 0.0, hinge = 0.0, own = 0.0, worst = 0.0;
  };
  struct Row {
    std::unique_ptr<T[]> values;
    std::size_t size = 0;   // columns that are there
    std::size_t epoch = 0;  // the order of positions they are in
    std::int64_t used = 0;
  };

  bool dense_data() const { return spec_.kind != SvmKernel::precomputed && problem_.rows.dense; }

  // Examples as columns, in the order of the positions; squared norms.
  void load_columns() {
    const SvmRows& rows = problem_.rows;
    if (spec_.kind == SvmKernel::precomputed) return;
    if (rows.dense) {
      XT_.assign(rows.p * ld_, 0.0);
      for (std::size_t i = 0; i < n_; ++i)
        for (std::size_t f = 0; f < rows.p; ++f) XT_[f * ld_ + i] = rows.dense[i * rows.p + f];
      for (std::size_t f = 0; f < rows.p; ++f)
        for (std::size_t i = 0; i < n_; ++i) norm_[i] += XT_[f * ld_ + i] * XT_[f * ld_ + i];
    } else {
      for (std::size_t i = 0; i < n_; ++i)
        for (std::int64_t j = rows.indptr[i]; j < rows.indptr[i + 1]; ++j) norm_[i] += rows.data[j] * rows.data[j];
    }
  }

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

  // ---- a block
  // --------------------------------------------------------------------------------------------------------

  std::int64_t step() {
    choose();
    const std::size_t q = block_.size(), ldq = padded8(q);
    fetch(block_, active_);
    std::vector<double> S(K_ * ldq, 0.0), Q(q * ldq, 0.0), a(q * K_), C(q), scratch(3 * K_);
    std::vector<std::size_t> y(q);
    std::vector<Change> change(K_);
    double worst = 0.0;
    for (std::size_t b = 0; b < q; ++b) {
      const std::size_t i = block_[b];
      for (std::size_t k = 0; k < K_; ++k) S[k * ldq + b] = F_[k * ld_ + i];
      for (std::size_t c = 0; c < q; ++c) Q[b * ldq + c] = row_[original_[i]].values[block_[c]];
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

  // Conjugate gradients among the free variables, if their kernel matrix is small enough to be kept.
  SvmFaceStep face_step() {
    std::vector<std::size_t> rows;
    for (std::size_t i = 0; i < active_; ++i)
      if (a_[i * K_ + y_[i]] > 0.0 && svm_is_free(a_.data() + i * K_, K_, y_[i], C_[i])) rows.push_back(i);
    const std::size_t m = rows.size(), ldm = padded8(m);
    if (m == 0 || m > std::min(kFace, capacity_)) return {};
    fetch(rows, active_);
    SvmFace face;
    face.m = m, face.K = K_;
    std::vector<double> Q(m * ldm, 0.0), S(K_ * ldm);
    std::vector<const double*> Q_rows(m);
    for (std::size_t r = 0; r < m; ++r) {
      const std::size_t i = rows[r];
      const T* row = row_[original_[i]].values.get();
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
      panels(0, m, [&](std::size_t from, std::size_t to) {
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

  // entries_ and first_ from what the rows bring to every class.
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
                                                             : original_[i] < original_[j];
                     });
    block_.assign(candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(q));
    std::sort(block_.begin(), block_.end());
  }

  // F[:, begin .. end) += entries times kernel rows of the examples at these positions.
  void add_entries(const std::vector<std::size_t>& positions, std::size_t begin, std::size_t end) {
    std::vector<const T*> rows(positions.size());
    for (std::size_t b = 0; b < positions.size(); ++b) rows[b] = row_[original_[positions[b]]].values.get();
    panels(begin, end, [&](std::size_t from, std::size_t to) {
      if constexpr (sizeof(T) == 8)
        hot_.gradient64(F_.data(), ld_, K_, entries_.data(), first_.data(), rows.data(), from, to);
      else hot_.gradient32(F_.data(), ld_, K_, entries_.data(), first_.data(), rows.data(), from, to);
    });
  }

  // body(from, to) over columns begin .. end; panels begin at multiples of 8, so vectors never overlap.
  template <class Body>
  void panels(std::size_t begin, std::size_t end, const Body& body) {
    const std::size_t start = begin / 8 * 8;
    parallel_ranges(end - start, kPanel, options_.n_threads,
                    [&](std::size_t from, std::size_t to) { body(start + from, start + to); });
  }

  // ---- kernel rows
  // ----------------------------------------------------------------------------------------------------

  // Makes the rows of the examples at these positions ready for columns 0 .. size.
  void fetch(const std::vector<std::size_t>& positions, std::size_t size) {
    ++now_;
    std::vector<std::size_t> missing;
    for (const std::size_t i : positions) {
      Row& row = row_[original_[i]];
      row.used = now_;
      if (row.values && row.epoch + 1 != positions_.size()) reorder(row);
      if (row.size < size) missing.push_back(i);
    }
    if (missing.empty()) return;
    std::size_t begin = size;
    for (const std::size_t i : missing) {
      Row& row = row_[original_[i]];
      if (!row.values) {
        row.values = take();
        row.epoch = positions_.size() - 1;
        cached_.push_back(original_[i]);
      }
      begin = std::min(begin, row.size);
    }
    compute(missing, begin, size);
    for (const std::size_t i : missing) row_[original_[i]].size = size;
  }

  // Memory for a row: fresh, or that of the row not used for longest.
  std::unique_ptr<T[]> take() {
    if (cached_.size() < capacity_) return std::unique_ptr<T[]>(new T[ld_]());
    const auto oldest = std::min_element(cached_.begin(), cached_.end(), [this](std::size_t i, std::size_t j) {
      return row_[i].used != row_[j].used ? row_[i].used < row_[j].used : i < j;
    });
    std::unique_ptr<T[]> values = std::move(row_[*oldest].values);
    row_[*oldest].size = 0;
    *oldest = cached_.back();
    cached_.pop_back();
    return values;
  }

  void compute(const std::vector<std::size_t>& positions, std::size_t begin, std::size_t end) {
    const std::size_t q = positions.size(), p = problem_.rows.p;
    std::vector<T*> out(q);
    for (std::size_t b = 0; b < q; ++b) out[b] = row_[original_[positions[b]]].values.get();
    if (spec_.kind == SvmKernel::precomputed) {
      for (std::size_t b = 0; b < q; ++b) {
        const double* given = problem_.rows.dense + original_[positions[b]] * n_;
        for (std::size_t j = begin; j < end; ++j) out[b][j] = static_cast<T>(given[original_[j]] + spec_.bias);
      }
      return;
    }
    std::vector<double> own_norm(q);
    for (std::size_t b = 0; b < q; ++b) own_norm[b] = norm_[positions[b]];
    if (dense_data()) {
      std::vector<const double*> x(q);
      for (std::size_t b = 0; b < q; ++b) x[b] = problem_.rows.dense + original_[positions[b]] * p;
      panels(begin, end, [&](std::size_t from, std::size_t to) {
        if constexpr (sizeof(T) == 8)
          hot_.gram_rows64(spec_, x.data(), own_norm.data(), q, p, XT_.data(), ld_, norm_.data(), from, to, out.data());
        else
          hot_.gram_rows32(spec_, x.data(), own_norm.data(), q, p, XT_.data(), ld_, norm_.data(), from, to, out.data());
      });
      return;
    }
    const SvmRows& rows = problem_.rows;
    std::vector<double> x(p, 0.0), dots(ld_, 0.0);
    for (std::size_t b = 0; b < q; ++b) {
      const std::size_t i = original_[positions[b]];
      for (std::int64_t j = rows.indptr[i]; j < rows.indptr[i + 1]; ++j)
        x[static_cast<std::size_t>(rows.indices[j])] = rows.data[j];
      panels(begin, end, [&](std::size_t from, std::size_t to) {
        for (std::size_t c = from; c < to; ++c) {
          double dot = 0.0;
          for (std::int64_t j = rows.indptr[original_[c]]; j < rows.indptr[original_[c] + 1]; ++j)
            dot += rows.data[j] * x[static_cast<std::size_t>(rows.indices[j])];
          dots[c] = dot;
        }
        if constexpr (sizeof(T) == 8) hot_.from_dots64(spec_, dots.data(), own_norm[b], norm_.data(), from, to, out[b]);
        else hot_.from_dots32(spec_, dots.data(), own_norm[b], norm_.data(), from, to, out[b]);
      });
      for (std::int64_t j = rows.indptr[i]; j < rows.indptr[i + 1]; ++j)
        x[static_cast<std::size_t>(rows.indices[j])] = 0.0;
    }
  }

  // ---- shrinking
  // ------------------------------------------------------------------------------------------------------

  // Whether the example is in a corner that it leaves only if scores move by more than `reach`.
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

  // Moves settled examples behind the active ones; they are not looked at until the end.
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

  // Position r takes what was at order[r]; only the first order.size() positions move. Kernel rows follow when needed.
  void permute(const std::vector<std::size_t>& order) {
    const std::size_t m = order.size();
    const auto apply = [&](auto* values, auto& buffer) {
      for (std::size_t r = 0; r < m; ++r) buffer[r] = values[order[r]];
      std::copy_n(buffer.begin(), m, values);
    };
    std::vector<std::size_t> indices(m);
    std::vector<double> numbers(m);
    apply(original_.data(), indices), apply(y_.data(), indices);
    apply(C_.data(), numbers), apply(norm_.data(), numbers), apply(high_.data(), numbers),
        apply(violation_.data(), numbers);
    for (std::size_t k = 0; k < K_; ++k) apply(F_.data() + k * ld_, numbers);
    for (std::size_t f = 0; f < (XT_.empty() ? 0 : problem_.rows.p); ++f) apply(XT_.data() + f * ld_, numbers);
    std::vector<double> a(m * K_);
    for (std::size_t r = 0; r < m; ++r) std::copy_n(a_.data() + order[r] * K_, K_, a.data() + r * K_);
    std::copy(a.begin(), a.end(), a_.begin());
    if (positions_.size() == kEpochs) forget_rows();
    positions_.emplace_back(n_);
    for (std::size_t r = 0; r < n_; ++r) positions_.back()[original_[r]] = static_cast<std::uint32_t>(r);
  }

  // The row in the order of the positions of today. Rows that are never asked for again are never put in order.
  void reorder(Row& row) {
    const std::vector<std::uint32_t>& position = positions_[row.epoch];
    std::size_t r = 0;
    for (; r < n_; ++r) {
      const std::size_t column = position[original_[r]];
      if (column >= row.size) break;
      spare_[r] = row.values[column];
    }
    std::swap(row.values, spare_);
    row.size = r;
    row.epoch = positions_.size() - 1;
  }

  void forget_rows() {
    for (const std::size_t i : cached_) row_[i] = Row{};
    cached_.clear();
    positions_.clear();
  }

  // All examples again: the scores of those that rested, from scratch.
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
      fetch(part, n_);
      collect(part.size(), [&](std::size_t b, std::size_t k) { return a_[part[b] * K_ + k]; });
      add_entries(part, from, n_);
    }
    for (std::size_t k = 0; k < K_; ++k) std::copy_n(edge.data() + k * 8, from - start, F_.data() + k * ld_ + start);
  }

  const SvmProblem& problem_;
  const SvmKernelSpec& spec_;
  const SvmOptions& options_;
  const SvmHot& hot_;
  std::size_t n_, K_, ld_, active_;
  std::vector<std::size_t> original_, y_;  // by position, like all that follows
  std::vector<double> C_, a_, F_, high_, violation_, norm_, XT_;
  std::vector<Row> row_;                               // by original number
  std::vector<std::size_t> cached_;                    // original numbers of the rows that have memory
  std::vector<std::vector<std::uint32_t>> positions_;  // by epoch: position of every original number
  std::unique_ptr<T[]> spare_;
  std::size_t capacity_ = 0;
  std::int64_t now_ = 0;
  std::vector<std::size_t> candidates_, block_, first_;
  std::vector<Entry> entries_;
  Sums resting_;
  Clock clock_{1};
};

}  // namespace

SvmResult svm_kernel(const SvmProblem& problem, const SvmKernelSpec& kernel, const SvmOptions& options) {
  // Double precision where the whole matrix fits in the cache, else rows in single precision, twice as many.
  if (problem.rows.n <= options.cache_bytes / (padded8(problem.rows.n) * sizeof(double)))
    return KernelSolver<double>(problem, kernel, options).solve();
  return KernelSolver<float>(problem, kernel, options).solve();
}

}  // namespace simplexboost
