"""Converts values of Python, NumPy and pandas to JSON and back.

None, truth values, text, and numbers that any JSON reader reads exactly are written as they are; all others as an
object with a key, the tag, that says what they are: ``{"date": "2024-02-29"}``. `CODECS` lists the tags. ``encode``
and ``decode`` take a function for everything else: `parameters` uses it for parts and estimators.

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
from .checks import damaged

EXACT = 2**53  # readers that know only double precision read whole numbers exactly up to here
MOST_DIGITS = 4300  # of a decimal number; Python's own limit for whole numbers as text
MICROSECOND = dt.timedelta(microseconds=1)
NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
KINDS = "biufUSMm"  # the kinds of NumPy's types that arrays in a header may have, beside objects
TIMES = "Mm"

Convert = Callable[[Any], Any]


def unsavable(value: Any) -> Any:
    """Refuse a value that no model file can hold."""
    raise TypeError(
        f"{value!r} of type {type(value).__name__} cannot be saved; text, numbers, dates and durations can, those of "
        "NumPy and of pandas too."
    )


def unknown(value: dict[str, Any]) -> Any:
    """Refuse an object whose tag is not known."""
    raise damaged(f"value with the keys {list(value)}, which this simplexboost cannot read")


def encode(value: Any, other: Convert = unsavable) -> Any:
    """Return a value as JSON; ``other`` converts what is of none of the types that this module knows."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str) and not isinstance(value, np.generic):
        return str.__str__(value)  # of a subclass, the plain text
    codec = codec_of(value)
    return other(value) if codec is None else codec.encode(value, partial(encode, other=other))


def decode(value: Any, other: Convert = unknown) -> Any:
    """Return the value that `encode` converted to JSON."""
    if not isinstance(value, dict):
        return value
    tag = next((key for key in value if key in CODECS), None)
    return other(value) if tag is None else CODECS[tag].decode(value, partial(decode, other=other))


# ---- arrays ---------------------------------------------------------------------------------------------------------


def array_to_json(values: AnyArray) -> dict[str, Any]:
    """Return an array as its type, its shape unless it has one axis, and its entries row by row.

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
    """Return the array that `array_to_json` converted to JSON."""
    dtype = np.dtype(about["dtype"])
    if dtype.kind not in KINDS + "O":
        raise damaged(f"array of type {dtype}")
    convert = whole if dtype.kind in TIMES else decode
    out = np.empty(len(about["values"]), dtype=np.int64 if dtype.kind in TIMES else dtype)
    for i, entry in enumerate(about["values"]):  # one by one: lists and tuples must not become further axes
        out[i] = convert(entry)
    return out.astype(dtype, copy=False).reshape(about.get("shape", out.shape))


# ---- numbers and times ----------------------------------------------------------------------------------------------


def int_to_json(value: int) -> Any:
    """Return a whole number of any size as JSON."""
    return int(value) if -EXACT <= value <= EXACT else {"int": str(int(value))}


def whole(value: Any) -> int:
    """Return the whole number that `int_to_json` converted to JSON."""
    return int(value["int"] if isinstance(value, dict) else value)


def decimal_from_json(text: str) -> Decimal:
    """Return a decimal number; one of a million digits would take many seconds to compare, so it is refused."""
    value = Decimal(text)
    if value.is_finite() and abs(value.adjusted()) > MOST_DIGITS:
        raise ValueError(f"a decimal number of more than {MOST_DIGITS} digits")
    return value


def zone_to_json(value: dt.datetime) -> dict[str, str]:
    """Return the name of a time zone of `zoneinfo` or pytz; other zones have none, and keep their offset only."""
    name = getattr(value.tzinfo, "key", getattr(value.tzinfo, "zone", None))
    return {"zone": name} if isinstance(name, str) else {}


def zone_from_json(value: dict[str, Any]) -> ZoneInfo | None:
    """Return the time zone; None if there is none or this machine does not know it: then the offset is kept."""
    try:
        return ZoneInfo(value["zone"]) if "zone" in value else None
    except ZoneInfoNotFoundError:
        return None


def moment_from_json(value: dict[str, Any]) -> dt.datetime:
    """Return a date with time."""
    moment = dt.datetime.fromisoformat(value["datetime"])
    zone = zone_from_json(value)
    return moment if zone is None else moment.astimezone(zone)


# ---- pandas ---------------------------------------------------------------------------------------------------------


class Interval(NamedTuple):
    """Stands for an interval of pandas where pandas is not installed."""

    left: Any
    right: Any
    closed: str


def pandas() -> Any:
    """Return the module, or None if it is not installed."""
    try:
        import pandas
    except ImportError:
        return None
    return pandas


def timestamp_from_json(value: dict[str, Any]) -> Any:
    """Return a moment to the nanosecond; without pandas to the microsecond."""
    pd = pandas()
    if pd is None:
        return dt.datetime.fromisoformat(value["timestamp"])
    moment, zone = pd.Timestamp(value["timestamp"]).as_unit(value["unit"]), zone_from_json(value)
    return moment if zone is None else moment.tz_convert(zone)


def duration_from_json(value: dict[str, Any]) -> Any:
    """Return a duration in its unit; without pandas to the microsecond."""
    pd, number = pandas(), whole(value["duration"])
    if pd is None:
        return number * NANOSECONDS[value["unit"]] // 1000 * MICROSECOND
    return pd.Timedelta(number, unit=value["unit"]).as_unit(value["unit"])


def interval_from_json(value: dict[str, Any], again: Convert) -> Any:
    """Return an interval."""
    left, right = map(again, value["interval"])
    pd = pandas()
    return (Interval if pd is None else pd.Interval)(left, right, value["closed"])


def period_from_json(value: dict[str, Any]) -> Any:
    """Return a period; without pandas its number and frequency."""
    pd, ordinal = pandas(), whole(value["period"])
    return (ordinal, str(value["freq"])) if pd is None else pd.Period(ordinal=ordinal, freq=value["freq"])


def missing_from_json(value: dict[str, Any]) -> Any:
    """Return a missing value of pandas; without pandas None."""
    pd = pandas()
    if value["missing"] not in ("NaT", "NA"):
        raise ValueError(f"no missing value is called {value['missing']!r}")
    return None if pd is None else getattr(pd, value["missing"])


# ---- the table ------------------------------------------------------------------------------------------------------


class Codec(NamedTuple):
    """How values of a type are stored: both functions take a value, and the function that converts what it holds.

    ``kind`` is the type; values of pandas are known by the name of their type, so that it need not be imported. Of a
    subclass, the plain value is stored.
    """

    kind: type | str | None
    encode: Callable[[Any, Convert], Any]
    decode: Callable[[Any, Convert], Any]


# By tag; types that are subclasses of others come first.
CODECS: dict[str, Codec] = {
    "scalar": Codec(
        np.generic,
        lambda v, again: {"scalar": array_to_json(np.array([v], dtype=v.dtype))},
        lambda v, again: array_from_json(v["scalar"])[0],
    ),
    "timestamp": Codec(
        "Timestamp",
        lambda v, again: {"timestamp": v.isoformat(), "unit": v.unit, **zone_to_json(v)},
        lambda v, again: timestamp_from_json(v),
    ),
    "duration": Codec(
        "Timedelta",
        lambda v, again: {"duration": int_to_json(v.asm8.astype("int64").item()), "unit": v.unit},
        lambda v, again: duration_from_json(v),
    ),
    "interval": Codec(
        "Interval",
        lambda v, again: {"interval": [again(v.left), again(v.right)], "closed": v.closed},
        interval_from_json,
    ),
    "period": Codec(
        "Period",
        lambda v, again: {"period": int_to_json(v.ordinal), "freq": v.freqstr},
        lambda v, again: period_from_json(v),
    ),
    "missing": Codec(
        "NaTType NAType",
        lambda v, again: {"missing": type(v).__name__.removesuffix("Type")},
        lambda v, again: missing_from_json(v),
    ),
    "int": Codec(int, lambda v, again: int_to_json(v), lambda v, again: int(v["int"])),
    "float": Codec(
        float,
        lambda v, again: float(v) if math.isfinite(v) else {"float": str(float(v))},  # JSON has no infinities, no NaN
        lambda v, again: float(v["float"]),
    ),
    "bytes": Codec(bytes, lambda v, again: {"bytes": v.hex()}, lambda v, again: bytes.fromhex(v["bytes"])),
    "decimal": Codec(Decimal, lambda v, again: {"decimal": str(v)}, lambda v, again: decimal_from_json(v["decimal"])),
    "datetime": Codec(
        dt.datetime,
        lambda v, again: {"datetime": v.isoformat(), **zone_to_json(v)},
        lambda v, again: moment_from_json(v),
    ),
    "date": Codec(dt.date, lambda v, again: {"date": v.isoformat()}, lambda v, again: dt.date.fromisoformat(v["date"])),
    "time": Codec(dt.time, lambda v, again: {"time": v.isoformat()}, lambda v, again: dt.time.fromisoformat(v["time"])),
    "timedelta": Codec(
        dt.timedelta,
        lambda v, again: {"timedelta": int_to_json(v // MICROSECOND)},
        lambda v, again: whole(v["timedelta"]) * MICROSECOND,
    ),
    "range": Codec(
        range,
        lambda v, again: {"range": [again(n) for n in (v.start, v.stop, v.step)]},
        lambda v, again: range(*map(again, v["range"])),
    ),
    "slice": Codec(
        slice,
        lambda v, again: {"slice": [again(n) for n in (v.start, v.stop, v.step)]},
        lambda v, again: slice(*map(again, v["slice"])),
    ),
    "dict": Codec(
        Mapping,
        lambda v, again: {"dict": [[again(k), again(x)] for k, x in v.items()]},
        lambda v, again: {again(k): again(x) for k, x in v["dict"]},
    ),
    "list": Codec(list, lambda v, again: {"list": [again(x) for x in v]}, lambda v, again: list(map(again, v["list"]))),
    "tuple": Codec(
        tuple, lambda v, again: {"tuple": [again(x) for x in v]}, lambda v, again: tuple(map(again, v["tuple"]))
    ),
    "set": Codec(  # sorted: equal sets give equal files
        set,
        lambda v, again: {"set": sorted(map(again, v), key=json.dumps)},
        lambda v, again: set(map(again, v["set"])),
    ),
    "frozenset": Codec(
        frozenset,
        lambda v, again: {"frozenset": sorted(map(again, v), key=json.dumps)},
        lambda v, again: frozenset(map(again, v["frozenset"])),
    ),
    "array": Codec(  # an array, or a column or table of pandas, polars, Arrow, …
        None,
        lambda v, again: {"array": array_to_json(np.asarray(v))},
        lambda v, again: array_from_json(v["array"]),
    ),
}
PANDAS = {name: codec for codec in CODECS.values() if isinstance(codec.kind, str) for name in codec.kind.split()}
TYPES = {codec.kind: codec for codec in CODECS.values() if isinstance(codec.kind, type)}


def codec_of(value: Any) -> Codec | None:
    """Return how a value is stored; None if it is of none of the types in the table."""
    kind = type(value)
    if kind is Interval or (kind.__module__.partition(".")[0] == "pandas" and kind.__name__ in PANDAS):
        return PANDAS[kind.__name__]
    found = TYPES.get(kind) or next((codec for base, codec in TYPES.items() if isinstance(value, base)), None)
    return CODECS["array"] if found is None and hasattr(value, "__array__") else found
