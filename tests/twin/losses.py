"""The losses of the twin, row by row.

The flagship's loss, row by row, in double precision: sketched gradient and curvature, Newton's steps, risk.

With logits S = F Yᵀ + log cost[c] and p = softmax(S), a row of true class c and weight w has the loss −log p_c, the
gradient G = w (y_c − Σ_k p_k y_k) and the Hessian w (Σ_k p_k y_k y_kᵀ − ȳ ȳᵀ) with ȳ = Σ_k p_k y_k. Robust losses
multiply w by p_c^a (1 − p_c)^b.

The kernels work in single precision, with fused multiply-adds where a machine has them, and agree to a few units in the
last place of that precision; see ``tests/test_engine_rows.py`` for the tolerances.

The log-loss of several labels, or of several class targets, row by row, in double precision.

With p the probability of a column, σ(F) for a label and the soft-max over its block for a class, a row of weight w has
the gradient w (own − p) and, along a direction z, the curvature w Σ_blocks (Σ_k p_k z_k² − (Σ_k p_k z_k)²), which for
labels is w Σ_k p_k (1 − p_k) z_k².

The kernels work in single precision; see ``tests/test_blocks.py`` for the tolerances.

The flagship's loss on rows with candidates, and how leaves move their scores, in plain NumPy.

Probabilities are those of the soft-max over the own class, the candidates and the rest, whose classes all have the
score of the rest; then everything is as in ``rows.py``, in double precision and on all K classes. Scores are kept and
compared in single precision, as in the kernels, so that lists hold the same classes; the score of the rest passes
through an exponential and a logarithm and may differ in its last digits.

Losses of score differences, row by row: the race of the rivals (see `interface.Engine`), the residual, and votes.

The exponential function is written out, and sums are taken in the kernels' order, so that the bits are those of
kernels/losses/race.inl on any machine and with any mathematical library.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from simplexboost._util.arrays import AnyArray, Array, Labels
from simplexboost.engine.candidates import Candidates
from simplexboost.engine.interface import BlockProblem, Compute, HostLoss, LeafRule, RowProblem
from simplexboost.engine.tree import Grown

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


class ReferenceRowLoss(HostLoss):
    """Evaluates a `RowProblem`; see `interface.RowLoss`."""

    def __init__(self, problem: RowProblem, compute: Compute) -> None:
        self.problem, self.compute, self.tilted = problem, compute, problem.exponents != (0, 0)
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

    def leaves(self, F: AnyArray, grown: Grown, rows: AnyArray | None, rule: LeafRule) -> AnyArray:
        used = self.rows if rows is None else rows
        step = self.diagonal_step if self.problem.Y is None else self.whole_step
        return np.array([step(F, used[grown.leaf_of_row[used] == leaf], rule) for leaf in range(grown.n_leaves)])

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
        return rule.drop_small(np.clip(step, -rule.max_step, rule.max_step).astype(np.float32))

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


class ReferenceBlocks(HostLoss):
    """Evaluates a `BlockProblem`; see `interface.BlockLoss`."""

    def __init__(self, problem: BlockProblem, compute: Compute) -> None:
        self.problem, self.compute, n, K = problem, compute, len(problem.c), problem.own.shape[1]
        self.weight = np.ones(n) if problem.weight is None else problem.weight.astype(np.float64)
        self.own = problem.own[problem.c].astype(np.float64)  # (n, K)
        widths = (1,) * K if problem.widths is None else problem.widths
        self.blocks = [np.arange(end - width, end) for width, end in zip(widths, np.cumsum(widths), strict=True)]

    def probabilities(self, F: AnyArray) -> Array:
        """The probability of every column, (n, K)."""
        F = F.astype(np.float64)
        if self.problem.widths is None:
            return 0.5 * (1.0 + np.tanh(0.5 * F))
        return np.hstack([softmax(F[:, of]) for of in self.blocks])

    def pull(self, F: AnyArray, Z: AnyArray) -> Array:
        """The sketched gradient and, last, the curvature along the sketch at F (n, K), (n, s + 1)."""
        self.P, Z = self.probabilities(F), Z.astype(np.float64)
        self.loss = self.losses(F, np.arange(len(F)), 1.0).sum(axis=1)
        bend = self.P @ np.square(Z).sum(axis=1)  # (n,)
        if self.problem.widths is None:
            bend = (self.P * (1.0 - self.P)) @ np.square(Z).sum(axis=1)
        else:
            bend = bend - sum(np.square(self.P[:, of] @ Z[of]).sum(axis=1) for of in self.blocks)
        return self.weight[:, None] * np.column_stack([(self.own - self.P) @ Z, np.maximum(bend, 0.0)])

    def leaves(self, F: AnyArray, grown: Grown, rows: AnyArray | None, rule: LeafRule) -> AnyArray:
        used = np.arange(len(F)) if rows is None else rows
        slope, curvature = self.own - self.P, self.P * (1.0 - self.P)
        steps = np.zeros((grown.n_leaves, F.shape[1]))
        for leaf in range(grown.n_leaves):
            here = used[grown.leaf_of_row[used] == leaf]
            w = self.weight[here]
            bend = w @ curvature[here] + rule.l2_regularization
            steps[leaf] = np.divide(w @ slope[here], bend, out=np.zeros(F.shape[1]), where=bend > 0)
        return np.clip(steps, -rule.max_step, rule.max_step).astype(np.float32)

    def losses(self, F: AnyArray, rows: AnyArray, temperature: float) -> Array:
        """The loss of every block of some of the rows at the logits temperature · F (n, K), (r, B)."""
        S, own = temperature * F[rows].astype(np.float64), self.own[rows]
        if self.problem.widths is None:
            return np.logaddexp(0.0, np.where(own > 0, -S, S))
        return np.column_stack(
            [np.logaddexp.reduce(S[:, of], axis=1) - (own[:, of] * S[:, of]).sum(axis=1) for of in self.blocks]
        )

    def risk(self) -> float:
        """The mean weighted loss at the F of the last `pull`."""
        return float(np.average(self.loss, weights=self.weight))


class ReferenceCandidateRows(ReferenceRowLoss):
    """Evaluates a `RowProblem` at an F that is `Candidates`; see `interface.RowLoss`."""

    def __init__(self, problem: RowProblem, compute: Compute) -> None:
        super().__init__(problem, compute)
        self.preference: Any = None

    def pull(self, F: Any, Z: AnyArray) -> Array:
        """The sketched gradient and curvature."""
        self.preference = Z[:, 0]
        return super().pull(F.dense(), Z)

    def leaves(self, F: Any, grown: Grown, rows: AnyArray | None, rule: LeafRule) -> Any:
        """Newton's steps in the leaves, (L, K), as a sparse array."""
        used = self.rows if rows is None else rows
        of_leaves = [self.entries(F, used[grown.leaf_of_row[used] == leaf], rule) for leaf in range(grown.n_leaves)]
        starts = np.cumsum([0, *(len(classes) for classes, _ in of_leaves)])
        classes, values = (np.concatenate([part[i] for part in of_leaves]) for i in (0, 1))
        return csr_array((values, classes.astype(np.int32), starts.astype(np.int32)), shape=(grown.n_leaves, F.K))

    def entries(self, F: Candidates, rows: AnyArray, rule: LeafRule) -> tuple[AnyArray, AnyArray]:
        """The classes of a leaf whose values are not zero and these values, the class with the longest step first.

        Classes that no row of the leaf keeps a score of all have the same value. It is subtracted from all values, so
        that only the other classes have entries.
        """
        P, w = softmax(F[rows].dense().astype(np.float64)), self.scale[rows, None]
        slope = (w * (np.eye(F.K)[F.c[rows]] - P)).sum(axis=0)
        curvature = (w * P * (1 - P)).sum(axis=0) + rule.l2_regularization
        kept = np.zeros(F.K, dtype=bool)
        kept[F.c[rows]] = True
        for i in rows:
            kept[F.classes[i, : F.count[i]]] = True
        q = np.exp(F.rest[rows].astype(np.float64) - F.own[rows] - self.loss[rows]) * (F.others[rows] > 0)
        of_rest = limited_step(-(w[:, 0] * q).sum(), (w[:, 0] * q * (1 - q)).sum() + rule.l2_regularization, rule)[1]
        free, limited = limited_step(slope, curvature, rule)
        values = np.where(kept, limited - of_rest, np.float32(0))
        values[np.abs(values) < np.float32(rule.thin) * np.abs(values).max()] = 0
        order = np.lexsort((np.arange(F.K), -self.preference.astype(np.float64), -free))
        order = order[values[order] != 0]
        return order, values[order]


def limited_step(slope: Any, curvature: Any, rule: LeafRule) -> tuple[Any, Any]:
    """Slope / curvature, 0 without curvature; and the same within the longest step allowed, in single precision."""
    free = np.where(curvature > 0.0, slope / np.where(curvature > 0.0, curvature, 1.0), 0.0)
    return free, np.clip(free, -rule.max_step, rule.max_step).astype(np.float32)


def add_entries(F: Candidates, values: Any, step: float, leaf_of_row: AnyArray) -> None:
    """F[i] += step · values[leaf of i] for every row i, in place, where values (L, K) are sparse."""
    values = csr_array(values)
    for i, leaf in enumerate(leaf_of_row):
        entries = slice(values.indptr[leaf], values.indptr[leaf + 1])
        move_row(F, i, values.indices[entries], np.float32(step) * values.data[entries])


def move_row(F: Candidates, i: int, classes: AnyArray, moves: AnyArray) -> None:
    """Move the scores of some classes in one row.

    Classes without a score join the list, in the order in which they come, with the score of the rest plus their move.
    If it is full, a newcomer enters as long as more candidates stand below it than newcomers have entered; as many of
    the lowest candidates leave. The others move within the rest: its score becomes the logarithm of the mean of
    exp(score) over its classes.
    """
    rest, C = F.rest[i], F.scores.shape[1]
    place = {int(k): j for j, k in enumerate(F.classes[i, : F.count[i]])}
    unknown = []
    for k, move in zip(classes.tolist(), moves, strict=True):
        if k == F.c[i]:
            F.own[i] += move
        elif k in place:
            F.scores[i, place[k]] += move
        else:
            unknown.append((k, move))
    while unknown and F.count[i] < C:
        k, move = unknown.pop(0)
        F.scores[i, F.count[i]], F.classes[i, F.count[i]] = rest + move, k
        F.count[i] += 1
    entering: list[Any] = []
    while unknown and (F.scores[i] < rest + unknown[0][1]).sum() > len(entering):
        entering.append(unknown.pop(0))
    leaving = np.sort(np.argsort(F.scores[i], kind="stable")[: len(entering)])  # the lowest, of equal ones the first
    back = F.scores[i, leaving].tolist()
    for to, (k, move) in zip(leaving, entering, strict=True):
        F.scores[i, to], F.classes[i, to] = rest + move, k
    others = int(F.others[i])
    if (unknown or back) and others:
        still = np.exp([float(move) for _, move in unknown]).sum()
        returned = np.exp([float(score) - float(rest) for score in back]).sum()
        mass = others - len(back) - len(unknown) + still + returned
        F.rest[i] = rest + np.float32(np.log(mass / others))


LOG2_E = float.fromhex("0x1.71547652b82fep0")
LN2_HIGH, LN2_LOW = float.fromhex("0x1.62e42fefa38p-1"), float.fromhex("0x1.ef35793c7673p-45")  # ln 2 in two parts
LOWEST = -708.0  # below this the exponential is no normal number and counts as zero
TERMS = 13  # of the Taylor polynomial
LANES = 8


def race(U: Array, c: Labels, rate: float, out: Array | None = None) -> tuple[Array, Array, Array]:
    """E (n, K), its row sums Z (n,) and the true class's leads (n,); see `gamma_phi.race`."""
    rows = np.arange(len(U))
    rivals = np.array(U, dtype=np.float64)
    rivals[rows, c] = -np.inf
    highest = rivals.max(axis=1)  # (n,)
    E = np.empty(U.shape) if out is None else out
    E[:] = exp_nonpositive(rate * (rivals - highest[:, None]))
    return E, eight_lane_sums(E), U[rows, c] - highest


def race_along(U: Array, c: Labels, W: Array, alpha: float, rate: float) -> tuple[Array, Array, Array, Array]:
    """The race at U + αW: row sums, leads, and the mean and variance of W over the rivals, weighted by E; (n,)."""
    E, Z, lead = race(U + alpha * W, c, rate)
    mean = sequential_sums(E * W) / Z
    variance = sequential_sums(E * np.square(W - mean[:, None])) / Z
    return Z, lead, mean, variance


def pull_rows(E: Array, c: Labels, w: Array, Z: Array) -> None:
    """Turn the E (n, K) of a race into the residual, in place: −w E / Z, and w at the true class."""
    E *= (-w / Z)[:, None]
    E[np.arange(len(E)), c] = w


def vote_rows(P: Array, c: Labels, classes: Labels, up: float, down: float, own: Array) -> None:
    """Update the residual P (n, K), and `own` (n,), its entries at the true classes, for votes for `classes`.

    After a right answer all rivals are multiplied by `down`; after a wrong one the rival that it names, by `up`.
    """
    rows, right = np.arange(len(P)), classes == c
    wrong, rival = rows[~right], classes[~right]
    P[right] *= down
    P[wrong, c[~right]] -= (up - 1.0) * P[wrong, rival]  # P at a rival is minus the rival's weight
    P[wrong, rival] *= up
    own[:] = P[rows, c]


def exp_nonpositive(x: Array) -> Array:
    """exp(x) for x <= 0, to about one unit in the last place: x = k ln 2 + r, and a polynomial in |r| <= ln(2) / 2."""
    clamped = np.maximum(x, LOWEST)
    k = np.rint(clamped * LOG2_E)
    r = (clamped - k * LN2_HIGH) - k * LN2_LOW
    y = np.full(x.shape, 1 / math.factorial(TERMS))
    for term in range(TERMS - 1, -1, -1):
        y = y * r + 1 / math.factorial(term)
    return np.where(x < LOWEST, 0.0, np.ldexp(y, k.astype(np.int32)))


def sequential_sums(values: Array) -> Array:
    """Row sums of (n, m), added from left to right like a loop; `np.sum` may use another order."""
    return np.cumsum(np.pad(values, ((0, 0), (1, 0))), axis=1)[:, -1]


def eight_lane_sums(values: AnyArray) -> Array:
    """Row sums of (n, m) in the order of vector units: eight sums of every eighth number, then these in fixed order."""
    x = [sequential_sums(values[:, lane::LANES]) for lane in range(LANES)]
    return ((x[0] + x[4]) + (x[1] + x[5])) + ((x[2] + x[6]) + (x[3] + x[7]))
