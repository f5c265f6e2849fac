"""How many threads `n_jobs` stands for, and work that several Python threads share."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable
from numbers import Integral
from threading import Event, Thread, current_thread, main_thread
from typing import Any

from joblib import effective_n_jobs
from joblib.parallel import get_active_backend

from ._cores import cores_here

MOST = 2**31 - 1  # the largest number of threads that the compiled code takes


def thread_count(n_jobs: Any, *, all_by_default: bool = False) -> int:
    """The number of threads; None is `free_cores` with `all_by_default`, otherwise what joblib says, which is 1.

    Examples
    --------
    >>> thread_count(None), thread_count(3)
    (1, 3)
    """
    accepted = "a positive number of threads, a negative integer (-1: all cores, -2: all but one, ..) or None"
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral)):
        raise TypeError(f"n_jobs={n_jobs!r} must be {accepted}.")
    if n_jobs == 0:
        raise ValueError(f"n_jobs={n_jobs!r} has no meaning; it must be {accepted}.")
    if n_jobs is not None and int(n_jobs) > MOST:
        raise ValueError(f"n_jobs={n_jobs!r} is out of range; it must be {accepted}.")
    if n_jobs is not None:
        return int(n_jobs) if int(n_jobs) > 0 else max(1, share_of_cores() + 1 + int(n_jobs))
    return free_cores() if all_by_default else int(effective_n_jobs(None))


def share_of_cores() -> int:
    """The cores that −1 stands for: all that this process may use, and in a worker of joblib its share of them."""
    return free_cores() if get_active_backend()[0].nesting_level else cores_here()


def free_cores() -> int:
    """The cores that this thread may use.

    These are the cores of the process: its affinity, the limits of its container and ``OMP_NUM_THREADS`` are
    respected. Inside ``joblib.parallel_config(n_jobs=…)`` they are that many. joblib's worker processes find their
    share in ``OMP_NUM_THREADS``; its worker threads, which cannot, get one.
    """
    backend, configured = get_active_backend()
    if configured is not None:
        return int(effective_n_jobs(None))
    limit = omp_limit()
    if backend.nesting_level and (limit is None or current_thread() is not main_thread()):
        return 1
    cores = cores_here()
    return cores if limit is None else min(cores, limit)


def omp_limit() -> int | None:
    """The number of threads in ``OMP_NUM_THREADS``, which may list one for every level of nesting; None if unset."""
    first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return int(first) if first.isdecimal() and int(first) > 0 else None


def side_by_side(function: Callable[[Any], None], items: Iterable[Any], n_threads: int, cancelled: Event) -> None:
    """Call a function with every item, on up to so many threads, the caller's among them.

    If the system starts no more threads, fewer do the work. After an exception the event is set, which the function
    should heed, and no more items are begun; the first exception is raised when the others have stopped. An interrupt
    is raised at once: threads that have not stopped yet end by themselves.

    Examples
    --------
    >>> seen = []
    >>> side_by_side(seen.append, range(5), 2, Event())
    >>> sorted(seen)
    [0, 1, 2, 3, 4]
    """
    waiting, errors = deque(items), list[BaseException]()

    def work() -> None:
        while waiting and not cancelled.is_set():
            try:
                item = waiting.popleft()
            except IndexError:  # another thread was faster
                return
            try:
                function(item)
            except BaseException as error:
                errors.append(error)
                cancelled.set()

    try:
        helpers = start_threads(work, min(n_threads, len(waiting)) - 1)
        work()
        if not any(isinstance(error, KeyboardInterrupt) for error in errors):
            for helper in helpers:
                helper.join()
    except BaseException:  # an interrupt that came while this thread started others or waited for them
        cancelled.set()
        raise
    if errors:
        raise errors[0]


def start_threads(work: Callable[[], None], number: int) -> list[Thread]:
    """Up to so many threads that run a function; fewer if the system starts no more."""
    threads: list[Thread] = []
    for _ in range(number):
        thread = Thread(target=work, name="simplexboost")
        try:
            thread.start()
        except RuntimeError:
            break
        threads.append(thread)
    return threads
