"""Defines γ–φ losses, L = γ(Σ_{k≠c} cost_matrix[c, k] φ(U_c − U_k)) with γ increasing and φ decreasing.

The residual of an example is ``w`` at its class and ``−w τ_k`` at the others: ``w`` says how hard the example is, and
``τ`` (n, K), whose rows sum to one, which rival classes make it hard (Saberian and Vasconcelos, (29)-(30)).

The named losses work with logarithms; a loss from the user's own γ and φ evaluates (29)-(30) directly.
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
    """``L = γ(Σ_{k≠c} cost_matrix[c, k] φ(U_c − U_k))``, the abstract family.

    Adding a constant to the scores of a row changes nothing.

    Parameters
    ----------
    cost_matrix : array of shape (K, K), optional
        Weight of the pair (true class, rival); None means ones. A zero means that the pair does not matter, and the
        diagonal is ignored. With costs the posterior comes from `posterior_system`.

    Examples
    --------
    >>> from simplexboost.parts.losses import Exponential, Logistic, OneVsAll
    >>> isinstance(Exponential(), GammaPhi), isinstance(Logistic(), GammaPhi), isinstance(OneVsAll(), GammaPhi)
    (True, True, False)
    """

    @abstractmethod
    def _walk(self, U: Array) -> tuple[Array, Array, Array]:
        """Return Theorem 7 as walks on the classes, as `posterior_system` explains: T, b and log_factor.

        The products ``T[i, l, k] b[i, k]`` of ``T`` (n, K, K) and ``b`` (n, K) are minus the residual at class k when
        the truth is l, up to a factor for each l; and η ∝ exp(log_factor) · z / b, with ``log_factor`` (n, K).
        """

    def posterior_system(self, U: Array) -> Array:
        """Solve Theorem 7's system Ω η = e₁ for the posterior, for any γ, φ and costs; O(n K³).

        Column l of Ω is the gradient of the loss when the truth is l, so under η the gradients of all classes cancel.
        This is solved as a random walk: let it jump from class l to class k with the probability τ_k of true class l,
        and let z be its stationary distribution; then ``η_l ∝ z_l / w_l``. In this way no digits are lost, and no
        scores are too large.

        A zero cost counts as 1e-30 of the largest, so that the solution is unique. The rows of the result (n, K) sum to
        one.
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
    """γ–φ losses with φ(v) = e^{−a v}. A subclass gives γ as functions of s, the logarithm of the inner sum.

    ``_log_gamma`` is log γ(e^s), ``_log_weight`` is log w, ``_bend`` is 1 + γ''(e^s) e^s / γ'(e^s), which is not
    negative if L is convex.
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
        """Return ``E`` (n, K) proportional to τ, its row sums ``Z`` (n,), and ``s`` (n,); see `race`."""
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
        """Return ``w`` up to a common factor, and the logarithm of that factor."""
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
        """Return the slopes from s and from the mean and the variance of what the true class gains on rivals."""
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
    """Return the residual, w at the true class and −w τ elsewhere, written over ``E`` = τ Z."""
    E = np.ascontiguousarray(E)
    _kernels.pull_rows(E, c, w, Z)
    return E


def race(U: Array, c: Labels, rate: float, out: Array | None = None) -> tuple[Array, Array, Array]:
    """Compute the exponentials of rivals' scores relative to the highest rival, so that none of them overflows.

    Returns E (n, K), E_k = exp(rate (U_k − max_{l≠c} U_l)) and 0 at the true class c; its row sums Z (n,); and the lead
    of the true class, U_c − max_{l≠c} U_l, (n,).
    """
    E, Z, lead = np.empty(U.shape) if out is None else out, np.empty(len(U)), np.empty(len(U))
    _kernels.race(np.ascontiguousarray(U, dtype=np.float64), c, rate, E, Z, lead)
    return E, Z, lead


def race_along(U: Array, c: Labels, W: Array, alpha: float, rate: float) -> tuple[Array, Array, Array, Array]:
    """Return the row sums and leads of `race` at U + αW, and W's mean and variance weighted by E; (n,) each."""
    U, W = np.ascontiguousarray(U, dtype=np.float64), np.ascontiguousarray(W, dtype=np.float64)
    return _kernels.race_along(U, c, W, alpha, rate)


class Rivals:
    """The rivals of every example, for losses γ(Σ_{k≠c} e^{−a(u_c − u_k)}) without costs.

    Classes whose codewords have the same entry in a coordinate of F move alike along it. Their terms stay in
    proportion, so that they count as one rival of the weight Σ e^{a u_k}. A simplex has at most three different entries
    in a coordinate, whatever the number of classes: on 26 classes a line search takes a seventh of the time.
    """

    def __init__(self, loss: ExponentialPhi, U: Array, c: Labels) -> None:
        E, _, lead = race(U, c, loss.rate)
        self.loss, self.lead, self.c = loss, np.clip(lead, -HUGE, HUGE), c
        self.terms = np.ascontiguousarray(E.T)  # (K, n): sums of rows are quick

    def along(self, entries: Array, h: Array) -> MergedRivals:
        """Merge the rivals for the direction in which class k moves by h (n,) times entries[k]."""
        different, which = np.unique(entries, return_inverse=True)
        mass = np.zeros((len(different), len(h)))  # (V, n)
        for v, term in zip(which, self.terms, strict=True):
            mass[v] += term
        return MergedRivals(self.loss, mass, h * (different[:, None] - entries[self.c]), self.lead)


class MergedRivals:
    """V merged rivals of n examples: their weights (V, n), and what they gain on the true class per step (V, n)."""

    def __init__(self, loss: ExponentialPhi, mass: Array, gains: Array, lead: Array) -> None:
        self.loss, self.gains, self.lead = loss, gains, lead
        self.present = mass > 0
        self.log_mass = np.log(np.maximum(mass, _LEAST))

    def _log_sum(self, alpha: float) -> tuple[Array, Array]:
        """Return s (n,), the log of the sum of all terms after a step α, and the terms (V, n) beside the highest."""
        x = self.gains * (self.loss.rate * alpha)
        x += self.log_mass
        top = x.max(axis=0)
        x -= top
        e = np.exp(x, out=x)
        return top + np.log(e.sum(axis=0)) - self.loss.rate * self.lead, e

    def log_value(self, alpha: float) -> Array:
        """Return the logarithm of the loss after a step α, (n,)."""
        return self.loss._log_gamma(self._log_sum(alpha)[0])

    def along(self, alpha: float, engine: Engine = CPU) -> Slopes:
        """Return the derivatives of the loss in α at a step α."""
        s, e = self._log_sum(alpha)
        e /= e.sum(axis=0)
        mean = (e * self.gains).sum(axis=0)  # of the gains, weighted by the terms
        e *= np.square(self.gains - mean)
        return self.loss._slopes(s, -mean, e.sum(axis=0), engine)

    def falls_forever(self, strictly: bool, engine: Engine = CPU) -> bool:
        """Tell whether no example's loss ever rises along the direction, as `Loss.falls_forever` does."""
        return engine.rows.every(((self.gains < 0) if strictly else (self.gains <= 0)) | ~self.present)


def merging_pays(entries: Array) -> bool:
    """Tell whether merging rivals halves the number of terms at least."""
    return 2 * (1 + len(np.unique(entries))) <= len(entries)


class Logistic(ExponentialPhi, name="logistic"):
    """LogitBoost's loss, ``log(1 + Σ_{k≠c} e^{−2(U_c − U_k)})`` = −log p_c. Posterior p = softmax(2 U).

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
    """SavageBoost's loss, ``(1 − p_c)²`` with p = softmax(2 U): bounded, not convex, robust to wrong labels.

    The posterior is ``η_k ∝ 1/(1 − p_k)``, valid only where a finite minimiser exists (`links.savage_link`).

    Examples
    --------
    The weight of an example falls again when its margin gets very bad.

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
    """The risk of a sum of exponentials over rivals, whose residual is updated from round to round.

    A vote only multiplies a few entries of the residual.
    """

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
    """γ–φ losses with γ(v) = v: the loss is the sum of exponentials itself, which may overflow; its log does not."""

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
    """AdaBoost's loss, ``Σ_{k≠c} e^{−(U_c − U_k)}``: γ(v) = v, φ(v) = e^{−v}. Posterior softmax(2 U).

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
    """AdaBoost.MM's loss, ``Σ_{k≠c} e^{−2(U_c − U_k)}``: γ(v) = v, φ(v) = e^{−2v}. Posterior softmax(4 U).

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
    """A loss from your own γ, increasing, and φ, decreasing, both positive and differentiable.

    The functions take and return arrays, elementwise. They may overflow or underflow at large scores: values are
    limited to ±1e90, and an example for which all φ' underflow has weight zero. The posterior is `posterior_system`.

    Parameters
    ----------
    gamma, phi, gamma_prime, phi_prime : callables
        The pair and its derivatives.
    gamma_second, phi_second : callables, optional
        Second derivatives; without them there is no `curvature`, and line searches use values and slopes.
    convex : bool, default False
        Whether the loss is convex in U, which permits the faster line search.

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
        """Return ``cost_matrix[c, k] · function(V_k)``, zero at the true class, (n, K)."""
        terms = _call(function, V)
        if self.cost_matrix is not None:
            terms *= np.asarray(self.cost_matrix, dtype=np.float64)[c]
        terms[np.arange(len(V)), c] = 0.0
        return terms

    def _slopes(self, V: Array, c: Labels) -> tuple[Array, Array, Array]:
        """Return γ'(S) (n,), the terms φ'(V) (n, K), and the inner sum S (n,)."""
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
    """Return the margin components ``V[i, k] = U[i, c_i] − U[i, k]``, (n, K)."""
    return pick(U, c)[:, None] - clip_scores(U)


def _call(function: Function, x: Array) -> Array:
    """Return function(x) as a new array, limited to ±1e90."""
    # A user's function may overflow, as e^{−v} does at v = −1000; clipping takes care of that.
    with np.errstate(all="ignore"):
        values = np.array(function(x), dtype=np.float64)
    return np.clip(np.nan_to_num(values, copy=False, nan=0.0), -_USER_BOUND, _USER_BOUND, out=values)
