"""Steps: how far to go, α in F ← F + α h. In scores the ray is U + α W with W = ½ h Yᵀ (n, K).

`LineSearch` minimises the risk Σ_i w_i L_i(U + αW) along the ray; `ClosedForm` gives the minimiser in one line where
each pair of classes gains or loses the same amount; `FixedStep` trusts the learner.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._parts import Part, check_choice, check_number, resolve
from ._typing import Array, Labels
from .losses import MM, Exponential, Loss


@dataclass(frozen=True)
class Stride:
    """A step length, and whether the learner is perfect: it alone, taken far enough, brings the risk to its infimum."""

    alpha: float
    perfect: bool = False


@dataclass(frozen=True, eq=False)
class Ray:
    """The risk along a direction: what a step is chosen from."""

    loss: Loss
    U: Array  # (n, K) scores now
    c: Labels  # (n,)
    weight: Array  # (n,)
    W: Array  # (n, K) direction in scores

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


class Step(Part):
    """How far to go along a direction."""

    @abstractmethod
    def length(self, ray: Ray) -> Stride:
        """The step along the ray, 0 where no step decreases the risk."""

    def check(self, loss: Loss) -> None:
        """Raise where a parameter has no meaning or the loss does not suit; called once before boosting."""


@dataclass(eq=False, repr=False)
class LineSearch(Step):
    """The α ≥ 0 that minimises the risk along the ray.

    Convex losses: safeguarded Newton on the derivative. Others (Savage, soft-max cost): expand from a small step until
    the risk rises, then golden section, the nearest local minimum.

    Parameters
    ----------
    max_step : float, default=10.0
        The step along a direction in which no example ever loses, so that the best step is infinite. Where every
        example gains on every rival the learner is perfect, and boosting stops.
    tol : float, default=1e-10
        Relative tolerance of α.

    Examples
    --------
    >>> from simplexboost.losses import Exponential
    >>> W = np.array([[0.5, -0.5], [0.5, -0.5], [-0.5, 0.5]])  # right, right, wrong
    >>> ray = Ray(Exponential(), np.zeros((3, 2)), np.zeros(3, int), np.ones(3), W)
    >>> round(LineSearch().length(ray).alpha, 6), round(0.5 * np.log(2), 6)
    (0.346574, np.float64(0.346574))
    """

    max_step: float = 10.0
    tol: float = 1e-10

    def check(self, loss: Loss) -> None:
        """Raise where a parameter has no meaning."""
        check_number("max_step", self.max_step, float, 0.0, open_low=True)
        check_number("tol", self.tol, float, 0.0, 0.1, open_low=True)

    def length(self, ray: Ray) -> Stride:
        """The minimising step."""
        if endless := ray.endless(self.max_step):
            return endless
        if not ray.loss.convex:
            return Stride(nearest_minimum(ray.risk, self.max_step))
        alpha = newton_root(ray.slope, self.tol)
        return Stride(alpha if alpha < UNBOUNDED else self.max_step)


@dataclass(eq=False, repr=False)
class ClosedForm(Step):
    """The step for classification learners and exponential losses (γ = v, φ = e^{−av}).

    With A₊ and A₋ the weight of the pairs (example, rival class) that gain and that lose the amount r, Z the weight of
    all pairs: ``rule="exact"`` gives the minimiser ln(A₊/A₋) / (2ar); ``rule="edge"`` gives the smaller step from the
    edge δ = (A₊ − A₋)/Z, ln((1+δ)/(1−δ)) / (2ar).

    Parameters
    ----------
    rule : {"exact", "edge"}, default="exact"
    max_step : float, default=10.0
        The step along a direction in which no example ever loses.
    """

    rule: str = "exact"
    max_step: float = 10.0

    def check(self, loss: Loss) -> None:
        """Raise where a parameter has no meaning or the loss has no closed form."""
        exponential_rate(loss)
        check_choice("rule", self.rule, ("exact", "edge"))
        check_number("max_step", self.max_step, float, 0.0, open_low=True)

    def length(self, ray: Ray) -> Stride:
        """The closed form."""
        rate = exponential_rate(ray.loss)
        D = ray.W[np.arange(len(ray.c)), ray.c][:, None] - ray.W  # (n, K) what the true class gains on each rival
        r = np.abs(D).max()
        if not np.isclose(np.abs(D[np.abs(D) > 1e-9 * r]), r).all():
            raise TypeError("step=ClosedForm() needs a learner that answers with codewords; use step='line-search'.")
        if endless := ray.endless(self.max_step):
            return endless
        pairs = -ray.loss.scaled_residual(ray.U, ray.c)[0] * ray.weight[:, None]  # (n, K) weight of each rival
        pairs[np.arange(len(ray.c)), ray.c] = 0.0
        gained, lost, total = pairs[D > r / 2].sum(), pairs[D < -r / 2].sum(), pairs.sum()
        if gained <= lost:
            return Stride(0.0)
        if self.rule == "edge":
            gained, lost = total + (gained - lost), total - (gained - lost)
        if lost <= 0.0:  # what is lost underflows
            return Stride(self.max_step)
        return Stride(float(np.log(gained / lost) / (2 * rate * r)))


@dataclass(eq=False, repr=False)
class FixedStep(Step):
    """Always the same step; with Newton learners 1 is the natural one.

    Parameters
    ----------
    alpha : float, default=1.0
    """

    alpha: float = 1.0

    def check(self, loss: Loss) -> None:
        """Raise where the step has no meaning."""
        check_number("alpha", self.alpha, float, 0.0, open_low=True)

    def length(self, ray: Ray) -> Stride:
        """The step."""
        return Stride(self.alpha)


def exponential_rate(loss: Loss) -> float:
    """The a of γ = v, φ = e^{−av}; raises for any other loss."""
    if not isinstance(loss, Exponential | MM):
        raise TypeError(f"step=ClosedForm() needs an exponential loss ('exponential' or 'mm'), not {loss!r}.")
    return loss.rate


# A step beyond this is taken for infinite: the risk falls as far as floating point can see.
UNBOUNDED = 1e9


def newton_root(slope: Callable[[float], tuple[float, float | None]], tol: float, max_iterations: int = 100) -> float:
    """Where an increasing slope, negative at 0, crosses zero: Newton inside a bracket that only shrinks.

    Where Newton leaves the bracket, creeps (on a steep exponential it comes 1/a nearer a step) or has no second
    derivative, the bracket is bisected, or the step doubled while there is no upper end. Returns 0 where the slope is
    not negative at 0.
    """
    low, high, alpha, last = 0.0, np.inf, 0.0, np.inf
    for _ in range(max_iterations):
        first, second = slope(alpha)
        if first < 0:
            low = alpha
        else:
            high = alpha
        if abs(first) < 1e-15 or high == 0.0 or low > UNBOUNDED:
            return alpha
        creeps = abs(first) > 0.5 * last
        proposal = alpha - first / second if second is not None and second > 0 and not creeps else np.nan
        if not low < proposal < high:  # also where it is not a number
            proposal = 0.5 * (low + high) if np.isfinite(high) else 2 * low + 1.0
        if abs(proposal - alpha) <= tol * proposal:
            return proposal
        alpha, last = proposal, abs(first)
    return low


def nearest_minimum(risk: Callable[[float], float], max_step: float, tol: float = 1e-8) -> float:
    """A local minimum of the risk near 0, or 0 where no small step decreases it; never a higher risk than at 0."""
    start, step = risk(0.0), min(1e-2, max_step)
    while (at_step := risk(step)) >= start:
        step /= 4
        if step < 1e-10:
            return 0.0
    low, high = 0.0, min(2 * step, max_step)
    while high > step and (at_high := risk(high)) < at_step:
        low, step, at_step, high = step, high, at_high, min(2 * high, max_step)
    found = golden_section(risk, low, high, tol)
    return found if risk(found) <= at_step else step  # a bumpy risk may lead the section astray


def golden_section(risk: Callable[[float], float], low: float, high: float, tol: float) -> float:
    """The minimum of a function that falls and then rises between low and high."""
    ratio = (np.sqrt(5.0) - 1) / 2
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = risk(left), risk(right)
    while high - low > tol * high:
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = risk(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = risk(right)
    return left if at_left <= at_right else right


STEPS: dict[str, type[Step]] = {"line-search": LineSearch, "closed-form": ClosedForm, "fixed": FixedStep}


def as_step(value: Any) -> Step:
    """A step from its name, or from itself.

    Examples
    --------
    >>> as_step("fixed")
    FixedStep()
    """
    return resolve(value, STEPS, Step, "step")
