"""A small program that members of a group run, to test how messages travel; and workers that die."""

import os
import signal
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import dask
import numpy as np

from simplexboost.distributed.comm import Leader
from simplexboost.distributed.dask.transport import DaskTransport
from simplexboost.distributed.dask.workers import Item, Work


@dataclass
class Toy:
    """Adds up the rows of everybody again and again; every round depends on the ones before.

    Attributes
    ----------
    rounds : their number
    odd : a round in which the member that has partition 4 does something special
    does : what it does
    """

    rounds: int = 10
    odd: int = -1
    does: object = None
    hooks: dict = field(default_factory=dict)  # of the leader: called before a round

    def __call__(self, group, partitions, n_threads=1):
        """The number that all rounds make together."""
        rows = [int(partition.sum()) for partition in partitions]
        partitions.clear()
        total = 0
        for r in range(self.rounds):
            if r == self.odd and make(4).sum() in rows:
                self.does()
            if group.leads and r in self.hooks:
                self.hooks[r]()
            total = self.one(group, rows, total, r)
        return total

    def one(self, group, rows, total, r):
        """One exchange."""
        sums = group.exchange("add", lambda: [("sum", np.array([sum(rows) * (r + 1), sum(x * total for x in rows)]))])
        return (3 * total + int(sums[0].sum())) % 1_000_003


def make(i):
    """Partition i: 0, 1, …, i."""
    return np.arange(i + 1)


def toy(n, make=make, **options):
    """The work of a toy on n partitions."""
    name = os.urandom(4).hex()
    made = [dask.delayed(make, pure=False)(i, dask_key_name=f"simplexboost-partition-{name}-{i}") for i in range(n)]
    return Work([Item(f"partition {i}", part) for i, part in enumerate(made)], Toy(**options))


def expected(n, rounds=10):
    """What the toy finds on n partitions."""
    rows, total = [int(make(i).sum()) for i in range(n)], 0
    for r in range(rounds):
        total = (3 * total + sum(rows) * (r + 1) + sum(x * total for x in rows)) % 1_000_003
    return total


def play(client, work, **hooks):
    """What the toy finds on a cluster, and the transport."""
    with DaskTransport(client, work, os.urandom(4).hex()) as transport:
        return Toy(work.program.rounds, **hooks)(Leader(transport), []), transport


def say_wrong():
    """Raise an error."""
    raise ValueError("this partition is wrong.")


def die():
    """Kill the process."""
    os.kill(os.getpid(), signal.SIGKILL)


@dataclass
class Waits:
    """Waits until somebody kills the process; whoever comes later goes on."""

    path: str

    def __call__(self):
        """Leave the number of the process in a file, and wait."""
        if not os.path.exists(self.path):
            new = Path(self.path + ".new")
            new.write_text(str(os.getpid()))
            new.rename(self.path)
            time.sleep(600)


def kills(path):
    """A thread that kills the process that waits."""

    def kill():
        while not os.path.exists(path):
            time.sleep(0.01)
        os.kill(int(Path(path).read_text()), signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    return thread
