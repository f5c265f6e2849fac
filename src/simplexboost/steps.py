"""Steps: how far to go, α in F ← F + α h. In scores the ray is U + α W with W = ½ h Yᵀ (n, K).

`LineSearch` minimises the risk Σ_i w_i L_i(U + αW) along the ray; `ClosedForm` gives AdaBoost's step where the loss is
a sum of exponentials; `ErrorStep` weighs votes by the weighted error; `GradientStep` goes as far as the edge says;
`FixedStep` trusts the learner.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ._parts import Part, check_choice, check_number, resolve
from ._typing import Array, Labels, Mask
from .losses import MM, Exponential, Loss, OwnScoreExponential, margins


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

    @cached_property
    def U(self) -> Array:
        """The scores now."""
        return self._U() if callable(self._U) else self._U

    @property
    def K(self) -> int:
        """The number of classes."""
        return self.U.shape[1] if self._K is None else self._K

    @cached_property
    def W(self) -> Array:
        """The direction in scores."""
        return self._W() if callable(self._W) else self._W

    @cached_property
    def P(self) -> Array:
        """The residual, scaled."""
        if self._P is None:
            return self.loss.scaled_residual(self.U, self.c)[0] * self.weight[:, None]
        return self._P() if callable(self._P) else self._P

    @cached_property
    def own(self) -> Array:
        """The residual of the true class, (n,)."""
        return self.P[np.arange(len(self.c)), self.c] if self._own is None else self._own

    @cached_property
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
        return 0.5 * ((1 - delta) * math.exp(a) + (1 + delta) * math.exp(-a))

    def drop(self, alpha: float) -> float:
        """By this factor the risk changes with a step α, where all terms that move have the same pace."""
        a, gained, lost = self.rate * alpha, self.gained / self.total, self.lost / self.total
        return 1 - gained - lost + gained * math.exp(-a) + lost * math.exp(a)


class Step(Part):
    """How far to go along a direction."""

    measures_edge: ClassVar[bool] = False  # whether its strides tell the edge

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
    """The step of AdaBoost and its kin, for losses that are sums of exponentials.

    With A₊ and A₋ the weight of the terms of the loss (pairs of an example and a rival class, say) that gain and that
    lose, Z the weight of all, and r the change of an exponent per unit of the step: ``rule="exact"`` gives the
    minimiser ln(A₊/A₋) / 2r, for learners along which all terms that change do so at the same pace, like codewords and
    signs; ``rule="edge"`` gives the smaller step from the edge δ = (A₊ − A₋)/Z, ln((1+δ)/(1−δ)) / 2r, for any bounded
    learner.

    Parameters
    ----------
    rule : {"exact", "edge"}, default="exact"
    max_step : float, default=10.0
        The step along a direction in which no example ever loses.
    """

    rule: str = "exact"
    max_step: float = 10.0

    measures_edge: ClassVar[bool] = True

    def check(self, loss: Loss) -> None:
        """Raise where a parameter has no meaning or the loss has no closed form."""
        if not loss.exponential:
            raise TypeError(
                "step=ClosedForm() needs an exponential loss ('exponential', 'mm', 'one-vs-all' or 'own-score'), "
                f"not {loss!r}."
            )
        check_choice("rule", self.rule, ("exact", "edge"))
        check_number("max_step", self.max_step, float, 0.0, open_low=True)

    def length(self, ray: Ray) -> Stride:
        """The closed form."""
        self.check(ray.loss)
        balance = ray.balance()
        exact = self.rule == "exact"
        if exact and not balance.even:
            raise TypeError(
                "step=ClosedForm() needs a learner that answers with codewords or signs; use step='line-search'."
            )
        gained, lost, edge = balance.gained, balance.lost, balance.edge
        drop = balance.drop if exact else balance.drop_of_edge
        if gained <= lost:
            return Stride(0.0, edge=edge)
        if balance.faultless and (exact or balance.perfect):  # the edge of a learner that abstains calls for less
            return Stride(self.max_step, balance.perfect, edge, drop=drop)
        if not exact:
            gained, lost = balance.total + (gained - lost), balance.total - (gained - lost)
        if lost <= 0.0:  # what is lost underflows
            return Stride(self.max_step, edge=edge, drop=drop)
        return Stride(math.log(gained / lost) / (2 * balance.rate), edge=edge, drop=drop)


@dataclass(eq=False, repr=False)
class ErrorStep(Step):
    """The step from the weighted error e of a learner that names one class, for the loss of the own score alone.

    A vote weighs ln((1−e)/e) where the learner must beat a coin (``better_than="half"``, AdaBoost.M1), and
    ln((1−e)/e) + ln(K−1) where it must beat guessing (``"chance"``, SAMME: the minimiser of the risk). Boosting stops
    when e is no longer below ½ or 1 − 1/K.

    Parameters
    ----------
    better_than : {"half", "chance"}, default="half"
    max_step : float, default=10.0
        The weight of a perfect learner's vote; boosting stops after it.

    Examples
    --------
    >>> from simplexboost.losses import OwnScoreExponential
    >>> W = 0.5 * np.eye(3)[[0, 1, 2, 2]]  # right, right, right, wrong
    >>> ray = Ray(OwnScoreExponential(), np.zeros((4, 3)), np.array([0, 1, 2, 0]), np.ones(4), W)
    >>> stride = ErrorStep().length(ray)
    >>> stride.error, round(stride.alpha, 6), round(np.log(3), 6)
    (0.25, 1.098612, np.float64(1.098612))
    """

    better_than: str = "half"
    max_step: float = 10.0

    measures_edge: ClassVar[bool] = True

    def check(self, loss: Loss) -> None:
        """Raise where a parameter has no meaning or the loss is another."""
        if not isinstance(loss, OwnScoreExponential):
            raise TypeError(f"step=ErrorStep() needs loss='own-score', not {loss!r}.")
        check_choice("better_than", self.better_than, ("half", "chance"))
        check_number("max_step", self.max_step, float, 0.0, open_low=True)

    def length(self, ray: Ray) -> Stride:
        """The vote's weight, in units of the codewords."""
        assert isinstance(ray.loss, OwnScoreExponential)
        K, wrong = ray.K, ~ray.right
        limit, offset = (0.5, 0.0) if self.better_than == "half" else (1 - 1 / K, math.log(K - 1))
        error = float(ray.own[wrong].sum() / ray.own.sum())
        edge = 1 - error / limit  # 0 for a coin or a guess
        if edge <= 1e-12:
            name = "1/2" if self.better_than == "half" else f"1 - 1/K = {limit:.4g}"
            stop = f"weak learner: its weighted error {error:.4g} is not below {name}"
            return Stride(0.0, edge=edge, error=error, stop=stop)
        vote = min(math.log((1 - error) / error) + offset, self.max_step) if error > 0 else self.max_step
        unit = self._unit(ray)

        def drop(alpha: float) -> float:  # an example is wrong only if half of all votes were against it
            return error * math.exp(alpha / unit / 2) + (1 - error) * math.exp(-alpha / unit / 2)

        return Stride(unit * vote, not wrong.any(), edge, error, drop if self.better_than == "half" else None)

    @staticmethod
    def _unit(ray: Ray) -> float:
        """The step in F that gives a vote of weight 1: it moves the exponents of right and wrong apart by 1."""
        assert isinstance(ray.loss, OwnScoreExponential)
        rate = ray.loss.rate(ray.K)
        if ray.gap is not None:
            return 1 / (rate * ray.gap)
        own = ray.W[np.arange(len(ray.c)), ray.c]  # (n,)
        return 1 / (rate * float(np.ptp(own) or np.abs(own).max()))


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


@dataclass(eq=False, repr=False)
class GradientStep(Step):
    """The step is the edge itself, Σ_i w_i ⟨G_i, h_i⟩ / Σ_i w_i (sm-boost, where it is called R_M).

    Examples
    --------
    >>> from simplexboost.losses import SoftmaxCost
    >>> W = 0.5 * np.array([[1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]])  # right, right, wrong
    >>> round(GradientStep().length(Ray(SoftmaxCost(), np.zeros((3, 2)), np.zeros(3, int), np.ones(3), W)).alpha, 6)
    0.166667
    """

    measures_edge: ClassVar[bool] = True

    def length(self, ray: Ray) -> Stride:
        """The edge."""
        edge = float(np.vdot(ray.P, ray.W) / ray.weight.sum())
        return Stride(max(edge, 0.0), edge=edge)


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


STEPS: dict[str, type[Step]] = {
    "line-search": LineSearch,
    "closed-form": ClosedForm,
    "error": ErrorStep,
    "fixed": FixedStep,
    "gradient": GradientStep,
}


def as_step(value: Any) -> Step:
    """A step from its name, or from itself.

    Examples
    --------
    >>> as_step("fixed")
    FixedStep()
    """
    return resolve(value, STEPS, Step, "step")
