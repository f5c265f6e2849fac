// Loops of explainer.hpp: the weights of leaves in the Shapley values of a few rows, and sums of weighted leaf values.
//
// A leaf with value v and questions 1 .. m is the game S -> v * prod_{i in S} o_i * prod_{i not in S} z_i, where o_i
// says whether the row answers question i with yes. The Shapley value of feature j in it is v times
//   (o_j - z_j) * integral over t in [0, 1] of prod_{i != j} (t o_i + (1 - t) z_i),
// because s! (m - 1 - s)! / m! is the integral of t^s (1 - t)^(m - 1 - s). The integrand is a polynomial of degree m -
// 1, so that Gauss' rule with half as many points is exact; all its terms are positive, and nothing cancels. With G_q
// the product over all questions at the point t_q, times the weight of the point, the value is
//   sum_q G_q (1 - z_j) / (t_q + (1 - t_q) z_j)  where o_j = 1,  - sum_q G_q / (1 - t_q)  where o_j = 0.
// The second sum is the same for all features. The interaction of i and j is half of the integral with both factors
// left out and (o_i - z_i) (o_j - z_j) in front.

typedef Real Rows __attribute__((vector_size(64), aligned(sizeof(Real)), may_alias));
typedef Answer Answers __attribute__((vector_size(64), aligned(sizeof(Real)), may_alias));
typedef double Values __attribute__((vector_size(8 * kLanes), aligned(8), may_alias));

inline Rows all_rows(Real x) { return Rows{} + x; }
inline Rows load_rows(const Real* x) { return *reinterpret_cast<const Rows*>(x); }
inline void store_rows(Real* x, Rows rows) { *reinterpret_cast<Rows*>(x) = rows; }

// Thresholds are compared in double precision, whatever that of the results is.
void ask(const PathTree& tree, const CategorySet* sets, const double* x, Answer* answers) {
  for (const Split& split : tree.splits) {
    const double* value = x + static_cast<std::size_t>(split.feature) * kLanes;
    if (split.set < 0) {
      const Values rows = *reinterpret_cast<const Values*>(value);
      auto left = rows <= split.threshold;
      if (split.missing_left) left |= rows != rows;
      *reinterpret_cast<Answers*>(answers) = __builtin_convertvector(left, Answers);
    } else {
      for (std::size_t r = 0; r < kLanes; ++r) {
        const int category = category_of(value[r]);
        const bool left =
            category == kNoCategory ? split.missing_left : sets[split.set].has(static_cast<std::size_t>(category));
        answers[r] = left ? -1 : 0;
      }
    }
    *reinterpret_cast<Answers*>(answers + kLanes) = ~*reinterpret_cast<const Answers*>(answers);
    answers += 2 * kLanes;
  }
}

// Whether the rows answer the question of a link with yes.
inline Answers answer(const PathTree& tree, std::size_t link, const Answer* answers) {
  const std::uint32_t *step = tree.steps.data() + tree.step_first[link],
                      *end = tree.steps.data() + tree.step_first[link + 1];
  Answers yes = *reinterpret_cast<const Answers*>(answers + *step * kLanes);  // most links have one step
  while (++step < end) yes &= *reinterpret_cast<const Answers*>(answers + *step * kLanes);
  return yes;
}

// The factor of a question at a point: t + (1 - t) z where the answer is yes, (1 - t) z where it is no.
inline Rows factor(const Rule& rule, std::size_t q, Rows z, Answers yes) {
  return rule.rest[q] * z + (yes != 0 ? all_rows(rule.at[q]) : Rows{});
}

// A leaf whose products G (Q,) fit into registers.
template <std::size_t Q>
inline void weigh_leaf(const PathTree& tree, std::size_t leaf, std::size_t m, const Rule& rule, const Answer* answers,
                       Real* weights) {
  const std::size_t first = tree.first[leaf];
  const Real* ratio = tree.ratio.data() + tree.ratio_first[leaf];
  Answers yes[2 * Q];
  Rows G[Q], no{};
  for (std::size_t q = 0; q < Q; ++q) G[q] = all_rows(rule.weight[q]);
  for (std::size_t j = 0; j < m; ++j) {
    yes[j] = answer(tree, first + j, answers);
    const Rows z = all_rows(tree.z[first + j]);
    for (std::size_t q = 0; q < Q; ++q) G[q] *= factor(rule, q, z, yes[j]);
  }
  for (std::size_t q = 0; q < Q; ++q) no -= G[q] * rule.inverse_rest[q];
  for (std::size_t j = 0; j < m; ++j, ratio += Q) {
    Rows sum{};
    for (std::size_t q = 0; q < Q; ++q) sum += G[q] * ratio[q];
    store_rows(weights + tree.slot[first + j] * kLanes, yes[j] != 0 ? sum : no);
  }
}

// Any leaf.
inline void weigh_deep_leaf(const PathTree& tree, std::size_t leaf, const Rule& rule, const Answer* answers,
                            Real* weights) {
  const std::size_t first = tree.first[leaf], m = tree.n_links(leaf), Q = n_points(m);
  const Real* ratio = tree.ratio.data() + tree.ratio_first[leaf];
  Buffer<Real> G(Q * kLanes);
  Rows no{};
  for (std::size_t q = 0; q < Q; ++q) store_rows(G.data() + q * kLanes, all_rows(rule.weight[q]));
  for (std::size_t j = 0; j < m; ++j) {
    const Answers yes = answer(tree, first + j, answers);
    const Rows z = all_rows(tree.z[first + j]);
    for (std::size_t q = 0; q < Q; ++q)
      store_rows(G.data() + q * kLanes, load_rows(G.data() + q * kLanes) * factor(rule, q, z, yes));
  }
  for (std::size_t q = 0; q < Q; ++q) no -= load_rows(G.data() + q * kLanes) * rule.inverse_rest[q];
  for (std::size_t j = 0; j < m; ++j, ratio += Q) {
    Rows sum{};
    for (std::size_t q = 0; q < Q; ++q) sum += load_rows(G.data() + q * kLanes) * ratio[q];
    store_rows(weights + tree.slot[first + j] * kLanes, answer(tree, first + j, answers) != 0 ? sum : no);
  }
}

template <std::size_t Q>
void weigh_leaves(const PathTree& tree, const Run& run, const Rule& rule, const Answer* answers, Real* weights) {
  for (std::uint32_t i = run.begin; i < run.end; ++i)
    weigh_leaf<Q>(tree, tree.by_length[i], run.n_links, rule, answers, weights);
}

// Leaves with equally many links one after another, so that the processor foresees every jump: a tenth faster.
void weigh(const PathTree& tree, const Rule* rules, const Answer* answers, Real* weights) {
  for (const Run& run : tree.runs) {
    const std::size_t Q = n_points(run.n_links);
    switch (Q) {
      case 0:
        break;  // a tree without splits
      case 1:
        weigh_leaves<1>(tree, run, rules[1], answers, weights);
        break;
      case 2:
        weigh_leaves<2>(tree, run, rules[2], answers, weights);
        break;
      case 3:
        weigh_leaves<3>(tree, run, rules[3], answers, weights);
        break;
      case 4:
        weigh_leaves<4>(tree, run, rules[4], answers, weights);
        break;
      case 5:
        weigh_leaves<5>(tree, run, rules[5], answers, weights);
        break;
      case 6:
        weigh_leaves<6>(tree, run, rules[6], answers, weights);
        break;
      case 7:
        weigh_leaves<7>(tree, run, rules[7], answers, weights);
        break;
      case 8:
        weigh_leaves<8>(tree, run, rules[8], answers, weights);
        break;
      default:
        for (std::uint32_t i = run.begin; i < run.end; ++i)
          weigh_deep_leaf(tree, tree.by_length[i], rules[Q], answers, weights);
    }
  }
}

// Against a background z is 0 or 1 for every background row, and the integral is that of t^a (1 - t)^b, where a
// questions are answered with yes by the row alone and b by the background row alone; beta (most, most) holds these
// integrals. If neither of them answers a question with yes, no mixture of the two reaches the leaf.
void weigh_background(const PathTree& tree, const double* beta, std::size_t most, const Answer* answers,
                      Real* weights) {
  std::uint64_t yes[kLanes];
  for (std::size_t l = 0; l < tree.n_leaves(); ++l) {
    const std::size_t first = tree.first[l], m = tree.n_links(l);
    const std::uint64_t all = m == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << m) - 1;
    for (std::size_t r = 0; r < kLanes; ++r) yes[r] = 0;
    for (std::size_t j = 0; j < m; ++j) {
      const Answers of_link = answer(tree, first + j, answers);
      for (std::size_t r = 0; r < kLanes; ++r) yes[r] |= static_cast<std::uint64_t>(of_link[r] & 1) << j;
      store_rows(weights + tree.slot[first + j] * kLanes, Rows{});
    }
    for (std::size_t r = 0; r < kLanes; ++r)
      for (std::size_t c = tree.pattern_first[l]; c < tree.pattern_first[l + 1]; ++c) {
        const Pattern& pattern = tree.patterns[c];
        if (((yes[r] | pattern.yes) & all) != all) continue;
        const std::uint64_t own = yes[r] & ~pattern.yes, other = pattern.yes & ~yes[r];
        const auto a = static_cast<std::size_t>(std::popcount(own)), b = static_cast<std::size_t>(std::popcount(other));
        for (std::uint64_t left = own; left != 0; left &= left - 1) {
          const auto j = static_cast<std::size_t>(std::countr_zero(left));
          weights[tree.slot[first + j] * kLanes + r] += static_cast<Real>(pattern.share * beta[(a - 1) * most + b]);
        }
        for (std::uint64_t left = other; left != 0; left &= left - 1) {
          const auto j = static_cast<std::size_t>(std::countr_zero(left));
          weights[tree.slot[first + j] * kLanes + r] -= static_cast<Real>(pattern.share * beta[a * most + b - 1]);
        }
      }
  }
}

// Columns k .. k + B of a feature, which stay in registers while its leaves pass.
template <std::size_t B>
inline void add_columns(const PathTree& tree, std::size_t u, const LeafValues& leaves, std::size_t k,
                        const Real* weights, Real* phi) {
  Rows sums[B];
  for (std::size_t b = 0; b < B; ++b) sums[b] = load_rows(phi + b * kLanes);
  for (std::uint32_t slot = tree.used_first[u]; slot < tree.used_first[u + 1]; ++slot) {
    const Rows weight = load_rows(weights + slot * kLanes);
    const Real* value = leaves.values + tree.slot_leaf[slot] * leaves.D + k;
    for (std::size_t b = 0; b < B; ++b) sums[b] += weight * value[b];
  }
  for (std::size_t b = 0; b < B; ++b) store_rows(phi + b * kLanes, sums[b]);
}

inline void add_dense(const PathTree& tree, std::size_t u, const LeafValues& leaves, const Real* weights, Real* phi) {
  std::size_t k = 0;
  for (; k + 8 <= leaves.D; k += 8) add_columns<8>(tree, u, leaves, k, weights, phi + k * kLanes);
  for (; k + 4 <= leaves.D; k += 4) add_columns<4>(tree, u, leaves, k, weights, phi + k * kLanes);
  for (; k + 2 <= leaves.D; k += 2) add_columns<2>(tree, u, leaves, k, weights, phi + k * kLanes);
  for (; k < leaves.D; ++k) add_columns<1>(tree, u, leaves, k, weights, phi + k * kLanes);
}

inline void add_sparse(const PathTree& tree, std::size_t u, const LeafValues& leaves, const Real* weights, Real* phi) {
  const Real* values = leaves.values;  // copies: for all the compiler knows, sums might overwrite the originals
  const std::int32_t* columns = leaves.columns;
  const std::uint32_t end = tree.used_first[u + 1], *leaf = tree.slot_leaf.data();
  for (std::uint32_t slot = tree.used_first[u]; slot < end; ++slot) {
    const Rows weight = load_rows(weights + slot * kLanes);
    const std::int64_t last = leaves.start[leaf[slot] + 1];
    for (std::int64_t e = leaves.start[leaf[slot]]; e < last; ++e) {
      Real* at = phi + static_cast<std::size_t>(columns[e]) * kLanes;
      store_rows(at, load_rows(at) + weight * values[e]);
    }
  }
}

void add(const PathTree& tree, const LeafValues& leaves, const Real* weights, Real* phi) {
  for (std::size_t u = 0; u < tree.used.size(); ++u) {
    Real* of_feature = phi + static_cast<std::size_t>(tree.used[u]) * leaves.D * kLanes;
    if (leaves.columns == nullptr) add_dense(tree, u, leaves, weights, of_feature);
    else add_sparse(tree, u, leaves, weights, of_feature);
  }
}

// phi (D, 8) += weight times the value of a leaf
inline void add_leaf(const LeafValues& leaves, std::size_t leaf, Rows weight, Real* phi) {
  if (leaves.columns == nullptr) {
    const Real* value = leaves.values + leaf * leaves.D;
    for (std::size_t k = 0; k < leaves.D; ++k, phi += kLanes) store_rows(phi, load_rows(phi) + weight * value[k]);
    return;
  }
  for (std::int64_t e = leaves.start[leaf]; e < leaves.start[leaf + 1]; ++e) {
    Real* at = phi + static_cast<std::size_t>(leaves.columns[e]) * kLanes;
    store_rows(at, load_rows(at) + weight * leaves.values[e]);
  }
}

void interact(const PathTree& tree, const Rule* rules, const Answer* answers, const LeafValues& leaves, std::size_t p,
              Real* phi) {
  std::size_t most = 0;
  for (std::size_t l = 0; l < tree.n_leaves(); ++l) most = std::max(most, tree.n_links(l));
  Buffer<Real> G(n_points(most) * kLanes), ratio(most * n_points(most) * kLanes), own(most * kLanes);
  for (std::size_t l = 0; l < tree.n_leaves(); ++l) {
    const std::size_t first = tree.first[l], m = tree.n_links(l), Q = n_points(m);
    const Real* of_leaf = tree.ratio.data() + tree.ratio_first[l];
    const Rule& rule = rules[Q];
    const auto product = [&](std::size_t q) { return G.data() + q * kLanes; };
    const auto ratio_at = [&](std::size_t j, std::size_t q) { return ratio.data() + (j * Q + q) * kLanes; };
    const auto own_of = [&](std::size_t j) { return own.data() + j * kLanes; };
    for (std::size_t q = 0; q < Q; ++q) store_rows(product(q), all_rows(rule.weight[q]));
    for (std::size_t j = 0; j < m; ++j) {
      const Answers yes = answer(tree, first + j, answers);
      const Rows z = all_rows(tree.z[first + j]);
      for (std::size_t q = 0; q < Q; ++q) {
        store_rows(product(q), load_rows(product(q)) * factor(rule, q, z, yes));
        store_rows(ratio_at(j, q), yes != 0 ? all_rows(of_leaf[j * Q + q]) : all_rows(-rule.inverse_rest[q]));
      }
    }
    for (std::size_t j = 0; j < m; ++j) {
      Rows sum{};
      for (std::size_t q = 0; q < Q; ++q) sum += load_rows(product(q)) * load_rows(ratio_at(j, q));
      store_rows(own_of(j), sum);
    }
    for (std::size_t i = 0; i < m; ++i) {
      const auto f = static_cast<std::size_t>(tree.feature[first + i]);
      for (std::size_t j = i + 1; j < m; ++j) {
        const auto g = static_cast<std::size_t>(tree.feature[first + j]);
        Rows both{};
        for (std::size_t q = 0; q < Q; ++q)
          both += Real{0.5} * load_rows(product(q)) * load_rows(ratio_at(i, q)) * load_rows(ratio_at(j, q));
        store_rows(own_of(i), load_rows(own_of(i)) - both);
        store_rows(own_of(j), load_rows(own_of(j)) - both);
        add_leaf(leaves, l, both, phi + (f * p + g) * leaves.D * kLanes);
      }
      add_leaf(leaves, l, load_rows(own_of(i)), phi + (f * p + f) * leaves.D * kLanes);
    }
  }
}

inline ShapleyTable table() { return {ask, weigh, weigh_background, add, interact}; }
