"""`MulticlassSVC`: the multiclass support vector machine of Crammer and Singer, with its kernels and solvers.

    min_W  ½ Σ_l ‖w_l‖² + C Σ_i max(0, 1 − ⟨w_c, x_i⟩ + max_{l≠c} ⟨w_l, x_i⟩),        c the class of example i

Solvers return dual variables (n, K) and weights W, a w_l per class l. Equal examples of a class are merged into one,
with the sum of their C, and examples are sorted by a hash of their values. Neither changes the problem. Both make the
solution independent of the order of the rows, and of whether an example is repeated or has a larger weight.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.linalg import eigvalsh_tridiagonal
from scipy.sparse import csr_matrix, issparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from .. import _kernels
from .._util.arrays import AnyArray, Array, Labels
from .._util.docstrings import described
from .._util.messages import warn_user
from .._util.params import check_choice, check_number, check_verbose, is_auto, random_generator
from .._util.runtime import one_blas_thread, thread_count
from ..classifiers.base_classifier import BaseClassifier, transaction
from ..persist.archive import damaged
from ..persist.models import is_number, pack_features, unpack_features
from ..persist.saving import check_label_types, from_json, to_json
from ..tables.encoding import check_X, learn_X
from ..tables.inputs import Taken
from ..tables.validation import Labelling, check_labels

# The attributes in model files; sparse support vectors are stored in three parts.
FACTS = ("objective_", "duality_gap_", "n_iter_", "gamma_")
ARRAYS = ("coef_", "intercept_", "support_", "dual_coef_", "support_vectors_")
CSR = ("data", "indices", "indptr")
LARGEST = 1e300  # of the numbers of a file: products with features are then finite, unless these are huge
BLOCK = 1 << 22  # kernel values computed at a time in prediction: 32 MB
MOST_DUALS = 250_000_000  # dual variables (n K) that "auto" is willing to keep: 2 GB


@described
@dataclass(eq=False, repr=False, kw_only=True)
class MulticlassSVC(BaseClassifier):
    """The multiclass support vector machine of Crammer & Singer (2001), which trains all classes in one problem.

    It minimises ½ Σ_k ‖w_k‖² + C Σ_i ξ_i, where w_k are the weights of class k. The slack ξ_i is what the score of the
    true class lacks to exceed every other score by one on example i. The class with the highest score is predicted.

    Parameters
    ----------
    kernel : {"linear", "rbf", "poly", "precomputed"} or callable, default="linear"
        "rbf" is exp(−γ‖x−z‖²), "poly" (γ⟨x,z⟩ + coef0)^degree. A callable takes two matrices of examples and returns
        their kernel matrix; with "precomputed", X is this matrix.
    C : float, default=1.0
        The penalty of a violated margin, multiplied by the sample weight: the inverse of the regularisation strength.
    solver : {"auto", "dual", "sgd"}, default="auto"
        "dual" finds the optimum; "sgd" averages stochastic sub-gradient steps, for linear machines on very many
        examples. "auto" means "dual", except for linear machines whose dual variables need more than 2 GB.
    gamma : {"scale", "auto"} or float, default="scale"
        The parameter γ of "rbf" and "poly"; "scale" is 1 / (p · variance of X, weighted), "auto" 1 / p.
    degree : int, default=3
        The degree of the kernel "poly".
    coef0 : float, default=0.0
        The constant of the kernel "poly".
    fit_intercept : bool or "auto", default="auto"
        Whether a constant feature is appended to every example (or its square added to the kernel), so that classes
        have a bias. The bias is regularised, as in LIBLINEAR. "auto" is True for "linear" only.
    intercept_scaling : float, default=1.0
        The value of the constant feature. The larger it is, the less the bias is shrunk.
    tol : float, default=1e-3
        The solver stops when the duality gap, a bound on the error of the objective, is at most this fraction of it.
    max_iter : int, default=1000
        The largest number of passes through the training set. A pass is n visits of examples.
    cache_size : float, default=200
        Megabytes of memory for kernel rows, which are in single precision if the whole kernel matrix does not fit.
    class_weight : dict, "balanced" or None, default=None
        Class weights by label, which multiply the sample weights; None is 1 for all. "balanced": equal class totals.
    n_jobs : int or None, default=None
        The number of threads for kernel rows; None is 1, −1 all cores. The fitted model does not depend on it.
    verbose : int, default=0
        Whether to print the progress of the solver.

    Attributes
    ----------
    coef_ : array of shape (K, p)
        The weights of every class, for the linear kernel.
    intercept_ : array of shape (K,)
        The bias of every class, for the linear kernel.
    support_ : int array of shape (m,)
        The row indices of the m support vectors, whose dual variables are not all zero; not after "sgd".
    dual_coef_ : array of shape (m, K)
        The support vectors' dual variables a: linear weights are w_k = Σ_i a_ik x_i; not after "sgd".
    support_vectors_ : array of shape (m, p)
        The support vectors, for kernels other than "linear" and "precomputed".
    objective_ : float
        The value of the minimised objective at the solution.
    duality_gap_ : float
        An upper bound on by how much the objective exceeds its minimum.
    n_iter_ : int
        The number of passes through the training set.
    gamma_ : float
        The value of γ, for "rbf" and "poly".

    Notes
    -----
    The fitted model depends neither on the order of the rows nor on whether an example is repeated or has a larger
    weight. Scale the features. For probabilities wrap it in scikit-learn's ``CalibratedClassifierCV``.

    Examples
    --------
    >>> clf = MulticlassSVC(kernel="rbf", C=10).fit(X, y)
    >>> clf.score(X, y) > 0.97
    True
    >>> clf.duality_gap_ <= 1e-3 * clf.objective_
    True
    """

    kernel: Any = "linear"
    C: float = 1.0
    solver: str = "auto"
    gamma: Any = "scale"
    degree: int = 3
    coef0: float = 0.0
    fit_intercept: Any = "auto"
    intercept_scaling: float = 1.0
    tol: float = 1e-3
    max_iter: int = 1000
    cache_size: float = 200
    class_weight: Any = None
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train the support vector machine, where sample weights multiply C, and return the fitted classifier.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, p), or array of shape (n, n)
            The features; with ``kernel="precomputed"`` the matrix of kernel values.
        """
        with transaction(self) as draft:
            draft._check_parameters()
            X, rows, c, C = draft._check_training(X, y, sample_weight)
            with one_blas_thread():
                merged = MergedExamples(X, c, C, alone=draft.kernel == "precomputed")
                solution = draft._solve(merged)
            draft._set_attributes(solution, X, rows)
        if not solution.converged:
            warn_user(draft._advice(), ConvergenceWarning)
        return self

    def _check_parameters(self) -> None:
        check_kernel(self.kernel, self.gamma, self.degree, self.coef0)
        if isinstance(self.C, float) and self.C == np.inf:
            raise ValueError(f"C={self.C!r} must be finite; a large number, like 1e6, asks for a hard margin.")
        check_number("C", self.C, float, 0.0, open_low=True)
        check_choice("solver", self.solver, ("auto", "dual", "sgd"))
        if self.solver == "sgd" and self.kernel != "linear":
            raise ValueError(f"solver='sgd' is for kernel='linear', but kernel={self.kernel!r}; choose solver='dual'.")
        if not isinstance(self.fit_intercept, bool | np.bool_) and not is_auto(self.fit_intercept):
            raise ValueError(f"fit_intercept={self.fit_intercept!r} must be True, False or 'auto'.")
        check_number("intercept_scaling", self.intercept_scaling, float, 0.0, 1e100, open_low=True)
        check_number("tol", self.tol, float, 0.0)
        check_number("max_iter", self.max_iter, int, 1)
        check_number("cache_size", self.cache_size, float, 0.0, open_low=True)
        random_generator(self.random_state)
        thread_count(self.n_jobs)
        check_verbose(self.verbose)

    def _check_training(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, AnyArray, Labels, Array]:
        """Return X, row indices, class indices and penalties C of the rows with positive weight; set ``classes_``."""
        taken = Taken(refusal="MulticlassSVC takes numbers only")
        X = learn_X(self, X, taken, **self._options())
        if self.kernel == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(
                "kernel='precomputed' needs the square matrix of kernel values between the rows; "
                f"X has shape {X.shape}."
            )
        labelling = Labelling(class_weight=self.class_weight, declares=False)
        classes, c, weight = check_labels(X, y, sample_weight, labelling)
        check_label_types(classes)
        rows = np.flatnonzero(weight)
        found, c = np.unique(c[rows], return_inverse=True)
        self.classes_ = classes[found]  # the classes of positive weight
        if self.kernel != "precomputed" and not np.isfinite(squares(X)).all():
            raise ValueError("X holds numbers too large to be squared; scale the features.")
        with np.errstate(over="ignore", under="ignore"):
            C = float(self.C) * weight[rows]
            total = C.sum()  # of equal examples, which are merged, at most
        if not (C > 0).all() or not np.isfinite(total):
            raise ValueError(
                f"C={self.C!r} times sample_weight is not a positive finite number for every row and their sum; scale "
                "the weights."
            )
        if len(rows) < X.shape[0]:
            X = X[np.ix_(rows, rows)] if self.kernel == "precomputed" else X[rows]
        return X, rows, c, C

    def _solve(self, merged: MergedExamples) -> Solution:
        n, K, constant = len(merged.c), len(self.classes_), self._constant()
        limits, progress = (float(self.tol), min(int(self.max_iter), 2**62)), print_progress if self.verbose else None
        cache = (int(float(self.cache_size) * 2**20), thread_count(self.n_jobs))
        if self.kernel != "linear":
            parameters = (self.gamma, self.degree, self.coef0, constant**2)
            self._kernel = kernel = kernel_for(merged.X, merged.C, self.kernel, *parameters)
            if kernel.function is not None:
                merged.X = as_gram(kernel.function(merged.X, merged.X), (n, n))
            if kernel.name in ("callable", "precomputed"):
                check_gram(merged.X)
                kernel = Kernel("precomputed", constant=kernel.constant)
            return merged.spread(Solution(*merged.problem(K).kernel(*kernel.numbers, *limits, *cache, progress)))
        problem, seed = merged.problem(K), int(random_generator(self.random_state).randint(2**31 - 1))
        if self.solver == "sgd" or (self.solver == "auto" and n * K > MOST_DUALS):
            return Solution(*problem.sgd(constant, *limits, seed, progress))
        solution = Solution(*problem.linear(constant, *limits, seed, progress))
        if not solution.converged and n <= SMALL:
            numbers = Kernel("linear", constant=constant**2).numbers
            again = Solution(*problem.kernel(*numbers, *limits, *cache, progress))
            if again.a is not None and again.primal - again.dual < solution.primal - solution.dual:
                W = np.vstack([merged.X.T @ again.a, constant * again.a.sum(axis=0)])  # (p + 1, K)
                solution = replace(again, W=W, n_iter=solution.n_iter + again.n_iter)
        return merged.spread(solution)

    def _set_attributes(self, solution: Solution, X: Any, rows: AnyArray) -> None:
        for name in FACTS + ARRAYS:
            self.__dict__.pop(name, None)  # left from an earlier fit with another kernel
        if not np.isfinite(solution.primal):
            raise ValueError(
                "the objective is not finite: X holds numbers too large to be squared; scale the features."
            )
        self.objective_, self.duality_gap_ = solution.primal, max(solution.primal - solution.dual, 0.0)
        self.n_iter_ = solution.n_iter
        if solution.W is not None:
            self.coef_ = np.ascontiguousarray(solution.W[:-1].T)  # (K, p)
            self.intercept_ = solution.W[-1] * self._constant()  # (K,)
        if solution.a is not None:
            used = np.flatnonzero(solution.a.any(axis=1))
            self.support_, self.dual_coef_ = rows[used], solution.a[used]
            if self.kernel not in ("linear", "precomputed"):
                self.support_vectors_ = X[used]
        if self.kernel in ("rbf", "poly"):
            self.gamma_ = self._kernel.gamma

    def _advice(self) -> str:
        # The gap is not named, so that Python shows the warning once for all machines of an output code.
        advice = "scale the features, lower C, or raise max_iter or tol"
        if self.solver == "sgd":
            advice = "use solver='dual', " + advice
        return (
            f"MulticlassSVC stopped after max_iter={self.max_iter} passes, with a duality gap above tol={self.tol:g} "
            f"of the objective; duality_gap_ says how far that may be above its minimum. To get closer, {advice}."
        )

    def class_scores(self, X: Any) -> Array:
        check_is_fitted(self)
        X = check_X(self, X, **self._options())
        with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
            U = self._scores(X)
        if not np.isfinite(U).all():
            raise ValueError("X holds numbers so large that scores are not finite; scale the features.")
        return U

    def _scores(self, X: Any) -> Array:
        if self.kernel == "linear":
            return np.asarray(X @ self.coef_.T) + self.intercept_
        if self.kernel == "precomputed":
            return np.asarray(
                X[:, self.support_] @ self.dual_coef_ + self._kernel.constant * self.dual_coef_.sum(axis=0)
            )
        size = max(1, BLOCK // max(1, len(self.support_)))
        blocks = [X[i : i + size] for i in range(0, X.shape[0], size)]
        return np.concatenate([self._kernel(block, self.support_vectors_) @ self.dual_coef_ for block in blocks])

    def _options(self) -> dict[str, Any]:
        sparse: Any = False if self.kernel == "precomputed" else "csr"
        return {"accept_sparse": sparse, "dtype": np.float64, "ensure_all_finite": True}

    def _constant(self) -> float:
        """Return the value of the constant feature that is appended to every example; 0 stands for none."""
        wanted = self.kernel == "linear" if self.fit_intercept == "auto" else self.fit_intercept
        return float(self.intercept_scaling) if wanted else 0.0

    def _pack(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        if callable(self.kernel):
            raise TypeError(
                f"kernel={self.kernel!r} cannot be saved: a function is code, and model files hold none. Compute the "
                "matrix yourself and use kernel='precomputed'."
            )
        facts = {name: to_json(getattr(self, name), name) for name in FACTS if hasattr(self, name)}
        arrays = {name: getattr(self, name) for name in ARRAYS if hasattr(self, name)}
        vectors = arrays.get("support_vectors_")
        if issparse(vectors):
            del arrays["support_vectors_"]
            arrays |= {f"support_vectors_.{part}": getattr(vectors, part) for part in CSR}
        return facts | pack_features(self), arrays

    def _unpack(self, header: dict[str, Any], arrays: dict[str, AnyArray]) -> None:
        check_kernel(self.kernel, self.gamma, self.degree, self.coef0)
        facts = {name: from_json(header[name]) for name in FACTS if name in header}
        if not all(map(is_number, facts.values())):
            raise damaged("invalid numbers")
        self.__dict__.update(facts)
        self.__dict__.update({name: arrays[name] for name in ARRAYS if name in arrays})
        unpack_features(self, header)
        if self.categories_ is not None:
            raise damaged("categories in a support vector machine, which takes numbers only")
        refused = damaged("the weights do not fit the classes or features")
        try:
            if "support_vectors_.data" in arrays:
                parts = tuple(arrays[f"support_vectors_.{part}"] for part in CSR)
                if len(parts[2]) != len(self.support_) + 1 or any(part.dtype.kind != "i" for part in parts[1:]):
                    raise refused
                self.support_vectors_ = csr_matrix(parts, shape=(len(self.support_), self.n_features_in_))
                self.support_vectors_.check_format(full_check=True)
            fits = self._fits()
        except (AttributeError, KeyError, ValueError) as error:
            raise refused from error
        if not fits:
            raise refused
        if self.kernel != "linear":
            gamma = getattr(self, "gamma_", 1.0)
            self._kernel = Kernel(self.kernel, None, gamma, self.degree, self.coef0, self._constant() ** 2)
            self._check_scores()

    def _fits(self) -> bool:
        """Return whether the shapes and dtypes of the arrays from a model file fit together."""
        K, p = len(self.classes_), self.n_features_in_
        if self.kernel == "linear":
            return is_table(self.coef_, (K, p)) and is_table(self.intercept_, (K,))
        rows, m = self.support_, len(self.support_)
        known = rows.ndim == 1 and rows.dtype.kind == "i" and bool((rows >= 0).all())
        if self.kernel == "precomputed":
            known = known and bool((rows < p).all())
        else:
            vectors = self.support_vectors_
            known = known and vectors.shape == (m, p) and is_table(vectors.data if issparse(vectors) else vectors)
        return known and is_table(self.dual_coef_, (m, K))

    def _check_scores(self) -> None:
        """Raise unless the squared norms of support vectors, and the scores of the first and longest, are finite."""
        if self.kernel == "precomputed" or not len(self.support_):
            return
        sizes = squares(self.support_vectors_)
        two = self.support_vectors_[[0, int(np.argmax(sizes))]]
        with np.errstate(all="ignore"):
            scores = self._kernel(two, self.support_vectors_) @ self.dual_coef_
        if not (np.isfinite(sizes).all() and np.isfinite(scores).all()):
            raise damaged("the kernel has values that are not finite")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.kernel != "precomputed"
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


def print_progress(iteration: int, primal: float, dual: float, active: int) -> None:
    gap = (primal - dual) / primal if primal > 0 else 0.0
    print(f"pass {iteration:5d}  objective {primal:.6g}  gap {gap:.2e}  examples at work {active}", flush=True)


def is_table(values: AnyArray, shape: tuple[int, ...] | None = None) -> bool:
    """Return whether an array is float64, has the shape if one is given, and no entry so large that sums overflow."""
    fits = values.dtype == np.float64 and (shape is None or values.shape == shape)
    return fits and bool((np.abs(values) <= LARGEST).all())


# ---- kernels and solvers ---------------------------------------------------------------------------------------------

KERNELS = ("linear", "rbf", "poly", "precomputed")  # in the order of the compiled solver's numbers


@dataclass(frozen=True)
class Kernel:
    """The kernel function of examples x and z: exp(−γ‖x−z‖²), (γ⟨x,z⟩ + coef0)^degree or a user's, plus a constant."""

    name: str  # one of `KERNELS`, or "callable"
    function: Callable[[Any, Any], Any] | None = None  # of the user
    gamma: float = 1.0
    degree: int = 3
    coef0: float = 0.0
    constant: float = 0.0  # the square of the constant that is appended to every example

    @property
    def numbers(self) -> tuple[int, float, float, int, float]:
        """The kernel for the compiled solver: its index in `KERNELS`, then gamma, coef0, degree and constant."""
        return KERNELS.index(self.name), self.gamma, self.coef0, self.degree, self.constant

    def __call__(self, X: Any, Z: Any) -> Array:
        """Return the kernel matrix of the rows of X and Z, (n, m)."""
        if self.function is not None:
            return as_gram(self.function(X, Z), (X.shape[0], Z.shape[0])) + self.constant
        dots = X @ Z.T
        dots = np.asarray(dots.toarray() if issparse(dots) else dots, dtype=np.float64)
        if self.name == "rbf":
            distance = squares(X)[:, None] + squares(Z)[None, :] - 2.0 * dots
            dots = np.exp(-self.gamma * np.maximum(distance, 0.0))
        elif self.name == "poly":
            dots = (self.gamma * dots + self.coef0) ** self.degree
        return dots + self.constant


def squares(X: Any) -> Array:
    """Return the squared norm of every row of X, (n,)."""
    with np.errstate(over="ignore"):  # the caller checks for infinite squares
        return np.asarray(X.multiply(X).sum(axis=1)).ravel() if issparse(X) else np.einsum("ij,ij->i", X, X)


def check_kernel(kernel: Any, gamma: Any, degree: Any, coef0: Any) -> None:
    """Raise ValueError unless kernel, gamma, degree and coef0 are valid parameters of `MulticlassSVC`."""
    named = isinstance(kernel, str) and kernel in KERNELS
    if not named and (not callable(kernel) or isinstance(kernel, type)):
        raise ValueError(
            f"kernel={kernel!r} is unknown; choose one of {', '.join(map(repr, KERNELS))}, or pass a function "
            "kernel(X, Z) -> (n, m) array."
        )
    if isinstance(gamma, str):
        check_choice("gamma", gamma, ("scale", "auto"))
    else:
        check_number("gamma", gamma, float, 0.0, open_low=True)
    check_number("degree", degree, int, 1)
    check_number("coef0", coef0, float)


def kernel_for(X: Any, weight: Array, kernel: Any, gamma: Any, degree: int, coef0: float, constant: float) -> Kernel:
    """Return the `Kernel` for training examples X with penalties ``weight``; gamma becomes a number if it is a name."""
    if callable(kernel):
        return Kernel("callable", kernel, constant=constant)
    if kernel == "poly" and coef0 < 0:
        warn_indefinite(f"coef0={coef0!r} is negative: the polynomial kernel")
    number = resolve_gamma(X, weight, gamma) if kernel in ("rbf", "poly") else 1.0
    with np.errstate(over="ignore"):
        largest = np.float_power(number * squares(X).max() + abs(coef0), degree) if kernel == "poly" else 0.0
    if not np.isfinite(largest):
        raise ValueError(
            f"values of the polynomial kernel are too large (gamma={number:.3g}, degree={degree}); scale X."
        )
    return Kernel(kernel, None, number, int(degree), float(coef0), constant)


def resolve_gamma(X: Any, weight: Array, gamma: Any) -> float:
    """Return gamma as a number: 1 / (p · weighted variance of X) for "scale", 1 / p for "auto"."""
    if not isinstance(gamma, str):
        return float(gamma)
    p = X.shape[1]
    if gamma == "auto":
        return 1.0 / p
    part = weight / weight.sum()
    mean = float((part @ X).sum()) / p
    square = part @ squares(X) - p * mean**2 if issparse(X) else part @ squares(X - mean)
    variance = float(square) / p
    return 1.0 / (p * variance) if variance > 0 else 1.0


def as_gram(values: Any, shape: tuple[int, int]) -> Array:
    """Return a user's kernel matrix as an array; raise ValueError unless it has this shape and finite values."""
    try:
        gram = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"kernel(X, Z) must return an array of numbers, not {values!r:.100}.") from error
    if gram.shape != shape:
        raise ValueError(
            f"kernel(X, Z) returned an array of shape {gram.shape}; it must be (rows of X, rows of Z), {shape}."
        )
    if not np.isfinite(gram).all():
        raise ValueError("kernel(X, Z) returned values that are not finite.")
    return gram


def check_gram(gram: Array) -> None:
    """Raise ValueError unless an array (n, n) is symmetric with diagonal ≥ 0; warn if not positive semi-definite."""
    scale = float(np.abs(gram).max(initial=0.0))
    skew = float(np.abs(gram - gram.T).max(initial=0.0))
    if skew > 1e-8 * scale:
        raise ValueError(
            f"the kernel matrix is not symmetric: entries differ from their mirror images by up to {skew:.3g}."
        )
    diagonal = np.diagonal(gram)
    if (diagonal < -1e-8 * scale).any():
        worst = int(diagonal.argmin())
        raise ValueError(
            f"the kernel matrix has a negative diagonal entry, k(x, x) = {diagonal[worst]:.3g} at row {worst}; a "
            "kernel is an inner product and has none."
        )
    lowest = lowest_ritz_value(gram)
    if lowest < -1e-7 * scale * max(1.0, len(gram) ** 0.5):
        warn_indefinite(f"the kernel matrix has an eigenvalue of at most {lowest:.3g}: the kernel")


def warn_indefinite(subject: str) -> None:
    warn_user(
        f"{subject} is not positive semi-definite. The problem is then not convex: the solver ends in a stationary "
        "point, and duality_gap_ is no certificate. Use a proper kernel, or clip the eigenvalues of the matrix.",
    )


def lowest_ritz_value(gram: Array, steps: int = 24) -> float:
    """Return an upper bound on the smallest eigenvalue of a symmetric matrix (n, n), by a few Lanczos steps."""
    n = len(gram)
    steps = min(steps, n)
    basis = np.zeros((steps, n))
    alpha, beta = np.zeros(steps), np.zeros(steps)
    v = np.cos(np.arange(1, n + 1) ** 2.0)  # an arbitrary start
    for s in range(steps):
        basis[s] = v / np.linalg.norm(v)
        v = gram @ basis[s]
        alpha[s] = basis[s] @ v
        for _ in range(2):  # orthogonalising twice is enough
            v = v - basis[: s + 1].T @ (basis[: s + 1] @ v)
        beta[s] = np.linalg.norm(v)
        if beta[s] <= 1e-12 * (abs(alpha[: s + 1]).max() + 1e-300):
            steps = s + 1
            break
    return float(eigvalsh_tridiagonal(alpha[:steps], beta[: steps - 1])[0])


# Up to this many examples, a linear machine that does not converge is solved again by the solver for kernels, which is
# slower but converges on harder problems, because it solves for the worst examples together.
SMALL = 1000


@dataclass(frozen=True, eq=False)
class Solution:
    """The result of a solver of the support vector machine: dual variables, weights, objectives, convergence."""

    a: Array | None  # (n, K) dual variables; None from the stochastic solver
    W: Array | None  # (p + 1, K) weights of a linear machine, the last row for the appended constant; None for kernels
    primal: float  # the objective
    dual: float  # the dual objective
    n_iter: int  # passes through the training set
    converged: bool  # whether primal − dual ≤ tol · primal


class MergedExamples:
    """The training set of a support vector machine: equal examples of a class are merged, and sorted by a hash."""

    def __init__(self, X: Any, c: Labels, C: Array, *, alone: bool = False) -> None:
        n = X.shape[0]
        if issparse(X):
            X = X.tocsr(copy=True)
            X.sum_duplicates()
            X.eliminate_zeros()
        self.C_all = C
        if alone:
            self.group, first = np.arange(n), np.arange(n)
        else:
            self.group, first = groups(X, c)
        self.X = X if alone else X[first]
        self.c = np.ascontiguousarray(c[first], dtype=np.int64)
        self.C: Array = np.bincount(self.group, weights=C, minlength=len(first)).astype(np.float64)  # (m,)

    def problem(self, K: int) -> _kernels.Svm:
        return _kernels.Svm(*row_arrays(self.X), self.X.shape[1], self.c, self.C, K)

    def spread(self, solution: Solution) -> Solution:
        """Return the solution for all rows: a merged example's dual variables are split in proportion to C."""
        if solution.a is None:
            return solution
        part = self.C_all / self.C[self.group]
        return replace(solution, a=solution.a[self.group] * part[:, None])


def row_arrays(X: Any) -> tuple[Array | None, Array | None, AnyArray | None, AnyArray | None]:
    """Return X as four arguments of the compiled solver: (dense, None, None, None) or (None, data, indices, indptr)."""
    if not issparse(X):
        return np.ascontiguousarray(X, dtype=np.float64), None, None, None
    if X.shape[1] > np.iinfo(np.int32).max:
        raise ValueError(f"X has {X.shape[1]} features; sparse input may have at most 2^31 − 1.")
    return (
        None,
        np.ascontiguousarray(X.data, dtype=np.float64),
        np.ascontiguousarray(X.indices, dtype=np.int32),
        np.ascontiguousarray(X.indptr, dtype=np.int64),
    )


def groups(X: Any, c: Labels) -> tuple[AnyArray, AnyArray]:
    """Return a group index for every row (n,), the same for equal rows of a class, and one row index per group."""
    hashed = _kernels.row_hashes(*row_arrays(X), X.shape[0])
    order = np.lexsort((c, hashed))
    same = np.zeros(len(order), dtype=bool)  # whether a row of the order equals the one before
    candidates = 1 + np.flatnonzero((np.diff(hashed[order]) == 0) & (np.diff(c[order]) == 0))
    if len(candidates):
        left, right = X[order[candidates]], X[order[candidates - 1]]
        if issparse(X):
            same[candidates] = np.asarray(abs(left - right).sum(axis=1)).ravel() == 0
        else:
            same[candidates] = (left == right).all(axis=1)
    group = np.empty(len(order), dtype=np.intp)
    group[order] = np.cumsum(~same) - 1
    return group, order[~same]
