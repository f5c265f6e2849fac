"""Constructs the real-valued codes with K or K − 1 coordinates: the identity, the simplex, and that of SAMME."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._util.arrays import Array
from ..._util.params import check_flag
from ...model.code import FEW, identity
from .base import Codewords, check_classes, check_dim


def canonical(K: int) -> Array:
    """The identity: class k is the k-th unit vector.

    Parameters
    ----------
    K : int
        The number of classes.

    Returns
    -------
    array of shape (K, K)
        The codewords, a row for every class.

    Examples
    --------
    >>> canonical(2)
    array([[1., 0.],
           [0., 1.]])
    """
    return np.eye(check_classes(K))


@dataclass(eq=False, repr=False)
class Canonical(Codewords):
    """One coordinate per class, see :func:`canonical`.

    Parameters
    ----------
    centered : bool
        Whether the codewords sum to zero, I − 1/K; the scores of every example then do so too.

    Examples
    --------
    >>> Canonical().matrix(4, np.random.default_rng(0)).shape
    (4, 4)
    >>> Canonical(centered=True).matrix(2, np.random.default_rng(0))
    array([[ 0.5, -0.5],
           [-0.5,  0.5]])
    """

    centered: bool = False

    def check(self) -> None:
        """Raise if the parameter is invalid."""
        check_flag("centered", self.centered)

    def matrix(self, K: int, rng: np.random.Generator) -> Array:
        """The identity, (K, K), possibly centred; beyond 1024 classes a view that takes no memory."""
        if self.centered:
            return canonical(K) - 1.0 / K
        return canonical(K) if check_classes(K) <= FEW else identity(K)

    def columns(self, K: int) -> int:
        """One for every class."""
        return K


def simplex(K: int, d: int | None = None) -> Array:
    """The regular simplex, the code of largest margin capacity (Saberian and Vasconcelos, Theorems 1-3).

    Unit rows with zero sum and equal inner products -1/(K-1), in the orientation of the paper's recursion: row 0 is
    ``(1, 0, ...)`` and the other rows are ``-1/(K-1)`` followed by the smaller simplex of K-1 classes, shrunk.

    Parameters
    ----------
    K : int
        Number of classes, at least 2.
    d : int, optional
        Code dimension, at least K-1 (the default); columns beyond K-1 are zero.

    Returns
    -------
    Y : (K, d) array

    Examples
    --------
    >>> simplex(3).round(3)
    array([[ 1.   ,  0.   ],
           [-0.5  ,  0.866],
           [-0.5  , -0.866]])
    >>> simplex(4, d=5).shape
    (4, 5)
    """
    K = check_classes(K)
    d = K - 1 if d is None else check_dim(d)
    if d < K - 1:
        raise ValueError(f"d={d} is too small for a simplex of K={K} classes: it needs d >= {K - 1}; see max_min.")
    left = np.arange(K, 1, -1)  # classes left at column j: K - j
    height = np.sqrt(K * (left - 1) / ((K - 1) * left))  # (K-1,), the recursion's product of factors in closed form
    Y = np.zeros((K, d))
    Y[:, : K - 1] = np.tril(np.broadcast_to(-height / (left - 1), (K, K - 1)), -1)
    np.fill_diagonal(Y[:-1], height)
    return Y


@dataclass(eq=False, repr=False)
class Simplex(Codewords):
    """The code of largest margin capacity, see :func:`simplex`.

    Parameters
    ----------
    code_dim : int, optional
        Code dimension, at least K-1, the default.

    Examples
    --------
    >>> Simplex().matrix(4, np.random.default_rng(0)).shape
    (4, 3)
    """

    code_dim: int | None = None

    def matrix(self, K: int, rng: np.random.Generator) -> Array:
        """The simplex, (K, code_dim)."""
        return simplex(K, self.code_dim)

    def columns(self, K: int) -> int:
        """K − 1, unless more are asked for."""
        return K - 1 if self.code_dim is None else int(self.code_dim)


def samme(K: int) -> Array:
    """The codewords of SAMME, ``(K I - 1 1ᵀ)/(K - 1)``: a simplex in K dimensions, of squared norm K/(K-1).

    Parameters
    ----------
    K : int
        The number of classes.

    Returns
    -------
    array of shape (K, K)
        The codewords, a row for every class.

    Examples
    --------
    >>> samme(3)
    array([[ 1. , -0.5, -0.5],
           [-0.5,  1. , -0.5],
           [-0.5, -0.5,  1. ]])
    """
    K = check_classes(K)
    return (K * np.eye(K) - 1.0) / (K - 1)


@dataclass(eq=False, repr=False)
class SAMMECode(Codewords):
    """The K-dimensional simplex of SAMME, see :func:`samme`.

    Examples
    --------
    >>> SAMMECode().matrix(4, np.random.default_rng(0)).shape
    (4, 4)
    """

    def matrix(self, K: int, rng: np.random.Generator) -> Array:
        """The code of SAMME, (K, K)."""
        return samme(K)

    def columns(self, K: int) -> int:
        """One for every class."""
        return K
