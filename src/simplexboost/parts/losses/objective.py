"""Evaluates a loss on a training set: the risk R(F) = Σ_i w_i L(U_i, c_i) with U = ½ F Yᵀ, and its gradient.

`Objective` evaluates its loss anew in every round. A loss that can do better, because it can carry its residual from
round to round or needs only the scores of the true classes, has its own kind of objective (`Loss.objective`).

For line searches along a coordinate, it merges rivals that move alike, so that a sum over rivals has few terms, not K.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._util.arrays import AnyArray, Array, Labels, Mask
from ..._util.compat import cached
from ...engine import CPU, Engine
from ...model.code import Code, Gradient

if TYPE_CHECKING:
    from .base import Loss

# Exponents are limited to this: exp(700) ≈ 1e304 is four powers of ten below the largest float.
CEILING = 700.0

# The least weight of merged rivals beside the strongest rival of the row: far too small to count, and its logarithm is
# finite.
_LEAST = 1e-300


class Rivals:
    """The rivals of every example, for losses γ(Σ_{k≠c} e^{−a(u_c − u_k)}) along one coordinate of F after another.

    Classes whose codewords have the same entry in a coordinate move alike along it. Their terms stay in proportion, so
    that they count as one rival of the weight Σ e^{a u_k}. A simplex has at most three different entries in a
    coordinate, whatever the number of classes: on 26 classes a line search takes a seventh of the time.

    Parameters
    ----------
    E : array of shape (n, K)
        The terms of the rivals, e^{a(u_k − top)} with the highest rival's score as ``top``; 0 for the true class.
    lead : array of shape (n,)
        The score of the true class above ``top``.
    c : array of shape (n,)
        The true classes.
    rate : float
        a.

    Examples
    --------
    >>> E = np.array([[0.0, 1.0, 0.5, 0.5]])  # of class 0 and three rivals
    >>> rivals = Rivals(E, np.zeros(1), np.array([0]), 1.0)
    >>> merged = rivals.along(np.array([1.0, -1.0, 0.0, 0.0]), np.ones(1))
    >>> merged.there[:, 0]  # rivals with the entries -1 and 0, and none with 1
    array([ True,  True, False])
    >>> merged.race(0.0)  # log Σ E, and the mean and the variance of what rivals gain on the true class
    (array([0.69314718]), array([-1.5]), array([0.25]))
    """

    def __init__(self, E: Array, lead: Array, c: Labels, rate: float) -> None:
        self.terms = np.ascontiguousarray(E.T)  # (K, n): sums of rows are quick
        self.lead, self.c, self.rate = lead, c, rate

    def along(self, entries: Array, h: Array) -> MergedRivals:
        """The rivals, merged, for the direction in which class k moves by h (n,) times entries[k]."""
        different, which = np.unique(entries, return_inverse=True)
        mass = np.zeros((len(different), len(h)))  # (V, n)
        for v, term in zip(which, self.terms, strict=True):
            mass[v] += term
        gains = h * (different[:, None] - entries[self.c])  # (V, n)
        return MergedRivals(mass, gains, self.lead, self.rate)


class MergedRivals:
    """V merged rivals of n examples: their weights (V, n), and what they gain on the true class per step (V, n)."""

    def __init__(self, mass: Array, gains: Array, lead: Array, rate: float) -> None:
        self.there: Mask = mass > 0
        self.gains, self.lead, self.rate = gains, lead, rate
        self.log_mass = np.log(np.maximum(mass, _LEAST))

    def log_sum(self, alpha: float) -> tuple[Array, Array]:
        """s (n,), the logarithm of the sum of all terms after a step α; the terms (V, n) beside the highest."""
        x = self.gains * (self.rate * alpha)
        x += self.log_mass
        top = x.max(axis=0)
        x -= top
        e = np.exp(x, out=x)
        return top + np.log(e.sum(axis=0)) - self.rate * self.lead, e

    def race(self, alpha: float) -> tuple[Array, Array, Array]:
        """s (n,), and the mean and the variance of the gains, weighted by the terms, after a step α."""
        s, e = self.log_sum(alpha)
        e /= e.sum(axis=0)
        mean = (e * self.gains).sum(axis=0)
        e *= np.square(self.gains - mean)
        return s, mean, e.sum(axis=0)


def pays(entries: Array) -> bool:
    """Whether merging halves the number of terms at least."""
    return 2 * (1 + len(np.unique(entries))) <= len(entries)


class Objective:
    """The risk of a loss on a training set; evaluates the loss anew in every round.

    Parameters
    ----------
    loss : Loss
        The loss whose mean is the risk.
    c : array of shape (n,)
        The targets.
    weight : array of shape (n,)
        The weights of the examples, positive.
    code : Code
        The codewords.
    engine : Engine
        What does the heavy computations; one thread by default.

    Examples
    --------
    >>> from simplexboost.model.code import Code
    >>> from simplexboost.parts.losses import Logistic
    >>> objective = Objective(Logistic(), np.array([0, 1]), np.ones(2), Code(np.eye(2)))
    >>> objective.loss
    Logistic()
    """

    def __init__(self, loss: Loss, c: Labels, weight: Array, code: Code, engine: Engine = CPU) -> None:
        self.loss, self.c, self.weight, self.code, self.engine = loss, c, weight, code, engine
        self._weighted = not engine.rows.every(weight == 1.0)

    @cached
    def _buffer(self) -> Array:
        """The memory of P (n, K), reused in every round: to allocate it anew would take longer than to fill it."""
        return np.empty((len(self.c), len(self.code.Y)))

    def gradient(self, F: AnyArray, U: Callable[[], Array], n_rounds: int, scaled: bool = True) -> Gradient:
        """Minus the gradient of the risk at F (n, d) and its scores U (n, K), after `n_rounds` rounds.

        If `scaled`, it is correct up to a positive factor, which is chosen so that P neither overflows nor underflows.
        """
        P, log_scale = self._residual(U(), scaled)
        total = self.loss.total(P, self.c, self.engine)
        return self.of_residual(P, None if total is None else self._mean(total, log_scale))

    def _residual(self, U: Array, scaled: bool) -> tuple[Array, float]:
        """The weighted residual (n, K) up to a factor, and the logarithm of that factor."""
        if scaled:
            P, log_scale = self.loss.scaled_residual_into(U, self.c, self._buffer, self.engine)
        else:
            P, log_scale = self.loss.residual(U, self.c), 0.0
        return (np.multiply(P, self.weight[:, None], out=self._buffer) if self._weighted else P), log_scale

    def of_residual(self, P: Array, risk: float | None = None) -> Gradient:
        """The gradient, from the weighted residual (n, K)."""
        labels, weight = self.loss.question(P, self.c)
        return Gradient(labels, weight, P, self.code, risk=risk)

    def curvature(self, U: Array) -> Array:
        """The trace of the Hessian in F of every example, (n,)."""
        return self.weight * self.loss.curvature(U, self.c, self.code.Y, self.engine).sum(axis=1)

    def to_device(self, F: Any) -> Any:
        """F (n, d) in the memory where it is read fastest: the array itself, or a copy on a device."""
        return F

    def follow_votes(self, classes: Labels, step: float, n_rounds: int) -> None:
        """Called after a round, the n-th, whose step was along votes for `classes` (n,)."""

    def rounds_to_replay(self, n_rounds: int) -> int:
        """How many of the last rounds a model that goes on must go through again, for what they leave to later ones."""
        return 0

    def risk(self, F: AnyArray) -> float:
        """The mean weighted loss at F (n, d)."""
        return mean_loss(self.loss, self.code, F, self.c, self.weight, self.engine)

    def on_device(self, X: AnyArray, c: Labels, weight: Array, engine: Engine) -> Any:
        """Other rows X on the engine's device, and their objective, which is evaluated there; None if it has no device.

        Rows with target −1 are left out of the risk.
        """
        return None

    def _mean(self, total: float, log_scale: float) -> float:
        """The mean loss, from the total up to the factor exp(log_scale); finite where that is far too large."""
        return total * math.exp(min(log_scale, CEILING)) / self._weights

    @cached
    def _weights(self) -> float:
        """The sum of the weights."""
        return self.engine.rows.total(self.weight)


def mean_loss(loss: Loss, code: Code, F: AnyArray, c: Labels, weight: Array, engine: Engine = CPU) -> float:
    """The weighted mean of the loss at F (n, d), in blocks of rows, so that n × K scores are never stored at once."""
    block = max(1, 2**22 // len(code.Y))  # 32 MB of scores
    values = np.empty(len(F))
    for i in range(0, len(F), block):
        rows = slice(i, i + block)
        values[rows] = loss.value(code.scores(F[rows]), c[rows])
    return engine.rows.total(weight * values) / engine.rows.total(weight)
