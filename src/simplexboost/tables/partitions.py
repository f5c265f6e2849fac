"""Defines partitions: blocks of consecutive rows of a table, with the labels, weights and other data of these rows.

Validation summarises every partition, merges the summaries, decides from them what holds for the whole table, and then
encodes every partition. A table on one machine is a single partition. If partitions are on several machines, only the
summaries are sent between machines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

Pieces = Callable[[], list[tuple[str, Any]]]  # computes the pieces of an answer: (way to merge it, value) each

WHOLE = -1  # the index of the partition that is a whole table
FIELDS = ("sample_weight", "init_score", "groups")  # what a partition may have beside X and y


@dataclass(frozen=True, eq=False)
class Partition:
    """A partition of the data: consecutive rows of X, with y, sample weights and other data of these rows."""

    index: int  # its place among all partitions, or `WHOLE`
    # As `fit` takes them, for these rows.
    X: Any
    y: Any = None
    sample_weight: Any = None
    init_score: Any = None
    groups: Any = None

    @property
    def fields(self) -> frozenset[str]:
        """The names of the optional inputs (see `FIELDS`) that the user has passed."""
        return frozenset(name for name in FIELDS if getattr(self, name) is not None)


class Exchange:
    """A communicator that merges the summaries of partitions; this one is for a single machine and merges nothing.

    All machines with partitions must call the same methods in the same order.
    """

    def exchange(self, what: str, pieces: Pieces, finish: Callable[[list[Any]], Any] = list) -> Any:
        """Merge ``pieces()`` over all machines; return ``finish(merged values)``, computed on one machine for all."""
        return finish([value for _, value in pieces()])


ALONE = Exchange()


def in_order(pieces: list[tuple[Any, Any]]) -> list[Any]:
    """Return the values of (index, value) pairs, sorted by index."""
    return [value for _, value in sorted(pieces, key=lambda entry: entry[0])]


@contextmanager
def in_partition(index: int, of: str = "") -> Iterator[None]:
    """Add the index of the partition to a TypeError or ValueError that is raised inside this context.

    Parameters
    ----------
    of : the first words of messages, if this is not a partition of the training table

    Examples
    --------
    >>> with in_partition(3):
    ...     raise ValueError("y is NaN in row 7.")
    Traceback (most recent call last):
    ValueError: y is NaN in row 7. This is in partition 3, whose rows are counted from 0.
    """
    try:
        yield
    except (TypeError, ValueError) as error:
        if type(error) not in (TypeError, ValueError):
            if index >= 0:
                error.add_note(f"This is in partition {index}.")
            raise
        begin = "" if "_val" in str(error) else of
        if index < 0 and not begin:
            raise
        stop = "" if str(error).rstrip().endswith((".", "!", "?")) else "."
        where = "" if index < 0 else f"{stop} This is in partition {index}, whose rows are counted from 0."
        raise type(error)(f"{begin}{error}{where}") from error
