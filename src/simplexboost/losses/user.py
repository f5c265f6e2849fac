"""A γ–φ loss from the user's own pair of functions: L = γ(Σ_{k≠c} cost_matrix[c, k] φ(U_c − U_k)).

The named losses work with logarithms; this one evaluates (29)-(30) of Saberian and Vasconcelos directly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .._parts import check_flag
from .._typing import Array, Labels
from ..engine import engine_of
from .base import pick
from .gamma_phi import GammaPhi
from .links import HUGE

Function = Callable[[Array], Array]

# Values of a user's functions are kept within ±1e90, so that a product of three of them and a few costs is finite.
_USER_BOUND = 1e90


@dataclass(eq=False, repr=False)
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
    cost_matrix : array of shape (K, K), optional
        Weight of the pair (true class, rival).
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

    def along(self, U: Array, c: Labels, W: Array, alpha: float = 0.0) -> tuple[Array, Array | None, float]:
        V = _gaps(U + alpha * W, c)
        slope, t, S = self._slopes(V, c)
        D = W[np.arange(len(W)), c][:, None] - W  # (n, K)
        inner = np.einsum("nk,nk->n", t, D)
        if self.gamma_second is None or self.phi_second is None:
            return slope * inner, None, 0.0
        q = self._terms(self.phi_second, V, c)
        second = _call(self.gamma_second, S) * inner**2 + slope * np.einsum("nk,nk->n", q, np.square(D, out=D))
        return slope * inner, second, 0.0

    def curvature(self, U: Array, c: Labels, Y: Array) -> Array:
        if self.gamma_second is None or self.phi_second is None:
            raise TypeError(
                f"curvature needs second derivatives; got gamma_second={self.gamma_second}, "
                f"phi_second={self.phi_second}: pass both, or choose an optimizer without Newton steps."
            )
        V = _gaps(U, c)
        slope, t, S = self._slopes(V, c)
        q = self._terms(self.phi_second, V, c)
        own, times = Y[c], engine_of(U).times  # (n, d)
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
        """``cost_matrix[c, k] · function(V_k)``, zero at the true class, (n, K)."""
        terms = _call(function, V)
        if self.cost_matrix is not None:
            terms *= np.asarray(self.cost_matrix, dtype=np.float64)[c]
        terms[np.arange(len(V)), c] = 0.0
        return terms

    def _slopes(self, V: Array, c: Labels) -> tuple[Array, Array, Array]:
        """γ'(S) (n,), the terms φ'(V) (n, K), and the inner sum S (n,)."""
        S = self._terms(self.phi, V, c).sum(axis=1)
        return _call(self.gamma_prime, S), self._terms(self.phi_prime, V, c), S

    def _walk(self, U: Array) -> tuple[Array, Array, Array]:
        n, K = U.shape
        T = np.empty((n, K, K))
        log_w = np.empty((n, K))
        for truth in range(K):
            T[:, truth], log_w[:, truth] = self._pull(U, np.full(n, truth))
        return T, np.ones((n, K)), -log_w

    def _pull(self, U: Array, c: Labels) -> tuple[Array, Array]:
        """``τ`` (n, K), zero at the true class, and ``log w`` (n,)."""
        slope, t, _ = self._slopes(_gaps(U, c), c)
        total = t.sum(axis=1)  # (n,), negative
        tau = np.full_like(t, 1.0 / (t.shape[1] - 1))  # uniform where all φ' underflow
        tau[np.arange(len(tau)), c] = 0.0
        np.divide(t, total[:, None], out=tau, where=(total < 0.0)[:, None])
        return tau, np.log(np.maximum(-slope * total, np.finfo(np.float64).tiny))


def _gaps(U: Array, c: Labels) -> Array:
    """Margin components ``V[i, k] = U[i, c_i] − U[i, k]``, (n, K)."""
    return pick(U, c)[:, None] - np.clip(np.asarray(U, dtype=np.float64), -HUGE, HUGE)


def _call(function: Function, x: Array) -> Array:
    """A new array function(x), limited to ±1e90."""
    # A user's function may overflow, as e^{−v} does at v = −1000; clipping takes care of that.
    with np.errstate(all="ignore"):
        values = np.array(function(x), dtype=np.float64)
    return np.clip(np.nan_to_num(values, copy=False, nan=0.0), -_USER_BOUND, _USER_BOUND, out=values)
