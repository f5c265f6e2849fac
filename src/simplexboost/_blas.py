"""One BLAS thread, so that results do not depend on how many there are.

A threaded matrix product may add in another order than a serial one, and spinning BLAS threads fight the engine's own.
The number of BLAS threads mostly belongs to the whole process, while fits may overlap in threads of the caller's. So
the first one that enters `one_blas_thread` sets the limit, and the last one that leaves takes it back.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import RLock, get_ident
from typing import Any

from threadpoolctl import ThreadpoolController


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """A context in which BLAS runs on one thread; contexts may be nested, and overlap in threads."""
    entry = object()
    own = Threads(per_thread=True)
    try:
        _limit.enter(entry)
        own.limit()
        yield
    finally:
        own.restore()
        _limit.leave(entry)


@cache
def blas_libraries() -> list[Any]:
    """The loaded BLAS libraries, as threadpoolctl controls them; looking for them takes a few milliseconds, once."""
    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


def is_per_thread(library: Any) -> bool:
    """Whether every thread has a number of BLAS threads of its own; so it is where OpenBLAS is built with OpenMP."""
    return bool(library.internal_api == "openblas" and library.threading_layer == "openmp")


class Threads:
    """The numbers of BLAS threads as found, of the libraries whose number is each thread's own, or of all others."""

    def __init__(self, *, per_thread: bool) -> None:
        self.per_thread = per_thread
        self.found: list[tuple[Any, int]] = []

    def limit(self) -> None:
        """One thread from now on."""
        libraries = [library for library in blas_libraries() if is_per_thread(library) == self.per_thread]
        self.found = [(library, library.get_num_threads()) for library in libraries]
        for library in libraries:
            set_threads(library, 1)

    def restore(self) -> None:
        """As many as were found."""
        found, self.found = self.found, []
        for library, number in found:
            set_threads(library, number)


def set_threads(library: Any, number: int) -> None:
    """Set a library's number of threads.

    From version 3.8 on threadpoolctl lets one thread of Python at a time set the pool that OpenBLAS shares among all,
    and ignores the others without a word. Here one thread may set the limit and another one take it back, so that claim
    is given up before and after; the lock of `Limit` sees to it that our calls do not cross.
    """
    give_up = getattr(library, "clear_controlling_thread", lambda force: None)
    give_up(force=True)
    library.set_num_threads(number)
    give_up(force=True)


class Limit:
    """The limit of this process, and who is inside.

    Entries are remembered, not counted, so that leaving is right wherever an interrupt struck: an entry that was not
    made is not taken back. The lock is reentrant because a context may end in the garbage collector, which may run
    while its thread holds the lock.
    """

    def __init__(self) -> None:
        self.lock = RLock()
        self.inside: dict[object, int] = {}  # entry -> the thread that made it
        self.shared: Threads | None = None  # while there is a limit

    def enter(self, entry: object) -> None:
        """Set the limit, unless it is there."""
        with self.lock:
            self.inside[entry] = get_ident()
            if self.shared is None:
                self.shared = Threads(per_thread=False)
                self.shared.limit()

    def leave(self, entry: object) -> None:
        """Take the limit back, unless others are inside."""
        with self.lock:
            self.inside.pop(entry, None)
            self.restore_if_empty()

    def restore_if_empty(self) -> None:
        """Take the limit back if nobody is inside."""
        if not self.inside and self.shared is not None:
            shared, self.shared = self.shared, None
            shared.restore()

    def after_fork_in_child(self) -> None:
        """Of all threads the child has only the one that forked; the entries of others end here."""
        self.inside = {entry: thread for entry, thread in self.inside.items() if thread == get_ident()}
        self.restore_if_empty()
        self.lock.release()


_limit = Limit()
if hasattr(os, "register_at_fork"):  # not on Windows
    # Held across the fork, the lock is never inherited from another thread, nor is a limit half set.
    os.register_at_fork(
        before=_limit.lock.acquire,
        after_in_parent=_limit.lock.release,
        after_in_child=_limit.after_fork_in_child,
    )
