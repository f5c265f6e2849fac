"""The log-loss of several questions at once: labels, each of which a row has or has not, or several class targets.

The columns of the scores U (n, K) are cut into blocks. A label is a block of one column, whose probability is σ(2U_k).
A class target is a block of as many columns as it has classes, whose probabilities are softmax(2U) over the block. The
loss of a row is the sum over the blocks of −log of the probability of what is true, c (n,) being the number of what is
true of the row among ``sets`` (S, K): 1 in the columns of its labels, or of its class of every target.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from .._typing import AnyArray, Array, Labels, Mask
from ..engine import engine_of
from .base import Loss
from .links import HUGE, log_softmax, softmax


@dataclass(eq=False, repr=False)
class BlockLogistic(Loss):
    """The sum of the log-losses of labels, or of several class targets.

    `SimplexBoostClassifier` uses it in place of `Logistic` if y is a matrix.

    Parameters
    ----------
    sets : array of shape (S, K)
        What may be true of a row, as rows of zeros and ones: its labels, or one class of every target.
    widths : tuple of int or None, default=None
        The number of columns of every class target; None if every column is a label.

    Examples
    --------
    Two labels, of which the row has the first one; and two targets, of two and three classes.

    >>> BlockLogistic([[1, 0]]).residual(np.zeros((1, 2)), np.array([0]))
    array([[ 1., -1.]])
    >>> loss = BlockLogistic([[1, 0, 0, 0, 1]], widths=(2, 3))
    >>> loss.value(np.zeros((1, 5)), np.array([0])) / np.log(2 * 3)
    array([1.])
    """

    sets: ArrayLike
    widths: tuple[int, ...] | None = None

    convex = True
    blockwise: ClassVar[bool] = True

    def value(self, U: Array, c: Labels) -> Array:
        return self.values(U, c).sum(axis=1)

    def values(self, U: Array, c: Labels) -> Array:
        """The loss of every block of every example, (n, B)."""
        own = self.own(c)
        if self.widths is None:
            return np.logaddexp(0.0, np.where(own, -2.0, 2.0) * clipped(U))
        return np.column_stack(
            [-np.where(own[:, of], log_softmax(U[:, of], 2.0), 0.0).sum(axis=1) for of in self.blocks(U.shape[1])]
        )

    def residual(self, U: Array, c: Labels) -> Array:
        return 2.0 * (self.own(c) - self.probabilities(U))

    def curvature(self, U: Array, c: Labels, Y: Array) -> Array:
        """The diagonal of the Hessian in F, Σ_blocks (Σ_k p_k y_k² − (Σ_k p_k y_k)²), where U = ½ F Yᵀ; (n, d)."""
        P, times = self.probabilities(U), engine_of(U).times
        if self.widths is None:
            return times(P * (1.0 - P), np.square(Y))
        bends = [times(P[:, of], np.square(Y[of])) - np.square(times(P[:, of], Y[of])) for of in self.blocks(len(Y))]
        return np.sum(bends, axis=0)

    def probabilities(self, U: Array) -> Array:
        """σ(2U) of every label, or softmax(2U) of every target, (n, K)."""
        if self.widths is None:
            return expit(2.0 * clipped(U))
        return np.hstack([softmax(U[:, of], 2.0) for of in self.blocks(U.shape[1])])

    def falls_forever(self, W: Array, c: Labels, strictly: bool = False) -> bool:
        """Whether labels gain and others lose, or the class of every target gains on its rivals."""
        own, inf = self.own(c), np.inf
        if self.widths is None:
            gains = np.where(own, W, -W)
        else:
            gains = np.column_stack(
                [
                    np.where(own[:, of], W[:, of], inf).min(axis=1) - np.where(own[:, of], -inf, W[:, of]).max(axis=1)
                    for of in self.blocks(W.shape[1])
                ]
            )
        return engine_of(W).every(gains > 0 if strictly else gains >= 0)

    def threshold(self, U: Array, c: Labels, weight: Array) -> Array | None:
        """None: the flagship has a threshold for every label."""
        return None

    def own(self, c: Labels) -> Mask:
        """The columns that are true of every row, (n, K)."""
        return np.asarray(self.sets, dtype=bool)[c]

    @property
    def table(self) -> AnyArray:
        """The sets as zeros and ones, (S, K) uint8."""
        return np.ascontiguousarray(self.sets, dtype=np.uint8)

    def blocks(self, K: int) -> Iterator[slice]:
        """The columns of every block, of K columns."""
        ends = list(accumulate(self.widths or (1,) * K))
        return (slice(begin, end) for begin, end in zip([0, *ends], ends, strict=False))

    def check(self, K: int) -> None:
        """Raise unless the sets and the blocks have K columns."""
        if np.shape(self.sets)[1] != K or (self.widths is not None and sum(self.widths) != K):
            raise ValueError(
                f"sets of shape {np.shape(self.sets)} and widths={self.widths} do not have K={K} columns each."
            )


def clipped(U: Array) -> Array:
    """Scores whose multiples are finite."""
    return np.clip(np.asarray(U, dtype=np.float64), -HUGE, HUGE)
