"""Single values as JSON, and back: numbers, text, bytes, dates and durations.

None, truth values, text, and numbers that any JSON reader reads exactly are written as they are; all others as an
object with a key, the tag, that says what they are: ``{"date": "2024-02-29"}``.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

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
