// The potential of one state: the series of equal rivals is raised to a power by repeated squaring.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "games/series.hpp"
#include "games/steps.hpp"

namespace simplexboost {

class OneState {
 public:
  explicit OneState(const WalkSteps& steps) : steps_(steps) {}

  // d (K - 1): how far each rival is ahead of the true class.
  double operator()(const std::int32_t* d) {
    // Outward from the likeliest x; each direction ends when the rest is negligible, since f <= 1 falls with x.
    double sum = 0.0;
    for (int x = steps_.mode; x <= steps_.t; ++x) {
      const double f = failure(x, d);
      sum += steps_.own[x] * f;
      if (f == 0.0 || steps_.above[x + 1] * f <= kNegligible * sum) break;
    }
    for (int x = steps_.mode - 1; x >= 0 && steps_.below[x + 1] > kNegligible * sum; --x)
      sum += steps_.own[x] * failure(x, d);
    return std::min(sum, 1.0);
  }

 private:
  struct Group {  // rivals of the same rate that may take `most` steps
    std::size_t rate;
    int most, count;
  };

  // The probability that some rival has caught up, given x steps of the true class.
  double failure(int x, const std::int32_t* d) {
    look_up();
    const int N = steps_.t - x;
    double free_rate = 0.0;  // of the rivals that cannot catch up
    groups_.clear();
    for (std::size_t l = 0; l < steps_.rate_of.size(); ++l) {
      const int most = x - d[l] - 1;
      if (most < 0) return 1.0;
      if (most >= N || steps_.rates[steps_.rate_of[l]] == 0.0) {
        free_rate += steps_.rates[steps_.rate_of[l]];
      } else {
        const auto same = [&](const Group& g) { return g.rate == steps_.rate_of[l] && g.most == most; };
        const auto found = std::find_if(groups_.begin(), groups_.end(), same);
        if (found != groups_.end()) ++found->count;
        else groups_.push_back({steps_.rate_of[l], most, 1});
      }
    }
    if (groups_.empty()) return 0.0;
    const double good = compose(N, free_rate, false);
    return good < 0.99 ? 1.0 - good : compose(N, free_rate, true);
  }

  // The probability that no rival catches up, or (wants_bad) that some rival does, as a sum of positive terms.
  double compose(int N, double free_rate, bool wants_bad) {
    good_.assign(1, 1.0);
    bad_.assign(1, 0.0);
    for (const auto& group : groups_) {
      const double* p = steps_.series(group.rate, N, terms_);
      power_good_.assign(p, p + group.most + 1);
      power_bad_.assign(1, 0.0);
      if (wants_bad) {
        power_bad_.assign(p, p + N + 1);
        std::fill(power_bad_.begin(), power_bad_.begin() + group.most + 1, 0.0);
      }
      for (int count = group.count;; count /= 2) {  // binary powers
        if (count % 2) join(good_, bad_, power_good_, power_bad_, N, wants_bad, product_);
        if (count <= 1) break;
        square(power_good_, power_bad_, N, wants_bad, product_);
      }
    }
    const Series& wanted = wants_bad ? bad_ : good_;
    double sum = 0.0;
    for (std::size_t k = 0; k < wanted.size(); ++k)
      if (wanted[k] != 0.0) sum += wanted[k] * steps_.poisson(N - static_cast<int>(k), N * free_rate);
    return sum / steps_.poisson(N, N);
  }

  const WalkSteps& steps_;
  std::vector<Group> groups_;
  Series good_, bad_, power_good_, power_bad_, product_, terms_;
};

}  // namespace simplexboost
