"""Computes losses and Newton steps row by row in compiled code, for `SimplexBoostClassifier`.

One class is for rows with one label, one for rows that store the scores of only a few candidate classes (`Candidates`),
and one for rows with several labels or class targets.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from ... import _kernels
from ..._util.arrays import AnyArray, Array
from ..candidates import Candidates
from ..interface import BlockProblem, Compute, HostLoss, LeafRule, RowProblem
from ..tree import Grown


def logistic_kernel(problem: RowProblem, n_all: int) -> Any:
    """Return the compiled logistic loss on the rows of `problem`, which may be a part of `n_all` rows."""
    return _kernels.LogisticLoss(
        problem.Y, problem.c, problem.K, problem.weight, problem.log_cost, *problem.exponents, n_all
    )


class TiltedLoss:
    """The base of losses with one label per row: it computes the risk, and scales the row weights of robust losses."""

    def __init__(self, problem: RowProblem, compute: Compute, loss: Any) -> None:
        self.problem, self.compute, self.loss = problem, compute, loss
        self.loss[:] = np.float32(np.log(problem.K))  # −log p_c at the start, with equal probabilities
        self.tilted = problem.exponents != (0, 0)
        self.tilt_mean = 1e-9 if self.tilted else 1.0
        self.weight: Any = None if problem.weight is None else problem.weight.astype(np.float64)
        n, rows = len(problem.c), compute.rows
        self.weights = float(rows.count(n)) if self.weight is None else rows.total(self.weight)

    def update_tilt(self) -> None:
        """Update the divisor of the weights that a robust loss gives to rows.

        Robust losses multiply the gradient by p_c^a (1 − p_c)^b, p_c the probability of the true class. With many
        classes this weight is small at the start, but the l2 penalty is not. So weights are divided by the largest mean
        weight so far; the current mean would give huge weights to the last uncertain rows late in the fit.
        """
        a, b = self.problem.exponents
        p = np.exp(-self.loss.astype(np.float64))
        tilt = p**a * (1 - p) ** b
        total = self.compute.rows.total(tilt if self.weight is None else self.weight * tilt)
        self.tilt_mean = max(self.tilt_mean, total / self.weights)

    def risk(self) -> float:
        values = self.problem.value(np.exp(-self.loss)) if self.tilted else self.loss
        return self.compute.rows.total(values if self.weight is None else self.weight * values) / self.weights


class CpuRowLoss(TiltedLoss, HostLoss):
    """The loss of `SimplexBoostClassifier` with one label per row; every call of `pull` overwrites the same arrays."""

    def __init__(self, problem: RowProblem, compute: Compute, kernel: Any) -> None:
        n = len(problem.c)
        super().__init__(problem, compute, np.empty(n, dtype=np.float32))
        self.kernel = kernel
        self.scale = np.empty(n) if self.tilted or problem.weight is not None else None
        self.stats: Any = np.empty((n, 0))
        # Canonical codewords need no stored gradient: `leaves` computes it from F.
        self.G = None if problem.Y is None else np.empty((n, problem.Y.shape[1]), dtype=np.float32)  # (n, d)

    def make_room(self, s: int) -> None:
        """Allocate ``stats`` (n, s + 1) for a gradient sketch along s directions, unless it has this shape already."""
        if self.stats.shape[1] != s + 1:
            self.stats = np.empty((len(self.loss), s + 1))

    def pull(self, F: AnyArray, Z: AnyArray) -> Array:
        self.make_room(Z.shape[1])
        if self.tilted:
            self.update_tilt()
        outputs = (self.G, self.stats, self.loss, self.scale)
        self.kernel.pull(F, Z, 1.0 / self.tilt_mean, *outputs, self.compute.n_threads)
        return self.stats

    def leaves(self, F: AnyArray, grown: Grown, rows: AnyArray | None, rule: LeafRule) -> AnyArray:
        used = None if rows is None else rows.astype(np.uint32)
        arrays = (F, self.G, self.loss, self.scale, grown.leaf_of_row, used, len(grown.leaf_sums))
        options = (rule.l2_regularization, rule.max_step, rule.thin)
        return self.kernel.newton_leaves(*arrays, *options, self.compute.n_threads)


class CandidateRowLoss(CpuRowLoss):
    """`CpuRowLoss` for many classes: F is a `Candidates`, which stores scores of only a few classes per row."""

    preference: Any = None  # (K,) of the last pull

    def pull(self, F: Any, Z: AnyArray) -> Array:
        scores: Candidates = F
        self.make_room(Z.shape[1])
        if self.tilted:
            self.update_tilt()
        self.preference = np.ascontiguousarray(Z[:, 0])
        _kernels.candidate_pull(
            *scores.arrays,
            self.problem.weight,
            self.problem.exponents[0],
            self.problem.exponents[1],
            1.0 / self.tilt_mean,
            Z,
            self.stats,
            self.loss,
            self.scale,
            self.compute.n_threads,
        )
        return self.stats

    def leaves(self, F: Any, grown: Grown, rows: AnyArray | None, rule: LeafRule) -> Any:
        scores: Candidates = F
        values, classes, starts = _kernels.candidate_leaves(
            *scores.arrays,
            self.loss,
            self.scale,
            self.preference,
            grown.leaf_of_row,
            None if rows is None else rows.astype(np.uint32),
            len(grown.leaf_sums),
            rule.l2_regularization,
            rule.max_step,
            rule.thin,
            self.compute.n_threads,
        )
        # In every row, classes stand in the order in which lists take them.
        starts = starts.astype(np.int32) if len(values) < 2**31 else starts
        return csr_array((values, classes, starts), shape=(len(starts) - 1, F.K))


def add_entries(F: Candidates, values: Any, step: float, leaf_of_row: AnyArray, n_threads: int) -> None:
    """Add step · values[leaf of i] to F[i] for every row i, in place; `values` (L, K) is a sparse array."""
    values = csr_array(values)
    starts, columns = values.indptr.astype(np.int64), values.indices.astype(np.int32)
    leaves = np.ascontiguousarray(leaf_of_row, dtype=np.int32)
    data = np.ascontiguousarray(values.data, dtype=np.float32)
    _kernels.candidate_add(*F.arrays, data, columns, starts, step, leaves, n_threads)


LANES = 16  # rows of the mistakes are padded to a multiple of so many numbers (kernels/losses/logistic.hpp)


class CpuBlocks(HostLoss):
    """The log-loss of a `BlockProblem` (several labels or class targets); every `pull` overwrites the same arrays."""

    def __init__(self, problem: BlockProblem, compute: Compute) -> None:
        n, K = len(problem.c), problem.own.shape[1]
        self.problem, self.compute = problem, compute
        widths = problem.widths
        self.ends = None if widths is None else np.cumsum(widths).astype(np.int32)
        self.kernel = _kernels.BlockLoss(problem.own, problem.c, self.ends, problem.weight)
        self.weight = None if problem.weight is None else problem.weight.astype(np.float64)
        self.weights = float(n) if self.weight is None else compute.rows.total(self.weight)
        self.N = np.empty((n, -(-K // LANES) * LANES), dtype=np.float32)  # (n, Kp), probability − own
        self.loss = np.empty(n, dtype=np.float32)
        self.stats = np.empty((n, 0))

    def pull(self, F: AnyArray, Z: AnyArray) -> Array:
        if self.stats.shape[1] != Z.shape[1] + 1:
            self.stats = np.empty((len(F), Z.shape[1] + 1))  # (n, s + 1)
        self.kernel.pull(F, Z, self.N, self.stats, self.loss, self.compute.n_threads)
        return self.stats

    def leaves(self, F: AnyArray, grown: Grown, rows: AnyArray | None, rule: LeafRule) -> AnyArray:
        used = None if rows is None else rows.astype(np.uint32)
        arrays = (self.N, self.weight, grown.leaf_of_row, used, len(grown.leaf_sums))
        return self.kernel.newton_leaves(*arrays, rule.l2_regularization, rule.max_step, self.compute.n_threads)

    def losses(self, F: AnyArray, rows: AnyArray, temperature: float) -> Array:
        out = np.empty((len(rows), self.problem.n_blocks), dtype=np.float32)
        kernel = _kernels.BlockLoss(self.problem.own, self.problem.c[rows], self.ends, None)
        kernel.losses(np.ascontiguousarray(F[rows]), temperature, out, self.compute.n_threads)
        return out.astype(np.float64)

    def risk(self) -> float:
        values: AnyArray = self.loss if self.weight is None else self.weight * self.loss
        return self.compute.rows.total(values) / self.weights
