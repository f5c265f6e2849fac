"""Computes the risk along a direction, U + α W, from which step rules choose α."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..._util.arrays import Array, Labels, Mask
from ..._util.compat import cached
from ...engine import CPU, Engine
from ..losses.base import Loss, margins
from ..losses.objective import Balance, Gradient, MergedRivals


@dataclass(frozen=True)
class Stride:
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
    edge: float | None = field(default=None, compare=False)
    error: float | None = field(default=None, compare=False)
    drop: Callable[[float], float] | None = field(default=None, compare=False)
    stop: str | None = field(default=None, compare=False)


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
        engine: Engine = CPU,
    ) -> None:
        self.loss, self.c, self.weight, self.classes, self.engine = loss, c, weight, classes, engine
        self._U, self._W, self._gradient = U, W, gradient

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
        return self.U.shape[1] if self._gradient is None else len(self._gradient.code.Y)

    @property
    def gap(self) -> float | None:
        """What a right answer gains on every rival, in scores, where that is known and the same for all; else None."""
        return None if self._gradient is None else self._gradient.code.gap

    @cached
    def P(self) -> Array:
        """The residual, sample weights included, up to a positive factor, (n, K)."""
        if self._gradient is None:
            return self.loss.scaled_residual(self.U, self.c, self.engine)[0] * self.weight[:, None]
        return self._gradient.P

    @cached
    def own(self) -> Array:
        """The residual of the true class, (n,)."""
        return self.P[np.arange(len(self.c)), self.c] if self._gradient is None else self._gradient.weight

    @cached
    def right(self) -> Mask:
        """Which examples the learner is right about, (n,)."""
        return margins(self.W, self.c) > 0 if self.classes is None else self.classes == self.c

    def risk(self, alpha: float) -> float:
        """Σ_i w_i L_i at α."""
        return self._total(self.loss.value(self.U + alpha * self.W, self.c))

    def slope(self, alpha: float) -> tuple[float, float | None]:
        """First and second derivative of the risk at α, in units of Σ abs(first), in which the scale cancels."""
        first, second = self._along(alpha)
        unit = self._total(np.abs(first)) or 1.0
        return self._total(first) / unit, None if second is None else self._total(second) / unit

    def log_risk(self, alpha: float) -> float:
        """log Σ_i w_i L_i at α; the logarithm, because an exponential risk itself may overflow."""
        log_loss = self._log_loss(alpha)  # (n,)
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

    def _along(self, alpha: float) -> tuple[Array, Array | None]:
        """First and second derivative of every example's loss at α, up to a common factor, (n,) each."""
        first, second, _ = self.loss.along(self.U, self.c, self.W, alpha, self.engine)
        return first, second

    def _log_loss(self, alpha: float) -> Array:
        """The logarithm of every example's loss at α, (n,)."""
        return self.loss.log_value(self.U + alpha * self.W, self.c)

    def _falls_forever(self, strictly: bool) -> bool:
        """Whether no example's loss ever rises along the ray, or strictly: whether all terms of all losses fall."""
        return self.loss.falls_forever(self.W, self.c, strictly, self.engine)

    def balance(self) -> Balance:
        """What gains and what loses along the ray, for losses that are sums of exponentials."""
        return self.loss.balance(self)


class MergedRay(Ray):
    """A ray along one coordinate of F, where classes whose codewords have the same entry there count as one rival.

    The risk along it is the same; a line search computes it from the merged rivals. What other rules ask for, such as
    the residual, is that of all classes.

    Parameters
    ----------
    merged : MergedRivals
        The rivals, for this direction.
    *whole, **named
        As for `Ray`, with all classes.
    """

    def __init__(self, merged: MergedRivals, *whole: Any, **named: Any) -> None:
        super().__init__(*whole, **named)
        self.merged = merged

    def _along(self, alpha: float) -> tuple[Array, Array | None]:
        first, second, _ = self.loss.along_merged(self.merged, alpha, self.engine)
        return first, second

    def _log_loss(self, alpha: float) -> Array:
        return self.loss.log_value_merged(self.merged, alpha)

    def _falls_forever(self, strictly: bool) -> bool:
        gains, there = self.merged.gains, self.merged.there  # (V, n)
        return self.engine.rows.every(((gains < 0) if strictly else (gains <= 0)) | ~there)
