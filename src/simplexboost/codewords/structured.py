"""Codes of classes that have a place among each other: on a line, from the lowest class to the highest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._parts import check_number
from .._typing import Array
from .base import Codewords
from .checks import check_classes, check_dim

SMOOTHNESS = 1.5  # had the lowest log-loss of 1, 1.5 and 2 on most tables of the trial; see docs/structure.md
WAVES = 32  # the most by default: those beyond have a hundredth of the length of the first


def ordered(K: int, d: int | None = None, smoothness: float = SMOOTHNESS) -> Array:
    """Codewords of ordered classes: coordinate j is a cosine wave of j half-periods over the classes, slow waves first.

    Slow waves are longer than fast ones, so that neighbours are near and the two ends are far apart. With
    ``smoothness=1`` and all K − 1 coordinates, the squared distance of two codewords is ``4 |k − l| / (K − 1)``.

    Parameters
    ----------
    K : int
        The number of classes, from the lowest to the highest.
    d : int, optional
        The number of coordinates, at most K − 1, the default.
    smoothness : float, default=1.5
        How much shorter fast waves are: the length of wave j falls like 1 / j to this power.

    Returns
    -------
    array of shape (K, d)
        The codewords, a row for every class; they sum to zero.

    Examples
    --------
    >>> ordered(4, 2).round(2)
    array([[-1.08,  0.33],
           [-0.45, -0.33],
           [ 0.45, -0.33],
           [ 1.08,  0.33]])
    >>> Y = ordered(4, smoothness=1.0)
    >>> [round(float(((Y[0] - Y[k]) ** 2).sum()), 3) for k in range(4)]
    [0.0, 1.333, 2.667, 4.0]
    """
    K = check_classes(K)
    d = K - 1 if d is None else check_dim(d)
    if d > K - 1:
        raise ValueError(f"d={d} is too large for K={K} ordered classes, which have {K - 1} coordinates at most.")
    angle = np.pi * np.arange(1, K) / K  # (K-1,)
    waves = np.cos((K - 0.5 - np.arange(K)[:, None]) * angle[:d])  # (K, d), each of squared length K/2
    length = np.sin(angle / 2) ** -smoothness  # smoothness 1: the square root of the eigenvalues of −|k − l|, centred
    squared = 2 * (K + 1) / (3 * K)  # the mean squared length of all codewords, so that smoothness 1 has distance 4
    length *= np.sqrt(2 * squared / np.sum(length**2))
    return waves * length[:d]


@dataclass(eq=False, repr=False)
class Ordered(Codewords):
    """Classes on a line, from the lowest to the highest in the order of ``classes_``, see :func:`ordered`.

    Parameters
    ----------
    code_dim : int, optional
        Code dimension, at most K − 1. By default min(K − 1, 32).
    smoothness : float, default=1.5
        How much shorter fast waves are than slow ones.

    Examples
    --------
    >>> Ordered().matrix(7, np.random.default_rng(0)).shape
    (7, 6)
    >>> Ordered(code_dim=2).matrix(7, np.random.default_rng(0)).shape
    (7, 2)
    """

    code_dim: int | None = None
    smoothness: float = SMOOTHNESS

    def check(self) -> None:
        """Raise if a parameter is invalid."""
        super().check()
        check_number("smoothness", self.smoothness, float, 0.0, 10.0)

    def matrix(self, K: int, rng: np.random.Generator) -> Array:
        """The code, (K, d)."""
        return ordered(K, self.columns(K), self.smoothness)

    def columns(self, K: int) -> int:
        """The code dimension."""
        return min(WAVES if self.code_dim is None else int(self.code_dim), K - 1)
