"""Codes as parts that an estimator takes by name or by instance."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._parts import Part, resolve
from .._typing import Array
from .binary import bch, hadamard, max_hamming
from .checks import check_classes, check_codewords
from .matrices import (
    all_pairs,
    canonical,
    exhaustive,
    max_min,
    one_vs_all,
    random_dense,
    random_sparse,
    samme,
    simplex,
)


@dataclass(eq=False, repr=False)
class Codewords(Part, ABC):
    """A rule that gives a code to any number of classes; subclasses need only :meth:`matrix`.

    Examples
    --------
    >>> class Reversed(Codewords):
    ...     def matrix(self, K, rng):
    ...         return canonical(K)[::-1]
    >>> Reversed().for_classes(3, [True, False, True], np.random.default_rng(0))
    array([[0., 1.],
           [1., 0.]])
    """

    @abstractmethod
    def matrix(self, K: int, rng: np.random.Generator) -> Array:
        """The code of K classes, (K, d)."""

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

    def matrix(self, K: int, rng: np.random.Generator) -> Array:
        """The identity, (K, K), possibly centred."""
        return canonical(K) - 1.0 / K if self.centered else canonical(K)


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


@dataclass(eq=False, repr=False)
class Hadamard(Codewords):
    """±1 rows at equal Hamming distance, see :func:`hadamard`.

    Examples
    --------
    >>> Hadamard().matrix(6, np.random.default_rng(0)).shape
    (6, 7)
    """

    def matrix(self, K: int, rng: np.random.Generator) -> Array:
        """The ±1 code, (K, 2^⌈log₂ K⌉ - 1)."""
        return hadamard(K)


@dataclass(eq=False, repr=False)
class BCH(Codewords):
    """±1 rows from a BCH code, see :func:`bch`.

    Parameters
    ----------
    code_dim : int, optional
        Number of columns, 2^m - 1; by default the smallest that is at least ``10 log2 K``.

    Examples
    --------
    >>> BCH(code_dim=15).matrix(40, np.random.default_rng(0)).shape
    (40, 15)
    """

    code_dim: int | None = None

    def matrix(self, K: int, rng: np.random.Generator) -> Array:
        """A ±1 code, (K, code_dim)."""
        return bch(K, self.code_dim, rng)


@dataclass(eq=False, repr=False)
class MaxHamming(Codewords):
    """±1 rows far apart by search, see :func:`max_hamming`.

    Parameters
    ----------
    code_dim : int, optional
        Number of columns; by default ``ceil(10 log2 K)``, but not more than there are different columns.

    Examples
    --------
    >>> MaxHamming(code_dim=12).matrix(6, np.random.default_rng(0)).shape
    (6, 12)
    """

    code_dim: int | None = None

    def matrix(self, K: int, rng: np.random.Generator) -> Array:
        """A ±1 code, (K, code_dim)."""
        return max_hamming(K, self.code_dim, rng)


@dataclass(eq=False, repr=False)
class MaxMin(Codewords):
    """Unit codewords far apart in few dimensions, see :func:`max_min`.

    Parameters
    ----------
    code_dim : int, optional
        Code dimension. By default ``min(K-1, ceil(3 √K), 64)``: 16 for 26 classes, 30 for 100, 63 for 438.
    centered : bool
        Whether the codewords must sum to zero.

    Examples
    --------
    >>> MaxMin().matrix(26, np.random.default_rng(0)).shape
    (26, 16)
    """

    code_dim: int | None = None
    centered: bool = False

    def matrix(self, K: int, rng: np.random.Generator) -> Array:
        """A code of unit rows, (K, code_dim)."""
        # 3 √K follows the dimensions that did best in trials with single vector trees: 16, 32, 64 for K = 26, 100, 438.
        d = min(check_classes(K) - 1, int(np.ceil(3 * np.sqrt(K))), 64) if self.code_dim is None else self.code_dim
        return max_min(K, d, self.centered, rng)


@dataclass(eq=False, repr=False)
class Auto(Codewords):
    """Canonical codewords up to a thousand classes, and few dimensions beyond, where these would take too much memory.

    Parameters
    ----------
    code_dim : int, optional
        Code dimension for many classes; by default that of `MaxMin`.
    most_canonical : int
        The largest number of classes that get canonical codewords. Beyond it the n × K predictor takes too much memory.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> Auto().matrix(10, rng).shape, Auto().matrix(1200, rng).shape
    ((10, 10), (1200, 64))
    """

    code_dim: int | None = None
    most_canonical: int = 1024

    def matrix(self, K: int, rng: np.random.Generator) -> Array:
        """The code, (K, d)."""
        if self.code_dim is None and K <= self.most_canonical:
            return canonical(K)
        return MaxMin(None if self.code_dim is None else min(self.code_dim, K - 1)).matrix(K, rng)


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

    def for_classes(self, K: int, present: ArrayLike, rng: np.random.Generator) -> Array:
        """The rows of the classes that occur, (K_present, d)."""
        return check_codewords(self.matrix(K, rng)[check_present(K, present)])


CODEWORDS: dict[str, type[Codewords]] = {
    "auto": Auto,
    "canonical": Canonical,
    "simplex": Simplex,
    "samme": SAMMECode,
    "one-vs-all": OneVsAllCode,
    "all-pairs": AllPairs,
    "exhaustive": Exhaustive,
    "random-dense": RandomDense,
    "random-sparse": RandomSparse,
    "hadamard": Hadamard,
    "bch": BCH,
    "max-hamming": MaxHamming,
    "max-min": MaxMin,
}


def as_codewords(value: Any) -> Codewords:
    """The part that ``value`` names: a key of :data:`CODEWORDS`, a :class:`Codewords`, or a (K, d) matrix.

    Examples
    --------
    >>> as_codewords("simplex")
    Simplex()
    >>> as_codewords([[1.0], [-1.0]])
    Custom(Y=array([[ 1.],
           [-1.]]))
    """
    if isinstance(value, list | tuple) or hasattr(value, "__array__"):
        return Custom(check_codewords(value))
    return resolve(value, CODEWORDS, Codewords, "codewords")
