// The zero-one potential of a fixed edge-over-random baseline b: the probability that a walk of t steps, each in
// direction l with probability b_l, ends with the true class (direction 0) not strictly ahead of every rival.
//
// Given x steps of the true class, N = t - x steps fall on the rivals, and rival l may take at most m_l = x - d_l - 1
// of them, where d_l is how far it is ahead at the start. As independent Poisson counts with rates N r_l,
// r_l = b_l / (1 - b_0), conditioned on their sum N, the rivals' counts become products of truncated series: a
// convolution per rival, O(t^3 K) in all. The rates keep every number near one where it matters, so nothing over- or
// underflows; sums have positive terms only, so that small potentials are as exact as large ones.
//
// One state: equal rivals are raised to a power by squaring. Many states, sorted: neighbours share the product over
// their first rivals, and the last rival costs a scalar product only; 8 times faster for the cost matrices of a round.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace simplexboost {

class ZeroOnePotential {
 public:
  // b has K entries, the true class first.
  ZeroOnePotential(int t, const double* b, std::size_t K)
      : t_(t), log_factorial_(t + 1, 0.0), below_(t + 2, 0.0), above_(t + 2, 0.0) {
    for (int x = 1; x <= t; ++x) log_factorial_[x] = log_factorial_[x - 1] + std::log(static_cast<double>(x));
    own_.resize(t + 1);
    for (int x = 0; x <= t; ++x) own_[x] = binomial(x, b[0]);
    for (int x = 0; x <= t; ++x) below_[x + 1] = below_[x] + own_[x];
    for (int x = t; x >= 0; --x) above_[x] = above_[x + 1] + own_[x];
    mode_ = static_cast<int>(std::max_element(own_.begin(), own_.end()) - own_.begin());
    double rest = 0.0;
    for (std::size_t l = 1; l < K; ++l) rest += b[l];
    for (std::size_t l = 1; l < K; ++l) {
      const double r = rest > 0.0 ? b[l] / rest : 0.0;
      const auto found = std::find(rates_.begin(), rates_.end(), r);
      rate_of_.push_back(static_cast<std::size_t>(found - rates_.begin()));
      if (found == rates_.end()) rates_.push_back(r);
    }
    tabulate();
  }

  struct Workspace {
    struct Group {
      std::size_t rate;
      int most, count;
    };
    std::vector<Group> groups;
    std::vector<double> good, bad, power_good, power_bad, product, series;
  };

  // Potentials of m states, their leads (m, K - 1) sorted lexicographically; each value depends on its own state only.
  void many(const std::int32_t* leads, std::size_t m, double* values) const {
    const std::size_t R = rate_of_.size();
    std::fill(values, values + m, 0.0);
    std::vector<char> done(m, 0);
    Shared shared(R);
    const auto pass = [&](int x, bool upwards) {
      shared.restart();
      bool all_done = true;
      for (std::size_t i = 0; i < m; ++i) {
        if (done[i]) continue;
        const double f = shared_failure(x, leads + i * R, shared);
        values[i] += own_[x] * f;
        const double left = upwards ? above_[x + 1] * f : below_[x];  // at most this much is still to come
        done[i] = (upwards && f == 0.0) || left <= kNegligible * values[i];
        all_done &= done[i] != 0;
      }
      return all_done;
    };
    for (int x = mode_; x <= t_; ++x)
      if (pass(x, true)) break;
    for (std::size_t i = 0; i < m; ++i) done[i] = below_[mode_] <= kNegligible * values[i];
    for (int x = mode_ - 1; x >= 0; --x)
      if (pass(x, false)) break;
    for (std::size_t i = 0; i < m; ++i) values[i] = std::min(values[i], 1.0);
  }

  // d (K - 1): how far each rival is ahead of the true class.
  double operator()(const std::int32_t* d, Workspace& work) const {
    // Outward from the likeliest x; a direction ends when what is left there cannot matter, since f <= 1 falls with x.
    double sum = 0.0;
    for (int x = mode_; x <= t_; ++x) {
      const double f = failure(x, d, work);
      sum += own_[x] * f;
      if (f == 0.0 || above_[x + 1] * f <= kNegligible * sum) break;
    }
    for (int x = mode_ - 1; x >= 0 && below_[x + 1] > kNegligible * sum; --x) sum += own_[x] * failure(x, d, work);
    return std::min(sum, 1.0);
  }

 private:
  using Series = std::vector<double>;
  static constexpr double kNegligible = 1e-18;

  // Products over the first rivals of the last state looked at, for one x.
  struct Shared {
    struct Level {
      std::int32_t lead = 0;
      bool free = true;  // no rival up to here can catch up
      bool knows_bad = false;
      Series good, bad;
      Series terms;  // of this rival, where they are not in the table
    };
    explicit Shared(std::size_t R) : levels(R), all_free(R) {}
    void restart() {
      valid = 0;
      for (auto& series : all_free) series.clear();
    }
    std::vector<Level> levels;
    std::vector<Series> all_free;  // the product where no rival up to here can catch up
    std::size_t valid = 0;
  };

  double binomial(int x, double p) const {
    if (p <= 0.0) return x == 0 ? 1.0 : 0.0;
    if (p >= 1.0) return x == t_ ? 1.0 : 0.0;
    const double log_ways = log_factorial_[t_] - log_factorial_[x] - log_factorial_[t_ - x];
    return std::exp(log_ways + x * std::log(p) + (t_ - x) * std::log1p(-p));
  }

  double poisson(int x, double rate) const {
    if (rate <= 0.0) return x == 0 ? 1.0 : 0.0;
    return std::exp(x * std::log(rate) - rate - log_factorial_[x]);
  }

  // Poisson probabilities of rate N r at 0 .. N, for every N: kept where they take less than 64 MB.
  void tabulate() {
    const std::size_t size = static_cast<std::size_t>(t_ + 1) * (t_ + 2) / 2;
    if (rates_.size() * size > (std::size_t{8} << 20)) return;
    table_.resize(rates_.size() * size);
    for (std::size_t i = 0; i < rates_.size(); ++i)
      for (int N = 0; N <= t_; ++N)
        for (int x = 0; x <= N; ++x) table_[i * size + row(N) + x] = poisson(x, N * rates_[i]);
  }

  static std::size_t row(int N) { return static_cast<std::size_t>(N) * (N + 1) / 2; }

  const double* series(std::size_t rate, int N, Series& scratch) const {
    if (!table_.empty()) return table_.data() + rate * row(t_ + 1) + row(N);
    scratch.resize(N + 1);
    for (int x = 0; x <= N; ++x) scratch[x] = poisson(x, N * rates_[rate]);
    return scratch.data();
  }

  // The probability that some rival has caught up, given x steps of the true class.
  double failure(int x, const std::int32_t* d, Workspace& work) const {
    const int N = t_ - x;
    double free_rate = 0.0;  // of the rivals that cannot catch up
    work.groups.clear();
    for (std::size_t l = 0; l < rate_of_.size(); ++l) {
      const int most = x - d[l] - 1;
      if (most < 0) return 1.0;
      if (most >= N || rates_[rate_of_[l]] == 0.0) {
        free_rate += rates_[rate_of_[l]];
      } else {
        const auto same = [&](const Workspace::Group& g) { return g.rate == rate_of_[l] && g.most == most; };
        const auto found = std::find_if(work.groups.begin(), work.groups.end(), same);
        if (found != work.groups.end()) ++found->count;
        else work.groups.push_back({rate_of_[l], most, 1});
      }
    }
    if (work.groups.empty()) return 0.0;
    const double good = compose(N, free_rate, false, work);
    return good < 0.99 ? 1.0 - good : compose(N, free_rate, true, work);
  }

  // The same as `failure`, with the products over all rivals but the last taken from the state before where they agree.
  double shared_failure(int x, const std::int32_t* d, Shared& shared) const {
    const int N = t_ - x;
    const std::size_t R = rate_of_.size(), last = R - 1;
    bool any = false;
    for (std::size_t l = 0; l < R; ++l) {
      if (x - d[l] - 1 < 0) return 1.0;
      any |= !is_free(x, d[l], l);
    }
    if (!any) return 0.0;
    std::size_t same = 0;
    while (same < shared.valid && shared.levels[same].lead == d[same]) ++same;
    for (std::size_t l = same; l < last; ++l) extend(x, d[l], l, shared);
    shared.valid = last;

    const double* p = series(rate_of_[last], N, shared.levels[last].terms);
    const int most = std::min(x - d[last] - 1, N);
    const Series one(1, 1.0);
    const Series& before = last > 0 ? shared.levels[last - 1].good : one;
    const double whole = poisson(N, N), good = coefficient(before, p, 0, most, N) / whole;
    if (good < 0.99) return 1.0 - good;
    double bad = coefficient(before, p, most + 1, N, N);
    if (last > 0) bad += coefficient(with_bad(last - 1, x, shared), p, 0, N, N);
    return bad / whole;
  }

  bool is_free(int x, std::int32_t lead, std::size_t l) const {
    return x - lead - 1 >= t_ - x || rates_[rate_of_[l]] == 0.0;
  }

  void extend(int x, std::int32_t lead, std::size_t l, Shared& shared) const {
    const int N = t_ - x;
    auto& level = shared.levels[l];
    const bool was_free = l == 0 || shared.levels[l - 1].free;
    level.lead = lead;
    level.free = was_free && is_free(x, lead, l);
    level.knows_bad = false;
    if (level.free) {
      Series& known = shared.all_free[l];
      if (known.empty()) {
        double rate = 0.0;
        for (std::size_t k = 0; k <= l; ++k) rate += rates_[rate_of_[k]];
        for (int k = 0; k <= N; ++k) known.push_back(poisson(k, N * rate));
      }
      level.good = known;
      return;
    }
    const double* p = series(rate_of_[l], N, level.terms);
    level.good.assign(N + 1, 0.0);
    if (l == 0) std::copy(p, p + std::min(x - lead - 1, N) + 1, level.good.begin());
    else add_range(level.good, shared.levels[l - 1].good, p, 0, std::min(x - lead - 1, N), N);
  }

  // The series of a failure among the rivals up to l, made on demand.
  const Series& with_bad(std::size_t l, int x, Shared& shared) const {
    auto& level = shared.levels[l];
    if (level.knows_bad) return level.bad;
    const int N = t_ - x, most = std::min(x - level.lead - 1, N);
    level.bad.assign(N + 1, 0.0);
    if (!level.free) {
      const Series* bad_before = l > 0 ? &with_bad(l - 1, x, shared) : nullptr;
      const double* p = series(rate_of_[l], N, level.terms);
      if (bad_before) add_range(level.bad, *bad_before, p, 0, N, N);
      const Series one(1, 1.0);
      add_range(level.bad, l > 0 ? shared.levels[l - 1].good : one, p, most + 1, N, N);
    }
    level.knows_bad = true;
    return level.bad;
  }

  // The coefficient of degree N in a(z) times the terms from..to of p.
  static double coefficient(const Series& a, const double* p, int from, int to, int N) {
    double sum = 0.0;
    for (int k = std::max(from, N + 1 - static_cast<int>(a.size())); k <= to; ++k) sum += p[k] * a[N - k];
    return sum;
  }

  // out += a(z) times the terms from..to of p, up to degree N.
  static void add_range(Series& out, const Series& a, const double* p, int from, int to, int N) {
    const int length = std::min(N + 1, static_cast<int>(a.size()));
    for (int k = from; k <= to; ++k) {
      const double pk = p[k];
      double* target = out.data() + k;
      const int stop = std::min(length, N + 1 - k);
      for (int j = 0; j < stop; ++j) target[j] += pk * a[j];
    }
  }

  // The probability that no rival catches up, or (wants_bad) that some rival does, as a sum of positive terms.
  double compose(int N, double free_rate, bool wants_bad, Workspace& work) const {
    Series &good = work.good, &bad = work.bad, &power_good = work.power_good, &power_bad = work.power_bad;
    good.assign(1, 1.0);
    bad.assign(1, 0.0);
    for (const auto& group : work.groups) {
      const double* p = series(group.rate, N, work.series);
      power_good.assign(p, p + group.most + 1);
      power_bad.assign(1, 0.0);
      if (wants_bad) {
        power_bad.assign(p, p + N + 1);
        std::fill(power_bad.begin(), power_bad.begin() + group.most + 1, 0.0);
      }
      for (int count = group.count;; count /= 2) {  // binary powers
        if (count % 2) join(good, bad, power_good, power_bad, N, wants_bad, work);
        if (count <= 1) break;
        square(power_good, power_bad, N, wants_bad, work);
      }
    }
    const Series& wanted = wants_bad ? bad : good;
    double sum = 0.0;
    for (std::size_t k = 0; k < wanted.size(); ++k)
      if (wanted[k] != 0.0) sum += wanted[k] * poisson(N - static_cast<int>(k), N * free_rate);
    return sum / poisson(N, N);
  }

  // (good, bad) of two sets of rivals: good * good; bad * anything + good * bad.
  static void join(Series& good, Series& bad, const Series& good2, const Series& bad2, int N, bool wants_bad,
                   Workspace& work) {
    if (wants_bad) {
      work.product.clear();
      add_product(work.product, bad, good2, N);
      add_product(work.product, bad, bad2, N);
      add_product(work.product, good, bad2, N);
      bad.swap(work.product);
    }
    work.product.clear();
    add_product(work.product, good, good2, N);
    good.swap(work.product);
  }

  static void square(Series& good, Series& bad, int N, bool wants_bad, Workspace& work) {
    const Series good2 = good, bad2 = bad;
    join(good, bad, good2, bad2, N, wants_bad, work);
  }

  static void add_product(Series& out, const Series& a, const Series& b, int N) {
    const std::size_t length = std::min<std::size_t>(N + 1, a.size() + b.size() - 1);
    if (out.size() < length) out.resize(length, 0.0);
    for (std::size_t i = 0; i < std::min(a.size(), length); ++i) {
      if (a[i] == 0.0) continue;
      const std::size_t stop = std::min(b.size(), length - i);
      const double ai = a[i];
      double* target = out.data() + i;
      for (std::size_t j = 0; j < stop; ++j) target[j] += ai * b[j];
    }
  }

  int t_, mode_ = 0;
  Series log_factorial_, own_;  // own_[x]: the true class makes x steps
  Series below_, above_;        // sums of own_ below x and from x on
  Series rates_;                // the distinct r_l
  std::vector<std::size_t> rate_of_;
  Series table_;
};

}  // namespace simplexboost
