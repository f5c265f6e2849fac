"""Data sets as the papers split, corrupt and cut them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from simplexboost import datasets

# Rows in train and test, features, classes: for costs, and to check what came from a folder or from OpenML.
SHAPES = {
    "abalone": (3342, 835, 8, 28),
    "breast_tissue": (84, 22, 9, 6),
    "car": (1382, 346, 6, 4),
    "connect4": (54045, 13512, 42, 3),
    "covtype15k": (15120, 9747, 54, 7),
    "dna": (2000, 1186, 180, 3),
    "ecoli": (268, 68, 7, 8),
    "isolet": (6238, 1559, 617, 26),
    "krvskp": (2556, 640, 36, 2),
    "letter": (16000, 4000, 16, 26),
    "magic04": (15216, 3804, 10, 2),
    "mnist": (60000, 10000, 784, 10),
    "nursery": (10368, 2592, 8, 5),
    "optdigits": (3823, 1797, 64, 10),
    "pendigits": (7494, 3498, 16, 10),
    "plants_margin": (1200, 400, 64, 100),
    "plants_shape": (1200, 400, 64, 100),
    "poker": (25010, 5000, 10, 10),
    "satimage": (4435, 2000, 36, 6),
    "segment": (210, 2100, 19, 7),
    "shuttle": (43500, 14500, 9, 7),
    "soybean": (546, 137, 35, 19),
    "splice": (2552, 638, 60, 3),
    "vehicle": (676, 170, 18, 4),
    "vertebral": (248, 62, 6, 3),
    "vowel": (528, 462, 10, 11),
}


@dataclass(frozen=True, eq=False)
class Problem:
    """What a classifier is trained and tested on; labels are 0 .. K−1."""

    X_train: Any
    y_train: Any
    X_test: Any
    y_test: Any
    K: int


_home: str | None = None


def set_home(folder: str | None) -> None:
    """Where the ``.npz`` files of this process lie; None: where ``SIMPLEXBOOST_DATA`` says, else OpenML."""
    global _home
    _home = folder


@lru_cache(maxsize=3)
def _load(name: str, home: str | None) -> datasets.Dataset:
    data = datasets.load(name, home)
    if name in SHAPES:
        n_train, n_test, p, K = SHAPES[name]
        rows = len(data.X_train) + len(data.X_test)
        found, wanted = (rows, data.X_train.shape[1], len(data.class_names)), (n_train + n_test, p, K)
        if found[1:] != wanted[1:] or not 0.99 * wanted[0] <= found[0]:
            raise ValueError(f"{name!r} has (rows, features, classes) = {found}; it should have {wanted}.")
    return data


def problem(
    name: str,
    *,
    sizes: list[int] | None = None,
    shuffle: bool = False,
    seed: int = 0,
    noise: float = 0.0,
    replaced: bool = False,
    part: float = 1.0,
    in_order: bool = False,
    hands: int = 0,
    rows: int | None = None,
    one_hot: bool = False,
    even_bins: int | None = None,
    one_grid: bool = False,
) -> Problem:
    """A data set.

    Parameters
    ----------
    name : a set of `SHAPES` or of `simplexboost.datasets`; ``splice2`` is splice with its two kinds of junctions as one
        class and without the 15 rows that have unknown letters
    sizes : rows in train and test; None for those of `SHAPES`, which are the official ones where there are such
    shuffle : a random split, the same classes in both parts; otherwise the rows in their order
    seed : of the split and of the noise
    noise : this part of the training labels is permuted among its rows
    replaced : the noise puts another class in the place of each of these labels instead
    part : train on a random part of the training rows
    in_order : train on the first rows and test on the last ones in the order of the features' values, which is that of
        the UCI files of sets that list all cases
    hands : so many more test rows of poker: the official test part has a million hands drawn at random, of which 5000
        are at hand; these are drawn by the same law and named by the rules of the game
    rows : keep at most so many in each part (quick runs)
    one_hot : a column per category
    even_bins : round features to so many bins of equal width, so that trees see few thresholds
    one_grid : these bins are spread over the values of the whole table, the same for all features
    """
    name, merge = ("splice", True) if name == "splice2" else (name, False)
    data = _load(name, _home)
    X_train, y_train, X_test, y_test = data.X_train, data.y_train, data.X_test, data.y_test
    if merge:
        known_train, known_test = certain(X_train, X_test)
        X_train, y_train = X_train[known_train], (y_train[known_train] == 2).astype(np.intp)
        X_test, y_test = X_test[known_test], (y_test[known_test] == 2).astype(np.intp)
    if in_order:
        backwards = name == "connect4"  # whose squares x, o, b are numbered from the last letter to the first
        X_train, y_train, X_test, y_test = sorted_rows(X_train, y_train, X_test, y_test, backwards)
    n_train, n_test = sizes or SHAPES.get(name, (len(y_train), len(y_test)))[:2]
    if shuffle or (n_train, n_test) != (len(y_train), len(y_test)):
        X, y = np.concatenate([X_train, X_test]), np.concatenate([y_train, y_test])
        train, test = split(y, n_train, n_test, seed) if shuffle else (np.arange(n_train), np.arange(n_train, len(y)))
        X_train, y_train, X_test, y_test = X[train], y[train], X[test[:n_test]], y[test[:n_test]]
    if hands:
        X_more, y_more = poker_hands(hands, np.random.default_rng(0))
        X_test, y_test = np.concatenate([X_test, X_more.astype(X_test.dtype)]), np.concatenate([y_test, y_more])
    if one_hot:
        suits = np.char.startswith(data.feature_names, "S") & (name == "poker")  # stored as numbers
        X_train, X_test = indicators(X_train, X_test, data.categorical | suits)
    if even_bins is not None:
        X_train, X_test = coarse(X_train, X_test, even_bins, one_grid)
    if rows is not None:
        (X_train, y_train), (X_test, y_test) = cut(X_train, y_train, rows), cut(X_test, y_test, rows)
    if part < 1.0:
        kept, _ = split(y_train, round(part * len(y_train)), len(y_train), seed)
        X_train, y_train = X_train[kept], y_train[kept]
    K = 2 if merge else len(data.class_names)
    if noise:
        rng = np.random.default_rng(seed)
        y_train = replace_labels(y_train, noise, K, rng) if replaced else exchange_labels(y_train, noise, rng)
    return Problem(X_train, y_train, X_test, y_test, K)


def sorted_rows(X_train: Any, y_train: Any, X_test: Any, y_test: Any, backwards: bool) -> tuple[Any, Any, Any, Any]:
    """Both parts together, sorted by the first feature, then the second, …, and cut where they were cut."""
    X, y = np.concatenate([X_train, X_test]), np.concatenate([y_train, y_test])
    order = np.lexsort(X.T[::-1])[:: -1 if backwards else 1]
    first, last = order[: len(y_train)], order[len(y_train) :]
    return X[first], y[first], X[last], y[last]


def certain(X_train: Any, X_test: Any) -> tuple[Any, Any]:
    """Which rows of splice have one of the four letters everywhere: the four commonest values of each place."""
    X = np.concatenate([X_train, X_test])
    known = np.ones(len(X), dtype=bool)
    for column in X.T:
        values, counts = np.unique(column, return_counts=True)
        known &= np.isin(column, values[np.argsort(counts)[-4:]])
    return known[: len(X_train)], known[len(X_train) :]


def split(y: Any, n_train: int, n_test: int, seed: int) -> tuple[Any, Any]:
    """Rows of train and test at random, stratified; a class with one row goes to train."""
    counts = np.bincount(y)
    alone = np.flatnonzero(counts[y] < 2)
    others = np.flatnonzero(counts[y] >= 2)
    n_train, n_test = n_train - len(alone), min(n_test, len(y) - n_train)
    train, test = train_test_split(others, train_size=n_train, test_size=n_test, stratify=y[others], random_state=seed)
    return np.sort(np.concatenate([train, alone])), np.sort(test)


def cut(X: Any, y: Any, rows: int) -> tuple[Any, Any]:
    """At most so many rows, spread over the whole part; every class that is there keeps a row."""
    if len(y) <= rows:
        return X, y
    kept = np.linspace(0, len(y) - 1, rows).astype(np.intp)
    first = np.unique(y, return_index=True)[1]
    kept = np.union1d(kept, first)
    return X[kept], y[kept]


def indicators(X_train: Any, X_test: Any, categorical: Any) -> tuple[Any, Any]:
    """Categorical columns as 0/1 columns, one per category, so that a split asks for one value."""
    columns: list[list[Any]] = [[], []]
    for f in range(X_train.shape[1]):
        values = np.unique(X_train[:, f])
        for out, X in zip(columns, (X_train, X_test), strict=True):
            if not categorical[f]:
                out.append(X[:, f, None])
            else:
                out.append((X[:, f, None] == values[len(values) == 2 :]).astype(np.uint8))  # of two, one is enough
    return np.hstack(columns[0]), np.hstack(columns[1])


def poker_hands(n: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Hands of five cards drawn at random, columns S1, C1, …, S5, C5 (n, 10), and what they are."""
    cards = rng.permuted(np.tile(np.arange(52), (n, 1)), axis=1)[:, :5]
    X = np.empty((n, 10), dtype=np.int64)
    X[:, 0::2], X[:, 1::2] = cards // 13 + 1, cards % 13 + 1
    return X, poker_classes(X)


def poker_classes(X: Any) -> Any:
    """0 nothing, 1 a pair, 2 two pairs, 3 three of a kind, 4 straight, 5 flush, 6 full house, 7 four of a kind,
    8 straight flush, 9 royal flush; suits are 1 to 4, ranks 1 (ace) to 13 (king).
    """
    suits, ranks = X[:, 0::2], np.sort(X[:, 1::2], axis=1)
    counts = np.sort((ranks[:, :, None] == np.arange(1, 14)).sum(axis=1), axis=1)[
        :, ::-1
    ]  # (n, 13), most frequent first
    flush = (suits == suits[:, :1]).all(axis=1)
    royal = (ranks == [1, 10, 11, 12, 13]).all(axis=1)
    straight = (np.diff(ranks, axis=1) == 1).all(axis=1) | royal
    most, second = counts[:, 0], counts[:, 1]
    kinds = [
        flush & royal,
        flush & straight,
        most == 4,
        (most == 3) & (second == 2),
        flush,
        straight,
        most == 3,
        (most == 2) & (second == 2),
        most == 2,
    ]
    return np.select(kinds, range(9, 0, -1), 0)


def coarse(X_train: Any, X_test: Any, bins: int, one_grid: bool = False) -> tuple[Any, Any]:
    """Features rounded to bins of equal width between the training part's smallest and largest values: those of the
    feature, or of the whole table.
    """
    axis = None if one_grid else 0
    low, high = X_train.min(axis=axis).astype(np.float64), X_train.max(axis=axis).astype(np.float64)
    width = np.where(high > low, high - low, 1.0) / bins
    train, test = (np.clip((X - low) // width, 0, bins - 1).astype(np.uint8) for X in (X_train, X_test))
    return train, test


def exchange_labels(y: Any, part: float, rng: np.random.Generator) -> Any:
    """Labels permuted among a random part of the rows."""
    y = y.copy()
    rows = rng.choice(len(y), round(part * len(y)), replace=False)
    y[rows] = y[rng.permutation(rows)]
    return y


def replace_labels(y: Any, part: float, K: int, rng: np.random.Generator) -> Any:
    """Another class, drawn uniformly, in a random part of the rows."""
    y = y.copy()
    rows = rng.choice(len(y), round(part * len(y)), replace=False)
    y[rows] = (y[rows] + rng.integers(1, K, size=len(rows))) % K
    return y


def test_rows(problem: Mapping[str, Any]) -> int:
    """How many rows the test part of a whole problem has."""
    name = problem["name"]
    return int((problem.get("sizes") or SHAPES["splice" if name == "splice2" else name])[1] + problem.get("hands", 0))


def shape(name: str, rows: int | None = None, sizes: list[int] | None = None) -> tuple[int, int, int]:
    """About (n, p, K) of training data, for costs."""
    n, _, p, K = SHAPES["splice" if name == "splice2" else name]
    n = sizes[0] if sizes else n
    return min(n, rows or n), p, K
