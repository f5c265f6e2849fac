// The potentials of many states in sorted order: neighbours share the product over their first rivals, and the last
// rival costs only a scalar product. For the cost matrices of a round this is 8 times faster than one state at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "games/series.hpp"
#include "games/steps.hpp"

namespace simplexboost {

class ManyStates {
 public:
  explicit ManyStates(const WalkSteps& steps) : steps_(steps) {}

  // Potentials of m states, their leads (m, K - 1) sorted lexicographically; each value depends on its own state only.
  void operator()(const std::int32_t* leads, std::size_t m, double* values) const {
    const std::size_t R = steps_.rate_of.size();
    std::fill(values, values + m, 0.0);
    std::vector<char> done(m, 0);
    Shared shared(R);
    const auto pass = [&](int x, bool upwards) {
      shared.restart();
      bool all_done = true;
      for (std::size_t i = 0; i < m; ++i) {
        if (i % 16 == 0) look_up();
        if (done[i]) continue;
        const double f = shared_failure(x, leads + i * R, shared);
        values[i] += steps_.own[x] * f;
        const double left = upwards ? steps_.above[x + 1] * f : steps_.below[x];  // a bound on the rest of the sum
        done[i] = (upwards && f == 0.0) || left <= kNegligible * values[i];
        all_done &= done[i] != 0;
      }
      return all_done;
    };
    for (int x = steps_.mode; x <= steps_.t; ++x)
      if (pass(x, true)) break;
    for (std::size_t i = 0; i < m; ++i) done[i] = steps_.below[steps_.mode] <= kNegligible * values[i];
    for (int x = steps_.mode - 1; x >= 0; --x)
      if (pass(x, false)) break;
    for (std::size_t i = 0; i < m; ++i) values[i] = std::min(values[i], 1.0);
  }

 private:
  // Products over the first rivals of the last state, for one x.
  struct Shared {
    struct Level {
      std::int32_t lead = 0;
      bool free = true;  // no rival up to here can catch up
      bool knows_bad = false;
      Series good, bad;
      Series terms;  // of this rival, if they are not in the table
    };
    explicit Shared(std::size_t R) : levels(R), all_free(R) {}
    void restart() {
      valid = 0;
      for (auto& series : all_free) series.clear();
    }
    std::vector<Level> levels;
    std::vector<Series> all_free;  // the product if no rival up to here can catch up
    std::size_t valid = 0;
  };

  // The probability that some rival has caught up, given x steps of the true class; the products over all rivals but
  // the last are reused from the previous state as far as the two states agree.
  double shared_failure(int x, const std::int32_t* d, Shared& shared) const {
    const int N = steps_.t - x;
    const std::size_t R = steps_.rate_of.size(), last = R - 1;
    bool any = false;
    for (std::size_t l = 0; l < R; ++l) {
      if (x - d[l] - 1 < 0) return 1.0;
      any |= !steps_.is_free(x, d[l], l);
    }
    if (!any) return 0.0;
    std::size_t same = 0;
    while (same < shared.valid && shared.levels[same].lead == d[same]) ++same;
    for (std::size_t l = same; l < last; ++l) extend(x, d[l], l, shared);
    shared.valid = last;

    const double* p = steps_.series(steps_.rate_of[last], N, shared.levels[last].terms);
    const int most = std::min(x - d[last] - 1, N);
    const Series one(1, 1.0);
    const Series& before = last > 0 ? shared.levels[last - 1].good : one;
    const double whole = steps_.poisson(N, N), good = coefficient(before, p, 0, most, N) / whole;
    if (good < 0.99) return 1.0 - good;
    double bad = coefficient(before, p, most + 1, N, N);
    if (last > 0) bad += coefficient(with_bad(last - 1, x, shared), p, 0, N, N);
    return bad / whole;
  }

  void extend(int x, std::int32_t lead, std::size_t l, Shared& shared) const {
    const int N = steps_.t - x;
    auto& level = shared.levels[l];
    const bool was_free = l == 0 || shared.levels[l - 1].free;
    level.lead = lead;
    level.free = was_free && steps_.is_free(x, lead, l);
    level.knows_bad = false;
    if (level.free) {
      Series& known = shared.all_free[l];
      if (known.empty()) {
        double rate = 0.0;
        for (std::size_t k = 0; k <= l; ++k) rate += steps_.rates[steps_.rate_of[k]];
        for (int k = 0; k <= N; ++k) known.push_back(steps_.poisson(k, N * rate));
      }
      level.good = known;
      return;
    }
    const double* p = steps_.series(steps_.rate_of[l], N, level.terms);
    level.good.assign(N + 1, 0.0);
    if (l == 0) std::copy(p, p + std::min(x - lead - 1, N) + 1, level.good.begin());
    else add_range(level.good, shared.levels[l - 1].good, p, 0, std::min(x - lead - 1, N), N);
  }

  // The series for a failure among the rivals up to l, computed on first use.
  const Series& with_bad(std::size_t l, int x, Shared& shared) const {
    auto& level = shared.levels[l];
    if (level.knows_bad) return level.bad;
    const int N = steps_.t - x, most = std::min(x - level.lead - 1, N);
    level.bad.assign(N + 1, 0.0);
    if (!level.free) {
      const Series* bad_before = l > 0 ? &with_bad(l - 1, x, shared) : nullptr;
      const double* p = steps_.series(steps_.rate_of[l], N, level.terms);
      if (bad_before) add_range(level.bad, *bad_before, p, 0, N, N);
      const Series one(1, 1.0);
      add_range(level.bad, l > 0 ? shared.levels[l - 1].good : one, p, most + 1, N, N);
    }
    level.knows_bad = true;
    return level.bad;
  }

  const WalkSteps& steps_;
};

}  // namespace simplexboost
