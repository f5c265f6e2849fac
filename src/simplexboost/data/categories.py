"""Categorical columns → category numbers 0, 1, …, which the engine splits by subsets.

A data frame knows which of its columns are categorical; for an array the user says so, by a mask, positions or names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import AnyArray, Mask
from ..engine import MAX_CATEGORIES


@dataclass(frozen=True, eq=False)
class Categories:
    """The categories of a training table: an array per column, in the order of their numbers; None for numeric columns.

    A column with more than 254 categories keeps the 253 most frequent; all others share the last number.
    """

    columns: list[AnyArray | None]

    @property
    def mask(self) -> Mask:
        """Which columns are categorical, (p,)."""
        return np.array([values is not None for values in self.columns])

    def encode(self, X: Any) -> Any:
        """The table with numbers for categories; NaN for missing values and for categories not seen in training."""
        if not self.mask.any() or not has_columns(X, len(self.columns)):
            return X
        encoded = [
            numbers_of(column, values) if values is not None else column
            for column, values in zip(columns_of(X), self.columns, strict=True)
        ]
        if is_frame(X):
            return type(X)(dict(zip(X.columns, encoded, strict=True)))
        return np.column_stack([np.asarray(column, dtype=np.float64) for column in encoded])


def learn_categories(X: Any, categorical_features: Any) -> Categories | None:
    """The categories of the categorical columns, or None if there are no such columns."""
    if categorical_features is None or not (is_frame(X) or isinstance(X, np.ndarray)):
        if categorical_features is None or isinstance(categorical_features, str):
            return None
        X = np.asarray(X)
    if X.ndim != 2:
        return None  # validation will say what is wrong
    mask = categorical_mask(X, categorical_features)
    if not mask.any():
        return None
    return Categories(
        [distinct(column) if is_one else None for column, is_one in zip(columns_of(X), mask, strict=True)]
    )


def check_same_categories(fitted: Categories | None, X: Any, categorical_features: Any) -> None:
    """Raise unless the table has the categorical columns of the fitted model, and no category that is new to it.

    New categories are refused because the model's numbers cannot change: its trees hold sets of them. A category
    without a number would be treated as a missing value, and no further tree could tell new categories apart.
    """
    p = np.shape(X)[1]
    names = np.array(X.columns if is_frame(X) else range(p), dtype=object)
    now = learn_categories(X, categorical_features)
    masks = [np.zeros(p, dtype=bool) if part is None else part.mask for part in (fitted, now)]
    if (masks[0] != masks[1]).any():
        raise ValueError(
            f"warm_start=True needs the categorical columns of the fitted model, {names[masks[0]].tolist()}; with "
            f"categorical_features={categorical_features!r} this X has {names[masks[1]].tolist()}."
        )
    if fitted is None:
        return
    for name, column, categories in zip(names, columns_of(X), fitted.columns, strict=True):
        new = [] if categories is None else new_categories(column, categories)
        if new:
            raise ValueError(
                f"warm_start=True needs the categories of the fitted model; column {name!r} has others: {new[:5]}. "
                "Fit a new model, or make them missing (None or NaN)."
            )


def new_categories(column: Any, categories: AnyArray) -> list[Any]:
    """The values of a column that have no number among these categories, each once."""
    values = np.asarray(column)
    values = np.unique(values[~is_missing(values)])
    return values[np.isnan(numbers_of(values, categories))].tolist()


def categorical_mask(X: Any, categorical_features: Any) -> Mask:
    """Which columns are categorical, (p,), from "from_dtype", a mask, positions or names."""
    p = X.shape[1]
    if isinstance(categorical_features, str):
        if categorical_features != "from_dtype":
            raise ValueError(
                f"categorical_features={categorical_features!r} is unknown; pass 'from_dtype', a mask, positions, "
                "names or None."
            )
        return np.array([is_frame(X) and has_categories(column) for column in columns_of(X)], dtype=bool)
    wanted = np.asarray(categorical_features)
    mask = np.zeros(p, dtype=bool)
    if wanted.dtype.kind == "b" and wanted.shape == (p,):
        return wanted
    if wanted.size == 0:
        return mask
    names = [str(name) for name in X.columns] if is_frame(X) else []
    if wanted.dtype.kind in "UO" and set(wanted.tolist()) <= set(names):
        wanted = np.array([names.index(str(name)) for name in wanted])
    if wanted.dtype.kind not in "iu" or wanted.ndim != 1 or wanted.min() < 0 or wanted.max() >= p:
        raise ValueError(
            f"categorical_features={categorical_features!r} must be a mask of {p} booleans, positions below {p}, names "
            "of columns, 'from_dtype' or None."
        )
    mask[wanted] = True
    return mask


def distinct(column: Any) -> AnyArray:
    """The categories of a column, sorted; only the most frequent ones if there are too many."""
    values = np.asarray(column)
    values, counts = np.unique(values[~is_missing(values)], return_counts=True)
    if len(values) > MAX_CATEGORIES:
        values = np.sort(values[np.argsort(-counts, kind="stable")[: MAX_CATEGORIES - 1]])
    return values


def numbers_of(column: Any, categories: AnyArray) -> AnyArray:
    """The numbers of a column's values, (n,) float; categories beyond the most frequent ones share the last number."""
    values = np.asarray(column)
    known = ~is_missing(values)
    out = np.full(len(values), np.nan)
    lookup = {value: number for number, value in enumerate(categories.tolist())}
    other = float(len(categories)) if len(categories) == MAX_CATEGORIES - 1 else np.nan
    out[known] = [lookup.get(value, other) for value in values[known].tolist()]
    return out


def is_missing(values: AnyArray) -> Mask:
    """Which values are None or NaN, (n,)."""
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind == "O":
        return np.array([value is None or value != value for value in values.tolist()], dtype=bool)
    return np.zeros(len(values), dtype=bool)


def is_frame(X: Any) -> bool:
    """Whether X is a data frame (pandas, polars, …)."""
    return hasattr(X, "columns") and hasattr(X, "shape") and hasattr(X, "__getitem__")


def has_columns(X: Any, p: int) -> bool:
    """Whether X is a table of p columns."""
    return len(getattr(X, "shape", np.shape(X))) == 2 and (X.shape if hasattr(X, "shape") else np.shape(X))[1] == p


def columns_of(X: Any) -> list[Any]:
    """The columns of a frame or of an array."""
    return [X[name] for name in X.columns] if is_frame(X) else list(np.asarray(X).T)


def has_categories(column: Any) -> bool:
    """Whether a frame's column holds categories or strings."""
    kind = str(column.dtype).lower()
    return kind.startswith(("categ", "enum", "string", "str", "object"))
