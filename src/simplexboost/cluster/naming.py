"""How errors name the partition that they are about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..group import Group
from ..group.messages import in_order
from .parts import Part


@contextmanager
def in_partition(index: int, of: str = "") -> Iterator[None]:
    """Errors in the user's data say in which partition they were found.

    Parameters
    ----------
    of : the beginning of messages, if the partitions are not those of the training table

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
            error.add_note(f"This is in partition {index}.")
            raise
        stop = "" if str(error).rstrip().endswith((".", "!", "?")) else "."
        where = f"This is in partition {index}, whose rows are counted from 0."
        begin = "" if of.rstrip(": ") in str(error) else of
        raise type(error)(f"{begin}{error}{stop} {where}") from error


def agree_on_presence(group: Group, name: str, parts: Sequence[Part]) -> bool:
    """Whether all partitions have this field of `Part`, or none of them; an error if only some have it."""

    def same(pieces: list[Any]) -> bool:
        return all_or_none(name, in_order([(index, (index, has)) for index, has in pieces[0]]))

    own = [(part.index, getattr(part, name) is not None) for part in parts]
    return bool(group.exchange(f"presence of {name}", lambda: [("list", own)], same))


def all_or_none(name: str, has: Sequence[tuple[int, bool]], of: str = "") -> bool:
    """Whether all partitions (by their indices) have something; an error, beginning with ``of``, if only some do."""
    with_it, without = ([index for index, there in has if there is wanted] for wanted in (True, False))
    if with_it and without:
        raise ValueError(
            f"{of}partition {with_it[0]} has {name}, but partition {without[0]} has none; pass it for all partitions "
            "or for none."
        )
    return bool(with_it)
