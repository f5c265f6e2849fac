"""Random labels y and weights: ordinary, odd and wrong ones."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from .tables import pick

KINDS: list[Callable[[int], Any]] = [
    int,
    lambda k: k - 5,
    lambda k: f"class {k}",
    lambda k: float(k),
    lambda k: 2**62 + k,
    lambda k: "é" * k,
    lambda k: 1000 * k,
]


def numbers(rng: np.random.Generator, n: int, K: int) -> np.ndarray:
    """The numbers of n classes; every class occurs if there are rows enough."""
    return rng.permutation(np.arange(n) % K)


# ---- labels that must be accepted -----------------------------------------------------------------------------------


def plain(rng: np.random.Generator, n: int, K: int) -> Any:
    """Labels of one kind, in one of several containers."""
    kind = KINDS[rng.integers(len(KINDS))]
    y = np.array([kind(k) for k in numbers(rng, n, K).tolist()])
    return pick(
        rng,
        [
            lambda: y,
            lambda: y,
            lambda: y.tolist(),
            lambda: pd.Series(y, index=rng.permutation(n)),
            lambda: pd.Series(
                pd.Categorical(y, categories=[*np.unique(y), *(["never"] if y.dtype.kind == "U" else [])])
            ),
            lambda: y.astype(object),
            lambda: tuple(y),
        ],
    )


def few(rng: np.random.Generator, n: int, K: int) -> Any:
    """All rows but one of one class."""
    return np.where(np.arange(n) == 0, 1, 0)


def every_row(rng: np.random.Generator, n: int, K: int) -> Any:
    """A class for every row."""
    return rng.permutation(n)


def flags(rng: np.random.Generator, n: int, K: int) -> Any:
    """Two classes, False and True."""
    return rng.permutation(np.arange(n) % 2 == 0)


# ---- labels that may be refused -------------------------------------------------------------------------------------


def wrong_length(rng: np.random.Generator, n: int, K: int) -> Any:
    """Labels for other rows, or of another shape."""
    shape = [(n + 1,), (max(n - 1, 0),), (0,), (n, 1), (n, 2), (1, n), (), (n, 1, 1)][rng.integers(8)]
    return rng.integers(K, size=shape)


def one_class(rng: np.random.Generator, n: int, K: int) -> Any:
    """The same label for all."""
    return np.full(n, rng.choice([0, 1, 7]))


def strange(rng: np.random.Generator, n: int, K: int) -> Any:
    """Labels that are not finite, mixed, or of a strange type."""
    c = numbers(rng, n, K)
    return pick(
        rng,
        [
            lambda: np.where(c == 0, np.nan, c.astype(float)),
            lambda: np.where(c == 0, np.inf, c.astype(float)),
            lambda: c + 0.5,
            lambda: c + 1j,
            lambda: np.array([None, "a", 1, 2.5, b"x"], dtype=object)[c % 5],
            lambda: np.array(["a", 1], dtype=object)[c % 2],
            lambda: np.array([None, "a"], dtype=object)[c % 2],
            lambda: np.array([(1, 2), (3, 4)], dtype="i,i")[c % 2],
            lambda: [[k, k] for k in c.tolist()],
            lambda: [(k,) for k in c.tolist()],
            lambda: np.array(["2020-01-01", "2020-01-02"], dtype="M8[D]")[c % 2],
            lambda: [datetime.date(2020, 1, 1 + k % 9) for k in c.tolist()],
            lambda: np.array([b"a", b"b"])[c % 2],
            lambda: [object() for _ in range(n)],
            lambda: [10**30 + k for k in c.tolist()],
            lambda: pd.Series(pd.array(c, dtype="Int64")),
            lambda: pd.Series(pd.array(np.where(c == 0, np.array(None), c), dtype="Int64")),
            lambda: pd.Series(np.array(["a", "b"])[c % 2], dtype="string"),
            lambda: c.astype("float16"),
            lambda: c.astype("longdouble"),
            lambda: c.astype("uint64") + np.uint64(2**63),
            lambda: np.where(c == 0, 2.0**60, c),
            lambda: sparse.csr_matrix(c[:, None]),
            lambda: np.ma.masked_array(c, c == 0),
        ],
    )


def no_labels(rng: np.random.Generator, n: int, K: int) -> Any:
    """Something else."""
    return [None, "text", 3, {}, {1, 2}, object(), [], [[]], np.ones, pd.DataFrame()][rng.integers(10)]


def indicator(rng: np.random.Generator, n: int, K: int) -> Any:
    """An indicator matrix of several labels per row."""
    Z = (rng.random((n, K)) < rng.choice([0.0, 0.3, 0.5, 1.0])).astype(int)
    return pick(
        rng,
        [lambda: Z, lambda: Z.astype(bool), lambda: sparse.csr_matrix(Z), lambda: Z.astype(float), lambda: Z.tolist()],
    )


GOOD: dict[str, Any] = {maker.__name__: maker for maker in (plain, few, every_row, flags)}
ODD: dict[str, Any] = {maker.__name__: maker for maker in (wrong_length, one_class, strange, no_labels, indicator)}


# ---- weights --------------------------------------------------------------------------------------------------------


def good_weights(rng: np.random.Generator, n: int) -> Any:
    """Weights that must be accepted."""
    w = rng.uniform(0.5, 2.0, size=n)
    return pick(
        rng,
        [
            lambda: None,
            lambda: w,
            lambda: w.tolist(),
            lambda: pd.Series(w, index=rng.permutation(n)),
            lambda: w.astype("float32"),
            lambda: rng.integers(1, 4, size=n),
            lambda: w * rng.choice([1e-300, 1e-30, 1e30, 1e300]),
            lambda: w ** rng.choice([10, 100]),
            lambda: np.full(n, 5e-324),
            lambda: np.full(n, 1.7e308),
            lambda: 10.0 ** rng.uniform(-300, 300, size=n),
            lambda: np.ones(n, dtype=bool),
        ],
    )


def odd_weights(rng: np.random.Generator, n: int) -> Any:
    """Weights that may be refused."""
    w, spoiled = rng.uniform(0.5, 2.0, size=n), np.arange(n) == 0
    return pick(
        rng,
        [
            lambda: np.zeros(n),
            lambda: np.where(rng.random(n) < 0.5, 0.0, w),
            lambda: np.where(spoiled, w, 0.0),
            lambda: np.where(spoiled, -1.0, w),
            lambda: np.where(spoiled, np.nan, w),
            lambda: np.where(spoiled, np.inf, w),
            lambda: np.where(spoiled, 1e308, 1e-308),
            lambda: w[:-1],
            lambda: w[:, None],
            lambda: np.stack([w, w], axis=1),
            lambda: np.float64(2.0),
            lambda: 3,
            lambda: "heavy",
            lambda: ["a"] * n,
            lambda: w.astype(object),
            lambda: [None] * n,
            lambda: w + 1j,
            lambda: np.full(n, 10**400, dtype=object),
            lambda: {},
            lambda: [],
            lambda: w.astype("longdouble") * np.longdouble("1e4000"),
            lambda: object(),
            lambda: [[1], [1, 2]],
            lambda: np.full(n, np.datetime64("2020")),
        ],
    )
