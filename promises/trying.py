"""Try the cases of promises in processes of their own."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from runner import Workers

from .promise import Promise, Try


@dataclass
class Tally:
    """What came of a promise.

    Attributes
    ----------
    promise : which one
    planned : how many cases were to be tried
    cases : how many were
    failures : by the number of a case, how it broke the promise
    seconds : what it took, on the clock
    """

    promise: Promise
    planned: int
    cases: int = 0
    failures: dict[int, str] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def tried(self) -> int:
        """How many things were tried, where a case tries several."""
        return self.cases * self.promise.each


def try_case(work: tuple[Try, int]) -> dict[str, Any]:
    """Try one case, in this process."""
    attempt, case = work
    # Workers of a run ignore Ctrl-C, and programs that they start would inherit that; some promises are about Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    attempt(case)
    return {}


def try_promise(
    promise: Promise,
    cases: range,
    *,
    jobs: int = 1,
    until: float = float("inf"),
    watch: Callable[[Tally], None] = lambda tally: None,
) -> Tally:
    """Try cases of a promise.

    Parameters
    ----------
    promise : which one
    cases : their numbers
    jobs : so many processes at a time, unless the promise wants the machine for itself
    until : on `time.monotonic`, when to stop, even if cases are left
    watch : called with the tally after every case
    """
    workers = Workers(count=1 if promise.alone else jobs, limit=promise.seconds)
    tally = Tally(promise, planned=len(cases))
    begin = time.monotonic()
    with closing(workers.outcomes(try_case, [(promise.attempt, case) for case in cases])) as outcomes:
        for (_, case), outcome in outcomes:
            tally.cases += 1
            if outcome.error:
                tally.failures[case] = outcome.error + "\n" + outcome.trace
            tally.seconds = time.monotonic() - begin
            watch(tally)
            if time.monotonic() > until:
                break
    return tally
