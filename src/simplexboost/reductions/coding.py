"""Construction and decoding of coding matrices M (K, l) of −1, 0 and +1, whose l columns are binary problems.

Decoding turns the scores f (n, l) of the l binary classifiers into the distances from the K rows of M, (n, K). Class
probabilities are a softmax of minus the distances, or are computed from the l binary probabilities by coupling.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import logit, softmax

from .._util.arrays import Array, Mask
from .._util.messages import warn_user
from .._util.params import resolve
from ..parts.codewords import CODEWORDS, Codewords, Custom, as_codewords
from ..parts.codewords.base import check_ternary

# The named codes whose entries are −1, 0, +1 with both signs in every column.
CODES = {name: part for name, part in CODEWORDS.items() if name in (
    "one-vs-all", "all-pairs", "exhaustive", "random-dense", "random-sparse", "hadamard", "bch", "max-hamming"
)}  # fmt: skip


def make_code(codewords: Any, present: Mask, rng: np.random.Generator) -> Array:
    """Return the coding matrix (K, l) of −1, 0 and +1; rows of classes without training rows are zero."""
    K, K_present = len(present), int(present.sum())
    is_matrix = isinstance(codewords, list | tuple) or (hasattr(codewords, "__array__") and np.ndim(codewords))
    part = as_codewords(codewords) if is_matrix else resolve(codewords, CODES, Codewords, "codewords")
    part.check()
    if isinstance(part, Custom):
        rows = check_code(part.Y, K)[present]
        letters = np.abs(rows).sum(axis=0)
        one_sided = np.flatnonzero((np.abs(rows.sum(axis=0)) == letters) & (letters > 0))
        if len(one_sided):
            warn_user(
                f"columns {one_sided[:10].tolist()} of codewords have training examples on one side only, because "
                "classes are absent; they answer with that side always.",
            )
    elif K_present < 2:
        rows = np.zeros((K_present, 0))
    elif K_present == 2:
        rows = np.array([[-1.0], [1.0]])  # the only column there is, up to sign: once is enough
    else:
        rows = check_code(part.matrix(K_present, rng), K_present)
    M = np.zeros((K, rows.shape[1]))
    M[present] = rows
    return M


def check_code(M: Any, K: int) -> Array:
    """Return a coding matrix as an array; raise unless it has K distinct rows, and +1 and −1 in every column."""
    M = check_ternary(M)
    if len(M) != K:
        raise ValueError(
            f"codewords has {len(M)} rows but there are K={K} classes; pass one row per class, in sorted order, and "
            "name the classes that may be absent in classes=[...]."
        )
    poor = np.flatnonzero((M.max(axis=0) < 1) | (M.min(axis=0) > -1))
    if len(poor):
        raise ValueError(
            f"codewords has columns without both +1 and -1, which separate nothing: {poor[:10].tolist()}; leave them "
            "out."
        )
    opposite = np.abs(M) @ np.abs(M).T - M @ M.T  # (K, K), twice the columns with opposite signs
    np.fill_diagonal(opposite, 1)
    k, l = np.unravel_index(opposite.argmin(), opposite.shape)  # noqa: E741
    if np.array_equal(M[k], M[l]) and k != l:
        raise ValueError(f"codewords has equal rows {k} and {l}; every class needs its own codeword.")
    if opposite.min() == 0:
        warn_user(
            f"no column of codewords has classes {k} and {l} on opposite sides, so nothing is trained to tell them "
            "apart; add a column.",
        )
    return M


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
    """Return the distances (n, K) of the l classifiers' scores f (n, l) from the rows of the coding matrix M (K, l).

    The parameter ``decoding`` of `OutputCodeClassifier` defines the distances. The class with the smallest distance is
    predicted. The sign of a score of exactly 0 is −1, as in scikit-learn's classifiers.
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
    """Round distances (n, K) to 40 bits of the largest one in each row, so that rounding errors do not break ties."""
    _, exponent = np.frexp(np.abs(distance).max(axis=1, initial=0.0, keepdims=True))
    unit = np.ldexp(1.0, exponent - 40)
    return np.asarray(np.round(distance / unit) * unit)


def confidence(f: Array, M: Array) -> Array:
    """Return tie-breakers (n, K) within ±0.2 that rise with the products of scores f (n, l) and rows of M (K, l)."""
    total = f @ M.T
    return 0.2 * total / (1.0 + np.abs(total))


def answers_from_probabilities(p: Array, decoding: str) -> Array:
    """Return the scores with the least expected decoding loss, given the probabilities p of the classes with +1.

    These are the log-odds for ``logistic``, half the log-odds for ``exponential``, and 2p − 1 for all other decodings.
    """
    if decoding not in ("logistic", "exponential"):
        return 2.0 * p - 1.0
    f: Array = logit((1.0 - 2.0 * CERTAIN) * p + CERTAIN)
    return f if decoding == "logistic" else 0.5 * f


TINY = 1e-7  # probabilities of columns stay this far from 0 and 1, as in LIBSVM


def softmax_link(distance: Array, M: Array) -> Array:
    """Return class probabilities softmax(−distance / s), (n, K), from the distances (n, K) of the classes.

    For two classes, count the columns of the coding matrix M (K, l) with +1 for one of them and −1 for the other; s is
    the mean over all pairs. Each such column adds log-odds to the distance; division by s makes the sum an average.
    """
    opposite = 0.5 * (np.abs(M) @ np.abs(M).T - M @ M.T)  # (K, K)
    repetition = opposite[np.triu_indices(len(M), 1)].mean() or 1.0
    return np.asarray(softmax(-distance / repetition, axis=1))


def couple(r: Array, M: Array) -> Array:
    """Return the class probabilities p (n, K) that best explain the binary probabilities r (n, l) of the side +1.

    For column j of the coding matrix M (K, l), let A be the sum of p over the classes with +1, and B over the classes
    with −1. Then r_j should be A / (A + B), so that p minimises

        Σ_j ((1 − r_j) A − r_j B)²   over p ≥ 0, Σ p = 1.

    For all pairs this is the second method of Wu, Lin and Weng (2004), for ±1 codes that of Kong and Dietterich (1997),
    for one-vs-all the nearest probability vector.
    """
    block = max(1, 2**21 // (len(M) ** 2 + M.size))  # rows at a time: some 16 MB
    return np.concatenate([_couple(r[i : i + block], M) for i in range(0, max(len(r), 1), block)])


def _couple(r: Array, M: Array) -> Array:
    from scipy.optimize import nnls  # not at the top: start-up time

    K = len(M)
    r = np.clip(r, TINY, 1.0 - TINY)[:, :, None]  # (n, l, 1)
    A = (1.0 - r) * (M > 0).T - r * (M < 0).T  # (n, l, K)
    # Lagrange: (Q 1; 1ᵀ 0)(p; b) = (0; 1). A trace of ridge picks the most even p where a code leaves p open.
    system = np.zeros((len(r), K + 1, K + 1))
    system[:, :K, :K] = A.transpose(0, 2, 1) @ A + 1e-10 * np.eye(K)
    system[:, K, :K] = system[:, :K, K] = 1.0
    target = np.zeros((len(r), K + 1, 1))
    target[:, K] = 1.0
    p: Array = np.linalg.solve(system, target)[:, :K, 0].astype(np.float64, copy=False)
    for i in np.flatnonzero((p < 0).any(axis=1)):  # never for all pairs
        # argmin ‖A p‖² over the simplex: non-negative least squares with the sum as one more equation, scaled after
        rows = np.vstack([A[i], 1e-5 * np.eye(K), np.ones(K)])
        weights, _ = nnls(rows, np.append(np.zeros(len(rows) - 1), 1.0))
        p[i] = weights / weights.sum()
    return p / p.sum(axis=1, keepdims=True)
