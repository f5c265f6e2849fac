"""Carries messages between the leader of a group and its members on a Dask cluster, and fits on the cluster.

The members are in Dask actors on the workers (`workers.Holder`); the leader runs in the process of the Dask client.
"""

from __future__ import annotations

import asyncio
import copy
import secrets
import time
from collections import Counter
from collections.abc import Sequence
from concurrent import futures
from dataclasses import dataclass
from typing import Any, Self

import dask
from distributed import Client
from distributed.actor import ProxyRPC

from ...tables.partitions import Partition
from ..comm import Answer, Failure, Group, Leader, LostMembersError, Traffic
from ..fitting import fit_group
from .collections import as_items, as_tables, count_part_rows
from .placement import LOOK, Placement
from .workers import Held, Item, Place, Work, call, is_near

# The number of others to which a holder passes messages. Four answers and its own are added up in about the time that a
# message takes (3 ms); a thousand workers are five steps away from the client.
FAN = 4

# Tries of a call that fails although no worker is gone, and the seconds in which the scheduler should notice a loss.
TRIES = 3
NOTICE = 5.0


class DaskTransport:
    """A `comm.Transport` for a Dask cluster; it also places partitions on the workers, in `Holder` actors.

    Use it as a context manager: at the end of the block, the actors are released, even after an error.

    Parameters
    ----------
    client : the client of the Dask cluster
    work : the partitions, and the program that the members run
    name : a unique name of the fit; part of the keys that Dask's dashboard shows
    """

    def __init__(self, client: Client, work: Work, name: str) -> None:
        self.client, self.work = client, work
        self.placement = Placement(client, work, name)
        self.held: list[Held] = []  # the client asks the first one, which passes messages on to others
        self.started: set[Held] = set()
        self.near: set[Place] = set()  # where the client need not go through the scheduler
        self.losses: Counter[int] = Counter()  # of every item, since the last answer
        self.n_lost, self.n_trees = 0, 0  # holders that were lost and replaced; trees of holders that were formed

    def __enter__(self) -> Self:
        try:
            self.restore([])
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the Dask actors, so that Dask drops them and the group members that run in them stop."""
        held, self.held, self.started = self.held, [], set()
        for holder in held:
            holder.future.release()

    # ---- messages ---------------------------------------------------------------------------------------------------

    def step(self, number: int, message: Any) -> Answer | Failure:
        for attempt in range(TRIES):
            try:
                [answer] = self.ask("step", {self.held[0]: (number, message)})
                break
            except OSError:  # a member that has answered already answers the same again
                if attempt == TRIES - 1:
                    raise
        self.losses.clear()
        return answer

    def ask(self, method: str, args: dict[Held, tuple[Any, ...]]) -> list[Any]:
        """Call a method of several actors at the same time, with `args` for each actor; return the results.

        Raises
        ------
        LostMembersError : if any actor is gone, even one that is not called: another actor may wait for it
        OSError : if an actor does not reply although Dask has lost none
        """
        asked = asyncio.run_coroutine_threadsafe(self._ask(method, args), self._loop)
        try:
            while not futures.wait([asked], LOOK).done:
                self.check_held()
            return asked.result()
        except (OSError, KeyError) as error:
            self.wait_for_notice()
            raise OSError(f"a worker does not answer: {error}") from error
        finally:
            asked.cancel()

    @property
    def _loop(self) -> asyncio.AbstractEventLoop:
        """The event loop of the Dask client, which runs in a thread of its own."""
        loop: Any = self.client.loop
        return loop.asyncio_loop

    async def _ask(self, method: str, args: dict[Held, tuple[Any, ...]]) -> list[Any]:
        calls = []
        for to, some in args.items():
            address = to.place.address
            rpc = self.client.rpc(address) if to.place in self.near else ProxyRPC(self.client.scheduler, address)
            calls.append(call(rpc, to.place, method, *some))
        return await asyncio.gather(*calls)

    def wait_for_notice(self) -> None:
        """Wait for some seconds; raise `LostMembersError` as soon as the scheduler reports a lost worker."""
        until = time.monotonic() + NOTICE
        while time.monotonic() < until:
            self.check_held()
            time.sleep(0.02)

    def check_held(self) -> None:
        if any(holder.is_gone for holder in self.held):
            raise LostMembersError

    # ---- members ----------------------------------------------------------------------------------------------------

    def restore(self, messages: list[Any]) -> None:
        while True:
            try:
                self.forget([holder for holder in self.held if holder.is_gone])
                missing = set(range(len(self.work.items))) - {i for holder in self.held for i in holder.items}
                if missing:
                    self.held += self.placement.make(sorted(missing), self.held)
                else:
                    self.start(messages)
                    return self.form_tree()
            except LostMembersError:
                continue

    def forget(self, gone: Sequence[Held]) -> None:
        """Forget the lost actors `gone`; raise RuntimeError if one partition was lost too often since the last answer.

        A partition that needs more memory than a worker has kills every worker that it is moved to.
        """
        self.held = [holder for holder in self.held if holder not in gone]
        self.n_lost += len(gone)
        allowed = int(dask.config.get("distributed.scheduler.allowed-failures", 3))
        for holder in gone:
            holder.future.release()
            self.losses.update(holder.items)
            if any(self.losses[i] > allowed for i in holder.items):
                raise RuntimeError(
                    f"{allowed + 1} workers died one after another while they worked on "
                    f"{self.work.names(holder.items)}. If they ran out of memory, use smaller partitions or larger "
                    "workers."
                )

    def start(self, messages: list[Any]) -> None:
        """Start the program on the actors that are new; they first replay `messages`."""
        new = [holder for holder in self.held if holder not in self.started]
        self.ask("start", dict.fromkeys(new, (self.work.program, messages)))
        self.started = set(self.held)

    def form_tree(self) -> None:
        """Tell every actor the places of its children: the actors to which it must pass messages on."""
        places = [holder.place for holder in self.held]
        first = asyncio.run_coroutine_threadsafe(is_near(self.client, places[0]), self._loop)
        self.near = {places[0]} if first.result() else set()
        self.n_trees += 1
        self.ask(
            "lead", {to: (places[FAN * n + 1 : FAN * n + FAN + 1], self.n_trees) for n, to in enumerate(self.held)}
        )


@dataclass(frozen=True, eq=False)
class Fit:
    """The program of the members: it fits an estimator on a member's partitions."""

    estimator: Any
    n_tables: int
    eval_metric: Any = None

    def __call__(self, group: Group, partitions: list[Any], n_threads: int) -> None:
        """Fit a copy of the estimator, because several workers in one process share the same object."""
        estimator = copy.deepcopy(self.estimator)
        if estimator.n_jobs is None:
            estimator.n_jobs = n_threads  # several workers may share a machine
        self.run(group, estimator, partitions)

    def run(self, group: Group, estimator: Any, partitions: list[Any]) -> None:
        fit_group(group, estimator, as_tables(partitions, self.n_tables), self.eval_metric)


def fit_on_cluster(
    client: Client, estimator: Any, train: dict[str, Any], sets: list[Partition], eval_metric: Any
) -> Traffic:
    """Fit a local estimator on the tables of a Dask cluster; return the counts of messages.

    Parameters
    ----------
    train : X, y and all other arguments with an entry per row, as Dask collections
    sets : the tables to evaluate after every round
    """
    run, local = secrets.token_hex(4), type(estimator).__name__
    items: list[Item] = as_items(train, 0, "", run, local)
    for number, one in enumerate(sets):
        suffix = "_val" if len(sets) == 1 else f"_val[{number}]"
        items += as_items(
            {name: value for name, value in vars(one).items() if name != "index"}, number + 1, suffix, run, local
        )
    sent = copy.copy(estimator)
    sent.callbacks = None  # only the leader calls them, and they need not be picklable
    fit = Fit(sent, 1 + len(sets), eval_metric)
    with DaskTransport(client, Work(items, fit, count_part_rows), run) as transport:
        leader = Leader(transport)
        fit.run(leader, estimator, [])
    return leader.traffic
