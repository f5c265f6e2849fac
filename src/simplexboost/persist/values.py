"""Converts values of Python, NumPy and pandas to JSON and back.

None, truth values, text, and numbers that every JSON reader reads exactly are written unchanged. Every other value
becomes an object whose first key, the tag, names its type: ``{"date": "2024-02-29"}``. `encode` and `decode` take a
function for values of further types; `saving` passes one for parts and estimators.

pandas is imported only to restore a pandas value; without pandas, the nearest Python value is returned.
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
from .archive import damaged, require

EXACT = 2**53  # readers that know only double precision read whole numbers exactly up to here
MOST_DIGITS = 4300  # of a decimal number; Python's own limit for whole numbers as text
MICROSECOND = dt.timedelta(microseconds=1)
NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
KINDS = "biufUSMm"  # kinds of NumPy's types that arrays in a header may have, beside objects
TIMES = "Mm"

Convert = Callable[[Any], Any]


class Interval(NamedTuple):
    """An interval that replaces a pandas interval if pandas is not installed."""

    left: Any
    right: Any
    closed: str


def refuse_value(value: Any) -> Any:
    raise TypeError(
        f"{value!r} of type {type(value).__name__} cannot be saved; text, numbers, dates and durations can, those of "
        "NumPy and of pandas too."
    )


def refuse_tag(value: dict[str, Any]) -> Any:
    raise damaged(f"value with the keys {list(value)}, which this simplexboost cannot read")


def encode(value: Any, other: Convert = refuse_value) -> Any:
    """Return a value as JSON; values of subclasses are stored as the base type. ``other`` converts unknown types."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, np.generic):
        return {"scalar": array_to_json(np.array([value], dtype=value.dtype))}
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, Interval) or type(value).__module__.partition(".")[0] == "pandas":
        found = encode_pandas(value, other)
        if found is not None:
            return found
    again = partial(encode, other=other)
    match value:
        case int():
            return int_to_json(value)
        case float():  # JSON has neither infinities nor NaN
            return float(value) if math.isfinite(value) else {"float": str(float(value))}
        case dt.datetime():
            return {"datetime": value.isoformat(), **zone_to_json(value)}
        case range() | slice():
            return {type(value).__name__: [again(n) for n in (value.start, value.stop, value.step)]}
        case Mapping():
            return {"dict": [[again(k), again(v)] for k, v in value.items()]}
        case list() | tuple():
            return {"list" if isinstance(value, list) else "tuple": list(map(again, value))}
        case set() | frozenset():  # sorted, so that equal sets give equal files
            return {"set" if isinstance(value, set) else "frozenset": sorted(map(again, value), key=json.dumps)}
    for kind, tag, to_text in ENCODERS:
        if isinstance(value, kind):
            return {tag: to_text(value)}
    # a NumPy array, or a column or table of pandas, polars or Arrow
    return {"array": array_to_json(np.asarray(value))} if hasattr(value, "__array__") else other(value)


def encode_pandas(value: Any, other: Convert) -> Any:
    """Return a pandas time, period, interval or missing value as JSON; return None for any other value."""
    match type(value).__name__:
        case "Timestamp":
            return {"timestamp": value.isoformat(), "unit": value.unit, **zone_to_json(value)}
        case "Timedelta":
            return {"duration": int_to_json(value.asm8.astype("int64").item()), "unit": value.unit}
        case "Interval":
            return {"interval": [encode(value.left, other), encode(value.right, other)], "closed": value.closed}
        case "Period":
            return {"period": int_to_json(value.ordinal), "freq": value.freqstr}
        case "NaTType" | "NAType" as name:
            return {"missing": name.removesuffix("Type")}
    return None


def decode(value: Any, other: Convert = refuse_tag) -> Any:
    """Return the value that `encode` converted to JSON; ``other`` converts JSON objects without a known tag."""
    if not isinstance(value, dict):
        return value
    again = partial(decode, other=other)
    for tag, content in value.items():
        if tag in DECODERS:
            return DECODERS[tag](content)
        if tag in COLLECTIONS:
            return COLLECTIONS[tag](map(again, content))
    match value:
        case {"datetime": text}:
            moment, zone = dt.datetime.fromisoformat(text), zone_from_json(value)
            return moment if zone is None else moment.astimezone(zone)
        case {"range": bounds}:
            return range(*map(again, bounds))
        case {"slice": bounds}:
            return slice(*map(again, bounds))
        case {"dict": pairs}:
            return {again(k): again(v) for k, v in pairs}
        case {"timestamp": _} | {"duration": _} | {"interval": _} | {"period": _} | {"missing": _}:
            return decode_pandas(value, again)
    return other(value)


def pandas() -> Any:
    """Return the module pandas, or None if it is not installed."""
    try:
        import pandas
    except ImportError:
        return None
    return pandas


def decode_pandas(value: dict[str, Any], again: Convert) -> Any:
    """Return a pandas value from JSON, or the nearest Python value without pandas; ``again`` decodes inner values."""
    pd = pandas()
    match value:
        case {"timestamp": text}:
            if pd is None:
                return dt.datetime.fromisoformat(text)
            moment, zone = pd.Timestamp(text).as_unit(value["unit"]), zone_from_json(value)
            return moment if zone is None else moment.tz_convert(zone)
        case {"duration": number}:
            number = int_from_json(number)
            if pd is None:
                return number * NANOSECONDS[value["unit"]] // 1000 * MICROSECOND
            return pd.Timedelta(number, unit=value["unit"]).as_unit(value["unit"])
        case {"interval": ends}:
            left, right = map(again, ends)
            return (Interval if pd is None else pd.Interval)(left, right, value["closed"])
        case {"period": number}:
            ordinal = int_from_json(number)
            return (ordinal, str(value["freq"])) if pd is None else pd.Period(ordinal=ordinal, freq=value["freq"])
    if value["missing"] not in ("NaT", "NA"):
        raise ValueError(f"no missing value is called {value['missing']!r}")
    return None if pd is None else getattr(pd, value["missing"])


def int_to_json(value: int) -> Any:
    return int(value) if -EXACT <= value <= EXACT else {"int": str(int(value))}


def int_from_json(value: Any) -> int:
    return int(value["int"] if isinstance(value, dict) else value)


def decimal_from_json(text: str) -> Decimal:
    number = Decimal(text)
    if number.is_finite() and abs(number.adjusted()) > MOST_DIGITS:  # it would take many seconds to compare
        raise ValueError(f"a decimal number of more than {MOST_DIGITS} digits")
    return number


def zone_to_json(value: dt.datetime) -> dict[str, str]:
    """Return {"zone": name} if the time zone of a date has a name, as those of `zoneinfo` and pytz have; else {}."""
    name = getattr(value.tzinfo, "key", getattr(value.tzinfo, "zone", None))
    return {"zone": name} if isinstance(name, str) else {}


def zone_from_json(value: dict[str, Any]) -> ZoneInfo | None:
    """Return the time zone named in JSON; None if there is no name or this machine does not know the zone."""
    try:
        return ZoneInfo(value["zone"]) if "zone" in value else None
    except ZoneInfoNotFoundError:
        return None


# ---- arrays ---------------------------------------------------------------------------------------------------------


def array_to_json(values: AnyArray) -> dict[str, Any]:
    """Return an array as JSON: its type, its shape unless it has one axis, and its entries in row-major order.

    Dates and durations become whole numbers of their unit; entries of object arrays may be any values.
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
    dtype = np.dtype(about["dtype"])
    require(dtype.kind in KINDS + "O", f"array of type {dtype}")
    convert = int_from_json if dtype.kind in TIMES else decode
    out = np.empty(len(about["values"]), dtype=np.int64 if dtype.kind in TIMES else dtype)
    for i, entry in enumerate(about["values"]):  # one by one, since lists and tuples must not become axes
        out[i] = convert(entry)
    return out.astype(dtype, copy=False).reshape(about.get("shape", out.shape))


# ---- tags -----------------------------------------------------------------------------------------------------------

# Types that are written as text or numbers alone, with their tags.
ENCODERS: tuple[tuple[type, str, Convert], ...] = (
    (bytes, "bytes", bytes.hex),
    (Decimal, "decimal", str),
    (dt.date, "date", dt.date.isoformat),
    (dt.time, "time", dt.time.isoformat),
    (dt.timedelta, "timedelta", lambda value: int_to_json(value // MICROSECOND)),
)
COLLECTIONS: dict[str, Convert] = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}
DECODERS: dict[str, Convert] = {
    "scalar": lambda about: array_from_json(about)[0],
    "array": array_from_json,
    "int": int,
    "float": float,
    "bytes": bytes.fromhex,
    "decimal": decimal_from_json,
    "date": dt.date.fromisoformat,
    "time": dt.time.fromisoformat,
    "timedelta": lambda number: int_from_json(number) * MICROSECOND,
}
