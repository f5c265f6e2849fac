#include "svm/face.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "svm/hot.hpp"

namespace simplexboost {
namespace {

constexpr std::size_t kPhases = 50;    // faces, at most
constexpr std::size_t kProducts = 60;  // on a face, at most
constexpr double kWorthwhile =
    0.1;  // a step that gains less than this part of the best one is the last (Moré and Toraldo, 1991)
constexpr double kFlat = 1e-12;  // curvature / gradient below which the dual counts as linear
constexpr int kTrials = 6;       // step lengths to try before the one that ends at the first bound

bool is_free(double a, bool own, double C) { return own ? a > kDust * C && a < C * (1.0 - kDust) : a < -kDust * C; }

double dot(const std::vector<double>& u, const std::vector<double>& v) {
  double sum = 0.0;
  for (std::size_t j = 0; j < u.size(); ++j) sum += u[j] * v[j];
  return sum;
}

// Moves variables into their bounds: those of rivals are at most zero, and their sum is at least -C; that of the true
// class is minus this sum.
void clip(double* a, std::size_t K, std::size_t y, double C) {
  double sum = 0.0;
  for (std::size_t l = 0; l < K; ++l)
    if (l != y) a[l] = std::min(a[l], 0.0), sum -= a[l];
  if (sum > C) {
    for (std::size_t l = 0; l < K; ++l) a[l] *= C / sum;
    sum = C;
  }
  a[y] = sum;
}

// Goes from one face to another, starting at a and F, which are kept up to date.
class FaceSearch {
 public:
  FaceSearch(const SvmFace& face, const SvmProduct& product)
      : product_(product),
        m_(face.m),
        K_(face.K),
        size_(face.m * face.K),
        y_(face.y),
        C_(face.C),
        square_(face.square),
        a_(face.a),
        F_(face.F),
        free_(size_),
        r_(size_),
        z_(size_),
        q_(size_),
        Qq_(size_),
        d_(size_),
        Qd_(size_),
        moved_(size_),
        change_(size_),
        Qchange_(size_) {}

  SvmFaceStep run(double worth) {
    SvmFaceStep step;
    step.m = m_;
    const std::vector<double> start = a_;
    double best = 0.0;
    for (std::size_t phase = 0; phase < kPhases; ++phase) {
      const std::size_t before = products_;
      const double gain = advance();
      step.gain += gain;
      best = std::max(best, gain);
      if (gain <= (at_bound_ ? 0.0 : kWorthwhile * best) || gain < worth * static_cast<double>(products_ - before))
        break;
    }
    step.products = products_;
    if (step.gain > 0.0) {
      step.change = a_;
      for (std::size_t j = 0; j < size_; ++j) step.change[j] -= start[j];
    }
    return step;
  }

 private:
  // Conjugate gradients on the current face, then a step along their sum, which is projected on the bounds. Returns the
  // gain.
  double advance() {
    for (std::size_t i = 0; i < m_; ++i)
      for (std::size_t l = 0; l < K_; ++l) free_[i * K_ + l] = is_free(a_[i * K_ + l], l == y_[i], C_[i]);
    for (std::size_t j = 0; j < size_; ++j) r_[j] = -F_[j];
    project(r_);
    precondition();
    q_ = z_;
    std::fill(d_.begin(), d_.end(), 0.0), std::fill(Qd_.begin(), Qd_.end(), 0.0);
    double rz = dot(r_, z_), best = 0.0;
    bool exact = true;  // whether Qd_ belongs to d_
    for (std::size_t k = 0; k < kProducts && rz > 0.0; ++k) {
      multiply(q_, Qq_);
      const double curvature = dot(q_, Qq_);
      if (curvature <= kFlat * rz) {  // almost linear in this direction: go as far as the bounds allow
        const double far = reach();
        for (std::size_t j = 0; j < size_; ++j) d_[j] += far * q_[j];
        exact = false;
        break;
      }
      const double alpha = rz / curvature, gain = 0.5 * alpha * rz;
      for (std::size_t j = 0; j < size_; ++j) d_[j] += alpha * q_[j], Qd_[j] += alpha * Qq_[j];
      best = std::max(best, gain);
      if (gain <= kWorthwhile * best) break;
      project(Qq_);
      for (std::size_t j = 0; j < size_; ++j) r_[j] -= alpha * Qq_[j];
      precondition();
      const double next = dot(r_, z_), beta = next / rz;
      rz = next;
      for (std::size_t j = 0; j < size_; ++j) q_[j] = z_[j] + beta * q_[j];
    }
    const bool flat = !exact;
    for (int trial = 0; trial <= kTrials; ++trial) {
      const double length = trial < kTrials ? std::pow(0.25, trial) : first_bound();
      if (bend(length) && !flat)
        for (std::size_t j = 0; j < size_; ++j) Qchange_[j] = length * Qd_[j];
      else multiply(change_, Qchange_);
      const double gain = -dot(F_, change_) - 0.5 * dot(change_, Qchange_);
      if (gain <= 0.0) continue;
      at_bound_ = trial == kTrials;
      a_ = moved_;
      for (std::size_t j = 0; j < size_; ++j) F_[j] += Qchange_[j];
      return gain;
    }
    return 0.0;
  }

  // The distance along d_ at which the first variable reaches its bound.
  double first_bound() const {
    double near = 1.0;
    for (std::size_t i = 0; i < m_; ++i)
      for (std::size_t l = 0; l < K_; ++l) {
        const double d = d_[i * K_ + l], a = a_[i * K_ + l];
        if (l == y_[i] ? d == 0.0 : d <= 0.0) continue;
        const double bound = l == y_[i] && d > 0.0 ? C_[i] : 0.0;
        near = std::min(near, (bound - a) / d);
      }
    return near;
  }

  void multiply(const std::vector<double>& v, std::vector<double>& out) {
    product_(v.data(), out.data());
    ++products_;
  }

  void project(std::vector<double>& v) const {  // the changes of an example sum to zero
    for (std::size_t i = 0; i < m_; ++i) {
      double sum = 0.0, count = 0.0;
      for (std::size_t j = i * K_; j < (i + 1) * K_; ++j)
        if (free_[j]) sum += v[j], count += 1.0;
      const double mean = count > 0.0 ? sum / count : 0.0;
      for (std::size_t j = i * K_; j < (i + 1) * K_; ++j) v[j] = free_[j] ? v[j] - mean : 0.0;
    }
  }

  void precondition() {
    for (std::size_t i = 0; i < m_; ++i)
      for (std::size_t j = i * K_; j < (i + 1) * K_; ++j) z_[j] = r_[j] / square_[i];
  }

  // The distance along q_ at which the last variable reaches its bound.
  double reach() const {
    double far = 0.0;
    for (std::size_t i = 0; i < m_; ++i)
      for (std::size_t l = 0; l < K_; ++l) {
        const double q = q_[i * K_ + l], a = a_[i * K_ + l];
        if (q == 0.0) continue;
        const double bound = l == y_[i] ? (q > 0.0 ? C_[i] : 0.0) : (q > 0.0 ? 0.0 : -C_[i]);
        far = std::max(far, (bound - a) / q);
      }
    return far;
  }

  // moved_ = a + length d, projected on the bounds, and change_ = moved_ - a; returns whether no bound was reached.
  bool bend(double length) {
    bool inside = true;
    for (std::size_t i = 0; i < m_; ++i) {
      double* a = moved_.data() + i * K_;
      for (std::size_t l = 0; l < K_; ++l) {
        a[l] = a_[i * K_ + l] + length * d_[i * K_ + l];
        inside &= l == y_[i] ? a[l] >= 0.0 && a[l] <= C_[i] : a[l] <= 0.0;
      }
      clip(a, K_, y_[i], C_[i]);
      for (std::size_t l = 0; l < K_; ++l) change_[i * K_ + l] = a[l] - a_[i * K_ + l];
    }
    return inside;
  }

  const SvmProduct& product_;
  std::size_t m_, K_, size_;
  const std::vector<std::size_t>& y_;
  const std::vector<double>&C_, &square_;
  std::vector<double> a_, F_;
  std::vector<std::uint8_t> free_;
  std::vector<double> r_, z_, q_, Qq_, d_, Qd_, moved_, change_, Qchange_;
  std::size_t products_ = 0;
  bool at_bound_ = false;
};

}  // namespace

bool svm_is_free(const double* a, std::size_t K, std::size_t y, double C) {
  std::size_t count = 0;
  for (std::size_t l = 0; l < K; ++l) count += is_free(a[l], l == y, C);
  return count >= 2;
}

SvmFaceStep svm_face_step(const SvmFace& face, double worth, const SvmProduct& product) {
  return FaceSearch(face, product).run(worth);
}

}  // namespace simplexboost
