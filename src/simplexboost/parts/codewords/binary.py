"""Constructs codes of −1, 0 and +1 for binary reductions: one-vs-all, all pairs, all splits, and random ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._util.arrays import Array
from .base import Codewords, RandomState, check_classes, check_dim

EXHAUSTIVE_MAX_K = 15  # 16 383 columns; each further class doubles them


@dataclass(eq=False, repr=False)
class OneVsAllCode(Codewords):
    """One binary problem per class: +1 on the diagonal, −1 elsewhere.

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


@dataclass(eq=False, repr=False)
class AllPairs(Codewords):
    """One binary problem per pair of classes k < l: +1 for k, −1 for l, 0 for the classes that do not take part.

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


@dataclass(eq=False, repr=False)
class Exhaustive(Codewords):
    """One column of ±1 for every split of the classes in two non-empty sets (Dietterich and Bakiri's exhaustive code).

    There are 2^(K−1) − 1 columns. Row 0 is all ones; the other rows count in binary.

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


@dataclass(eq=False, repr=False)
class RandomDense(Codewords):
    """A random ±1 code, the best of several draws by minimal Hamming distance (Allwein, Schapire and Singer).

    Every column has both signs and no two rows are equal.

    Parameters
    ----------
    code_dim : int, optional
        Number of columns, ``ceil(10 log2 K)`` by default.

    Examples
    --------
    >>> Y = RandomDense().matrix(8, rng=0)
    >>> Y.shape, np.unique(Y).tolist()
    ((8, 30), [-1.0, 1.0])
    """

    code_dim: int | None = None

    def matrix(self, K: int, rng: RandomState = 0) -> Array:
        d = int(np.ceil(10 * np.log2(check_classes(K)))) if self.code_dim is None else check_dim(self.code_dim)
        return _best_draw(K, d, np.array([-1.0, 1.0]), rng)


@dataclass(eq=False, repr=False)
class RandomSparse(Codewords):
    """A random code of −1, 0, +1 with probabilities ¼, ½, ¼, the best of several draws (Allwein, Schapire and Singer).

    Every column has both signs, no row is zero and no two rows are equal. The distance that ranks the draws is the
    generalised Hamming distance ``½ Σ_j (1 - y_kj y_lj)``, in which a zero counts one half.

    Parameters
    ----------
    code_dim : int, optional
        Number of columns, ``ceil(15 log2 K)`` by default.

    Examples
    --------
    >>> Y = RandomSparse().matrix(8, rng=0)
    >>> Y.shape, np.unique(Y).tolist()
    ((8, 45), [-1.0, 0.0, 1.0])
    """

    code_dim: int | None = None

    def matrix(self, K: int, rng: RandomState = 0) -> Array:
        d = int(np.ceil(15 * np.log2(check_classes(K)))) if self.code_dim is None else check_dim(self.code_dim)
        return _best_draw(K, d, np.array([-1.0, 0.0, 0.0, 1.0]), rng)


def _best_draw(K: int, d: int, letters: Array, random_state: RandomState) -> Array:
    """Draw many codes (K, d) from ``letters`` and return the valid one of largest minimal Hamming distance."""
    rng = np.random.default_rng(random_state)
    draws = int(np.clip(10**7 // K**2, 20, 300))  # about 0.1 s for any K up to 1000
    best, best_overlap = None, np.inf
    for _ in range(draws):
        Y = _two_signed_columns(K, d, letters, rng)
        gram = Y @ Y.T  # (K, K); ½ (d - gram) are the Hamming distances
        np.fill_diagonal(gram, -np.inf)
        if gram.max() < best_overlap and Y.any(axis=1).all() and len(np.unique(Y, axis=0)) == K:
            best, best_overlap = Y, gram.max()
    if best is None:
        raise ValueError(
            f"code_dim={d} columns are too few for K={K} classes: no valid code in {draws} draws; raise code_dim."
        )
    return best


def _two_signed_columns(K: int, d: int, letters: Array, rng: np.random.Generator) -> Array:
    """Draw a code (K, d) from ``letters``; columns that lack +1 or −1 separate nothing and are drawn again."""
    Y = rng.choice(letters, (K, d))
    while (poor := (Y.max(axis=0) < 1) | (Y.min(axis=0) > -1)).any():
        Y[:, poor] = rng.choice(letters, (K, int(poor.sum())))
    return Y
