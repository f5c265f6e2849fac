"""Run BLAS on one thread, so that results do not depend on the number of BLAS threads.

A threaded matrix product may add in another order than a serial one, and waiting BLAS threads take processor time from
the engine's threads. Most BLAS libraries have one number of threads for the whole process, while a caller may run
several fits at once in threads of its own. So the first fit that enters `one_blas_thread` sets the limit, and the last
one that leaves removes it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import cache
from threading import RLock, Thread, current_thread, get_ident, main_thread
from typing import Any

from threadpoolctl import ThreadpoolController


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """A context in which BLAS runs on one thread; contexts may be nested and may overlap in several threads."""
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
    """The loaded BLAS libraries, as threadpoolctl controls them; they are searched once, which takes milliseconds.

    The main thread has another one search. threadpoolctl is called back by the system, and Python ignores exceptions in
    such a call: Ctrl-C at that moment would be lost, together with a library. Only the main thread gets Ctrl-C.
    """
    if current_thread() is not main_thread():
        return search_libraries()
    found: Future[list[Any]] = Future()
    helper = Thread(target=search_for, args=(found,), name="simplexboost")
    try:
        helper.start()
    except RuntimeError:  # the system starts no more threads
        return search_libraries()
    try:
        return found.result()
    finally:
        helper.join()


def search_for(found: Future[list[Any]]) -> None:
    """Search for the libraries, and pass them on, or the exception."""
    try:
        found.set_result(search_libraries())
    except BaseException as error:
        found.set_exception(error)


def search_libraries() -> list[Any]:
    """The loaded BLAS libraries."""
    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


def is_per_thread(library: Any) -> bool:
    """Whether the library keeps its number of BLAS threads per calling thread, as OpenBLAS built with OpenMP does."""
    return bool(library.internal_api == "openblas" and library.threading_layer == "openmp")


class Threads:
    """The numbers of BLAS threads before the limit, of the libraries that are `is_per_thread` or of all the others."""

    def __init__(self, *, per_thread: bool) -> None:
        self.per_thread = per_thread
        self.found: list[tuple[Any, int]] = []

    def limit(self) -> None:
        """Set the number of threads to one."""
        libraries = [library for library in blas_libraries() if is_per_thread(library) == self.per_thread]
        self.found = [(library, library.get_num_threads()) for library in libraries]
        for library in libraries:
            set_threads(library, 1)

    def restore(self) -> None:
        """Set the number of threads back to what it was before `limit`."""
        found, self.found = self.found, []
        for library, number in found:
            set_threads(library, number)


def set_threads(library: Any, number: int) -> None:
    """Set a library's number of threads.

    Since version 3.8 threadpoolctl lets only one Python thread at a time set the thread pool that OpenBLAS shares among
    all, and silently ignores the others. Here one thread may set the limit and another one remove it, so that claim is
    released before and after the call; the lock of `Limit` ensures that our own calls never overlap.
    """
    give_up = getattr(library, "clear_controlling_thread", lambda force: None)
    give_up(force=True)
    library.set_num_threads(number)
    give_up(force=True)


class Limit:
    """The limit of this process, and the contexts that are inside it.

    Entries are stored, not counted, so that `leave` is right even if an interrupt came before the entry was made: it
    removes nothing then. The lock is reentrant because a context may end in the garbage collector, which may run while
    its thread holds the lock.
    """

    def __init__(self) -> None:
        self.lock = RLock()
        self.inside: dict[object, int] = {}  # entry -> the thread that made it
        self.shared: Threads | None = None  # the numbers to restore, while the limit is set

    def enter(self, entry: object) -> None:
        """Set the limit, unless it is set already."""
        with self.lock:
            self.inside[entry] = get_ident()
            if self.shared is None:
                self.shared = Threads(per_thread=False)
                self.shared.limit()

    def leave(self, entry: object) -> None:
        """Remove the limit, unless others are inside."""
        with self.lock:
            self.inside.pop(entry, None)
            self.restore_if_empty()

    def restore_if_empty(self) -> None:
        """Remove the limit if nobody is inside."""
        if not self.inside and self.shared is not None:
            shared, self.shared = self.shared, None
            shared.restore()

    def after_fork_in_child(self) -> None:
        """Drop the entries of other threads: of all threads, a forked child has only the one that forked."""
        self.inside = {entry: thread for entry, thread in self.inside.items() if thread == get_ident()}
        self.restore_if_empty()
        self.lock.release()


_limit = Limit()
if hasattr(os, "register_at_fork"):  # not on Windows
    # The lock is held during the fork, so that the child inherits neither a lock that another thread holds nor a limit
    # that is set only in part.
    os.register_at_fork(
        before=_limit.lock.acquire,
        after_in_parent=_limit.lock.release,
        after_in_child=_limit.after_fork_in_child,
    )
