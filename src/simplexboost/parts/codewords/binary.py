"""Constructs coding matrices of −1, 0, +1: one-vs-all, all pairs or splits, random and large-distance codes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..._util.arrays import Array, Mask
from .base import Codewords, RandomState, SizedCodewords, check_classes, check_dim
from .measures import largest_off_diagonal

Bits = NDArray[np.int64]

EXHAUSTIVE_MAX_K = 15  # 16 383 columns; each further class doubles them


class OneVsAllCode(Codewords, name="one-vs-all"):
    """The one-vs-all code: a column (binary problem) per class, +1 for this class and −1 for all other classes.

    Examples
    --------
    >>> OneVsAllCode().matrix(3)
    array([[ 1., -1., -1.],
           [-1.,  1., -1.],
           [-1., -1.,  1.]])
    """

    def matrix(self, K: int, rng: RandomState = 0) -> Array:
        return 2.0 * np.eye(check_classes(K)) - 1.0

    def columns(self, K: int) -> int:
        return K


class AllPairs(Codewords, name="all-pairs"):
    """The one-vs-one code: a column per pair of classes k < l, +1 for class k, −1 for class l, 0 for all other classes.

    Examples
    --------
    >>> AllPairs().matrix(3)
    array([[ 1.,  1.,  0.],
           [-1.,  0.,  1.],
           [ 0., -1., -1.]])
    """

    def matrix(self, K: int, rng: RandomState = 0) -> Array:
        first, second = np.triu_indices(check_classes(K), 1)
        column = np.arange(len(first))
        Y = np.zeros((K, len(first)))
        Y[first, column] = 1.0
        Y[second, column] = -1.0
        return Y

    def columns(self, K: int) -> int:
        return K * (K - 1) // 2


class Exhaustive(Codewords, name="exhaustive"):
    """The exhaustive code: a ±1 column for every split of the classes into two non-empty sets (Dietterich and Bakiri).

    There are 2^(K−1) − 1 columns. Row 0 is all ones; in row k, column j is −1 if bit k − 1 of j + 1 is set, else +1.

    Examples
    --------
    >>> Exhaustive().matrix(3)
    array([[ 1.,  1.,  1.],
           [-1.,  1., -1.],
           [ 1., -1., -1.]])
    """

    def matrix(self, K: int, rng: RandomState = 0) -> Array:
        K = check_classes(K)
        if K > EXHAUSTIVE_MAX_K:
            raise ValueError(
                f"K={K} classes have 2**{K - 1} - 1 splits, too many for the exhaustive code (K <= {EXHAUSTIVE_MAX_K});"
                " choose RandomDense or RandomSparse."
            )
        splits = np.arange(1, 2 ** (K - 1))  # bit k-1 set: class k on the other side than class 0
        bits = splits >> np.arange(K - 1)[:, None] & 1  # (K-1, d)
        return np.vstack([np.ones(len(splits)), 1.0 - 2.0 * bits])


class RandomDense(SizedCodewords, name="random-dense"):
    """A random ±1 code, the one of largest minimal Hamming distance among several (Allwein, Schapire and Singer).

    Every column has both signs and no two rows are equal. There are ``ceil(10 log2 K)`` columns by default.

    Examples
    --------
    >>> Y = RandomDense().matrix(8, rng=0)
    >>> Y.shape, np.unique(Y).tolist()
    ((8, 30), [-1.0, 1.0])
    """

    def matrix(self, K: int, rng: RandomState = 0) -> Array:
        return best_draw(K, default_columns(K, self.code_dim, 10), np.array([-1.0, 1.0]), rng)


class RandomSparse(SizedCodewords, name="random-sparse"):
    """A random code of −1, 0, +1 with probabilities ¼, ½, ¼, the best of several draws (Allwein, Schapire and Singer).

    Every column has both signs, no row is zero and no two rows are equal. The best draw has the largest minimal
    distance of two rows k and l, the generalised Hamming distance ``½ Σ_j (1 - y_kj y_lj)``, in which a zero counts one
    half. There are ``ceil(15 log2 K)`` columns by default.

    Examples
    --------
    >>> Y = RandomSparse().matrix(8, rng=0)
    >>> Y.shape, np.unique(Y).tolist()
    ((8, 45), [-1.0, 0.0, 1.0])
    """

    def matrix(self, K: int, rng: RandomState = 0) -> Array:
        return best_draw(K, default_columns(K, self.code_dim, 15), np.array([-1.0, 0.0, 0.0, 1.0]), rng)


def default_columns(K: int, code_dim: int | None, per_bit: int) -> int:
    """Return the number of columns: ``code_dim``, or if it is None, ``ceil(per_bit * log2 K)``."""
    return int(np.ceil(per_bit * np.log2(check_classes(K)))) if code_dim is None else check_dim(code_dim)


def best_draw(K: int, d: int, letters: Array, random_state: RandomState) -> Array:
    """Draw many codes (K, d) with entries from ``letters``; return the valid one of largest minimal Hamming distance.

    A valid code has +1 and −1 in every column, no zero row and no equal rows.
    """
    rng = np.random.default_rng(random_state)
    draws = int(np.clip(10**7 // K**2, 20, 300))  # about 0.1 s for any K up to 1000
    best, best_overlap = None, np.inf
    for _ in range(draws):
        Y = rng.choice(letters, (K, d))
        while (poor := (Y.max(axis=0) < 1) | (Y.min(axis=0) > -1)).any():
            Y[:, poor] = rng.choice(letters, (K, int(poor.sum())))
        overlap = largest_off_diagonal(Y @ Y.T)  # Hamming distances are at least ½ (d - overlap)
        if overlap < best_overlap and Y.any(axis=1).all() and len(np.unique(Y, axis=0)) == K:
            best, best_overlap = Y, overlap
    if best is None:
        raise ValueError(
            f"code_dim={d} columns are too few for K={K} classes: no valid code in {draws} draws; raise code_dim."
        )
    return best


# ---- by algebra -----------------------------------------------------------------------------------------------------

# A primitive polynomial over GF(2) for every degree m from 1 on, in octal digits: bit i is the coefficient of x^i.
PRIMITIVE = dict(enumerate((0o3, 0o7, 0o13, 0o23, 0o45, 0o103, 0o211, 0o435, 0o1021, 0o2011, 0o4005, 0o10123), start=1))


class Hadamard(Codewords, name="hadamard"):
    """The first K rows of Sylvester's Hadamard matrix of order N = 2^⌈log₂ K⌉, without its constant column.

    Any two rows differ in exactly N/2 columns; no ±1 code of N−1 columns has a larger minimal distance (Plotkin).

    Examples
    --------
    >>> Hadamard().matrix(4)
    array([[ 1.,  1.,  1.],
           [-1.,  1., -1.],
           [ 1., -1., -1.],
           [-1., -1.,  1.]])
    """

    def matrix(self, K: int, rng: RandomState = 0) -> Array:
        from scipy.linalg import hadamard  # scipy's larger modules are imported where used: start-up time

        return hadamard(self.columns(check_classes(K)) + 1, dtype=np.float64)[:K, 1:].copy()

    def columns(self, K: int) -> int:
        return (1 << (K - 1).bit_length()) - 1


class BCH(SizedCodewords, name="bch"):
    """A ±1 code drawn from a binary BCH code of 2^m − 1 bits (m an integer), with a guaranteed Hamming distance.

    Of all BCH codes of this length with at least K codewords, the one of largest designed distance is used. K of its
    codewords are drawn so that columns are as different as possible. For K <= 2^m this is Hadamard's code. The number
    of columns is 1, 3, 7, 15, … or 4095, and less than 2^K; the default is the smallest of these numbers that is
    at least ``10 log2 K``.

    Examples
    --------
    >>> from simplexboost.parts.codewords import min_hamming
    >>> min_hamming(BCH(63).matrix(500)) >= 27
    True
    """

    def matrix(self, K: int, rng: RandomState = 0) -> Array:
        d = default_columns(K, self.code_dim, 10)
        m = min(d.bit_length(), K - 1) if self.code_dim is None else (d + 1).bit_length() - 1
        if self.code_dim is not None and (2**m - 1 != d or m not in PRIMITIVE):
            accepted = ", ".join(str(2**m - 1) for m in PRIMITIVE)
            raise ValueError(f"code_dim={d} is not the length of a BCH code; choose one of {accepted}.")
        if m >= K:
            raise ValueError(f"code_dim={d} is too large for K={K} classes: some columns would be constant; lower it.")
        generator = best_generator(K, m)
        rng = np.random.default_rng(rng)
        best: Array | None = None
        best_likeness = np.inf
        for draw in range(1000):
            if draw >= 20 and best is not None:
                break
            messages = distinct_integers(2 ** len(generator), K, rng)
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


def best_generator(K: int, m: int) -> Bits:
    """Return the 0/1 generator matrix of the BCH code of 2^m − 1 bits with >= K words, largest designed distance."""
    n = 2**m - 1
    if n + 1 >= K:  # every non-zero column of m bits once: the simplex code, which is Hadamard's in another order
        return np.arange(1, n + 1) >> np.arange(m)[:, None] & 1
    if K > 2 ** (n - m):
        raise ValueError(f"code_dim={n} columns are too few for K={K} classes; choose a longer code.")
    powers = [1]  # α^0, α^1, …, α^(n − 1) in GF(2^m); the bits of a number are its coefficients
    for _ in range(n - 1):
        value = powers[-1] << 1
        powers.append(value ^ PRIMITIVE[m] if value >> m else value)
    polynomial = np.ones(1, dtype=np.int64)  # lowest coefficient first
    zeros: set[int] = set()
    for i in range(1, n):  # one more consecutive zero α^i: designed distance i + 1
        if i in zeros:
            continue
        coset = {i * 2**j % n for j in range(m)}  # the exponents of the conjugates of α^i
        if 2 ** (n - len(zeros) - len(coset)) < K:
            break
        zeros |= coset
        polynomial = np.convolve(polynomial, minimal_polynomial(coset, powers)) % 2
    k = n - len(zeros)
    return np.array([np.pad(polynomial, (shift, k - 1 - shift)) for shift in range(k)])


def minimal_polynomial(coset: set[int], powers: list[int]) -> Bits:
    """Return the 0/1 coefficients, lowest first, of Π (x + α^j), j in ``coset``; powers[i] is α^i in GF(2^m)."""
    logarithm = {value: exponent for exponent, value in enumerate(powers)}
    coefficients = [1]
    for j in sorted(coset):
        scaled = [powers[(logarithm[a] + j) % len(powers)] if a else 0 for a in coefficients]
        coefficients = [a ^ b for a, b in zip([*scaled, 0], [0, *coefficients], strict=True)]
    return np.array(coefficients, dtype=np.int64)


def distinct_integers(stop: int, size: int, rng: np.random.Generator) -> Bits:
    """Draw ``size`` distinct integers from 0 … stop − 1, ascending; ``stop`` may be too large for a NumPy integer."""
    if stop <= 2**16:
        return np.sort(rng.permutation(stop)[:size])
    found = np.unique(rng.integers(min(stop, 2**62), size=2 * size))
    while len(found) < size:
        found = np.union1d(found, rng.integers(min(stop, 2**62), size=2 * size))
    return np.sort(rng.permutation(found)[:size])


# ---- by search ------------------------------------------------------------------------------------------------------


class MaxHamming(SizedCodewords, name="max-hamming"):
    """A ±1 code with distinct columns, whose smallest Hamming distance is the largest that a search could find.

    If Hadamard's or the exhaustive code has the wanted number of columns, it is used, since both are optimal. Otherwise
    a local search starts from a random code. It flips entries to lower ``Σ_{k<l} 4^(−distance of rows k and l)``, and
    flips a few at random to leave local optima. No column becomes constant, or equal or opposite to another one. There
    are at least ``log2 K`` and at most ``2**(K-1) - 1`` columns, the number of splits into two sets. The default is
    ``ceil(10 log2 K)``, or this maximum if that is smaller.

    Examples
    --------
    >>> from simplexboost.parts.codewords import min_hamming
    >>> min_hamming(MaxHamming(10).matrix(12))  # no code has a larger one
    5.0
    """

    def matrix(self, K: int, rng: RandomState = 0) -> Array:
        K = check_classes(K)
        most = 2 ** (K - 1) - 1
        d = default_columns(K, self.code_dim, 10)
        d = min(d, most) if self.code_dim is None else d
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
        best = spread_rows(random_code(K, d, rng), rng)
        if len(np.unique(best, axis=0)) < K:
            raise ValueError(f"code_dim={d} is too small for K={K} classes: no code of different rows found; raise it.")
        return best


def random_code(K: int, d: int, rng: np.random.Generator) -> Array:
    """Draw a ±1 code (K, d) in which no column is constant, or equal or opposite to another column."""
    if K <= EXHAUSTIVE_MAX_K:
        splits = Exhaustive().matrix(K)
        return splits[:, rng.permutation(splits.shape[1])[:d]]
    Y = rng.choice([-1.0, 1.0], (K, d))
    while (poor := one_signed(Y) | (np.triu(np.abs(Y.T @ Y), 1) == K).any(axis=0)).any():  # one column in 2^14
        Y[:, poor] = rng.choice([-1.0, 1.0], (K, int(poor.sum())))
    return Y


def one_signed(Y: Array) -> Mask:
    """Return a mask (d,) of the constant columns of a ±1 code."""
    return np.abs(Y.sum(axis=0)) == len(Y)


def spread_rows(Y: Array, rng: np.random.Generator) -> Array:
    """Search locally from a ±1 code Y, with random flips at optima; return the code of largest minimal distance."""
    K, d = Y.shape
    turns = int(np.clip(2 * 10**9 // (K * d), 2 * K, 20_000))  # each turn is about one row; three seconds at most
    plotkin = (
        d * (K // 2) * ((K + 1) // 2) * 2 // (K * (K - 1))
    )  # bounds the distance: a column separates so many pairs
    best, best_overlaps = Y, overlaps(Y)
    while turns > 0 and best_overlaps[0] > d - 2 * plotkin:
        Y, used = descend(Y, rng.permutation(K), turns)
        turns -= used
        if (found := overlaps(Y)) <= best_overlaps:
            best, best_overlaps = Y, found
        Y = best.copy()
        for k, j in zip(rng.integers(K, size=4), rng.integers(d, size=4), strict=True):
            flip(Y, k, j)
    return best


def descend(Y: Array, order: NDArray[np.intp], turns: int) -> tuple[Array, int]:
    """Flip entries of a copy of Y to lower Σ 4^(−distance of rows); return the copy and how many rows were visited."""
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
        if change[j] < -1e-9 * weight.sum() and flip(Y, k, j):
            resting = 0
        elif (resting := resting + 1) == K:  # no row has a flip that helps
            return Y, turn + 1
    return Y, turns


def flip(Y: Array, k: int, j: int) -> bool:
    """Flip Y[k, j] unless column j would be constant, or equal or opposite to another; return whether Y has changed."""
    column = Y[:, j].copy()
    column[k] = -column[k]
    likeness = np.abs(column @ Y)
    likeness[j] = abs(column.sum())
    if likeness.max() == len(Y):
        return False
    Y[k, j] = -Y[k, j]
    return True


def overlaps(Y: Array) -> tuple[float, int]:
    """Return the largest inner product of two rows of Y, and the number of entries of Y Yᵀ that are equal to it."""
    gram = Y @ Y.T
    largest = largest_off_diagonal(gram)
    return largest, int((gram == largest).sum())
