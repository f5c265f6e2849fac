"""`Dataset`, the form of every data set, and the checks it must pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from .._util.arrays import AnyArray, Array, Labels, Mask
from .._util.params import check_number

TEST_PART = 0.25  # the test part of a set without an official split; stratified, seed 0
KEYS = ("X_train", "y_train", "X_test", "y_test", "feature_names", "categorical", "class_names")


@dataclass(frozen=True, eq=False)
class Dataset:
    """A classification problem.

    Attributes
    ----------
    name : str
        Its name.
    X_train : array of shape (n, p)
        The training rows: numbers, NaN where a value is missing, integer codes in categorical columns.
    y_train : int array of shape (n,)
        Their classes, codes 0 .. K−1 into ``class_names``.
    X_test : array of shape (m, p)
        The test rows.
    y_test : int array of shape (m,)
        Their classes.
    feature_names : array of shape (p,)
        The names of the features.
    categorical : bool array of shape (p,)
        Which columns hold categories.
    class_names : array of shape (K,)
        The names of the classes.

    Examples
    --------
    >>> from simplexboost import datasets
    >>> wine = datasets.load("wine")
    >>> wine.X_train.shape, wine.class_names.tolist()
    ((133, 13), ['class_0', 'class_1', 'class_2'])
    """

    name: str
    X_train: AnyArray
    y_train: Labels
    X_test: AnyArray
    y_test: Labels
    feature_names: AnyArray
    categorical: Mask
    class_names: AnyArray

    def __repr__(self) -> str:
        rows = f"{len(self.X_train)} + {len(self.X_test)} rows"
        return f"Dataset({self.name!r}: {rows}, {self.X_train.shape[1]} features, {len(self.class_names)} classes)"


def checked(name: str, arrays: dict[str, AnyArray], source: str) -> Dataset:
    """The arrays as a data set, if their shapes and labels agree."""
    X_train, y_train, X_test, y_test = (arrays[key] for key in KEYS[:4])
    p, K = len(arrays["feature_names"]), len(arrays["class_names"])
    labels = np.concatenate([y_train.ravel(), y_test.ravel()])
    problems = {
        f"X_train and X_test must have {p} columns, one per feature name": X_train.shape[1:] != (p,)
        or X_test.shape[1:] != (p,),
        "y_train and y_test must have a label per row": y_train.shape != X_train.shape[:1]
        or y_test.shape != X_test.shape[:1],
        "X_train and X_test must hold numbers": X_train.dtype.kind not in "biuf" or X_test.dtype.kind not in "biuf",
        f"categorical must hold {p} booleans": arrays["categorical"].shape != (p,)
        or arrays["categorical"].dtype != bool,
        f"labels must be codes 0 .. {K - 1}": labels.dtype.kind not in "iu"
        or (labels.size > 0 and not 0 <= labels.min() <= labels.max() < K),
    }
    wrong = [message for message, found in problems.items() if found]
    if wrong:
        raise ValueError(f"{source} does not hold a data set: {'; '.join(wrong)}.")
    return Dataset(
        name,
        X_train,
        y_train.astype(np.intp),
        X_test,
        y_test.astype(np.intp),
        arrays["feature_names"].astype(str),
        arrays["categorical"],
        arrays["class_names"].astype(str),
    )


def split(name: str, X: Any, y: Any, features: Any, categorical: Any, classes: Any, n_train: int = 0) -> Dataset:
    """A data set whose first ``n_train`` rows are for training; where that is 0, a random stratified split.

    Rows keep the order of the file. Where a class has one row only, that row is for training.
    """
    rows = np.arange(len(y))
    if n_train:
        train, test = rows[:n_train], rows[n_train:]
    else:
        alone = np.bincount(y)[y] < 2
        train, test = train_test_split(rows[~alone], test_size=TEST_PART, stratify=y[~alone], random_state=0)
        train, test = np.sort(np.concatenate([train, rows[alone]])), np.sort(test)
    values = (X[train], y[train], X[test], y[test], np.array(features), np.array(categorical), np.array(classes))
    return checked(name, dict(zip(KEYS, values, strict=True)), name)


# ---- what the generators share --------------------------------------------------------------------------------------


def check_sizes(n_train: int, n_test: int) -> None:
    """Raise unless both parts have rows."""
    check_number("n_train", n_train, int, 1)
    check_number("n_test", n_test, int, 1)


def made(name: str, X: Array, y: Labels, K: int, n_train: int) -> Dataset:
    """Rows in order, the first ``n_train`` for training; features x1, x2, …, classes 0 .. K−1."""
    p = X.shape[1]
    names = [f"x{j + 1}" for j in range(p)]
    return split(name, X, y, names, np.zeros(p, dtype=bool), [str(k) for k in range(K)], n_train)
