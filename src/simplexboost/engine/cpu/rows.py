"""Computes losses and Newton steps row by row in compiled code, for `SimplexBoostClassifier`.

There is a class for rows with one label, one for rows that keep the scores of a few candidate classes only
(`Candidates`), and one for rows with several labels or several class targets.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from ... import _kernels
from ..._util.arrays import AnyArray, Array
from ..candidates import Candidates
from ..interface import BlockProblem, Engine, HostRows, LeafRule, RowProblem


def logistic_kernel(problem: RowProblem, n_all: int) -> Any:
    """The compiled loss on the rows of a problem, which may be a part of n_all rows."""
    return _kernels.LogisticLoss(
        problem.Y, problem.c, problem.K, problem.weight, problem.log_cost, *problem.exponents, n_all
    )


class Tilted:
    """What the row-wise losses of the compiled engine share: their arrays, and the weights of robust losses."""

    def __init__(self, problem: RowProblem, engine: Engine) -> None:
        n, self.problem, self.engine = len(problem.c), problem, engine
        self.tilted = problem.exponents != (0, 0)
        self.tilt_mean = 1e-9 if self.tilted else 1.0
        self.loss = np.full(n, np.log(problem.K), dtype=np.float32)  # −log p_c at the start, with equal probabilities
        self.scale = np.empty(n) if self.tilted or problem.weight is not None else None
        self.weight = None if problem.weight is None else problem.weight.astype(np.float64)
        self.weights = float(engine.count(n)) if self.weight is None else engine.total(self.weight)
        self.stats: Any = None

    def make_room(self, n: int, s: int) -> None:
        """Make the array for the statistics of s directions."""
        if self.stats is None or self.stats.shape[1] != s + 1:
            self.stats = np.empty((n, s + 1))  # (n, s + 1)

    def tilt_scale(self) -> float:
        """What the weights of a robust loss are multiplied by.

        Robust losses multiply the weights by p_c^a (1 − p_c)^b, which is small at the start if there are many classes,
        while l2 is in absolute units. So these weights are divided by the largest mean they have had. The current mean
        would not do: late in the fit it gives huge weights to the last uncertain examples.
        """
        if self.tilted:
            a, b = self.problem.exponents
            p = np.exp(-self.loss.astype(np.float64))
            self.tilt_mean = max(self.tilt_mean, self.mean(p**a * (1 - p) ** b))
        return 1.0 / self.tilt_mean

    def risk(self) -> float:
        """The mean weighted loss."""
        return self.mean(self.problem.value(np.exp(-self.loss)) if self.tilted else self.loss)

    def mean(self, values: AnyArray) -> float:
        """The weighted mean of values (n,)."""
        return self.engine.total(values if self.weight is None else self.weight * values) / self.weights


class CpuRowLoss(Tilted, HostRows):
    """The row-wise loss of the flagship on the compiled engine, with its arrays, which every `pull` fills again.

    `kernel` computes the rows, `engine` the totals over them.
    """

    def __init__(self, problem: RowProblem, engine: Engine, kernel: Any) -> None:
        super().__init__(problem, engine)
        self.kernel = kernel
        # Canonical codewords need no stored gradient: `leaves` computes it from F.
        columns = None if problem.Y is None else problem.Y.shape[1]
        self.G = None if columns is None else np.empty((len(problem.c), columns), dtype=np.float32)  # (n, d)

    def pull(self, F: AnyArray, Z: AnyArray) -> Array:
        """The sketched gradient and curvature at F."""
        self.make_room(len(F), Z.shape[1])
        scale = self.tilt_scale()
        self.kernel.pull(F, Z, scale, self.G, self.stats, self.loss, self.scale, self.engine.n_threads)
        return self.stats

    def leaves(
        self, F: AnyArray, leaf_of_row: AnyArray, rows: AnyArray | None, n_leaves: int, rule: LeafRule
    ) -> AnyArray:
        """Newton's steps in the leaves."""
        used = None if rows is None else rows.astype(np.uint32)
        options = (rule.l2_regularization, rule.max_step, rule.thin)
        return self.kernel.newton_leaves(
            F, self.G, self.loss, self.scale, leaf_of_row, used, n_leaves, *options, self.engine.n_threads
        )


class CandidateRowLoss(Tilted, HostRows):
    """The row-wise loss at an F that is `Candidates`; see `interface.RowLoss`. Leaf values are sparse arrays (L, K)."""

    def __init__(self, problem: RowProblem, engine: Engine) -> None:
        super().__init__(problem, engine)
        self.preference: Any = None

    def pull(self, F: Any, Z: AnyArray) -> Array:
        """The sketched gradient and curvature at F."""
        problem, rows = self.problem, as_candidates(F)
        self.make_room(len(rows), Z.shape[1])
        self.preference = np.ascontiguousarray(Z[:, 0])
        _kernels.candidate_pull(
            *rows.arrays,
            problem.weight,
            problem.exponents[0],
            problem.exponents[1],
            self.tilt_scale(),
            Z,
            self.stats,
            self.loss,
            self.scale,
            self.engine.n_threads,
        )
        return self.stats

    def leaves(self, F: Any, leaf_of_row: AnyArray, rows: AnyArray | None, n_leaves: int, rule: LeafRule) -> Any:
        """Newton's steps in the leaves."""
        used, scores = None if rows is None else rows.astype(np.uint32), as_candidates(F)
        values, classes, starts = _kernels.candidate_leaves(
            *scores.arrays,
            self.loss,
            self.scale,
            self.preference,
            leaf_of_row,
            used,
            n_leaves,
            rule.l2_regularization,
            rule.max_step,
            rule.thin,
            self.engine.n_threads,
        )
        return leaf_array(values, classes, starts, scores.K)


def as_candidates(F: Any) -> Candidates:
    """The predictor, which must be one of lists."""
    assert isinstance(F, Candidates)
    return F


def leaf_array(values: AnyArray, classes: AnyArray, starts: AnyArray, K: int) -> csr_array:
    """Leaf values (L, K) as a sparse array; in every row, classes stand in the order in which lists take them."""
    starts = starts.astype(np.int32) if len(values) < 2**31 else starts
    return csr_array((values, classes, starts), shape=(len(starts) - 1, K))


def add_entries(F: Candidates, values: Any, step: float, leaf_of_row: AnyArray, n_threads: int) -> None:
    """F[i] += step · values[leaf of i] for every row i, in place, where values (L, K) are sparse."""
    values = csr_array(values)
    starts, columns = values.indptr.astype(np.int64), values.indices.astype(np.int32)
    leaves = np.ascontiguousarray(leaf_of_row, dtype=np.int32)
    data = np.ascontiguousarray(values.data, dtype=np.float32)
    _kernels.candidate_add(*F.arrays, data, columns, starts, step, leaves, n_threads)


LANES = 16  # rows of the mistakes are padded to a multiple of so many numbers (kernels/losses/logistic.hpp)


class CpuBlocks(HostRows):
    """Evaluates a `BlockProblem`, with arrays that every `pull` fills again; `engine` computes totals over rows."""

    def __init__(self, problem: BlockProblem, engine: Engine) -> None:
        n, K = len(problem.c), problem.own.shape[1]
        self.problem, self.engine = problem, engine
        widths = problem.widths
        self.ends = None if widths is None else np.cumsum(widths).astype(np.int32)
        self.kernel = _kernels.BlockLoss(problem.own, problem.c, self.ends, problem.weight)
        self.weight = None if problem.weight is None else problem.weight.astype(np.float64)
        self.weights = float(n) if self.weight is None else engine.total(self.weight)
        self.N = np.empty((n, -(-K // LANES) * LANES), dtype=np.float32)  # (n, Kp), probability − own
        self.loss = np.empty(n, dtype=np.float32)
        self.stats = np.empty((n, 0))

    def pull(self, F: AnyArray, Z: AnyArray) -> Array:
        """The sketched gradient and curvature at F."""
        if self.stats.shape[1] != Z.shape[1] + 1:
            self.stats = np.empty((len(F), Z.shape[1] + 1))  # (n, s + 1)
        self.kernel.pull(F, Z, self.N, self.stats, self.loss, self.engine.n_threads)
        return self.stats

    def leaves(
        self, F: AnyArray, leaf_of_row: AnyArray, rows: AnyArray | None, n_leaves: int, rule: LeafRule
    ) -> AnyArray:
        """Newton's steps in the leaves."""
        used = None if rows is None else rows.astype(np.uint32)
        l2, max_step = rule.l2_regularization, rule.max_step
        return self.kernel.newton_leaves(
            self.N, self.weight, leaf_of_row, used, n_leaves, l2, max_step, self.engine.n_threads
        )

    def losses(self, F: AnyArray, rows: AnyArray, temperature: float) -> Array:
        """The loss of every block of some of the rows at the logits temperature · F."""
        out = np.empty((len(rows), self.problem.n_blocks), dtype=np.float32)
        kernel = _kernels.BlockLoss(self.problem.own, self.problem.c[rows], self.ends, None)
        kernel.losses(np.ascontiguousarray(F[rows]), temperature, out, self.engine.n_threads)
        return out.astype(np.float64)

    def risk(self) -> float:
        """The mean weighted loss at the F of the last `pull`."""
        values: AnyArray = self.loss if self.weight is None else self.weight * self.loss
        return self.engine.total(values) / self.weights
