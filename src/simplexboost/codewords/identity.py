"""The identity as a view on 2K − 1 numbers: canonical codewords of thousands of classes take no K × K memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from .._typing import AnyArray

FEW = 1024  # up to so many classes, canonical codewords are an ordinary array


def identity(K: int, dtype: Any = np.float64) -> AnyArray:
    """The identity (K, K), which cannot be written to: all its diagonals are one and the same row of numbers.

    >>> Y = identity(3)
    >>> Y
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    >>> Y.base is not None, is_view(Y), is_view(np.eye(3))
    (True, True, False)
    """
    numbers = np.zeros(2 * K - 1, dtype=dtype)
    numbers[K - 1] = 1.0
    size = numbers.itemsize
    return as_strided(numbers[K - 1 :], (K, K), (-size, size), writeable=False)


def is_view(Y: AnyArray) -> bool:
    """Whether Y is what `identity` returns: no other matrix is constant along its diagonals in memory."""
    size = Y.itemsize
    return Y.ndim == 2 and len(Y) > 1 and Y.shape[0] == Y.shape[1] and Y.strides == (-size, size) and Y[0, 0] == 1.0


def in_precision(Y: AnyArray, dtype: Any) -> AnyArray:
    """Codewords in another precision; those of `identity` stay a view."""
    return identity(len(Y), dtype) if is_view(Y) else Y.astype(dtype)


def same(A: AnyArray, B: AnyArray) -> bool:
    """Whether two codes are equal, without a K × K array where both are views."""
    return A.shape == B.shape if is_view(A) and is_view(B) else np.array_equal(A, B)
