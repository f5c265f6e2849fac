"""Objectives that save work: residuals carried from round to round, and losses of the true class's score only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from .._typing import AnyArray, Array, Labels
from ..codewords.code import Code
from ..engine import CPU, Engine
from .objective import Gradient, Objective

if TYPE_CHECKING:
    from .exponential import LinearGamma
    from .scores import OwnScoreExponential

# Residuals are carried from round to round, and computed anew after this many rounds, so that rounding errors do not
# add up.
REFRESH = 16
MOST_CARRIED = 20.0  # a vote that changes an exponent by more than this would lose digits


@dataclass(frozen=True, eq=False)
class Carried:
    """The residual P (n, K) after `n_rounds` rounds, over exp(log_scale); own (n,) are its entries at true classes."""

    n_rounds: int
    P: Array
    own: Array
    log_scale: float


class CarriedObjective(Objective):
    """For sums of exponentials over rivals: votes only multiply a few entries of the residual, so it is carried on."""

    def __init__(self, loss: LinearGamma, c: Labels, weight: Array, code: Code, engine: Engine = CPU) -> None:
        super().__init__(loss, c, weight, code, engine)
        self._rate, self._vote = loss.rate, loss.vote
        self._carried: Carried | None = None

    def gradient(self, F: AnyArray, U: Callable[[], Array], n_rounds: int, scaled: bool = True) -> Gradient:
        """The gradient from the residual that was carried to this round; if there is none, it is computed anew."""
        if not scaled:
            return super().gradient(F, U, n_rounds, scaled)
        if self._carried is None or self._carried.n_rounds != n_rounds:
            P, log_scale = self._residual(U(), scaled)
            self._carried = Carried(n_rounds, P, P[np.arange(len(P)), self.c], log_scale)
        carried = self._carried
        risk = self._mean(self.engine.total(carried.own) / self._rate, carried.log_scale)
        return Gradient(carried.P, self.code, self.c, carried.own, risk=risk)

    def voted(self, classes: Labels | None, step: float, n_rounds: int) -> None:
        """Update the residual if the round was a vote."""
        carried, self._carried = self._carried, None
        if classes is None or self.code.gap is None or carried is None:
            return
        if carried.n_rounds != n_rounds - 1 or n_rounds % REFRESH == 0:
            return
        gain = step * self.code.gap
        if self._rate * gain < MOST_CARRIED:
            self._vote(carried.P, carried.own, self.c, classes, gain)
            self._carried = replace(carried, n_rounds=n_rounds)

    def relived(self, n_rounds: int) -> int:
        """The rounds since residuals were computed anew."""
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
        own, log_scale = self._weights_of(self.code.own_scores(F, self.c), K)
        own = own * self.weight
        risk = self._mean(self.engine.total(own) / self._rate(K), log_scale)
        return Gradient(lambda: spread_out(own, self.c, K), self.code, self.c, own, single=True, risk=risk)


def spread_out(own: Array, c: Labels, K: int) -> Array:
    """A matrix (n, K) with these numbers (n,) in the columns of the true classes and zeros elsewhere."""
    P = np.zeros((len(c), K))
    P[np.arange(len(c)), c] = own
    return P
