"""Converts table columns to numbers, times or categories, and the target column to labels.

A column of text holds numbers if 90 % of its values are numbers; other words, such as "unknown", become missing values
with a warning. The same holds for dates in the order year, month, day. Dates in another order are categories, because
3/4/2024 is ambiguous. All other text is categories. So are codes: whole numbers of which at least one in a hundred
begins with a zero, such as 06000. Labels stay as they are written in the file.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sklearn.utils import get_tags

from .._util.arrays import AnyArray, Labels, Mask
from ..tables.labels import QUANTITY
from .errors import InputError, did_you_mean
from .terminal import Talk

NEARLY_ALL = 0.9
CODES = 0.01  # the part of the values that makes a column one of codes
NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
CLOCK = r"(\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?\s*(?:Z|[+-]\d{2}:?\d{2})?)"
DATE = re.compile(rf"(\d{{4}})[-/](\d{{1,2}})[-/](\d{{1,2}})(?:[T ]{CLOCK})?")
DURATION = re.compile(r"(?:([+-]?\d+) days?,? ?)?(?:(\d+):(\d{2})(?::(\d{2}(?:\.\d+)?))?)?")
DAY = 86_400.0  # seconds
TIMES = {"date": pa.timestamp("us"), "duration": pa.duration("us"), "time": pa.time64("us")}


@dataclass(frozen=True)
class Column:
    """A table column, converted to numbers, times or categories."""

    name: str
    kind: str  # "number", "date", "duration", "time" or "text"
    values: pa.ChunkedArray  # float64, one of the types `TIMES`, or a dictionary of text
    present: int  # the number of values that are not missing in the file
    bad: Counter[str]  # the words that became missing, with their counts
    padded: int = 0  # the number of values that begin with a zero, if that makes them codes


def read_column(name: str, values: Any, kind: str | None = None, decimal: str = ".") -> Column:
    """Return a column converted to a kind, such as number or text; None means the kind of nearly all values."""
    if kind is None and pa.types.is_dictionary(values.type):
        kind = "text"  # the file declares them categories
    values, padded = as_plain_column(values, name), 0
    present = len(values) - values.null_count
    if kind is None:
        kind = find_kind(values, decimal)
        padded = count_padded(values) if kind == "number" else 0
        if padded and padded >= CODES * present:
            kind = "text"
    found, wrong = convert(values, kind, decimal)
    return Column(name, kind, found, present, Counter(map(str, wrong.to_pylist())), padded if kind == "text" else 0)


def as_plain_column(values: Any, name: str) -> pa.ChunkedArray:
    """Return a column with dictionaries decoded and all text as ``string``; raise if no feature can have its type."""
    values = values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([values])
    kind = values.type
    if pa.types.is_dictionary(kind):
        return as_plain_column(values.cast(kind.value_type), name)
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return values.cast(pa.string())
    known = (pa.types.is_string, pa.types.is_boolean, pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
    times = (pa.types.is_date, pa.types.is_timestamp, pa.types.is_duration, pa.types.is_time, pa.types.is_null)
    if not any(test(kind) for test in known + times):
        raise InputError(f"column {name!r} is of type {kind}, which is neither a number, a date nor text; --drop it.")
    return values


def find_kind(values: pa.ChunkedArray, decimal: str) -> str:
    """Return the kind that nearly all values of a column have, such as number or date; otherwise text."""
    if pa.types.is_temporal(values.type):
        return "duration" if pa.types.is_duration(values.type) else "time" if pa.types.is_time(values.type) else "date"
    if not pa.types.is_string(values.type):
        return "number"
    present = len(values) - values.null_count
    for kind in ("number", "date"):
        if present - len(convert(values, kind, decimal)[1]) >= NEARLY_ALL * present:
            return kind
    return "text"


def count_padded(values: pa.ChunkedArray) -> int:
    """Return how many values are text such as 06000, a whole number that begins with a zero."""
    if not pa.types.is_string(values.type):
        return 0
    first = values.filter(pc.starts_with(pc.ascii_ltrim_whitespace(values), "0"))
    return int(pc.sum(pc.match_substring_regex(first, r"^\s*0\d+\s*$")).as_py() or 0)


# ---- conversions ----------------------------------------------------------------------------------------------------


def convert(values: pa.ChunkedArray, kind: str, decimal: str) -> tuple[pa.ChunkedArray, pa.ChunkedArray]:
    """Return two columns: values converted to a kind, null if missing or invalid, and the invalid original values."""
    if kind == "text":
        return as_text(values).dictionary_encode(), pa.chunked_array([], pa.string())
    if not pa.types.is_string(values.type):
        values = numbers = as_floats(values)
    elif kind != "number":
        values = as_text(values)
        words = values.unique()
        days = [None if word is None else PARSERS[kind](word) for word in words.to_pylist()]
        numbers = pa.array(days, pa.float64()).take(pc.index_in(values, words))
    else:
        if decimal == ",":
            values = pc.replace_substring_regex(values, r"^(\s*[+-]?\d*),(\d)", r"\1.\2")
        values, numbers = parse_numbers(values)
    finite = pc.fill_null(pc.is_finite(numbers), False)
    wrong = values.filter(pc.and_(values.is_valid(), pc.invert(finite)))
    numbers = pc.if_else(finite, numbers, None)
    if kind in TIMES:
        numbers = pc.round(pc.multiply(numbers, DAY * 1e6)).cast(pa.int64()).cast(TIMES[kind])
    return numbers, wrong


def as_text(values: Any) -> Any:
    """Return values as text without surrounding spaces; empty text and NaN become null."""
    if pa.types.is_floating(values.type):
        values = pc.if_else(pc.is_nan(values), None, values)
    text = pc.utf8_trim_whitespace(values.cast(pa.string()))
    return pc.if_else(pc.equal(text, ""), None, text)


def as_floats(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return numbers, truth values or times as float64; times become days, and NaN becomes null."""
    kind = values.type
    if pa.types.is_boolean(kind):
        return values.cast(pa.int8()).cast(pa.float64())
    if not pa.types.is_temporal(kind):
        numbers = values.cast(pa.float64(), safe=False)
        return pc.if_else(pc.is_nan(numbers), None, numbers)
    if pa.types.is_date(kind):
        values, kind = values.cast(pa.timestamp("ms")), pa.timestamp("ms")
    whole = values.cast(pa.int32()) if pa.types.is_time32(kind) else values
    per_day = DAY * {"s": 1, "ms": 1e3, "us": 1e6, "ns": 1e9}[kind.unit]
    return pc.divide(whole.cast(pa.int64()).cast(pa.float64(), safe=False), per_day)


def parse_numbers(values: pa.ChunkedArray) -> tuple[pa.ChunkedArray, pa.ChunkedArray]:
    """Return two columns: words, and their numbers: 1 for true, 0 for false, null for words that are no numbers."""
    try:
        return values, values.cast(pa.float64())  # quick, and usual
    except pa.ArrowInvalid:
        words = text = as_text(values)
    low = pc.utf8_lower(text)
    text = pc.if_else(pc.equal(low, "true"), "1", pc.if_else(pc.equal(low, "false"), "0", text))
    text = pc.if_else(pc.match_substring_regex(text, NUMBER), text, None)
    return words, pc.replace_substring_regex(text, r"^\+", "").cast(pa.float64())


def day_of(word: str) -> float | None:
    """Return a date such as "2024-05-31 12:00+02:00" as days since 1970; None for other text."""
    found = DATE.fullmatch(word)
    if found is None:
        return None
    year, month, day, time = found.groups(default="00:00")
    hour, minutes = time.split(":", 1)
    try:
        moment = datetime.fromisoformat(f"{year}-{month:0>2}-{day:0>2}T{hour:0>2}:{minutes.replace(' ', '')}")
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() / DAY


def duration_of(word: str) -> float | None:
    """Return a duration such as "2 days 07:30:00" in days; None for other text."""
    found = DURATION.fullmatch(word)
    if found is None or not word:
        return None
    days, hours, minutes, seconds = (float(part or 0) for part in found.groups())
    return days + (hours * 3600 + minutes * 60 + seconds) / DAY


def time_of(word: str) -> float | None:
    """Return a time of day such as "07:30" as a fraction of a day; None for other text."""
    part = duration_of(word)
    return part if part is not None and ":" in word and 0 <= part < 1 else None


PARSERS = {"date": day_of, "duration": duration_of, "time": time_of}


# ---- the target column ----------------------------------------------------------------------------------------------

INTEGER = re.compile(r"-?(0|[1-9]\d{0,17})")


def find_column(name: str | None, columns: list[str], option: str = "--target", by_position: bool = True) -> str:
    """Return a column's name, given its name, its position (1 is the first, -1 the last) or None for the last one."""
    if name is None:
        return columns[-1]
    if name in columns:
        return name
    if by_position and re.fullmatch(r"-?\d+", name) and 1 <= abs(int(name)) <= len(columns):
        return columns[int(name) - (int(name) > 0)]
    shown = ", ".join(columns[:12]) + (f", … ({len(columns)} in all)" if len(columns) > 12 else "")
    hint = did_you_mean(name, columns) or f"; there are {shown}."
    raise InputError(f"{option} {name!r}: there is no such column{hint}")


def label_words(values: Any, name: str) -> Any:
    """Return labels as text; floats have no fraction if all are whole numbers, truth values are True or False."""
    values = as_plain_column(values, name)
    if pa.types.is_boolean(values.type):
        return pc.if_else(values, "True", "False")
    if pa.types.is_floating(values.type):
        numbers = values.to_numpy()
        known = np.isfinite(numbers)
        if (numbers[known] == np.rint(numbers[known])).all():
            values = pa.array(np.where(known, numbers, 0).astype(np.int64), mask=~known)
    return as_text(values)


def read_labels(values: Any, name: str) -> tuple[AnyArray, Mask]:
    """Return the labels of the labelled rows, all whole numbers or all text, and the mask (n,) of these rows."""
    words = label_words(values, name)
    present = words.drop_null()
    classes = present.unique()
    labels = np.array(classes.to_pylist(), dtype=str)
    if len(labels) and all(map(INTEGER.fullmatch, labels)):
        labels = labels.astype(np.int64)
    return labels[pc.index_in(present, classes)], np.asarray(words.is_valid())


def codes_of(words: Any, classes: AnyArray) -> tuple[Labels, Mask]:
    """Return the class index (n,) of every label, −1 for unknown labels, and the mask (n,) of rows with labels."""
    known = {str(label): k for k, label in enumerate(classes.tolist())}
    if classes.dtype.kind in "fb":  # 1.0 is written 1, too
        known |= {f"{float(label):g}": k for k, label in enumerate(classes.tolist())}
    if {word.lower() for word in known} >= {"true", "false"}:  # which programs write in different ways
        known |= {spelt(word): k for word, k in list(known.items()) for spelt in (str.lower, str.upper, str.capitalize)}
    labels = words.unique()
    numbers = np.array([known.get(label, -1) for label in labels.to_pylist()], dtype=np.intp)
    return numbers[pc.index_in(words, labels)], np.asarray(words.is_valid())


def check_target(y: AnyArray, name: str, talk: Talk) -> None:
    """Raise unless y has at least two classes and looks like classes, not like a quantity; warn of rare classes."""
    classes, counts = np.unique(y, return_counts=True)
    if len(y) == 0:
        raise InputError(f"no row has a label in column {name!r}.")
    if len(classes) == 1:
        raise InputError(f"column {name!r} has one class only ({str(classes[0])!r}); a classifier needs at least two.")
    fractions = classes.dtype.kind == "U" and all(re.match(NUMBER, word) for word in classes[:1000])
    rare = 3 * len(classes) > len(y)
    if len(classes) > QUANTITY and (fractions or (classes.dtype.kind == "i" and rare)):
        raise InputError(
            f"column {name!r} has {len(classes)} different numbers in {len(y)} rows: that is a quantity, not a class. "
            "Simplexboost classifies; choose another --target, or divide it into classes first."
        )
    if len(classes) > QUANTITY and rare:
        talk.warn(f"column {name!r} has {len(classes)} classes in {len(y)} rows; is it the right --target?")
    alone = int((counts == 1).sum())
    if alone:
        which = f"class {str(classes[counts == 1][0])!r} has" if alone == 1 else f"{alone} classes have"
        talk.warn(f"{which} a single row: enough to fit, not to tell how well it is recognised.")


def as_frame(X: Any, classifier: Any) -> Any:
    """Return X (n, p), a table or a sparse matrix, in a form that the classifier takes.

    A table becomes an array if the classifier was fitted without names; a sparse matrix becomes dense if necessary.
    """
    if isinstance(X, pa.Table):
        nameless = hasattr(classifier, "classes_") and not hasattr(classifier, "feature_names_in_")
        return np.column_stack([column.to_numpy() for column in X.columns]) if nameless else X
    return X if get_tags(classifier).input_tags.sparse else X.toarray()
