"""Losses outside the γ–φ family, on class scores U (n, K): e.g. one-vs-all, L = e^{−2U_c} + Σ_{k≠c} e^{2U_k}.

They are meant for canonical codewords, for which 2 U = F is the score of each class in the papers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._parts import check_choice, check_number
from .._typing import Array, Labels
from ..codewords.code import Code
from ..engine import CPU, Engine, engine_of
from .base import Loss, pick, saturated_exp
from .carried import OwnScoreObjective
from .exponential import Exponential
from .links import HUGE, softmax
from .objective import Objective

STEEPEST = 1e100  # an alpha so large can be squared, and multiplied with any score that is not clipped


@dataclass(eq=False, repr=False)
class OneVsAll(Loss):
    """K binary AdaBoosts at once, ``e^{−f_c} + Σ_{k≠c} e^{f_k}`` with f = 2 U; also AdaBoost.MH's loss.

    The posterior is AdaBoost's link σ(2 f_k) for every class, divided by the sum over classes. At the minimiser of the
    conditional risk this sum is one.

    Examples
    --------
    >>> OneVsAll().value(np.array([[0.0, 0.0, 0.0]]), np.array([1]))
    array([3.])
    """

    convex = True
    exponential: ClassVar[bool] = True
    decouples: ClassVar[bool] = True

    def terms(self, P: Array, W: Array, c: Labels) -> tuple[Array, Array]:
        return np.abs(P), 2.0 * self._toward(W.copy(), c)

    def total(self, P: Array, c: Labels) -> float:
        return engine_of(P).total(np.abs(P).ravel()) / 2.0

    def binary(self, U: Array, c: Labels, k: int) -> tuple[Loss, Array, Labels]:
        """The binary problem of class k against the rest: AdaBoost's loss, scores (n, 2), labels (0 for class k)."""
        u = U[:, k]
        return Exponential(), np.column_stack([u, -u]), (c != k).astype(np.intp)

    def _toward(self, B: Array, c: Labels) -> Array:
        """Half of the residual, from the terms: minus them, except at the true class; in place."""
        np.negative(B, out=B)
        B[np.arange(len(B)), c] *= -1.0
        return B

    def _exponents(self, U: Array, c: Labels) -> Array:
        B = np.clip(np.asarray(U, dtype=np.float64), -HUGE, HUGE)  # (n, K)
        B *= 2.0
        B[np.arange(len(B)), c] *= -1.0
        return B

    def value(self, U: Array, c: Labels) -> Array:
        return saturated_exp(self.log_value(U, c))

    def log_value(self, U: Array, c: Labels) -> Array:
        B = self._exponents(U, c)
        top = B.max(axis=1)
        B -= top[:, None]
        np.exp(B, out=B)
        return top + np.log(B.sum(axis=1))

    def residual(self, U: Array, c: Labels) -> Array:
        P = self._toward(saturated_exp(self._exponents(U, c)), c)
        P *= 2.0
        return P

    def scaled_residual(self, U: Array, c: Labels) -> tuple[Array, float]:
        B = self._exponents(U, c)
        shift = engine_of(B).largest(B)
        B -= shift
        np.exp(B, out=B)
        return self._toward(B, c), shift + math.log(2.0)

    def along(self, U: Array, c: Labels, W: Array, alpha: float = 0.0) -> tuple[Array, Array | None, float]:
        P, log_scale = self.scaled_residual(U + alpha * W, c)
        first = -np.einsum("nk,nk->n", P, W)
        P *= W
        np.abs(P, out=P)
        return first, 2.0 * np.einsum("nk,nk->n", P, np.abs(W)), log_scale

    def mistake(self, K: int) -> float:
        """If a rival's score is not below that of the true class, their two terms sum to at least 2."""
        return 2.0

    def falls_forever(self, W: Array, c: Labels, strictly: bool = False) -> bool:
        """Whether the score of the true class never falls and that of a rival never rises."""
        gains = self._toward(W.copy(), c)  # (n, K)
        return engine_of(W).every(gains > 0 if strictly else gains >= 0)

    def curvature(self, U: Array, c: Labels, Y: Array) -> Array:
        return engine_of(U).times(saturated_exp(self._exponents(U, c)), np.square(Y))

    def probabilities(self, U: Array) -> Array:
        U = np.clip(np.asarray(U, dtype=np.float64), -HUGE, HUGE)
        return softmax(-np.logaddexp(0.0, -4.0 * U))  # log σ(4 U): a sum of underflowed σ would be 0


def strongest(P: Array) -> tuple[Labels, Array]:
    """The class with the largest entry in each row of the residual P, and that entry or 0 if it is negative; (n,)."""
    k = P.argmax(axis=1)
    return k, np.maximum(P[np.arange(len(P)), k], 0.0)


@dataclass(eq=False, repr=False)
class OwnScoreExponential(Loss):
    """A loss of the true class's score only, ``e^{−α⟨y_c, f⟩} = e^{−2αU_c}``: AdaBoost.M1, SAMME.

    AdaBoost.M1 uses canonical codewords and α = 1, SAMME centred ones and α = 1/K. The posterior is softmax(2αU). For
    centred codewords it is exact at the minimiser; for canonical ones the loss has no minimiser, and it is only a
    normalised score.

    Parameters
    ----------
    alpha : float or "1/K", default 1.0
        Positive.

    Examples
    --------
    >>> OwnScoreExponential(alpha=0.5).value(np.array([[2.0, 0.0]]), np.array([0])).round(4)
    array([0.1353])
    """

    alpha: float | str = 1.0
    convex = True
    exponential: ClassVar[bool] = True

    def rate(self, K: int) -> float:
        """How much the exponent falls per unit of the true class's score, 2α."""
        return 2.0 / K if isinstance(self.alpha, str) else 2.0 * self.alpha

    def own_rate(self, K: int) -> float:
        return self.rate(K)

    def objective(self, c: Labels, weight: Array, code: Code, engine: Engine = CPU) -> Objective:
        return OwnScoreObjective(self, c, weight, code, engine)

    def terms(self, P: Array, W: Array, c: Labels) -> tuple[Array, Array]:
        rows = np.arange(len(c))
        return P[rows, c][:, None], self.rate(W.shape[1]) * W[rows, c][:, None]

    def total(self, P: Array, c: Labels) -> float:
        return engine_of(P).total(P[np.arange(len(c)), c]) / self.rate(P.shape[1])

    def value(self, U: Array, c: Labels) -> Array:
        return saturated_exp(self.log_value(U, c))

    def log_value(self, U: Array, c: Labels) -> Array:
        return -self.rate(U.shape[1]) * pick(U, c)

    def residual(self, U: Array, c: Labels) -> Array:
        return self._own(U, c, self.rate(U.shape[1]) * self.value(U, c))

    def scaled_residual(self, U: Array, c: Labels) -> tuple[Array, float]:
        w, log_scale = self._weights(U, c)
        return self._own(U, c, w), log_scale

    def along(self, U: Array, c: Labels, W: Array, alpha: float = 0.0) -> tuple[Array, Array | None, float]:
        w, log_scale = self._weights(U + alpha * W, c)
        own = pick(W, c)
        return -w * own, self.rate(U.shape[1]) * w * own**2, log_scale

    def falls_forever(self, W: Array, c: Labels, strictly: bool = False) -> bool:
        """Whether the score of the true class never falls."""
        own = W[np.arange(len(W)), c]  # (n,)
        return engine_of(W).every(own > 0 if strictly else own >= 0)

    def curvature(self, U: Array, c: Labels, Y: Array) -> Array:
        return (self.rate(U.shape[1]) / 2) ** 2 * self.value(U, c)[:, None] * np.square(Y)[c]

    def probabilities(self, U: Array) -> Array:
        return softmax(U, self.rate(U.shape[1]))

    def check(self, K: int) -> None:
        super().check(K)
        if isinstance(self.alpha, str):
            check_choice("alpha", self.alpha, ("1/K",))
        else:
            check_number("alpha", self.alpha, float, 0.0, STEEPEST, open_low=True)

    def weights_of(self, own: Array, K: int) -> tuple[Array, float]:
        """The residual at the true class, (n,), from its score, up to a factor; and the logarithm of that factor."""
        log_value = -self.rate(K) * np.clip(own, -HUGE, HUGE)
        shift = engine_of(log_value).largest(log_value)
        return np.exp(log_value - shift), shift + math.log(self.rate(K))

    def _weights(self, U: Array, c: Labels) -> tuple[Array, float]:
        return self.weights_of(pick(U, c), U.shape[1])

    def _own(self, U: Array, c: Labels, w: Array) -> Array:
        P = np.zeros(U.shape)  # (n, K)
        P[np.arange(len(P)), c] = w
        return P
