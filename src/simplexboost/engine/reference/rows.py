"""The flagship's loss, row by row, in double precision: sketched gradient and curvature, Newton's steps, risk.

With logits S = F Yᵀ + log cost[c] and p = softmax(S), a row of true class c and weight w has the loss −log p_c, the
gradient G = w (y_c − Σ_k p_k y_k) and the Hessian w (Σ_k p_k y_k y_kᵀ − ȳ ȳᵀ) with ȳ = Σ_k p_k y_k. Robust losses
multiply w by p_c^a (1 − p_c)^b.

The kernels work in single precision, with fused multiply-adds where a machine has them, and agree to a few units in the
last place of that precision; see ``tests/test_engine_rows.py`` for the tolerances.
"""

from __future__ import annotations

import numpy as np

from ..._typing import AnyArray, Array
from ..interface import HostRows, LeafRule, RowProblem

HESSIAN_ROWS = 48  # rows per leaf, evenly spread, that its Hessian uses: each costs another soft-max
SMALL_CLASS = 0.002  # classes with less than this part of an equal share of a leaf enter its Hessian as a bound
# In single precision, the Hessian of a leaf whose probabilities are almost 0 and 1 consists of rounding errors, and so
# do some pivots if the codewords are linearly dependent. A pivot below the first number times the mean diagonal of
# Yᵀ diag(Σ p) Y, or below the second number, therefore does not count as curvature.
NO_CURVATURE, LEAST_PIVOT = 1e-6, 1e-12
SAFE_PART = 0.2  # steps that are too long are replaced by ones of at most this part of the allowed length


def logits(F: AnyArray, Y: AnyArray | None) -> Array:
    """2U = F Yᵀ, (n, K); Y is None for canonical codewords."""
    F = F.astype(np.float64)
    return F if Y is None else F @ Y.astype(np.float64).T


def softmax(S: Array) -> Array:
    """exp(S_k) / Σ_l exp(S_l), row by row, (n, K)."""
    E = np.exp(S - S.max(axis=1, keepdims=True))
    return E / E.sum(axis=1, keepdims=True)


class ReferenceRowLoss(HostRows):
    """Evaluates a `RowProblem`; see `interface.RowLoss`."""

    def __init__(self, problem: RowProblem) -> None:
        self.problem, self.tilted = problem, problem.exponents != (0, 0)
        self.Y = np.eye(problem.K) if problem.Y is None else problem.Y.astype(np.float64)  # (K, d)
        n = len(problem.c)
        self.rows = np.arange(n)
        self.weight = np.ones(n) if problem.weight is None else problem.weight.astype(np.float64)
        self.loss = np.full(n, np.log(problem.K))  # −log p_c at the start, with equal probabilities
        self.scale = self.weight  # the weights of the last `pull`, times `tilt`
        self.tilt_mean = 1e-9 if self.tilted else 1.0

    def pull(self, F: AnyArray, Z: AnyArray) -> Array:
        """The sketched gradient w (Z_c − p Z) and, last, the curvature w (p ‖Z‖² − ‖p Z‖²) at F (n, d), (n, s + 1)."""
        # The tilt is divided by the largest mean it has had, at the probabilities of the previous `pull`.
        self.tilt_mean = max(self.tilt_mean, float(np.average(self.tilt(), weights=self.weight)))
        S = self.costly_logits(F, self.rows)
        P, high = softmax(S), S.max(axis=1)
        own = S[self.rows, self.problem.c]
        self.loss = np.log(np.exp(S - high[:, None]).sum(axis=1)) + (high - own)
        self.scale = self.weight * self.tilt() / self.tilt_mean
        Z = Z.astype(np.float64)
        mean = P @ Z  # (n, s)
        spread = P @ np.square(Z).sum(axis=1) - np.square(mean).sum(axis=1)
        return self.scale[:, None] * np.column_stack([Z[self.problem.c] - mean, np.maximum(spread, 0.0)])

    def leaves(
        self, F: AnyArray, leaf_of_row: AnyArray, rows: AnyArray | None, n_leaves: int, rule: LeafRule
    ) -> AnyArray:
        """Newton's steps in the leaves, (L, d) float32, at the F of the last `pull`, from `rows` (ascending) only."""
        used = self.rows if rows is None else rows
        step = self.diagonal_step if self.problem.Y is None else self.whole_step
        return np.array([step(F, used[leaf_of_row[used] == leaf], rule) for leaf in range(n_leaves)])

    def risk(self) -> float:
        """The mean weighted loss at the F of the last `pull`."""
        values = self.problem.value(np.exp(-self.loss)) if self.tilted else self.loss
        return float(np.average(values, weights=self.weight))

    def tilt(self) -> Array:
        """The factor p_c^a (1 − p_c)^b of robust losses at the last `pull`, (n,)."""
        a, b = self.problem.exponents
        p = np.exp(-self.loss)
        return p**a * (1 - p) ** b

    def costly_logits(self, F: AnyArray, rows: AnyArray) -> Array:
        """The logits of some rows, costs included, (r, K)."""
        S = logits(F[rows], self.problem.Y)
        return S if self.problem.log_cost is None else S + self.problem.log_cost[self.problem.c[rows]]

    def diagonal_step(self, F: AnyArray, rows: AnyArray, rule: LeafRule) -> AnyArray:
        """Slope / curvature of every class, for canonical codewords, (K,)."""
        P, w = softmax(self.costly_logits(F, rows)), self.scale[rows, None]
        slope = (w * (self.Y[self.problem.c[rows]] - P)).sum(axis=0)
        curvature = (w * P * (1 - P)).sum(axis=0) + rule.l2_regularization
        step = np.where(curvature > 0.0, slope / np.where(curvature > 0.0, curvature, 1.0), 0.0)
        return thinned(np.clip(step, -rule.max_step, rule.max_step).astype(np.float32), rule.thin)

    def whole_step(self, F: AnyArray, rows: AnyArray, rule: LeafRule) -> AnyArray:
        """(H + l2)⁻¹ Σ G for any codewords, (d,), or a shorter step."""
        P = softmax(self.costly_logits(F, rows))
        slope = self.scale[rows] @ (self.Y[self.problem.c[rows]] - P @ self.Y)
        H, least = self.leaf_hessian(P, self.scale[rows])
        return bounded_step(H, least, slope, self.Y, rule).astype(np.float32)

    def leaf_hessian(self, P: Array, w: Array) -> tuple[Array, float]:
        """An upper bound (d, d) of the Hessian of a leaf whose rows have probabilities P (r, K) and weights w (r,).

        The Hessian is estimated from some of the rows and scaled up. Classes with little probability in the leaf are
        replaced by an upper bound: their mass times the squared length of their codeword, in every direction. The
        second result is the least pivot that is more than a rounding error.
        """
        Y, d, n = self.Y, self.Y.shape[1], len(w)
        used = min(n, HESSIAN_ROWS)
        sample = np.arange(used) * n // max(used, 1)
        if w[sample].sum() <= 0.0:
            return np.zeros((d, d)), LEAST_PIVOT
        P, v = P[sample], w[sample]
        scale = w.sum() / v.sum()
        mass, mean, square = v @ P, P @ Y, np.square(Y).sum(axis=1)  # (K,), (r, d), (K,)
        small = mass * len(mass) < SMALL_CLASS * mass.sum()
        H = (Y.T * np.where(small, 0.0, mass)) @ Y - (mean.T * v) @ mean
        H += np.eye(d) * (mass[small] @ square[small])
        return scale * H, max(LEAST_PIVOT, NO_CURVATURE * float(scale * (mass @ square)) / d)


def thinned(values: AnyArray, thin: float) -> AnyArray:
    """Leaf values (K,) minus their median, with those below ``thin`` times the largest set to zero; 0 keeps all."""
    if thin == 0.0:
        return values
    values = values - np.sort(values)[len(values) // 2]
    return np.where(np.abs(values) < np.float32(thin) * np.abs(values).max(), np.float32(0), values)


def bounded_step(H: Array, least: float, slope: Array, Y: Array, rule: LeafRule) -> Array:
    """(H + l2)⁻¹ slope, (d,), for a Hessian H (d, d) whose pivots are rounding errors below `least`.

    If H is singular, or a class would step further than max_step, more than l2 is added to the diagonal, as much as
    necessary.
    """
    eye, ridge = np.eye(len(H)), max(rule.l2_regularization, least)
    step = solve_positive(H + rule.l2_regularization * eye, slope, least)
    if moves_within(step, Y, rule.max_step):
        return step
    while np.isfinite(ridge):
        step = solve_positive(H + ridge * eye, slope, least)
        if moves_within(step, Y, SAFE_PART * rule.max_step):
            return step
        ridge *= 4.0
    return np.full(len(H), np.nan)  # here the slope is not finite either


def moves_within(step: Array, Y: Array, limit: float) -> bool:
    """Whether a step (d,) moves no class score further than ``limit``."""
    moved = np.abs(Y @ step)
    return bool(np.isfinite(moved).all() and (moved <= limit).all())


def solve_positive(A: Array, b: Array, least: float) -> Array:
    """A⁻¹ b for symmetric A (d, d), by Cholesky; NaN if a pivot is below `least`."""
    A, L = A.copy(), np.zeros_like(A)
    for j in range(len(A)):
        if not A[j, j] >= least:
            return np.full(len(A), np.nan)
        L[j:, j] = A[j:, j] / np.sqrt(A[j, j])
        A[j + 1 :, j + 1 :] -= np.outer(L[j + 1 :, j], L[j + 1 :, j])
    return np.linalg.solve(L.T, np.linalg.solve(L, b))
