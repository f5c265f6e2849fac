"""Checks that a code is a finite matrix of distinct rows, one row per class."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike

from .._typing import Array


def check_codewords(Y: ArrayLike, K: int | None = None) -> Array:
    """The code as a new float64 array, or an error that says what is wrong with it.

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
    """A new float64 (K, d) array of finite numbers, K >= 2 and d >= 1."""
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
    """A new (K, d) array of -1, 0, +1."""
    Y = check_matrix(Y)
    other = Y[(Y != 0) & (np.abs(Y) != 1)]
    if len(other):
        raise ValueError(f"codewords has the entry {other[0]:g}; accepted are -1, 0 and +1.")
    return Y


def check_classes(K: int) -> int:
    """Number of classes as an int, at least 2."""
    if not isinstance(K, Integral) or isinstance(K, bool) or K < 2:
        raise ValueError(f"K={K!r} is no number of classes; codewords need an integer K >= 2.")
    return int(K)


def check_dim(d: int) -> int:
    """Code dimension as an int, at least 1."""
    if not isinstance(d, Integral) or isinstance(d, bool) or d < 1:
        raise ValueError(f"d={d!r} is no code dimension; codewords need an integer d >= 1.")
    return int(d)
