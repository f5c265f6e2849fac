"""The log-loss of several labels, or of several class targets, row by row, in double precision.

With p the probability of a column, σ(F) for a label and the soft-max over its block for a class, a row of weight w has
the gradient w (own − p) and, along a direction z, the curvature w Σ_blocks (Σ_k p_k z_k² − (Σ_k p_k z_k)²), which for
labels is w Σ_k p_k (1 − p_k) z_k².

The kernels work in single precision; see ``tests/test_blocks.py`` for the tolerances.
"""

from __future__ import annotations

import numpy as np

from ..._typing import AnyArray, Array
from ..interface import BlockProblem, HostRows, LeafRule
from .rows import softmax


class ReferenceBlocks(HostRows):
    """Evaluates a `BlockProblem`; see `interface.BlockLoss`."""

    def __init__(self, problem: BlockProblem) -> None:
        self.problem, n, K = problem, len(problem.c), problem.own.shape[1]
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

    def leaves(
        self, F: AnyArray, leaf_of_row: AnyArray, rows: AnyArray | None, n_leaves: int, rule: LeafRule
    ) -> AnyArray:
        """Newton's steps in the leaves, (L, K) float32, at the F of the last `pull`, from `rows` (ascending) only."""
        used = np.arange(len(F)) if rows is None else rows
        slope, curvature = self.own - self.P, self.P * (1.0 - self.P)
        steps = np.zeros((n_leaves, F.shape[1]))
        for leaf in range(n_leaves):
            here = used[leaf_of_row[used] == leaf]
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
