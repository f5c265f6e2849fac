"""What members send: answers whose pieces are added, compared or collected on their way to the leader."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from .._typing import AnyArray

INTEGERS = (np.int8, np.int16, np.int32, np.int64)


@dataclass(frozen=True, eq=False)
class Trimmed:
    """An array of numbers in few bytes; rows of a matrix of integers have the smallest type that holds them.

    Attributes
    ----------
    shape, dtype : of the array
    parts : rows, or None for all of them, and their numbers
    """

    shape: tuple[int, ...]
    dtype: Any
    parts: Sequence[tuple[AnyArray | None, AnyArray]]

    @property
    def n_numbers(self) -> int:
        """The number of numbers."""
        return int(np.prod(self.shape))

    @property
    def n_bytes(self) -> int:
        """The bytes of these numbers."""
        return sum(int(numbers.nbytes) for _, numbers in self.parts)


def trimmed(values: AnyArray) -> Trimmed:
    """Integers in as many bytes as the largest of them needs; row by row, if they are a matrix.

    Examples
    --------
    >>> small = trimmed(np.array([[3, -200], [1, 2]]))
    >>> [(rows.tolist(), numbers.dtype.name) for rows, numbers in small.parts], small.n_bytes
    ([([1], 'int8'), ([0], 'int16')], 6)
    """
    signed = values.view(np.int64) if values.dtype == np.uint64 else values  # sums of two's complements wrap around
    if not signed.size or signed.dtype.kind != "i":
        return Trimmed(values.shape, values.dtype, [(None, signed)])
    table = signed if signed.ndim == 2 else signed.reshape(1, -1)
    width = widths(table)  # (rows,)
    found = np.unique(width)
    if len(found) == 1:
        return Trimmed(values.shape, values.dtype, [(None, signed.astype(INTEGERS[found[0]], copy=False))])
    rows = [np.flatnonzero(width == w) for w in found]
    parts = [(r, table[r].astype(INTEGERS[w])) for r, w in zip(rows, found.tolist(), strict=True)]
    return Trimmed(values.shape, values.dtype, parts)


def widths(table: AnyArray) -> AnyArray:
    """For every row of integers the place in `INTEGERS` of the smallest type that holds it."""
    low, high = table.min(axis=1), table.max(axis=1)
    fits = [(np.iinfo(t).min <= low) & (high <= np.iinfo(t).max) for t in INTEGERS]
    return np.argmax(fits, axis=0)


def plain(value: Any) -> Any:
    """An array as it was before it was trimmed."""
    if not isinstance(value, Trimmed):
        return value
    wide = np.dtype(np.int64) if value.dtype == np.uint64 else value.dtype
    if value.parts[0][0] is None:
        return value.parts[0][1].astype(wide, copy=False).view(value.dtype)
    out = np.empty(value.shape, dtype=wide)
    for rows, numbers in value.parts:
        out[rows] = numbers
    return out.view(value.dtype)


def added(a: Any, b: Any) -> Any:
    """The sum of two arrays."""
    return np.add(a, b)


WAYS: dict[str, Callable[[Any, Any], Any]] = {
    "sum": added,
    "max": np.maximum,
    "any": np.bitwise_or,
    "list": list.__add__,  # of (place, value): places order them in the end
}


@dataclass(frozen=True, eq=False)
class Answer:
    """What one or several members say.

    Attributes
    ----------
    what : the question, in words; all members must answer the same one
    ways : for each piece one of `WAYS`
    pieces : the values
    """

    what: str
    ways: tuple[str, ...] = ()
    pieces: tuple[Any, ...] = ()

    def packed(self) -> Answer:
        """The answer in as few bytes as possible."""
        small = [trimmed(np.asarray(p)) if w == "sum" else p for w, p in zip(self.ways, self.pieces, strict=True)]
        return Answer(self.what, self.ways, tuple(small))

    def unpacked(self) -> Answer:
        """The answer as it was."""
        return Answer(self.what, self.ways, tuple(plain(piece) for piece in self.pieces))

    @property
    def n_numbers(self) -> int:
        """The numbers that are summed or compared."""
        kept = (p for way, p in zip(self.ways, self.pieces, strict=True) if way != "list")
        return sum(piece.n_numbers if isinstance(piece, Trimmed) else int(np.size(piece)) for piece in kept)

    @property
    def n_bytes(self) -> int:
        """The bytes of its arrays, as they are."""
        return sum(size_of(piece) for piece in self.pieces)


@dataclass(frozen=True, eq=False)
class Milestone:
    """A message of the leader that ends a piece of work; a member that replays the past can see how many lie ahead."""

    message: Any


@dataclass(frozen=True, eq=False)
class Failure:
    """An error in the program of a member."""

    error: BaseException
    who: str


def combined(answers: Sequence[Answer | Failure]) -> Answer | Failure:
    """The answer of several members together; the first failure, if there is one."""
    for answer in answers:
        if isinstance(answer, Failure):
            return answer
    return reduce(together, answers) if len(answers) > 1 else answers[0]  # type: ignore[arg-type]


def together(a: Answer, b: Answer) -> Answer:
    """The answer of two."""
    if a.what != b.what or a.ways != b.ways:
        raise RuntimeError(f"members are out of step: one answers {a.what!r}, another {b.what!r}.")
    pieces = (WAYS[way](x, y) for way, x, y in zip(a.ways, a.pieces, b.pieces, strict=True))
    return Answer(a.what, a.ways, tuple(pieces))


def in_order(pieces: list[tuple[Any, Any]]) -> list[Any]:
    """The values of a collected piece, by their places."""
    return [value for _, value in sorted(pieces, key=lambda entry: entry[0])]


def size_of(value: Any) -> int:
    """The bytes of a value on its way: those of its arrays, and of everything else as it is pickled."""
    if isinstance(value, Trimmed):
        return value.n_bytes
    if isinstance(value, np.ndarray) and value.dtype != object:
        return int(value.nbytes)
    if isinstance(value, list | tuple):
        return sum(size_of(entry) for entry in value)
    if isinstance(value, dict):
        return sum(size_of(entry) for entry in value.values())
    if isinstance(value, Milestone):
        return size_of(value.message)
    return 0 if value is None else len(pickle.dumps(value))
