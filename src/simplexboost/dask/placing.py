"""Which worker gets which partitions, and waiting for workers."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import dask
from distributed import Client, Future

# Seconds between two looks at whether the workers are still there, while waiting for something.
LOOK = 0.5
PAUSE = 0.005  # between two looks at whether futures are done

# What has become of a future that will never have a result, unless it is computed again.
FAILED = ("error", "cancelled", "lost")

# How many times the mean a worker may have before partitions are moved away from it. To move one costs its bytes once;
# to leave it costs the time of the fullest worker in every round.
UNEVEN = 1.2


class NoWorkersError(RuntimeError):
    """The cluster has had no worker for too long."""


def patience() -> float:
    """Seconds to wait for a cluster without workers: ``dask.config`` "simplexboost.workers-timeout", 60 if not set."""
    return float(dask.config.get("simplexboost.workers-timeout", 60.0))


class Watch:
    """Waits for a cluster, but not forever for one that has no workers."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.since: float | None = None  # when it was first seen without workers

    def workers(self) -> list[str]:
        """The addresses of the workers, in order.

        Raises
        ------
        NoWorkersError : if there have been none for longer than `patience`
        """
        found = sorted(self.client.nthreads())
        if found:
            self.since = None
            return found
        self.since = self.since or time.monotonic()
        if time.monotonic() - self.since > patience():
            raise NoWorkersError(
                f"the Dask cluster has had no workers for {patience():g} seconds. Start some and fit again, or wait "
                'longer: dask.config.set({"simplexboost.workers-timeout": seconds}).'
            )
        return []

    def wait(self, futures: Sequence[Future]) -> None:
        """Wait until all futures are done, or one has failed."""
        while not waited(futures) and not any(future.status in FAILED for future in futures):
            self.workers()

    def result(self, future: Future) -> Any:
        """The result of a future."""
        while True:
            try:
                return future.result(timeout=10 * LOOK)
            except TimeoutError:
                if future.status == "error":  # its own
                    raise
                self.workers()


def waited(futures: Sequence[Future]) -> bool:
    """Wait for a while; whether all are done."""
    # Not by `wait` of distributed, which asks the current client. To make ours the current one changes settings of all
    # threads, and where fits overlap the last one to end would leave them changed.
    end = time.monotonic() + LOOK
    while not all(future.done() for future in futures):
        if time.monotonic() > end:
            return False
        time.sleep(PAUSE)
    return True


def shares(
    sizes: Mapping[int, int], held: Mapping[int, Collection[str]], loads: Mapping[str, int]
) -> dict[str, list[int]]:
    """Partitions for workers: where they are, unless that worker would have much more than the others.

    Parameters
    ----------
    sizes : rows of every partition
    held : the workers that have a partition
    loads : rows that workers have already; all workers are named here

    Returns
    -------
    ascending partitions by worker

    Examples
    --------
    >>> shares({0: 5, 1: 5}, {0: ["a"], 1: ["b"]}, {"a": 0, "b": 0})
    {'a': [0], 'b': [1]}
    >>> shares({0: 5, 1: 5, 2: 5}, {0: ["a"], 1: ["a"], 2: ["a"]}, {"a": 0, "b": 0})
    {'a': [0, 2], 'b': [1]}
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
