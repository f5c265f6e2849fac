"""Sums of exponentials over the rivals, γ(v) = v: the losses of AdaBoost and AdaBoost.MM."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from .._typing import Array, Labels
from ..codewords.code import Code
from ..engine import CPU, Engine, engine_of
from .balance import Along, Balance
from .carried import CarriedObjective
from .gamma_phi import ExponentialPhi
from .links import softmax
from .objective import Objective


class LinearGamma(ExponentialPhi):
    """γ(v) = v: the loss is the sum of exponentials itself, which may overflow; its logarithm does not."""

    convex = True
    exponential = True
    pairwise = True

    def objective(self, c: Labels, weight: Array, code: Code, engine: Engine = CPU) -> Objective:
        return CarriedObjective(self, c, weight, code, engine)

    def balance(self, along: Along) -> Balance:
        if along.classes is None or along.gap is None:
            return super().balance(along)
        # A right answer gains on all rivals; a wrong one loses to one rival.
        P, c, rows, engine = along.P, along.c, np.arange(len(along.c)), along.engine
        right, own = along.classes == c, P[rows, c]  # (n,) each
        gained, total = engine.total(np.where(right, own, 0.0)), engine.total(own)
        lost = -engine.total(np.where(right, 0.0, P[rows, along.classes]))
        faultless = engine.every(right)
        return Balance(gained, lost, total, self.rate * along.gap, True, faultless, perfect=faultless)

    def terms(self, P: Array, W: Array, c: Labels) -> tuple[Array, Array]:
        rows = np.arange(len(c))
        weight = -P  # (n, K), a term for every rival
        weight[rows, c] = 0.0
        return weight, self.rate * (W[rows, c][:, None] - W)

    def total(self, P: Array, c: Labels) -> float:
        return engine_of(P).total(P[np.arange(len(c)), c]) / self.rate

    def vote(self, P: Array, own: Array, c: Labels, classes: Labels, gain: float) -> None:
        """Update the residual P (n, K), and `own` (n,), its entries at the true classes, for votes for `classes` (n,).

        A right answer raises the true class's score by `gain` over every rival; a wrong one lowers it by `gain` against
        the rival it names.
        """
        factor = math.exp(self.rate * gain)
        engine_of(P).vote_rows(P, c, classes, factor, 1.0 / factor, own)

    def _log_gamma(self, s: Array) -> Array:
        return s

    def _log_weight(self, s: Array) -> Array:
        return math.log(self.rate) + s

    def _bend(self, s: Array) -> float:
        return 1.0

    def _weights(self, s: Array) -> tuple[Array, float]:
        log_w = self._log_weight(s)
        log_scale = engine_of(log_w).largest(log_w)
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
