"""Kernels k(x, z), and solvers of the Crammer–Singer problem, which return dual variables a (n, K) and weights W.

Equal examples of a class are merged into one, with the sum of their C, and examples are sorted by a hash of their
values. Neither changes the problem, and together they make the solution independent of the order of the rows, and of
whether an example is repeated or has a larger weight.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy.linalg import eigvalsh_tridiagonal
from scipy.sparse import issparse

from .. import _kernels
from .._util.arrays import AnyArray, Array, Labels
from .._util.messages import warn_user
from .._util.params import check_choice, check_number

KERNELS = ("linear", "rbf", "poly", "precomputed")  # in the order of the compiled solver's numbers
KernelFunction: TypeAlias = Callable[[Any, Any], Any]


@dataclass(frozen=True)
class Kernel:
    """A kernel with its parameters fixed.

    Attributes
    ----------
    name : a name of ``KERNELS``, or "callable"
    function : the user's function, of a callable kernel
    gamma, degree, coef0 : as in exp(−γ‖x−z‖²) and (γ⟨x,z⟩ + c)^degree
    constant : added to every value; the square of the constant appended to every example
    """

    name: str
    function: KernelFunction | None = None
    gamma: float = 1.0
    degree: int = 3
    coef0: float = 0.0
    constant: float = 0.0

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
    """Return ‖x‖² of every row, (n,)."""
    with np.errstate(over="ignore"):  # the caller checks for infinite squares
        return np.asarray(X.multiply(X).sum(axis=1)).ravel() if issparse(X) else np.einsum("ij,ij->i", X, X)


def check_kernel(kernel: Any, gamma: Any, degree: Any, coef0: Any) -> None:
    """Raise ValueError unless the parameters define a kernel."""
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
    """Return the kernel for training examples X with these weights, in which gamma is a number."""
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
    """Return the result of a user's kernel as an array of this shape; raise ValueError for wrong results."""
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
    """Raise ValueError unless the matrix (n, n) can be that of a kernel; warn if it is not positive semi-definite."""
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
    """Warn that a kernel is indefinite, and what this means for the solution."""
    warn_user(
        f"{subject} is not positive semi-definite. The problem is then not convex: the solver ends in a stationary "
        "point, and duality_gap_ is no certificate. Use a proper kernel, or clip the eigenvalues of the matrix.",
    )


def lowest_ritz_value(gram: Array, steps: int = 24) -> float:
    """Return an upper bound on the smallest eigenvalue, by a few Lanczos steps."""
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

Progress = Callable[[int, float, float, int], None]


class Limits(NamedTuple):
    """The stopping rule of a solver, and its memory and threads."""

    tol: float
    max_iter: int
    cache_bytes: int = 200 << 20
    n_threads: int = 1
    progress: Progress | None = None


@dataclass(frozen=True, eq=False)
class Solution:
    """The result of a solver.

    Attributes
    ----------
    a : (n, K) dual variables; None from the stochastic solver
    W : (p + 1, K) weights of a linear machine, the last row for the appended constant; None for kernels
    primal, dual : the two objectives
    n_iter : passes through the training set
    converged : whether primal − dual ≤ tol · primal
    """

    a: Array | None
    W: Array | None
    primal: float
    dual: float
    n_iter: int
    converged: bool


def solve_linear(merged: MergedExamples, K: int, constant: float, seed: int, method: str, limits: Limits) -> Solution:
    """Solve for a linear machine by ``method`` "dual" or "sgd"; ``constant`` is appended to every example."""
    problem = merged.problem(K)
    if method == "sgd":
        return Solution(*problem.sgd(constant, limits.tol, limits.max_iter, seed, limits.progress))
    solution = Solution(*problem.linear(constant, limits.tol, limits.max_iter, seed, limits.progress))
    if not solution.converged and len(merged.c) <= SMALL:
        again = run_kernel(problem, Kernel("linear", constant=constant**2), limits)
        if again.a is not None and again.primal - again.dual < solution.primal - solution.dual:
            W = np.vstack([merged.X.T @ again.a, constant * again.a.sum(axis=0)])  # (p + 1, K)
            solution = replace(again, W=W, n_iter=solution.n_iter + again.n_iter)
    return merged.spread(solution)


def solve_kernel(merged: MergedExamples, K: int, kernel: Kernel, limits: Limits) -> Solution:
    """Solve for a kernel machine; for "precomputed" kernels the examples are the rows of the Gram matrix (n, n)."""
    if kernel.function is not None:
        merged = merged.with_gram(kernel.function(merged.X, merged.X))
    if kernel.name in ("callable", "precomputed"):
        check_gram(merged.X)
        kernel = Kernel("precomputed", constant=kernel.constant)
    return merged.spread(run_kernel(merged.problem(K), kernel, limits))


def run_kernel(problem: _kernels.Svm, kernel: Kernel, limits: Limits) -> Solution:
    numbers = (KERNELS.index(kernel.name), kernel.gamma, kernel.coef0, kernel.degree, kernel.constant)
    return Solution(*problem.kernel(*numbers, *limits))


class MergedExamples:
    """The training set with equal examples of a class merged, in the order of the examples' hashes."""

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

    def with_gram(self, gram: Any) -> MergedExamples:
        """Return the training set with the Gram matrix (m, m) in place of the examples."""
        other = copy(self)
        other.X = as_gram(gram, (len(self.c), len(self.c)))
        return other

    def problem(self, K: int) -> _kernels.Svm:
        """Return the problem for the compiled solver."""
        return _kernels.Svm(*row_arrays(self.X), self.X.shape[1], self.c, self.C, K)

    def spread(self, solution: Solution) -> Solution:
        """Return the solution for all examples: equal ones divide their dual variables in proportion to their C."""
        if solution.a is None:
            return solution
        part = self.C_all / self.C[self.group]
        return replace(solution, a=solution.a[self.group] * part[:, None])


def row_arrays(X: Any) -> tuple[Array | None, Array | None, AnyArray | None, AnyArray | None]:
    """Return the rows of X in the form of the kernels: a dense array, or data, indices and indptr of sparse rows."""
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
    """Return a group number for every row (n,), the same for equal rows of a class, and one row per group (m,)."""
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
