"""Provides step rules, which choose α in F ← F + α h from the risk along the ray U + α W, with W = ½ h Yᵀ (n, K)."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .._util.arrays import Array, Labels, Mask
from .._util.compat import cached
from .._util.params import Part, check_choice, check_number, resolve
from ..engine import CPU, Engine
from ..model.code import Gradient
from .losses.base import ExponentialSum, Loss, margins, pick_own
from .losses.gamma_phi import LinearGamma, MergedRivals
from .losses.objective import CEILING
from .losses.scores import OwnScoreExponential

__all__ = [
    "STEPS",
    "ClosedForm",
    "ErrorStep",
    "FixedStep",
    "GradientStep",
    "LineSearch",
    "Ray",
    "Step",
    "Stride",
    "as_step",
]


class Stride(NamedTuple):
    """A step length, and what else the step rule has found out.

    Attributes
    ----------
    alpha : float
        The step; 0 where no step lowers the risk.
    perfect : bool, default=False
        Whether the learner alone, taken far enough, brings the risk to its infimum.
    edge, error : float or None, default=None
        How much better than guessing the learner is, at most 1, measured as in the paper of the rule; and its weighted
        error.
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
    """The terms of an exponential loss along a direction."""

    gained: float  # Σ weight · speed of the terms that fall; the fastest term has speed 1
    lost: float  # Σ weight · speed of the terms that rise
    total: float  # the weight of all terms
    rate: float  # how much the exponent of the fastest term changes per unit of the step
    even: bool  # whether all terms that change do so at the same speed
    faultless: bool  # whether no term rises
    perfect: bool  # whether every term falls

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
    U, W : arrays of shape (n, K), or functions that return them
        The scores now, and the direction in scores. A function is called when its array is first needed.
    c, weight : arrays of shape (n,)
        The true classes and the weights of the examples.
    gradient : Gradient or None, default=None
        The gradient at U, where it is known.
    classes : array of shape (n,) or None, default=None
        The class that the learner names for every example, where its answers are codewords.
    merged : MergedRivals or None, default=None
        Along one coordinate of F, rivals that move alike counted as one: a line search computes the same risk from
        them, with fewer terms.
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
        self.merged, self._U, self._W = merged, U, W
        self._code = None if gradient is None else gradient.code
        if gradient is not None:
            self.__dict__["gradient"] = gradient

    @cached
    def U(self) -> Array:
        """The scores now."""
        return self._U() if callable(self._U) else self._U

    @cached
    def W(self) -> Array:
        """The direction in scores."""
        return self._W() if callable(self._W) else self._W

    @cached
    def gradient(self) -> Gradient:
        """Minus the gradient in the scores, sample weights included, up to a positive factor."""
        P = self.loss.scaled_residual(self.U, self.c, self.engine)[0] * self.weight[:, None]
        return Gradient(self.c, pick_own(P, self.c), P)

    @property
    def K(self) -> int:
        """The number of classes."""
        return self.U.shape[1] if self._code is None else len(self._code.Y)

    @property
    def gap(self) -> float | None:
        """What a right answer gains on every rival, in scores, where that is known and the same for all; else None."""
        return None if self._code is None else self._code.gap

    @cached
    def right(self) -> Mask:
        """Which examples the learner is right about, (n,)."""
        return margins(self.W, self.c) > 0 if self.classes is None else self.classes == self.c

    def risk(self, alpha: float) -> float:
        """Compute Σ_i w_i L_i at α."""
        return self._total(self.loss.value(self.U + alpha * self.W, self.c))

    def slope(self, alpha: float) -> tuple[float, float | None]:
        """Return the first and second derivative of the risk at α, in units of Σ abs(first): the scale cancels."""
        if self.merged is None:
            first, second, _ = self.loss.along(self.U, self.c, self.W, alpha, self.engine)  # (n,) each
        else:
            first, second, _ = self.merged.along(alpha, self.engine)
        unit = self._total(np.abs(first)) or 1.0
        return self._total(first) / unit, None if second is None else self._total(second) / unit

    def log_risk(self, alpha: float) -> float:
        """Compute log Σ_i w_i L_i at α; the logarithm, because an exponential risk itself may overflow."""
        if self.merged is None:
            log_loss = self.loss.log_value(self.U + alpha * self.W, self.c)  # (n,)
        else:
            log_loss = self.merged.log_value(alpha)
        top = self.engine.rows.largest(log_loss)
        return top + math.log(self._total(np.exp(log_loss - top)))

    def _total(self, values: Array) -> float:
        return self.engine.rows.total(self.weight * values)

    def endless(self, endless_step: float) -> Stride | None:
        """Return `endless_step` where no example ever loses along the ray and the best step is infinite; else None."""
        falls = self.merged.falls_forever if self.merged else partial(self.loss.falls_forever, self.W, self.c)
        return Stride(endless_step, perfect=falls(True, self.engine)) if falls(False, self.engine) else None

    def balance(self) -> Balance:
        """Return what gains and what loses along the ray, for losses that are sums of exponentials."""
        rows, gradient, named = self.engine.rows, self.gradient, self.classes
        gap = None if self._code is None else self._code.gap
        assert isinstance(self.loss, ExponentialSum)  # `ClosedForm` checks it
        if isinstance(self.loss, LinearGamma) and named is not None and gap is not None:
            # A right answer gains on all rivals; a wrong one loses to one rival.
            right, own = named == self.c, gradient.weight
            gained, total = rows.total(np.where(right, own, 0.0)), rows.total(own)
            lost = -rows.total(np.where(right, 0.0, gradient.P[np.arange(len(named)), named]))
            faultless = rows.every(right)
            return Balance(gained, lost, total, self.loss.rate * gap, True, faultless, faultless)
        weight, fall = self.loss.terms(gradient.P, self.W, self.c)  # (n, m) each
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
            perfect=faultless and self.loss.falls_forever(self.W, self.c, True, self.engine),
        )


# ---- searches on a line --------------------------------------------------------------------------------------------

# A step beyond this counts as infinite: the risk still falls there, as far as floating point can tell.
UNBOUNDED = 1e9


def newton_root(slope: Callable[[float], tuple[float, float | None]], tol: float, max_iterations: int = 100) -> float:
    """Find where an increasing slope crosses zero: Newton's method inside a bracket that only shrinks.

    Where Newton's step leaves the bracket, is too short (on a steep exponential e^{ax} it is only 1/a), or needs a
    second derivative that is not there, the bracket is bisected; while it has no upper end, the step is doubled.
    Returns 0 where the slope is not negative at 0.
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
        if not low < proposal < high:  # also true where the proposal is NaN
            proposal = 0.5 * (low + high) if np.isfinite(high) else 2 * low + 1.0
        if abs(proposal - alpha) <= tol * proposal:
            return proposal
        alpha, last = proposal, abs(first)
    return low


def nearest_minimum(risk: Callable[[float], float], max_step: float, tol: float = 1e-8) -> float:
    """Find a local minimum of the risk near 0, or 0 where no small step decreases it; never a higher risk than at 0."""
    start, step = risk(0.0), min(1e-2, max_step)
    while (at_step := risk(step)) >= start:
        step /= 4
        if step < 1e-10:
            return 0.0
    low, high = 0.0, min(2 * step, max_step)
    while high > step and (at_high := risk(high)) < at_step:
        low, step, at_step, high = step, high, at_high, min(2 * high, max_step)
    found = golden_section(risk, low, high, tol)
    return found if risk(found) <= at_step else step  # golden section may miss it where there are several


def golden_section(risk: Callable[[float], float], low: float, high: float, tol: float) -> float:
    """Find the minimum of a function that falls and then rises between low and high."""
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


PERFECT_VOTE = 10.0  # what the infinite vote of a perfect learner weighs, unless told


class Step(Part):
    """A rule for how far to go along a direction. A subclass has annotated parameters and writes `length`.

    Examples
    --------
    A step that becomes shorter while the risk falls:

    >>> class Timid(Step):
    ...     def length(self, ray):
    ...         return Stride(alpha=min(0.5, ray.risk(0.0)))
    >>> sb.BoostingClassifier(step=Timid(), n_estimators=20).fit(X, y).score(X, y) > 0.95
    True
    """

    table: ClassVar[dict[str, type[Step]]] = {}  # the rules that have names
    measures_edge: ClassVar[bool] = False  # whether its strides tell the edge
    constant: ClassVar[float | None] = None  # the step, if it is the same along every ray

    @abstractmethod
    def length(self, ray: Ray) -> Stride:
        """Return the step along the ray, 0 where no step decreases the risk."""

    def check(self, loss: Loss) -> None:
        """Raise where a parameter has no meaning or the loss does not suit; called once before boosting."""


class LineSearch(Step, name="line-search"):
    """The α ≥ 0 that minimises the risk along the ray.

    For convex losses it is found by a safeguarded Newton method on the derivative. For others (Savage, soft-max cost) a
    small step is enlarged until the risk rises, and golden section then finds the nearest local minimum.

    Parameters
    ----------
    endless_step : float, default=10.0
        The step along a direction in which no example ever loses, so that the best step is infinite; for losses that
        are not convex also the longest step. Where every example gains on every rival the learner is perfect, and
        boosting stops.
    tol : float, default=1e-10
        Relative tolerance of α.

    Examples
    --------
    >>> from simplexboost.parts.losses import Exponential
    >>> W = np.array([[0.5, -0.5], [0.5, -0.5], [-0.5, 0.5]])  # right, right, wrong
    >>> ray = Ray(Exponential(), np.zeros((3, 2)), np.zeros(3, int), np.ones(3), W)
    >>> round(LineSearch().length(ray).alpha, 6), round(0.5 * np.log(2), 6)
    (0.346574, np.float64(0.346574))
    """

    endless_step: float = 10.0
    tol: float = 1e-10

    def check(self, loss: Loss) -> None:
        check_number("endless_step", self.endless_step, float, 0.0, open_low=True)
        check_number("tol", self.tol, float, 0.0, 0.1, open_low=True)

    def length(self, ray: Ray) -> Stride:
        if endless := ray.endless(self.endless_step):
            return endless
        if not ray.loss.convex:
            return Stride(nearest_minimum(ray.risk, self.endless_step))
        alpha = newton_root(ray.slope, self.tol)
        return Stride(alpha if alpha < UNBOUNDED else self.endless_step)


class ClosedForm(Step, name="closed-form"):
    """The step of AdaBoost and its relatives, for losses that are sums of exponentials.

    A term of the loss is, for example, a pair of an example and a rival class. Let A₊ and A₋ be the weights of the
    terms that gain and that lose along the direction, Z the weight of all terms, and r the change of an exponent per
    unit of the step. The minimiser of the risk is ln(A₊/A₋) / 2r, for learners along which all terms that change do so
    at the same pace, such as codewords and signs. A smaller step, for any bounded learner, is ln((1+δ)/(1−δ)) / 2r from
    the edge δ = (A₊ − A₋)/Z.

    Parameters
    ----------
    rule : {"exact", "edge"}, default="exact"
        "exact" takes the minimiser, "edge" the smaller step.
    endless_step : float, default=10.0
        The step along a direction in which no example ever loses.

    Examples
    --------
    >>> from simplexboost.parts.losses import Exponential
    >>> W = np.array([[0.5, -0.5], [0.5, -0.5], [-0.5, 0.5]])  # right, right, wrong
    >>> ray = Ray(Exponential(), np.zeros((3, 2)), np.zeros(3, int), np.ones(3), W)
    >>> round(ClosedForm().length(ray).alpha, 6), round(0.5 * np.log(2), 6)
    (0.346574, np.float64(0.346574))
    """

    rule: str = "exact"
    endless_step: float = 10.0

    measures_edge: ClassVar[bool] = True

    def check(self, loss: Loss) -> None:
        if not isinstance(loss, ExponentialSum):
            raise TypeError(
                "step=ClosedForm() needs an exponential loss ('exponential', 'mm', 'one-vs-all' or 'own-score'), "
                f"not {loss!r}."
            )
        check_choice("rule", self.rule, ("exact", "edge"))
        check_number("endless_step", self.endless_step, float, 0.0, open_low=True)

    def length(self, ray: Ray) -> Stride:
        balance = ray.balance()
        exact = self.rule == "exact"
        if exact and not balance.even:
            raise TypeError(
                "step=ClosedForm() needs a learner that answers with codewords or signs; use step='line-search'."
            )
        gained, lost = balance.gained, balance.lost
        edge = (gained - lost) / balance.total if balance.total > 0 else 0.0  # δ
        drop = balance.drop if exact else balance.drop_of_edge
        if gained <= lost:
            return Stride(0.0, edge=edge)
        if balance.faultless and (exact or balance.perfect):  # if it abstains, its edge gives a shorter step
            return Stride(self.endless_step, balance.perfect, edge, drop=drop)
        if not exact:
            gained, lost = balance.total + (gained - lost), balance.total - (gained - lost)
        if lost <= 0.0:  # because what is lost underflows to zero
            return Stride(self.endless_step, edge=edge, drop=drop)
        return Stride(math.log(gained / lost) / (2 * balance.rate), edge=edge, drop=drop)


class ErrorStep(Step, name="error"):
    """The step from the weighted error e of a learner that names one class, for the loss of the own score alone.

    A vote weighs ln((1−e)/e) where the learner must beat a coin (AdaBoost.M1), and ln((1−e)/e) + ln(K−1) where it must
    beat guessing (SAMME: the minimiser of the risk). Boosting stops when e is no longer below ½ or 1 − 1/K.

    Parameters
    ----------
    better_than : {"half", "chance"}, default="half"
        What the learner must beat: "half" is a coin, "chance" is guessing among K classes.
    max_vote : float or None, default=None
        The most that a vote weighs. With None no vote is cut, as in the papers. The vote of a perfect learner, which
        the formula makes infinite, weighs ``max_vote``, and 10 with None; boosting stops after it.

    Examples
    --------
    >>> from simplexboost.parts.losses import OwnScoreExponential
    >>> W = 0.5 * np.eye(3)[[0, 1, 2, 2]]  # right, right, right, wrong
    >>> ray = Ray(OwnScoreExponential(), np.zeros((4, 3)), np.array([0, 1, 2, 0]), np.ones(4), W)
    >>> stride = ErrorStep().length(ray)
    >>> stride.error, round(stride.alpha, 6), round(np.log(3), 6)
    (0.25, 1.098612, np.float64(1.098612))
    """

    better_than: str = "half"
    max_vote: float | None = None

    measures_edge: ClassVar[bool] = True

    def check(self, loss: Loss) -> None:
        if not isinstance(loss, OwnScoreExponential):
            raise TypeError(f"step=ErrorStep() needs loss='own-score', not {loss!r}.")
        check_choice("better_than", self.better_than, ("half", "chance"))
        check_number("max_vote", self.max_vote, float, 0.0, none=True, open_low=True)

    def length(self, ray: Ray) -> Stride:
        K, wrong = ray.K, ~ray.right
        limit, offset = (0.5, 0.0) if self.better_than == "half" else (1 - 1 / K, math.log(K - 1))
        weight, total = ray.gradient.weight, ray.engine.rows.total
        error = total(np.where(wrong, weight, 0.0)) / total(weight)
        edge = 1 - error / limit  # 0 for a learner that is no better than a coin, or than guessing
        if edge <= 1e-12:
            name = "1/2" if self.better_than == "half" else f"1 - 1/K = {limit:.4g}"
            stop = f"weak learner: its weighted error {error:.4g} is not below {name}"
            return Stride(0.0, edge=edge, error=error, stop=stop)
        if error > 0:
            vote = math.log((1 - error) / error) + offset
            vote = vote if self.max_vote is None else min(vote, float(self.max_vote))
        else:
            vote = PERFECT_VOTE if self.max_vote is None else float(self.max_vote)
        # A vote of weight 1 moves the exponents of right and wrong apart by 1; the unit is its step in F.
        assert isinstance(ray.loss, OwnScoreExponential)  # `check` refuses other losses
        gap = ray.gap
        if gap is None:
            own = pick_own(ray.W, ray.c)  # (n,)
            high, low = ray.engine.rows.largest(own), -ray.engine.rows.largest(-own)
            gap = (high - low) or abs(high)
        unit = 1 / (ray.loss.own_rate(K) * gap)

        def drop(alpha: float) -> float:  # an example is wrong only if at least half of all votes are against it
            return error * math.exp(min(alpha / unit / 2, CEILING)) + (1 - error) * math.exp(-alpha / unit / 2)

        return Stride(
            unit * vote, ray.engine.rows.every(~wrong), edge, error, drop if self.better_than == "half" else None
        )


class FixedStep(Step, name="fixed"):
    """Always the same step; with Newton learners 1 is the natural one.

    Parameters
    ----------
    alpha : float, default=1.0
        The step, which the learning rate of the booster multiplies.

    Examples
    --------
    >>> clf = sb.BoostingClassifier(step=FixedStep(0.5), n_estimators=3)
    """

    alpha: float = 1.0

    def check(self, loss: Loss) -> None:
        check_number("alpha", self.alpha, float, 0.0, open_low=True)

    def length(self, ray: Ray) -> Stride:
        return Stride(self.alpha)

    @property
    def constant(self) -> float:  # type: ignore[override]
        return self.alpha


class GradientStep(Step, name="gradient"):
    """The gradient projected on the learner, K ⟨G, h⟩ / ‖h‖² (Algorithm 1 of sm-boost with rates of K).

    Both are means over the examples: ⟨G, h⟩ = Σ_i w_i ⟨G_i, h_i⟩ / Σ_i w_i, which is the edge, and likewise ‖h‖². A
    learner that answers ±1 for every class has ‖h‖² = K, and the step is the edge itself, which the paper calls R_M.
    How far the scores move does not depend on the scale of the learner's answers.

    Examples
    --------
    >>> from simplexboost.parts.losses import SoftmaxCost
    >>> W = 0.5 * np.array([[1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]])  # right, right, wrong
    >>> round(GradientStep().length(Ray(SoftmaxCost(), np.zeros((3, 2)), np.zeros(3, int), np.ones(3), W)).alpha, 6)
    0.166667
    """

    measures_edge: ClassVar[bool] = True

    def length(self, ray: Ray) -> Stride:
        total, whole = ray.engine.rows.total, ray.engine.rows.total(ray.weight)
        edge = total(np.einsum("nk,nk->n", ray.gradient.P, ray.W)) / whole
        squares = 4 * np.einsum("nk,nk->n", ray.W, ray.W) / ray.K  # (n,), 1 where all answers are ±1: W is half of them
        size = total(ray.weight * squares) / whole
        return Stride(max(edge, 0.0) / size if size > 0 else 0.0, edge=edge)


STEPS = Step.table

# The step that a name or a `Step` stands for.
as_step: Callable[[Any], Step] = partial(resolve, table=STEPS, base=Step, parameter="step")
