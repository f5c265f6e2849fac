"""Sketches: a few directions in the space of codewords along which splits are searched, for any number of classes."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._parts import Part, check_number
from .._typing import AnyArray
from ..codewords.code import Code


class Sketch(Part):
    """Directions in the space of codewords, chosen anew in every round.

    A subclass writes `size`, the number s of directions, and `directions`, the codewords along them, (K, s).

    Examples
    --------
    A sketch that takes single coordinates:

    >>> from dataclasses import dataclass
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> @dataclass(eq=False, repr=False)
    ... class OneCoordinate(Sketch):
    ...     size = 1
    ...     def directions(self, Y, rng):
    ...         return Y[:, [rng.integers(Y.shape[1])]].astype(np.float32)
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = sb.SimplexBoostClassifier(n_estimators=20, sketch=OneCoordinate(), random_state=0).fit(X, y)
    >>> clf.score(X, y) > 0.95
    True
    """

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of directions, s."""

    @abstractmethod
    def directions(self, Y: AnyArray, rng: np.random.Generator) -> AnyArray:
        """The codewords along the directions, Z (K, s) float32; Y (K, d) are the codewords."""

    def along(self, code: Code, rng: np.random.Generator) -> AnyArray:
        """The same for codewords of which more is known."""
        return self.directions(code.Y, rng)

    def free(self, code: Code, rng: np.random.Generator) -> AnyArray:
        """The same for scores of which each matters by itself, not only compared with the others: those of labels."""
        return self.along(code, rng)

    def check(self) -> None:
        """Raise if a parameter is invalid; called once before boosting."""


@dataclass(eq=False, repr=False)
class GaussianSketch(Sketch):
    """Random directions with independent Gaussian coordinates.

    Parameters
    ----------
    n_directions : int, default=1
        The number of directions. More of them find better splits and make histograms wider.

    Examples
    --------
    >>> GaussianSketch(2).directions(np.eye(5), np.random.default_rng(0)).shape
    (5, 2)
    """

    n_directions: int = 1

    @property
    def size(self) -> int:
        """The number of directions."""
        return self.n_directions

    def check(self) -> None:
        """Raise if the number of directions is invalid."""
        check_number("sketch", self.n_directions, int, 1, 64)

    def directions(self, Y: AnyArray, rng: np.random.Generator) -> AnyArray:
        """Z = Y R / √s with R (d, s) Gaussian; it is centred over the classes, which only reduces rounding errors."""
        return self._centred(Y @ self._draw(Y.shape[1], rng))

    def along(self, code: Code, rng: np.random.Generator) -> AnyArray:
        """The same; canonical codewords need no product, which takes 0.2 ms for 438 classes."""
        return self._centred(self._draw(len(code.Y), rng)) if code.canonical else self.directions(code.Y, rng)

    def free(self, code: Code, rng: np.random.Generator) -> AnyArray:
        """The same without centring: if all labels become more probable together, that is a direction too."""
        return self._scaled(self._draw(len(code.Y), rng))

    def _draw(self, d: int, rng: np.random.Generator) -> AnyArray:
        return rng.standard_normal((d, self.n_directions))

    def _centred(self, Z: AnyArray) -> AnyArray:
        Z -= Z.mean(axis=0)
        return self._scaled(Z)

    def _scaled(self, Z: AnyArray) -> AnyArray:
        return np.ascontiguousarray(Z / np.sqrt(self.n_directions), dtype=np.float32)


def as_sketch(value: Any) -> Sketch:
    """The sketch that ``value`` stands for: a number of random directions, or a `Sketch`, returned as it is.

    >>> as_sketch(3)
    GaussianSketch(n_directions=3)
    """
    return value if isinstance(value, Sketch) else GaussianSketch(value)
