"""Constructs codes of −1, 0 and +1 for binary reductions: one-vs-all, all pairs, all splits, and random ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._util.arrays import Array
from .base import Codewords, RandomState, check_classes, check_dim

EXHAUSTIVE_MAX_K = 15  # 16 383 columns; each further class doubles them


def one_vs_all(K: int) -> Array:
    """One binary problem per class: +1 on the diagonal, -1 elsewhere.

    Parameters
    ----------
    K : int
        The number of classes.

    Returns
    -------
    array of shape (K, K)
        The coding matrix of ±1.

    Examples
    --------
    >>> one_vs_all(3)
    array([[ 1., -1., -1.],
           [-1.,  1., -1.],
           [-1., -1.,  1.]])
    """
    return 2.0 * np.eye(check_classes(K)) - 1.0


@dataclass(eq=False, repr=False)
class OneVsAllCode(Codewords):
    """One ±1 column per class, see :func:`one_vs_all`.

    Examples
    --------
    >>> OneVsAllCode().matrix(4, np.random.default_rng(0)).shape
    (4, 4)
    """

    def matrix(self, K: int, rng: np.random.Generator) -> Array:
        """+1 on the diagonal, -1 elsewhere, (K, K)."""
        return one_vs_all(K)

    def columns(self, K: int) -> int:
        """One for every class."""
        return K


def all_pairs(K: int) -> Array:
    """One binary problem per pair of classes k < l: +1 for k, -1 for l, 0 for the classes that do not take part.

    Parameters
    ----------
    K : int
        The number of classes.

    Returns
    -------
    array of shape (K, K(K-1)/2)
        The coding matrix of -1, 0 and +1.

    Examples
    --------
    >>> all_pairs(3)
    array([[ 1.,  1.,  0.],
           [-1.,  0.,  1.],
           [ 0., -1., -1.]])
    """
    first, second = np.triu_indices(check_classes(K), 1)
    column = np.arange(len(first))
    Y = np.zeros((K, len(first)))
    Y[first, column] = 1.0
    Y[second, column] = -1.0
    return Y


@dataclass(eq=False, repr=False)
class AllPairs(Codewords):
    """One ternary column per pair of classes, see :func:`all_pairs`.

    Examples
    --------
    >>> AllPairs().matrix(4, np.random.default_rng(0)).shape
    (4, 6)
    """

    def matrix(self, K: int, rng: np.random.Generator) -> Array:
        """The ternary code, (K, K(K-1)/2)."""
        return all_pairs(K)

    def columns(self, K: int) -> int:
        """One for every pair of classes."""
        return K * (K - 1) // 2


def exhaustive(K: int) -> Array:
    """Every split of the classes in two non-empty sets, once (Dietterich and Bakiri's exhaustive code).

    Parameters
    ----------
    K : int
        The number of classes.

    Returns
    -------
    array of shape (K, 2**(K-1) - 1)
        The coding matrix of ±1. Row 0 is all ones; the other rows count in binary.

    Examples
    --------
    >>> exhaustive(3)
    array([[ 1.,  1.,  1.],
           [-1.,  1., -1.],
           [ 1., -1., -1.]])
    """
    K = check_classes(K)
    if K > EXHAUSTIVE_MAX_K:
        raise ValueError(
            f"K={K} classes have 2**{K - 1} - 1 splits, too many for the exhaustive code (K <= {EXHAUSTIVE_MAX_K}); "
            "choose random_dense or random_sparse."
        )
    splits = np.arange(1, 2 ** (K - 1))  # bit k-1 set: class k on the other side than class 0
    bits = splits >> np.arange(K - 1)[:, None] & 1  # (K-1, d)
    return np.vstack([np.ones(len(splits)), 1.0 - 2.0 * bits])


@dataclass(eq=False, repr=False)
class Exhaustive(Codewords):
    """One ±1 column per split of the classes in two sets, see :func:`exhaustive`.

    Examples
    --------
    >>> Exhaustive().matrix(4, np.random.default_rng(0)).shape
    (4, 7)
    """

    def matrix(self, K: int, rng: np.random.Generator) -> Array:
        """The ±1 code, (K, 2**(K-1) - 1)."""
        return exhaustive(K)


def random_dense(K: int, d: int | None = None, random_state: RandomState = 0) -> Array:
    """Random ±1 code, the best of several draws by minimal Hamming distance (Allwein, Schapire and Singer).

    Every column has both signs and no two rows are equal.

    Parameters
    ----------
    K : int
        Number of classes, at least 2.
    d : int, optional
        Number of columns; ``ceil(10 log2 K)`` by default.
    random_state : int, Generator or None
        Seed.

    Returns
    -------
    Y : (K, d) array of ±1

    Examples
    --------
    >>> Y = random_dense(8)
    >>> Y.shape, np.unique(Y).tolist()
    ((8, 30), [-1.0, 1.0])
    """
    K = check_classes(K)
    d = int(np.ceil(10 * np.log2(K))) if d is None else check_dim(d)
    return _best_draw(K, d, np.array([-1.0, 1.0]), random_state)


@dataclass(eq=False, repr=False)
class RandomDense(Codewords):
    """Random ±1 columns, see :func:`random_dense`.

    Parameters
    ----------
    code_dim : int, optional
        Number of columns, ``ceil(10 log2 K)`` by default.

    Examples
    --------
    >>> RandomDense(code_dim=12).matrix(4, np.random.default_rng(0)).shape
    (4, 12)
    """

    code_dim: int | None = None

    def matrix(self, K: int, rng: np.random.Generator) -> Array:
        """A ±1 code, (K, code_dim)."""
        return random_dense(K, self.code_dim, rng)


def random_sparse(K: int, d: int | None = None, random_state: RandomState = 0) -> Array:
    """Random code of -1, 0, +1 with probabilities ¼, ½, ¼, the best of several draws (Allwein, Schapire and Singer).

    Every column has both signs, no row is zero and no two rows are equal. The distance that ranks the draws is the
    generalised Hamming distance ``½ Σ_j (1 - y_kj y_lj)``, in which a zero counts one half.

    Parameters
    ----------
    K : int
        Number of classes, at least 2.
    d : int, optional
        Number of columns; ``ceil(15 log2 K)`` by default.
    random_state : int, Generator or None
        Seed.

    Returns
    -------
    Y : (K, d) array of -1, 0, +1

    Examples
    --------
    >>> Y = random_sparse(8)
    >>> Y.shape, np.unique(Y).tolist()
    ((8, 45), [-1.0, 0.0, 1.0])
    """
    K = check_classes(K)
    d = int(np.ceil(15 * np.log2(K))) if d is None else check_dim(d)
    return _best_draw(K, d, np.array([-1.0, 0.0, 0.0, 1.0]), random_state)


@dataclass(eq=False, repr=False)
class RandomSparse(Codewords):
    """Random ternary columns, see :func:`random_sparse`.

    Parameters
    ----------
    code_dim : int, optional
        Number of columns, ``ceil(15 log2 K)`` by default.

    Examples
    --------
    >>> RandomSparse(code_dim=12).matrix(4, np.random.default_rng(0)).shape
    (4, 12)
    """

    code_dim: int | None = None

    def matrix(self, K: int, rng: np.random.Generator) -> Array:
        """A ternary code, (K, code_dim)."""
        return random_sparse(K, self.code_dim, rng)


def _best_draw(K: int, d: int, letters: Array, random_state: RandomState) -> Array:
    """The valid code (K, d) of largest minimal (generalised) Hamming distance among many drawn from ``letters``."""
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
        raise ValueError(f"d={d} columns are too few for K={K} classes: no valid code in {draws} draws; enlarge d.")
    return best


def _two_signed_columns(K: int, d: int, letters: Array, rng: np.random.Generator) -> Array:
    """Entries drawn from ``letters`` (K, d); columns that lack +1 or -1 separate nothing and are drawn again."""
    Y = rng.choice(letters, (K, d))
    while (poor := (Y.max(axis=0) < 1) | (Y.min(axis=0) > -1)).any():
        Y[:, poor] = rng.choice(letters, (K, int(poor.sum())))
    return Y
