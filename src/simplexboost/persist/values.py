"""Converts values of Python, NumPy and pandas to JSON and back.

None, truth values, text, and numbers that any JSON reader reads exactly are written as they are; all others as an
object with a key, the tag, that says what they are: ``{"date": "2024-02-29"}``. ``encode`` and ``decode`` take a
function for whatever is none of these: `parameters` uses it for parts and estimators.

pandas itself is imported only to give one of its values back. Where it is not installed, the nearest thing that Python
has comes back instead: nobody can then pass a pandas value to compare it with.
"""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import partial
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np

from .._util.arrays import AnyArray
from .checks import ModelFileError

EXACT = 2**53  # readers that know only double precision read whole numbers exactly up to here
MOST_DIGITS = 4300  # of a decimal number; Python's own limit for whole numbers as text
MICROSECOND = dt.timedelta(microseconds=1)


def int_to_json(value: int) -> Any:
    """A whole number of any size."""
    return int(value) if -EXACT <= value <= EXACT else {"int": str(int(value))}


def float_to_json(value: float) -> Any:
    """A number; JSON has no infinities and no NaN."""
    return float(value) if math.isfinite(value) else {"float": str(float(value))}


def moment_to_json(value: dt.datetime) -> Any:
    """A date with time: ISO 8601, with the offset from UTC and the name of the time zone where it has them."""
    return {"datetime": value.isoformat(), **zone_to_json(value)}


def moment_from_json(value: dict[str, Any]) -> dt.datetime:
    """The reverse of `moment_to_json`."""
    moment = dt.datetime.fromisoformat(value["datetime"])
    zone = zone_from_json(value)
    return moment if zone is None else moment.astimezone(zone)


def zone_to_json(value: dt.datetime) -> dict[str, str]:
    """The name of a time zone: that of `zoneinfo` or of pytz; other zones have none, and keep their offset only."""
    name = getattr(value.tzinfo, "key", getattr(value.tzinfo, "zone", None))
    return {"zone": name} if isinstance(name, str) else {}


def zone_from_json(value: dict[str, Any]) -> ZoneInfo | None:
    """The time zone; None if there is none, or if this machine does not know it: then the offset from UTC is kept."""
    try:
        return ZoneInfo(value["zone"]) if "zone" in value else None
    except ZoneInfoNotFoundError:
        return None


# Types whose values are stored by tag, and how: those that are subclasses of others come first.
Encoder = Callable[[Any], Any]
ENCODERS: dict[type, Encoder] = {
    type(None): lambda value: None,
    bool: lambda value: value,
    int: int_to_json,
    float: float_to_json,
    str: lambda value: str.__str__(value),
    bytes: lambda value: {"bytes": value.hex()},
    Decimal: lambda value: {"decimal": str(value)},
    dt.datetime: moment_to_json,
    dt.date: lambda value: {"date": value.isoformat()},
    dt.time: lambda value: {"time": value.isoformat()},
    dt.timedelta: lambda value: {"timedelta": int_to_json(value // MICROSECOND)},
}

# What a tagged object stands for.
DECODERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "int": lambda value: int(value["int"]),
    "float": lambda value: float(value["float"]),
    "bytes": lambda value: bytes.fromhex(value["bytes"]),
    "decimal": lambda value: decimal_from_json(value["decimal"]),
    "datetime": moment_from_json,
    "date": lambda value: dt.date.fromisoformat(value["date"]),
    "time": lambda value: dt.time.fromisoformat(value["time"]),
    "timedelta": lambda value: whole(value["timedelta"]) * MICROSECOND,
}


def whole(value: Any) -> int:
    """A whole number as `int_to_json` writes it."""
    return int(value["int"] if isinstance(value, dict) else value)


def decimal_from_json(text: str) -> Decimal:
    """A decimal number. To compare one of a million digits with a whole number takes many seconds, so it is refused."""
    value = Decimal(text)
    if value.is_finite() and abs(value.adjusted()) > MOST_DIGITS:
        raise ValueError(f"a decimal number of more than {MOST_DIGITS} digits")
    return value


def encoder_of(value: Any) -> Encoder | None:
    """How a value is stored; None if it is of none of these types. Of a subclass, the plain value is stored."""
    kind = type(value)
    return ENCODERS.get(kind) or next((encode for base, encode in ENCODERS.items() if issubclass(kind, base)), None)


NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
MISSING = ("NaT", "NA")


class Interval(NamedTuple):
    """Stands for an interval of pandas where pandas is not installed."""

    left: Any
    right: Any
    closed: str


def pandas_name(value: Any) -> str | None:
    """The name of a type of pandas; None for other types."""
    kind = type(value)
    return kind.__name__ if kind.__module__.partition(".")[0] == "pandas" else None


def pandas_to_json(value: Any, encode: Any) -> Any:
    """A value of pandas; None for any other value. ``encode`` stores the ends of intervals."""
    name = pandas_name(value)
    if isinstance(value, Interval):
        name = "Interval"
    if name == "Timestamp":
        return {"timestamp": value.isoformat(), "unit": value.unit, **zone_to_json(value)}
    if name == "Timedelta":
        return {"duration": int_to_json(value.asm8.astype("int64").item()), "unit": value.unit}
    if name == "Interval":
        return {"interval": [encode(value.left), encode(value.right)], "closed": value.closed}
    if name == "Period":
        return {"period": int_to_json(value.ordinal), "freq": value.freqstr}
    if name in ("NaTType", "NAType"):
        return {"missing": name.removesuffix("Type")}
    return None


def timestamp_from_json(value: dict[str, Any]) -> Any:
    """A moment to the nanosecond; without pandas to the microsecond."""
    pd = pandas()
    if pd is None:
        return dt.datetime.fromisoformat(value["timestamp"])
    moment, zone = pd.Timestamp(value["timestamp"]).as_unit(value["unit"]), zone_from_json(value)
    return moment if zone is None else moment.tz_convert(zone)


def duration_from_json(value: dict[str, Any]) -> Any:
    """A duration in its unit; without pandas to the microsecond."""
    pd, number = pandas(), whole(value["duration"])
    if pd is None:
        return number * NANOSECONDS[value["unit"]] // 1000 * MICROSECOND
    return pd.Timedelta(number, unit=value["unit"]).as_unit(value["unit"])


def interval_from_json(value: dict[str, Any], decode: Any) -> Any:
    """An interval; ``decode`` reads its ends."""
    pd = pandas()
    left, right = (decode(end) for end in value["interval"])
    return (Interval if pd is None else pd.Interval)(left, right, value["closed"])


def period_from_json(value: dict[str, Any]) -> Any:
    """A period; without pandas its number and frequency."""
    pd, ordinal = pandas(), whole(value["period"])
    return (ordinal, str(value["freq"])) if pd is None else pd.Period(ordinal=ordinal, freq=value["freq"])


def missing_from_json(value: dict[str, Any]) -> Any:
    """A missing value of pandas; without pandas None."""
    pd = pandas()
    if value["missing"] not in MISSING:
        raise ValueError(f"no missing value is called {value['missing']!r}")
    return None if pd is None else getattr(pd, value["missing"])


def pandas() -> Any:
    """The module, or None if it is not installed."""
    try:
        import pandas
    except ImportError:
        return None
    return pandas


Other = Callable[[Any], Any]
KINDS = "biufUSMm"  # the kinds of NumPy's types that arrays in a header may have, beside objects
TIMES = "Mm"


def unsavable(value: Any) -> Any:
    """Refuse a value that has no place in a model file."""
    raise TypeError(
        f"{value!r} of type {type(value).__name__} cannot be saved; text, numbers, dates and durations can, those of "
        "NumPy and of pandas too."
    )


def unknown(value: dict[str, Any]) -> Any:
    """Refuse an object whose tag is not known."""
    raise ModelFileError(f"the file holds a value with the keys {list(value)}, which this simplexboost cannot read.")


# ---- any value ------------------------------------------------------------------------------------------------------


def encode(value: Any, other: Other = unsavable) -> Any:
    """A value as JSON; ``other`` stores what is of none of the types that this module knows."""
    again = partial(encode, other=other)
    if isinstance(value, np.generic):
        return {"scalar": array_to_json(np.array([value], dtype=value.dtype))}
    from_pandas = pandas_to_json(value, again)
    if from_pandas is not None:
        return from_pandas
    single = encoder_of(value)
    if single is not None:
        return single(value)
    several = holder_to_json(value, again)
    if several is not None:
        return several
    if hasattr(value, "__array__"):  # an array, or a column or table of pandas, polars, Arrow, …
        return {"array": array_to_json(np.asarray(value))}
    return other(value)


def holder_to_json(value: Any, again: Other) -> Any:
    """A range, a slice or a collection; None for anything else. ``again`` stores what it holds."""
    match value:
        case range() | slice():
            return {type(value).__name__: [again(number) for number in (value.start, value.stop, value.step)]}
        case Mapping():
            return {"dict": [[again(k), again(v)] for k, v in value.items()]}
        case list():
            return {"list": [again(v) for v in value]}
        case tuple():
            return {"tuple": [again(v) for v in value]}
        case set() | frozenset():
            tag = "set" if isinstance(value, set) else "frozenset"
            return {tag: sorted((again(v) for v in value), key=json.dumps)}  # equal sets give equal files
    return None


def decode(value: Any, other: Other = unknown) -> Any:
    """The reverse of `encode`."""
    if not isinstance(value, dict):
        return value
    again = partial(decode, other=other)
    tag = next((key for key in value if key in TAGS), None)
    if tag in DECODERS:
        return DECODERS[tag](value)
    if tag in HOLDERS:
        return HOLDERS[tag](value[tag], again)
    if tag == "interval":
        return interval_from_json(value, again)
    if tag in FROM_PANDAS:
        return FROM_PANDAS[tag](value)
    return other(value)


HOLDERS: dict[str | None, Callable[[Any, Other], Any]] = {
    "scalar": lambda content, again: array_from_json(content)[0],
    "array": lambda content, again: array_from_json(content),
    "range": lambda content, again: range(*map(again, content)),
    "slice": lambda content, again: slice(*map(again, content)),
    "list": lambda content, again: [again(v) for v in content],
    "tuple": lambda content, again: tuple(again(v) for v in content),
    "set": lambda content, again: {again(v) for v in content},
    "frozenset": lambda content, again: frozenset(again(v) for v in content),
    "dict": lambda content, again: {again(k): again(v) for k, v in content},
}
FROM_PANDAS: dict[str | None, Callable[[dict[str, Any]], Any]] = {
    "timestamp": timestamp_from_json,
    "duration": duration_from_json,
    "period": period_from_json,
    "missing": missing_from_json,
}
TAGS = {*DECODERS, *HOLDERS, *FROM_PANDAS, "interval"}


# ---- arrays ---------------------------------------------------------------------------------------------------------


def array_to_json(values: AnyArray) -> dict[str, Any]:
    """An array as its type, its shape unless it has one axis, and its entries row by row.

    Dates and durations are whole numbers of their unit since 1970; the entries of an array of objects are any values.
    """
    dtype = values.dtype
    shape = {} if values.ndim == 1 else {"shape": list(values.shape)}
    if dtype.kind == "O":
        return {"dtype": "object", **shape, "values": [encode(v) for v in values.ravel().tolist()]}
    if dtype.kind not in KINDS or (dtype.kind == "f" and dtype.itemsize > 8):
        raise TypeError(f"an array of type {dtype} cannot be saved; use numbers, text, dates or durations.")
    entries = (values.astype(np.int64) if dtype.kind in TIMES else values).ravel()
    plain = dtype.kind in "bU" or (dtype.kind != "S" and bool((np.abs(entries.astype(np.float64)) < EXACT).all()))
    return {"dtype": dtype.str, **shape, "values": entries.tolist() if plain else [encode(v) for v in entries.tolist()]}


def array_from_json(about: dict[str, Any]) -> AnyArray:
    """The reverse of `array_to_json`. Version 1 has no shapes, but rows in rows."""
    dtype = np.dtype(about["dtype"])
    if dtype.kind not in KINDS + "O":
        raise ModelFileError(f"the file holds an array of type {dtype}; it is damaged.")
    if any(isinstance(row, list) for row in about["values"]):
        return np.array(about["values"], dtype=dtype)
    entries = [decode(v) for v in about["values"]]
    if dtype.kind == "O":
        out = np.empty(len(entries), dtype=object)
        for i, entry in enumerate(entries):  # not all at once: tuples would become rows
            out[i] = entry
    elif dtype.kind in TIMES:
        out = np.array([whole(v) for v in entries], dtype=np.int64).astype(dtype)
    else:
        out = np.array(entries, dtype=dtype)
    return out.reshape(about.get("shape", out.shape))
