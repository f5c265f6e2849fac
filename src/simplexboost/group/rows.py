"""Which of all rows a member has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from .._typing import AnyArray


@dataclass(frozen=True)
class Share:
    """The rows here, among n in all: segments [begin, end) of their numbers, ascending; one after another here.

    Examples
    --------
    >>> share = Share(10, ((2, 5), (8, 10)))
    >>> share.size, share.here(np.array([0, 2, 4, 7, 9])).tolist()
    (5, [0, 2, 4])
    >>> share.of(np.array([0, 2, 4, 7, 9]))
    Share(n=5, segments=((1, 3), (4, 5)))
    """

    n: int
    segments: tuple[tuple[int, int], ...]

    @property
    def size(self) -> int:
        """The number of rows here."""
        return sum(end - begin for begin, end in self.segments)

    def here(self, rows: AnyArray) -> AnyArray:
        """Those of some rows (ascending numbers among all) that are here, by their numbers here."""
        parts, first = [np.empty(0, dtype=np.int64)], 0
        for begin, end in self.segments:
            low, high = np.searchsorted(rows, [begin, end])
            parts.append(np.asarray(rows[low:high], dtype=np.int64) - (begin - first))
            first += end - begin
        return np.concatenate(parts)

    def of(self, rows: AnyArray) -> Share:
        """The share of some rows (ascending numbers among all), which are then all there is."""
        cut = [tuple(np.searchsorted(rows, [begin, end]).tolist()) for begin, end in self.segments]
        return Share(len(rows), joined([segment for segment in cut if segment[0] < segment[1]]))

    def table(self) -> AnyArray:
        """The segments as kernels take them, (s, 2): the first row of each here, and its number among all."""
        if not self.segments:
            return np.zeros((1, 2), dtype=np.int64)
        sizes = [end - begin for begin, end in self.segments]
        return np.column_stack([np.cumsum([0, *sizes[:-1]]), [begin for begin, _ in self.segments]])

    def gives(self, values: AnyArray) -> list[tuple[int, AnyArray]]:
        """The values (n, ...) of the rows here, for `put_together`: those of every segment with its first number."""
        return [(begin, values[rows]) for (begin, _), rows in zip(self.segments, self.slices(), strict=True)]

    @property
    def numbers(self) -> AnyArray:
        """The numbers of the rows here, (n,)."""
        return np.concatenate([np.empty(0, dtype=np.int64), *(np.arange(*segment) for segment in self.segments)])

    def slices(self) -> list[slice]:
        """Where the rows of every segment are here."""
        ends = np.cumsum([0, *(end - begin for begin, end in self.segments)]).tolist()
        return [slice(begin, end) for begin, end in pairwise(ends)]


@dataclass(frozen=True, eq=False)
class Scattered:
    """The same for rows whose numbers, ascending, do not follow each other; as many as there are rows here.

    Examples
    --------
    >>> share = Scattered(6, np.array([0, 3, 4]))
    >>> share.size, share.here(np.array([1, 3, 4, 5])).tolist(), share.of(np.array([1, 3, 4, 5])).numbers.tolist()
    (3, [1, 2], [1, 2])
    >>> share.table().tolist()
    [[0, 0], [1, 3]]
    """

    n: int
    numbers: AnyArray  # (rows here,)

    @property
    def size(self) -> int:
        """The number of rows here."""
        return len(self.numbers)

    def here(self, rows: AnyArray) -> AnyArray:
        """Those of some rows (ascending numbers among all) that are here, by their numbers here."""
        return np.flatnonzero(self._among(rows)[1])

    def of(self, rows: AnyArray) -> Scattered:
        """The share of some rows (ascending numbers among all), which are then all there is."""
        place, found = self._among(rows)
        return Scattered(len(rows), place[found])

    def _among(self, rows: AnyArray) -> tuple[AnyArray, AnyArray]:
        """For every row here where it would be among some rows, and whether it is one of them."""
        place = np.searchsorted(rows, self.numbers)
        return place, np.append(rows, -1)[place] == self.numbers

    def table(self) -> AnyArray:
        """The runs of numbers that follow each other as kernels take them, (s, 2): see `Share.table`."""
        first = np.flatnonzero(np.diff(self.numbers, prepend=-2) != 1)
        if not len(first):
            return np.zeros((1, 2), dtype=np.int64)
        return np.column_stack([first, self.numbers[first]])

    def gives(self, values: AnyArray) -> list[tuple[AnyArray, AnyArray]]:
        """The values (n, ...) of the rows here, for `put_together`: with all their numbers."""
        return [(self.numbers, values)] if len(values) else []


def put_together(pieces: Sequence[tuple[Any, AnyArray]], otherwise: AnyArray) -> AnyArray:
    """The values of all rows in the order of their numbers, from what the shares of all members give.

    Examples
    --------
    >>> put_together([(2, np.array([7, 8])), (0, np.array([5, 6]))], np.empty(0)).tolist()
    [5, 6, 7, 8]
    >>> put_together([(np.array([1, 3]), np.array([6, 8])), (np.array([0, 2]), np.array([5, 7]))], np.empty(0)).tolist()
    [5, 6, 7, 8]
    """
    if not pieces:
        return otherwise
    if np.ndim(pieces[0][0]) == 0:
        return np.concatenate([values for _, values in sorted(pieces, key=lambda piece: piece[0])])
    order = np.argsort(np.concatenate([numbers for numbers, _ in pieces]))
    return np.concatenate([values for _, values in pieces])[order]


def joined(segments: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Segments, with those that follow each other made one."""
    out: list[tuple[int, int]] = []
    for begin, end in segments:
        if out and out[-1][1] == begin:
            out[-1] = (out[-1][0], end)
        elif begin < end:
            out.append((begin, end))
    return tuple(out)
