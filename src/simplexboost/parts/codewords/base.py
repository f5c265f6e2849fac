"""Defines the base class `Codewords`, and the real-valued codes that have closed forms, with K or K − 1 columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..._util.arrays import Array, Mask
from ..._util.params import Part, check_flag, check_number
from ...model.code import FEW, identity

MOST_DIMENSIONS = 1_000_000
RandomState = int | np.random.Generator | None


def check_codewords(Y: ArrayLike, K: int | None = None) -> Array:
    """Return a float64 copy of the coding matrix Y; raise unless its entries are finite and its K rows distinct."""
    Y = check_matrix(Y)
    if K is not None and len(Y) != K:
        raise ValueError(f"codewords has shape {Y.shape} but there are K={K} classes; pass one row per class.")
    _, inverse = np.unique(Y, axis=0, return_inverse=True)
    order = np.argsort(inverse, kind="stable")
    equal = np.flatnonzero(np.diff(inverse[order]) == 0)
    if len(equal):
        k, j = order[equal[0] : equal[0] + 2]
        raise ValueError(f"codewords has equal rows {k} and {j}; every class needs its own codeword.")
    return Y


def check_matrix(Y: ArrayLike) -> Array:
    """Return a float64 copy of a coding matrix (K, d); raise unless it is finite, with K >= 2 and d >= 1."""
    accepted = "accepted is a (K, d) array of finite numbers with K >= 2 and d >= 1."
    try:
        if np.iscomplexobj(Y):
            raise TypeError("they are complex")
        array = np.array(Y, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"codewords is no array of numbers ({error}); {accepted}") from None
    if array.ndim != 2 or array.shape[0] < 2 or array.shape[1] < 1:
        raise ValueError(f"codewords has shape {array.shape}; {accepted}")
    if not np.isfinite(array).all():
        raise ValueError(f"codewords contains NaN or infinity; {accepted}")
    return array


def check_ternary(Y: ArrayLike) -> Array:
    """Return a float64 copy of a coding matrix (K, d); raise unless all its entries are −1, 0 or +1."""
    Y = check_matrix(Y)
    other = Y[(Y != 0) & (np.abs(Y) != 1)]
    if len(other):
        raise ValueError(f"codewords has the entry {other[0]:g}; accepted are -1, 0 and +1.")
    return Y


def check_classes(K: int) -> int:
    """Return the number of classes K as an int; raise unless it is a whole number of at least 2."""
    check_number("K", K, int, 2)
    return int(K)


def check_dim(d: int, name: str = "code_dim") -> int:
    """Return the code dimension as an int; raise unless it is a whole number of at least 1."""
    check_number(name, d, int, 1)
    return int(d)


class Codewords(Part, ABC):
    """The base class of codes, which give K classes a coding matrix (K, d); a subclass must define only :meth:`matrix`.

    Examples
    --------
    >>> class Reversed(Codewords):
    ...     def matrix(self, K, rng=0):
    ...         return np.eye(K)[::-1]
    >>> Reversed().for_classes(3, [True, False, True], np.random.default_rng(0))
    array([[0., 1.],
           [1., 0.]])
    """

    table: ClassVar[dict[str, type[Codewords]]] = {}  # the sets that have names

    def check(self) -> None:
        """Raise if a parameter of the code is invalid."""
        check_number("code_dim", getattr(self, "code_dim", None), int, 1, MOST_DIMENSIONS, none=True)

    @abstractmethod
    def matrix(self, K: int, rng: RandomState = 0) -> Array:
        """Return the coding matrix (K, d) of K >= 2 classes; ``rng`` is the seed of random draws and searches."""

    def columns(self, K: int) -> int | None:
        """Return the number of columns for K classes, without computing the matrix; None if this cannot be done."""
        d = getattr(self, "code_dim", None)
        return None if d is None else int(d)

    def for_classes(self, K: int, present: ArrayLike, rng: np.random.Generator) -> Array:
        """Return a coding matrix for only the classes in the training data, given as the mask ``present`` (K,)."""
        return self.matrix(int(check_present(K, present).sum()), rng)


class SizedCodewords(Codewords):
    """The base class of codes whose number of columns can be chosen.

    Parameters
    ----------
    code_dim : int or None, default=None
        The number of columns; with None, every code has its own default.
    """

    code_dim: int | None = None


def check_present(K: int, present: ArrayLike) -> Mask:
    """Return ``present``, the mask of classes in the training data, as an array; raise unless it has K booleans."""
    mask = np.asarray(present)
    if mask.dtype != bool or mask.shape != (K,):
        raise ValueError(f"present has shape {mask.shape} and type {mask.dtype}; accepted is a mask of K={K} booleans.")
    return mask


class Custom(Codewords):
    """A code given as a coding matrix: row k is the codeword of the k-th class in sorted order.

    Parameters
    ----------
    Y : (K, d) array-like
        The coding matrix: finite numbers, no two rows equal.

    Examples
    --------
    >>> Custom([[1, 1], [1, -1], [-1, 0]]).for_classes(3, [True, False, True], np.random.default_rng(0))
    array([[ 1.,  1.],
           [-1.,  0.]])
    """

    Y: Any

    def matrix(self, K: int, rng: RandomState = 0) -> Array:
        return check_codewords(self.Y, K)

    def columns(self, K: int) -> int | None:
        return int(np.shape(self.Y)[1]) if np.ndim(self.Y) == 2 else None

    def for_classes(self, K: int, present: ArrayLike, rng: np.random.Generator) -> Array:
        return check_codewords(self.matrix(K, rng)[check_present(K, present)])


class Canonical(Codewords, name="canonical"):
    """The identity matrix as code: the codeword of class k is the k-th unit vector.

    Parameters
    ----------
    centered : bool
        Whether 1/K is subtracted from all entries, so that the codewords, and also the scores of every row, sum to
        zero.

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


class Simplex(SizedCodewords, name="simplex"):
    """The regular simplex, the code of largest margin capacity (Saberian and Vasconcelos, Theorems 1-3).

    The codewords have length one, sum to zero and have equal inner products −1/(K−1). As in the paper's recursion, row
    0 is ``(1, 0, ...)``, and every other row is ``-1/(K-1)`` followed by a row of the simplex of K−1 classes, scaled so
    that the whole row has length one. There are at least K−1 columns, the default; further ones are zero.

    Examples
    --------
    >>> Simplex().matrix(3).round(3)
    array([[ 1.   ,  0.   ],
           [-0.5  ,  0.866],
           [-0.5  , -0.866]])
    >>> Simplex(5).matrix(4).shape
    (4, 5)
    """

    def matrix(self, K: int, rng: RandomState = 0) -> Array:
        K = check_classes(K)
        d = check_dim(self.columns(K) if self.code_dim is None else self.code_dim)
        if d < K - 1:
            raise ValueError(f"code_dim={d} is too small for a simplex of K={K} classes, at least {K - 1}; see MaxMin.")
        left = np.arange(K, 1, -1)  # classes left at column j: K - j
        height = np.sqrt(K * (left - 1) / ((K - 1) * left))  # (K-1,), the recursion's product of factors in closed form
        Y = np.zeros((K, d))
        Y[:, : K - 1] = np.tril(np.broadcast_to(-height / (left - 1), (K, K - 1)), -1)
        np.fill_diagonal(Y[:-1], height)
        return Y

    def columns(self, K: int) -> int:
        return K - 1 if self.code_dim is None else int(self.code_dim)


class SAMMECode(Codewords, name="samme"):
    """The codewords of SAMME, ``(K I - 1 1ᵀ)/(K - 1)``: a simplex of K vectors of squared length K/(K−1).

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
