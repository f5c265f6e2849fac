"""±1 codes of large Hamming distance by search."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._typing import Array
from .algebraic import hadamard, hadamard_order
from .base import Codewords, RandomState
from .checks import check_classes, check_dim
from .measures import largest_off_diagonal, one_signed
from .ternary import EXHAUSTIVE_MAX_K, exhaustive


def max_hamming(K: int, d: int | None = None, random_state: RandomState = 0) -> Array:
    """A ±1 code whose smallest Hamming distance is as large as could be found, with all columns different.

    Where Hadamard's or the exhaustive code have d columns they are taken, since both are optimal. Otherwise a local
    search starts from a random code. It flips entries to lower ``Σ_{k<l} 4^(−distance of rows k and l)``, flips a few
    at random to leave local optima, and never makes a column constant, or equal or opposite to another.

    Parameters
    ----------
    K : int
        Number of classes, at least 2.
    d : int, optional
        Number of columns, at least ``log2 K``, at most ``2**(K-1) - 1``, the number of different splits; by default
        ``ceil(10 log2 K)`` or that number.
    random_state : int, Generator or None
        Seed of the search.

    Returns
    -------
    Y : (K, d) array of ±1

    Examples
    --------
    >>> from simplexboost.codewords import min_hamming
    >>> min_hamming(max_hamming(12, 10))  # the best there is
    5.0
    """
    K = check_classes(K)
    most = 2 ** (K - 1) - 1
    d = min(int(np.ceil(10 * np.log2(K))), most) if d is None else check_dim(d)
    if d > most or 2**d < K:
        raise ValueError(
            f"d={d} columns do not suit K={K} classes: accepted is {(K - 1).bit_length()} <= d <= {most}, enough for "
            "different rows and not more than there are different columns."
        )
    if d == hadamard_order(K) - 1:
        return hadamard(K)
    if d == most:
        return exhaustive(K)
    rng = np.random.default_rng(random_state)
    best = _spread(_start(K, d, rng), rng)
    if len(np.unique(best, axis=0)) < K:
        raise ValueError(f"d={d} columns are too few for K={K} classes: no code of different rows found; enlarge d.")
    return best


def _start(K: int, d: int, rng: np.random.Generator) -> Array:
    """A random code (K, d) of different columns, up to sign."""
    if K <= EXHAUSTIVE_MAX_K:
        splits = exhaustive(K)
        return splits[:, rng.permutation(splits.shape[1])[:d]]
    Y = rng.choice([-1.0, 1.0], (K, d))
    while (poor := one_signed(Y) | _repeated(Y)).any():  # true for one column in 2^14, so hardly ever
        Y[:, poor] = rng.choice([-1.0, 1.0], (K, int(poor.sum())))
    return Y


def _spread(Y: Array, rng: np.random.Generator) -> Array:
    """The best of several neighbouring local optima: descend, flip a few entries at random, descend again."""
    K, d = Y.shape
    turns = int(np.clip(2 * 10**9 // (K * d), 2 * K, 20_000))  # each turn is about one row; three seconds at most
    best, best_overlaps = Y, _overlaps(Y)
    while turns > 0 and best_overlaps[0] > d - 2 * _plotkin(K, d):
        Y, used = _descend(Y, rng.permutation(K), turns)
        turns -= used
        if (overlaps := _overlaps(Y)) <= best_overlaps:
            best, best_overlaps = Y, overlaps
        Y = best.copy()
        for k, j in zip(rng.integers(K, size=4), rng.integers(d, size=4), strict=True):
            _flip(Y, k, j)
    return best


def _plotkin(K: int, d: int) -> int:
    """No ±1 code (K, d) has a larger smallest distance: a column tells at most ⌊K/2⌋⌈K/2⌉ of the pairs apart."""
    return d * (K // 2) * ((K + 1) // 2) * 2 // (K * (K - 1))


def _descend(Y: Array, order: NDArray[np.intp], turns: int) -> tuple[Array, int]:
    """Flip entries, row by row and the best of a row first, as long as that lowers Σ 4^(−distance)."""
    K, d = Y.shape
    Y, resting = Y.copy(), 0
    for turn in range(turns):
        k = order[turn % K]
        distance = 0.5 * (d - Y @ Y[k])  # (K,)
        distance[k] = np.inf
        weight = 4.0 ** (distance.min() - distance)  # scaled: large distances would underflow
        # A flip in column j moves rows that agree there one further away (¼ − 1), the others one nearer (4 − 1); (d,).
        change = 1.125 * weight.sum() - 1.875 * Y[k] * (weight @ Y)
        j = int(change.argmin())
        if change[j] < -1e-9 * weight.sum() and _flip(Y, k, j):
            resting = 0
        elif (resting := resting + 1) == K:  # no row has a flip that helps
            return Y, turn + 1
    return Y, turns


def _flip(Y: Array, k: int, j: int) -> bool:
    """Flip an entry in place, unless its column would be constant, or equal or opposite to another."""
    column = Y[:, j].copy()
    column[k] = -column[k]
    likeness = np.abs(column @ Y)
    likeness[j] = abs(column.sum())
    if likeness.max() == len(Y):
        return False
    Y[k, j] = -Y[k, j]
    return True


def _overlaps(Y: Array) -> tuple[float, int]:
    """The largest inner product of two rows, and how many pairs have it: the search makes both small."""
    gram = Y @ Y.T
    largest = largest_off_diagonal(gram)
    return largest, int((gram == largest).sum())


def _repeated(Y: Array) -> NDArray[np.bool_]:
    """Columns equal or opposite to an earlier one, (d,)."""
    return (np.triu(np.abs(Y.T @ Y), 1) == len(Y)).any(axis=0)


@dataclass(eq=False, repr=False)
class MaxHamming(Codewords):
    """±1 rows far apart by search, see :func:`max_hamming`.

    Parameters
    ----------
    code_dim : int, optional
        Number of columns; by default ``ceil(10 log2 K)``, but not more than there are different columns.

    Examples
    --------
    >>> MaxHamming(code_dim=12).matrix(6, np.random.default_rng(0)).shape
    (6, 12)
    """

    code_dim: int | None = None

    def matrix(self, K: int, rng: np.random.Generator) -> Array:
        """A ±1 code, (K, code_dim)."""
        return max_hamming(K, self.code_dim, rng)
