"""Defines γ–φ losses, γ(Σ_{k≠c} cost_matrix[c, k] φ(U_c − U_k)) with true class c, γ increasing and φ decreasing.

The residual −∂L/∂U of an example is ``w`` at its true class and ``−w τ_k`` at a rival class k. The weight ``w`` tells
how hard the example is, and ``τ`` (n, K), with row sums of one, which rivals make it hard: equations (29)-(30) of
Saberian and Vasconcelos.

The named losses compute with logarithms; `UserGammaPhi`, with the user's own γ and φ, evaluates (29)-(30) directly.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from ... import _kernels
from ..._util.arrays import AnyArray, Array, Labels
from ..._util.params import check_flag
from ...engine import CPU, Engine
from ...model.code import Code, Gradient
from .base import ExponentialSum, Loss, Scaled, Slopes, check_cost_matrix, pick, pick_own, rivals, saturated_exp
from .links import HUGE, Link, clip_scores, softmax, stationary
from .objective import Objective

# Walks are solved in blocks of this many numbers: 2 MiB stay in the cache while K states are eliminated.
_BLOCK = 2**18
# The least rate of a jump (the largest is of order one), so that a walk can reach every class.
_NO_JUMP = 1e-30
_LEAST = 1e-300  # of the weight of merged rivals beside the strongest: too small to count, with a finite logarithm
REFRESH = 16  # carried residuals are computed anew after so many rounds, because rounding errors add up
MOST_CARRIED = 20.0  # a vote that changes an exponent by more than this would lose digits


class GammaPhi(Loss):
    """The abstract base class of the losses ``γ(Σ_{k≠c} cost_matrix[c, k] φ(U_c − U_k))``; c is the true class.

    Adding a constant to all scores of a row does not change the loss.

    Parameters
    ----------
    cost_matrix : array of shape (K, K), optional
        Weight of each pair (true class, rival class); None means ones. A pair of weight zero does not count, and the
        diagonal is ignored. With costs, `posterior_system` computes the class probabilities.

    Examples
    --------
    >>> from simplexboost.parts.losses import Exponential, Logistic, OneVsAll
    >>> isinstance(Exponential(), GammaPhi), isinstance(Logistic(), GammaPhi), isinstance(OneVsAll(), GammaPhi)
    (True, True, False)
    """

    @abstractmethod
    def _walk(self, U: Array) -> tuple[Array, Array, Array]:
        """Return arrays T, b and log_factor that describe, for every row, a random walk on the classes.

        If class l is true, ``T[i, l, k] b[i, k]`` is minus the residual of row i at class k, up to a factor for each l.
        With the walk's stationary distribution z, class probabilities are ∝ exp(log_factor) · z / b. T is (n, K, K).
        """

    def posterior_system(self, U: Array) -> Array:
        """Return the class probabilities η (n, K) for any γ, φ and costs, by the linear system of Theorem 7; O(n K³).

        Column l of its matrix is the gradient of the loss if class l is true, so the mean gradient under η is zero.
        The system is solved by a random walk that jumps from class l to class k with probability τ_k, the share of
        rival k in the residual if class l is true. The probability η_l is proportional to z_l / w_l, where z is the
        stationary distribution of the walk and w_l the residual at the true class l. In this way no digits are lost,
        and no scores are too large.

        A zero cost counts as 1e-30 of the largest cost, so that the solution is unique.
        """
        n, K = U.shape
        size = max(1, _BLOCK // (K * K))
        blocks = [np.empty((0, K))]
        for start in range(0, n, size):
            T, b, log_factor = self._walk(U[start : start + size])
            blocks.append(softmax(np.log(stationary(np.maximum(T, _NO_JUMP), b)) + log_factor))
        return np.concatenate(blocks)

    def probabilities(self, U: Array) -> Array:
        return self.posterior_system(U)

    def check(self, K: int) -> None:
        super().check(K)
        check_cost_matrix(self.cost_matrix, K, rows_need_a_rival=True)


class ExponentialPhi(GammaPhi):
    """The base class of γ–φ losses with φ(v) = e^{−a v}, where a is `rate`. A subclass defines γ by three functions.

    With s the logarithm of γ's argument, `_log_gamma` is log γ(e^s), `_log_weight` the logarithm of the residual at the
    true class, and `_bend` is 1 + γ''(e^s) e^s / γ'(e^s), which is not negative if the loss is convex.
    """

    cost_matrix: ArrayLike | None = None

    rate: ClassVar[float]  # a
    link: ClassVar[Link]  # without costs

    @abstractmethod
    def _log_gamma(self, s: Array) -> Array: ...

    @abstractmethod
    def _log_weight(self, s: Array) -> Array: ...

    @abstractmethod
    def _bend(self, s: Array) -> Array | float: ...

    def _race(self, U: Array, c: Labels, out: Array | None = None) -> tuple[Array, Array, Array]:
        """Return the terms E (n, K) of γ's argument up to a factor per row, E's row sums, and log of the argument."""
        if self.cost_matrix is None:
            E, Z, lead = race(U, c, self.rate, out)
            return E, Z, np.log(Z) - self.rate * np.clip(lead, -HUGE, HUGE)
        E = rivals(U, c)
        E *= self.rate
        # Costs are added as logarithms before the maximum is taken: a rival without cost must not be the maximum.
        C = np.asarray(self.cost_matrix, dtype=np.float64)
        E += np.log(C, out=np.full(C.shape, -np.inf), where=C > 0)[c]
        top = E.max(axis=1)  # (n,)
        E -= top[:, None]
        s = top - self.rate * pick(U, c)
        np.exp(E, out=E)
        Z = E.sum(axis=1)  # at least one
        s += np.log(Z)
        return E, Z, s

    def _weights(self, s: Array, engine: Engine) -> tuple[Array, float]:
        """Return the residuals at the true classes, (n,), divided by a common factor, and this factor's logarithm."""
        return saturated_exp(self._log_weight(s)), 0.0

    def value(self, U: Array, c: Labels) -> Array:
        return saturated_exp(self.log_value(U, c))

    def log_value(self, U: Array, c: Labels) -> Array:
        return self._log_gamma(self._race(U, c)[2])

    def residual(self, U: Array, c: Labels) -> Array:
        E, Z, s = self._race(U, c)
        return _pull_rows(E, Z, c, saturated_exp(self._log_weight(s)))

    def scaled_residual(self, U: Array, c: Labels, engine: Engine = CPU, out: Array | None = None) -> Scaled:
        E, Z, s = self._race(U, c, out)
        w, log_scale = self._weights(s, engine)
        return _pull_rows(E, Z, c, w), log_scale

    def along(self, U: Array, c: Labels, W: Array, alpha: float = 0.0, engine: Engine = CPU) -> Slopes:
        if self.cost_matrix is None:
            Z, ahead, mean, variance = race_along(U, c, W, alpha, self.rate)
            s = np.log(Z) - self.rate * np.clip(ahead, -HUGE, HUGE)
        else:
            E, Z, s = self._race(U + alpha * W, c)
            mean = np.einsum("nk,nk->n", E, W) / Z  # (n,), of W over the rivals
            variance = np.einsum("nk,nk->n", E, np.square(W - mean[:, None])) / Z
        return self._slopes(s, pick_own(W, c) - mean, variance, engine)

    def _slopes(self, s: Array, lead: Array, variance: Array, engine: Engine) -> Slopes:
        """Return the result of `along` from s, log of γ's argument, and mean and variance of the gains on rivals."""
        w, log_scale = self._weights(s, engine)
        return -w * lead, self.rate * w * (variance + self._bend(s) * lead**2), log_scale

    def curvature(self, U: Array, c: Labels, Y: Array, engine: Engine = CPU) -> Array:
        # The second derivative along each coordinate of F: `along` with W = ½ Y[:, j] in every row.
        E, Z, s = self._race(U, c)
        E /= Z[:, None]
        times = engine.compute.times
        mean = times(E, Y)  # (n, d)
        H = times(E, np.square(Y))  # (n, d), becomes variance, then Hessian
        H -= np.square(mean)
        np.maximum(H, 0.0, out=H)  # a variance, which rounding must not make negative
        lead = np.subtract(Y[c], mean, out=mean)
        np.square(lead, out=lead)
        lead *= np.reshape(self._bend(s), (-1, 1))
        H += lead
        H *= (0.25 * self.rate * saturated_exp(self._log_weight(s)))[:, None]
        return H

    def _walk(self, U: Array) -> tuple[Array, Array, Array]:
        # φ'(u_l − u_k) = −a e^{−a u_l} e^{a u_k}: T holds the costs, and the scores enter only b and the factors.
        n, K = U.shape
        U = clip_scores(U)
        log_b = self.rate * (U - U.max(axis=1, keepdims=True))  # (n, K)
        C = np.ones((K, K)) if self.cost_matrix is None else np.asarray(self.cost_matrix, dtype=np.float64)
        C = C / C[~np.eye(K, dtype=bool)].max()
        log_factor = 2.0 * log_b
        for truth in range(K):
            s = self._race(U, np.full(n, truth))[2]
            log_factor[:, truth] += s - self._log_weight(s)
        return np.broadcast_to(C, (n, K, K)), np.exp(log_b), log_factor

    def probabilities(self, U: Array) -> Array:
        return self.link.probabilities(U) if self.cost_matrix is None else self.posterior_system(U)

    def link_formula(self, K: int) -> Link | None:
        if self.cost_matrix is None:
            return self.link
        return Link("walk", self.rate, np.asarray(self.cost_matrix, dtype=np.float64), type(self).__name__)


def _pull_rows(E: Array, Z: Array, c: Labels, w: Array) -> Array:
    """Overwrite E (n, K), with row sums Z, by the residual: w at the true class c, −w E / Z elsewhere; return E."""
    E = np.ascontiguousarray(E)
    _kernels.pull_rows(E, c, w, Z)
    return E


def race(U: Array, c: Labels, rate: float, out: Array | None = None) -> tuple[Array, Array, Array]:
    """Compute the exponentials of the rivals' scores relative to the highest rival, so that no exponential overflows.

    Returns three arrays: E (n, K), which is exp(rate (U − top)) with 0 at the true class c, where top (n,) is the score
    of the highest rival; the row sums of E, (n,); and the lead of the true class, U_c − top, (n,).
    """
    E, Z, lead = np.empty(U.shape) if out is None else out, np.empty(len(U)), np.empty(len(U))
    _kernels.race(np.ascontiguousarray(U, dtype=np.float64), c, rate, E, Z, lead)
    return E, Z, lead


def race_along(U: Array, c: Labels, W: Array, alpha: float, rate: float) -> tuple[Array, Array, Array, Array]:
    """Return, (n,) each, row sums and leads of `race` at U + αW, and mean and variance of W's rows weighted by E."""
    U, W = np.ascontiguousarray(U, dtype=np.float64), np.ascontiguousarray(W, dtype=np.float64)
    return _kernels.race_along(U, c, W, alpha, rate)


class Rivals:
    """The rival classes of every example, for losses γ(Σ_{k≠c} e^{−a(U_c − U_k)}) without costs; c is the true class.

    Classes whose codewords have the same entry in a coordinate of F gain the same score along this coordinate. The
    ratios of their terms stay constant, so these classes are merged into one rival of weight Σ e^{a U_k}. A simplex
    code has at most three distinct entries in a coordinate: with 26 classes, a line search takes a seventh of the time.
    """

    def __init__(self, loss: ExponentialPhi, U: Array, c: Labels) -> None:
        E, _, lead = race(U, c, loss.rate)
        self.loss, self.lead, self.c = loss, np.clip(lead, -HUGE, HUGE), c
        self.terms = np.ascontiguousarray(E.T)  # (K, n): sums of rows are quick

    def along(self, entries: Array, h: Array) -> MergedRivals:
        """Return the `MergedRivals` for a direction along which class k's score changes by h (n,) times entries[k]."""
        different, which = np.unique(entries, return_inverse=True)
        mass = np.zeros((len(different), len(h)))  # (V, n)
        for v, term in zip(which, self.terms, strict=True):
            mass[v] += term
        return MergedRivals(self.loss, mass, h * (different[:, None] - entries[self.c]), self.lead)


class MergedRivals:
    """Rivals merged to V per example for one direction: weights, and gains on the true class per unit step, (V, n)."""

    def __init__(self, loss: ExponentialPhi, mass: Array, gains: Array, lead: Array) -> None:
        self.loss, self.gains, self.lead = loss, gains, lead
        self.present = mass > 0
        self.log_mass = np.log(np.maximum(mass, _LEAST))

    def _log_sum(self, alpha: float) -> tuple[Array, Array]:
        """Return the log of the sum of all terms after a step α, (n,), and the terms (V, n) divided by the largest."""
        x = self.gains * (self.loss.rate * alpha)
        x += self.log_mass
        top = x.max(axis=0)
        x -= top
        e = np.exp(x, out=x)
        return top + np.log(e.sum(axis=0)) - self.loss.rate * self.lead, e

    def log_value(self, alpha: float) -> Array:
        """Return the logarithm of every example's loss after a step α, (n,)."""
        return self.loss._log_gamma(self._log_sum(alpha)[0])

    def along(self, alpha: float, engine: Engine = CPU) -> Slopes:
        """Return the first and the second derivative of every loss in α, (n,) each, and log_scale, as `Loss.along`."""
        s, e = self._log_sum(alpha)
        e /= e.sum(axis=0)
        mean = (e * self.gains).sum(axis=0)  # of the gains, weighted by the terms
        e *= np.square(self.gains - mean)
        return self.loss._slopes(s, -mean, e.sum(axis=0), engine)

    def falls_forever(self, strictly: bool, engine: Engine = CPU) -> bool:
        """Tell whether no example's loss ever rises along the direction; if `strictly`, whether every term falls."""
        return engine.rows.every(((self.gains < 0) if strictly else (self.gains <= 0)) | ~self.present)


def merging_pays(entries: Array) -> bool:
    """Tell whether merging classes with equal codeword entries (K,) at least halves the number of loss terms."""
    return 2 * (1 + len(np.unique(entries))) <= len(entries)


class Logistic(ExponentialPhi, name="logistic"):
    """The loss of LogitBoost, ``log(1 + Σ_{k≠c} e^{−2(U_c − U_k)})`` = −log p_c; c is the true class, p = softmax(2 U).

    Examples
    --------
    >>> Logistic().value(np.zeros((1, 4)), np.array([0])) / np.log(4)
    array([1.])
    """

    exponents: ClassVar[tuple[int, int] | None] = (0, 0)
    rate: ClassVar[float] = 2.0
    link: ClassVar[Link] = Link("softmax", 2.0)
    convex = True

    @property
    def likelihood(self) -> bool:  # type: ignore[override]
        return self.cost_matrix is None

    def value_of(self, p: Array) -> Array:
        return -np.log(np.maximum(p, 1e-38))

    def _log_gamma(self, s: Array) -> Array:
        # Below −37, log(1 + e^s) = e^s to the last digit.
        return np.where(s < -37.0, s, np.log(np.logaddexp(0.0, np.maximum(s, -37.0))))

    def _log_weight(self, s: Array) -> Array:
        return math.log(2.0) - np.logaddexp(0.0, -s)

    def _bend(self, s: Array) -> Array:
        return expit(-s)


class Savage(ExponentialPhi, name="savage"):
    """The loss of SavageBoost, ``(1 − p_c)²``, c the true class, p = softmax(2 U): bounded and robust to wrong labels.

    It is not convex. Class probabilities are ``η_k ∝ 1/(1 − p_k)``, valid only if a finite minimiser exists
    (`links.savage_link`).

    Examples
    --------
    The weight of an example becomes small again if its margin is very negative.

    >>> Savage().residual(np.array([[0.0, 0.0], [0.0, 3.0]]), np.array([0, 0]))[:, 0].round(3)
    array([0.5 , 0.01])
    """

    exponents: ClassVar[tuple[int, int] | None] = (1, 1)
    rate: ClassVar[float] = 2.0
    link: ClassVar[Link] = Link("savage")
    convex = False

    def value_of(self, p: Array) -> Array:
        return (1 - p) ** 2

    def _log_gamma(self, s: Array) -> Array:
        return -2.0 * np.logaddexp(0.0, -s)

    def _log_weight(self, s: Array) -> Array:
        return math.log(4.0) - 2.0 * np.logaddexp(0.0, -s) - np.logaddexp(0.0, s)

    def _bend(self, s: Array) -> Array:
        return 2.0 - 3.0 * expit(s)


class CarriedObjective(Objective):
    """The risk of a `LinearGamma` loss; unlike `Objective`, it keeps the residual and updates it after each vote."""

    def __init__(self, loss: LinearGamma, c: Labels, weight: Array, code: Code, engine: Engine = CPU) -> None:
        super().__init__(loss, c, weight, code, engine)
        self._rate = loss.rate
        self._known: int | None = None  # the number of rounds after which the residual is known
        self._P, self._own = np.empty((0, 0)), np.empty(0)  # it (n, K), and its entries at the true classes (n,) …
        self._log_scale = 0.0  # … both divided by the exponential of this

    def gradient(self, F: AnyArray, U: Callable[[], Array], n_rounds: int, scaled: bool = True) -> Gradient:
        if not scaled:
            return super().gradient(F, U, n_rounds, scaled)
        if self._known != n_rounds:
            self._P, self._log_scale = self._residual(U(), scaled)
            self._own, self._known = self._P[np.arange(len(self.c)), self.c], n_rounds
        risk = self._mean(self.engine.rows.total(self._own) / self._rate, self._log_scale)
        return Gradient(self.c, self._own, self._P, self.code, risk=risk)

    def follow_votes(self, classes: Labels, step: float, n_rounds: int) -> None:
        # A right answer gains on all rivals, a wrong one loses to the rival that it names.
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


class LinearGamma(ExponentialSum, ExponentialPhi):
    """The base class of γ–φ losses with γ(v) = v: a sum of exponentials, which may overflow; its logarithm does not."""

    def objective(self, c: Labels, weight: Array, code: Code, engine: Engine = CPU) -> Objective:
        return CarriedObjective(self, c, weight, code, engine)

    def terms(self, P: Array, W: Array, c: Labels) -> tuple[Array, Array]:
        rows = np.arange(len(c))
        weight = -P  # (n, K), a term for every rival
        weight[rows, c] = 0.0
        return weight, self.rate * (W[rows, c][:, None] - W)

    def total(self, P: Array, c: Labels, engine: Engine = CPU) -> float:
        return engine.rows.total(pick_own(P, c)) / self.rate

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


class Exponential(LinearGamma, name="exponential"):
    """The loss of AdaBoost, ``Σ_{k≠c} e^{−(U_c − U_k)}`` with true class c. Class probabilities are softmax(2 U).

    Examples
    --------
    >>> loss = Exponential()
    >>> U, c = np.array([[1.0, 0.0, 0.0]]), np.array([0])
    >>> loss.value(U, c).round(4)
    array([0.7358])
    >>> loss.residual(U, c).round(4)
    array([[ 0.7358, -0.3679, -0.3679]])
    """

    rate: ClassVar[float] = 1.0
    link: ClassVar[Link] = Link("softmax", 2.0)


class MM(LinearGamma, name="mm"):
    """The loss of AdaBoost.MM, ``Σ_{k≠c} e^{−2(U_c − U_k)}`` with true class c. Class probabilities are softmax(4 U).

    Examples
    --------
    >>> MM().log_value(np.array([[1000.0, 0.0]]), np.array([1]))
    array([2000.])
    """

    rate: ClassVar[float] = 2.0
    link: ClassVar[Link] = Link("softmax", 4.0)


Function = Callable[[Array], Array]

# Values of a user's functions are kept within ±1e90, so that a product of three of them and a few costs is finite.
_USER_BOUND = 1e90


class UserGammaPhi(GammaPhi):
    """A γ–φ loss from your own functions γ, increasing, and φ, decreasing, both positive and differentiable.

    The functions map arrays to arrays elementwise. They may overflow or underflow at large scores: values are limited
    to ±1e90, and an example has weight zero if φ' underflows for all rivals. `posterior_system` computes the
    probabilities.

    Parameters
    ----------
    gamma, phi, gamma_prime, phi_prime : callables
        The functions γ and φ, and their derivatives.
    gamma_second, phi_second : callables, optional
        The second derivatives; without them `curvature` raises TypeError, and line searches use values and slopes.
    convex : bool, default False
        Whether the loss is convex in the scores, which permits the faster line search.

    Examples
    --------
    >>> loss = UserGammaPhi(
    ...     gamma=lambda v: v,
    ...     phi=lambda v: np.logaddexp(0, -v),
    ...     gamma_prime=np.ones_like,
    ...     phi_prime=lambda v: -1 / (1 + np.exp(v)),
    ...     convex=True,
    ... )
    >>> loss.residual(np.zeros((1, 3)), np.array([1]))
    array([[-0.5,  1. , -0.5]])
    """

    gamma: Function
    phi: Function
    gamma_prime: Function
    phi_prime: Function
    gamma_second: Function | None = None
    phi_second: Function | None = None
    cost_matrix: ArrayLike | None = None
    convex: bool = False

    def value(self, U: Array, c: Labels) -> Array:
        return _call(self.gamma, self._terms(self.phi, _gaps(U, c), c).sum(axis=1))

    def residual(self, U: Array, c: Labels) -> Array:
        slope, t, _ = self._slopes(_gaps(U, c), c)
        t *= slope[:, None]
        t[np.arange(len(t)), c] = -t.sum(axis=1)
        return t

    def along(self, U: Array, c: Labels, W: Array, alpha: float = 0.0, engine: Engine = CPU) -> Slopes:
        V = _gaps(U + alpha * W, c)
        slope, t, S = self._slopes(V, c)
        D = pick_own(W, c)[:, None] - W  # (n, K)
        inner = np.einsum("nk,nk->n", t, D)
        if self.gamma_second is None or self.phi_second is None:
            return slope * inner, None, 0.0
        q = self._terms(self.phi_second, V, c)
        second = _call(self.gamma_second, S) * inner**2 + slope * np.einsum("nk,nk->n", q, np.square(D, out=D))
        return slope * inner, second, 0.0

    def curvature(self, U: Array, c: Labels, Y: Array, engine: Engine = CPU) -> Array:
        if self.gamma_second is None or self.phi_second is None:
            raise TypeError(
                f"curvature needs second derivatives; got gamma_second={self.gamma_second}, "
                f"phi_second={self.phi_second}: pass both, or choose an optimizer without Newton steps."
            )
        V = _gaps(U, c)
        slope, t, S = self._slopes(V, c)
        q = self._terms(self.phi_second, V, c)
        own, times = Y[c], engine.compute.times  # (n, d)
        inner = t.sum(axis=1)[:, None] * own - times(t, Y)  # Σ_k t_k (y_c − y_k)
        outer = q.sum(axis=1)[:, None] * own**2 - 2.0 * own * times(q, Y) + times(q, Y**2)  # Σ_k q_k (y_c − y_k)²
        return 0.25 * (_call(self.gamma_second, S)[:, None] * inner**2 + slope[:, None] * outer)

    def check(self, K: int) -> None:
        super().check(K)
        for name in ("gamma", "phi", "gamma_prime", "phi_prime"):
            if not callable(getattr(self, name)) or isinstance(getattr(self, name), type):
                raise ValueError(f"{name}={getattr(self, name)!r} is not callable; pass a function of an array.")
        check_flag("convex", self.convex)
        # The functions are checked at equal scores, where boosting starts.
        phi, phi_prime = _call(self.phi, np.zeros(1)), _call(self.phi_prime, np.zeros(1))
        gamma_prime = _call(self.gamma_prime, (K - 1) * phi)
        if not phi_prime[0] < 0:
            raise ValueError(f"phi_prime is {phi_prime[0]} at 0; phi must decrease, so pass a negative derivative.")
        if not gamma_prime[0] > 0:
            raise ValueError(
                f"gamma_prime is {gamma_prime[0]} at {(K - 1) * phi[0]}; gamma must increase, "
                "so pass a positive derivative."
            )

    def _terms(self, function: Function, V: Array, c: Labels) -> Array:
        """Return ``function(V)`` times the costs of each row's true class c, with zero at the true class, (n, K)."""
        terms = _call(function, V)
        if self.cost_matrix is not None:
            terms *= np.asarray(self.cost_matrix, dtype=np.float64)[c]
        terms[np.arange(len(V)), c] = 0.0
        return terms

    def _slopes(self, V: Array, c: Labels) -> tuple[Array, Array, Array]:
        """Return γ'(S) (n,), the terms φ'(V) times costs (n, K), and S (n,), the row sums of φ(V) times costs."""
        S = self._terms(self.phi, V, c).sum(axis=1)
        return _call(self.gamma_prime, S), self._terms(self.phi_prime, V, c), S

    def _walk(self, U: Array) -> tuple[Array, Array, Array]:
        n, K = U.shape
        T = np.empty((n, K, K))
        log_w = np.empty((n, K))
        for truth in range(K):
            c = np.full(n, truth)
            slope, t, _ = self._slopes(_gaps(U, c), c)
            total = t.sum(axis=1)  # (n,), negative
            tau = np.full_like(t, 1.0 / (K - 1))  # uniform where all φ' underflow
            tau[:, truth] = 0.0
            T[:, truth] = np.divide(t, total[:, None], out=tau, where=(total < 0.0)[:, None])
            log_w[:, truth] = np.log(np.maximum(-slope * total, np.finfo(np.float64).tiny))
        return T, np.ones((n, K)), -log_w


def _gaps(U: Array, c: Labels) -> Array:
    """Return the score differences ``V[i, k] = U[i, c_i] − U[i, k]``, (n, K), where c_i is the true class of row i."""
    return pick(U, c)[:, None] - clip_scores(U)


def _call(function: Function, x: Array) -> Array:
    """Return function(x) as a new array, with NaN replaced by 0 and values limited to ±1e90."""
    # A user's function may overflow, as e^{−v} does at v = −1000; clipping takes care of that.
    with np.errstate(all="ignore"):
        values = np.array(function(x), dtype=np.float64)
    return np.clip(np.nan_to_num(values, copy=False, nan=0.0), -_USER_BOUND, _USER_BOUND, out=values)
