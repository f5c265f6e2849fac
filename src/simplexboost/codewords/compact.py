"""Codes of few dimensions for many classes: max-min codes, and the rule that takes them where classes are many."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._parts import check_flag, check_number
from .._typing import Array
from .base import Codewords, RandomState
from .checks import check_classes, check_dim
from .packing import pack
from .real import Canonical, simplex


def max_min(K: int, d: int, centered: bool = False, random_state: RandomState = 0) -> Array:
    """Unit codewords whose smallest distance is as large as could be found: the code for d < K-1.

    Closed forms where they are known to be optimal: the simplex for K <= d+1, orthogonal simplices for K <= 2d (squared
    distance 2), the polygon for d = 2. Otherwise a numerical search: exact to 1e-9 where the optimum is known and K d
    is small, a good local optimum for large codes.

    Parameters
    ----------
    K : int
        Number of classes, at least 2.
    d : int
        Code dimension; 1 is enough only for K = 2.
    centered : bool
        Whether the codewords must sum to zero, like those of Saberian and Vasconcelos (55). False gives the classical
        packing problem, whose optimum can be better: 1.1912 against 1.1716 for K = 10, d = 3.
    random_state : int, Generator or None
        Seed of the search.

    Returns
    -------
    Y : (K, d) array

    Examples
    --------
    >>> from simplexboost.codewords import min_distance
    >>> round(min_distance(max_min(6, 2)), 6)  # the hexagon
    1.0
    >>> round(min_distance(max_min(9, 3)), 6)
    1.333333
    """
    K, d = check_classes(K), check_dim(d)
    if d == 1 and K > 2:
        raise ValueError(f"d=1 holds two unit codewords, not K={K}; choose d >= 2.")
    if d + 1 >= K:
        return simplex(K, d)
    if 2 * d >= K:
        return _orthogonal_simplices(K, d)
    if d == 2:
        angle = 2 * np.pi * np.arange(K) / K
        return np.column_stack([np.cos(angle), np.sin(angle)])
    return np.asarray(pack(K, d, centered, np.random.default_rng(random_state)), dtype=np.float64)


def _orthogonal_simplices(K: int, d: int) -> Array:
    """K - d simplices in orthogonal subspaces, (K, d): squared distance 2, optimal for d+2 <= K <= 2d."""
    Y = np.zeros((K, d))
    row = column = 0
    for axes in np.array_split(np.arange(d), K - d):
        size = len(axes)
        Y[row : row + size + 1, column : column + size] = simplex(size + 1)
        row, column = row + size + 1, column + size
    return Y


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

    def check(self) -> None:
        """Raise if a parameter is invalid."""
        super().check()
        check_flag("centered", self.centered)

    def matrix(self, K: int, rng: np.random.Generator) -> Array:
        """A code of unit rows, (K, code_dim)."""
        return max_min(K, self.columns(check_classes(K)), self.centered, rng)

    def columns(self, K: int) -> int:
        """The code dimension."""
        # 3 √K follows the dimensions that did best in trials with single vector trees: 16, 32, 64 for K = 26, 100, 438.
        return min(K - 1, int(np.ceil(3 * np.sqrt(K))), 64) if self.code_dim is None else int(self.code_dim)


@dataclass(eq=False, repr=False)
class Auto(Codewords):
    """Canonical codewords, or few dimensions where the table would not fit into memory with canonical ones.

    Parameters
    ----------
    code_dim : int, optional
        A max-min code of this dimension for any number of classes.
    most_canonical : int
        The largest number of classes that get canonical codewords; the flagship computes it from the rows and the free
        memory. Canonical codewords are more accurate and faster, but the n × K predictor takes memory. After 15 rounds
        on 40 000 rows of 2 000 blobs, accuracy is 1.000 in 3.7 s, with a predictor of 320 MB; with 64 dimensions it is
        .830 in 8.4 s, with 10 MB.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> Auto().matrix(10, rng).shape, Auto(most_canonical=1000).matrix(1200, rng).shape
    ((10, 10), (1200, 64))
    """

    code_dim: int | None = None
    most_canonical: int = 2**31 - 1

    def check(self) -> None:
        """Raise if a parameter is invalid."""
        super().check()
        check_number("most_canonical", self.most_canonical, int, 0)

    def matrix(self, K: int, rng: np.random.Generator) -> Array:
        """The code, (K, d)."""
        return self._rule(K).matrix(K, rng)

    def columns(self, K: int) -> int:
        """K for canonical codewords, else the code dimension."""
        return self._rule(K).columns(K)

    def _rule(self, K: int) -> Canonical | MaxMin:
        """What K classes get."""
        if self.code_dim is None and K <= self.most_canonical:
            return Canonical()
        return MaxMin(None if self.code_dim is None else min(self.code_dim, K - 1))
