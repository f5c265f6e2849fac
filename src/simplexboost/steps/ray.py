"""What a step is chosen from, the risk along a direction, U + α W; and what a choice consists of."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from .._cached import cached
from .._typing import Array, Labels, Mask
from ..losses import MM, Exponential, Loss, margins
from ..losses.base import CEILING


@dataclass(frozen=True)
class Stride:
    """A step length, and what the step rule found out on the way.

    Attributes
    ----------
    alpha : the step, 0 where there is none to take
    perfect : whether the learner alone, taken far enough, brings the risk to its infimum
    edge : how much better than nothing the learner is, at most 1, as the paper of the rule measures it; or None
    error : the learner's weighted error, or None
    drop : α → the factor by which a bound on the training error changes with that step, or None
    stop : why there is no step to take, or None
    """

    alpha: float
    perfect: bool = False
    edge: float | None = field(default=None, compare=False)
    error: float | None = field(default=None, compare=False)
    drop: Callable[[float], float] | None = field(default=None, compare=False)
    stop: str | None = field(default=None, compare=False)


class Ray:
    """The risk along a direction: what a step is chosen from.

    Attributes
    ----------
    loss, U (n, K), c (n,), weight (n,), K : what the risk is made of, at its present scores
    W : (n, K) the direction in scores; like U it may be given as a function, called when it is first asked for
    P, own : (n, K) the residual, sample weights included, up to a positive factor; (n,) its part of the true class
    classes : (n,) the class the learner names for every example, or None where it gives other answers
    gap : what a right answer gains on every rival, in scores, where that is the same for all classes; else None
    """

    def __init__(
        self,
        loss: Loss,
        U: Array | Callable[[], Array],
        c: Labels,
        weight: Array,
        W: Array | Callable[[], Array],
        P: Array | Callable[[], Array] | None = None,
        own: Array | None = None,
        classes: Labels | None = None,
        gap: float | None = None,
        K: int | None = None,
    ) -> None:
        self.loss, self.c, self.weight = loss, c, weight
        self.classes, self.gap = classes, gap
        self._U, self._W, self._P, self._own, self._K = U, W, P, own, K

    @cached
    def U(self) -> Array:
        """The scores now."""
        return self._U() if callable(self._U) else self._U

    @property
    def K(self) -> int:
        """The number of classes."""
        return self.U.shape[1] if self._K is None else self._K

    @cached
    def W(self) -> Array:
        """The direction in scores."""
        return self._W() if callable(self._W) else self._W

    @cached
    def P(self) -> Array:
        """The residual, scaled."""
        if self._P is None:
            return self.loss.scaled_residual(self.U, self.c)[0] * self.weight[:, None]
        return self._P() if callable(self._P) else self._P

    @cached
    def own(self) -> Array:
        """The residual of the true class, (n,)."""
        return self.P[np.arange(len(self.c)), self.c] if self._own is None else self._own

    @cached
    def right(self) -> Mask:
        """Which examples the learner is right about, (n,)."""
        return margins(self.W, self.c) > 0 if self.classes is None else self.classes == self.c

    def risk(self, alpha: float) -> float:
        """Σ_i w_i L_i at α."""
        return float(self.weight @ self.loss.value(self.U + alpha * self.W, self.c))

    def slope(self, alpha: float) -> tuple[float, float | None]:
        """First and second derivative of the risk at α, in units of the total of |first| (the scale cancels)."""
        first, second, _ = self.loss.along(self.U, self.c, self.W, alpha)
        unit = float(self.weight @ np.abs(first)) or 1.0
        return float(self.weight @ first) / unit, None if second is None else float(self.weight @ second) / unit

    def endless(self, max_step: float) -> Stride | None:
        """The capped step where no example ever loses along the ray, so that the best step is infinite; else None."""
        if not self.loss.falls_forever(self.W, self.c):
            return None
        return Stride(max_step, perfect=self.loss.falls_forever(self.W, self.c, strictly=True))

    def balance(self) -> Balance:
        """What gains and what loses along the ray, for losses that are sums of exponentials."""
        if self.classes is not None and self.gap is not None and isinstance(self.loss, Exponential | MM):
            return self._vote()
        weight, fall = self.loss.terms(self.P, self.W, self.c)  # (n, m) each
        rate = float(np.abs(fall).max())
        gains, loses = fall > 1e-9 * rate, fall < -1e-9 * rate
        even = bool((np.abs(np.abs(fall[gains | loses]) - rate) <= 1e-5 * rate).all())
        faultless = not loses.any()
        return Balance(
            gained=float(weight[gains] @ (fall[gains] / rate)),
            lost=-float(weight[loses] @ (fall[loses] / rate)),
            total=float(weight.sum()),
            rate=rate,
            even=even,
            faultless=faultless,
            perfect=faultless and self.loss.falls_forever(self.W, self.c, strictly=True),
        )

    def _vote(self) -> Balance:
        """The same where the learner names classes: right answers gain on all rivals, wrong ones lose to one."""
        assert self.classes is not None and self.gap is not None and isinstance(self.loss, Exponential | MM)
        gained, lost, total, wrong = self.loss.vote_sums(self.P, self.c, self.classes)
        return Balance(gained, lost, total, self.loss.rate * self.gap, True, wrong == 0, perfect=wrong == 0)


@dataclass(frozen=True)
class Balance:
    """The terms of an exponential loss along a ray.

    Attributes
    ----------
    gained, lost : the weight of the terms that fall and of those that rise, each times its pace (1 for the fastest)
    total : the weight of all terms
    rate : the fastest pace, the change of an exponent per unit of the step
    even : whether all terms that move have the same pace
    faultless, perfect : whether no term rises; whether every term falls
    """

    gained: float
    lost: float
    total: float
    rate: float
    even: bool
    faultless: bool
    perfect: bool

    @property
    def edge(self) -> float:
        """δ = (gained − lost) / total."""
        return (self.gained - self.lost) / self.total if self.total > 0 else 0.0

    def drop_of_edge(self, alpha: float) -> float:
        """At most by this factor the risk changes with a step α, whatever the learner (Lemma 24)."""
        a, delta = self.rate * alpha, self.edge
        return 0.5 * ((1 - delta) * capped_exp(a) + (1 + delta) * math.exp(-a))

    def drop(self, alpha: float) -> float:
        """By this factor the risk changes with a step α, where all terms that move have the same pace."""
        a, gained, lost = self.rate * alpha, self.gained / self.total, self.lost / self.total
        return 1 - gained - lost + gained * math.exp(-a) + lost * capped_exp(a)


def capped_exp(x: float) -> float:
    """e^x, or e^700 where x is larger: what a step far too long does to a bound need not be known exactly."""
    return math.exp(min(x, CEILING))
