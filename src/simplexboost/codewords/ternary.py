"""Codes of −1, 0 and +1 that list all binary problems of a kind: one against all, every pair, every split."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import Array
from .base import Codewords
from .checks import check_classes

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
