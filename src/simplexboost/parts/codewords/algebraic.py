"""Constructs ±1 codes of large Hamming distance: Hadamard and BCH codes by algebra, others by search."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..._util.arrays import Array
from .base import Codewords, RandomState, check_classes, check_dim
from .binary import EXHAUSTIVE_MAX_K, Exhaustive
from .measures import largest_off_diagonal, one_signed

Bits = NDArray[np.int64]

# A primitive polynomial over GF(2) for every degree m: bit i is the coefficient of x^i.
PRIMITIVE = {
    1: 0b11,
    2: 0b111,
    3: 0b1011,
    4: 0b10011,
    5: 0b100101,
    6: 0b1000011,
    7: 0b10001001,
    8: 0b100011101,
    9: 0b1000010001,
    10: 0b10000001001,
    11: 0b100000000101,
    12: 0b1000001010011,
}


@dataclass(eq=False, repr=False)
class Hadamard(Codewords):
    """The first K rows of Sylvester's Hadamard matrix of order N = 2^⌈log₂ K⌉, without its constant column.

    Any two rows differ in exactly N/2 of the N−1 columns, and no ±1 code of that length does better (Plotkin's bound).

    Examples
    --------
    >>> Hadamard().matrix(4)
    array([[ 1.,  1.,  1.],
           [-1.,  1., -1.],
           [ 1., -1., -1.],
           [-1., -1.,  1.]])
    """

    def matrix(self, K: int, rng: RandomState = 0) -> Array:
        order = self.columns(check_classes(K)) + 1
        H = np.ones((1, 1))
        while len(H) < order:
            H = np.block([[H, H], [H, -H]])
        return H[:K, 1:].copy()

    def columns(self, K: int) -> int:
        return (1 << (K - 1).bit_length()) - 1


@dataclass(eq=False, repr=False)
class BCH(Codewords):
    """Codewords of a binary BCH code of length 2^m − 1: a guaranteed distance for more classes than columns.

    Among all BCH codes of that length with at least K codewords this is the one of the largest designed distance. Its K
    codewords are drawn such that the columns are as different as possible. For up to 2^m classes it is Hadamard's code.

    Parameters
    ----------
    code_dim : int, optional
        Number of columns: 1, 3, 7, 15, … or 4095, less than 2^K; by default the smallest that is at least
        ``10 log2 K``.

    Examples
    --------
    >>> from simplexboost.parts.codewords import min_hamming
    >>> min_hamming(BCH(63).matrix(500)) >= 27
    True
    """

    code_dim: int | None = None

    def matrix(self, K: int, rng: RandomState = 0) -> Array:
        K, d = check_classes(K), self.code_dim
        m = min(int(np.ceil(10 * np.log2(K))).bit_length(), K - 1) if d is None else _degree(d)
        if m >= K:
            raise ValueError(f"code_dim={d} is too large for K={K} classes: some columns would be constant; lower it.")
        generator = _best_generator(K, m)
        rng = np.random.default_rng(rng)
        best: Array | None = None
        best_likeness = np.inf
        for draw in range(1000):
            if draw >= 20 and best is not None:
                break
            messages = _distinct_integers(2 ** len(generator), K, rng)
            bits = messages[:, None] >> np.arange(len(generator)) & 1  # (K, k)
            Y: Array = 1.0 - 2.0 * (bits @ generator % 2).astype(np.float64)
            likeness = largest_off_diagonal(np.abs(Y.T @ Y))
            if likeness < best_likeness and not one_signed(Y).any():
                best, best_likeness = Y, likeness
        if best is None:
            raise ValueError(
                f"code_dim={2**m - 1} is too large for K={K} classes: some columns were always constant; lower it."
            )
        return best


def _degree(d: int) -> int:
    """Return m for the length d = 2^m − 1 of a BCH code."""
    m = (check_dim(d) + 1).bit_length() - 1
    if 2**m - 1 != d or m not in PRIMITIVE:
        accepted = ", ".join(str(2**m - 1) for m in PRIMITIVE)
        raise ValueError(f"code_dim={d} is not the length of a BCH code; choose one of {accepted}.")
    return m


def _best_generator(K: int, m: int) -> Bits:
    """Return the generator matrix (k, 2^m − 1) of the BCH code of largest designed distance that has K codewords."""
    n = 2**m - 1
    if n + 1 >= K:  # every non-zero column of m bits once: the simplex code, which is Hadamard's in another order
        return np.arange(1, n + 1) >> np.arange(m)[:, None] & 1
    if K > 2 ** (n - m):
        raise ValueError(f"code_dim={n} columns are too few for K={K} classes; choose a longer code.")
    powers = _powers(m)
    polynomial = np.ones(1, dtype=np.int64)  # lowest coefficient first
    zeros: set[int] = set()
    for i in range(1, n):  # one more consecutive zero α^i: designed distance i + 1
        if i in zeros:
            continue
        coset = _coset(i, n)
        if 2 ** (n - len(zeros) - len(coset)) < K:
            break
        zeros |= coset
        polynomial = np.convolve(polynomial, _minimal_polynomial(coset, powers)) % 2
    k = n - len(zeros)
    return np.array([np.pad(polynomial, (shift, k - 1 - shift)) for shift in range(k)])


def _powers(m: int) -> list[int]:
    """Return α^0, α^1, …, α^(2^m − 2) in GF(2^m); the bits of a number are its coefficients."""
    powers = [1]
    for _ in range(2**m - 2):
        value = powers[-1] << 1
        powers.append(value ^ PRIMITIVE[m] if value >> m else value)
    return powers


def _coset(i: int, n: int) -> set[int]:
    """Return the exponents of the conjugates of α^i: i, 2i, 4i, … modulo n."""
    coset = {i}
    while (i := 2 * i % n) not in coset:
        coset.add(i)
    return coset


def _minimal_polynomial(coset: set[int], powers: list[int]) -> Bits:
    """Compute Π (x + α^j) over the coset, lowest coefficient first; its coefficients are 0 and 1."""
    logarithm = {value: exponent for exponent, value in enumerate(powers)}

    def times(a: int, j: int) -> int:
        return powers[(logarithm[a] + j) % len(powers)] if a else 0

    coefficients = [1]
    for j in sorted(coset):
        scaled = [times(a, j) for a in coefficients]
        coefficients = [a ^ b for a, b in zip([*scaled, 0], [0, *coefficients], strict=True)]
    return np.array(coefficients, dtype=np.int64)


def _distinct_integers(stop: int, size: int, rng: np.random.Generator) -> Bits:
    """Draw ``size`` different numbers from 0 … stop − 1; ``stop`` may exceed the integers of an array."""
    if stop <= 2**16:
        return np.sort(rng.permutation(stop)[:size])
    found = np.unique(rng.integers(min(stop, 2**62), size=2 * size))
    while len(found) < size:
        found = np.union1d(found, rng.integers(min(stop, 2**62), size=2 * size))
    return np.sort(rng.permutation(found)[:size])


@dataclass(eq=False, repr=False)
class MaxHamming(Codewords):
    """A ±1 code whose smallest Hamming distance is as large as could be found, with all columns different.

    If Hadamard's or the exhaustive code has the wanted number of columns, that code is taken, since both are optimal.
    Otherwise a local search starts from a random code. It flips entries to lower ``Σ_{k<l} 4^(−distance of rows k and
    l)``, flips a few at random to leave local optima, and never makes a column constant, or equal or opposite to
    another.

    Parameters
    ----------
    code_dim : int, optional
        Number of columns, at least ``log2 K``, at most ``2**(K-1) - 1``, the number of different splits; by default
        ``ceil(10 log2 K)`` or that number.

    Examples
    --------
    >>> from simplexboost.parts.codewords import min_hamming
    >>> min_hamming(MaxHamming(10).matrix(12))  # no code has a larger one
    5.0
    """

    code_dim: int | None = None

    def matrix(self, K: int, rng: RandomState = 0) -> Array:
        K = check_classes(K)
        most = 2 ** (K - 1) - 1
        d = min(int(np.ceil(10 * np.log2(K))), most) if self.code_dim is None else check_dim(self.code_dim)
        if d > most or 2**d < K:
            raise ValueError(
                f"code_dim={d} does not suit K={K} classes: accepted is {(K - 1).bit_length()} <= code_dim <= {most}, "
                "enough for different rows and not more than there are different columns."
            )
        if d == Hadamard().columns(K):
            return Hadamard().matrix(K)
        if d == most:
            return Exhaustive().matrix(K)
        rng = np.random.default_rng(rng)
        best = _spread(_start(K, d, rng), rng)
        if len(np.unique(best, axis=0)) < K:
            raise ValueError(f"code_dim={d} is too small for K={K} classes: no code of different rows found; raise it.")
        return best


def _start(K: int, d: int, rng: np.random.Generator) -> Array:
    """Draw a code (K, d) whose columns differ, also up to their signs."""
    if K <= EXHAUSTIVE_MAX_K:
        splits = Exhaustive().matrix(K)
        return splits[:, rng.permutation(splits.shape[1])[:d]]
    Y = rng.choice([-1.0, 1.0], (K, d))
    while (poor := one_signed(Y) | _repeated(Y)).any():  # true for one column in 2^14, so hardly ever
        Y[:, poor] = rng.choice([-1.0, 1.0], (K, int(poor.sum())))
    return Y


def _spread(Y: Array, rng: np.random.Generator) -> Array:
    """Return the best of several neighbouring local optima: descend, flip a few entries at random, descend again."""
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
    """Return a bound on the smallest distance of a ±1 code (K, d): a column separates at most ⌊K/2⌋⌈K/2⌉ pairs."""
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
    """Return the largest inner product of two rows and the number of pairs that have it, which the search lowers."""
    gram = Y @ Y.T
    largest = largest_off_diagonal(gram)
    return largest, int((gram == largest).sum())


def _repeated(Y: Array) -> NDArray[np.bool_]:
    """Mark the columns that are equal or opposite to an earlier one, (d,)."""
    return (np.triu(np.abs(Y.T @ Y), 1) == len(Y)).any(axis=0)
