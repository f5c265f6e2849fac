"""Communication in a group: members run one program, each on its own rows, and a leader combines their answers.

A member runs the program in a thread of its own and answers in step with the others. Pieces of answers are added,
compared or collected on their way to the leader, which decides and tells the members. How messages travel is up to a
`Transport`; that of `simplexboost.distributed.dask` uses Dask.
"""

from __future__ import annotations

import pickle
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import reduce
from queue import SimpleQueue
from typing import Any, Protocol

import numpy as np

from .._util.arrays import AnyArray
from ..tables.partitions import Exchange, Pieces

INTEGERS = (np.int8, np.int16, np.int32, np.int64)


@dataclass(frozen=True, eq=False)
class PackedArray:
    """An array in few bytes: every row of a matrix of integers has the smallest type that holds it."""

    shape: tuple[int, ...]
    dtype: Any
    parts: Sequence[tuple[AnyArray | None, AnyArray]]  # row numbers, or None for all rows, and the values of these rows

    @property
    def n_bytes(self) -> int:
        """The number of bytes of the values."""
        return sum(int(values.nbytes) for _, values in self.parts)


def pack_array(values: AnyArray) -> PackedArray:
    """Return an array with its integers in as few bytes as each row, or a whole vector, needs.

    Examples
    --------
    >>> small = pack_array(np.array([[3, -200], [1, 2]]))
    >>> [(rows.tolist(), numbers.dtype.name) for rows, numbers in small.parts], small.n_bytes
    ([([1], 'int8'), ([0], 'int16')], 6)
    """
    signed = values.view(np.int64) if values.dtype == np.uint64 else values  # sums of two's complements wrap around
    if not signed.size or signed.dtype.kind != "i":
        return PackedArray(values.shape, values.dtype, [(None, signed)])
    table = signed if signed.ndim == 2 else signed.reshape(1, -1)
    low, high = table.min(axis=1), table.max(axis=1)
    width = np.argmax([(np.iinfo(t).min <= low) & (high <= np.iinfo(t).max) for t in INTEGERS], axis=0)  # (rows,)
    found = np.unique(width).tolist()
    if len(found) == 1:
        return PackedArray(values.shape, values.dtype, [(None, signed.astype(INTEGERS[found[0]], copy=False))])
    rows = [np.flatnonzero(width == w) for w in found]
    parts = [(r, table[r].astype(INTEGERS[w])) for r, w in zip(rows, found, strict=True)]
    return PackedArray(values.shape, values.dtype, parts)


def unpack_array(value: Any) -> Any:
    """Return the array that was packed; other values stay as they are."""
    if not isinstance(value, PackedArray):
        return value
    wide = np.dtype(np.int64) if value.dtype == np.uint64 else value.dtype
    if value.parts[0][0] is None:
        return value.parts[0][1].astype(wide, copy=False).view(value.dtype)
    out = np.empty(value.shape, dtype=wide)
    for rows, numbers in value.parts:
        out[rows] = numbers
    return out.view(value.dtype)


WAYS: dict[str, Callable[[Any, Any], Any]] = {
    "sum": np.add,
    "max": np.maximum,
    "any": np.bitwise_or,
    "list": list.__add__,  # of (place, value): places order them in the end
}


@dataclass(frozen=True, eq=False)
class Answer:
    """The answer of one or several members."""

    what: str  # the question, in words; all members must answer the same one
    ways: tuple[str, ...] = ()  # for each piece one of `WAYS`
    pieces: tuple[Any, ...] = ()  # the values

    def pack(self) -> Answer:
        """Return the answer in as few bytes as possible."""
        small = [pack_array(np.asarray(p)) if w == "sum" else p for w, p in zip(self.ways, self.pieces, strict=True)]
        return Answer(self.what, self.ways, tuple(small))

    def unpack(self) -> Answer:
        """Return the answer before `pack`."""
        return Answer(self.what, self.ways, tuple(map(unpack_array, self.pieces)))

    @property
    def n_numbers(self) -> int:
        """The number of values that are summed or compared."""
        kept = (piece for way, piece in zip(self.ways, self.pieces, strict=True) if way != "list")
        return sum(int(np.prod(p.shape) if isinstance(p, PackedArray) else np.size(p)) for p in kept)

    @property
    def n_bytes(self) -> int:
        """The number of bytes of all pieces."""
        return count_bytes(self.pieces)


@dataclass(frozen=True, eq=False)
class Milestone:
    """A message that ends a piece of work; a member that replays the past counts how many lie ahead."""

    message: Any


@dataclass(frozen=True, eq=False)
class Failure:
    """An error in the program of a member."""

    error: BaseException
    who: str


def combine_answers(answers: Sequence[Answer | Failure]) -> Answer | Failure:
    """Return the answers of several members merged into one; the first failure, if there is one."""
    for answer in answers:
        if isinstance(answer, Failure):
            return answer
    return reduce(merge_two, answers)  # type: ignore[arg-type]


def merge_two(a: Answer, b: Answer) -> Answer:
    """Return the merged answer of two members; raise RuntimeError if they answer different questions."""
    if a.what != b.what or a.ways != b.ways:
        raise RuntimeError(f"members are out of step: one answers {a.what!r}, another {b.what!r}.")
    pieces = (WAYS[way](x, y) for way, x, y in zip(a.ways, a.pieces, b.pieces, strict=True))
    return Answer(a.what, a.ways, tuple(pieces))


def count_bytes(value: Any) -> int:
    """Return the size of a value in a message: the bytes of its arrays, and of everything else as it is pickled."""
    if isinstance(value, PackedArray):
        return value.n_bytes
    if isinstance(value, np.ndarray) and value.dtype != object:
        return int(value.nbytes)
    if isinstance(value, list | tuple):
        return sum(map(count_bytes, value))
    if isinstance(value, dict):
        return sum(map(count_bytes, value.values()))
    if isinstance(value, Milestone):
        return count_bytes(value.message)
    return 0 if value is None else len(pickle.dumps(value))


class Group(Exchange):
    """A group as one of its members sees it. All members call the same methods in the same sequence.

    The leader has no rows; it combines the answers and decides. Its decisions are sent to all members, so that all
    continue in the same way.
    """

    leads: bool  # whether this is the leader
    milestones_ahead: int = 0  # the `Milestone` messages that a member which replays the past has yet to receive

    def decide(self, what: str, compute: Callable[[], Any]) -> Any:
        """Return what the leader computes, at every member."""
        return self.exchange(what, list, lambda pieces: compute())


DONE = "done"  # the question that the end of a program answers


class Closed(BaseException):
    """Raised inside the program of a member to end it, because the group was dissolved."""


class Member(Group):
    """A group as a member with rows sees it.

    Parameters
    ----------
    program : called with the member in a thread of its own
    name : of the member, for messages
    past : the messages of the leader so far, if the member replaces one that is gone. The program then receives these
        one after another, and does not compute the answers that the lost member gave.
    """

    leads = False

    def __init__(self, program: Callable[[Member], Any], name: str = "a member", past: Sequence[Any] = ()) -> None:
        self.name, self._past, self._received = name, list(past), 0
        self._inbox: SimpleQueue[Any] = SimpleQueue()
        self._number = len(self._past)  # of the answer that the leader waits for
        self._answer = pending_answer()
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
        self._answer, self._number = pending_answer(), number
        self._inbox.put(message)
        return self._answer

    def close(self) -> None:
        """End the program at its next message."""
        self._closed = True
        self._inbox.put(None)

    # ---- for the program --------------------------------------------------------------------------------------------

    @property
    def replaying(self) -> bool:
        """Whether the lost member that this one replaces has given the next answer already."""
        return self._received < len(self._past)

    def answer(self, what: str, pieces: Pieces) -> None:
        """Answer a question of the leader."""
        if self._closed:
            raise Closed
        if not self.replaying:
            made = pieces()
            self._answer.set_result(Answer(what, tuple(w for w, _ in made), tuple(v for _, v in made)).pack())

    def receive(self) -> Any:
        """Return the leader's next message."""
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


def pending_answer() -> Future[Answer | Failure]:
    """Return the future of an answer, which nobody can cancel: the leader may ask for it again."""
    future: Future[Answer | Failure] = Future()
    future.set_running_or_notify_cancel()
    return future


class LostMembersError(Exception):
    """Raised if some members are gone, with their rows."""


class Transport(Protocol):
    """Carries messages between the leader and the members."""

    def step(self, number: int, message: Any) -> Answer | Failure:
        """Tell all members message ``number − 1``, and return their combined answer ``number``.

        May be called again with the same number: a member that has answered already gives the same answer.
        """

    def restore(self, messages: list[Any]) -> None:
        """Replace the members that are gone, and tell the new ones all messages so far; raise if that is impossible."""


@dataclass(eq=False)
class Traffic:
    """Counts the messages between the leader and the members, by question.

    Attributes
    ----------
    trips : the number of round trips, each a question and its answer
    numbers : the number of values in the answers of one member
    bytes_up : the bytes of the combined answers that reach the leader, in as few bytes per number as hold it
    bytes_down : the bytes of the messages that one member gets
    seconds : the time from a question to its answer, including the computations of the members
    histograms : the number of histograms that were asked for
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
        self.bytes_down[answer.what] += count_bytes(message)

    def __str__(self) -> str:
        counters = (self.trips, self.numbers, self.bytes_up, self.bytes_down, self.seconds)
        lines = [f"{'':>24} {'trips':>7} {'numbers':>12} {'bytes up':>12} {'bytes down':>12} {'seconds':>8}"]
        for what in [*self.trips, None]:
            values = [sum(c.values()) if what is None else c[what] for c in counters]
            lines.append("{:>24} {:7d} {:12d} {:12d} {:12d} {:8.2f}".format("all" if what is None else what, *values))
        return "\n".join(lines)


class Leader(Group):
    """A group as its leader sees it.

    The leader keeps every message that it sends. A member that replaces a lost one is given all of them: it runs the
    program again, takes the messages in place of decisions that were made long ago, and so catches up with the others.
    """

    leads = True

    def __init__(self, transport: Transport) -> None:
        self.transport, self.messages = transport, list[Any]()
        self.traffic = Traffic()

    def ask(self, what: str) -> list[Any]:
        """Return the combined pieces of the next answer of all members, which must be to this question."""
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
        return list(answer.unpack().pieces)

    def tell(self, message: Any) -> None:
        """Send a message to all members, together with the next question."""
        self.messages.append(message)

    def exchange(self, what: str, pieces: Pieces, finish: Callable[[list[Any]], Any] = list) -> Any:
        theirs = self.ask(what)
        own = pieces()
        ways = tuple(way for way, _ in own)
        both = merge_two(Answer(what, ways, tuple(theirs)), Answer(what, ways, tuple(value for _, value in own)))
        result = finish(list(both.pieces))
        self.tell(result)
        return result
