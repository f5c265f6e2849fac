"""Conversion of columns of text to numbers, dates or categories, and of the target column to labels.

A column of text holds numbers if nearly all of its values do (90 %): a few words such as "unknown" among numbers become
missing values, and the user is told. Likewise for dates in the order year, month, day; those in another order are not
guessed, because 3/4/2024 may mean two days. All other text is categories, and so are numbers of which one in a hundred
begins with a zero, such as 06000: they are codes. Labels stay as they are written in the file.

Examples
--------
>>> import pyarrow as pa
>>> column = Column("age")
>>> column.add(pa.array(["31", "unknown", None, *["40"] * 20]))
>>> column.finish().to_pylist()[:4], column.bad
([31.0, None, None, 40.0], Counter({'unknown': 1}))
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
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
DATE = re.compile(r"\d{4}[-/]\d{1,2}[-/]\d{1,2}([T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?\s*(Z|[+-]\d{2}:?\d{2})?)?")
DURATION = re.compile(r"(?:([+-]?\d+) days?,? ?)?(?:(\d+):(\d{2})(?::(\d{2}(?:\.\d+)?))?)?")
DAY = 86_400.0  # seconds
TIMES = {"date": pa.timestamp("us"), "duration": pa.duration("us"), "time": pa.time64("us")}


class TurnedTextError(Exception):
    """A column began with numbers or dates, but most of its later values are words: it must be read again."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


@dataclass
class Column:
    """Gathers the blocks of a column.

    Attributes
    ----------
    name : of the column
    kind : "number", "date", "duration", "time" or "text"; None until a value is seen
    fixed : whether the kind was given rather than guessed
    decimal : what stands between the whole part of a number and its fraction, "." or ","
    bad : the words that became missing, with their counts
    present : how many values are not missing
    padded : how many of them are whole numbers that begin with a zero
    coded : whether all would be numbers but for these
    """

    name: str
    kind: str | None = None
    fixed: bool = False
    decimal: str = "."
    bad: Counter[str] = field(default_factory=Counter)
    present: int = 0
    padded: int = 0
    coded: bool = False
    _parts: list[pa.Array] = field(default_factory=list)

    def add(self, values: Any) -> None:
        """Convert another block of values."""
        if self.kind is None and pa.types.is_dictionary(values.type):
            self.kind, self.fixed = "text", True  # whoever wrote the file declared them categories
        values = plain(values, self.name)
        if self.kind is None and values.null_count < len(values):
            self.kind = guess(values, self.decimal)
        self.present += len(values) - values.null_count
        self.padded += n_padded(values)
        if self.kind == "text":
            self._parts.append(as_text(values).dictionary_encode())
        elif self.kind is None:
            self._parts.append(pa.nulls(len(values)))
        else:
            numbers, bad = as_numbers(values, self.kind, self.decimal)
            self.bad.update(bad)
            self._parts.append(numbers)

    def finish(self) -> pa.ChunkedArray:
        """The column: float64, dates and other times, or a dictionary of text.

        Raises `TurnedTextError` if most later values are words, and the earlier ones have been converted already.
        """
        if self.kind != "text" and not self.fixed and (too_many(self.bad, self.present) or self.is_code):
            raise TurnedTextError(self.name)
        if self.kind == "text":
            whole = joined(self._parts, pa.dictionary(pa.int32(), pa.string())).unify_dictionaries()
            better = None if self.fixed else mostly(whole, self.decimal)
            self.coded = better == "number" and self.is_code
            if better is None or self.coded:
                return whole
            self.kind = better
            numbers, self.bad = as_numbers(whole.combine_chunks().cast(pa.string()), better, self.decimal)
            self._parts = [numbers]
        self.kind = self.kind or "number"
        column = joined(self._parts, pa.float64())
        return as_times(column, TIMES[self.kind]) if self.kind in TIMES else column

    @property
    def is_code(self) -> bool:
        """Whether so many values are numbers that begin with a zero that all are codes."""
        return self.padded > 0 and self.padded >= CODES * self.present


def n_padded(values: pa.Array) -> int:
    """How many values are text such as 06000, a whole number that begins with a zero.

    Examples
    --------
    >>> n_padded(pa.array(["06000", " 007 ", "0", "0.5", "75001", "0x", None]))
    2
    """
    if not pa.types.is_string(values.type):
        return 0
    first = values.filter(pc.starts_with(pc.ascii_ltrim_whitespace(values), "0"))
    return int(pc.sum(pc.match_substring_regex(first, r"^\s*0\d+\s*$")).as_py() or 0)


def joined(parts: list[pa.Array], kind: pa.DataType) -> pa.ChunkedArray:
    """The blocks of a column together; those from before the first value have no type yet."""
    whole = [pa.nulls(len(part), kind) if pa.types.is_null(part.type) else part.cast(kind) for part in parts]
    return pa.chunked_array(whole, kind)


def plain(values: Any, name: str) -> pa.Array:
    """A block as an array of text, numbers or times; raise for what a table of features cannot hold."""
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    kind = values.type
    if pa.types.is_dictionary(kind):
        return plain(values.cast(kind.value_type), name)
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return values.cast(pa.string())
    known = (pa.types.is_string, pa.types.is_boolean, pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
    times = (pa.types.is_date, pa.types.is_timestamp, pa.types.is_duration, pa.types.is_time, pa.types.is_null)
    if not any(test(kind) for test in known + times):
        raise InputError(f"column {name!r} is of type {kind}, which is neither a number, a date nor text; --drop it.")
    return values


def guess(values: pa.Array, decimal: str) -> str:
    """The kind of a block that has values."""
    kind = values.type
    if pa.types.is_temporal(kind):
        return "duration" if pa.types.is_duration(kind) else "time" if pa.types.is_time(kind) else "date"
    if not pa.types.is_string(kind):
        return "number"
    if n_padded(values) >= max(1, CODES * (len(values) - values.null_count)):
        return "text"
    for candidate in ("number", "date"):
        _, bad = as_numbers(values, candidate, decimal)
        if not too_many(bad, len(values) - values.null_count):
            return candidate
    return "text"


def too_many(bad: Counter[str], present: int) -> bool:
    """Whether more values are of another kind than a few exceptions."""
    return sum(bad.values()) > (1 - NEARLY_ALL) * present


def mostly(column: pa.ChunkedArray, decimal: str) -> str | None:
    """What a whole column of text holds, if nearly all of it is numbers or dates; else None."""
    counts = column.combine_chunks().cast(pa.string()).value_counts()
    words, rows = counts.field(0), np.asarray(counts.field(1))
    known = np.asarray(words.is_valid())
    for candidate in ("number", "date"):
        is_one = known & np.isfinite(as_numbers(words, candidate, decimal)[0].to_numpy(zero_copy_only=False))
        if rows[is_one].sum() >= NEARLY_ALL * rows[known].sum() > 0:
            return candidate
    return None


def as_times(days: Any, kind: pa.DataType) -> Any:
    """Days as dates, durations or times of day, to the microsecond."""
    return pc.round(pc.multiply(days, DAY * 1e6)).cast(pa.int64()).cast(kind)


# ---- conversions ----------------------------------------------------------------------------------------------------


def as_text(values: pa.Array) -> pa.Array:
    """Any values as text, without spaces around it; empty text is missing."""
    if pa.types.is_floating(values.type):
        values = pc.if_else(pc.is_nan(values), None, values)
    text = pc.utf8_trim_whitespace(values.cast(pa.string()))
    return pc.if_else(pc.equal(text, ""), None, text)


def as_numbers(values: pa.Array, kind: str, decimal: str) -> tuple[pa.Array, Counter[str]]:
    """Values as numbers (dates: days since 1970), null where missing; and the words that are none, with their counts.

    Infinite numbers count among the words.
    """
    if pa.types.is_string(values.type):
        if decimal == ",":
            values = pc.replace_substring_regex(values, r"^(\s*[+-]?\d*),(\d)", r"\1.\2")
        numbers, bad = parsed_numbers(values) if kind == "number" else parsed_times(values, PARSERS[kind])
    else:
        numbers, bad = converted(values), Counter()
    finite = pc.fill_null(pc.is_finite(numbers), True)
    if not pc.all(finite).as_py():
        infinite = pc.is_inf(numbers)
        bad = bad + Counter(str(value) for value in numbers.filter(infinite).to_pylist())
        numbers = pc.if_else(finite, numbers, None)
    return numbers, bad


def converted(values: pa.Array) -> pa.Array:
    """Typed values as float64; times as days."""
    kind = values.type
    if pa.types.is_boolean(kind):
        return values.cast(pa.int8()).cast(pa.float64())
    if not pa.types.is_temporal(kind):
        return values.cast(pa.float64(), safe=False)
    if pa.types.is_date(kind):
        values, kind = values.cast(pa.timestamp("ms")), pa.timestamp("ms")
    whole = values.cast(pa.int32()) if pa.types.is_time32(kind) else values
    per_day = DAY * {"s": 1, "ms": 1e3, "us": 1e6, "ns": 1e9}[kind.unit]
    return pc.divide(whole.cast(pa.int64()).cast(pa.float64(), safe=False), per_day)


def parsed_numbers(values: pa.Array) -> tuple[pa.Array, Counter[str]]:
    """Text as numbers; true and false are 1 and 0."""
    try:
        return values.cast(pa.float64()), Counter()  # quick, and usual
    except pa.ArrowInvalid:
        pass
    text = as_text(values)
    low = pc.utf8_lower(text)
    text = pc.if_else(pc.equal(low, "true"), "1", pc.if_else(pc.equal(low, "false"), "0", text))
    good = pc.match_substring_regex(text, NUMBER)
    numbers = pc.replace_substring_regex(pc.if_else(good, text, None), r"^\+", "").cast(pa.float64())
    return numbers, words_of(text.filter(pc.fill_null(pc.invert(good), False)))


def parsed_times(values: pa.Array, parse: Callable[[str], float | None]) -> tuple[pa.Array, Counter[str]]:
    """Text as days, by a function that takes a word; every different word is parsed once."""
    coded = as_text(values).dictionary_encode()
    words = coded.dictionary
    days = pa.array([parse(word) for word in words.to_pylist()], pa.float64())
    is_bad = days.is_null().take(coded.indices)
    bad = words_of(words.take(coded.indices).filter(pc.fill_null(is_bad, False)))
    return days.take(coded.indices), bad


def day_of(word: str) -> float | None:
    """A date in days since 1970: year, month, day, perhaps a time and an offset from UTC; None if it is no such day."""
    if not DATE.fullmatch(word):
        return None
    day, _, time = word.replace("/", "-").replace("T", " ").partition(" ")
    year, month, date = (int(part) for part in day.split("-"))
    try:
        parsed = datetime(year, month, date, tzinfo=UTC)
        if time:
            clock = datetime.fromisoformat(f"{parsed:%Y-%m-%d} {time.strip().zfill(5)}")
            parsed = clock if clock.tzinfo else clock.replace(tzinfo=UTC)
    except ValueError:
        return None
    return parsed.timestamp() / DAY


def duration_of(word: str) -> float | None:
    """A duration in days, as in "2 days 07:30:00"; None if it is none."""
    found = DURATION.fullmatch(word)
    if found is None or not word:
        return None
    days, hours, minutes, seconds = (float(part or 0) for part in found.groups())
    return days + (hours * 3600 + minutes * 60 + seconds) / DAY


def time_of(word: str) -> float | None:
    """A time of day as a part of the day; None if it is none."""
    part = duration_of(word)
    return part if part is not None and ":" in word and 0 <= part < 1 else None


PARSERS = {"date": day_of, "duration": duration_of, "time": time_of}


def words_of(values: pa.Array) -> Counter[str]:
    """Words and their counts."""
    counts = values.value_counts()
    return Counter(dict(zip(counts.field(0).to_pylist(), counts.field(1).to_pylist(), strict=True)))


# ---- the target column ----------------------------------------------------------------------------------------------

INTEGER = re.compile(r"-?(0|[1-9]\d{0,17})")


def find_column(name: str | None, columns: list[str], option: str = "--target") -> str:
    """A column by its name, else by its position, which counts from 1, or from -1 at the end; None is the last one."""
    if name is None:
        return columns[-1]
    if name in columns:
        return name
    if re.fullmatch(r"-?\d+", name) and 1 <= abs(int(name)) <= len(columns):
        position = int(name)
        return columns[position - 1 if position > 0 else position]
    raise InputError(
        f"{option} {name!r}: there is no such column{did_you_mean(name, columns) or f'; there are {shown(columns)}.'}"
    )


def shown(columns: list[str]) -> str:
    """Names of columns, not too many."""
    return ", ".join(columns[:12]) + (f", … ({len(columns)} in all)" if len(columns) > 12 else "")


@dataclass
class Target:
    """Gathers the labels of a file."""

    name: str
    _parts: list[pa.Array] = field(default_factory=list)

    def add(self, values: Any) -> None:
        """Another block."""
        self._parts.append(label_words(values, self.name).dictionary_encode())

    def finish(self) -> tuple[AnyArray, Mask]:
        """The labels (n,) of the rows that have one, whole numbers as such and others as text; and which rows do."""
        words = pa.chunked_array(self._parts, pa.dictionary(pa.int32(), pa.string())).unify_dictionaries()
        whole = words.combine_chunks()
        if isinstance(whole, pa.ChunkedArray):  # as some versions of pyarrow give it
            whole = whole.chunk(0)
        labelled = np.asarray(whole.is_valid())
        classes = np.array(whole.dictionary.to_pylist(), dtype=object)
        codes = np.asarray(whole.indices.filter(whole.is_valid()))
        if len(classes) and all(INTEGER.fullmatch(word) for word in classes):
            return classes.astype(np.int64)[codes], labelled
        return classes[codes].astype(str) if len(codes) else np.array([], dtype=str), labelled


def label_words(values: Any, name: str) -> pa.Array:
    """Labels as text: whole numbers of floating point without a fraction, True and False as Python writes them."""
    values = plain(values, name)
    if pa.types.is_boolean(values.type):
        return pc.if_else(values, "True", "False")
    if pa.types.is_floating(values.type):
        numbers = values.to_numpy(zero_copy_only=False)
        known = np.isfinite(numbers)
        if (numbers[known] == np.rint(numbers[known])).all():
            values = pa.array(np.where(known, numbers, 0).astype(np.int64), mask=~known)
    return as_text(values)


def check_target(y: AnyArray, name: str, talk: Talk) -> None:
    """Raise unless y holds classes: at least two, and not a quantity."""
    classes, counts = np.unique(y, return_counts=True)
    if len(y) == 0:
        raise InputError(f"no row has a label in column {name!r}.")
    if len(classes) == 1:
        raise InputError(f"column {name!r} has one class only ({str(classes[0])!r}); a classifier needs at least two.")
    fractions = classes.dtype.kind == "U" and all(is_number(word) for word in classes[:1000])
    numbers = fractions or classes.dtype.kind == "i"
    rare = 3 * len(classes) > len(y)
    if len(classes) > QUANTITY and numbers and (fractions or rare):
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


def is_number(word: str) -> bool:
    """Whether a word is a number."""
    try:
        float(word)
    except ValueError:
        return False
    return True


def codes_of(words: pa.Array, classes: AnyArray) -> tuple[Labels, Mask]:
    """The numbers of labels among a model's classes, (n,), −1 for labels it does not know; and which rows have one."""
    coded = words.dictionary_encode()
    known = {str(label): k for k, label in enumerate(classes.tolist())}
    if classes.dtype.kind in "fb":  # 1.0 is written 1, too
        known |= {f"{float(label):g}": k for k, label in enumerate(classes.tolist())}
    if {word.lower() for word in known} >= {"true", "false"}:  # which programs write in different ways
        known |= {spelt(word): k for word, k in list(known.items()) for spelt in (str.lower, str.upper, str.capitalize)}
    numbers = np.array([known.get(word, -1) for word in coded.dictionary.to_pylist()], dtype=np.intp)
    labelled = np.asarray(coded.is_valid())
    out = np.full(len(words), -1, dtype=np.intp)
    out[labelled] = numbers[np.asarray(coded.indices.filter(coded.is_valid()))] if len(numbers) else -1
    return out, labelled


# ---- tables as estimators take them ---------------------------------------------------------------------------------


def as_frame(X: Any, classifier: Any) -> Any:
    """A table or a sparse matrix in the form that the classifier takes; (n, p).

    That is a table without its names if it was fitted without names, and a dense matrix if it takes no other.
    """
    if isinstance(X, pa.Table):
        nameless = hasattr(classifier, "classes_") and not hasattr(classifier, "feature_names_in_")
        return np.column_stack([column.to_numpy() for column in X.columns]) if nameless else X
    return X if get_tags(classifier).input_tags.sparse else X.toarray()
