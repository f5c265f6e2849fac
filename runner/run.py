"""Compute what a store does not hold yet."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, TypeVar

from .stores import Cell, Outcome, Store
from .workers import Workers, attempt

AnyCell = TypeVar("AnyCell", bound=Cell)


@dataclass
class Countdown:
    """Cells and cost that are left; several runs may share one.

    Attributes
    ----------
    cells, cost : of everything that is to be computed, or is finished before
    """

    cells: int
    cost: float
    done: int = 0
    cost_done: float = 0.0
    begin: float = field(default_factory=time.perf_counter)

    def skip(self, cell: Cell) -> None:
        """Was finished before: nothing is learned about the time that others take."""
        self.done += 1
        self.cost -= cell.cost

    def finish(self, cell: Cell) -> str:
        """Is finished now; returns the time to go."""
        self.done += 1
        self.cost_done += cell.cost
        spent = time.perf_counter() - self.begin
        return duration(spent * max(self.cost / self.cost_done - 1, 0.0) if self.cost_done else 0.0)


def run(
    cells: Iterable[AnyCell],
    store: Store,
    compute: Callable[[AnyCell], dict[str, Any]],
    workers: Workers | None = None,
    describe: Callable[[dict[str, Any]], str] | None = None,
    countdown: Countdown | None = None,
) -> list[AnyCell]:
    """Compute what is not finished yet, beginning in the order given.

    Parameters
    ----------
    cells : what is wanted; of equal ones the first counts
    store : where outcomes are looked up and saved
    compute : from a cell to its result, a dictionary that can be JSON
    workers : processes to compute in; None for this one
    describe : a result in a few words; None for the seconds it took
    countdown : of several runs, where this is one of them

    Returns
    -------
    The cells that failed, in the order given.
    """
    unique: dict[str, AnyCell] = {}
    for cell in cells:
        unique.setdefault(cell.key, cell)
    waiting = [cell for cell in unique.values() if store.get(cell) is None]
    if countdown is None:
        countdown = Countdown(len(unique), sum(cell.cost for cell in unique.values()))
        print(f"{len(unique)} cells, {len(unique) - len(waiting)} finished before", flush=True)
    for key in unique.keys() - {cell.key for cell in waiting}:
        countdown.skip(unique[key])
    here = ((cell, attempt(compute, cell)) for cell in waiting)
    failed = set()
    with closing(workers.outcomes(compute, waiting) if workers else here) as outcomes:
        for cell, outcome in outcomes:
            store.put(cell, outcome)
            to_go = countdown.finish(cell)
            words = in_words(outcome, describe)
            print(f"[{countdown.done}/{countdown.cells}] {cell.name}: {words}; {to_go} to go", flush=True)
            if outcome.result is None:
                print(outcome.trace, end="", flush=True)
                failed.add(cell.key)
    return [cell for cell in waiting if cell.key in failed]


def in_words(outcome: Outcome, describe: Callable[[dict[str, Any]], str] | None) -> str:
    """What came of a cell, as part of a line."""
    if outcome.result is None:
        return f"FAILED, {outcome.error}"
    return describe(outcome.result) if describe else f"{outcome.seconds:.1f} s"


def duration(seconds: float) -> str:
    """Seconds, minutes or hours.

    Examples
    --------
    >>> duration(50), duration(150), duration(9000)
    ('50 s', '2.5 min', '2.5 h')
    """
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"
