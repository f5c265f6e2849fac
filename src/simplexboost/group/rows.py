"""Which of all rows a member has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

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

    def slices(self) -> list[slice]:
        """Where the rows of every segment are here."""
        ends = np.cumsum([0, *(end - begin for begin, end in self.segments)]).tolist()
        return [slice(begin, end) for begin, end in pairwise(ends)]


def joined(segments: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Segments, with those that follow each other made one."""
    out: list[tuple[int, int]] = []
    for begin, end in segments:
        if out and out[-1][1] == begin:
            out[-1] = (out[-1][0], end)
        elif begin < end:
            out.append((begin, end))
    return tuple(out)
