"""Adds new classes to fitted trees, by one pass of Newton steps over their leaves; the splits stay unchanged.

For a row, let ρ be the log-sum-exp of the logits of all old classes, which does not change, and N (m,) the logits of
the m new classes: a problem of m + 1 classes with the logits (ρ, N). Tree after tree, every leaf takes a Newton step
for its rows. The step of the first column, which would move all old classes alike, is subtracted from the other ones.

If rows of some old classes are missing, each leaf still knows how many training rows it had (docs/classes.md). Let c be
a row's class, w its weight, p_j its probability of new class j, u the number of a leaf's missing rows, π_j their
assumed probability of class j, and l2 a regularization. Every leaf moves N_j of its rows by a rate times

    (Σ w (1[c = j] − p_j) − u π_j) / (Σ w p_j (1 − p_j) + u π_j (1 − π_j) + l2).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from .._util.arrays import AnyArray, Array, Labels
from ..engine import CPU, Engine, ForestArrays, Grown, LeafRule, RowLoss, Tree

BLOCK = 2**23  # leaves of rows that are computed at a time
SHARE = 0.5  # π_j is this part of the frequency of new class j; docs/classes.md has the trials


def pass_over(
    trees: Sequence[Tree], X: Any, F: AnyArray, rows: RowLoss, rule: LeafRule, rate: float, engine: Engine = CPU
) -> list[AnyArray]:
    """Return for each tree what its leaves add to the logits of the m new classes, (L, m): Newton steps times ``rate``.

    F (n, m + 1) changes in place. Its first column is ρ, the log-sum-exp of the old classes' logits, the other columns
    are the new logits. ``rows`` is the loss with these m + 1 classes.
    """
    nowhere = np.zeros((F.shape[1], 1), dtype=np.float32)
    moves = []
    for tree, leaf in zip(trees, leaves_of_rows(trees, X, engine), strict=True):
        rows.pull(F, nowhere)  # the probabilities at F
        grown = Grown(tree, leaf, np.empty((tree.n_leaves, 0)))  # whose sums nothing asks for
        steps = rows.leaves(F, grown, None, rule)  # (L, m + 1)
        engine.compute.add_leaves(F, steps, rate, leaf)
        moves.append(rate * (steps[:, 1:] - steps[:, :1]))
    return moves


def leaves_of_rows(trees: Sequence[Tree], X: Any, engine: Engine = CPU) -> Iterator[AnyArray]:
    """Yield, for one tree after another, the leaf index of every row of X (n, p), as (n,) int32.

    The trees are evaluated as one forest in which each tree adds its leaf index to its own column. This takes a fifth
    of the time of `Compute.apply` on single trees. Leaf indices are exact in single precision.
    """
    n, p = X.shape
    step = max(1, BLOCK // max(n, 1))
    for begin in range(0, len(trees), step):
        some = list(trees[begin : begin + step])
        numbers = [np.arange(tree.n_leaves, dtype=np.float32)[:, None] for tree in some]
        places = np.arange(len(some), dtype=np.int32)
        found = np.zeros((n, len(some)), dtype=np.float32)
        engine.compute.pack(ForestArrays(some, numbers, places, np.ones(len(some)), p, np.float32)).predict(
            X, found, engine.compute.n_threads
        )
        yield from np.ascontiguousarray(found.T).astype(np.int32)


@dataclass(frozen=True, eq=False)
class Newcomers:
    """The training rows for adding m new classes: rows of these classes, and rows of old classes if any."""

    X: Any  # (n, p) a table in the form that kernels take
    c: Labels  # (n,) 0 for a row of any old class, 1 .. m for one of the new classes
    weight: Array  # (n,)
    rest: Array  # (n,) ρ, the log of the sum of exp(logit) over the old classes
    m: int  # the number of new classes

    def probabilities(self, N: Array) -> Array:
        """Return the probabilities (n, m) of the new classes from their logits N (n, m)."""
        top = np.maximum(self.rest, N.max(axis=1))
        E = np.exp(N - top[:, None])
        return E / (np.exp(self.rest - top) + E.sum(axis=1))[:, None]


def counted_pass(
    trees: Sequence[Tree], rows: Newcomers, rule: LeafRule, rate: float, engine: Engine = CPU
) -> list[Array]:
    """Return what each tree's leaves add to the new logits, (L, m), when rows of some old classes are missing.

    The number of missing rows follows from the stored number of training rows of each leaf.
    """
    own = (rows.c[:, None] == np.arange(1, rows.m + 1)).astype(np.float64)  # 1[c = j], (n, m)
    N, w = np.zeros(own.shape), rows.weight[:, None]
    moves = []
    for tree, leaf in zip(trees, leaves_of_rows(trees, rows.X, engine), strict=True):
        P = rows.probabilities(N)
        by_leaf = csr_array((np.ones(len(leaf)), leaf, np.arange(len(leaf) + 1)), shape=(len(leaf), tree.n_leaves)).T
        unseen = unseen_rows(tree, by_leaf @ (rows.weight * (rows.c == 0)))[:, None]  # (L, 1)
        pi = SHARE * (w * own).sum(axis=0) / (rows.weight.sum() + unseen.sum())  # (m,)
        slope = by_leaf @ (w * (own - P)) - unseen * pi  # (L, m)
        curvature = by_leaf @ (w * P * (1 - P)) + unseen * pi * (1 - pi) + rule.l2_regularization
        step = np.divide(slope, curvature, out=np.zeros_like(slope), where=curvature > 0)
        move = rate * np.clip(step, -rule.max_step, rule.max_step)
        N += move[leaf]
        moves.append(move)
    return moves


def unseen_rows(tree: Tree, given: Array) -> Array:
    """Return the number of missing rows of each leaf, (L,): its training rows minus the ``given`` ones, at least 0."""
    is_leaf = tree.nodes["feature"] < 0
    counts = np.zeros(tree.n_leaves)
    counts[tree.nodes["left"][is_leaf]] = tree.count[is_leaf]
    return np.maximum(counts - given, 0.0)


def spread_evenly(n: int, most: int) -> AnyArray:
    """Return at most ``most`` of the row indices 0 .. n − 1, evenly spaced, ascending, and including the last one."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(np.intp)) if n else np.empty(0, dtype=np.intp)
