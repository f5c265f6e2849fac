"""Places partitions on Dask workers, and creates the actors that hold these partitions."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import dask
from distributed import Client, Future, KilledWorker

from .workers import Held, Holder, Place, Work

# Seconds between two looks at whether the workers are still there, while waiting for something.
LOOK = 0.5
PAUSE = 0.005  # between two looks at whether futures are done

# States of a future that will have no result unless it is computed again.
FAILED = ("error", "cancelled", "lost")

# A worker with more rows than this multiple of the mean gives partitions to others. Moving a partition costs its bytes
# once; leaving it costs the time of the fullest worker in every round.
UNEVEN = 1.2


class NoWorkersError(RuntimeError):
    """The error raised if the cluster has had no worker for too long."""


def wait_a_while(futures: Sequence[Future]) -> bool:
    """Wait for `LOOK` seconds, or until all futures are done; return whether all are done."""
    # Not by `wait` of distributed, which asks the current client. To make ours the current one changes settings of all
    # threads, and where fits overlap the last one to end would leave them changed.
    end = time.monotonic() + LOOK
    while not all(future.done() for future in futures):
        if time.monotonic() > end:
            return False
        time.sleep(PAUSE)
    return True


def divide_partitions(
    sizes: Mapping[int, int], held: Mapping[int, Collection[str]], loads: Mapping[str, int]
) -> dict[str, list[int]]:
    """Return the partition indices of each worker, ascending; move a partition only from workers with too many rows.

    Parameters
    ----------
    sizes : the number of rows of every partition, by partition index
    held : the addresses of the workers that have a copy of each partition
    loads : the number of rows that every worker has already, by address
    """
    loads, out = dict(loads), dict[str, list[int]]()
    fair = UNEVEN * (sum(loads.values()) + sum(sizes.values())) / len(loads)
    for i in sorted(sizes, key=lambda i: (-sizes[i], i)):
        here = [address for address in held[i] if address in loads]
        least = min(loads, key=lambda address: (loads[address], address))
        best = min(here, key=lambda address: (loads[address], address), default=least)
        if loads[best] + sizes[i] > max(fair, loads[least] + sizes[i]):
            best = least
        loads[best] += sizes[i]
        out.setdefault(best, []).append(i)
    return {address: sorted(out[address]) for address in sorted(out)}


class Placement:
    """A maker of actors that hold partitions; while it waits, it fails if the cluster has no workers for too long.

    Parameters
    ----------
    client : the client of the Dask cluster
    work : the partitions and the program
    name : the name of the fit, part of Dask keys
    """

    def __init__(self, client: Client, work: Work, name: str) -> None:
        self.client, self.work, self.name = client, work, name
        self.rows: dict[int, int] = {}  # of every item
        self.n_holders = 0
        self.alone_since: float | None = None  # when the cluster was first seen without workers

    def workers(self) -> list[str]:
        """Return the addresses of the workers, sorted; raise `NoWorkersError` if there have been none for too long.

        The limit is ``dask.config`` "simplexboost.workers-timeout", by default 60 seconds.
        """
        found = sorted(self.client.nthreads())
        if found:
            self.alone_since = None
            return found
        patience = float(dask.config.get("simplexboost.workers-timeout", 60.0))
        self.alone_since = self.alone_since or time.monotonic()
        if time.monotonic() - self.alone_since > patience:
            raise NoWorkersError(
                f"the Dask cluster has had no workers for {patience:g} seconds. Start some and fit again, or wait "
                'longer: dask.config.set({"simplexboost.workers-timeout": seconds}).'
            )
        return []

    def make(self, items: Sequence[int], held: Sequence[Held]) -> list[Held]:
        """Return new actors that hold the given partitions, besides those in `held`; some may already be lost.

        Afterwards Dask forgets the partitions themselves; the actors keep what the program makes from the partitions.
        """
        futures = self.compute(items)
        self.count(futures)
        loads = dict.fromkeys(self.workers(), 0)
        for holder in held:
            if holder.place.address in loads:
                loads[holder.place.address] += sum(self.rows[i] for i in holder.items)
        if not loads:  # all workers died meanwhile; the next try waits for others
            return []
        where = self.client.who_has(list(futures.values()))
        sizes = {i: self.rows[i] for i in items}
        parts = divide_partitions(sizes, {i: where.get(future.key, ()) for i, future in futures.items()}, loads)
        new = [self.hold(address, some, futures) for address, some in parts.items()]
        self.wait_for(new)
        return new

    def compute(self, items: Sequence[int]) -> dict[int, Future]:
        """Compute partitions; return their finished futures, by partition index.

        Raises
        ------
        The error of a partition that cannot be computed, with a note that names it; RuntimeError if some partitions are
        made from data that is gone
        """
        futures = dict(zip(items, self.client.compute([self.work.items[i].made_by for i in items]), strict=True))
        while not wait_a_while(list(futures.values())) and not any(f.status in FAILED for f in futures.values()):
            self.workers()
        failed = [i for i, future in futures.items() if future.status == "error"]
        gone = [i for i, future in futures.items() if future.status in ("cancelled", "lost")]
        if gone:
            raise RuntimeError(
                f"Dask cannot compute {self.work.names(gone)}: data that they are made from was scattered to workers "
                "that are gone, or was cancelled. Make partitions from files, or from tasks that can be repeated."
            )
        if failed:
            error = futures[failed[0]].exception()
            error.add_note(f"This happened when Dask computed {self.work.names(failed[:1])}.")
            raise error
        return futures

    def count(self, futures: dict[int, Future]) -> None:
        """Store the row counts of partitions; raise RuntimeError if one was recomputed with another row count."""
        key = f"simplexboost-count-{self.name}-{self.n_holders}"
        each = self.client.map(self.work.rows, list(futures.values()), key=[f"{key}-{i}" for i in futures])
        for i, now in zip(futures, self.result(self.client.submit(list, each, key=key)), strict=True):
            before = self.rows.setdefault(i, now)
            if now != before:
                raise RuntimeError(
                    f"{self.work.items[i].name} was lost with its worker, and came out different when it was computed "
                    f"again ({before} rows before, {now} now): the fit cannot go on. Partitions must come out the same "
                    "each time, for example from files that do not change."
                )

    def result(self, future: Future) -> Any:
        """Wait for a future, return its result; raise `NoWorkersError` if the cluster has no workers for too long."""
        while True:
            try:
                return future.result(timeout=10 * LOOK)
            except TimeoutError:
                if future.status == "error":  # its own
                    raise
                self.workers()

    def hold(self, address: str, items: Sequence[int], futures: dict[int, Future]) -> Held:
        """Submit an actor for some partitions to a worker; return it before it is created."""
        key = f"simplexboost-fit-{self.name}-{self.n_holders}"
        self.n_holders += 1
        future = self.client.submit(
            Holder,
            f"worker {address}",
            [futures[i] for i in items],
            actor=True,
            workers=[address],
            allow_other_workers=False,
            key=key,
        )
        return Held(future, Place(address, key), tuple(items))

    def wait_for(self, new: Sequence[Held]) -> None:
        """Wait until actors are created, except on lost workers; raise the error of any other actor that fails."""
        while not wait_a_while([holder.future for holder in new]):
            workers = self.workers()
            if not any(holder.future.status == "pending" and holder.place.address in workers for holder in new):
                break
        for holder in new:
            if holder.future.status == "error":
                error = holder.future.exception()
                if not isinstance(error, KilledWorker | RuntimeError):  # these say that the worker is gone
                    raise error
