"""Partitions are computed, and given to holders on the workers that have them."""

from __future__ import annotations

from collections.abc import Sequence

from distributed import Client, Future, KilledWorker

from .actors import Holder
from .calls import Place
from .placing import Watch, shares, waited
from .work import Held, Work


class Placement:
    """Makes holders of partitions on the workers.

    Parameters
    ----------
    client : of the Dask cluster
    work : knows the partitions
    name : of the fit, for keys
    """

    def __init__(self, client: Client, work: Work, name: str) -> None:
        self.client, self.work, self.name = client, work, name
        self.watch = Watch(client)
        self.rows: dict[int, int] = {}  # of every item
        self.n_holders = 0

    def make(self, items: Sequence[int], held: Sequence[Held]) -> list[Held]:
        """Holders of some items, beside others that exist; some of them may be gone already.

        The partitions themselves are forgotten at the end. Whatever the program makes of them stays with the holder.
        """
        futures = self.compute(items)
        self.count(futures)
        loads = dict.fromkeys(self.watch.workers(), 0)
        for holder in held:
            if holder.place.address in loads:
                loads[holder.place.address] += sum(self.rows[i] for i in holder.items)
        if not loads:  # all workers died meanwhile; the next try waits for others
            return []
        where = self.client.who_has(list(futures.values()))
        sizes = {i: self.rows[i] for i in items}
        parts = shares(sizes, {i: where.get(future.key, ()) for i, future in futures.items()}, loads)
        new = [self.hold(address, some, futures) for address, some in parts.items()]
        self.wait_for(new)
        return new

    def compute(self, items: Sequence[int]) -> dict[int, Future]:
        """Items as futures that are done.

        Raises
        ------
        The error of a partition that cannot be computed, with a note that names it; RuntimeError if what some are made
        from is gone
        """
        futures = dict(zip(items, self.client.compute([self.work.items[i].made_by for i in items]), strict=True))
        self.watch.wait(list(futures.values()))
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
        """Count the rows of items; those that were computed again must have as many as before."""
        key = f"simplexboost-count-{self.name}-{self.n_holders}"
        each = self.client.map(self.work.rows, list(futures.values()), key=[f"{key}-{i}" for i in futures])
        for i, now in zip(futures, self.watch.result(self.client.submit(list, each, key=key)), strict=True):
            before = self.rows.setdefault(i, now)
            if now != before:
                raise RuntimeError(
                    f"{self.work.items[i].name} was lost with its worker, and came out different when it was computed "
                    f"again ({before} rows before, {now} now): the fit cannot go on. Partitions must come out the same "
                    "each time, for example from files that do not change."
                )

    def hold(self, address: str, items: Sequence[int], futures: dict[int, Future]) -> Held:
        """A holder that is being made on a worker."""
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
        """Wait until holders are made, except those whose workers are gone.

        Raises
        ------
        The error of a holder that cannot be made although its worker is there
        """
        while not waited([holder.future for holder in new]):
            workers = self.watch.workers()
            if not any(holder.future.status == "pending" and holder.place.address in workers for holder in new):
                break
        for holder in new:
            if holder.future.status == "error":
                error = holder.future.exception()
                if not isinstance(error, KilledWorker | RuntimeError):  # these say that the worker is gone
                    raise error
