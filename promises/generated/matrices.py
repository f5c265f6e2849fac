"""Random matrices y: indicators of labels, and several class targets; ordinary, odd and wrong ones."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from .labels import numbers
from .tables import pick

# ---- matrices that must be accepted by whoever takes such matrices --------------------------------------------------


def zeros_and_ones(rng: np.random.Generator, n: int, K: int) -> np.ndarray:
    """Which rows have which labels, (n, K); every label is that of some rows and not of others, as far as rows go."""
    Z = (rng.random((n, K)) < rng.choice([0.1, 0.5, 0.9])).astype(int)
    Z[rng.integers(n, size=K), np.arange(K)] = 1
    Z[(Z.argmax(axis=0) + 1) % n, np.arange(K)] = 0
    return Z


def indicator(rng: np.random.Generator, n: int, K: int) -> Any:
    """An indicator matrix of two labels or more, in one of several containers."""
    Z = zeros_and_ones(rng, n, max(K, 2))
    return pick(
        rng,
        [
            lambda: Z,
            lambda: Z,
            lambda: Z.astype(bool),
            lambda: Z.astype("float32"),
            lambda: Z.astype("uint8"),
            lambda: np.asfortranarray(Z),
            lambda: Z[::-1, ::-1],
            lambda: sparse.csr_matrix(Z),
            lambda: sparse.csc_array(Z),
            lambda: sparse.lil_matrix(Z),
            lambda: pd.DataFrame(Z, index=rng.permutation(n)),
            lambda: Z.tolist(),
        ],
    )


def target(rng: np.random.Generator, n: int, K: int) -> np.ndarray:
    """The classes of one target: numbers or text, and now and then one class for all rows."""
    c = numbers(rng, n, int(rng.integers(1, K + 1)))
    return pick(
        rng,
        [
            lambda: c,
            lambda: c - 5,
            lambda: np.array([f"class {k}" for k in c.tolist()]),
            lambda: c.astype(float),
            lambda: np.where(c == 0, "low", "high"),
            lambda: c * 2**40,
        ],
    )


def targets(rng: np.random.Generator, n: int, K: int) -> Any:
    """Class targets, at least one of which has two classes, in one of several containers."""
    columns = [numbers(rng, n, K) + 2, *(target(rng, n, K) for _ in range(int(rng.integers(1, 4))))]
    mixed = np.empty((n, len(columns)), dtype=object)
    for t, column in enumerate(columns):
        mixed[:, t] = column
    return pick(
        rng,
        [
            lambda: mixed,
            lambda: mixed,
            lambda: np.stack([numbers(rng, n, K) + 1, numbers(rng, n, 3)], axis=1),
            lambda: np.stack([numbers(rng, n, K) + 1, numbers(rng, n, 3)], axis=1).astype(float),
            lambda: np.stack([c.astype("U9") for c in columns], axis=1),
            lambda: pd.DataFrame({f"y{t}": column for t, column in enumerate(columns)}, index=rng.permutation(n)),
            lambda: [list(row) for row in mixed],
        ],
    )


# ---- matrices that may be refused -----------------------------------------------------------------------------------


def spoiled(rng: np.random.Generator, n: int, K: int) -> Any:
    """An indicator matrix with something else in one place."""
    Z = zeros_and_ones(rng, n, max(K, 2)).astype(float)
    Z[rng.integers(n), rng.integers(Z.shape[1])] = rng.choice([np.nan, np.inf, 2.0, -1.0, 0.5, 1e300, -0.0])
    return pick(rng, [lambda: Z, lambda: sparse.csr_matrix(Z), lambda: pd.DataFrame(Z), lambda: Z.tolist()])


def same(rng: np.random.Generator, n: int, K: int) -> Any:
    """Nothing to learn: no row has a label, or all have all, or every target has one class."""
    return pick(
        rng,
        [
            lambda: np.zeros((n, K), dtype=int),
            lambda: np.ones((n, K), dtype=int),
            lambda: np.full((n, K), 7),
            lambda: sparse.csr_matrix((n, K)),
            lambda: np.tile(np.arange(K), (n, 1)),
            lambda: np.full((n, 2), "a"),
        ],
    )


def wrong_shape(rng: np.random.Generator, n: int, K: int) -> Any:
    """Of other rows, of no columns, of three dimensions, or with rows of different lengths."""
    shape = [(n + 1, K), (max(n - 1, 0), K), (0, K), (n, 0), (n, 1), (K, n), (n, K, 2), (1, n, K)][rng.integers(8)]
    Z = rng.integers(2, size=shape)
    return pick(rng, [lambda: Z, lambda: Z, lambda: Z.tolist(), lambda: [[1, 0], [1]] * n, lambda: [[0, 1], None] * n])


def strange(rng: np.random.Generator, n: int, K: int) -> Any:
    """Matrices of strange types, or with missing or mixed classes."""
    Z, k = zeros_and_ones(rng, n, max(K, 2)), int(rng.integers(n))
    table = pd.DataFrame({"a": numbers(rng, n, K), "b": np.array(["x", "y"])[numbers(rng, n, 2)]})
    return pick(
        rng,
        [
            lambda: Z + 1j,
            lambda: Z.astype("U1"),
            lambda: Z.astype("S1"),
            lambda: Z.astype("M8[D]"),
            lambda: Z.astype(object),
            lambda: Z + 0.5,
            lambda: Z * 2 - 1,
            lambda: np.ma.masked_array(Z, Z == 0),
            lambda: np.zeros((n, 2), dtype=[("a", int), ("b", int)]),
            lambda: [[object()] * 2 for _ in range(n)],
            lambda: [{0, 1}] * n,
            lambda: [["a", "b"], ["a"]] * (n // 2) + [["b"]] * (n % 2),
            lambda: [[10**30, i] for i in range(n)],
            lambda: [[datetime.date(2020, 1, 1 + i % 9), i % 2] for i in range(n)],
            lambda: table.astype({"a": "Int64"}),
            lambda: table.astype({"b": "category"}),
            lambda: table.assign(a=table["a"].where(table["a"] > 0)),
            lambda: table.assign(b=table["b"].where(table.index != k, None)),
            lambda: table.assign(b=table["b"].astype(object).where(table.index != k, 3)),
            lambda: table.assign(a=pd.Series([pd.NA] * n)),
            lambda: table.assign(a=np.inf),
            lambda: table.assign(a=rng.normal(size=n)),
            lambda: table.iloc[:, :0],
            lambda: sparse.csr_matrix(Z * 3),
            lambda: sparse.csr_matrix(Z + 0j),
            lambda: Z.astype("float16"),
            lambda: Z.astype("longdouble"),
            lambda: np.stack([np.arange(n), np.arange(n)[::-1]], axis=1),
            lambda: np.tile(Z, (1, 40)),
        ],
    )


GOOD: dict[str, Callable[..., Any]] = {"plain": indicator, "targets": targets}
ODD: dict[str, Callable[..., Any]] = {maker.__name__: maker for maker in (spoiled, same, wrong_shape, strange)}
