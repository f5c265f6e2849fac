"""Solvers of the Crammer–Singer problem: examples, labels and C_i → dual variables a (n, K), weights W, objectives.

Equal examples of a class are merged into one, with the sum of their C, and examples are sorted by a hash of their
values. Neither changes the problem, and together they make the solution independent of the order of the rows, and of
whether an example is repeated or has a larger weight.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from .. import _kernels
from .._typing import AnyArray, Array, Labels
from .kernels import KERNELS, Kernel, as_gram, check_gram

# Up to this many examples a linear machine that does not converge is tried again with the solver for kernels. That one
# is slower but converges on harder problems, because it solves for the worst examples together.
SMALL = 1000

Progress = Callable[[int, float, float, int], None]


@dataclass(frozen=True)
class Limits:
    """When a solver stops, and what it may use."""

    tol: float
    max_iter: int
    cache_bytes: int = 200 << 20
    n_threads: int = 1
    progress: Progress | None = None


@dataclass(frozen=True, eq=False)
class Solution:
    """What a solver found.

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


def solve_linear(merged: Merged, K: int, constant: float, seed: int, method: str, limits: Limits) -> Solution:
    """Linear machines: ``method`` "dual" or "sgd"; ``constant`` is appended to every example."""
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


def solve_kernel(merged: Merged, K: int, kernel: Kernel, limits: Limits) -> Solution:
    """Kernel machines; for "precomputed" kernels the examples are the rows of the Gram matrix (n, n)."""
    if kernel.function is not None:
        merged = merged.with_gram(kernel.function(merged.X, merged.X))
    if kernel.name in ("callable", "precomputed"):
        check_gram(merged.X)
        kernel = Kernel("precomputed", constant=kernel.constant)
    return merged.spread(run_kernel(merged.problem(K), kernel, limits))


def run_kernel(problem: _kernels.Svm, kernel: Kernel, limits: Limits) -> Solution:
    """The solver for kernels."""
    found = problem.kernel(
        KERNELS.index(kernel.name),
        kernel.gamma,
        kernel.coef0,
        kernel.degree,
        kernel.constant,
        limits.tol,
        limits.max_iter,
        limits.cache_bytes,
        limits.n_threads,
        limits.progress,
    )
    return Solution(*found)


class Merged:
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

    def with_gram(self, gram: Any) -> Merged:
        """The same training set with the Gram matrix (m, m) in place of the examples."""
        other = copy(self)
        other.X = as_gram(gram, (len(self.c), len(self.c)))
        return other

    def problem(self, K: int) -> _kernels.Svm:
        """The problem as the compiled solver takes it."""
        rows = rows_of(self.X)
        return _kernels.Svm(rows.dense, rows.data, rows.indices, rows.indptr, self.X.shape[1], self.c, self.C, K)

    def spread(self, solution: Solution) -> Solution:
        """Dual variables of all examples: equal ones share theirs in proportion to their C."""
        if solution.a is None:
            return solution
        share = self.C_all / self.C[self.group]
        return replace(solution, a=solution.a[self.group] * share[:, None])


@dataclass(frozen=True, eq=False)
class Rows:
    """Examples as the kernels take them: dense, or compressed sparse rows."""

    dense: Array | None = None
    data: Array | None = None
    indices: AnyArray | None = None
    indptr: AnyArray | None = None


def rows_of(X: Any) -> Rows:
    """X as contiguous arrays."""
    if not issparse(X):
        return Rows(np.ascontiguousarray(X, dtype=np.float64))
    if X.shape[1] > np.iinfo(np.int32).max:
        raise ValueError(f"X has {X.shape[1]} features; sparse input may have at most 2^31 − 1.")
    return Rows(
        None,
        np.ascontiguousarray(X.data, dtype=np.float64),
        np.ascontiguousarray(X.indices, dtype=np.int32),
        np.ascontiguousarray(X.indptr, dtype=np.int64),
    )


def hashes(X: Any) -> AnyArray:
    """A 64-bit number for every row that depends on its values only, (n,)."""
    rows = rows_of(X)
    return _kernels.row_hashes(rows.dense, rows.data, rows.indices, rows.indptr, X.shape[0])


def groups(X: Any, c: Labels) -> tuple[AnyArray, AnyArray]:
    """The group of every row (n,), equal rows of a class sharing one, and a first row for every group (m,)."""
    hashed = hashes(X)
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
