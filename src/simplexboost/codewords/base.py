"""What codewords are to an estimator: a rule that gives a code to any number of classes, or your own matrix."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._parts import Part, check_number
from .._typing import Array
from .checks import check_codewords

MOST_DIMENSIONS = 1_000_000
RandomState = int | np.random.Generator | None


@dataclass(eq=False, repr=False)
class Codewords(Part, ABC):
    """A rule that gives a code to any number of classes; subclasses need only :meth:`matrix`.

    Examples
    --------
    >>> from simplexboost.codewords import canonical
    >>> class Reversed(Codewords):
    ...     def matrix(self, K, rng):
    ...         return canonical(K)[::-1]
    >>> Reversed().for_classes(3, [True, False, True], np.random.default_rng(0))
    array([[0., 1.],
           [1., 0.]])
    """

    def check(self) -> None:
        """Raise if a parameter is invalid."""
        check_number("code_dim", getattr(self, "code_dim", None), int, 1, MOST_DIMENSIONS, none=True)

    @abstractmethod
    def matrix(self, K: int, rng: np.random.Generator) -> Array:
        """The code of K classes, (K, d)."""

    def columns(self, K: int) -> int | None:
        """The number d of columns that the code of K classes has, or None if only `matrix` can tell.

        It costs nothing, so that what a fit will need is known before codewords are searched or stored.
        """
        d = getattr(self, "code_dim", None)
        return None if d is None else int(d)

    def for_classes(self, K: int, present: ArrayLike, rng: np.random.Generator) -> Array:
        """The code (K_present, d) of the classes that occur; ``present`` (K,) says which of the K classes do."""
        return self.matrix(int(check_present(K, present).sum()), rng)


def check_present(K: int, present: ArrayLike) -> NDArray[np.bool_]:
    """The mask of classes that occur, (K,) bool."""
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

    def matrix(self, K: int, rng: np.random.Generator) -> Array:
        """The given code, (K, d), checked."""
        return check_codewords(self.Y, K)

    def columns(self, K: int) -> int | None:
        """Those of the given code."""
        return int(np.shape(self.Y)[1]) if np.ndim(self.Y) == 2 else None

    def for_classes(self, K: int, present: ArrayLike, rng: np.random.Generator) -> Array:
        """The rows of the classes that occur, (K_present, d)."""
        return check_codewords(self.matrix(K, rng)[check_present(K, present)])
