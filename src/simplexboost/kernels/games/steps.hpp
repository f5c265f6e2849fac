// The steps of a walk: how many of t the true class makes, and how many of the rest each rival makes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/pool.hpp"
#include "games/series.hpp"

namespace simplexboost {

// A sum ends when the rest is below this part of it.
constexpr double kNegligible = 1e-18;

// To be called every few milliseconds: potentials of thousands of steps take minutes, and a signal must be able to end
// them.
inline void look_up() {
  if (between_tasks != nullptr) between_tasks();
}

class WalkSteps {
 public:
  // b has K entries, the true class first.
  WalkSteps(int t, const double* b, std::size_t K)
      : t(t), below(t + 2, 0.0), above(t + 2, 0.0), log_factorial_(t + 1, 0.0) {
    for (int x = 1; x <= t; ++x) log_factorial_[x] = log_factorial_[x - 1] + std::log(static_cast<double>(x));
    own.resize(t + 1);
    for (int x = 0; x <= t; ++x) own[x] = binomial(x, b[0]);
    for (int x = 0; x <= t; ++x) below[x + 1] = below[x] + own[x];
    for (int x = t; x >= 0; --x) above[x] = above[x + 1] + own[x];
    mode = static_cast<int>(std::max_element(own.begin(), own.end()) - own.begin());
    double rest = 0.0;
    for (std::size_t l = 1; l < K; ++l) rest += b[l];
    for (std::size_t l = 1; l < K; ++l) {
      const double r = rest > 0.0 ? b[l] / rest : 0.0;
      const auto found = std::find(rates.begin(), rates.end(), r);
      rate_of.push_back(static_cast<std::size_t>(found - rates.begin()));
      if (found == rates.end()) rates.push_back(r);
    }
    tabulate();
  }

  double poisson(int x, double rate) const {
    if (rate <= 0.0) return x == 0 ? 1.0 : 0.0;
    return std::exp(x * std::log(rate) - rate - log_factorial_[x]);
  }

  // Poisson probabilities of rate N r at 0 .. N, r = rates[rate].
  const double* series(std::size_t rate, int N, Series& scratch) const {
    if (!table_.empty()) return table_.data() + rate * row(t + 1) + row(N);
    scratch.resize(N + 1);
    for (int x = 0; x <= N; ++x) scratch[x] = poisson(x, N * rates[rate]);
    return scratch.data();
  }

  // Whether rival l, `lead` ahead at the start, cannot catch up with x steps of the true class.
  bool is_free(int x, std::int32_t lead, std::size_t l) const {
    return x - lead - 1 >= t - x || rates[rate_of[l]] == 0.0;
  }

  const int t;
  int mode = 0;                      // the likeliest number of steps of the true class
  Series own;                        // own[x]: the true class makes x steps
  Series below, above;               // sums of own below x and from x on
  Series rates;                      // the distinct r_l
  std::vector<std::size_t> rate_of;  // of every rival: its place among the rates

 private:
  double binomial(int x, double p) const {
    if (p <= 0.0) return x == 0 ? 1.0 : 0.0;
    if (p >= 1.0) return x == t ? 1.0 : 0.0;
    const double log_ways = log_factorial_[t] - log_factorial_[x] - log_factorial_[t - x];
    return std::exp(log_ways + x * std::log(p) + (t - x) * std::log1p(-p));
  }

  // The series for every N, which are kept if they take less than 64 MB.
  void tabulate() {
    const std::size_t size = static_cast<std::size_t>(t + 1) * (t + 2) / 2;
    if (rates.size() * size > (std::size_t{8} << 20)) return;
    table_.resize(rates.size() * size);
    for (std::size_t i = 0; i < rates.size(); ++i)
      for (int N = 0; N <= t; ++N)
        for (int x = 0; x <= N; ++x) table_[i * size + row(N) + x] = poisson(x, N * rates[i]);
  }

  static std::size_t row(int N) { return static_cast<std::size_t>(N) * (N + 1) / 2; }

  Series log_factorial_, table_;
};

}  // namespace simplexboost
