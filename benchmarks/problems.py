"""The sets of the race: those of a folder by name, and problems of any size that are made on the spot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from simplexboost._util.arrays import AnyArray
from simplexboost.datasets import Dataset
from simplexboost.datasets import load as load_set

STANDARD = (
    "letter",
    "isolet",
    "mnist",
    "pendigits",
    "satimage",
    "optdigits",
    "covtype15k",
    "plants_margin",
    "plants_shape",
    "aloi27",
    "ujiindoorloc",
    "connect4",
    "magic04",
    "segment",
)
SEED = 7
INFORMATIVE = 10  # features that tell Gaussian classes apart
LEAST_ROWS, LEAST_ROWS_PER_CLASS = 200, 10  # however small the scale


@dataclass(frozen=True)
class Problem:
    """A set made on the spot.

    Attributes
    ----------
    words : what it is
    draw : from numbers of rows, features and classes to X (n, p) float32 and y (n,)
    n_train, n_test, p, K : its full size
    floor : the log-loss of who knows the probabilities, where it is known
    """

    words: str
    draw: Callable[[int, int, int], tuple[AnyArray, AnyArray]]
    n_train: int
    n_test: int
    p: int
    K: int
    floor: float | None = None

    def dataset(self, name: str, scale: float) -> Dataset:
        """The problem with its rows times ``scale``, and with fewer classes where these would be too many for them."""
        n_train, n_test = (max(LEAST_ROWS, round(scale * rows)) for rows in (self.n_train, self.n_test))
        K = min(self.K, n_train // LEAST_ROWS_PER_CLASS)
        X, y = self.draw(n_train + n_test, self.p, K)
        y = y.astype(np.intp)
        names, classes = [f"x{j + 1}" for j in range(self.p)], [str(k) for k in range(K)]
        rest = np.array(names), np.zeros(self.p, dtype=bool), np.array(classes)
        return Dataset(name, X[:n_train], y[:n_train], X[n_train:], y[n_train:], *rest)


def make(n: int, p: int, K: int, seed: int = 0, informative: int = INFORMATIVE) -> tuple[AnyArray, AnyArray]:
    """X (n, p) float32 and labels (n,): Gaussian classes with centres in the first features, noise everywhere.

    The first K rows are one of every class.
    """
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(K), rng.integers(K, size=max(n - K, 0))])[:n]
    X = rng.standard_normal((n, p), dtype=np.float32)
    X[:, :informative] += 2 * rng.standard_normal((K, min(informative, p)), dtype=np.float32)[y]
    return X, y


def friedman_function(X: AnyArray) -> AnyArray:
    """10 sin(π x₁x₂) + 20 (x₃ − ½)² + 10 x₄ + 5 x₅, (n,), of features that are uniform in (0, 1)."""
    x = X[:, :5].astype(np.float64).T
    return np.asarray(10 * np.sin(np.pi * x[0] * x[1]) + 20 * (x[2] - 0.5) ** 2 + 10 * x[3] + 5 * x[4])


def friedman(n: int, p: int, K: int, noise: float, rare: float | None = None) -> tuple[AnyArray, AnyArray]:
    """Ordered classes: Friedman's function plus normal noise, cut into K equal parts, or where ``rare`` lie above."""
    rng = np.random.default_rng(SEED)
    X = rng.random((n, p), dtype=np.float32)
    value = friedman_function(X) + noise * rng.standard_normal(n)
    cuts = [1 - rare] if rare else [k / K for k in range(1, K)]
    return X, np.searchsorted(np.quantile(value, cuts), value)


def pure_noise(n: int, p: int, K: int) -> tuple[AnyArray, AnyArray]:
    """Labels that have nothing to do with the features."""
    rng = np.random.default_rng(SEED)
    return rng.random((n, p), dtype=np.float32), rng.integers(K, size=n)


FEW, MANY = (partial(make, seed=SEED, informative=count) for count in (10, 20))
NOISY = partial(friedman, noise=2.0)  # the function itself has a standard deviation of 4.9
RARE = partial(friedman, noise=8.0, rare=0.01)

MADE = {
    "million10": Problem("Gaussian classes", FEW, 1_000_000, 50_000, 50, 10),
    "million100": Problem("Gaussian classes", FEW, 1_000_000, 20_000, 50, 100),
    "friedman2": Problem("a noisy function, above or below its median", NOISY, 200_000, 50_000, 30, 2, 0.259),
    "friedman_rare": Problem("a very noisy function, 1 row in 100 positive", RARE, 200_000, 50_000, 30, 2, 0.048),
    "friedman5": Problem("a noisy function, cut into fifths", NOISY, 200_000, 50_000, 30, 5, 0.818),
    "noise5": Problem("labels at random", pure_noise, 200_000, 50_000, 30, 5, 1.609),
    "classes1000": Problem("Gaussian classes", MANY, 50_000, 5_000, 30, 1000),
    "classes5000": Problem("Gaussian classes", MANY, 50_000, 2_000, 30, 5000),
}


def load(name: str, data_home: str | Path | None = None, scale: float = 1.0) -> Dataset:
    """A set by name; ``scale`` makes problems that are made on the spot smaller."""
    return MADE[name].dataset(name, scale) if name in MADE else load_set(name, data_home)
