"""The leader of a group: combines what the members answer, decides, and tells them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from .messages import Answer, Failure, combined, size_of
from .program import Group, Pieces


class LostMembersError(Exception):
    """Some members are gone, with their rows."""


class Transport(Protocol):
    """Carries messages between the leader and the members."""

    def step(self, number: int, message: Any) -> Answer | Failure:
        """Tell everybody message ``number − 1``, and return the combined answer ``number``.

        May be called again with the same number: a member that has answered already answers the same.
        """

    def restore(self, messages: list[Any]) -> None:
        """Replace the members that are gone; the new ones are told all messages so far. Raises if it cannot."""


@dataclass(eq=False)
class Traffic:
    """What has travelled between the leader and the members, by what was asked.

    Attributes
    ----------
    trips : questions; a question and its answer are a round trip
    numbers : in the answers, as one member sends them
    bytes_up : of the combined answers, as they reach the leader, in as few bytes per number as hold it
    bytes_down : of the messages, as one member gets them
    seconds : from a question to its answer, what the members compute included
    histograms : how many of them were asked for
    """

    trips: Counter[str] = field(default_factory=Counter)
    numbers: Counter[str] = field(default_factory=Counter)
    bytes_up: Counter[str] = field(default_factory=Counter)
    bytes_down: Counter[str] = field(default_factory=Counter)
    seconds: Counter[str] = field(default_factory=Counter)
    histograms: int = 0

    def count(self, answer: Answer, message: Any, seconds: float) -> None:
        """Count a round trip."""
        self.seconds[answer.what] += seconds  # type: ignore[assignment]
        self.trips[answer.what] += 1
        self.numbers[answer.what] += answer.n_numbers
        self.bytes_up[answer.what] += answer.n_bytes
        self.bytes_down[answer.what] += size_of(message)

    def __str__(self) -> str:
        counters = (self.trips, self.numbers, self.bytes_up, self.bytes_down, self.seconds)
        lines = [f"{'':>24} {'trips':>7} {'numbers':>12} {'bytes up':>12} {'bytes down':>12} {'seconds':>8}"]
        for what in [*self.trips, None]:
            values = [sum(c.values()) if what is None else c[what] for c in counters]
            lines.append("{:>24} {:7d} {:12d} {:12d} {:12d} {:8.2f}".format("all" if what is None else what, *values))
        return "\n".join(lines)


class Leader(Group):
    """The leader's end.

    Every message that it sends is kept. A member that must be replaced is given all of them: the new one runs the
    program again, takes the messages in place of answers that are long decided, and so arrives where the others wait.
    """

    leads = True

    def __init__(self, transport: Transport) -> None:
        self.transport, self.messages = transport, list[Any]()
        self.traffic = Traffic()

    def ask(self, what: str) -> list[Any]:
        """The combined pieces of everybody's next answer, which must be to this question."""
        number, message = len(self.messages), self.messages[-1] if self.messages else None
        begin = time.perf_counter()
        while True:
            try:
                answer = self.transport.step(number, message)
                break
            except LostMembersError:
                self.transport.restore(self.messages)
        if isinstance(answer, Failure):
            answer.error.add_note(f"This happened on {answer.who}.")
            raise answer.error
        if answer.what != what:
            raise RuntimeError(f"members are out of step: the leader asks {what!r}, they answer {answer.what!r}.")
        self.traffic.count(answer, message, time.perf_counter() - begin)
        return list(answer.unpacked().pieces)

    def tell(self, message: Any) -> None:
        """Let everybody know; it travels with the next question."""
        self.messages.append(message)

    def exchange(self, what: str, pieces: Pieces, finish: Callable[[list[Any]], Any] = list) -> Any:
        """What ``finish`` makes of the combined pieces."""
        theirs = self.ask(what)
        own = pieces()
        ways = tuple(way for way, _ in own)
        answers = [Answer(what, ways, tuple(values)) for values in (theirs, [value for _, value in own])]
        both = combined(answers)
        assert isinstance(both, Answer)
        result = finish(list(both.pieces))
        self.tell(result)
        return result
