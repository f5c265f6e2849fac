// Power series, truncated at a degree, as vectors of coefficients, none of which is negative.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace simplexboost {

using Series = std::vector<double>;

// The coefficient of degree N in a(z) times the terms from..to of p.
inline double coefficient(const Series& a, const double* p, int from, int to, int N) {
  double sum = 0.0;
  for (int k = std::max(from, N + 1 - static_cast<int>(a.size())); k <= to; ++k) sum += p[k] * a[N - k];
  return sum;
}

// out += a(z) times the terms from..to of p, up to degree N.
inline void add_range(Series& out, const Series& a, const double* p, int from, int to, int N) {
  const int length = std::min(N + 1, static_cast<int>(a.size()));
  for (int k = from; k <= to; ++k) {
    const double pk = p[k];
    double* target = out.data() + k;
    const int stop = std::min(length, N + 1 - k);
    for (int j = 0; j < stop; ++j) target[j] += pk * a[j];
  }
}

// out += a(z) b(z), up to degree N.
inline void add_product(Series& out, const Series& a, const Series& b, int N) {
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

// (good, bad) of two sets of rivals: good * good; bad * anything + good * bad.
inline void join(Series& good, Series& bad, const Series& good2, const Series& bad2, int N, bool wants_bad,
                 Series& product) {
  if (wants_bad) {
    product.clear();
    add_product(product, bad, good2, N);
    add_product(product, bad, bad2, N);
    add_product(product, good, bad2, N);
    bad.swap(product);
  }
  product.clear();
  add_product(product, good, good2, N);
  good.swap(product);
}

inline void square(Series& good, Series& bad, int N, bool wants_bad, Series& product) {
  const Series good2 = good, bad2 = bad;
  join(good, bad, good2, bad2, N, wants_bad, product);
}

}  // namespace simplexboost
