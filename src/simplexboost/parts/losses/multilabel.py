"""Defines losses for rows with several labels or several class targets.

The target c_i of row i is an index into ``sets`` (S, K): row c_i of ``sets`` is 1 in the columns of the labels, or of
the class of every target. The log-loss sums, over blocks of columns, −log of the probability of the true outcome. A
label is a block of one column of U (n, K), with probability σ(2U_k), σ being the logistic function. A class target is a
block with a column per class, with probabilities softmax(2U) over the block.

If every row has one label, the Hamming loss agrees with `OneVsAll` and the ranking loss with `Exponential`, up to a
factor. If y is an indicator matrix, boosters use the Hamming and the ranking loss instead (`for_label_sets`).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from ..._util.arrays import Array, Labels, Mask
from ...engine import CPU, Engine
from .base import ExponentialSum, Loss, Scaled, Slopes, saturated_exp
from .gamma_phi import Exponential, Logistic
from .links import Link, clip_scores, log_softmax, softmax
from .scores import OneVsAll, strongest_class


class LabelSets(Loss):
    """The base class of losses on label sets; the target c_i of row i is the index of its set in ``sets``.

    Parameters
    ----------
    sets : array of shape (S, K)
        The S label sets that occur, as rows of zeros and ones: 1 for a label of the row, or for its class of a target.
    """

    sets: ArrayLike

    def own(self, c: Labels) -> Mask:
        """Return a mask (n, K), true in the columns of every row's labels; c (n,) are indices of rows of ``sets``."""
        return np.asarray(self.sets, dtype=bool)[c]

    def question(self, P: Array, c: Labels) -> tuple[Labels, Array]:
        return strongest_class(P)


class BlockLogistic(LabelSets):
    """The sum of the log-losses of several labels, or of several class targets.

    `SimplexBoostClassifier` uses this loss in place of `Logistic` if y is a matrix.

    Parameters
    ----------
    widths : tuple of int or None, default=None
        The number of classes of every target, which is its number of columns; None if every column is a label.

    Examples
    --------
    First a row that has the first of two labels; then a row with two targets, of two and of three classes.

    >>> BlockLogistic([[1, 0]]).residual(np.zeros((1, 2)), np.array([0]))
    array([[ 1., -1.]])
    >>> loss = BlockLogistic([[1, 0, 0, 0, 1]], widths=(2, 3))
    >>> loss.value(np.zeros((1, 5)), np.array([0])) / np.log(2 * 3)
    array([1.])
    """

    widths: tuple[int, ...] | None = None

    convex = True

    def value(self, U: Array, c: Labels) -> Array:
        own = self.own(c)
        if self.widths is None:
            return np.logaddexp(0.0, np.where(own, -2.0, 2.0) * clip_scores(U)).sum(axis=1)
        of_blocks = [-np.where(own[:, of], log_softmax(U[:, of], 2.0), 0.0).sum(axis=1) for of in self.blocks]
        return np.column_stack(of_blocks).sum(axis=1)

    def residual(self, U: Array, c: Labels) -> Array:
        return 2.0 * (self.own(c) - self.probabilities(U))

    def curvature(self, U: Array, c: Labels, Y: Array, engine: Engine = CPU) -> Array:
        # The sum over blocks of the variance of the codewords' entries, Σ_k p_k y_k² − (Σ_k p_k y_k)².
        P, times = self.probabilities(U), engine.compute.times
        if self.widths is None:
            return times(P * (1.0 - P), np.square(Y))
        bends = [times(P[:, of], np.square(Y[of])) - np.square(times(P[:, of], Y[of])) for of in self.blocks]
        return np.sum(bends, axis=0)

    def probabilities(self, U: Array) -> Array:
        if self.widths is None:
            return expit(2.0 * clip_scores(U))
        return np.hstack([softmax(U[:, of], 2.0) for of in self.blocks])

    def gains(self, W: Array, c: Labels) -> Array:
        own = self.own(c)
        if self.widths is None:
            return np.where(own, W, -W)
        return np.column_stack([lead_of_labels(W[:, of], own[:, of]) for of in self.blocks])

    @property
    def blocks(self) -> Iterator[slice]:
        """The column slices of U (n, K), one for every class target."""
        return (slice(begin, end) for begin, end in pairwise(accumulate(self.widths or (), initial=0)))

    def check(self, K: int) -> None:
        if np.shape(self.sets)[1] != K or (self.widths is not None and sum(self.widths) != K):
            raise ValueError(
                f"sets of shape {np.shape(self.sets)} and widths={self.widths} do not have K={K} columns each."
            )


def for_label_sets(
    loss: Loss, sets: ArrayLike, widths: tuple[int, ...] | None = None
) -> MultilabelHamming | MultilabelRanking | BlockLogistic:
    """Return the loss for rows with several labels or class targets that corresponds to ``loss``.

    "one-vs-all" becomes the loss of AdaBoost.MH, "exponential" that of AdaBoost.MR, and "logistic" the sum of
    log-losses.

    Parameters
    ----------
    loss : Loss
        The loss that the booster uses for rows with one label.
    sets : array of shape (S, K)
        The label sets that occur, as rows of zeros and ones.
    widths : tuple of int or None, default=None
        For the logistic loss, the number of classes of every target; None for labels.

    Examples
    --------
    >>> for_label_sets(OneVsAll(), np.eye(2)).value(np.zeros((1, 2)), np.array([1]))
    array([2.])
    """
    if isinstance(loss, Logistic) and loss.cost_matrix is None:
        return BlockLogistic(sets, widths)
    if isinstance(loss, OneVsAll):
        return MultilabelHamming(sets)
    if isinstance(loss, Exponential) and loss.cost_matrix is None:
        return MultilabelRanking(sets)
    raise TypeError(
        f"loss={loss!r} takes one label per example; for several use 'logistic', 'one-vs-all' or "
        "'exponential', without costs."
    )


class MultilabelHamming(LabelSets, OneVsAll):
    """The loss of AdaBoost.MH, ``Σ_k e^{−z_k f_k}`` with f = 2 U and z_k = 1 for labels of the row, −1 otherwise.

    The probability of label k is σ(2 f_k), with σ the logistic function, separately for every label.

    Examples
    --------
    >>> loss = MultilabelHamming([[1, 0, 1], [0, 0, 0]])
    >>> loss.residual(np.zeros((2, 3)), np.array([0, 1]))
    array([[ 2., -2.,  2.],
           [-2., -2., -2.]])
    """

    def _toward(self, B: Array, c: Labels) -> Array:
        B *= 2.0 * self.own(c) - 1.0
        return B

    def mistake(self, K: int) -> float:
        return float(K)  # a wrong label costs at least 1, so that loss / K bounds the Hamming loss

    def threshold(self, U: Array, c: Labels, weight: Array) -> Array:
        return np.zeros(U.shape[1] + 1)  # labels are the classes with a positive score

    def link_formula(self, K: int) -> Link | None:
        return Link("sigmoid", 4.0)


class MultilabelRanking(LabelSets, ExponentialSum):
    """The loss of AdaBoost.MR, the mean of ``e^{−(U_k − U_l)}`` over pairs of a label k and a class l that is no label.

    The mean equals (mean_k e^{−U_k}) (mean_l e^{U_l}), so no pairs are formed. An example with no label, or with all of
    them, has no pairs and loss 0. There are no class probabilities: ``probabilities`` returns σ(2 U), which is a score
    (σ is the logistic function).

    Examples
    --------
    >>> loss = MultilabelRanking([[1, 0, 1], [0, 0, 0]])
    >>> loss.value(np.zeros((2, 3)), np.array([0, 1])), loss.residual(np.zeros((1, 3)), np.array([0]))
    (array([1., 0.]), array([[ 0.5, -1. ,  0.5]]))
    """

    def value(self, U: Array, c: Labels) -> Array:
        return saturated_exp(self.log_value(U, c)) * self._ranked(c)

    def log_value(self, U: Array, c: Labels) -> Array:
        return self._halves(U, c)[0]

    def residual(self, U: Array, c: Labels) -> Array:
        log_value, A, B = self._halves(U, c)
        P: Array = (saturated_exp(log_value) * self._ranked(c))[:, None] * (A - B)
        return P

    def scaled_residual(self, U: Array, c: Labels, engine: Engine = CPU, out: Array | None = None) -> Scaled:
        log_value, A, B = self._halves(U, c)
        shift = engine.rows.largest(log_value)
        P: Array = (np.exp(log_value - shift) * self._ranked(c))[:, None] * (A - B)
        return P, shift

    def along(self, U: Array, c: Labels, W: Array, alpha: float = 0.0, engine: Engine = CPU) -> Slopes:
        log_value, A, B = self._halves(U + alpha * W, c)
        shift = engine.rows.largest(log_value)
        value = np.exp(log_value - shift) * self._ranked(c)
        up, down = (np.einsum("nk,nk->n", half, W) for half in (A, B))  # means of W over labels and over the rest
        spread = np.einsum("nk,nk->n", A + B, W * W) - 2 * up * down  # the mean of (W_k − W_l)² over pairs
        return -value * (up - down), value * spread, shift

    def terms(self, P: Array, W: Array, c: Labels) -> tuple[Array, Array]:
        # The terms are pairs; if W has few different values, like ±1, all pairs with the same two values form one term.
        levels = np.unique(W)
        if len(levels) < W.shape[1]:
            member = W[:, :, None] == levels  # (n, K, v)
            up = np.einsum("nk,nkv->nv", np.maximum(P, 0.0), member)
            down = np.einsum("nk,nkv->nv", np.maximum(-P, 0.0), member)
            W = np.broadcast_to(levels, up.shape)
        else:
            up, down = np.maximum(P, 0.0), np.maximum(-P, 0.0)
        total = up.sum(axis=1, keepdims=True)
        up = np.divide(up, total, out=np.zeros_like(up), where=total > 0)
        weight = up[:, :, None] * down[:, None, :]  # (n, v, v)
        fall = np.where(weight > 0, W[:, :, None] - W[:, None, :], 0.0)
        return weight.reshape(len(W), -1), fall.reshape(len(W), -1)

    def total(self, P: Array, c: Labels, engine: Engine = CPU) -> float:
        return engine.rows.total(np.maximum(P, 0.0).ravel())

    def gains(self, W: Array, c: Labels) -> Array:
        return lead_of_labels(W, self.own(c))  # inf without pairs

    def threshold(self, U: Array, c: Labels, weight: Array) -> Array:
        # Elisseeff & Weston (2001): least squares on the best cuts, those with the fewest mistakes, or their means.
        own, rows = self.own(c), np.arange(len(U))[:, None]
        order = np.argsort(U, axis=1, kind="stable")
        low, own = U[rows, order], own[rows, order]  # scores ascending, and which of them are labels
        ends = np.column_stack([low[:, :1] - 1.0, low, low[:, -1:] + 1.0])
        cuts = 0.5 * (ends[:, 1:] + ends[:, :-1])  # (n, K + 1), above the 0 .. K lowest scores
        nothing = np.zeros((len(U), 1))
        missed = np.hstack([nothing, np.cumsum(own, axis=1)])
        added = np.hstack([nothing, np.cumsum(~own, axis=1)])
        mistakes = missed + added[:, -1:] - added
        best = mistakes == mistakes.min(axis=1, keepdims=True)
        target = (cuts * best).sum(axis=1) / best.sum(axis=1)
        root = np.sqrt(weight)
        A = np.column_stack([U, np.ones(len(U))]) * root[:, None]
        return np.asarray(np.linalg.lstsq(A, target * root, rcond=None)[0])

    def link_formula(self, K: int) -> Link | None:
        return Link("sigmoid", 2.0)

    def _ranked(self, c: Labels) -> Array:
        """Return 1 for examples with at least one label and at least one other class, else 0, (n,)."""
        count = self.own(c).sum(axis=1)
        return np.where((count > 0) & (count < np.shape(self.sets)[1]), 1.0, 0.0)

    def _halves(self, U: Array, c: Labels) -> tuple[Array, Array, Array]:
        """Return log L (n,), and the shares (n, K) of labels in mean e^{−U} and of other classes in mean e^U."""
        own = self.own(c)
        U = clip_scores(U)
        log_up, A = log_mean_exp(-U, own)
        log_down, B = log_mean_exp(U, ~own)
        log_value: Array = np.where(self._ranked(c) > 0, log_up + log_down, np.log(np.finfo(np.float64).tiny))
        return log_value, A, B


def lead_of_labels(W: Array, own: Mask) -> Array:
    """Return, for every row of W (n, K), the lowest entry of a label minus the highest entry of another class, (n,)."""
    return np.where(own, W, np.inf).min(axis=1) - np.where(own, -np.inf, W).max(axis=1)


def log_mean_exp(V: Array, member: Mask) -> tuple[Array, Array]:
    """Return the log of the mean of exp(V) over each row's entries in ``member``, (n,), and their shares, (n, K)."""
    top = np.where(member, V, -np.inf).max(axis=1)
    top = np.where(np.isfinite(top), top, 0.0)
    E = np.where(member, np.exp(np.where(member, V - top[:, None], 0.0)), 0.0)
    total, count = E.sum(axis=1), member.sum(axis=1)
    some = count > 0
    mean = np.divide(total, count, out=np.ones_like(total), where=some)
    return top + np.log(mean), E / np.where(some, total, 1.0)[:, None]
