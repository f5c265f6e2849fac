"""A table whose rows are elsewhere, as `features` needs it: the kind and the distinct values of every column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._cached import cached
from .._typing import AnyArray
from .columns import Column, Tally, sorted_categories
from .tables import Table


@dataclass(frozen=True, eq=False)
class Digest:
    """A column without its rows.

    Attributes
    ----------
    label : the name or the position, for messages
    kind : one of the keys of `columns.WORDS`
    empty : whether all values are missing
    distinct : the distinct values of text, of categories, and of columns that the user declares categorical; else none
    dtype : the type of its numbers
    """

    label: str
    kind: str
    empty: bool
    distinct: Tally
    dtype: Any

    @property
    def name(self) -> str:
        """The name in quotation marks, or the position."""
        return self.label.removeprefix("column ")

    @cached
    def categories(self) -> Tally:
        """The distinct values in the form in which categories are kept, sorted."""
        found = self.distinct
        values, inverse = sorted_categories(found, self.label)
        counts, first = np.zeros(len(values), dtype=np.int64), np.empty((len(values), 2), dtype=np.int64)
        np.add.at(counts, inverse, found.counts)
        latest_first = np.lexsort((found.first[:, 1], found.first[:, 0]))[::-1]
        first[inverse[latest_first]] = found.first[latest_first]  # of several assignments the last one counts
        return Tally(values, counts, first)


@dataclass(frozen=True, eq=False)
class Digests:
    """A table without its rows: the digests of its columns, and what `Table` says of the names."""

    columns: list[Digest]
    n: int
    names: list[Any] | None = None
    by_name: str = Table.by_name

    @property
    def typed(self) -> bool:
        """Whether columns have types of their own, as those of frames do."""
        return self.names is not None


def digest(column: Column, declared: bool, partition: int) -> Digest:
    """What is to be known of a column in one partition; of a declared one, the kind does not matter."""
    if declared:
        return Digest(column.label, "category", not column.distinct.values, tally(column, partition), np.float64)
    if column.kind in ("text", "category"):
        return Digest(column.label, column.kind, False, tally(column, partition), np.float64)
    nothing = Tally([], np.empty(0, dtype=np.int64), np.empty((0, 2), dtype=np.int64))
    return Digest(column.label, column.kind, column.empty, nothing, column.numbers().dtype)


def tally(column: Column, partition: int) -> Tally:
    """The distinct values of a column in one partition."""
    found = column.distinct
    return Tally(found.values, found.counts, np.column_stack([np.full(len(found.values), partition), found.first]))


def merged(tallies: list[Tally]) -> Tally:
    """The distinct values of several partitions, in the order in which they stand first.

    Examples
    --------
    >>> a = Tally(["x", "y"], np.array([3, 1]), np.array([[0, 5], [0, 0]]))
    >>> b = Tally(["z", "x"], np.array([2, 2]), np.array([[1, 0], [1, 1]]))
    >>> both = merged([b, a])
    >>> both.values, both.counts.tolist(), both.first.tolist()
    (['y', 'x', 'z'], [1, 5, 2], [[0, 0], [0, 5], [1, 0]])
    """
    found: dict[Any, tuple[tuple[int, int], int]] = {}
    for one in tallies:
        for value, count, row in zip(one.values, one.counts.tolist(), map(tuple, one.first.tolist()), strict=True):
            place, before = found.get(value, (row, 0))
            found[value] = (min(place, row), before + count)
    ordered = sorted(found.items(), key=lambda item: item[1][0])
    return Tally(
        [value for value, _ in ordered],
        np.array([count for _, (_, count) in ordered], dtype=np.int64),
        np.array([place for _, (place, _) in ordered], dtype=np.int64).reshape(-1, 2),
    )


def digest_columns(table: Table, declared: AnyArray, partition: int) -> list[Digest]:
    """The digests of all columns of one partition; ``declared`` (p,) says which the user declares categorical."""
    return [digest(column, bool(one), partition) for column, one in zip(table.columns, declared, strict=True)]
