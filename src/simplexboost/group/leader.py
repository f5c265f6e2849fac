"""The leader of a group: combines what the members answer, decides, and tells them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
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


class Leader(Group):
    """The leader's end.

    Every message that it sends is kept. A member that must be replaced is given all of them: the new one runs the
    program again, takes the messages in place of answers that are long decided, and so arrives where the others wait.
    """

    leads = True

    def __init__(self, transport: Transport) -> None:
        self.transport, self.messages = transport, list[Any]()
        self.trips: Counter[str] = Counter()  # by what was asked
        self.bytes_up: Counter[str] = Counter()  # of combined answers, as they reach the leader
        self.bytes_down: Counter[str] = Counter()  # of messages, as one member gets them

    def ask(self, what: str) -> list[Any]:
        """The combined pieces of everybody's next answer, which must be to this question."""
        number, message = len(self.messages), self.messages[-1] if self.messages else None
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
        self.trips[what] += 1
        self.bytes_up[what] += answer.n_bytes
        self.bytes_down[what] += size_of(message)
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
