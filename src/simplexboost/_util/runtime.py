"""Finds out how many cores and how much memory the process may use, and runs work in threads within these limits.

joblib counts the cores of the affinity mask, and knows the processor quota of the outermost control group that it sees.
systemd, SLURM and containers that share the host's control groups may set quotas further inside. All of them hold, so
the smallest one counts.

BLAS runs on one thread during a fit: a threaded matrix product may add in another order than a serial one, and waiting
BLAS threads take processor time from the engine's. Most BLAS libraries have one number of threads for the whole
process, in which several fits may run at once, so the first fit that enters `one_blas_thread` sets the limit and the
last one that leaves removes it.
"""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, lru_cache
from numbers import Integral
from pathlib import Path
from threading import Event, RLock, Thread, current_thread, get_ident, main_thread
from time import monotonic
from typing import Any

from joblib import cpu_count, effective_n_jobs
from joblib.parallel import get_active_backend
from threadpoolctl import ThreadpoolController

ROOT, OWN = "/sys/fs/cgroup", "/proc/self/cgroup"


def cores_here() -> int:
    """Return the number of cores that this process may use, at least one."""
    cores, limit = int(cpu_count()), quota_at(int(monotonic()))
    return cores if limit is None else max(1, min(cores, math.ceil(limit)))


@lru_cache(maxsize=1)
def quota_at(second: int) -> float | None:
    """Return the quota; it is read once a second, because it seldom changes and reading takes up to 200 µs."""
    return quota()


def quota(root: str = ROOT, own: str = OWN) -> float | None:
    """Return the processor quota of this process in cores, from the files of its control groups; None without one."""
    quotas = [found for folder in own_groups(root, own) if (found := quota_of(folder)) is not None]
    return min(quotas, default=None)


def own_groups(root: str, own: str) -> list[str]:
    """Return the folders of all control groups that this process is in."""
    folders: list[str] = []
    for line in (read(own) or "").splitlines():
        number, _, rest = line.partition(":")
        controllers, _, group = rest.partition(":")
        if number == "0":
            places = [root, f"{root}/unified"]  # version 2, alone or beside version 1
        elif "cpu" in controllers.split(","):
            places = [f"{root}/{controllers}", f"{root}/cpu"]
        else:
            continue
        names = [name for name in group.split("/") if name not in ("", "..")]
        folders += ["/".join([place, *names[:depth]]) for place in places for depth in range(len(names) + 1)]
    return list(dict.fromkeys(folders))


def quota_of(folder: str) -> float | None:
    """Return the processor quota of one control group in cores; None if it has none or is not visible."""
    text = read(f"{folder}/cpu.max")  # version 2: "max 100000" or "150000 100000"
    if text is None and (text := read(f"{folder}/cpu.cfs_quota_us")) is not None:  # version 1: "-1" or "150000"
        text += read(f"{folder}/cpu.cfs_period_us") or ""
    try:
        allowed, period = map(int, (text or "").split())
    except ValueError:  # there is no such file, or it says "max"
        return None
    return allowed / period if allowed > 0 and period > 0 else None


def read(path: str) -> str | None:
    """Return the text of a file; None if it cannot be read."""
    try:
        return Path(path).read_text()
    except OSError:
        return None


MAX_THREADS = 2**31 - 1  # of the compiled code


def thread_count(n_jobs: Any, *, all_by_default: bool = False) -> int:
    """Return the number of threads for an ``n_jobs``.

    None means `free_cores` with ``all_by_default``, and otherwise joblib's default, which is 1.
    """
    accepted = "a positive number of threads, a negative integer (-1: all cores, -2: all but one, ..) or None"
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral)):
        raise TypeError(f"n_jobs={n_jobs!r} must be {accepted}.")
    if n_jobs == 0:
        raise ValueError(f"n_jobs={n_jobs!r} has no meaning; it must be {accepted}.")
    if n_jobs is None:
        return free_cores() if all_by_default else int(effective_n_jobs(None))
    if int(n_jobs) > MAX_THREADS:
        raise ValueError(f"n_jobs={n_jobs!r} is out of range; it must be {accepted}.")
    if int(n_jobs) > 0:
        return int(n_jobs)
    cores = free_cores() if get_active_backend()[0].nesting_level else cores_here()  # a worker of joblib has a share
    return max(1, cores + 1 + int(n_jobs))


def free_cores() -> int:
    """Return the number of cores that this thread may use.

    Inside ``joblib.parallel_config(n_jobs=…)`` it is that number. Otherwise it is the number of the process, within its
    affinity, the limits of its container and ``OMP_NUM_THREADS``. Worker processes of joblib find their share in
    ``OMP_NUM_THREADS``; its worker threads cannot, and get one core.
    """
    backend, configured = get_active_backend()
    if configured is not None:
        return int(effective_n_jobs(None))
    # The variable may list a number for every level of nesting; the first one counts.
    first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    limit = int(first) if first.isdecimal() and int(first) > 0 else None
    if backend.nesting_level and (limit is None or current_thread() is not main_thread()):
        return 1
    cores = cores_here()
    return cores if limit is None else min(cores, limit)


def run_in_threads(function: Callable[[Any], None], items: Iterable[Any], n_threads: int, cancelled: Event) -> None:
    """Call a function with every item, on at most ``n_threads`` threads, one of which is the caller's.

    If the system starts no more threads, fewer do the work. After an exception ``cancelled`` is set, which the function
    should heed, and no more items are begun; the first exception is raised when the others have stopped. An interrupt
    is raised at once: threads that have not stopped yet end by themselves.
    """
    waiting, errors, helpers = deque(items), list[BaseException](), list[Thread]()

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
        for _ in range(min(n_threads, len(waiting)) - 1):
            helpers.append(Thread(target=work, name="simplexboost"))
            try:
                helpers[-1].start()
            except RuntimeError:  # the system starts no more threads
                helpers.pop()
                break
        work()
        if not any(isinstance(error, KeyboardInterrupt) for error in errors):
            for helper in helpers:
                helper.join()
    except BaseException:  # an interrupt that came while this thread started others or waited for them
        cancelled.set()
        raise
    if errors:
        raise errors[0]


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread inside a context; contexts may be nested and may overlap in several threads."""
    entry, own = object(), list[tuple[Any, int]]()
    try:
        _limit.enter(entry)
        limit_threads(own, per_thread=True)
        yield
    finally:
        restore_threads(own)
        _limit.leave(entry)


@cache
def blas_libraries() -> list[Any]:
    """Return the loaded BLAS libraries, as threadpoolctl controls them; the search takes milliseconds.

    The main thread lets another one search. threadpoolctl is called back by the system, and Python ignores exceptions
    in such a call: Ctrl-C at that moment would be lost, together with a library. Only the main thread gets Ctrl-C.
    """

    def search() -> list[Any]:
        return list(ThreadpoolController().select(user_api="blas").lib_controllers)

    if current_thread() is not main_thread():
        return search()
    with ThreadPoolExecutor(1, "simplexboost") as helper:
        try:
            found = helper.submit(search)
        except RuntimeError:  # the system starts no more threads
            return search()
        return found.result()


def limit_threads(found: list[tuple[Any, int]], *, per_thread: bool) -> None:
    """Let BLAS libraries run on one thread; the numbers of threads before are appended to ``found``.

    OpenBLAS built with OpenMP has one number per calling thread (``per_thread``), other libraries one per process.
    """
    found.extend(
        (library, library.get_num_threads())
        for library in blas_libraries()
        if (library.internal_api == "openblas" and library.threading_layer == "openmp") == per_thread
    )
    for library, _ in found:
        set_threads(library, 1)


def restore_threads(found: list[tuple[Any, int]]) -> None:
    """Set the numbers of threads back to what `limit_threads` found."""
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
        self.shared: list[tuple[Any, int]] | None = None  # the numbers to restore, while the limit is set

    def enter(self, entry: object) -> None:
        """Set the limit, unless it is set already."""
        with self.lock:
            self.inside[entry] = get_ident()
            if self.shared is None:
                self.shared = []
                limit_threads(self.shared, per_thread=False)

    def leave(self, entry: object) -> None:
        """Forget an entry, and remove the limit with the last one."""
        with self.lock:
            self.inside.pop(entry, None)
            self.restore_if_empty()

    def restore_if_empty(self) -> None:
        """Remove the limit if there is no entry."""
        if not self.inside and self.shared is not None:
            shared, self.shared = self.shared, None
            restore_threads(shared)

    def after_fork_in_child(self) -> None:
        """Forget the entries of other threads: a forked child has only the thread that forked."""
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


ASSUMED = 2**32  # bytes, where the system does not tell
SMALL = 2**28  # requests of fewer bytes are not compared with what is free, which takes 50 µs to find out


def check_memory(needed: float, what: str, advice: str = "") -> None:
    """Raise MemoryError if more bytes are needed than are free.

    It is called before the first long step and before the first large array: the system would otherwise refuse an array
    somewhere in the middle without saying what for, or grant it and later end the process.
    """
    if needed >= SMALL and needed > (free := free_memory()):
        sizes = f"about {needed / 1e9:.1f} GB of memory beside the data, and {free / 1e9:.1f} GB are free"
        raise MemoryError(f"{what} needs {sizes}. {advice}".strip())


def free_memory() -> int:
    """Return the bytes that are free: on the machine, in the container, or within the process's limit."""
    known = [free for free in (machine_memory(), container_memory(), limited_memory()) if free is not None]
    return min(known, default=ASSUMED)


def machine_memory() -> int | None:
    """Return the free bytes of the machine; where there is no ``/proc``, half of all its bytes."""
    free = number_in("/proc/meminfo", "MemAvailable:")
    if free is not None:
        return free * 1024
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, OSError, ValueError):
        return None


def container_memory(root: str = ROOT) -> int | None:
    """Return the bytes that the limits of control groups (version 2, else version 1) leave; None without a limit.

    The inactive part of the cache of files counts as free: the system gives it up when memory is needed.
    """
    for folder, limit, used, inactive in (
        (root, "memory.max", "memory.current", "inactive_file"),
        (f"{root}/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    ):
        try:
            left = int(read(f"{folder}/{limit}") or "") - int(read(f"{folder}/{used}") or "")
        except ValueError:  # no such file, or "max"
            continue
        return max(0, left + (number_in(f"{folder}/memory.stat", inactive) or 0))
    return None


def number_in(path: str, name: str) -> int | None:
    """Return the number after a name in a file of statistics; None if there is none."""
    for line in (read(path) or "").splitlines():
        words = line.split()
        if len(words) > 1 and words[0] == name and words[1].isdecimal():
            return int(words[1])
    return None


def limited_memory() -> int | None:
    """Return the bytes that a limit on the address space (``ulimit -v``) leaves; None without one."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit == resource.RLIM_INFINITY:
            return None
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        return max(0, limit - pages * os.sysconf("SC_PAGE_SIZE"))
    except (ImportError, OSError, ValueError):  # not a Unix system
        return None
