"""Constructs the real-valued codes with K or K − 1 coordinates: the identity, the simplex, and that of SAMME."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._util.arrays import Array
from ..._util.params import check_flag
from ...model.code import FEW, identity
from .base import Codewords, RandomState, check_classes, check_dim


@dataclass(eq=False, repr=False)
class Canonical(Codewords):
    """The identity: class k is the k-th unit vector.

    Parameters
    ----------
    centered : bool
        Whether the codewords sum to zero, I − 1/K; the scores of every example then do so too.

    Examples
    --------
    >>> Canonical().matrix(2)
    array([[1., 0.],
           [0., 1.]])
    >>> Canonical(centered=True).matrix(2)
    array([[ 0.5, -0.5],
           [-0.5,  0.5]])
    """

    centered: bool = False

    def check(self) -> None:
        check_flag("centered", self.centered)

    def matrix(self, K: int, rng: RandomState = 0) -> Array:
        K = check_classes(K)
        if self.centered:
            return np.eye(K) - 1.0 / K
        return np.eye(K) if K <= FEW else identity(K)  # `identity` is a view that takes no memory

    def columns(self, K: int) -> int:
        return K


@dataclass(eq=False, repr=False)
class Simplex(Codewords):
    """The regular simplex, the code of largest margin capacity (Saberian and Vasconcelos, Theorems 1-3).

    Its rows have length one, zero sum and equal inner products −1/(K−1). They are in the orientation of the paper's
    recursion: row 0 is ``(1, 0, ...)``, the other rows are ``-1/(K-1)`` followed by the smaller simplex of K−1 classes,
    shrunk.

    Parameters
    ----------
    code_dim : int, optional
        Code dimension, at least K−1, the default; columns beyond K−1 are zero.

    Examples
    --------
    >>> Simplex().matrix(3).round(3)
    array([[ 1.   ,  0.   ],
           [-0.5  ,  0.866],
           [-0.5  , -0.866]])
    >>> Simplex(5).matrix(4).shape
    (4, 5)
    """

    code_dim: int | None = None

    def matrix(self, K: int, rng: RandomState = 0) -> Array:
        K = check_classes(K)
        d = check_dim(self.columns(K))
        if d < K - 1:
            raise ValueError(f"code_dim={d} is too small for a simplex of K={K} classes, at least {K - 1}; see MaxMin.")
        left = np.arange(K, 1, -1)  # classes left at column j: K - j
        height = np.sqrt(K * (left - 1) / ((K - 1) * left))  # (K-1,), the recursion's product of factors in closed form
        Y = np.zeros((K, d))
        Y[:, : K - 1] = np.tril(np.broadcast_to(-height / (left - 1), (K, K - 1)), -1)
        np.fill_diagonal(Y[:-1], height)
        return Y

    def columns(self, K: int) -> int:
        return K - 1 if self.code_dim is None else self.code_dim


@dataclass(eq=False, repr=False)
class SAMMECode(Codewords):
    """The codewords of SAMME, ``(K I - 1 1ᵀ)/(K - 1)``: a simplex in K dimensions, of squared norm K/(K−1).

    Examples
    --------
    >>> SAMMECode().matrix(3)
    array([[ 1. , -0.5, -0.5],
           [-0.5,  1. , -0.5],
           [-0.5, -0.5,  1. ]])
    """

    def matrix(self, K: int, rng: RandomState = 0) -> Array:
        K = check_classes(K)
        return (K * np.eye(K) - 1.0) / (K - 1)

    def columns(self, K: int) -> int:
        return K
