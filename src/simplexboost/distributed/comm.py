"""Communication in a group: members run one program, each on its own rows, and a leader combines their answers.

A member runs the program in a thread of its own and answers in step with the others. Pieces of answers are added,
compared or collected on their way to the leader, which decides and tells the members. How messages travel is up to a
`Transport`; that of `simplexboost.distributed.dask` uses Dask.
"""

from __future__ import annotations

import pickle
import threading
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import reduce
from itertools import pairwise
from queue import SimpleQueue
from typing import Any, Protocol

import numpy as np

from .._util.arrays import AnyArray

__all__ = [
    "Answer",
    "Closed",
    "Failure",
    "Group",
    "Leader",
    "LostMembersError",
    "Member",
    "Scattered",
    "Share",
    "Traffic",
    "Transport",
    "combined",
    "put_together",
]

INTEGERS = (np.int8, np.int16, np.int32, np.int64)


@dataclass(frozen=True, eq=False)
class Trimmed:
    """An array of numbers in few bytes; rows of a matrix of integers have the smallest type that holds them.

    Attributes
    ----------
    shape, dtype : of the array
    parts : rows, or None for all of them, and their numbers
    """

    shape: tuple[int, ...]
    dtype: Any
    parts: Sequence[tuple[AnyArray | None, AnyArray]]

    @property
    def n_numbers(self) -> int:
        """The number of numbers."""
        return int(np.prod(self.shape))

    @property
    def n_bytes(self) -> int:
        """The bytes of these numbers."""
        return sum(int(numbers.nbytes) for _, numbers in self.parts)


def trimmed(values: AnyArray) -> Trimmed:
    """Integers in as many bytes as the largest of them needs; row by row, if they are a matrix.

    Examples
    --------
    >>> small = trimmed(np.array([[3, -200], [1, 2]]))
    >>> [(rows.tolist(), numbers.dtype.name) for rows, numbers in small.parts], small.n_bytes
    ([([1], 'int8'), ([0], 'int16')], 6)
    """
    signed = values.view(np.int64) if values.dtype == np.uint64 else values  # sums of two's complements wrap around
    if not signed.size or signed.dtype.kind != "i":
        return Trimmed(values.shape, values.dtype, [(None, signed)])
    table = signed if signed.ndim == 2 else signed.reshape(1, -1)
    width = widths(table)  # (rows,)
    found = np.unique(width)
    if len(found) == 1:
        return Trimmed(values.shape, values.dtype, [(None, signed.astype(INTEGERS[found[0]], copy=False))])
    rows = [np.flatnonzero(width == w) for w in found]
    parts = [(r, table[r].astype(INTEGERS[w])) for r, w in zip(rows, found.tolist(), strict=True)]
    return Trimmed(values.shape, values.dtype, parts)


def widths(table: AnyArray) -> AnyArray:
    """For every row of integers the place in `INTEGERS` of the smallest type that holds it."""
    low, high = table.min(axis=1), table.max(axis=1)
    fits = [(np.iinfo(t).min <= low) & (high <= np.iinfo(t).max) for t in INTEGERS]
    return np.argmax(fits, axis=0)


def plain(value: Any) -> Any:
    """An array as it was before it was trimmed."""
    if not isinstance(value, Trimmed):
        return value
    wide = np.dtype(np.int64) if value.dtype == np.uint64 else value.dtype
    if value.parts[0][0] is None:
        return value.parts[0][1].astype(wide, copy=False).view(value.dtype)
    out = np.empty(value.shape, dtype=wide)
    for rows, numbers in value.parts:
        out[rows] = numbers
    return out.view(value.dtype)


def added(a: Any, b: Any) -> Any:
    """The sum of two arrays."""
    return np.add(a, b)


WAYS: dict[str, Callable[[Any, Any], Any]] = {
    "sum": added,
    "max": np.maximum,
    "any": np.bitwise_or,
    "list": list.__add__,  # of (place, value): places order them in the end
}


@dataclass(frozen=True, eq=False)
class Answer:
    """What one or several members say.

    Attributes
    ----------
    what : the question, in words; all members must answer the same one
    ways : for each piece one of `WAYS`
    pieces : the values
    """

    what: str
    ways: tuple[str, ...] = ()
    pieces: tuple[Any, ...] = ()

    def packed(self) -> Answer:
        """The answer in as few bytes as possible."""
        small = [trimmed(np.asarray(p)) if w == "sum" else p for w, p in zip(self.ways, self.pieces, strict=True)]
        return Answer(self.what, self.ways, tuple(small))

    def unpacked(self) -> Answer:
        """The answer as it was."""
        return Answer(self.what, self.ways, tuple(plain(piece) for piece in self.pieces))

    @property
    def n_numbers(self) -> int:
        """The numbers that are summed or compared."""
        kept = (p for way, p in zip(self.ways, self.pieces, strict=True) if way != "list")
        return sum(piece.n_numbers if isinstance(piece, Trimmed) else int(np.size(piece)) for piece in kept)

    @property
    def n_bytes(self) -> int:
        """The bytes of its arrays, as they are."""
        return sum(size_of(piece) for piece in self.pieces)


@dataclass(frozen=True, eq=False)
class Milestone:
    """A message of the leader that ends a piece of work; a member that replays the past can see how many lie ahead."""

    message: Any


@dataclass(frozen=True, eq=False)
class Failure:
    """An error in the program of a member."""

    error: BaseException
    who: str


def combined(answers: Sequence[Answer | Failure]) -> Answer | Failure:
    """The answer of several members together; the first failure, if there is one."""
    for answer in answers:
        if isinstance(answer, Failure):
            return answer
    return reduce(together, answers) if len(answers) > 1 else answers[0]  # type: ignore[arg-type]


def together(a: Answer, b: Answer) -> Answer:
    """The answer of two."""
    if a.what != b.what or a.ways != b.ways:
        raise RuntimeError(f"members are out of step: one answers {a.what!r}, another {b.what!r}.")
    pieces = (WAYS[way](x, y) for way, x, y in zip(a.ways, a.pieces, b.pieces, strict=True))
    return Answer(a.what, a.ways, tuple(pieces))


def size_of(value: Any) -> int:
    """The bytes of a value on its way: those of its arrays, and of everything else as it is pickled."""
    if isinstance(value, Trimmed):
        return value.n_bytes
    if isinstance(value, np.ndarray) and value.dtype != object:
        return int(value.nbytes)
    if isinstance(value, list | tuple):
        return sum(size_of(entry) for entry in value)
    if isinstance(value, dict):
        return sum(size_of(entry) for entry in value.values())
    if isinstance(value, Milestone):
        return size_of(value.message)
    return 0 if value is None else len(pickle.dumps(value))


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

    def gives(self, values: AnyArray) -> list[tuple[int, AnyArray]]:
        """The values (n, ...) of the rows here, for `put_together`: those of every segment with its first number."""
        return [(begin, values[rows]) for (begin, _), rows in zip(self.segments, self.slices(), strict=True)]

    @property
    def numbers(self) -> AnyArray:
        """The numbers of the rows here, (n,)."""
        return np.concatenate([np.empty(0, dtype=np.int64), *(np.arange(*segment) for segment in self.segments)])

    def slices(self) -> list[slice]:
        """Where the rows of every segment are here."""
        ends = np.cumsum([0, *(end - begin for begin, end in self.segments)]).tolist()
        return [slice(begin, end) for begin, end in pairwise(ends)]


@dataclass(frozen=True, eq=False)
class Scattered:
    """The same for rows whose numbers, ascending, do not follow each other; as many as there are rows here.

    Examples
    --------
    >>> share = Scattered(6, np.array([0, 3, 4]))
    >>> share.size, share.here(np.array([1, 3, 4, 5])).tolist(), share.of(np.array([1, 3, 4, 5])).numbers.tolist()
    (3, [1, 2], [1, 2])
    >>> share.table().tolist()
    [[0, 0], [1, 3]]
    """

    n: int
    numbers: AnyArray  # (rows here,)

    @property
    def size(self) -> int:
        """The number of rows here."""
        return len(self.numbers)

    def here(self, rows: AnyArray) -> AnyArray:
        """Those of some rows (ascending numbers among all) that are here, by their numbers here."""
        return np.flatnonzero(self._among(rows)[1])

    def of(self, rows: AnyArray) -> Scattered:
        """The share of some rows (ascending numbers among all), which are then all there is."""
        place, found = self._among(rows)
        return Scattered(len(rows), place[found])

    def _among(self, rows: AnyArray) -> tuple[AnyArray, AnyArray]:
        """For every row here where it would be among some rows, and whether it is one of them."""
        place = np.searchsorted(rows, self.numbers)
        return place, np.append(rows, -1)[place] == self.numbers

    def table(self) -> AnyArray:
        """The runs of numbers that follow each other as kernels take them, (s, 2): see `Share.table`."""
        first = np.flatnonzero(np.diff(self.numbers, prepend=-2) != 1)
        if not len(first):
            return np.zeros((1, 2), dtype=np.int64)
        return np.column_stack([first, self.numbers[first]])

    def gives(self, values: AnyArray) -> list[tuple[AnyArray, AnyArray]]:
        """The values (n, ...) of the rows here, for `put_together`: with all their numbers."""
        return [(self.numbers, values)] if len(values) else []


def put_together(pieces: Sequence[tuple[Any, AnyArray]], otherwise: AnyArray) -> AnyArray:
    """The values of all rows in the order of their numbers, from what the shares of all members give.

    Examples
    --------
    >>> put_together([(2, np.array([7, 8])), (0, np.array([5, 6]))], np.empty(0)).tolist()
    [5, 6, 7, 8]
    >>> put_together([(np.array([1, 3]), np.array([6, 8])), (np.array([0, 2]), np.array([5, 7]))], np.empty(0)).tolist()
    [5, 6, 7, 8]
    """
    if not pieces:
        return otherwise
    if np.ndim(pieces[0][0]) == 0:
        return np.concatenate([values for _, values in sorted(pieces, key=lambda piece: piece[0])])
    order = np.argsort(np.concatenate([numbers for numbers, _ in pieces]))
    return np.concatenate([values for _, values in pieces])[order]


def joined(segments: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Segments, with those that follow each other made one."""
    out: list[tuple[int, int]] = []
    for begin, end in segments:
        if out and out[-1][1] == begin:
            out[-1] = (out[-1][0], end)
        elif begin < end:
            out.append((begin, end))
    return tuple(out)


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
