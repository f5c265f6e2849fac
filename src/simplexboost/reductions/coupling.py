"""Probabilities of K classes: from distances by a soft-max, or from the columns' probabilities by coupling."""

from __future__ import annotations

import numpy as np
from scipy.special import softmax

from .._typing import Array

TINY = 1e-7  # probabilities of columns stay this far from 0 and 1, as in LIBSVM


def softmax_link(distance: Array, M: Array) -> Array:
    """softmax(−distance / s), (n, K), with s the columns that have two classes on opposite sides, on average.

    If two classes contend, every column that has them on opposite sides repeats the same log-odds, and s says how many
    do: with logistic decoding of log-odds the division undoes the repetition. One column of two classes gives its own
    probabilities back.

    Examples
    --------
    >>> from simplexboost.reductions.decoding import distances
    >>> M = np.array([[-1.0], [1.0]])
    >>> softmax_link(distances(np.log([[3.0]]), M, "logistic"), M)
    array([[0.25, 0.75]])
    """
    opposite = 0.5 * (np.abs(M) @ np.abs(M).T - M @ M.T)  # (K, K)
    repetition = opposite[np.triu_indices(len(M), 1)].mean() or 1.0
    P: Array = softmax(-distance / repetition, axis=1)
    return P


def couple(r: Array, M: Array) -> Array:
    """Class probabilities p (n, K) that explain the columns' probabilities r (n, l) of +1 best.

    With I⁺ and I⁻ the classes on the two sides of column j, r_j should be Σ_{I⁺} p / Σ_{I⁺ ∪ I⁻} p; minimised is

        Σ_j ((1 − r_j) Σ_{I⁺} p − r_j Σ_{I⁻} p)²   over p ≥ 0, Σ p = 1.

    For all pairs that is the second method of Wu, Lin and Weng (2004), for ±1 codes the least squares of Kong and
    Dietterich (1997), for one-vs-all the probability vector nearest to r.

    Examples
    --------
    >>> from simplexboost.codewords import all_pairs
    >>> p = np.array([0.5, 0.3, 0.2])
    >>> couple(np.array([[5 / 8, 5 / 7, 3 / 5]]), all_pairs(3)).round(6)  # consistent: p_k / (p_k + p_l)
    array([[0.5, 0.3, 0.2]])
    """
    block = max(1, 2**21 // (len(M) ** 2 + M.size))  # rows at a time: some 16 MB
    return np.concatenate([_couple(r[i : i + block], M) for i in range(0, max(len(r), 1), block)])


def _couple(r: Array, M: Array) -> Array:
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
        p[i] = _nearest(A[i])
    return p / p.sum(axis=1, keepdims=True)


def _nearest(A: Array) -> Array:
    """argmin ‖A p‖² over the simplex: non-negative least squares with the sum as one more equation, scaled after."""
    from scipy.optimize import nnls  # not at the top: start-up time

    rows = np.vstack([A, 1e-5 * np.eye(A.shape[1]), np.ones(A.shape[1])])
    weights, _ = nnls(rows, np.append(np.zeros(len(rows) - 1), 1.0))
    p: Array = weights / weights.sum()
    return p
