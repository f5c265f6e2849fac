"""Learns the kinds and categories of the columns in `fit`, and converts any later table to numbers in the same way.

A categorical column becomes category codes 0, 1, …, on which trees split by subsets. A data frame's types say which of
its columns are categorical; for an array the user declares them, by a mask, positions or names.

After `fit`, a column of another kind raises an error with its name, since its numbers would have another meaning.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Sized
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._util.arrays import AnyArray, Mask
from ..engine import MAX_CATEGORIES
from .columns import (
    TIMES,
    WORDS,
    Column,
    Digest,
    as_categories,
    find_earliest,
    name_columns,
    name_place,
    warn_of_columns,
)
from .frames import Table, categorical_mask

MANY_ROWS = 10  # at least, for a warning that none of their categories is known

DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?!\d)|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})(?!\d)")  # how it begins
NEARLY_ALL = 0.9  # of the categories


@dataclass(frozen=True, eq=False)
class Categories:
    """The categories of each column of a training table, as arrays in the order of the codes; None for numeric columns.

    Categories are numbers (float64, or objects if some are beyond 2⁵³) or text (objects). A column with more than 254
    categories keeps the 253 most frequent; all other categories share one code, the last.
    """

    columns: list[AnyArray | None]

    @property
    def mask(self) -> Mask:
        """The mask (p,) of the categorical columns."""
        return np.array([values is not None for values in self.columns])


def share_last(categories: Sized) -> bool:
    """Return whether values outside these categories share one extra code; otherwise they count as missing."""
    return len(categories) == MAX_CATEGORIES - 1


def learn_categories(column: Column | Digest, known: AnyArray) -> tuple[AnyArray, str | None]:
    """Return the known categories followed by a column's new ones, and a warning text if these are too many, or None.

    Fitted trees refer to category codes, so the codes of known categories do not change. If some categories already
    share a code, new categories get this code too.
    """
    values, counts = as_categories(column.categories.values), column.categories.counts
    new = np.isnan(numbers_among(values, known, share=False))
    if not new.any() or share_last(known):
        return known, None
    if len(known):
        check_same_form(column, values, known)
    values, counts = values[new], counts[new]
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
    """Return advice for the user, as text, on a column with too many categories."""
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
    """Return each row's category code (n,), NaN if missing; unknown values get the shared code, or NaN without one."""
    values = as_categories(column.categories.values)
    if len(values) and len(categories):
        check_same_form(column, values, categories)
    return column.categories.map(numbers_among(values, categories))


def describe_unknown_values(column: Column, numbers: AnyArray, categories: AnyArray) -> str | None:
    """Return a warning text if at least `MANY_ROWS` rows have a value and all these values are unknown; otherwise None.

    With fewer rows, a new category is nothing unusual. There is no warning for a column that had too many categories in
    the fit, where unknown values share one code.
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
    """Return each value's category code; unknown values get NaN, or, if ``share``, the shared code where it exists."""
    lookup = {value: number for number, value in enumerate(categories.tolist())}
    other = len(categories) if share and share_last(categories) else np.nan
    return np.array([lookup.get(value, other) for value in values.tolist()], dtype=np.float64)


def check_same_form(column: Column | Digest, values: AnyArray, categories: AnyArray) -> None:
    """Raise ValueError if values are numbers but known categories are text, or the reverse; no value would match."""
    was, now = (("text" if isinstance(some.tolist()[0], str) else "numbers") for some in (categories, values))
    if was != now:
        raise ValueError(
            f"{column.label} held categories that are {was} in fit, such as {categories.tolist()[0]!r}; now they are "
            f"{now}, such as {values.tolist()[0]!r}. Convert the column to what it was."
        )


# The part of a text column's values that must be numbers for it to be taken for a column of numbers gone wrong: one
# "unknown" in a file is enough to turn a column of numbers into text.
NUMERIC = 0.9
MOST_LOOKED_AT = 10_000  # distinct texts that are read as numbers, to see whether they are
# Rows that are copied at a time, so that what is written of all columns stays in the cache.
BLOCK = 4096


@dataclass(frozen=True, eq=False)
class Features:
    """The kinds and the categories of the columns of a training table."""

    kinds: list[str] | None = None  # "number", "category", …, "missing" for every column; None for arrays of numbers
    categories: Categories | None = None  # those of categorical columns; None if there are no such columns

    @classmethod
    def of(cls, estimator: Any) -> Features:
        """Return the column kinds and categories that a fitted estimator has stored."""
        return cls(getattr(estimator, "feature_kinds_", None), getattr(estimator, "categories_", None))

    def select(self, places: list[int]) -> Features:
        """Return the kinds and categories of the columns at these positions."""
        kinds = None if self.kinds is None else [self.kinds[j] for j in places]
        of_columns = None if self.categories is None else [self.categories.columns[j] for j in places]
        return Features(kinds, None if of_columns is None else Categories(of_columns))

    def numbers(self, table: Table) -> AnyArray:
        """Return a table as a C-contiguous float array (n, p), with codes for categories and NaN for missing values."""
        columns = [self.encode_column(table, j) for j in range(len(table.columns))]
        if self.categories is not None:
            triples = zip(table.columns, columns, self.categories.columns, strict=True)
            warn_of_columns(
                {c.label: describe_unknown_values(c, of, known) for c, of, known in triples if known is not None}
            )
        single = np.result_type(bool, *(values.dtype for values in columns)) == np.float32
        out = np.empty((table.n, len(columns)), np.float32 if single else np.float64)
        for begin in range(0, table.n, BLOCK):
            rows = slice(begin, begin + BLOCK)
            for j, values in enumerate(columns):
                out[rows, j] = values[rows]
        return out

    def encode_column(self, table: Table, j: int) -> AnyArray:
        """Return column j as numbers or category codes (n,); raise ValueError if its kind is not that of the fit."""
        column, categories = table.columns[j], None if self.categories is None else self.categories.columns[j]
        if categories is not None:
            return encode_categories(column, categories)
        was = "number" if self.kinds is None else self.kinds[j]
        if was == "missing":  # in every row, so that no tree splits it
            return np.full(table.n, np.nan, np.float16)
        if is_number(column, was, table.typed):
            return column.numbers()
        if column.empty:
            return np.full(table.n, np.nan, np.float16)
        if was == "number" and column.kind in ("text", "category"):
            raise text_error(column, table)
        raise ValueError(f"{column.label} held {WORDS[was]} in fit; now it holds {WORDS[column.kind]}.")


def is_number(column: Column | Digest, was: str, typed: bool) -> bool:
    """Return whether a column can be read as ``was``, its kind in the fit; if not ``typed``, numbers may be dates."""
    if column.kind == "category":
        values = column.distinct.values
        if was != "number" or any(isinstance(value, str) for value in values):
            return False
        try:
            return len(list(map(float, values))) == len(values)
        except (TypeError, ValueError):
            return False
    return column.kind == was or (was in TIMES and column.kind == "number" and not typed)


# ---- learning -------------------------------------------------------------------------------------------------------


def learn_features(table: Table, categorical_features: Any, refusal: str | None) -> Features:
    """Return the column kinds and categories of a training table; ``refusal`` is None or the error for categories."""
    mask, columns = categorical_mask(table, categorical_features), table.columns
    if isinstance(categorical_features, str):
        check_numeric_text(table, mask)
    if refusal is not None and mask.any():
        labels = [column.label for column, is_one in zip(columns, mask, strict=True) if is_one]
        raise ValueError(
            f"{refusal}, and X holds text or categories in {name_columns(labels)}. Encode them first, for example with "
            "scikit-learn's OneHotEncoder in a ColumnTransformer, or leave them out."
        )
    if table.typed and not isinstance(categorical_features, str | None):
        check_list_is_complete(columns, mask)
    kinds = ["category" if is_one else kind_of_number(c, table) for c, is_one in zip(columns, mask, strict=True)]
    if not mask.any():
        return Features(kinds)
    return Features(kinds, categories_of(columns, [np.empty(0) if is_one else None for is_one in mask]))


def categories_of(columns: Sequence[Column | Digest], known: Sequence[AnyArray | None]) -> Categories:
    """Return the ``known`` and then the new categories of each column, none if ``known`` is None; warn of too many."""
    pairs = zip(columns, known, strict=True)
    learned = [(None, None) if old is None else learn_categories(c, old) for c, old in pairs]
    warn_of_columns({column.label: remark for column, (_, remark) in zip(columns, learned, strict=True)})
    return Categories([values for values, _ in learned])


def more_features(known: Features, table: Table, categorical_features: Any) -> Features:
    """Return a fitted model's column kinds and categories, extended by the new categories of another training table."""
    mask, columns = categorical_mask(table, categorical_features), table.columns
    was = np.zeros(len(mask), dtype=bool) if known.categories is None else known.categories.mask
    if any(not table.columns[j].empty for j in np.flatnonzero(mask != was)):
        old, new = (", ".join(table.columns[j].name for j in np.flatnonzero(m)) for m in (was, mask))
        raise ValueError(
            f"a fitted model that learns more (warm_start=True, add_classes) needs its categorical columns, [{old}]; "
            f"with categorical_features={categorical_features!r} this X has [{new}]."
        )
    later = ("number", *TIMES)  # the kinds that a column may get whose values were all missing
    pairs = zip(columns, known.kinds or (), strict=known.kinds is not None)
    kinds = known.kinds and [c.kind if old == "missing" and c.kind in later else old for c, old in pairs]
    if known.categories is None:
        return Features(kinds)
    return Features(kinds, categories_of(columns, known.categories.columns))


def kind_of_number(column: Column | Digest, table: Table) -> str:
    """Return the kind ("number", "date", …) of a column that is not categorical; raise ValueError if it is text."""
    if column.kind == "text" or (column.kind == "category" and not is_number(column, "number", table.typed)):
        raise text_error(column, table)
    return "number" if column.kind == "category" else column.kind


def check_numeric_text(table: Table, mask: Mask) -> None:
    """Raise ValueError if text columns that would become categorical hold numbers as text (order would be lost)."""
    columns = table.columns
    bad = [
        (column, example)
        for column, is_one in zip(columns, mask, strict=True)
        if is_one and column.kind == "text" and (example := numeric_text(column)) is not None
    ]
    if not bad:
        return
    others = [f"{example} in {column.label}" for column, example in bad if example]
    names = name_columns([column.label for column, _ in bad])
    but = f" (but not all values are: {', '.join(others[:3])})" if others else ""
    raise ValueError(
        f"X holds numbers as text in {names}{but}. Make them numbers, for example "
        "by X[name] = pd.to_numeric(X[name], errors='coerce'), which makes what is no number missing; or, if they are "
        "codes that stand for categories, say so in categorical_features=[name, …], with all other columns of text."
    )


def check_list_is_complete(columns: Sequence[Column | Digest], mask: Mask) -> None:
    """Raise ValueError if the user's list of categorical columns leaves out a text column of the data frame."""
    left_out = [
        column.label for column, is_one in zip(columns, mask, strict=True) if not is_one and column.kind == "text"
    ]
    if left_out and mask.any():
        hold, them = ("holds", "it") if len(left_out) == 1 else ("hold", "them")
        raise ValueError(
            f"categorical_features names some columns, and then no other is taken as categories; but "
            f"{name_columns(left_out)} {hold} text. Add {them} to the list, or make {them} numbers, for example by "
            "pd.to_numeric(X[name], errors='coerce')."
        )


def numeric_text(column: Column | Digest) -> str | None:
    """Return None if fewer than 90 % of a column's texts are numbers, "" if all are; else one that is no number."""
    some = slice(None, None, 1 + len(column.categories.values) // MOST_LOOKED_AT)
    values, counts = column.categories.values[some], column.categories.counts[some]
    wrong = np.array([not is_numeral(value) for value in values], dtype=bool)
    if not values or counts[wrong].sum() > (1 - NUMERIC) * counts.sum():
        return None
    return repr(values[int(np.argmax(wrong))]) if wrong.any() else ""


def is_numeral(text: str) -> bool:
    """Return whether a text can be read as a finite number."""
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False


# ---- messages -------------------------------------------------------------------------------------------------------


def text_error(column: Column | Digest, table: Table) -> ValueError:
    """Return the ValueError for text in a column that must hold numbers."""
    found = column.distinct
    wrong = np.array([not is_numeral(str(value)) for value in found.values])
    code = find_earliest(found, np.flatnonzero(wrong if wrong.any() else ~wrong))
    where = f"{column.label} holds {WORDS[column.kind]}: {found.values[code]!r} in {name_place(found, code)}"
    name = column.name
    if table.typed:
        return ValueError(
            f"{where}; numbers are expected. Convert it, for example by pd.to_numeric(X[{name}], errors='coerce'), or "
            f"make it a category when fitting: categorical_features='from_dtype', or a list with {name}."
        )
    return ValueError(
        f"{where}; could not convert string to float. Columns of arrays are numbers unless they are declared in fit, "
        f"categorical_features=[{name}]; or pass a data frame, whose columns have types."
    )
