"""The row-wise loss of the flagship on the compiled engine."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import _kernels
from ..._typing import AnyArray, Array
from ..interface import Engine, HostRows, LeafRule, RowProblem


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
