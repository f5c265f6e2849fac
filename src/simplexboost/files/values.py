"""Values as JSON, and back: the single ones of `scalars` and of pandas, arrays of them, and what holds several of them.

``encode`` and ``decode`` take a function for whatever is none of these: `parameters` uses it for parts and estimators.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from .._typing import AnyArray
from .checks import ModelFileError
from .pandas_values import (
    duration_from_json,
    interval_from_json,
    missing_from_json,
    pandas_to_json,
    period_from_json,
    timestamp_from_json,
)
from .scalars import DECODERS, EXACT, encoder_of, whole

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
