"""The flagship's loss of several labels, or of several class targets, on the compiled engine."""

from __future__ import annotations

import numpy as np

from ... import _kernels
from ..._typing import AnyArray, Array
from ..interface import BlockProblem, Engine, HostRows, LeafRule

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
