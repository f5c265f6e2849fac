"""`MulticlassSVC`: the multiclass support vector machine of Crammer and Singer.

min_W  ½ Σ_l ‖w_l‖² + C Σ_i max(0, 1 − ⟨w_c, x_i⟩ + max_{l≠c} ⟨w_l, x_i⟩),        c the class of example i
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._blas import one_blas_thread
from .._parts import check_choice, check_number, check_verbose, is_auto, random_numbers
from .._threads import thread_count
from .._typing import AnyArray, Array, Labels
from .._warn import warn_user
from ..data.inputs import Taken, learn_X
from ..data.validation import Labelling, check_labels
from ..estimators.atomic import all_or_nothing
from ..files import check_label_types
from .kernels import check_kernel, kernel_for, squares
from .machine import ARRAYS, FACTS, Machine
from .solvers import Limits, Merged, Solution, solve_kernel, solve_linear

SOLVERS = ("auto", "dual", "sgd")
MOST_DUALS = 250_000_000  # dual variables (n K) that "auto" is willing to keep: 2 GB


@dataclass(eq=False, repr=False, kw_only=True)
class MulticlassSVC(Machine):
    """Multiclass support vector machine (Crammer & Singer, 2001): all classes in one problem.

    It minimises ½ Σ_l ‖w_l‖² + C Σ_i ξ_i, where ξ_i is what is missing for the score of the true class to exceed every
    other by one. It predicts the class with the highest score.

    Parameters
    ----------
    kernel : {"linear", "rbf", "poly", "precomputed"} or callable, default="linear"
        "rbf" is exp(−γ‖x−z‖²), "poly" (γ⟨x,z⟩ + coef0)^degree; a callable gets two sets of examples and returns the
        matrix of values; with "precomputed" X is that matrix.
    C : float, default=1.0
        The price of a violated margin, multiplied by the weight of the example; λ = 1/C.
    solver : {"auto", "dual", "sgd"}, default="auto"
        "dual" finds the optimum; "sgd" takes stochastic sub-gradient steps and averages them, for linear machines on
        very many examples. "auto" is "dual" unless its n K dual variables would need more than 2 GB.
    gamma : {"scale", "auto"} or float, default="scale"
        Of "rbf" and "poly"; "scale" is 1 / (p · variance of X, weighted), "auto" 1 / p.
    degree : int, default=3
        The degree of the kernel "poly".
    coef0 : float, default=0.0
        The constant of the kernel "poly".
    fit_intercept : bool or "auto", default="auto"
        Whether a constant is appended to every example (added to the kernel), so that classes have a bias. The bias is
        part of the norm, like in LIBLINEAR. "auto" says yes for "linear" only.
    intercept_scaling : float, default=1.0
        The constant. The larger it is, the less the bias is shrunk.
    tol : float, default=1e-3
        Stop when the duality gap is at most this fraction of the objective, which is then that close to the optimum.
    max_iter : int, default=1000
        The largest number of passes through the training set. A pass is n visits of an example, whichever they are.
    cache_size : float, default=200
        Megabytes for kernel rows, which are kept in single precision where the whole matrix does not fit.
    class_weight : dict, "balanced" or None, default=None
        Weights by label, which multiply ``sample_weight``. "balanced" makes all classes weigh the same. None gives
        every class the weight 1.
    random_state : int, RandomState or None, default=None
        The seed of the order in which linear solvers visit the examples.
    n_jobs : int or None, default=None
        Threads for kernel rows; None is 1, -1 all. The fitted model does not depend on it.
    verbose : int, default=0
        Whether to print the progress of the solver.

    Attributes
    ----------
    classes_ : array of shape (K,)
        The labels, sorted.
    coef_ : array of shape (K, p)
        The weights w_l of a linear machine.
    intercept_ : array of shape (K,)
        The biases of a linear machine.
    support_ : int array of shape (m,)
        The rows of X with dual variables that are not zero; not after "sgd".
    dual_coef_ : array of shape (m, K)
        Their dual variables a: w_l = Σ_i a_il x_i; not after "sgd".
    support_vectors_ : array of shape (m, p)
        Those rows, for kernels other than "linear" and "precomputed".
    objective_ : float
        What the problem minimises, at the solution.
    duality_gap_ : float
        By how much the objective may at most exceed its minimum.
    n_iter_ : int
        The number of passes through the training set.
    gamma_ : float
        γ as a number, for "rbf" and "poly".
    n_features_in_ : int
        The number of features, p.
    feature_names_in_ : array of shape (p,)
        The names of the features, if X had names that are all strings.

    Notes
    -----
    The fitted model depends neither on the order of the rows nor on whether an example is repeated or has a larger
    weight. Scale the features. For probabilities wrap it in scikit-learn's ``CalibratedClassifierCV``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
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

    # ---- fitting ----------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Solve the problem.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, p), or array of shape (n, n)
            The features; with ``kernel="precomputed"`` the matrix of kernel values.
        y : array of shape (n,)
            The labels.
        sample_weight : array of shape (n,) or None, default=None
            The weights of the rows, which multiply C.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        with all_or_nothing(self) as draft:
            draft._check_parameters()
            X, rows, c, C = draft._check_training(X, y, sample_weight)
            with one_blas_thread():
                merged = Merged(X, c, C, alone=draft.kernel == "precomputed")
                solution = draft._fit_linear(merged) if draft.kernel == "linear" else draft._fit_kernel(merged)
            draft._keep(solution, X, rows)
        if not solution.converged:
            warn_user(draft._advice(), ConvergenceWarning)
        return self

    def _check_parameters(self) -> None:
        check_kernel(self.kernel, self.gamma, self.degree, self.coef0)
        if isinstance(self.C, float) and self.C == np.inf:
            raise ValueError(f"C={self.C!r} must be finite; a large number, like 1e6, asks for a hard margin.")
        check_number("C", self.C, float, 0.0, open_low=True)
        check_choice("solver", self.solver, SOLVERS)
        if self.solver == "sgd" and self.kernel != "linear":
            raise ValueError(f"solver='sgd' is for kernel='linear', but kernel={self.kernel!r}; choose solver='dual'.")
        if not isinstance(self.fit_intercept, bool | np.bool_) and not is_auto(self.fit_intercept):
            raise ValueError(f"fit_intercept={self.fit_intercept!r} must be True, False or 'auto'.")
        check_number("intercept_scaling", self.intercept_scaling, float, 0.0, 1e100, open_low=True)
        check_number("tol", self.tol, float, 0.0)
        check_number("max_iter", self.max_iter, int, 1)
        check_number("cache_size", self.cache_size, float, 0.0, open_low=True)
        random_numbers(self.random_state)
        thread_count(self.n_jobs)
        check_verbose(self.verbose)

    def _check_training(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, AnyArray, Labels, Array]:
        """The examples that weigh something, their row numbers, labels and C_i; sets ``classes_``."""
        taken = Taken(refusal="MulticlassSVC takes numbers only")
        X, y = learn_X(self, X, taken, y=y, multi_output=True, **self._options())
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
        self.classes_ = classes[found]  # those that weigh something
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

    def _limits(self) -> Limits:
        progress = print_progress if self.verbose else None
        return Limits(
            float(self.tol),
            min(int(self.max_iter), 2**62),
            int(float(self.cache_size) * 2**20),
            thread_count(self.n_jobs),
            progress,
        )

    def _fit_linear(self, merged: Merged) -> Solution:
        K = len(self.classes_)
        method = self.solver
        if method == "auto":
            method = "dual" if len(merged.c) * K <= MOST_DUALS else "sgd"
        seed = int(random_numbers(self.random_state).randint(2**31 - 1))
        return solve_linear(merged, K, self._constant(), seed, method, self._limits())

    def _fit_kernel(self, merged: Merged) -> Solution:
        constant = self._constant() ** 2
        self._kernel = kernel_for(merged.X, merged.C, self.kernel, self.gamma, self.degree, self.coef0, constant)
        return solve_kernel(merged, len(self.classes_), self._kernel, self._limits())

    def _keep(self, solution: Solution, X: Any, rows: AnyArray) -> None:
        """The fitted attributes."""
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
        """What to do where the gap is too large, for the warning.

        It does not name the gap, so that it is one text, which Python shows once, for all machines of an output code.
        """
        advice = "scale the features, lower C, or raise max_iter or tol"
        if self.solver == "sgd":
            advice = "use solver='dual', " + advice
        return (
            f"MulticlassSVC stopped after max_iter={self.max_iter} passes, with a duality gap above tol={self.tol:g} "
            f"of the objective; duality_gap_ says how far that may be above its minimum. To get closer, {advice}."
        )

    # ---- scikit-learn -----------------------------------------------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.kernel != "precomputed"
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


def print_progress(iteration: int, primal: float, dual: float, active: int) -> None:
    """Print the objectives."""
    gap = (primal - dual) / primal if primal > 0 else 0.0
    print(f"pass {iteration:5d}  objective {primal:.6g}  gap {gap:.2e}  examples at work {active}", flush=True)
