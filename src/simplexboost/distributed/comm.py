"""Communication in a group of processes: members run one program on their own rows; a leader combines the results.

Every member runs the program in a thread of its own. In each step, all members send an answer: values that are added,
compared or collected on the way to the leader. The leader decides, and sends the result to all members. A `Transport`
carries the messages; the one in `simplexboost.distributed.dask` uses Dask.
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
    """An array stored in few bytes: every row of an integer matrix has the smallest integer type that holds it."""

    shape: tuple[int, ...]
    dtype: Any
    parts: Sequence[tuple[AnyArray | None, AnyArray]]  # row numbers, or None for all rows, and the values of these rows

    @property
    def n_bytes(self) -> int:
        return sum(int(values.nbytes) for _, values in self.parts)


def pack_array(values: AnyArray) -> PackedArray:
    """Return an integer matrix with the smallest type for each row, or a vector with one type for all its values.

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
    """Return the array from which `pack_array` made `value`; return any other value unchanged."""
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
    """The values that one or several members send to the leader in one step."""

    what: str  # the question, in words; all members must answer the same one
    ways: tuple[str, ...] = ()  # for each piece one of `WAYS`
    pieces: tuple[Any, ...] = ()  # the values

    def pack(self) -> Answer:
        """Return the answer with summed integers in as few bytes as possible; see `pack_array`."""
        small = [pack_array(np.asarray(p)) if w == "sum" else p for w, p in zip(self.ways, self.pieces, strict=True)]
        return Answer(self.what, self.ways, tuple(small))

    def unpack(self) -> Answer:
        """Return the answer with its arrays unpacked, as before `pack`."""
        return Answer(self.what, self.ways, tuple(map(unpack_array, self.pieces)))

    @property
    def n_numbers(self) -> int:
        """The number of scalar values in the answer that are added up or compared; collected lists do not count."""
        kept = (piece for way, piece in zip(self.ways, self.pieces, strict=True) if way != "list")
        return sum(int(np.prod(p.shape) if isinstance(p, PackedArray) else np.size(p)) for p in kept)

    @property
    def n_bytes(self) -> int:
        return count_bytes(self.pieces)


@dataclass(frozen=True, eq=False)
class Milestone:
    """A leader's message that ends a part of the program, such as a tree; a replaying member counts those to come."""

    message: Any


@dataclass(frozen=True, eq=False)
class Failure:
    """An error in the program of a member, sent to the leader in place of an answer."""

    error: BaseException
    who: str


def combine_answers(answers: Sequence[Answer | Failure]) -> Answer | Failure:
    """Return the merged answers of several members, or the first failure if there is one."""
    for answer in answers:
        if isinstance(answer, Failure):
            return answer
    return reduce(merge_two, answers)  # type: ignore[arg-type]


def merge_two(a: Answer, b: Answer) -> Answer:
    """Return the merged answer of two members; raise RuntimeError unless both answer the same question."""
    if a.what != b.what or a.ways != b.ways:
        raise RuntimeError(f"members are out of step: one answers {a.what!r}, another {b.what!r}.")
    pieces = (WAYS[way](x, y) for way, x, y in zip(a.ways, a.pieces, b.pieces, strict=True))
    return Answer(a.what, a.ways, tuple(pieces))


def count_bytes(value: Any) -> int:
    """Return the size of a message in bytes: the bytes of its arrays, and the pickled size of everything else."""
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
    """A group of processes as one of its members sees it. All members call the same methods in the same sequence.

    The leader has no rows; it combines the members' answers and decides. Its decisions are sent to all members, so that
    all members continue in the same way.
    """

    leads: bool  # whether this is the leader
    milestones_ahead: int = 0  # the `Milestone` messages that a member which replays the past has yet to receive

    def decide(self, what: str, compute: Callable[[], Any]) -> Any:
        """Return the result of `compute` at every member; only the leader calls the function."""
        return self.exchange(what, list, lambda pieces: compute())


DONE = "done"  # the question that the end of a program answers


class Closed(BaseException):
    """The exception that ends the program of a member after the group was dissolved."""


class Member(Group):
    """A group as seen by a member that has rows.

    Parameters
    ----------
    program : a function that the member calls with itself, in a thread of its own
    name : the name of the member, for messages
    past : the messages of the leader so far, if the member replaces a lost one. The program then receives these
        messages one after another, and does not compute the answers that the lost member has sent.
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
        """Give the program the leader's message ``number − 1``; return the future of its answer ``number``."""
        if number == self._number:
            return self._answer
        if number != self._number + 1:
            raise RuntimeError(f"{self.name} is asked for answer {number} after answer {self._number}.")
        self._answer, self._number = pending_answer(), number
        self._inbox.put(message)
        return self._answer

    def close(self) -> None:
        """End the program as soon as it sends an answer or receives a message."""
        self._closed = True
        self._inbox.put(None)

    # ---- for the program --------------------------------------------------------------------------------------------

    @property
    def replaying(self) -> bool:
        """Whether the member that this one replaces has already sent the next answer."""
        return self._received < len(self._past)

    def answer(self, what: str, pieces: Pieces) -> None:
        """Send the values that `pieces` returns to the leader, unless the lost member has already sent this answer."""
        if self._closed:
            raise Closed
        if not self.replaying:
            made = pieces()
            self._answer.set_result(Answer(what, tuple(w for w, _ in made), tuple(v for _, v in made)).pack())

    def receive(self) -> Any:
        """Wait for the leader's next message, and return it; in a replay, return the next past message."""
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
    """Return a future for an answer; it cannot be cancelled, because the leader may request it again."""
    future: Future[Answer | Failure] = Future()
    future.set_running_or_notify_cancel()
    return future


class LostMembersError(Exception):
    """The error raised if some members are lost, together with their rows."""


class Transport(Protocol):
    """A carrier of messages between the leader and the members."""

    def step(self, number: int, message: Any) -> Answer | Failure:
        """Send message ``number − 1`` to all members, and return their combined answer ``number``.

        The method may be called again with the same number: members repeat the answers that they have already sent.
        """

    def restore(self, messages: list[Any]) -> None:
        """Replace lost members, and send all `messages` so far to the new ones; raise if this is impossible."""


@dataclass(eq=False)
class Traffic:
    """Counts of the messages between the leader and the members, by question (the name of a step).

    Attributes
    ----------
    trips : the number of round trips, each a question and its answer
    numbers : the number of scalar values in the answers of one member
    bytes_up : the bytes of the combined answers that reach the leader, packed as in `pack_array`
    bytes_down : the bytes of the messages that one member receives
    seconds : the time from a question to its answer, including the computations of the members
    histograms : the number of histograms that the leader requested
    """

    trips: Counter[str] = field(default_factory=Counter)
    numbers: Counter[str] = field(default_factory=Counter)
    bytes_up: Counter[str] = field(default_factory=Counter)
    bytes_down: Counter[str] = field(default_factory=Counter)
    seconds: Counter[str] = field(default_factory=Counter)
    histograms: int = 0

    def count(self, answer: Answer, message: Any, seconds: float) -> None:
        """Add one round trip: its combined answer, the message that was sent before, and its duration."""
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

    The leader keeps every message that it sends. A member that replaces a lost one receives all of these messages: it
    runs the program again, uses the messages in place of past decisions, and so reaches the step of all other members.
    """

    leads = True

    def __init__(self, transport: Transport) -> None:
        self.transport, self.messages = transport, list[Any]()
        self.traffic = Traffic()

    def ask(self, what: str) -> list[Any]:
        """Return the combined values that all members send in the next step; raise unless that step is named `what`."""
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
        """Store a message for all members; it is sent together with the next question."""
        self.messages.append(message)

    def exchange(self, what: str, pieces: Pieces, finish: Callable[[list[Any]], Any] = list) -> Any:
        theirs = self.ask(what)
        own = pieces()
        ways = tuple(way for way, _ in own)
        both = merge_two(Answer(what, ways, tuple(theirs)), Answer(what, ways, tuple(value for _, value in own)))
        result = finish(list(both.pieces))
        self.tell(result)
        return result
