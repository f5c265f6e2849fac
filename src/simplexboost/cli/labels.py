"""The target column → labels, as they are written in the file."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .._typing import AnyArray, Labels, Mask
from ..data.labels import QUANTITY
from .errors import InputError, did_you_mean
from .kinds import as_text, plain
from .talk import Talk

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
