"""Determines the kind of a column (number, text, category, date, …), its values as numbers, and its distinct values.

Dates become days since 1970 (in UTC where they have a time zone), durations become days, and times of day become
fractions of a day, all as float64. Truth values become 0 and 1. None, NaN, pd.NA and NaT count as missing and become
NaN.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import numpy as np

from .._util.arrays import AnyArray, Array
from .._util.compat import cached
from .._util.messages import warn_user

DAY = 86_400_000_000.0  # microseconds
COARSE = {"W": 7 * DAY, "D": DAY, "h": DAY / 24, "m": 6e7, "s": 1e6, "ms": 1e3}  # microseconds
EPOCH = dt.datetime(1970, 1, 1)
MICROSECOND = dt.timedelta(microseconds=1)


def is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN, pd.NA or NaT."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    return isinstance(value, Real | Decimal) and bool(value != value)


def kind_of_value(value: Any) -> str:
    """Return the kind of a Python value ("number", "text", "date", …); "other" for values that no column may hold."""
    if isinstance(value, str):
        return "text"
    if isinstance(value, dt.timedelta | np.timedelta64):  # before numbers: timedelta64 is an integer of NumPy's
        return "duration"
    if isinstance(value, Real | Decimal | np.bool_):
        return "number"
    if isinstance(value, dt.date | np.datetime64) or type(value).__name__ == "Period":
        return "date"
    if isinstance(value, dt.time):
        return "time"
    return "category" if type(value).__name__ == "Interval" else "other"


# ---- values as numbers ----------------------------------------------------------------------------------------------


def days(values: AnyArray) -> Array:
    """Return NumPy dates as days since 1970, or NumPy durations as days: float64 (n,), NaN where missing."""
    unit, count = np.datetime_data(values.dtype)
    if unit in ("Y", "M") and values.dtype.kind == "M":
        return days(values.astype("M8[D]"))
    if unit in COARSE:  # in whole microseconds, years beyond 294 247 would overflow
        out = values.astype(np.int64).astype(np.float64) * (count * COARSE[unit]) / DAY
    else:
        out = values.astype(values.dtype.kind + "8[us]").astype(np.int64) / DAY
    out[np.isnat(values)] = np.nan
    return out


def date_number(value: Any) -> float:
    """Return a date, a datetime, a datetime64 or the start of a pandas Period as days since 1970."""
    if isinstance(value, np.datetime64):
        return float(days(np.array([value]))[0])
    if type(value).__name__ == "Period":
        value = value.start_time
    if not isinstance(value, dt.datetime):
        value = dt.datetime(value.year, value.month, value.day)
    if value.tzinfo is not None:
        value = value.astimezone(dt.UTC).replace(tzinfo=None)
    return ((value - EPOCH) // MICROSECOND) / DAY


def duration_number(value: Any) -> float:
    """Return the length of a timedelta or timedelta64 in days."""
    if isinstance(value, np.timedelta64):
        return float(days(np.array([value]))[0])
    return (value // MICROSECOND) / DAY


NUMBER_OF: dict[str, Callable[[Any], float]] = {
    "number": float,
    "date": date_number,
    "duration": duration_number,
    "time": lambda t: (((t.hour * 60 + t.minute) * 60 + t.second) * 1_000_000 + t.microsecond) / DAY,
}


# ---- values as categories -------------------------------------------------------------------------------------------


def as_category(value: Any) -> float | int | str:
    """Return a value as a category: a number or a text, which can be compared and saved.

    Equal values become the same category, whatever library they come from. Intervals of ``pd.cut`` become text such as
    "(0, 1]". Dates and times become ISO 8601 text; dates with a time zone are first converted to UTC. Durations become
    text in days, hours, minutes and seconds.

    Examples
    --------
    >>> as_category(True), as_category("Bonn"), as_category(dt.date(2024, 2, 29))
    (1.0, 'Bonn', '2024-02-29T00:00:00')
    >>> as_category(np.timedelta64(36, "h"))
    '1 day, 12:00:00'
    """
    kind = kind_of_value(value)
    if kind == "number":
        if isinstance(value, Integral) and abs(int(value)) > 2**53:
            return int(value)  # as floats, neighbours would be the same category
        return float(value)
    try:
        if kind == "date":
            return (EPOCH + round(date_number(value) * DAY) * MICROSECOND).isoformat()
        if kind == "duration":
            return str(round(duration_number(value) * DAY) * MICROSECOND)
    except OverflowError:  # of NumPy's, longer than a timedelta or after the year 9999
        pass
    return str(value)


def as_categories(values: Iterable[Any]) -> AnyArray:
    """Return values as categories (see `as_category`): float64, or objects if any is text or an integer beyond 2⁵³."""
    names = [value if type(value) is str else as_category(value) for value in values]
    return np.array(names, dtype=object if any(isinstance(name, str | int) for name in names) else np.float64)


# How messages speak of the values of a column.
WORDS = {
    "number": "numbers",
    "text": "text",
    "category": "categories",
    "date": "dates",
    "duration": "durations",
    "time": "times of day",
    "missing": "missing values only",
}
NOTHING = np.empty(0, dtype=np.int64)
EXACT = 2**53  # whole numbers up to this one are exact in double precision
TIMES = ("date", "duration", "time")


@dataclass(frozen=True, eq=False)
class Distinct:
    """The distinct non-missing values of a column, and for each row (n,) the index of its value, −1 if missing."""

    values: list[Any]
    codes: AnyArray

    @cached
    def counts(self) -> AnyArray:
        """The number of rows that hold each distinct value."""
        return np.bincount(self.codes + 1, minlength=len(self.values) + 1)[1:]

    def map(self, of_value: AnyArray) -> AnyArray:
        """Return ``of_value``, an entry per distinct value, as an entry per row (n,), NaN where one is missing."""
        return np.append(of_value, np.nan)[self.codes]  # the code −1 is the last entry

    @cached
    def first(self) -> AnyArray:
        """The index of the first row that holds each distinct value."""
        rows = np.empty(len(self.values) + 1, dtype=np.intp)  # the last: missing
        rows[self.codes[::-1]] = np.arange(len(self.codes))[::-1]  # of several assignments the last one counts
        return rows[:-1]


@dataclass(frozen=True, eq=False)
class Tally:
    """The distinct values of a column in one or several partitions, and the number of rows and first row of each."""

    values: list[Any]  # (v,), without missing ones
    counts: AnyArray  # (v,) the number of rows with each
    first: AnyArray  # (v, 2) the partition and the row in it where each occurs first


def find_earliest(distinct: Distinct | Tally, codes: AnyArray) -> int:
    """Return the element of ``codes``, indices of distinct values, whose value appears first in the table."""
    return min(codes.tolist(), key=lambda code: tuple(np.atleast_1d(distinct.first[code])))


def name_place(distinct: Distinct | Tally, code: int) -> str:
    """Return where a distinct value first occurs, as text for messages: "row 3" or "row 3 of partition 1"."""
    *partition, row = np.atleast_1d(distinct.first[code]).tolist()
    return f"row {row} of partition {partition[0]}" if partition else f"row {row}"


@dataclass(frozen=True, eq=False)
class Column:
    """A column of a table: a narwhals series or an array, with its name or position."""

    label: str  # the name or the position, for messages
    values: Any  # a series of narwhals, or an array (n,)

    @property
    def name(self) -> str:
        """The column name in quotation marks, or the position if the column has no name."""
        return self.label.removeprefix("column ")

    @cached
    def kind(self) -> str:
        """The kind of the values, such as "number", "text" or "date": one of the keys of `WORDS`."""
        kind = kind_of_type(self.plain, self.label)
        if kind in ("text", "category") and not self.distinct.values:
            return "missing"
        return kind if kind is not None else kind_of_objects(self.distinct, self.label)

    @cached
    def plain(self) -> Any:
        """The values as a typed narwhals series or an array (n,); complex numbers and raw bytes raise an error."""
        plain = as_plain(self.values)
        kind = plain.dtype.kind if isinstance(plain, np.ndarray) else ""
        if kind == "c":
            raise ValueError(f"Complex data not supported: {self.label} has the type {plain.dtype}.")
        if kind == "V":
            raise TypeError(f"{self.label} holds raw bytes ({plain.dtype}); a column must hold numbers, text or times.")
        return plain

    @cached
    def distinct(self) -> Distinct:
        """The distinct non-missing values, and for each row the index of its value."""
        if not isinstance(self.plain, np.ndarray):
            return distinct_of_series(self.plain)
        if self.plain.dtype.kind != "O":
            return distinct_of_numbers(self.plain)
        return distinct_of_objects(self.plain, self.label)

    @cached
    def categories(self) -> Distinct:
        """The distinct values as sorted categories (numbers or text), and for each row the index of its category."""
        values, inverse = sort_categories(self.distinct, self.label)
        return Distinct(values, np.append(inverse, -1)[self.distinct.codes])

    @cached
    def empty(self) -> bool:
        """Whether all values are missing, even if the column has a number type."""
        return self.kind == "missing" or (self.kind == "number" and bool(np.isnan(self.numbers()).all()))

    def numbers(self) -> AnyArray:
        """Return the values as an array of numbers (n,), NaN where missing; the caller must first rule out text."""
        if self.kind == "missing":
            return np.full(len(self.plain), np.nan, np.float16)  # the type that changes no other
        if self.kind == "category":
            return self.distinct.map(np.array([float(value) for value in self.distinct.values]))
        if not isinstance(self.plain, np.ndarray):
            return numbers_of_series(self.plain, self.kind)
        if self.plain.dtype.kind == "O":
            return self.distinct.map(self._numbers_of_objects())
        return days(self.plain) if self.plain.dtype.kind in "Mm" else self.plain

    def whole_numbers(self) -> AnyArray:
        """Return the non-missing values of an integer array or of a 64-bit integer series; otherwise an empty array."""
        if isinstance(self.plain, np.ndarray):
            return self.plain if self.plain.dtype.kind in "iu" else NOTHING
        import narwhals as nw

        return self.plain.drop_nulls().to_numpy() if self.plain.dtype in (nw.Int64, nw.UInt64) else NOTHING

    def _numbers_of_objects(self) -> AnyArray:
        """Return the distinct values as floats; raise ValueError if one is too large for a float."""
        number, out = NUMBER_OF[self.kind], np.empty(len(self.distinct.values))
        for code, value in enumerate(self.distinct.values):
            try:
                out[code] = number(value)
            except OverflowError:
                digits = f"a number of {len(str(abs(value)))} digits" if isinstance(value, int) else repr(value)
                raise ValueError(
                    f"{self.label} holds {digits} in {name_place(self.distinct, code)}, which is too large."
                ) from None
        return out


@dataclass(frozen=True, eq=False)
class Digest:
    """A summary that replaces a `Column` when partitions are merged: kind, number type and distinct values, no rows."""

    label: str  # the name or the position, for messages
    kind: str  # one of the keys of `columns.WORDS`
    empty: bool  # whether all values are missing
    distinct: Tally  # the distinct values of text, categories and columns that the user declares categorical; else none
    dtype: Any  # the type of its numbers

    @property
    def name(self) -> str:
        """The column name in quotation marks, or the position if the column has no name."""
        return self.label.removeprefix("column ")

    @cached
    def categories(self) -> Tally:
        """The distinct values as sorted categories (numbers or text), with their counts and first rows."""
        found = self.distinct
        values, inverse = sort_categories(found, self.label)
        counts, first = np.zeros(len(values), dtype=np.int64), np.empty((len(values), 2), dtype=np.int64)
        np.add.at(counts, inverse, found.counts)
        latest_first = np.lexsort((found.first[:, 1], found.first[:, 0]))[::-1]
        first[inverse[latest_first]] = found.first[latest_first]  # of several assignments the last one counts
        return Tally(values, counts, first)


def merge_tallies(tallies: list[Tally]) -> Tally:
    """Return the merged `Tally` of several partitions: distinct values in order of their first row, counts added up."""
    found: dict[Any, tuple[tuple[int, int], int]] = {}
    for one in tallies:
        for value, count, row in zip(one.values, one.counts.tolist(), map(tuple, one.first.tolist()), strict=True):
            place, before = found.get(value, (row, 0))
            found[value] = (min(place, row), before + count)
    ordered = sorted(found.items(), key=lambda item: item[1][0])
    return Tally(
        [value for value, _ in ordered],
        np.array([count for _, (_, count) in ordered], dtype=np.int64),
        np.array([place for _, (place, _) in ordered], dtype=np.int64).reshape(-1, 2),
    )


def has_large_numbers(values: AnyArray) -> bool:
    """Return whether an array holds 64-bit integers beyond ±2⁵³, which float64 may round."""
    whole = values.dtype.kind in "iu" and values.dtype.itemsize == 8 and values.size > 0
    return whole and bool(values.max() > EXACT or values.min() < -EXACT)


def lost_digits(values: AnyArray, label: str) -> str | None:
    """Return a warning text if distinct whole numbers (n,) become equal in float64; otherwise None."""
    if not has_large_numbers(values):
        return None
    distinct = np.unique(values)
    floats = distinct.astype(np.float64)
    same = np.flatnonzero(floats[1:] == floats[:-1])
    if not len(same):
        return None
    a, b = distinct[same[0]], distinct[same[0] + 1]
    return (
        f"{label} has whole numbers beyond 2**53, some of which are one number in double precision, such as {a} "
        f"and {b}. If they are codes, make the column a category; if they number single things, leave it out."
    )


def warn_of_columns(remarks: Mapping[str, str | None]) -> None:
    """Issue one warning from a text or None per column: the first text, then the names of other columns with a text."""
    told = [label for label, remark in remarks.items() if remark is not None]
    if told:
        same = f" The same is true of {name_columns(told[1:])}." if told[1:] else ""
        warn_user(f"{remarks[told[0]]}{same}")


def name_columns(labels: Sequence[str]) -> str:
    """Return the column names as text for messages, ten names at most."""
    names = ", ".join(label.removeprefix("column ") for label in labels[:10])
    return f"column{'s' * (len(labels) > 1)} {names}{' …' * (len(labels) > 10)}"


def sort_categories(distinct: Distinct | Tally, label: str) -> tuple[list[Any], AnyArray]:
    """Return distinct values as sorted categories, and the index of each value; raise if numbers and text mix."""
    values = as_categories(distinct.values)
    if len({isinstance(value, str) for value in values.tolist()}) > 1:
        kinds = [kind_of_value(value) for value in distinct.values]
        raise mixed_error(distinct, [kinds.index(kind) for kind in dict.fromkeys(kinds)], label)
    values, inverse = np.unique(values, return_inverse=True)
    return values.tolist(), inverse


# ---- series of narwhals ---------------------------------------------------------------------------------------------


def as_plain(values: Any) -> Any:
    """Return values as a typed narwhals series or an array; series of objects, decimals or times become arrays."""
    if isinstance(values, np.ndarray):
        return values.astype(object) if values.dtype.kind in "UST" else values
    import narwhals as nw

    native = getattr(values.to_native(), "dtype", None)
    untyped = (nw.Object, nw.Unknown, nw.Time, nw.Decimal)
    if isinstance(values.dtype, nw.Unknown) and values.null_count() == len(values):
        return np.full(len(values), None)
    if isinstance(values.dtype, untyped) or (isinstance(native, np.dtype) and native.kind == "O"):
        return values.to_numpy()
    return values


def kind_of_type(values: Any, label: str) -> str | None:
    """Return the kind of a column from its type, None for object arrays; raise TypeError for nested or binary types."""
    if isinstance(values, np.ndarray):
        kinds = {"M": "date", "m": "duration", "O": None}
        return kinds.get(values.dtype.kind, "number")
    import narwhals as nw

    dtype = values.dtype
    if dtype.is_nested() or isinstance(dtype, nw.Binary):
        raise TypeError(f"{label} holds {dtype}; a column must hold numbers, text, categories or times. {SPREAD}")
    for kind, types in (
        ("text", nw.String),
        ("category", (nw.Categorical, nw.Enum)),
        ("date", (nw.Datetime, nw.Date)),
        ("duration", nw.Duration),
    ):
        if isinstance(dtype, types):
            return kind
    return "number"


SPREAD = "Make columns of its parts, or leave it out."


def numbers_of_series(series: Any, kind: str) -> AnyArray:
    import narwhals as nw

    if kind in ("date", "duration") and getattr(series.dtype, "time_unit", "D") in COARSE:
        if getattr(series.dtype, "time_zone", None) is not None:
            series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return days((series.cast(nw.Datetime("ms")) if isinstance(series.dtype, nw.Date) else series).to_numpy())
    if kind == "date":
        return series.dt.timestamp("us").cast(nw.Float64).to_numpy() / DAY
    if kind == "duration":
        return series.dt.total_microseconds().cast(nw.Float64).to_numpy() / DAY
    if isinstance(series.dtype, nw.Boolean):
        return series.cast(nw.Float32).to_numpy().astype(np.float16)  # half: the type that changes no other
    values = series.to_numpy()
    return values.astype(np.float64) if series.dtype.is_integer() and values.dtype.kind == "f" else values


def distinct_of_series(series: Any) -> Distinct:
    """Return the distinct values of a typed narwhals series, and for each row the index of its value.

    For a million strings with 100 distinct values this takes 0.06 s in pandas, and 0.1 s in polars and pyarrow; a
    Python loop takes up to 5 s.
    """
    import narwhals as nw

    if series.dtype.is_numeric() or isinstance(series.dtype, nw.Boolean):
        return distinct_of_numbers(numbers_of_series(series, "number"))
    if series.dtype.is_temporal():
        return distinct_of_objects(np.array(series.to_list(), dtype=object), "")
    if isinstance(series.dtype, nw.String):
        native: Any = series.cast(nw.Categorical).to_native() if series.implementation.is_pandas_like() else None
    else:
        native = series.to_native()
    if hasattr(getattr(native, "cat", None), "codes"):  # pandas and its like; it may know values that do not occur
        known, codes = native.cat.categories.tolist(), native.cat.codes.to_numpy().astype(np.intp)
        used = np.isin(np.arange(len(known)), codes)
        return Distinct([known[k] for k in np.flatnonzero(used)], np.append(np.cumsum(used) - 1, -1)[codes])
    if isinstance(series.dtype, nw.String):
        series = series.cast(nw.String)  # pyarrow's string views know neither filters nor missing values
    try:
        return distinct_by_library(series)
    except NotImplementedError:  # pyarrow can do little with dictionaries of string views, which polars hands over
        return distinct_of_objects(np.array(series.to_list(), dtype=object), "")


def distinct_by_library(series: Any) -> Distinct:
    """Return the distinct values of a narwhals series and each row's index, by functions of its library (polars, …)."""
    import narwhals as nw

    values = series.drop_nulls().unique().to_list()
    if not values:  # libraries disagree about the type of what is then found
        return Distinct([], np.full(len(series), -1))
    numbers = series.replace_strict(values, list(range(len(values))), return_dtype=nw.Float64).to_numpy()
    return Distinct(values, np.where(np.isnan(numbers), -1, numbers).astype(np.intp))


# ---- arrays ---------------------------------------------------------------------------------------------------------


def distinct_of_numbers(values: AnyArray) -> Distinct:
    """Return the distinct values of an array of numbers, dates or durations, and the index of each row's value."""
    if values.dtype.kind in "Mm":
        return distinct_of_objects(np.array([None if np.isnat(v) else v for v in values], dtype=object), "")
    exact = values if values.dtype.kind in "iu" else values.astype(np.float64)  # large whole numbers stay apart
    found, codes = np.unique(exact, return_inverse=True)
    known = ~np.isnan(found)  # NaN is the last
    return Distinct(found[known].tolist(), np.where(codes < known.sum(), codes, -1))


def distinct_of_objects(values: AnyArray, label: str) -> Distinct:
    """Return the distinct values of an object array and the index of each row's value; raise if one is not hashable."""
    listed = values.tolist()
    try:
        found = dict.fromkeys(listed)
    except TypeError:
        row = [is_hashable(value) for value in listed].index(False)
        raise TypeError(
            f"{label} holds a {type(listed[row]).__name__} in row {row}; the argument must be a string or a number. "
            f"{SPREAD}"
        ) from None
    present = [value for value in found if not is_missing(value)]
    numbers = dict.fromkeys(found, -1) | {value: number for number, value in enumerate(present)}
    return Distinct(present, np.fromiter(map(numbers.__getitem__, listed), dtype=np.intp, count=len(listed)))


def kind_of_objects(distinct: Distinct, label: str) -> str:
    """Return the common kind of the values of an object column; raise if kinds are mixed or a value is not allowed."""
    examples: dict[str, int] = {}
    for code, value in enumerate(distinct.values):
        examples.setdefault(kind_of_value(value), code)
    if not examples:
        return "missing"
    if "other" in examples:
        code = examples["other"]
        raise TypeError(
            f"{label} holds {distinct.values[code]!r} in {name_place(distinct, code)}, a "
            f"{type(distinct.values[code]).__name__}; the argument must be a string or a number. {SPREAD}"
        )
    if len(examples) > 1:
        raise mixed_error(distinct, list(examples.values()), label)
    (kind,) = examples
    return kind


def mixed_error(distinct: Distinct | Tally, codes: list[int], label: str) -> ValueError:
    """Return the ValueError for a column of mixed kinds; ``codes`` has the index of one example value per kind."""
    examples = ", ".join(
        f"{type(distinct.values[code]).__name__} ({name_place(distinct, code)}: {distinct.values[code]!r})"
        for code in codes
    )
    return ValueError(
        f"{label} mixes values of different types: {examples}. Make them all numbers, for example by "
        "pd.to_numeric(column, errors='coerce'), or all text, by column.astype(str)."
    )
