"""Computes how good a coding matrix is: its smallest distance, margin capacity, and number of corrected bits."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..._util.arrays import Array
from ..._util.docstrings import described
from .base import check_classes, check_matrix, check_ternary


@described
def min_distance(Y: ArrayLike) -> float:
    """Compute the smallest squared distance of two rows of a coding matrix, ``min_{k<l} ‖y_k - y_l‖²``.

    Examples
    --------
    >>> from simplexboost.parts.codewords import Canonical
    >>> min_distance(Canonical().matrix(5))
    2.0
    """
    from scipy.spatial.distance import cdist  # scipy's larger modules are imported where used: start-up time

    Y = check_matrix(Y)
    rows = max(1, 2**22 // len(Y))  # 32 MB of distances at a time
    smallest = np.inf
    for begin in range(0, len(Y) - 1, rows):
        squared = cdist(Y[begin : begin + rows], Y[begin:], "sqeuclidean")  # (rows, K - begin)
        squared[np.tri(*squared.shape, dtype=np.bool_)] = np.inf  # each pair once, no row with itself
        smallest = min(smallest, squared.min())
    return float(smallest)


@described
def min_hamming(Y: ArrayLike) -> float:
    """Compute the smallest Hamming distance of two codewords of −1, 0, +1, ``min_{k<l} ½ Σ_j (1 - y_kj y_lj)``.

    A zero counts one half (Allwein, Schapire and Singer); without zeros it is the number of columns that differ.

    Examples
    --------
    >>> from simplexboost.parts.codewords import AllPairs, Exhaustive
    >>> min_hamming(Exhaustive().matrix(5)), min_hamming(AllPairs().matrix(3))
    (8.0, 2.0)
    """
    Y = check_ternary(Y)
    return 0.5 * (Y.shape[1] - largest_off_diagonal(Y @ Y.T))


@described
def bits_corrected(Y: ArrayLike) -> int:
    """Compute how many wrong bits Hamming decoding can always correct, for a coding matrix of −1, 0 and +1.

    A bit is the ±1 output of the binary classifier of a column. Without zeros ``⌊(min_hamming - 1)/2⌋`` wrong bits are
    corrected. A column where the true class has a zero may give any output; e wrong bits in other columns are harmless
    for class k if, for every other class l, ``2e < (columns with opposite signs) + ½ (zeros of l) - ½ (zeros of k)``.

    Examples
    --------
    >>> from simplexboost.parts.codewords import AllPairs, Exhaustive
    >>> bits_corrected(Exhaustive().matrix(5)), bits_corrected(AllPairs().matrix(5))
    (3, 0)
    """
    Y = check_ternary(Y)
    opposite = 0.5 * (np.abs(Y) @ np.abs(Y).T - Y @ Y.T)  # (K, K)
    zeros = (Y == 0).sum(axis=1)
    room = opposite + 0.5 * (zeros - zeros[:, None])  # (K, K): class k (row) told from class l (column)
    np.fill_diagonal(room, np.inf)
    return max(0, int(np.ceil(room.min() / 2)) - 1)


@described
def margin_capacity(Y: ArrayLike) -> float:
    """Compute the margin that all classes can reach, ``min_k max_{‖v‖=1} min_{l≠k} ½ <y_k - y_l, v>``.

    It is half the smallest distance of a codeword to the convex hull of all others, or 0 if a codeword lies in it.

    Examples
    --------
    >>> from simplexboost.parts.codewords import Simplex
    >>> round(margin_capacity(Simplex().matrix(4)), 6), capacity_bound(4)
    (0.666667, 0.6666666666666666)
    """
    Y = check_matrix(Y)
    if min_distance(Y) == 0.0:
        return 0.0
    nearest = min(_hull_distance(Y[k], np.delete(Y, k, axis=0)) for k in range(len(Y)))
    return 0.5 * nearest if nearest > 1e-10 * np.abs(Y).max() else 0.0


def _hull_distance(y: Array, others: Array) -> float:
    """Compute the distance of y (d,) to the convex hull of the rows of ``others`` (K-1, d), none of them equal to y.

    With A the matrix of columns ``others - y``, non-negative least squares ``min_{w>=0} ‖Aw‖² + m²(Σw - 1)²`` gives w
    proportional to the weights of the nearest point, for any m > 0: the smaller ``‖Aw‖ / Σw``, the smaller the minimum.
    """
    from scipy.optimize import nnls

    A = (others - y).T  # (d, K-1)
    m = np.sqrt((A**2).sum(axis=0).min())  # in units of the distances, so that the problem is well conditioned
    weights, _ = nnls(np.vstack([A, np.full(A.shape[1], m)]), np.append(np.zeros(len(A)), m), maxiter=30 * A.shape[1])
    return float(np.linalg.norm(A @ (weights / weights.sum())))


@described
def capacity_bound(K: int) -> float:
    """Compute the largest margin capacity of K codewords of length one, ``K / (2(K-1))``; the simplex attains it.

    Examples
    --------
    >>> capacity_bound(3)
    0.75
    """
    return check_classes(K) / (2 * (K - 1))


def largest_off_diagonal(gram: Array) -> float:
    """Return the largest entry off the diagonal of a matrix of inner products."""
    return float(np.where(np.eye(len(gram), dtype=np.bool_), -np.inf, gram).max())
