"""Provides step rules, which choose α in F ← F + α h from the risk at scores U + α W, where W is ½ h Yᵀ (n, K)."""

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
    """The result of a step rule: a step length, and what the rule has found out about the weak learner.

    Attributes
    ----------
    alpha : float
        The step length; 0 where no step lowers the risk.
    perfect : bool, default=False
        Whether a long enough step along this learner alone brings the risk to its infimum.
    edge, error : float or None, default=None
        The learner's edge (how much better than guessing it is, at most 1, as the rule's paper measures it) and its
        weighted error.
    drop : callable or None, default=None
        A function that maps a step to the factor by which this step multiplies a bound on the training error.
    stop : str or None, default=None
        Why no step is possible, as text for the user; None where one is possible.

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
    """The total weights of the exponential loss terms that fall along a direction, and of those that rise."""

    gained: float  # Σ weight · speed of the terms that fall; the fastest term has speed 1
    lost: float  # Σ weight · speed of the terms that rise
    total: float  # the weight of all terms
    rate: float  # how much the exponent of the fastest term changes per unit of the step
    even: bool  # whether all terms that change do so at the same speed
    faultless: bool  # whether no term rises
    perfect: bool  # whether every term falls

    def drop_of_edge(self, alpha: float) -> float:
        """Return an upper bound, for any learner, on the factor by which a step multiplies the risk (Lemma 24)."""
        a, delta = self.rate * alpha, (self.gained - self.lost) / self.total if self.total > 0 else 0.0
        return 0.5 * ((1 - delta) * math.exp(min(a, CEILING)) + (1 + delta) * math.exp(-a))

    def drop(self, alpha: float) -> float:
        """Return the factor by which a step multiplies the risk; exact only if all terms that change have one speed."""
        a, gained, lost = self.rate * alpha, self.gained / self.total, self.lost / self.total
        return 1 - gained - lost + gained * math.exp(-a) + lost * math.exp(min(a, CEILING))


class Ray:
    """The risk along a direction in scores, from which a step rule chooses the step.

    Parameters
    ----------
    loss : Loss
        The loss whose weighted sum is the risk.
    U, W : arrays of shape (n, K), or functions that return them
        The current scores, and the direction in scores. A function is called when its array is first needed.
    c, weight : arrays of shape (n,)
        The true classes and the sample weights.
    gradient : Gradient or None, default=None
        The gradient at U, if it is known.
    classes : array of shape (n,) or None, default=None
        The class that the learner predicts for every example, if its outputs are codewords.
    merged : MergedRivals or None, default=None
        For a direction along one coordinate of F: rival classes with equal codeword entries, merged into one class. A
        line search then computes the same risk from fewer terms.
    engine : Engine
        Computes the sums over examples; by default on one thread.

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
        """The class scores before the step, (n, K)."""
        return self._U() if callable(self._U) else self._U

    @cached
    def W(self) -> Array:
        """The change of the class scores per unit of the step, (n, K)."""
        return self._W() if callable(self._W) else self._W

    @cached
    def gradient(self) -> Gradient:
        """Minus the gradient of the risk in the scores, sample weights included, up to a positive factor."""
        P = self.loss.scaled_residual(self.U, self.c, self.engine)[0] * self.weight[:, None]
        return Gradient(self.c, pick_own(P, self.c), P)

    @property
    def K(self) -> int:
        """The number of classes."""
        return self.U.shape[1] if self._code is None else len(self._code.Y)

    @property
    def gap(self) -> float | None:
        """How much a correctly predicted class gains on each rival per unit step, if known and constant; else None."""
        return None if self._code is None else self._code.gap

    @cached
    def right(self) -> Mask:
        """A mask (n,), true for the examples that the learner classifies correctly."""
        return margins(self.W, self.c) > 0 if self.classes is None else self.classes == self.c

    def risk(self, alpha: float) -> float:
        """Return the risk, the weighted sum of losses, after a step alpha."""
        return self._total(self.loss.value(self.U + alpha * self.W, self.c))

    def slope(self, alpha: float) -> tuple[float, float | None]:
        """Return the risk's first and second derivative (or None) at alpha, divided by Σ abs(each loss's slope)."""
        if self.merged is None:
            first, second, _ = self.loss.along(self.U, self.c, self.W, alpha, self.engine)  # (n,) each
        else:
            first, second, _ = self.merged.along(alpha, self.engine)
        unit = self._total(np.abs(first)) or 1.0
        return self._total(first) / unit, None if second is None else self._total(second) / unit

    def log_risk(self, alpha: float) -> float:
        """Return the logarithm of the risk after a step alpha; an exponential risk itself may overflow."""
        if self.merged is None:
            log_loss = self.loss.log_value(self.U + alpha * self.W, self.c)  # (n,)
        else:
            log_loss = self.merged.log_value(alpha)
        top = self.engine.rows.largest(log_loss)
        return top + math.log(self._total(np.exp(log_loss - top)))

    def _total(self, values: Array) -> float:
        return self.engine.rows.total(self.weight * values)

    def endless(self, endless_step: float) -> Stride | None:
        """Return a `Stride` of length `endless_step` if no example's loss ever rises along the ray; else None."""
        falls = self.merged.falls_forever if self.merged else partial(self.loss.falls_forever, self.W, self.c)
        return Stride(endless_step, perfect=falls(True, self.engine)) if falls(False, self.engine) else None

    def balance(self) -> Balance:
        """Return the `Balance` of loss terms along the ray; the loss must be a sum of exponentials."""
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
    """Return where an increasing slope crosses zero, by Newton's method inside a bracket that only shrinks.

    ``slope`` returns the slope and its derivative, which is None if unknown. The bracket is bisected where Newton's
    step leaves the bracket, is too short (on a steep exponential e^{ax} it is only 1/a) or cannot be computed. While
    the bracket has no upper end, the step is doubled instead. Returns 0 where the slope is not negative at 0.
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
    """Return the step to a local minimum of the risk near 0, not above the risk at 0; 0 if no small step lowers it."""
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
    """Return the point between low and high where a function that first falls and then rises is smallest."""
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
    """The base class of step rules, which choose a step along a `Ray`. A subclass has parameters and defines `length`.

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
        """Return the `Stride` along the ray; its alpha is 0 where no step decreases the risk."""

    def check(self, loss: Loss) -> None:
        """Raise if a parameter is invalid or the rule cannot use the loss; the booster calls this before boosting."""


class LineSearch(Step, name="line-search"):
    """The step rule that minimises the risk along the ray over α ≥ 0.

    For convex losses the minimiser is found by a safeguarded Newton method on the derivative. For other losses (Savage,
    softmax cost) a small step is enlarged until the risk rises, and golden section then finds the nearest local
    minimum.

    Parameters
    ----------
    endless_step : float, default=10.0
        The step along a direction in which no example's loss ever rises, so that the best step is infinite; for losses
        that are not convex also the longest step. If every example gains on every rival class, the learner is perfect,
        and boosting stops.
    tol : float, default=1e-10
        The relative tolerance of α.

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
    """The step rule of AdaBoost and similar algorithms: a formula for losses that are sums of exponentials.

    There is, for instance, a loss term for every pair of an example and a rival class. Along the direction, let A₊ be
    the weight of the terms that fall, A₋ the weight of the terms that rise, Z the weight of all terms, and r the change
    of an exponent per unit of the step. If all terms change at the same speed or not at all, as for outputs that are
    codewords or ±1, the risk is minimal at ln(A₊/A₋) / 2r. A smaller step, for any bounded learner, is ln((1+δ)/(1−δ))
    / 2r with the edge δ = (A₊ − A₋)/Z.

    Parameters
    ----------
    rule : {"exact", "edge"}, default="exact"
        "exact" takes the step with minimal risk, "edge" the smaller step.
    endless_step : float, default=10.0
        The step along a direction in which no example's loss ever rises.

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
    """The step rule of AdaBoost.M1 and SAMME, from the weighted error e of a learner that predicts classes.

    The loss must be "own-score". A learner's vote weighs ln((1−e)/e) if the learner must beat a coin (AdaBoost.M1), and
    ln((1−e)/e) + ln(K−1) if it must beat guessing (SAMME); the second weight minimises the risk. Boosting stops if e is
    not below ½ or 1 − 1/K, respectively.

    Parameters
    ----------
    better_than : {"half", "chance"}, default="half"
        What the learner must beat: "half" is a coin, "chance" is guessing among K classes.
    max_vote : float or None, default=None
        The largest weight of a vote; None for no limit, as in the papers. A perfect learner's vote, infinite by the
        formula, weighs ``max_vote``, or 10 if that is None; boosting stops after this vote.

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
    """The step rule that always takes the same step; with Newton learners, 1 is the natural choice.

    Parameters
    ----------
    alpha : float, default=1.0
        The step, which is multiplied by the learning rate of the booster.

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
    """The step rule that projects the gradient G on the outputs h: K ⟨G, h⟩ / ‖h‖² (Algorithm 1 of sm-boost).

    Both are means over the examples: ⟨G, h⟩, the edge, is Σ_i w_i ⟨G_i, h_i⟩ / Σ_i w_i with sample weights w, and ‖h‖²
    likewise. A learner with outputs ±1 for every class has ‖h‖² = K; the step is then the edge, R_M in the paper. How
    far the scores move does not depend on the scale of the outputs.

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
