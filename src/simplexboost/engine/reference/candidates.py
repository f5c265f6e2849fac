"""The flagship's loss on rows with candidates, and how leaves move their scores, in plain NumPy.

Probabilities are those of the soft-max over the own class, the candidates and the rest, whose classes all have the
score of the rest; then everything is as in ``rows.py``, in double precision and on all K classes. Scores are kept and
compared in single precision, as in the kernels, so that lists hold the same classes; the score of the rest passes
through an exponential and a logarithm and may differ in its last digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from ..._typing import AnyArray, Array
from ..candidates import Candidates
from ..interface import LeafRule, RowProblem
from .rows import ReferenceRowLoss, softmax


class ReferenceCandidateRows(ReferenceRowLoss):
    """Evaluates a `RowProblem` at an F that is `Candidates`; see `interface.RowLoss`."""

    def __init__(self, problem: RowProblem) -> None:
        super().__init__(problem)
        self.preference: Any = None

    def pull(self, F: Any, Z: AnyArray) -> Array:
        """The sketched gradient and curvature."""
        self.preference = Z[:, 0]
        return super().pull(F.dense(), Z)

    def leaves(self, F: Any, leaf_of_row: AnyArray, rows: AnyArray | None, n_leaves: int, rule: LeafRule) -> Any:
        """Newton's steps in the leaves, (L, K), as a sparse array."""
        used = self.rows if rows is None else rows
        of_leaves = [self.entries(F, used[leaf_of_row[used] == leaf], rule) for leaf in range(n_leaves)]
        starts = np.cumsum([0, *(len(classes) for classes, _ in of_leaves)])
        classes, values = (np.concatenate([part[i] for part in of_leaves]) for i in (0, 1))
        return csr_array((values, classes.astype(np.int32), starts.astype(np.int32)), shape=(n_leaves, F.K))

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
