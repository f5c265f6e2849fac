"""The flagship's loss on rows with candidates, on the compiled engine."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from ... import _kernels
from ..._typing import AnyArray, Array
from ..candidates import Candidates
from ..interface import Engine, HostRows, LeafRule, RowProblem
from .rows import Tilted


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
