"""Defines the Dask actors that hold partitions and a member of the group, and calls the methods of these actors.

Dask's own proxy (`distributed.Actor`) waits forever if the worker exists but the actor does not; and it uses the
current client, which may differ from the client that the user passed. Here, the remote procedure of the worker is
called directly, so that a call always ends with a result or an error.
"""

from __future__ import annotations

import asyncio
import pickle
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from distributed import Client, Future, get_worker
from distributed.protocol import to_serialize

from ..comm import Answer, Failure, Member, combine_answers

NEAR = 2.0  # seconds in which a worker must answer the client to count as near


@dataclass(frozen=True)
class Place:
    """The place of a Dask actor: the address of its worker, and its Dask key."""

    address: str
    key: str


async def call(rpc: Any, place: Place, method: str, *args: Any) -> Any:
    """Call a method of a Dask actor; return its result, or raise its exception.

    Raises
    ------
    OSError : if the worker cannot be reached, or dies before it replies
    KeyError : if the worker does not have the actor
    """
    reply = await rpc.actor_execute(actor=place.key, function=method, args=[to_serialize(a) for a in args], kwargs={})
    if reply["status"] != "OK":
        raise reply["exception"]
    return reply["result"]


async def is_near(client: Client, place: Place) -> bool:
    """Return whether the client can reach a worker directly, without the scheduler between them."""
    if client.direct_to_workers:
        return True
    try:
        await asyncio.wait_for(client.rpc(place.address).identity(), NEAR)
    except (OSError, TimeoutError):
        return False
    return True


# Answers of more bytes are added up in a thread: the event loop of the worker should not be blocked for longer than a
# millisecond, in which about four megabytes of integers are added.
LARGE = 2**22


class Holder:
    """A Dask actor: partitions on a worker, and the member of the group that runs the program on them.

    The actors form a tree: the client calls the first one. Each actor passes a message on to its children while its own
    member works, and then merges the answers. When Dask forgets an actor, because the fit is over or the client is
    gone, the member's program ends and its memory is freed.

    Parameters
    ----------
    name : the name of the member, for messages
    partitions : the partitions of this member, which Dask sends to the worker
    """

    def __init__(self, name: str, partitions: Sequence[Any]) -> None:
        self._worker = get_worker()
        self._name, self._partitions = name, list(partitions)
        self._member: Member | None = None
        self._children: list[Place] = []
        self._tree = -1

    async def start(self, program: Callable[..., Any], past: Sequence[Any]) -> None:
        """Run the program in a new member, which first receives the messages `past`.

        The program removes each partition from its list after reading, so that the memory can be freed. A second call
        does nothing; the client makes one if it does not know whether the first call arrived.
        """
        if self._member is not None:
            return
        here = {"partitions": self.__dict__.pop("_partitions"), "n_threads": self._worker.state.nthreads}
        member = Member(partial(program, **here), self._name, past)
        self._member = member
        weakref.finalize(self, member.close).atexit = False  # the thread is a daemon: no need to wait for it

    async def lead(self, children: list[Place], tree: int) -> None:
        """Set the actors to pass messages on to, unless an earlier call had the same or a higher number `tree`."""
        if tree > self._tree:
            self._children, self._tree = children, tree

    async def step(self, number: int, message: Any) -> Answer | Failure:
        """Send message ``number − 1`` to the member and the child actors; return their combined answer ``number``."""
        assert self._member is not None
        own = asyncio.wrap_future(self._member.step(number, message))
        theirs = [call(self._worker.rpc(to.address), to, "step", number, message) for to in self._children]
        answers = await asyncio.gather(own, *theirs)
        if sum(answer.n_bytes for answer in answers if isinstance(answer, Answer)) < LARGE:
            return combine_packed(answers)
        return await asyncio.to_thread(combine_packed, answers)


def combine_packed(answers: Sequence[Answer | Failure]) -> Answer | Failure:
    """Return packed answers merged into one; an error that cannot be pickled becomes a RuntimeError with its text."""
    if len(answers) == 1 and isinstance(answers[0], Answer):
        return answers[0]
    together = combine_answers([answer.unpack() if isinstance(answer, Answer) else answer for answer in answers])
    if isinstance(together, Answer):
        return together.pack()
    try:
        pickle.loads(pickle.dumps(together.error))
    except Exception:
        return Failure(RuntimeError(f"{type(together.error).__name__}: {together.error}"), together.who)
    return together


@dataclass(frozen=True, eq=False)
class Item:
    """A partition that is yet to be computed: its name in messages, and the Dask delayed object that makes it."""

    name: str
    made_by: Any


@dataclass(frozen=True, eq=False)
class Work:
    """The work of a group: the partitions of all members, and the program that they run."""

    items: Sequence[Item]  # the partitions of all members
    program: Callable[..., Any]  # runs on them: called with the group, the list of partitions and ``n_threads``
    rows: Callable[[Any], int] = len  # counts the rows of a partition, on a worker

    def names(self, items: Sequence[int]) -> str:
        """Return the names of the partitions with these indices, for messages."""
        some = ", ".join(self.items[i].name for i in items[:5])
        return some + (f" and {len(items) - 5} more" if len(items) > 5 else "")


@dataclass(frozen=True, eq=False)
class Held:
    """An actor on a worker, as the client knows it: its future, its place, and the indices of its partitions."""

    future: Future
    place: Place
    items: tuple[int, ...]

    @property
    def is_gone(self) -> bool:
        """Whether Dask has lost the actor together with its worker."""
        return self.future.status != "finished"
