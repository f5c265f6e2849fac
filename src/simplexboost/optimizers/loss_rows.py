"""The row-wise loss of `SketchedNewton` in NumPy, for losses that the engine does not know: a user's own."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from .._typing import AnyArray, Array, Labels
from ..codewords.code import Code
from ..engine import Engine, HostRows, LeafRule
from ..engine.reference.rows import thinned
from ..losses.user_scores import along_columns


class LossRows(HostRows):
    """A loss with `residual` and `second`, as `engine.interface.RowLoss`; codewords are canonical, so that F = 2U."""

    def __init__(self, loss: Any, c: Labels, weight: Array, code: Code, engine: Engine) -> None:
        self.loss, self.c, self.weight, self.code, self.engine = loss, c, weight, code, engine

    def pull(self, F: AnyArray, Z: AnyArray) -> Array:
        """The sketched gradient and, last, the curvature along the sketch at F (n, d), (n, s + 1)."""
        U = self.code.scores(F)
        weight, Z = self.weight[:, None], Z.astype(np.float64)
        self.values = self.loss.value(U, self.c)
        self.G = 0.5 * weight * self.loss.residual(U, self.c)  # (n, K)
        H = self.loss.second(U, self.c)
        self.H = 0.25 * weight * np.maximum(H if H.ndim == 2 else np.einsum("nkk->nk", H), 0.0)  # (n, K)
        bend = along_columns(np.maximum(H, 0.0) if H.ndim == 2 else H, Z).sum(axis=1, keepdims=True)
        return np.hstack([self.G @ Z, 0.25 * weight * np.maximum(bend, 0.0)])

    def leaves(
        self, F: AnyArray, leaf_of_row: AnyArray, rows: AnyArray | None, n_leaves: int, rule: LeafRule
    ) -> AnyArray:
        """Newton's steps in the leaves, (L, K) float32, at the F of the last `pull`, from `rows` (ascending) only."""
        used = np.arange(len(F)) if rows is None else rows
        member = csr_array((np.ones(len(used)), (leaf_of_row[used], used)), shape=(n_leaves, len(F)))
        slope, curvature = member @ self.G, member @ self.H + rule.l2_regularization
        steps = np.divide(slope, curvature, out=np.zeros_like(slope), where=curvature > 0)
        steps = np.clip(steps, -rule.max_step, rule.max_step).astype(np.float32)
        return np.array([thinned(step, rule.thin) for step in steps])

    def risk(self) -> float:
        """The mean weighted loss at the F of the last `pull`."""
        return self.engine.total(self.weight * self.values) / self.engine.total(self.weight)
