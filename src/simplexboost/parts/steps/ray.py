"""Computes the risk along a direction, U + α W, from which step rules choose α."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..._util.arrays import Array, Labels, Mask
from ..._util.compat import cached
from ...engine import CPU, Engine
from ...model.code import Gradient
from ..losses.base import Loss, margins
from ..losses.gamma_phi import LinearGamma, MergedRivals
from ..losses.objective import CEILING


class Stride(NamedTuple):
    """A step length, and what else the step rule has found out.

    Attributes
    ----------
    alpha : float
        The step; 0 where no step lowers the risk.
    perfect : bool, default=False
        Whether the learner alone, taken far enough, brings the risk to its infimum.
    edge : float or None, default=None
        How much better than guessing the learner is, at most 1, measured like the paper of the rule does it.
    error : float or None, default=None
        The learner's weighted error.
    drop : callable or None, default=None
        A function of the step that gives the factor by which a bound on the training error changes with it.
    stop : str or None, default=None
        Why there is no step to take.

    Examples
    --------
    >>> Stride(alpha=0.5).perfect
    False
    """

    alpha: float
    perfect: bool = False
    edge: float | None = None
    error: float | None = None
    drop: Callable[[float], float] | None = None
    stop: str | None = None


class Balance(NamedTuple):
    """The terms of an exponential loss along a direction.

    Attributes
    ----------
    gained : Σ weight · speed of the terms that fall; the fastest term has speed 1
    lost : Σ weight · speed of the terms that rise
    total : the weight of all terms
    rate : how much the exponent of the fastest term changes per unit of the step
    even : whether all terms that change do so at the same speed
    faultless : whether no term rises
    perfect : whether every term falls
    """

    gained: float
    lost: float
    total: float
    rate: float
    even: bool
    faultless: bool
    perfect: bool

    def drop_of_edge(self, alpha: float) -> float:
        """Bound, for any learner, the factor by which a step α changes the risk (Lemma 24)."""
        a, delta = self.rate * alpha, (self.gained - self.lost) / self.total if self.total > 0 else 0.0
        return 0.5 * ((1 - delta) * math.exp(min(a, CEILING)) + (1 + delta) * math.exp(-a))

    def drop(self, alpha: float) -> float:
        """Return the factor by which a step α changes the risk, if all terms that change do so at the same speed."""
        a, gained, lost = self.rate * alpha, self.gained / self.total, self.lost / self.total
        return 1 - gained - lost + gained * math.exp(-a) + lost * math.exp(min(a, CEILING))


class Ray:
    """The risk along a direction: what a step is chosen from.

    Parameters
    ----------
    loss : Loss
        The loss whose mean is the risk.
    U : array of shape (n, K), or a function that returns it
        The scores now. A function is called when the scores are first asked for.
    c : array of shape (n,)
        The true classes.
    weight : array of shape (n,)
        The weights of the examples.
    W : array of shape (n, K), or a function that returns it
        The direction in scores.
    gradient : Gradient or None, default=None
        The gradient at U, where it is known.
    classes : array of shape (n,) or None, default=None
        The class that the learner names for every example, where its answers are codewords.
    merged : MergedRivals or None, default=None
        Along one coordinate of F, the rivals with classes counted as one whose codewords have the same entry there. A
        line search computes the same risk from them, with fewer terms.
    engine : Engine
        What adds up over the examples; one thread by default.

    Examples
    --------
    >>> from simplexboost.parts.losses import Exponential
    >>> W = np.array([[0.5, -0.5], [0.5, -0.5], [-0.5, 0.5]])  # right, right, wrong
    >>> ray = Ray(Exponential(), np.zeros((3, 2)), np.zeros(3, int), np.ones(3), W)
    >>> ray.risk(0.0), bool(ray.risk(0.3) < ray.risk(0.0))
    (3.0, True)
    """

    def __init__(
        self,
        loss: Loss,
        U: Array | Callable[[], Array],
        c: Labels,
        weight: Array,
        W: Array | Callable[[], Array],
        gradient: Gradient | None = None,
        classes: Labels | None = None,
        merged: MergedRivals | None = None,
        engine: Engine = CPU,
    ) -> None:
        self.loss, self.c, self.weight, self.classes, self.engine = loss, c, weight, classes, engine
        self.gradient, self.merged, self._U, self._W = gradient, merged, U, W
        self.code = None if gradient is None else gradient.code

    @cached
    def U(self) -> Array:
        """The scores now."""
        return self._U() if callable(self._U) else self._U

    @cached
    def W(self) -> Array:
        """The direction in scores."""
        return self._W() if callable(self._W) else self._W

    @property
    def K(self) -> int:
        """The number of classes."""
        return self.U.shape[1] if self.code is None else len(self.code.Y)

    @property
    def gap(self) -> float | None:
        """What a right answer gains on every rival, in scores, where that is known and the same for all; else None."""
        return None if self.code is None else self.code.gap

    @cached
    def P(self) -> Array:
        """The residual, sample weights included, up to a positive factor, (n, K)."""
        if self.gradient is None:
            return self.loss.scaled_residual(self.U, self.c, self.engine)[0] * self.weight[:, None]
        return self.gradient.P

    @cached
    def own(self) -> Array:
        """The residual of the true class, (n,)."""
        return self.P[np.arange(len(self.c)), self.c] if self.gradient is None else self.gradient.weight

    @cached
    def right(self) -> Mask:
        """Which examples the learner is right about, (n,)."""
        return margins(self.W, self.c) > 0 if self.classes is None else self.classes == self.c

    def risk(self, alpha: float) -> float:
        """Compute Σ_i w_i L_i at α."""
        return self._total(self.loss.value(self.U + alpha * self.W, self.c))

    def slope(self, alpha: float) -> tuple[float, float | None]:
        """First and second derivative of the risk at α, in units of Σ abs(first), in which the scale cancels."""
        if self.merged is None:
            first, second, _ = self.loss.along(self.U, self.c, self.W, alpha, self.engine)  # (n,) each
        else:
            first, second, _ = self.merged.along(alpha, self.engine)
        unit = self._total(np.abs(first)) or 1.0
        return self._total(first) / unit, None if second is None else self._total(second) / unit

    def log_risk(self, alpha: float) -> float:
        """log Σ_i w_i L_i at α; the logarithm, because an exponential risk itself may overflow."""
        if self.merged is None:
            log_loss = self.loss.log_value(self.U + alpha * self.W, self.c)  # (n,)
        else:
            log_loss = self.merged.log_value(alpha)
        top = self.engine.rows.largest(log_loss)
        return top + math.log(self._total(np.exp(log_loss - top)))

    def _total(self, values: Array) -> float:
        """Σ_i w_i v_i."""
        return self.engine.rows.total(self.weight * values)

    def endless(self, endless_step: float) -> Stride | None:
        """`endless_step` where no example ever loses along the ray, so that the best step is infinite; else None."""
        if not self._falls_forever(strictly=False):
            return None
        return Stride(endless_step, perfect=self._falls_forever(strictly=True))

    def _falls_forever(self, strictly: bool) -> bool:
        """Whether no example's loss ever rises along the ray, or strictly: whether all terms of all losses fall."""
        if self.merged is None:
            return self.loss.falls_forever(self.W, self.c, strictly, self.engine)
        return self.merged.falls_forever(strictly, self.engine)

    def balance(self) -> Balance:
        """What gains and what loses along the ray, for losses that are sums of exponentials."""
        rows, c, named, gradient = self.engine.rows, self.c, self.classes, self.gradient
        gap = None if self.code is None else self.code.gap
        if isinstance(self.loss, LinearGamma) and named is not None and gradient is not None and gap is not None:
            # A right answer gains on all rivals; a wrong one loses to one rival.
            right, own = named == c, gradient.weight
            gained, total = rows.total(np.where(right, own, 0.0)), rows.total(own)
            lost = -rows.total(np.where(right, 0.0, gradient.P[np.arange(len(c)), named]))
            faultless = rows.every(right)
            return Balance(gained, lost, total, self.loss.rate * gap, True, faultless, faultless)
        weight, fall = self.loss.terms(self.P, self.W, c)  # (n, m) each
        rate = rows.largest(np.abs(fall))
        gains, loses = fall > 1e-9 * rate, fall < -1e-9 * rate
        even = rows.every(np.abs(np.abs(fall[gains | loses]) - rate) <= 1e-5 * rate)
        faultless = rows.every(~loses)
        return Balance(
            gained=rows.total(weight[gains] * (fall[gains] / rate)),
            lost=-rows.total(weight[loses] * (fall[loses] / rate)),
            total=rows.total(weight.ravel()),
            rate=rate,
            even=even,
            faultless=faultless,
            perfect=faultless and self.loss.falls_forever(self.W, c, True, self.engine),
        )
