"""Categorical columns → category numbers 0, 1, …, which the engine splits by subsets.

A data frame knows which of its columns are categorical; for an array the user says so, by a mask, positions or names.
"""

from __future__ import annotations

import re
from collections.abc import Sized
from dataclasses import dataclass

import numpy as np

from .._typing import AnyArray, Mask
from ..engine import MAX_CATEGORIES
from .columns import Column
from .digests import Digest
from .values import as_categories

MANY_ROWS = 10  # from so many rows on it is told that none of their categories is known

DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?!\d)|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})(?!\d)")  # how it begins
NEARLY_ALL = 0.9  # of the categories


@dataclass(frozen=True, eq=False)
class Categories:
    """The categories of a training table: an array per column, in the order of their numbers; None for numeric columns.

    They are numbers (float64, or objects if some are beyond 2⁵³) or text (objects). A column with more than 254
    categories keeps the 253 most frequent; all others share the last number.
    """

    columns: list[AnyArray | None]

    @property
    def mask(self) -> Mask:
        """Which columns are categorical, (p,)."""
        return np.array([values is not None for values in self.columns])


def share_last(categories: Sized) -> bool:
    """Whether all values beyond these categories share one more number, instead of being missing."""
    return len(categories) == MAX_CATEGORIES - 1


def learn_categories(column: Column | Digest) -> tuple[AnyArray, str | None]:
    """The categories of a column, sorted; if there are too many, only the most frequent ones, and what to say of it."""
    values = as_categories(column.categories.values)
    return first_numbers(column, values, column.categories.counts, values[:0])


def more_categories(column: Column | Digest, known: AnyArray) -> tuple[AnyArray, str | None]:
    """The categories of a fitted model, and after them those that this column adds, as long as there is room.

    Trees hold sets of numbers, so those of the known categories stay as they are. Where some categories share a number
    already, new ones join them. If there is no room for all, what to say of it comes with them.
    """
    values, counts = as_categories(column.categories.values), column.categories.counts
    new = np.isnan(numbers_among(values, known, share=False))
    if not new.any() or share_last(known):
        return known, None
    if len(known):
        check_same_form(column, values, known)
    return first_numbers(column, values[new], counts[new], known)


def first_numbers(
    column: Column | Digest, values: AnyArray, counts: AnyArray, known: AnyArray
) -> tuple[AnyArray, str | None]:
    """The known categories and as many of the others as fit; if not all do, the last number is for those left."""
    total, room, remark = len(known) + len(values), MAX_CATEGORIES - len(known), None
    if total > MAX_CATEGORIES:
        room = max(room - 1, 0)
        remark = (
            f"{column.label} has {total} categories, and {MAX_CATEGORIES} can be told apart: "
            + (
                f"the {room} most frequent {'new ' if len(known) else ''}ones keep numbers of their own, "
                if room
                else ""
            )
            + ("all others are treated as one." if room else "new ones are treated as missing values.")
            + advice(column, values)
        )
        values = np.sort(values[np.argsort(-counts, kind="stable")[:room]])
    return (np.concatenate([known, values]) if len(known) else values), remark


def advice(column: Column | Digest, values: AnyArray) -> str:
    """What to do about a column with too many categories."""
    known = values.tolist()
    dates = sum(isinstance(value, str) and DATE.match(value) is not None for value in known)
    if dates >= NEARLY_ALL * len(known):
        return (
            f" They look like dates: make them dates before the fit, by parse_dates=[{column.name}] in pandas.read_csv "
            f"or by pd.to_datetime(X[{column.name}])."
        )
    codes = "" if isinstance(known[0], str) else " If they are quantities and no codes, do not declare them categories."
    return (
        " Leave the column out if nearly every row has a value of its own, as a name or an identifier; if values come "
        "back in many rows, scikit-learn's TargetEncoder makes numbers of them, and loses less." + codes
    )


def encode_categories(column: Column, categories: AnyArray) -> AnyArray:
    """The numbers of a column's values, (n,) float; NaN for missing values and for categories not seen in training."""
    values = as_categories(column.categories.values)
    if len(values) and len(categories):
        check_same_form(column, values, categories)
    return column.categories.map(numbers_among(values, categories))


def none_is_known(column: Column, numbers: AnyArray, categories: AnyArray) -> str | None:
    """What to say if `MANY_ROWS` rows or more have a value and none has a number (n,): it is written otherwise, maybe.

    Fewer rows may well be of a new category. Where a column had too many categories in fit, values that have none are
    expected, and share one.
    """
    n = int(column.categories.counts.sum())
    if n < MANY_ROWS or not len(categories) or share_last(categories) or not np.isnan(numbers).all():
        return None
    example, was = (as_categories(some).tolist()[0] for some in (column.categories.values, categories))
    return (
        f"{column.label} has no value that is known from fit, in {n} rows: such as {example!r}, where the "
        f"categories were such as {was!r}. All of them count as missing; see whether the column "
        "is written as it was (case, blanks, codes)."
    )


def numbers_among(values: AnyArray, categories: AnyArray, share: bool = True) -> AnyArray:
    """The numbers of values among the categories, float; beyond the most frequent 253, values may share the last."""
    lookup = {value: number for number, value in enumerate(categories.tolist())}
    other = len(categories) if share and share_last(categories) else np.nan
    return np.array([lookup.get(value, other) for value in values.tolist()], dtype=np.float64)


def check_same_form(column: Column | Digest, values: AnyArray, categories: AnyArray) -> None:
    """Raise if numbers come where categories were text, or the reverse: none of them could be found."""
    was, now = (("text" if isinstance(some.tolist()[0], str) else "numbers") for some in (categories, values))
    if was != now:
        raise ValueError(
            f"{column.label} held categories that are {was} in fit, such as {categories.tolist()[0]!r}; now they are "
            f"{now}, such as {values.tolist()[0]!r}. Convert the column to what it was."
        )
