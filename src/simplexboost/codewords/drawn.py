"""Codes of −1, 0 and +1 that are drawn at random, the best of many draws."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import Array
from .base import Codewords, RandomState
from .checks import check_classes, check_dim


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
