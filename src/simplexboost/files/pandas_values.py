"""Single values of pandas as JSON, and back; pandas itself is imported only to give such a value back.

Where pandas is not installed, the nearest thing that Python has comes back instead: nobody can then pass a pandas value
to compare it with.
"""

from __future__ import annotations

import datetime as dt
from typing import Any, NamedTuple

from .scalars import MICROSECOND, int_to_json, whole, zone_from_json, zone_to_json

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
