"""Defines the exponential losses of AdaBoost and AdaBoost.MM, which are sums of exponentials over the rivals.

They are γ–φ losses with γ(v) = v. A vote multiplies only a few entries of their residual, which is therefore updated
from round to round. Of losses that depend on the true class's score only, the gradient costs O(n).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ... import _kernels
from ..._util.arrays import AnyArray, Array, Labels
from ...engine import CPU, Engine
from ...model.code import Code, Gradient
from .gamma_phi import ExponentialPhi
from .links import Link, softmax
from .objective import Objective

if TYPE_CHECKING:
    from .scores import OwnScoreExponential

# Residuals are carried from round to round, and computed anew after this many rounds, so that rounding errors do not
# add up.
REFRESH = 16
MOST_CARRIED = 20.0  # a vote that changes an exponent by more than this would lose digits


class CarriedObjective(Objective):
    """For sums of exponentials over rivals: votes only multiply a few entries of the residual, so it is carried on."""

    def __init__(self, loss: LinearGamma, c: Labels, weight: Array, code: Code, engine: Engine = CPU) -> None:
        super().__init__(loss, c, weight, code, engine)
        self._rate = loss.rate
        self._known: int | None = None  # the number of rounds after which the residual is known
        self._P, self._own = np.empty((0, 0)), np.empty(0)  # it (n, K), and its entries at the true classes (n,) …
        self._log_scale = 0.0  # … both divided by the exponential of this

    def gradient(self, F: AnyArray, U: Callable[[], Array], n_rounds: int, scaled: bool = True) -> Gradient:
        """The gradient from the residual that was carried to this round; if there is none, it is computed anew."""
        if not scaled:
            return super().gradient(F, U, n_rounds, scaled)
        if self._known != n_rounds:
            self._P, self._log_scale = self._residual(U(), scaled)
            self._own, self._known = self._P[np.arange(len(self.c)), self.c], n_rounds
        risk = self._mean(self.engine.rows.total(self._own) / self._rate, self._log_scale)
        return Gradient(self.c, self._own, self._P, self.code, risk=risk)

    def follow_votes(self, classes: Labels, step: float, n_rounds: int) -> None:
        """Update the residual: a right answer gains on all rivals, a wrong one loses to the rival that it names."""
        gap, known, self._known = self.code.gap, self._known, None
        if gap is None or known != n_rounds - 1 or n_rounds % REFRESH == 0:
            return
        change = self._rate * (step * gap)  # of the exponents
        if not change < MOST_CARRIED:
            return
        factor = math.exp(change)
        _kernels.vote_rows(self._P, self.c, classes, factor, 1.0 / factor, self._own)
        self._known = n_rounds

    def rounds_to_replay(self, n_rounds: int) -> int:
        return 0 if self.code.gap is None else n_rounds % REFRESH


class OwnScoreObjective(Objective):
    """For losses of the true class's score only: the rivals do not matter, and a gradient costs O(n)."""

    def __init__(self, loss: OwnScoreExponential, c: Labels, weight: Array, code: Code, engine: Engine = CPU) -> None:
        super().__init__(loss, c, weight, code, engine)
        self._rate, self._weights_of = loss.rate, loss.weights_of

    def gradient(self, F: AnyArray, U: Callable[[], Array], n_rounds: int, scaled: bool = True) -> Gradient:
        """The gradient, from the scores of the true classes."""
        if not scaled:
            return super().gradient(F, U, n_rounds, scaled)
        K = len(self.code.Y)
        own, log_scale = self._weights_of(self.code.own_scores(F, self.c), K, self.engine)
        own = own * self.weight
        risk = self._mean(self.engine.rows.total(own) / self._rate(K), log_scale)
        return Gradient(self.c, own, lambda: spread_out(own, self.c, K), self.code, single=True, risk=risk)


def spread_out(own: Array, c: Labels, K: int) -> Array:
    """A matrix (n, K) with these numbers (n,) in the columns of the true classes and zeros elsewhere."""
    P = np.zeros((len(c), K))
    P[np.arange(len(c)), c] = own
    return P


class LinearGamma(ExponentialPhi):
    """γ(v) = v: the loss is the sum of exponentials itself, which may overflow; its logarithm does not."""

    convex = True
    exponential = True
    pairwise = True

    def objective(self, c: Labels, weight: Array, code: Code, engine: Engine = CPU) -> Objective:
        return CarriedObjective(self, c, weight, code, engine)

    def terms(self, P: Array, W: Array, c: Labels) -> tuple[Array, Array]:
        rows = np.arange(len(c))
        weight = -P  # (n, K), a term for every rival
        weight[rows, c] = 0.0
        return weight, self.rate * (W[rows, c][:, None] - W)

    def total(self, P: Array, c: Labels, engine: Engine = CPU) -> float:
        return engine.rows.total(P[np.arange(len(c)), c]) / self.rate

    def _log_gamma(self, s: Array) -> Array:
        return s

    def _log_weight(self, s: Array) -> Array:
        return math.log(self.rate) + s

    def _bend(self, s: Array) -> float:
        return 1.0

    def _weights(self, s: Array, engine: Engine) -> tuple[Array, float]:
        log_w = self._log_weight(s)
        log_scale = engine.rows.largest(log_w)
        return np.exp(log_w - log_scale), log_scale

    def _closed_form(self, U: Array) -> Array:
        return softmax(U, 2.0 * self.rate)


@dataclass(eq=False, repr=False)
class Exponential(LinearGamma):
    """AdaBoost's loss, ``Σ_{k≠c} e^{−(U_c − U_k)}``: γ(v) = v, φ(v) = e^{−v}. Posterior softmax(2 U).

    Parameters
    ----------
    cost_matrix : array of shape (K, K), optional
        Weight of the pair (true class, rival). With costs the posterior comes from `posterior_system`.

    Examples
    --------
    >>> loss = Exponential()
    >>> U, c = np.array([[1.0, 0.0, 0.0]]), np.array([0])
    >>> loss.value(U, c).round(4)
    array([0.7358])
    >>> loss.residual(U, c).round(4)
    array([[ 0.7358, -0.3679, -0.3679]])
    """

    cost_matrix: ArrayLike | None = None
    rate: ClassVar[float] = 1.0
    _closed_link: ClassVar[Link] = Link("softmax", 2.0)


@dataclass(eq=False, repr=False)
class MM(LinearGamma):
    """AdaBoost.MM's loss, ``Σ_{k≠c} e^{−2(U_c − U_k)}``: γ(v) = v, φ(v) = e^{−2v}. Posterior softmax(4 U).

    Parameters
    ----------
    cost_matrix : array of shape (K, K), optional
        Weight of the pair (true class, rival). With costs the posterior comes from `posterior_system`.

    Examples
    --------
    >>> MM().log_value(np.array([[1000.0, 0.0]]), np.array([1]))
    array([2000.])
    """

    cost_matrix: ArrayLike | None = None
    rate: ClassVar[float] = 2.0
    _closed_link: ClassVar[Link] = Link("softmax", 4.0)
