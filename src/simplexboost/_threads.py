"""How many threads `n_jobs` stands for."""

from __future__ import annotations

import os
from numbers import Integral
from threading import current_thread, main_thread
from typing import Any

from joblib import cpu_count, effective_n_jobs
from joblib.parallel import get_active_backend

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
    return free_cores() if n_jobs is None and all_by_default else int(effective_n_jobs(n_jobs))


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
    cores = int(cpu_count())
    return cores if limit is None else min(cores, limit)


def omp_limit() -> int | None:
    """The number of threads in ``OMP_NUM_THREADS``, which may list one for every level of nesting; None if unset."""
    first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return int(first) if first.isdecimal() and int(first) > 0 else None
