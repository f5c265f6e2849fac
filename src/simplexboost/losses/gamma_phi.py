"""γ–φ losses: U (n, K), c (n,) -> L = γ(Σ_{k≠c} cost_matrix[c, k] φ(U_c − U_k)), γ increasing and φ decreasing.

The residual of an example is ``w`` at its class and ``−w τ_k`` at the others: ``w`` says how hard the example is, and
``τ`` (n, K), whose rows sum to one, which rival classes make it hard (Saberian and Vasconcelos, (29)-(30)).
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from .._typing import Array, Labels
from ..engine import engine_of
from .base import Loss, check_cost_matrix, pick, rivals, saturated_exp
from .links import HUGE, softmax, stationary
from .merging import MergedRivals, Rivals

# Walks are solved in blocks of this many numbers: 2 MiB stay in the cache while K states are eliminated.
_BLOCK = 2**18
# The least rate of a jump (the largest is of order one), so that a walk can reach every class.
_NO_JUMP = 1e-30


class GammaPhi(Loss):
    """``L = γ(Σ_{k≠c} cost_matrix[c, k] φ(U_c − U_k))``, the abstract family.

    The attribute ``cost_matrix`` (K, K) weights the pair of the true class c and a rival k; its diagonal is ignored,
    and None means ones. A zero means that the pair does not matter. Adding a constant to the scores of a row changes
    nothing.

    Examples
    --------
    >>> from simplexboost.losses import Exponential, Logistic, OneVsAll
    >>> isinstance(Exponential(), GammaPhi), isinstance(Logistic(), GammaPhi), isinstance(OneVsAll(), GammaPhi)
    (True, True, False)
    """

    cost_matrix: ArrayLike | None

    @abstractmethod
    def _walk(self, U: Array) -> tuple[Array, Array, Array]:
        """Theorem 7 as walks on the classes, as `posterior_system` explains.

        ``T`` (n, K, K) and ``b`` (n, K), whose products ``T[i, l, k] b[i, k]`` are minus the residual at class k when
        the truth is l, up to a factor for each l; and ``log_factor`` (n, K): η ∝ exp(log_factor) · z / b.
        """

    def posterior_system(self, U: Array) -> Array:
        """The posterior by Theorem 7, for any γ, φ and costs: the solution of Ω η = e₁; O(n K³).

        Column l of Ω is the gradient of the loss when the truth is l, so under η the gradients of all classes cancel.
        This is solved as a random walk: let it jump from class l to class k with the probability τ_k of true class l,
        and let z be its stationary distribution; then ``η_l ∝ z_l / w_l``. In this way no digits are lost, and no
        scores are too large.

        Parameters
        ----------
        U : array of shape (n, K)
            Class scores.

        Returns
        -------
        array of shape (n, K)
            Non-negative, rows sum to one. A zero cost counts as 1e-30 of the largest, so that the solution is unique.

        Examples
        --------
        >>> from simplexboost.losses import Logistic
        >>> U = np.array([[1.0, 0.0, -1.0]])
        >>> Logistic().posterior_system(U).round(6)
        array([[0.866813, 0.11731 , 0.015876]])
        >>> Logistic().probabilities(U).round(6)
        array([[0.866813, 0.11731 , 0.015876]])
        """
        n, K = U.shape
        size = max(1, _BLOCK // (K * K))
        blocks = [self._solve(U[start : start + size]) for start in range(0, n, size)]
        return np.concatenate(blocks) if blocks else np.empty((0, K))

    def _solve(self, U: Array) -> Array:
        T, b, log_factor = self._walk(U)
        return softmax(np.log(stationary(np.maximum(T, _NO_JUMP), b)) + log_factor)

    def probabilities(self, U: Array) -> Array:
        return self.posterior_system(U)

    def check(self, K: int) -> None:
        super().check(K)
        check_cost_matrix(self.cost_matrix, K, rows_need_a_rival=True)


class ExponentialPhi(GammaPhi):
    """φ(v) = e^{−a v}. A subclass gives γ as functions of s, the logarithm of the inner sum.

    ``_log_gamma`` is log γ(e^s), ``_log_weight`` is log w, ``_bend`` is 1 + γ''(e^s) e^s / γ'(e^s), which is not
    negative if L is convex.
    """

    rate: ClassVar[float]  # a

    @abstractmethod
    def _log_gamma(self, s: Array) -> Array: ...

    @abstractmethod
    def _log_weight(self, s: Array) -> Array: ...

    @abstractmethod
    def _bend(self, s: Array) -> Array | float: ...

    @abstractmethod
    def _closed_form(self, U: Array) -> Array:
        """The posterior when there are no costs."""

    def _race(self, U: Array, c: Labels, out: Array | None = None) -> tuple[Array, Array, Array]:
        """``E`` (n, K) proportional to τ, its row sums ``Z`` (n,), and ``s`` (n,); see `Engine.race`."""
        if self.cost_matrix is None:
            E, Z, lead = engine_of(U).race(U, c, self.rate, out)
            return E, Z, np.log(Z) - self.rate * np.clip(lead, -HUGE, HUGE)
        E = rivals(U, c)
        E *= self.rate
        # Costs are added as logarithms before the maximum is taken: a rival without cost must not be the maximum.
        E += _log_cost(self.cost_matrix)[c]
        top = E.max(axis=1)  # (n,)
        E -= top[:, None]
        s = top - self.rate * pick(U, c)
        np.exp(E, out=E)
        Z = E.sum(axis=1)  # at least one
        s += np.log(Z)
        return E, Z, s

    def rivals(self, U: Array, c: Labels) -> Rivals | None:
        if self.cost_matrix is not None:
            return None
        E, _, lead = engine_of(U).race(U, c, self.rate)
        return Rivals(E, np.clip(lead, -HUGE, HUGE), c, self.rate)

    def along_merged(self, merged: MergedRivals, alpha: float) -> tuple[Array, Array | None, float]:
        s, mean, variance = merged.race(alpha)
        return self._slopes(s, -mean, variance)

    def log_value_merged(self, merged: MergedRivals, alpha: float) -> Array:
        return self._log_gamma(merged.log_sum(alpha)[0])

    def _weights(self, s: Array) -> tuple[Array, float]:
        """``w`` up to a common factor, and the logarithm of that factor."""
        return saturated_exp(self._log_weight(s)), 0.0

    def value(self, U: Array, c: Labels) -> Array:
        return saturated_exp(self.log_value(U, c))

    def log_value(self, U: Array, c: Labels) -> Array:
        return self._log_gamma(self._race(U, c)[2])

    def residual(self, U: Array, c: Labels) -> Array:
        E, Z, s = self._race(U, c)
        return _pulled(E, Z, c, saturated_exp(self._log_weight(s)))

    def scaled_residual(self, U: Array, c: Labels) -> tuple[Array, float]:
        return self.scaled_residual_into(U, c, None)

    def scaled_residual_into(self, U: Array, c: Labels, out: Array | None) -> tuple[Array, float]:
        E, Z, s = self._race(U, c, out)
        w, log_scale = self._weights(s)
        return _pulled(E, Z, c, w), log_scale

    def along(self, U: Array, c: Labels, W: Array, alpha: float = 0.0) -> tuple[Array, Array | None, float]:
        if self.cost_matrix is None:
            Z, ahead, mean, variance = engine_of(U).race_along(U, c, W, alpha, self.rate)
            s = np.log(Z) - self.rate * np.clip(ahead, -HUGE, HUGE)
        else:
            E, Z, s = self._race(U + alpha * W, c)
            mean = np.einsum("nk,nk->n", E, W) / Z  # (n,), of W over the rivals
            variance = np.einsum("nk,nk->n", E, np.square(W - mean[:, None])) / Z
        return self._slopes(s, W[np.arange(len(W)), c] - mean, variance)

    def _slopes(self, s: Array, lead: Array, variance: Array) -> tuple[Array, Array | None, float]:
        """What `along` returns, from s, the mean and the variance of what the true class gains on rivals."""
        w, log_scale = self._weights(s)
        return -w * lead, self.rate * w * (variance + self._bend(s) * lead**2), log_scale

    def curvature(self, U: Array, c: Labels, Y: Array) -> Array:
        # The second derivative along each coordinate of F: `along` with W = ½ Y[:, j] in every row.
        E, Z, s = self._race(U, c)
        E /= Z[:, None]
        times = engine_of(U).times
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
        U = np.clip(np.asarray(U, dtype=np.float64), -HUGE, HUGE)
        log_b = self.rate * (U - U.max(axis=1, keepdims=True))  # (n, K)
        C = np.ones((K, K)) if self.cost_matrix is None else np.asarray(self.cost_matrix, dtype=np.float64)
        C = C / C[~np.eye(K, dtype=bool)].max()
        log_factor = 2.0 * log_b
        for truth in range(K):
            s = self._race(U, np.full(n, truth))[2]
            log_factor[:, truth] += s - self._log_weight(s)
        return np.broadcast_to(C, (n, K, K)), np.exp(log_b), log_factor

    def probabilities(self, U: Array) -> Array:
        return self._closed_form(U) if self.cost_matrix is None else self.posterior_system(U)


def _pulled(E: Array, Z: Array, c: Labels, w: Array) -> Array:
    """The residual, w at the true class and −w τ elsewhere, written over ``E`` = τ Z."""
    E = np.ascontiguousarray(E)
    engine_of(E).pull_rows(E, c, w, Z)
    return E


def _log_cost(cost: ArrayLike) -> Array:
    C = np.asarray(cost, dtype=np.float64)
    return np.log(C, out=np.full(C.shape, -np.inf), where=C > 0)
