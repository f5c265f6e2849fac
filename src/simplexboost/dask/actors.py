"""The actor that holds a member of a group on a Dask worker, with its partitions."""

from __future__ import annotations

import asyncio
import pickle
import weakref
from collections.abc import Sequence
from functools import partial
from typing import Any, Protocol

from distributed import get_worker

from ..group import Answer, Failure, Group, Member, combined
from .calls import Place, call

# Bytes of answers from which they are added up in a thread: the event loop of the worker should not be held up for
# longer than a millisecond, in which about four megabytes of integers are added.
LARGE = 2**22


class Program(Protocol):
    """What members run on their partitions."""

    def __call__(self, group: Group, partitions: list[Any], n_threads: int) -> Any:
        """Run in as many threads; the partitions are taken out of the list."""


class Holder:
    """Partitions on a worker, and the member of the group that runs the program on them.

    Holders form a tree: the client talks to the first one, which passes the message on to others while its own member
    works, and adds up the answers. When Dask forgets the actor, because the fit is over or the client is gone, the
    member's program ends and its memory is freed.

    Parameters
    ----------
    name : of the member, for messages
    partitions : Dask brings them to the worker
    """

    def __init__(self, name: str, partitions: Sequence[Any]) -> None:
        self._worker = get_worker()
        self._name, self._partitions = name, list(partitions)
        self._member: Member | None = None
        self._children: list[Place] = []
        self._tree = -1

    async def start(self, program: Program, past: Sequence[Any]) -> None:
        """Run the program; it is told the messages so far, if there are any.

        The program takes the partitions out of the list that it gets: nobody else holds them here, so that it can free
        each one when it has read it. May be called again, if it is unknown whether the first call arrived.
        """
        if self._member is not None:
            return
        here = {"partitions": self.__dict__.pop("_partitions"), "n_threads": self._worker.state.nthreads}
        member = Member(partial(program, **here), self._name, past)
        self._member = member
        weakref.finalize(self, member.close).atexit = False  # the thread is a daemon: no need to wait for it

    async def lead(self, children: list[Place], tree: int) -> None:
        """Pass messages on to others from now on; a tree is formed anew with a higher number."""
        if tree > self._tree:
            self._children, self._tree = children, tree

    async def step(self, number: int, message: Any) -> Answer | Failure:
        """Tell the member and the children message ``number − 1``; their combined answer ``number``."""
        assert self._member is not None
        own = asyncio.wrap_future(self._member.step(number, message))
        theirs = [call(self._worker.rpc(to.address), to, "step", number, message) for to in self._children]
        answers = await asyncio.gather(own, *theirs)
        if sum(answer.n_bytes for answer in answers if isinstance(answer, Answer)) < LARGE:
            return put_together(answers)
        return await asyncio.to_thread(put_together, answers)


def put_together(answers: Sequence[Answer | Failure]) -> Answer | Failure:
    """Packed answers as one."""
    if len(answers) == 1:
        return sendable(answers[0])
    together = combined([answer.unpacked() if isinstance(answer, Answer) else answer for answer in answers])
    return together.packed() if isinstance(together, Answer) else sendable(together)


def sendable(answer: Answer | Failure) -> Answer | Failure:
    """The answer; an error that cannot be sent is replaced by one that says the same in words."""
    if isinstance(answer, Answer):
        return answer
    try:
        pickle.loads(pickle.dumps(answer.error))
    except Exception:
        return Failure(RuntimeError(f"{type(answer.error).__name__}: {answer.error}"), answer.who)
    return answer
