"""A group in one process: every member is a thread, and messages are copied as if they travelled."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from simplexboost.distributed.comm import (
    DONE,
    Answer,
    Failure,
    Group,
    Leader,
    LostMembersError,
    Member,
    combine_answers,
)

PATIENCE = 120.0  # seconds until a group that waits for itself is given up


class ThreadTransport:
    """Runs a program in a thread per member, and combines what they answer, the last one first.

    Parameters
    ----------
    programs : one per member, called with the `Member`
    losses : the members that are lost on their way to an answer, by the number of the answer: {7: [0, 2]}

    Attributes
    ----------
    members : None where one is lost
    restored : the numbers of members that were replaced, one after another
    """

    def __init__(
        self, programs: Sequence[Callable[[Member], Any]], losses: Mapping[int, Sequence[int]] | None = None
    ) -> None:
        self.programs, self.losses, self.restored = list(programs), dict(losses or {}), list[int]()
        self.members: list[Member | None] = [Member(program, f"member {i}") for i, program in enumerate(self.programs)]

    def kill(self, i: int) -> None:
        """Lose a member, wherever its program is."""
        member = self.members[i]
        assert member is not None
        member.close()
        self.members[i] = None

    def step(self, number: int, message: Any) -> Answer | Failure:
        """The combined answer of all members; those that are to be lost get the question, but never answer."""
        futures = [member.step(number, copied(message)) for member in self.members if member is not None]
        for i in self.losses.pop(number, ()):
            self.kill(i)
        if None in self.members:
            raise LostMembersError("members are gone.")
        answers = [copied(future.result(PATIENCE)) for future in reversed(futures)]
        return combine_answers([a if isinstance(a, Failure) else a.unpack() for a in answers])

    def restore(self, messages: list[Any]) -> None:
        """New members in the place of those that are gone."""
        for i, member in enumerate(self.members):
            if member is None:
                self.members[i] = Member(self.programs[i], f"member {i}", [copied(message) for message in messages])
                self.restored.append(i)

    def close(self) -> None:
        """Dissolve the group."""
        for member in self.members:
            if member is not None:
                member.close()


def run_group(
    program: Callable[..., Any],
    tables: Sequence[Any],
    nothing: Any,
    losses: Mapping[int, Sequence[int]] | None = None,
) -> list[Any]:
    """What ``program(group, table)`` returns at the leader, with the table ``nothing``, and at every member.

    Parameters
    ----------
    tables : one per member
    losses : see `ThreadTransport`
    """
    results: dict[int, Any] = {}

    def of_member(i: int) -> Callable[[Group], None]:
        def run(group: Group) -> None:
            results[i] = program(group, tables[i])

        return run

    transport = ThreadTransport([of_member(i) for i in range(len(tables))], losses)
    try:
        leader = Leader(transport)
        own = program(leader, nothing)
        leader.ask(DONE)  # raises what went wrong after the last exchange
    finally:
        transport.close()
    assert not transport.losses, f"the program ended before the answers {sorted(transport.losses)}."
    return [own, *(results[i] for i in range(len(tables)))]


def copied(value: Any) -> Any:
    """A value as it arrives on another machine."""
    return pickle.loads(pickle.dumps(value))
