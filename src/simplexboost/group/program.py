"""What a program that all members of a group run may say to the group."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

Pieces = Callable[[], list[tuple[str, Any]]]  # computes (way, value) for each piece of an answer: see `messages.WAYS`


class Group(ABC):
    """A group as one of its members sees it. All members call the same methods in the same sequence.

    The leader has no rows; it combines the answers and decides. What it decides is sent to all, so that all members
    continue in the same way.
    """

    leads: bool
    milestones_ahead: int = (
        0  # messages marked as a `Milestone` that a member which replays the past has yet to receive
    )

    @abstractmethod
    def exchange(self, what: str, pieces: Pieces, finish: Callable[[list[Any]], Any] = list) -> Any:
        """What ``finish`` makes of the combined pieces, which the leader computes and everybody receives."""

    def decide(self, what: str, compute: Callable[[], Any]) -> Any:
        """What the leader computes."""
        return self.exchange(what, list, lambda pieces: compute())

    def summed(self, what: str, value: Callable[[], Any]) -> Any:
        """The sum of everybody's integers."""
        return self.exchange(what, lambda: [("sum", value())])[0]
