// The bindings: checks of shapes and sizes, views on the arrays, the GIL released around the work. No logic.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <numeric>
#include <optional>
#include <stdexcept>

#include "bins/bin.hpp"
#include "bins/edges.hpp"
#include "core/pool.hpp"
#include "forest/forest.hpp"
#include "forest/predict.hpp"
#include "games/potential.hpp"
#include "losses/logistic.hpp"
#include "losses/newton.hpp"
#include "svm/module.hpp"
#include "trees/grow.hpp"
#include "trees/leaves.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace simplexboost {
namespace {

template <class T, class... Shape>
using In = nb::ndarray<const T, nb::c_contig, nb::device::cpu, Shape...>;
template <class T, class... Shape>
using Out = nb::ndarray<T, nb::c_contig, nb::device::cpu, Shape...>;
using Vector = nb::ndim<1>;
using Matrix = nb::ndim<2>;
using Codes = nb::ndim<3>;

void require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(message);
}

BinnedView view(const In<std::uint8_t, Codes>& codes, const In<std::int32_t, Vector>& n_bins,
                const In<std::uint8_t, Vector>& has_missing, const In<std::uint8_t, Vector>& categorical) {
  const std::size_t p = n_bins.shape(0);
  require(p > 0 && codes.shape(0) == (p + kTile - 1) / kTile && codes.shape(2) == kTile,
          "codes must be (n_blocks, n, 8)");
  require(has_missing.shape(0) == p && categorical.shape(0) == p,
          "has_missing and categorical must have one entry per feature");
  BinnedView data{codes.data(),
                  codes.shape(1),
                  p,
                  n_bins.data(),
                  has_missing.data(),
                  categorical.data(),
                  std::vector<std::size_t>(p + 1)};
  for (std::size_t f = 0; f < p; ++f) {
    require(n_bins.data()[f] >= 1 && n_bins.data()[f] <= 255, "n_bins must lie in 1 .. 255");
    data.offset[f + 1] = data.offset[f] + static_cast<std::size_t>(n_bins.data()[f]) + (has_missing.data()[f] ? 1 : 0);
  }
  require(data.n < (std::size_t{1} << 30), "more than 2^30 rows");
  return data;
}

template <class T>
nb::ndarray<nb::numpy, T> to_numpy(std::vector<T>&& values, std::initializer_list<std::size_t> shape) {
  auto* owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void* pointer) noexcept { delete static_cast<std::vector<T>*>(pointer); });
  return nb::ndarray<nb::numpy, T>(owned->data(), shape, owner);
}

std::vector<std::uint8_t> node_bytes(const std::vector<Node>& nodes) {
  std::vector<std::uint8_t> bytes(nodes.size() * sizeof(Node), 0);
  for (std::size_t i = 0; i < nodes.size();
       ++i) {  // field by field: padding bytes stay zero, so equal trees are equal bytes
    auto* out = reinterpret_cast<Node*>(bytes.data() + i * sizeof(Node));
    out->threshold = nodes[i].threshold;
    out->feature = nodes[i].feature;
    out->left = nodes[i].left;
    out->bin = nodes[i].bin;
    out->missing_left = nodes[i].missing_left;
    out->category = nodes[i].category;
  }
  return bytes;
}

std::vector<std::uint8_t> set_bytes(const std::vector<CategorySet>& sets) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(sets.data());
  return std::vector<std::uint8_t>(bytes, bytes + sets.size() * sizeof(CategorySet));
}

// Statistics are dense (n, m), or sparse: classes (n,) and weight (n,) with m columns.
nb::tuple grow(In<std::uint8_t, Codes> codes, In<std::int32_t, Vector> n_bins, In<std::uint8_t, Vector> has_missing,
               In<std::uint8_t, Vector> categorical, std::optional<In<double, Matrix>> dense,
               std::optional<In<std::int32_t, Vector>> classes, std::optional<In<double, Vector>> weight, std::size_t m,
               In<double, Matrix> leaf_statistics, std::optional<In<std::uint32_t, Vector>> rows,
               std::optional<In<std::int32_t, Vector>> features, int score, double l2, int max_depth, int max_leaves,
               std::int64_t min_samples_leaf, std::int64_t min_category_count, double category_smoothing,
               bool best_first, int bits, std::uint64_t seed, std::size_t histogram_memory, int n_threads) {
  const BinnedView data = view(codes, n_bins, has_missing, categorical);
  StatisticsView statistics;
  statistics.m = m;
  if (dense) {
    require(dense->shape(0) == data.n && dense->shape(1) == m && m >= 1, "statistics must be (n, m)");
    statistics.dense = dense->data();
  } else {
    require(classes && weight && classes->shape(0) == data.n && weight->shape(0) == data.n,
            "classes and weight must be (n,)");
    statistics.classes = classes->data();
    statistics.weight = weight->data();
    for (std::size_t i = 0; i < data.n; ++i)
      require(classes->data()[i] >= 0 && static_cast<std::size_t>(classes->data()[i]) < m,
              "classes must lie in 0 .. m - 1");
  }
  require(score >= 0 && score <= static_cast<int>(Score::gini), "unknown score");
  require(static_cast<Score>(score) != Score::newton || m >= 2,
          "the newton score needs gradient and curvature columns");
  require(bits == 32 || bits == 64, "bits must be 32 or 64");
  require(leaf_statistics.shape(0) == data.n, "leaf_statistics must have n rows");
  require(min_category_count >= 1 && category_smoothing >= 0.0,
          "min_category_count must be 1 or more, category_smoothing not negative");

  Rows used(rows ? rows->shape(0) : data.n);
  if (rows) std::copy_n(rows->data(), used.size(), used.begin());
  else std::iota(used.begin(), used.end(), 0u);
  require(!used.empty(), "rows must not be empty");
  for (std::size_t r = 0; r < used.size(); ++r)
    require(used[r] < data.n && (r == 0 || used[r - 1] < used[r]), "rows must be ascending row numbers");
  std::vector<std::int32_t> columns(features ? features->shape(0) : data.p);
  if (features) std::copy_n(features->data(), columns.size(), columns.begin());
  else std::iota(columns.begin(), columns.end(), 0);
  require(!columns.empty(), "features must not be empty");
  for (std::size_t i = 0; i < columns.size(); ++i)
    require(columns[i] >= 0 && static_cast<std::size_t>(columns[i]) < data.p && (i == 0 || columns[i - 1] < columns[i]),
            "features must be ascending feature numbers");

  const GrowOptions options{static_cast<Score>(score),
                            l2,
                            max_depth,
                            max_leaves,
                            {min_samples_leaf, {min_category_count, category_smoothing}},
                            best_first,
                            seed,
                            histogram_memory,
                            n_threads};
  const std::size_t d = leaf_statistics.shape(1);
  Grown grown;
  std::vector<std::int32_t> leaf_of_row(data.n);
  std::vector<double> sums;
  {
    nb::gil_scoped_release release;
    grown = bits == 64 ? grow_tree<std::int64_t>(data, statistics, used, columns, options)
                       : grow_tree<std::int32_t>(data, statistics, used, columns, options);
    sums = leaf_sums(grown, leaf_statistics.data(), d, n_threads);
    leaf_of_rows(grown, data, leaf_of_row.data(), n_threads);
  }
  const std::size_t n_nodes = grown.tree.nodes.size(), n_leaves = grown.tree.n_leaves,
                    n_sets = grown.tree.category_sets.size();
  return nb::make_tuple(to_numpy(node_bytes(grown.tree.nodes), {n_nodes, sizeof(Node)}),
                        to_numpy(std::move(grown.tree.gain), {n_nodes}),
                        to_numpy(std::move(grown.tree.count), {n_nodes}),
                        to_numpy(set_bytes(grown.tree.category_sets), {n_sets, sizeof(CategorySet)}),
                        to_numpy(std::move(leaf_of_row), {data.n}), to_numpy(std::move(sums), {n_leaves, d}));
}

void check_labels(const In<double, Matrix>& U, const In<std::int64_t, Vector>& c) {
  require(c.shape(0) == U.shape(0), "c must have a label per row of U");
  for (std::size_t i = 0; i < c.shape(0); ++i)
    require(c.data()[i] >= 0 && static_cast<std::size_t>(c.data()[i]) < U.shape(1), "labels must lie in 0 .. K - 1");
}

// The race of the rivals in every row, written to E (n, K), Z (n,) and lead (n,); see hot.inl.
void race(In<double, Matrix> U, In<std::int64_t, Vector> c, double rate, Out<double, Matrix> E, Out<double, Vector> Z,
          Out<double, Vector> lead) {
  check_labels(U, c);
  const std::size_t n = U.shape(0), K = U.shape(1);
  require(E.shape(0) == n && E.shape(1) == K && Z.shape(0) == n && lead.shape(0) == n, "U, E, Z and lead disagree");
  nb::gil_scoped_release release;
  std::vector<double> scratch(2 * (K + 8));
  hot().race(U.data(), n, K, c.data(), rate, scratch.data(), E.data(), Z.data(), lead.data());
}

// E (n, K) of a race becomes the residual, in place: -w E / Z, and w at the true class.
void pull_rows(Out<double, Matrix> E, In<std::int64_t, Vector> c, In<double, Vector> w, In<double, Vector> Z) {
  const std::size_t n = E.shape(0), K = E.shape(1);
  require(c.shape(0) == n && w.shape(0) == n && Z.shape(0) == n, "E, c, w and Z disagree");
  for (std::size_t i = 0; i < n; ++i)
    require(c.data()[i] >= 0 && static_cast<std::size_t>(c.data()[i]) < K, "labels must be classes");
  nb::gil_scoped_release release;
  hot().pull_rows(E.data(), n, K, c.data(), w.data(), Z.data());
}

// What votes for `classes` gain and lose, from the residual P (n, K): sums over the right answers' own pull, over the
// pull of the rivals that wrong ones name, over all; and the number of wrong answers.
nb::tuple vote_sums(In<double, Matrix> P, In<std::int64_t, Vector> c, In<std::int64_t, Vector> classes) {
  check_labels(P, c);
  check_labels(P, classes);
  double gained = 0.0, lost = 0.0, total = 0.0;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < P.shape(0); ++i) {
    const double* p = P.data() + i * P.shape(1);
    const double own = p[c.data()[i]];
    total += own;
    if (classes.data()[i] == c.data()[i]) {
      gained += own;
    } else {
      lost -= p[classes.data()[i]];
      ++wrong;
    }
  }
  return nb::make_tuple(gained, lost, total, wrong);
}

// P (n, K) and own (n,) after votes for `classes`, in place; see hot.inl.
void vote_rows(Out<double, Matrix> P, In<std::int64_t, Vector> c, In<std::int64_t, Vector> classes, double up,
               double down, Out<double, Vector> own) {
  const std::size_t n = P.shape(0), K = P.shape(1);
  require(c.shape(0) == n && classes.shape(0) == n && own.shape(0) == n, "P, c, classes and own disagree");
  for (std::size_t i = 0; i < n; ++i)
    require(c.data()[i] >= 0 && static_cast<std::size_t>(c.data()[i]) < K && classes.data()[i] >= 0 &&
                static_cast<std::size_t>(classes.data()[i]) < K,
            "labels must be classes");
  nb::gil_scoped_release release;
  hot().vote_rows(P.data(), n, K, c.data(), classes.data(), up, down, own.data());
}

// The race at U + alpha W, nothing kept but (Z, lead, mean, variance).
nb::tuple race_along(In<double, Matrix> U, In<std::int64_t, Vector> c, In<double, Matrix> W, double alpha,
                     double rate) {
  check_labels(U, c);
  const std::size_t n = U.shape(0), K = U.shape(1);
  require(W.shape(0) == n && W.shape(1) == K, "W must have the shape of U");
  std::vector<double> Z(n), lead(n), mean(n), variance(n), scratch(2 * (K + 8));
  {
    nb::gil_scoped_release release;
    hot().race_along(U.data(), W.data(), alpha, n, K, c.data(), rate, scratch.data(), scratch.data() + K + 8, Z.data(),
                     lead.data(), mean.data(), variance.data());
  }
  return nb::make_tuple(to_numpy(std::move(Z), {n}), to_numpy(std::move(lead), {n}), to_numpy(std::move(mean), {n}),
                        to_numpy(std::move(variance), {n}));
}

std::size_t padded(std::size_t columns) { return (columns + kLanesFloat - 1) / kLanesFloat * kLanesFloat; }

std::vector<float> transposed(const In<float, Matrix>& Y, std::size_t Kp) {
  const std::size_t K = Y.shape(0), d = Y.shape(1);
  std::vector<float> YT(d * Kp, 0.0f);
  for (std::size_t k = 0; k < K; ++k)
    for (std::size_t j = 0; j < d; ++j) YT[j * Kp + k] = Y.data()[k * d + j];
  return YT;
}

void check_classes(const In<std::int64_t, Vector>& c, std::size_t n, std::size_t K) {
  require(c.shape(0) == n, "c must have a label per row");
  for (std::size_t i = 0; i < n; ++i)
    require(c.data()[i] >= 0 && static_cast<std::size_t>(c.data()[i]) < K, "labels must lie in 0 .. K - 1");
}

// The logistic loss of one training set, ready for a pass per round. Keeps what the codewords and costs give once.
class LogisticLoss {
 public:
  LogisticLoss(std::optional<In<float, Matrix>> Y, In<std::int64_t, Vector> c, std::size_t K,
               std::optional<In<float, Vector>> weight, std::optional<In<float, Matrix>> log_cost, int tilt)
      : c_(c), weight_(weight), K_(K), Kp_(padded(K)), tilt_(static_cast<Tilt>(tilt)) {
    check_classes(c, c.shape(0), K);
    require(K >= 2 && (!Y || Y->shape(0) == K), "Y must have a row per class");
    require(!weight || weight->shape(0) == c.shape(0), "weight must have an entry per row");
    require(!log_cost || (log_cost->shape(0) == K && log_cost->shape(1) == K), "log_cost must be (K, K)");
    require(tilt >= 0 && tilt <= 2, "unknown tilt");
    if (Y) {
      d_ = Y->shape(1);
      Y_.assign(Y->data(), Y->data() + K * d_);
      YT_ = transposed(*Y, Kp_);
    }
    if (log_cost) {
      log_cost_.assign(K * Kp_, 0.0f);
      for (std::size_t k = 0; k < K; ++k) std::copy_n(log_cost->data() + k * K, K, log_cost_.data() + k * Kp_);
    }
  }

  // Fills in G (n, d), stats (n, s + 1), loss (n,) and scale (n,) at F (n, d), with sketched codewords Z (K, s).
  // Canonical codewords need no G.
  void pull(In<float, Matrix> F, In<float, Matrix> Z, float tilt_scale, std::optional<Out<float, Matrix>> G,
            Out<double, Matrix> stats, Out<float, Vector> loss, std::optional<Out<double, Vector>> scale,
            int n_threads) {
    const std::size_t n = c_.shape(0), d = canonical() ? K_ : d_, s = Z.shape(1),
                      Ep = canonical() ? 0 : padded(d + s + 1);
    require(F.shape(0) == n && F.shape(1) == d && Z.shape(0) == K_, "F must be (n, d) and Z (K, s)");
    require(canonical() || (G && G->shape(0) == n && G->shape(1) == d), "G must be (n, d)");
    require(stats.shape(0) == n && stats.shape(1) == s + 1 && loss.shape(0) == n,
            "stats and loss must be (n, s + 1) and (n,)");
    require(!scale || scale->shape(0) == n, "scale must be (n,)");
    std::vector<float> E(canonical() ? (s + 1) * Kp_ : K_ * Ep, 0.0f);
    for (std::size_t k = 0; k < K_; ++k) {
      if (!canonical()) std::copy_n(Y_.data() + k * d, d, E.data() + k * Ep);
      const auto sketched = [&](std::size_t j) -> float& { return canonical() ? E[j * Kp_ + k] : E[k * Ep + d + j]; };
      for (std::size_t j = 0; j < s; ++j) {
        const float z = Z.data()[k * s + j];
        sketched(j) = z;
        sketched(s) += z * z;
      }
    }
    LogisticArgs args = arguments(F.data(), d, scale ? scale->data() : nullptr);
    if (canonical() && P_.empty() && n * Kp_ <= kMostKept) P_.resize(n * Kp_);
    args.P = P_.empty() ? nullptr : P_.data();
    args.E = E.data(), args.s = s, args.Ep = Ep, args.tilt_scale = tilt_scale;
    args.G = G ? G->data() : nullptr, args.stats = stats.data(), args.loss = loss.data();
    nb::gil_scoped_release release;
    logistic_pull(args, n_threads);
  }

  // Newton steps (L, d) in the leaves at the F, G, loss and scale of the last pull: by the diagonal for canonical
  // codewords, else by the whole Hessian of the leaf.
  nb::object newton_leaves(In<float, Matrix> F, std::optional<Out<float, Matrix>> G, Out<float, Vector> loss,
                           std::optional<Out<double, Vector>> scale, In<std::int32_t, Vector> leaf_of_row,
                           std::optional<In<std::uint32_t, Vector>> rows, std::size_t n_leaves, double l2,
                           double max_step, double thin, int n_threads) {
    const std::size_t n = c_.shape(0), d = canonical() ? K_ : d_;
    require(F.shape(0) == n && F.shape(1) == d && loss.shape(0) == n, "F and loss must be (n, d) and (n,)");
    require(canonical() || (G && G->shape(0) == n && G->shape(1) == d), "G must be (n, d)");
    require(leaf_of_row.shape(0) == n && (!scale || scale->shape(0) == n), "leaf_of_row and scale must be (n,)");
    require(max_step > 0.0, "max_step must be positive");
    for (std::size_t i = 0; i < n; ++i)
      require(leaf_of_row.data()[i] >= 0 && static_cast<std::size_t>(leaf_of_row.data()[i]) < n_leaves,
              "leaves must lie in 0 .. n_leaves - 1");
    if (rows)
      for (std::size_t r = 0; r < rows->shape(0); ++r) require(rows->data()[r] < n, "rows must be row numbers");
    std::vector<float> values(n_leaves * d);
    LogisticArgs args = arguments(F.data(), d, scale ? scale->data() : nullptr);
    args.G = G ? G->data() : nullptr, args.loss = loss.data(), args.P = P_.empty() ? nullptr : P_.data();
    {
      nb::gil_scoped_release release;
      const LeafRows leaves(leaf_of_row.data(), n, n_leaves, rows ? rows->data() : nullptr, rows ? rows->shape(0) : 0);
      if (canonical()) newton_diagonal(leaves, args, {l2, max_step, thin}, values.data(), n_threads);
      else newton_exact(leaves, args, Y_.data(), l2, max_step, values.data(), n_threads);
    }
    return nb::cast(to_numpy(std::move(values), {n_leaves, d}));
  }

 private:
  bool canonical() const { return Y_.empty(); }

  LogisticArgs arguments(const float* F, std::size_t d, double* scale) const {
    LogisticArgs args{};
    args.F = F, args.YT = canonical() ? nullptr : YT_.data(), args.c = c_.data();
    args.weight = weight_ ? weight_->data() : nullptr;
    args.log_cost = log_cost_.empty() ? nullptr : log_cost_.data();
    args.tilt = tilt_, args.n = c_.shape(0), args.K = K_, args.Kp = Kp_, args.d = d, args.scale = scale;
    return args;
  }

  In<std::int64_t, Vector> c_;
  std::optional<In<float, Vector>> weight_;
  std::size_t K_, Kp_, d_ = 0;
  Tilt tilt_;
  std::vector<float> Y_, YT_, log_cost_, P_;

  // Probabilities are kept from the pull to the leaves while they stay in the third-level cache; beyond, the scores are
  // read and raised again, which moves half the bytes.
  static constexpr std::size_t kMostKept = 1 << 21;
};

// softmax(F Yᵀ), (n, K); Y is none for canonical codewords
// P (n, K) comes from outside: zeros written here, by one thread, took two thirds of the time for 438 classes.
void softmax_scores(In<float, Matrix> F, std::optional<In<float, Matrix>> Y, Out<double, Matrix> P, int n_threads) {
  const std::size_t n = F.shape(0), d = F.shape(1), K = Y ? Y->shape(0) : d, Kp = padded(K);
  require(!Y || Y->shape(1) == d, "F and Y disagree");
  require(P.shape(0) == n && P.shape(1) == K, "P must be (n, K)");
  const std::vector<float> YT = Y ? transposed(*Y, Kp) : std::vector<float>();
  LogisticArgs args{};
  args.F = F.data(), args.YT = Y ? YT.data() : nullptr, args.n = n, args.K = K, args.Kp = Kp, args.d = d;
  nb::gil_scoped_release release;
  probabilities(args, P.data(), n_threads);
}

// F[row] += step * values[leaf of row]
// Where every row of values (n_leaves, d) has one entry at most that is not zero: which; else nothing.
template <class Value>
std::vector<std::size_t> only_entries(const Value* values, std::size_t n_leaves, std::size_t d) {
  std::vector<std::size_t> only(n_leaves, 0);
  for (std::size_t leaf = 0; leaf < n_leaves; ++leaf) {
    std::size_t found = 0;
    for (std::size_t j = 0; j < d; ++j)
      if (values[leaf * d + j] != 0) only[leaf] = j, ++found;
    if (found > 1) return {};
  }
  return only;
}

template <class Value>
void add_values(Out<Value, Matrix> F, In<Value, Matrix> values, Value step, In<std::int32_t, Vector> leaf_of_row,
                int n_threads) {
  const std::size_t n = F.shape(0), d = F.shape(1), n_leaves = values.shape(0);
  require(values.shape(1) == d && leaf_of_row.shape(0) == n, "F, values and leaf_of_row disagree");
  for (std::size_t i = 0; i < n; ++i)
    require(leaf_of_row.data()[i] >= 0 && static_cast<std::size_t>(leaf_of_row.data()[i]) < n_leaves,
            "leaves must be rows of values");
  nb::gil_scoped_release release;
  const std::vector<std::size_t> only = only_entries(values.data(), n_leaves, d);
  parallel_ranges(n, 2048, n_threads, [&](std::size_t begin, std::size_t end) {
    if (!only.empty()) {
      for (std::size_t i = begin; i < end; ++i) {
        const auto leaf = static_cast<std::size_t>(leaf_of_row.data()[i]);
        F.data()[i * d + only[leaf]] += step * values.data()[leaf * d + only[leaf]];
      }
    } else if constexpr (sizeof(Value) == 4) {
      hot().add_values_float(F.data(), d, values.data(), step, leaf_of_row.data(), begin, end);
    } else {
      hot().add_values_double(F.data(), d, values.data(), step, leaf_of_row.data(), begin, end);
    }
  });
}

const Node* nodes_of(const In<std::uint8_t, Matrix>& bytes) {
  require(bytes.shape(1) == sizeof(Node), "nodes must be rows of the node layout");
  return reinterpret_cast<const Node*>(bytes.data());
}

const CategorySet* sets_of(const In<std::uint8_t, Matrix>& bytes) {
  require(bytes.shape(1) == sizeof(CategorySet), "category_sets must be rows of 32 bytes");
  return reinterpret_cast<const CategorySet*>(bytes.data());
}

template <class Value>
void bind_values(nb::module_& m) {
  m.def(
      "find_edges",
      [](In<Value, Matrix> X, std::optional<In<std::int64_t, Vector>> rows, std::size_t max_bins, int n_threads) {
        const std::size_t n = X.shape(0), p = X.shape(1);
        require(n < (std::size_t{1} << 30), "more than 2^30 rows");
        require(max_bins >= 1 && max_bins <= 255, "max_bins must lie in 1 .. 255");
        if (rows)
          for (std::size_t r = 0; r < rows->shape(0); ++r)
            require(rows->data()[r] >= 0 && static_cast<std::size_t>(rows->data()[r]) < n, "rows must be row numbers");
        Edges edges;
        {
          nb::gil_scoped_release release;
          const auto row_of = [&rows](std::size_t i) { return static_cast<std::size_t>(rows->data()[i]); };
          const auto itself = [](std::size_t i) { return i; };
          edges = rows ? find_edges(X.data(), p, rows->shape(0), row_of, max_bins, n_threads)
                       : find_edges(X.data(), p, n, itself, max_bins, n_threads);
        }
        const std::size_t n_edges = edges.values.size();
        return nb::make_tuple(to_numpy(std::move(edges.values), {n_edges}), to_numpy(std::move(edges.first), {p + 1}));
      },
      "X"_a, "rows"_a.none(), "max_bins"_a, "n_threads"_a);

  m.def(
      "bin_values",
      [](In<Value, Matrix> X, In<double, Vector> edges, In<std::int64_t, Vector> first_edge,
         Out<std::uint8_t, Codes> codes, Out<std::uint8_t, Vector> has_missing, int n_threads) {
        const std::size_t n = X.shape(0), p = X.shape(1);
        require(first_edge.shape(0) == p + 1 && codes.shape(1) == n && codes.shape(0) == (p + kTile - 1) / kTile &&
                    codes.shape(2) == kTile && has_missing.shape(0) == p,
                "shapes disagree");
        const std::int64_t* first = first_edge.data();
        require(first[0] == 0 && first[p] == static_cast<std::int64_t>(edges.shape(0)),
                "first_edge must span the edges");
        for (std::size_t f = 0; f < p; ++f)
          require(first[f] <= first[f + 1] && first[f + 1] - first[f] <= 254, "a feature has 0 .. 254 edges");
        nb::gil_scoped_release release;
        bin_values(X.data(), n, p, edges.data(), first, codes.data(), has_missing.data(), n_threads);
      },
      "X"_a, "edges"_a, "first_edge"_a, "codes"_a, "has_missing"_a, "n_threads"_a);

  m.def(
      "apply",
      [](In<std::uint8_t, Matrix> nodes, In<std::uint8_t, Matrix> category_sets, In<Value, Matrix> X,
         Out<std::int32_t, Vector> leaves, int n_threads) {
        require(leaves.shape(0) == X.shape(0), "leaves must have an entry per row of X");
        check_tree(nodes_of(nodes), nodes.shape(0), category_sets.shape(0), X.shape(1));
        nb::gil_scoped_release release;
        apply(nodes_of(nodes), sets_of(category_sets), X.data(), X.shape(0), X.shape(1), leaves.data(), n_threads);
      },
      "nodes"_a, "category_sets"_a, "X"_a, "leaves"_a, "n_threads"_a);
}

// Potentials of states given as the leads (m, K - 1) of the rivals over the true class, rows sorted.
nb::ndarray<nb::numpy, double> zero_one_potential(int t, In<double, Vector> b, In<std::int32_t, Matrix> leads,
                                                  int n_threads) {
  require(t >= 0, "t must not be negative");
  const std::size_t m = leads.shape(0), K = b.shape(0);
  require(K >= 2 && leads.shape(1) == K - 1, "leads must have a column per rival class");
  std::vector<double> values(m);
  {
    nb::gil_scoped_release release;
    const ZeroOnePotential potential(t, b.data(), K);
    if (m <= 8) {  // too few to share anything
      ZeroOnePotential::Workspace work;
      for (std::size_t i = 0; i < m; ++i) values[i] = potential(leads.data() + i * (K - 1), work);
    } else {
      parallel_ranges(m, 1024, n_threads, [&](std::size_t begin, std::size_t end) {
        potential.many(leads.data() + begin * (K - 1), end - begin, values.data() + begin);
      });
    }
  }
  return to_numpy(std::move(values), {m});
}

template <class Leaf>
void bind_forest(nb::module_& m, const char* name) {
  auto forest = nb::class_<Forest<Leaf>>(m, name, "Trees packed for prediction; see kernels/forest.hpp.");
  forest.def(
      "__init__",
      [](Forest<Leaf>* self, In<std::uint8_t, Matrix> nodes, In<std::int64_t, Vector> first_node,
         In<Leaf, Vector> values, In<std::int64_t, Vector> first_value, std::optional<In<std::int32_t, Vector>> columns,
         std::optional<In<std::int64_t, Vector>> row_start, In<std::int32_t, Vector> coordinate,
         In<double, Vector> step, In<std::uint8_t, Matrix> category_sets, In<std::int64_t, Vector> first_set,
         std::size_t n_features) {
        const std::size_t n_trees = step.shape(0);
        require(n_features < std::size_t{1} << 28,
                "a forest has fewer than 2^28 features");  // a packed node has 31 bits for 8 times one
        require(n_trees > 0 && first_node.shape(0) == n_trees + 1 && first_value.shape(0) == n_trees + 1 &&
                    coordinate.shape(0) == n_trees && first_set.shape(0) == n_trees + 1,
                "the arrays of the forest disagree");
        require(static_cast<std::size_t>(first_node.data()[n_trees]) == nodes.shape(0),
                "first_node must end at the last node");
        require(static_cast<std::size_t>(first_value.data()[n_trees]) == values.shape(0),
                "first_value must end at the last value");
        require(columns.has_value() == row_start.has_value(), "columns and row_start go together");
        require(!row_start || row_start->shape(0) > 0, "row_start must not be empty");
        const std::size_t n_rows = row_start ? row_start->shape(0) - 1 : 0;
        if (columns) {
          require(columns->shape(0) == values.shape(0), "columns must have an entry per value");
          require(static_cast<std::size_t>(row_start->data()[n_rows]) == values.shape(0),
                  "row_start must end at the last value");
          require(n_rows == (nodes.shape(0) + n_trees) / 2, "row_start must have an entry per leaf and one more");
        }
        require(static_cast<std::size_t>(first_set.data()[n_trees]) == category_sets.shape(0),
                "first_set must end at the last set");
        new (self)
            Forest<Leaf>(nodes_of(nodes), first_node.data(), values.data(), values.shape(0), first_value.data(),
                         columns ? columns->data() : nullptr, row_start ? row_start->data() : nullptr, n_rows,
                         coordinate.data(), step.data(), sets_of(category_sets), first_set.data(), n_trees, n_features);
      },
      "nodes"_a, "first_node"_a, "values"_a, "first_value"_a, "columns"_a.none(), "row_start"_a.none(), "coordinate"_a,
      "step"_a, "category_sets"_a, "first_set"_a, "n_features"_a);
  const auto predict = [](const Forest<Leaf>& self, const auto& X, Out<Leaf, Matrix>& F, int n_threads) {
    require(F.shape(0) == X.shape(0), "F must have a row per row of X");
    require(self.fits(X.shape(1), F.shape(1)),
            "X must have the columns that the forest was packed for, and F those of the values");
    nb::gil_scoped_release release;
    self.predict(X.data(), X.shape(0), F.shape(1), F.data(), n_threads);
  };
  forest.def(
      "predict",
      [predict](const Forest<Leaf>& self, In<double, Matrix> X, Out<Leaf, Matrix> F, int n_threads) {
        predict(self, X, F, n_threads);
      },
      "X"_a, "F"_a, "n_threads"_a);
  forest.def(
      "predict",
      [predict](const Forest<Leaf>& self, In<float, Matrix> X, Out<Leaf, Matrix> F, int n_threads) {
        predict(self, X, F, n_threads);
      },
      "X"_a, "F"_a, "n_threads"_a);
}

}  // namespace
}  // namespace simplexboost

NB_MODULE(_kernels, m) {
  using namespace simplexboost;
  m.doc() = "The compiled engine of simplexboost; see simplexboost.engine for its Python face.";
  nb::set_leak_warnings(false);  // fitted models that live until the interpreter ends are no leak
  m.attr("NODE_SIZE") = sizeof(Node);
  m.attr("TILE") = kTile;
  m.def("instruction_set", &instruction_set,
        "The instruction set the inner loops run on: 'avx512', 'avx2' or 'baseline'.");
  m.def("grow", &grow, "codes"_a, "n_bins"_a, "has_missing"_a, "categorical"_a, "dense"_a.none(), "classes"_a.none(),
        "weight"_a.none(), "m"_a, "leaf_statistics"_a, "rows"_a.none(), "features"_a.none(), "score"_a, "l2"_a,
        "max_depth"_a, "max_leaves"_a, "min_samples_leaf"_a, "min_category_count"_a, "category_smoothing"_a,
        "best_first"_a, "bits"_a, "seed"_a, "histogram_memory"_a, "n_threads"_a,
        "Grow one tree: (nodes, gain, count, category sets, leaf of each row, leaf sums).");
  m.def("race", &race, "U"_a, "c"_a, "rate"_a, "E"_a.noconvert(), "Z"_a.noconvert(), "lead"_a.noconvert(),
        "exp(rate (U_k - highest rival)), its row sums, and the true class's lead.");
  m.def("pull_rows", &pull_rows, "E"_a.noconvert(), "c"_a, "w"_a, "Z"_a,
        "E becomes -w E / Z, and w at the true class.");
  m.def("vote_sums", &vote_sums, "P"_a, "c"_a, "classes"_a, "What votes gain and lose, of what total; wrong answers.");
  m.def("vote_rows", &vote_rows, "P"_a.noconvert(), "c"_a, "classes"_a, "up"_a, "down"_a, "own"_a.noconvert(),
        "The residual of an exponential loss after votes, in place.");
  m.def("race_along", &race_along, "U"_a, "c"_a, "W"_a, "alpha"_a, "rate"_a,
        "The race at U + alpha W: row sums, leads, mean and variance of W among the rivals.");
  nb::class_<LogisticLoss>(m, "LogisticLoss",
                           "The logistic loss of one training set, a pass per round; see kernels/logistic.hpp.")
      .def(nb::init<std::optional<In<float, Matrix>>, In<std::int64_t, Vector>, std::size_t,
                    std::optional<In<float, Vector>>, std::optional<In<float, Matrix>>, int>(),
           "Y"_a.none(), "c"_a, "K"_a, "weight"_a.none(), "log_cost"_a.none(), "tilt"_a)
      .def("pull", &LogisticLoss::pull, "F"_a, "Z"_a, "tilt_scale"_a, "G"_a.none(), "stats"_a, "loss"_a,
           "scale"_a.none(), "n_threads"_a)
      .def("newton_leaves", &LogisticLoss::newton_leaves, "F"_a, "G"_a.none(), "loss"_a, "scale"_a.none(),
           "leaf_of_row"_a, "rows"_a.none(), "n_leaves"_a, "l2"_a, "max_step"_a, "thin"_a, "n_threads"_a);
  m.def("softmax_scores", &softmax_scores, "F"_a, "Y"_a.none(), "P"_a.noconvert(), "n_threads"_a,
        "P (n, K) = softmax(F Y^T).");
  m.def(
      "zero_one_potential", &zero_one_potential, "t"_a, "b"_a, "leads"_a, "n_threads"_a,
      "The probability that a walk of t steps ends with the true class not strictly ahead; see kernels/potential.hpp.");
  // No conversions: a converted F would be a copy, and the copy would be what is added to.
  m.def("add_values", &add_values<float>, "F"_a.noconvert(), "values"_a.noconvert(), "step"_a, "leaf_of_row"_a,
        "n_threads"_a, "F[row] += step * values[leaf of row].");
  m.def("add_values", &add_values<double>, "F"_a.noconvert(), "values"_a.noconvert(), "step"_a, "leaf_of_row"_a,
        "n_threads"_a);
  bind_values<double>(m);
  bind_values<float>(m);
  bind_forest<double>(m, "Forest64");
  bind_forest<float>(m, "Forest32");
  bind_svm(m);
}
