"""What is to be done on a cluster, and who holds what of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from distributed import Future

from .actors import Program
from .calls import Place


@dataclass(frozen=True, eq=False)
class Item:
    """A partition: what it is called in messages, and the delayed object that makes it."""

    name: str
    made_by: Any


@dataclass(frozen=True, eq=False)
class Work:
    """What the members of a group do.

    Attributes
    ----------
    items : the partitions of all members
    program : what they run on them
    rows : run on a worker, counts the rows of a partition
    """

    items: Sequence[Item]
    program: Program
    rows: Callable[[Any], int] = len

    def names(self, items: Sequence[int]) -> str:
        """Items in words."""
        some = ", ".join(self.items[i].name for i in items[:5])
        return some + (f" and {len(items) - 5} more" if len(items) > 5 else "")


@dataclass(frozen=True, eq=False)
class Held:
    """A holder on a worker, as the client knows it: its future, where it is, and the items it holds."""

    future: Future
    place: Place
    items: tuple[int, ...]

    @property
    def is_gone(self) -> bool:
        """Whether Dask has lost it, with its worker."""
        return self.future.status != "finished"
