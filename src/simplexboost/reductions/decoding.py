"""Decoding: answers f (n, l) of the columns and the code M (K, l) → a distance for every class, (n, K)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import logit

from .._typing import Array

# Losses L(m f) of a column's answer f where the class's letter is m.
MARGIN_LOSSES: dict[str, Callable[[Array], Array]] = {
    "exponential": lambda z: np.exp(-np.clip(z, -300.0, 300.0)),
    "logistic": lambda z: np.logaddexp(0.0, -z),
    "hinge": lambda z: np.maximum(0.0, 1.0 - z),
    "squared": lambda z: (1.0 - z) ** 2,
}
DECODINGS = (*MARGIN_LOSSES, "hamming", "votes", "euclidean")

MOST = 1e150  # beyond, a score counts as this one, whose square is still finite
CERTAIN = 1e-6  # a probability p counts as (1 − 2·10⁻⁶) p + 10⁻⁶: log-odds stay within ±13.8 and keep their order


def distances(f: Array, M: Array, decoding: str) -> Array:
    """How far the answers are from the row of each class, (n, K); the smallest wins.

    ==============  ==========================================================================
    a loss          Σ_j L(m_kj f_j)
    ``hamming``     Σ_j ½ (1 − m_kj sign f_j): wrong bits, zeros counting ½
    ``votes``       minus the columns that answer with the class's letter
    ``euclidean``   Σ_j (m_kj − f_j)²
    ==============  ==========================================================================

    The sign of an answer of exactly 0 is −1, as in scikit-learn's classifiers.

    Examples
    --------
    >>> M = np.array([[1.0, 1.0, 0.0], [-1.0, 0.0, 1.0], [0.0, -1.0, -1.0]])
    >>> distances(np.array([[2.0, -0.5, 0.0]]), M, "hamming")
    array([[1.5, 2.5, 0.5]])
    """
    plus, minus = (M > 0).astype(float).T, (M < 0).astype(float).T  # (l, K)
    f = np.clip(f, -MOST, MOST)
    if decoding in MARGIN_LOSSES:
        loss = MARGIN_LOSSES[decoding]
        nothing = loss(np.zeros(1))[0] * (M == 0).sum(axis=1)
        return snap(loss(f) @ plus + loss(-f) @ minus + nothing)
    if decoding == "euclidean":
        return snap((f**2).sum(axis=1, keepdims=True) - 2.0 * f @ M.T + (M**2).sum(axis=1))
    positive = (f > 0).astype(float)  # (n, l)
    votes = positive @ plus + (1.0 - positive) @ minus
    if decoding == "votes":
        return -votes
    nonzero = np.abs(M).sum(axis=1)  # (K,)
    return nonzero - votes + 0.5 * (M.shape[1] - nonzero)


def snap(distance: Array) -> Array:
    """Rounded to 40 bits of the row's largest distance: ties are ties, not decided by rounding errors."""
    _, exponent = np.frexp(np.abs(distance).max(axis=1, initial=0.0, keepdims=True))
    unit = np.ldexp(1.0, exponent - 40)
    rounded: Array = np.round(distance / unit) * unit
    return rounded


def confidence(f: Array, M: Array) -> Array:
    """Σ_j m_kj f_j squashed into ±0.2, (n, K): it orders classes at equal distance and changes no other order."""
    total = f @ M.T
    return 0.2 * total / (1.0 + np.abs(total))


def answers_from_probabilities(p: Array, decoding: str) -> Array:
    """Probabilities of +1 as answers: the f that minimises the expected loss, which for the hinge loss is not unique.

    Log-odds for ``logistic``, half of them for ``exponential``, 2p − 1 for all others.

    Examples
    --------
    >>> answers_from_probabilities(np.array([0.1, 0.5, 0.9]), "logistic").round(3)
    array([-2.197,  0.   ,  2.197])
    """
    if decoding not in ("logistic", "exponential"):
        return 2.0 * p - 1.0
    f: Array = logit((1.0 - 2.0 * CERTAIN) * p + CERTAIN)
    return f if decoding == "logistic" else 0.5 * f
