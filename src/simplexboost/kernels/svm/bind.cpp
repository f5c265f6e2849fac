// Bindings: the multiclass SVM.
#include "core/bind.hpp"

#include <algorithm>
#include <cmath>

#include "module.hpp"
#include "svm/hashes.hpp"
#include "svm/problem.hpp"

namespace simplexboost {
namespace {

nb::object matrix_or_none(std::vector<double>&& values, std::size_t rows, std::size_t columns) {
  if (values.empty()) return nb::none();
  return nb::cast(to_numpy(std::move(values), {rows, columns}));
}

// Examples as dense rows, or as compressed sparse rows if `dense` is none.
SvmRows view(const std::optional<In<double, Matrix>>& dense, const std::optional<In<double, Vector>>& data,
             const std::optional<In<std::int32_t, Vector>>& indices,
             const std::optional<In<std::int64_t, Vector>>& indptr, std::size_t n, std::size_t p) {
  SvmRows rows;
  rows.n = n, rows.p = p;
  if (dense) {
    require(dense->shape(0) == n, "X must have n rows");
    rows.dense = dense->data();
    return rows;
  }
  require(data && indices && indptr && indptr->shape(0) == n + 1 && data->shape(0) == indices->shape(0),
          "the arrays of X disagree");
  const std::int64_t* first = indptr->data();
  require(first[0] == 0 && first[n] == static_cast<std::int64_t>(data->shape(0)), "indptr must span the data");
  for (std::size_t i = 0; i < n; ++i) require(first[i] <= first[i + 1], "indptr must not fall");
  rows.data = data->data(), rows.indices = indices->data(), rows.indptr = first;
  return rows;
}

// A training set, the parameters of a solver, and its result.
class Svm {
 public:
  Svm(std::optional<In<double, Matrix>> dense, std::optional<In<double, Vector>> data,
      std::optional<In<std::int32_t, Vector>> indices, std::optional<In<std::int64_t, Vector>> indptr, std::size_t p,
      In<std::int64_t, Vector> y, In<double, Vector> C, std::size_t K)
      : dense_(dense), data_(data), indices_(indices), indptr_(indptr), y_(y), C_(C) {
    const std::size_t n = y.shape(0);
    require(n >= 1 && C.shape(0) == n, "y and C must have an entry per example");
    require(K >= 2 && K < kMostItems && p < kMostItems, "K must lie in 2 .. 2^31 - 1, and p below 2^31");
    problem_.rows = view(dense, data, indices, indptr, n, p);
    require(!dense || dense->shape(1) == p, "X must be (n, p)");
    require(dense || all_below(indices->data(), indices->shape(0), p), "indices must lie in 0 .. p - 1");
    require(dense ? all_finite(dense->data(), n * p) : all_finite(data->data(), data->shape(0)), "X must be finite");
    require(K <= std::max<std::size_t>(n, 2), "there must not be more classes than rows");  // each takes memory
    check_labels(y, n, K);
    for (std::size_t i = 0; i < n; ++i)
      require(C.data()[i] > 0.0 && std::isfinite(C.data()[i]), "C must be positive and finite");
    problem_.y = y.data(), problem_.C = C.data(), problem_.K = K;
  }

  nb::tuple linear(double bias, double tol, std::int64_t max_iter, std::uint64_t seed,
                   std::optional<nb::callable> progress) const {
    require(std::isfinite(bias), "bias must be finite");
    return run({tol, max_iter, seed, 0, 1, {}}, progress,
               [&](const SvmOptions& options) { return svm_linear(problem_, bias, options); });
  }

  nb::tuple sgd(double bias, double tol, std::int64_t max_iter, std::uint64_t seed,
                std::optional<nb::callable> progress) const {
    require(std::isfinite(bias), "bias must be finite");
    return run({tol, max_iter, seed, 0, 1, {}}, progress,
               [&](const SvmOptions& options) { return svm_sgd(problem_, bias, options); });
  }

  nb::tuple kernel(int kind, double gamma, double coef0, int degree, double bias, double tol, std::int64_t max_iter,
                   std::size_t cache_bytes, int n_threads, std::optional<nb::callable> progress) const {
    check_threads(n_threads);
    require(kind >= 0 && kind <= static_cast<int>(SvmKernel::precomputed), "unknown kernel function");
    require(is_amount(gamma) && std::isfinite(coef0) && std::isfinite(bias) && degree >= 0,
            "gamma, coef0 and bias must be finite, gamma and degree not negative");
    const SvmKernelSpec spec{static_cast<SvmKernel>(kind), gamma, coef0, bias, degree};
    require(spec.kind != SvmKernel::precomputed || (problem_.rows.dense && problem_.rows.p == problem_.rows.n),
            "a precomputed Gram matrix must be (n, n)");
    return run({tol, max_iter, 0, cache_bytes, n_threads, {}}, progress,
               [&](const SvmOptions& options) { return svm_kernel(problem_, spec, options); });
  }

 private:
  template <class Solve>
  nb::tuple run(SvmOptions options, std::optional<nb::callable>& progress, const Solve& solve) const {
    require(options.tol >= 0.0 && options.max_iter >= 1, "tol must not be negative, and max_iter be 1 or more");
    options.tick = [&progress](const SvmProgress& at) {
      WithGil lock;
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      if (progress && !std::isnan(at.primal)) (*progress)(at.iteration, at.primal, at.dual, at.active);
    };
    SvmResult result;
    {
      WithoutGil release;
      result = solve(options);
    }
    const std::size_t n = problem_.rows.n, p = problem_.rows.p, K = problem_.K;
    return nb::make_tuple(matrix_or_none(std::move(result.a), n, K), matrix_or_none(std::move(result.W), p + 1, K),
                          result.primal, result.dual, result.n_iter, result.converged);
  }

  std::optional<In<double, Matrix>> dense_;  // keep the arrays alive
  std::optional<In<double, Vector>> data_;
  std::optional<In<std::int32_t, Vector>> indices_;
  std::optional<In<std::int64_t, Vector>> indptr_;
  In<std::int64_t, Vector> y_;
  In<double, Vector> C_;
  SvmProblem problem_;
};

nb::object row_hashes(std::optional<In<double, Matrix>> dense, std::optional<In<double, Vector>> data,
                      std::optional<In<std::int32_t, Vector>> indices, std::optional<In<std::int64_t, Vector>> indptr,
                      std::size_t n) {
  return nb::cast(to_numpy(hash_rows(view(dense, data, indices, indptr, n, dense ? dense->shape(1) : 0)), {n}));
}

}  // namespace

void bind_svm(nb::module_& m) {
  nb::class_<Svm>(m, "Svm",
                  "The multiclass SVM on one training set; solvers return (a, W, primal, dual, n_iter, converged).")
      .def(nb::init<std::optional<In<double, Matrix>>, std::optional<In<double, Vector>>,
                    std::optional<In<std::int32_t, Vector>>, std::optional<In<std::int64_t, Vector>>, std::size_t,
                    In<std::int64_t, Vector>, In<double, Vector>, std::size_t>(),
           "dense"_a.none(), "data"_a.none(), "indices"_a.none(), "indptr"_a.none(), "p"_a, "y"_a, "C"_a, "K"_a)
      .def("linear", &Svm::linear, "bias"_a, "tol"_a, "max_iter"_a, "seed"_a, "progress"_a.none())
      .def("sgd", &Svm::sgd, "bias"_a, "tol"_a, "max_iter"_a, "seed"_a, "progress"_a.none())
      .def("kernel", &Svm::kernel, "kind"_a, "gamma"_a, "coef0"_a, "degree"_a, "bias"_a, "tol"_a, "max_iter"_a,
           "cache_bytes"_a, "n_threads"_a, "progress"_a.none());
  m.def("row_hashes", &row_hashes, "dense"_a.none(), "data"_a.none(), "indices"_a.none(), "indptr"_a.none(), "n"_a,
        "A 64-bit number per row that depends on its values only.");
}

}  // namespace simplexboost
