"""One value of a column: whether it is missing, of which kind it is, as a number and as a category."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import numpy as np

from .._typing import AnyArray, Array

DAY = 86_400_000_000.0  # microseconds
COARSE = {"W": 7 * DAY, "D": DAY, "h": DAY / 24, "m": 6e7, "s": 1e6, "ms": 1e3}  # microseconds
EPOCH = dt.datetime(1970, 1, 1)
MICROSECOND = dt.timedelta(microseconds=1)


def is_hashable(value: Any) -> bool:
    """Whether a value can be a key."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, pd.NA or NaT."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    return isinstance(value, Real | Decimal) and bool(value != value)


def kind_of_value(value: Any) -> str:
    """The kind of a Python object; "other" if it is none that a column may hold."""
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
    """Dates of NumPy as days since 1970, durations as days, (n,)."""
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
    """The days since 1970 of a date, a datetime, a datetime64 or a period of pandas (its beginning)."""
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
    """The days of a timedelta or a timedelta64."""
    if isinstance(value, np.timedelta64):
        return float(days(np.array([value]))[0])
    return (value // MICROSECOND) / DAY


def time_number(value: dt.time) -> float:
    """A time of day as a fraction of the day."""
    return (((value.hour * 60 + value.minute) * 60 + value.second) * 1_000_000 + value.microsecond) / DAY


NUMBER_OF: dict[str, Callable[[Any], float]] = {
    "number": float,
    "date": date_number,
    "duration": duration_number,
    "time": time_number,
}


# ---- values as categories -------------------------------------------------------------------------------------------


def as_category(value: Any) -> float | int | str:
    """A value in the form in which categories are kept: a number, or text.

    Equal values of any container have the same form, and every form can be saved. Intervals of ``pd.cut`` become text
    such as "(0, 1]", times become text in the form of ISO 8601, in UTC where they have a time zone, and durations are
    told in days, hours, minutes and seconds.

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
    """Values in the form in which categories are kept: an array of numbers, of objects if any is text or very large."""
    names = [value if type(value) is str else as_category(value) for value in values]
    return np.array(names, dtype=object if any(isinstance(name, str | int) for name in names) else np.float64)
