"""Computes class probabilities (n, K) from class scores U (n, K).

The map is a closed form where the papers give one, otherwise the stationary distribution of a walk on the classes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from ..._util.arrays import Array

# Scores are clipped to ±HUGE, so that no difference or multiple of scores can overflow.
HUGE = 1e200
# NumPy adds up rows of fewer numbers one after another, so whole columns can be added up instead, with the same bits.
FEW = 8


@dataclass(frozen=True, eq=False)
class Link:
    """A named formula from class scores U to class probabilities, which exported models compute in other languages.

    =============  =====================================================================
    kind           probabilities
    =============  =====================================================================
    softmax        softmax(scale · U)
    savage         η_k ∝ 1 / (1 − p_k) with p = softmax(2U)
    one-vs-all     σ(scale · U_k), divided by the sum over the classes
    sigmoid        σ(scale · U_k), every label on its own
    shares         U_k / Σ_j U_j, all equal if that sum is 0
    walk           the stationary distribution of a walk on the classes, under ``costs``
    certain        1, for models of a single class
    =============  =====================================================================

    σ is the logistic function. Only "walk" has ``costs`` (K, K) and ``loss``, the name of the loss that computes it.
    """

    kind: str
    scale: float = 1.0
    costs: Array | None = None
    loss: str | None = None

    def probabilities(self, U: Array) -> Array:
        """Return the class probabilities (n, K) at class scores U (n, K)."""
        match self.kind:
            case "softmax":
                return softmax(U, self.scale)
            case "savage":
                return savage_link(U)
            case "one-vs-all":
                # log σ, because a sum of underflowed σ would be 0
                return softmax(-np.logaddexp(0.0, -self.scale * clip_scores(U)))
            case "sigmoid":
                return expit(self.scale * clip_scores(U))
            case "shares":
                total = U.sum(axis=1, keepdims=True)
                return np.divide(U, total, out=np.full_like(U, 1 / U.shape[1]), where=total > 0)
        raise NotImplementedError(self.kind)


def clip_scores(U: Array) -> Array:
    """Return a float64 copy of the scores, clipped to ±HUGE, so that multiples of them are finite."""
    return np.clip(np.asarray(U, dtype=np.float64), -HUGE, HUGE)


def reduce_rows(reduction: np.ufunc, A: Array) -> Array:
    """Return the row sums (np.add) or the row maxima (np.maximum) of A (n, K), as a column (n, 1).

    For few columns this is many times as fast as NumPy's own reduction, and gives the same bits.
    """
    if not 0 < A.shape[1] < FEW:
        return reduction.reduce(A, axis=1, keepdims=True)
    out = A[:, 0].copy()
    for k in range(1, A.shape[1]):
        reduction(out, A[:, k], out=out)
    return out[:, None]


def softmax(U: Array, scale: float = 1.0) -> Array:
    """Return ``exp(scale · U)`` with every row divided by its sum, (n, K)."""
    P = clip_scores(U)  # (n, K), the only buffer
    P -= reduce_rows(np.maximum, P)
    if scale != 1.0:
        P *= scale
    np.exp(P, out=P)
    P /= reduce_rows(np.add, P)
    return P


def log_softmax(U: Array, scale: float = 1.0) -> Array:
    """Return the logarithm of `softmax`, (n, K); finite even where a probability underflows to zero."""
    V = clip_scores(np.ascontiguousarray(U))  # else rows are summed in an order that depends on their number
    V -= reduce_rows(np.maximum, V)
    if scale != 1.0:
        V *= scale
    V -= np.log(reduce_rows(np.add, np.exp(V)))
    return V


def log_of(P: Array) -> Array:
    """Return the logarithms of probabilities P; −inf where a probability is zero."""
    with np.errstate(divide="ignore"):
        return np.log(P)


def savage_link(U: Array) -> Array:
    """Return the class probabilities of the Savage loss, ``η_k ∝ 1 / (1 − p_k)`` with ``p = softmax(2 U)``.

    This is from Table 3 of Saberian and Vasconcelos; their equation (116) has ``softmax(2 U)``, which is right only for
    K = 2. For K > 2 the conditional risk has a finite minimiser only if ``min_k η_k > (K − 1) / Σ_j 1/η_j``. Otherwise
    the scores diverge, and no link can recover η.
    """
    E = clip_scores(U)  # (n, K)
    rows = np.arange(len(E))
    best = E.argmax(axis=1)  # (n,)
    top = E[rows, best]
    E[rows, best] = -np.inf
    second = E.max(axis=1)
    # log Σ_{j≠best} e^{2(u_j − top)} is summed without the best term, because 1 − p would cancel to zero.
    E -= second[:, None]
    E *= 2.0
    rest = 2.0 * (second - top) + np.log(np.exp(E).sum(axis=1))
    E += 2.0 * (second - top)[:, None]
    np.exp(E, out=E)
    # For the others the sum over j ≠ k contains the best term, 1, so that subtracting e_k ≤ 1 loses no digits.
    log_eta = -np.log1p(np.maximum(np.exp(rest)[:, None] - E, 0.0))
    log_eta[rows, best] = -rest
    return softmax(log_eta)


def stationary(T: Array, b: Array) -> Array:
    """Return z / b (n, K), up to a factor per row, where row i of z is the stationary distribution of random walk i.

    The walks have K states. The method is state reduction after Grassmann, Taksar and Heyman: Gaussian elimination
    without subtraction, so that every component is non-negative and accurate to a few units in the last place. States
    are eliminated in the order of increasing ``b``, so that ``b`` and z may underflow without harm: z / b keeps its
    size.

    ``T[i, l, k] b[i, k]`` is the rate of jumps from state l to state k ≠ l in walk i. ``T`` (n, K, K) is positive, and
    its diagonal is ignored. ``b`` (n, K) is not negative, and the largest entry of each row is of order one.
    """
    K = b.shape[1]
    order = np.argsort(-b, axis=1)
    b = np.take_along_axis(b, order, axis=1)
    T = np.take_along_axis(np.take_along_axis(T, order[:, :, None], axis=1), order[:, None, :], axis=2)
    leaving = np.empty_like(b)  # (n, K): rate from state k to the states before it
    for k in range(K - 1, 0, -1):
        leaving[:, k] = np.einsum("nj,nj->n", T[:, k, :k], b[:, :k])
        via = T[:, :k, k] * (b[:, k] / leaving[:, k])[:, None]  # (n, k): rate from l to k, over the rate of leaving k
        T[:, :k, :k] += via[:, :, None] * T[:, k, None, :k]
    y = np.ones_like(b)
    for k in range(1, K):
        y[:, k] = np.einsum("nl,nl,nl->n", b[:, :k], y[:, :k], T[:, :k, k]) / leaving[:, k]
    out = np.empty_like(y)
    np.put_along_axis(out, order, y, axis=1)
    return out
