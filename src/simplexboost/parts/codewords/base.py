"""Defines the base class `Codewords` and the checks that a code is a finite matrix of distinct rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..._util.arrays import Array
from ..._util.params import Part, check_number


def check_codewords(Y: ArrayLike, K: int | None = None) -> Array:
    """Return a code as a new float64 array, or raise an error that says what is wrong with it.

    Parameters
    ----------
    Y : (K, d) array-like
        At least two rows, one column, finite numbers, no two rows equal. Constant columns are harmless and allowed.
    K : int, optional
        The number of rows there must be.

    Returns
    -------
    Y : (K, d) array

    Examples
    --------
    >>> check_codewords([[1, 0], [1, 0]])
    Traceback (most recent call last):
    ...
    ValueError: codewords has equal rows 0 and 1; every class needs its own codeword.
    """
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
    """Return a new float64 (K, d) array of finite numbers, K >= 2 and d >= 1."""
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
    """Return a new (K, d) array of -1, 0, +1."""
    Y = check_matrix(Y)
    other = Y[(Y != 0) & (np.abs(Y) != 1)]
    if len(other):
        raise ValueError(f"codewords has the entry {other[0]:g}; accepted are -1, 0 and +1.")
    return Y


def check_classes(K: int) -> int:
    """Return the number of classes as an int, at least 2."""
    if not isinstance(K, Integral) or isinstance(K, bool) or K < 2:
        raise ValueError(f"K={K!r} must be an integer of at least 2, the number of classes.")
    return int(K)


def check_dim(d: int, name: str = "code_dim") -> int:
    """Return the code dimension as an int, at least 1."""
    if not isinstance(d, Integral) or isinstance(d, bool) or d < 1:
        raise ValueError(f"{name}={d!r} must be an integer of at least 1.")
    return int(d)


MOST_DIMENSIONS = 1_000_000
RandomState = int | np.random.Generator | None


@dataclass(eq=False, repr=False)
class Codewords(Part, ABC):
    """A rule that gives a code to any number of classes; subclasses need only :meth:`matrix`.

    Examples
    --------
    >>> class Reversed(Codewords):
    ...     def matrix(self, K, rng=0):
    ...         return np.eye(K)[::-1]
    >>> Reversed().for_classes(3, [True, False, True], np.random.default_rng(0))
    array([[0., 1.],
           [1., 0.]])
    """

    def check(self) -> None:
        """Raise if a parameter is invalid."""
        check_number("code_dim", getattr(self, "code_dim", None), int, 1, MOST_DIMENSIONS, none=True)

    @abstractmethod
    def matrix(self, K: int, rng: RandomState = 0) -> Array:
        """Return the code of K classes, (K, d).

        Parameters
        ----------
        K : int
            The number of classes, at least 2.
        rng : int, Generator or None
            The seed of codes that are drawn or searched; others ignore it.
        """

    def columns(self, K: int) -> int | None:
        """Return the number d of columns of the code of K classes, or None if only `matrix` can tell.

        It computes nothing, so that the memory of a fit is known before codewords are searched or stored.
        """
        d = getattr(self, "code_dim", None)
        return None if d is None else int(d)

    def for_classes(self, K: int, present: ArrayLike, rng: np.random.Generator) -> Array:
        """Return the code (K_present, d) of the classes that occur; ``present`` (K,) marks them among all K."""
        return self.matrix(int(check_present(K, present).sum()), rng)


def check_present(K: int, present: ArrayLike) -> NDArray[np.bool_]:
    """Return the mask of the classes that occur, (K,) bool."""
    mask = np.asarray(present)
    if mask.dtype != bool or mask.shape != (K,):
        raise ValueError(f"present has shape {mask.shape} and type {mask.dtype}; accepted is a mask of K={K} booleans.")
    return mask


@dataclass(eq=False, repr=False)
class Custom(Codewords):
    """Your own code: row k is the codeword of the k-th class in sorted order.

    Parameters
    ----------
    Y : (K, d) array-like
        Finite numbers, no two rows equal.

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
