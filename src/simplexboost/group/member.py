"""A member of a group: runs a program in a thread of its own, and answers in step with the others."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any

from .messages import Answer, Failure, Milestone
from .program import Group, Pieces

DONE = "done"  # the answer of a program that has come to its end


class Closed(BaseException):
    """The group was dissolved; raised inside the program, which ends with it."""


class Member(Group):
    """The member's end.

    Parameters
    ----------
    program : called with the member in a thread of its own
    name : of the member, for messages
    past : messages of the leader so far, if the member replaces one that is gone. The program then receives these one
        after another, and what it would have answered is not even computed.
    """

    leads = False

    def __init__(self, program: Callable[[Member], Any], name: str = "a member", past: Sequence[Any] = ()) -> None:
        self.name, self._past, self._received = name, list(past), 0
        self._inbox: SimpleQueue[Any] = SimpleQueue()
        self._number = len(self._past)  # of the answer that the leader waits for
        self._answer = awaited()
        self._closed = False
        self.milestones_ahead = sum(isinstance(message, Milestone) for message in self._past)
        threading.Thread(target=self._run, args=(program,), name=f"simplexboost {name}", daemon=True).start()

    # ---- for the transport ------------------------------------------------------------------------------------------

    def step(self, number: int, message: Any) -> Future[Answer | Failure]:
        """Deliver message ``number − 1``; the future is answer ``number``. Repeated calls get the same answer."""
        if number == self._number:
            return self._answer
        if number != self._number + 1:
            raise RuntimeError(f"{self.name} is asked for answer {number} after answer {self._number}.")
        self._answer, self._number = awaited(), number
        self._inbox.put(message)
        return self._answer

    def close(self) -> None:
        """End the program, at its next message."""
        self._closed = True
        self._inbox.put(None)

    # ---- for the program --------------------------------------------------------------------------------------------

    @property
    def replaying(self) -> bool:
        """Whether the next answer was given long ago by a predecessor, so that nobody waits for it."""
        return self._received < len(self._past)

    def answer(self, what: str, pieces: Pieces) -> None:
        """Answer a question."""
        if self._closed:
            raise Closed
        if not self.replaying:
            made = pieces()
            self._answer.set_result(Answer(what, tuple(w for w, _ in made), tuple(v for _, v in made)).packed())

    def receive(self) -> Any:
        """The leader's next message."""
        if self.replaying:
            message = self._past[self._received]
            self._past[self._received] = None
            self.milestones_ahead -= isinstance(message, Milestone)
        else:
            message = self._inbox.get()
            if self._closed:
                raise Closed
        self._received += 1
        return message.message if isinstance(message, Milestone) else message

    def exchange(self, what: str, pieces: Pieces, finish: Callable[[list[Any]], Any] = list) -> Any:
        """Answer, and receive what the leader makes of everybody's answers."""
        self.answer(what, pieces)
        return self.receive()

    def _run(self, program: Callable[[Member], Any]) -> None:
        try:
            program(self)
            self.answer(DONE, list)
        except Closed:
            return
        except BaseException as error:  # the leader raises it where the user sees it
            self._answer.set_result(Failure(error, self.name))


def awaited() -> Future[Answer | Failure]:
    """An answer to come. Who waits for it may give up, but cannot cancel it: it may be asked for again."""
    future: Future[Answer | Failure] = Future()
    future.set_running_or_notify_cancel()
    return future
