"""Finds out how many cores and how much memory the process may use, and runs work in threads within these limits.

joblib counts the cores of the affinity mask, and knows the CPU quota of the outermost control group (cgroup) that it
sees. systemd, SLURM and containers that share the host's control groups may set quotas in inner groups. All quotas hold
at once, so the smallest one counts.

During a fit, BLAS runs on one thread: a threaded matrix product may add numbers in another order than a serial one, and
waiting BLAS threads take CPU time from the engine. Most BLAS libraries have one thread count for the whole process, in
which several fits may run at once, so the first fit that enters `one_blas_thread` sets the limit and the last fit that
leaves removes it.
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
    """Return the number of cores that this process may use under its affinity mask and CPU quota, at least one."""
    cores, limit = int(cpu_count()), quota_at(int(monotonic()))
    return cores if limit is None else max(1, min(cores, math.ceil(limit)))


@lru_cache(maxsize=1)
def quota_at(second: int) -> float | None:
    """Return the CPU quota in cores, cached for the current ``second``, because reading it takes up to 200 µs."""
    return quota()


def quota(root: str = ROOT, own: str = OWN) -> float | None:
    """Return the smallest CPU quota, in cores, of the control groups of this process; None if none has a quota."""
    quotas = [found for folder in own_groups(root, own) if (found := quota_of(folder)) is not None]
    return min(quotas, default=None)


def own_groups(root: str, own: str) -> list[str]:
    """Return the folders below ``root`` of all control groups that the file ``own`` lists for this process."""
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
    """Return the CPU quota in cores of the control group with this folder; None if no quota is set or visible."""
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
    """Return the number of threads that the parameter ``n_jobs`` stands for.

    None means `free_cores` if ``all_by_default`` is true, and otherwise joblib's default, which is 1.
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
    """Return the number of cores that the calling thread may use.

    Inside ``joblib.parallel_config(n_jobs=…)`` this is the configured number. Otherwise it is the number of cores of
    the process within its affinity mask, container limits and ``OMP_NUM_THREADS``. joblib gives its worker processes
    their share of the cores in ``OMP_NUM_THREADS``; a worker thread of joblib gets one core.
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
    """Run ``function`` on every item, on at most ``n_threads`` threads including the calling thread.

    If the system starts no more threads, fewer threads do the work. After an exception, ``cancelled`` is set, which
    ``function`` should check, and no more items are begun; the first exception is raised when all threads have stopped.
    A KeyboardInterrupt is raised at once; running threads then end by themselves.
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
    """Limit BLAS to one thread inside this context; contexts may be nested, and may overlap in several threads."""
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
    """Return the loaded BLAS libraries as threadpoolctl's controllers; the search takes milliseconds and is cached.

    The main thread leaves the search to another thread. During the search the system calls Python code of
    threadpoolctl, and Python ignores exceptions in it: Ctrl-C, which only the main thread gets, would be lost and a
    library missed.
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
    """Set BLAS libraries to one thread, and append each of them with its previous thread count to ``found``.

    OpenBLAS built with OpenMP has a count per calling thread, other libraries have one per process; ``per_thread`` says
    which of these two groups is limited.
    """
    found.extend(
        (library, library.get_num_threads())
        for library in blas_libraries()
        if (library.internal_api == "openblas" and library.threading_layer == "openmp") == per_thread
    )
    for library, _ in found:
        set_threads(library, 1)


def restore_threads(found: list[tuple[Any, int]]) -> None:
    """Restore the thread counts that `limit_threads` has stored in ``found``."""
    for library, number in found:
        set_threads(library, number)


def set_threads(library: Any, number: int) -> None:
    """Set the thread count of a BLAS library.

    Since version 3.8, threadpoolctl lets only one Python thread at a time control the thread pool of OpenBLAS, and
    silently ignores all other threads. In this library one thread may set the limit and another may remove it, so
    control is released before and after the call. The lock of `Limit` ensures that two such calls never overlap.
    """
    give_up = getattr(library, "clear_controlling_thread", lambda force: None)
    give_up(force=True)
    library.set_num_threads(number)
    give_up(force=True)


class Limit:
    """The process-wide limit of BLAS to one thread, and the active contexts of `one_blas_thread`.

    Contexts are stored as entries and not counted: if an interrupt comes before an entry is stored, `leave` removes
    nothing. The lock is reentrant because the garbage collector may end a context while its thread holds the lock.
    """

    def __init__(self) -> None:
        self.lock = RLock()
        self.inside: dict[object, int] = {}  # entry -> the thread that made it
        self.shared: list[tuple[Any, int]] | None = None  # the numbers to restore, while the limit is set

    def enter(self, entry: object) -> None:
        """Store the entry of a context, and set the limit if this is the first one."""
        with self.lock:
            self.inside[entry] = get_ident()
            if self.shared is None:
                self.shared = []
                limit_threads(self.shared, per_thread=False)

    def leave(self, entry: object) -> None:
        """Remove the entry of a context, and remove the limit if this was the last one."""
        with self.lock:
            self.inside.pop(entry, None)
            self.restore_if_empty()

    def restore_if_empty(self) -> None:
        if not self.inside and self.shared is not None:
            shared, self.shared = self.shared, None
            restore_threads(shared)

    def after_fork_in_child(self) -> None:
        """Drop the contexts of other threads in a forked child, which has only the thread that forked."""
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
    """Raise MemoryError if more bytes are needed than are free; ``what`` begins the message and ``advice`` ends it.

    Long steps and large arrays are checked before they begin: otherwise the system would refuse some array later
    without a reason, or grant it and then end the process.
    """
    if needed >= SMALL and needed > (free := free_memory()):
        sizes = f"about {needed / 1e9:.1f} GB of memory beside the data, and {free / 1e9:.1f} GB are free"
        raise MemoryError(f"{what} needs {sizes}. {advice}".strip())


def free_memory() -> int:
    """Return the free memory in bytes: the least of what the machine, the container and the process's limit leave."""
    known = [free for free in (machine_memory(), container_memory(), limited_memory()) if free is not None]
    return min(known, default=ASSUMED)


def machine_memory() -> int | None:
    """Return the machine's free memory in bytes; without ``/proc``, half of its total memory; None if unknown."""
    free = number_in("/proc/meminfo", "MemAvailable:")
    if free is not None:
        return free * 1024
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, OSError, ValueError):
        return None


def container_memory(root: str = ROOT) -> int | None:
    """Return the bytes left within the memory limit of the container's control group; None without a limit.

    Control groups of version 2 are tried first. Inactive file cache counts as free: the system gives it up when needed.
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
    """Return the number after ``name`` in a file such as /proc/meminfo; None if there is none."""
    for line in (read(path) or "").splitlines():
        words = line.split()
        if len(words) > 1 and words[0] == name and words[1].isdecimal():
            return int(words[1])
    return None


def limited_memory() -> int | None:
    """Return the bytes of address space that the limit ``ulimit -v`` leaves to the process; None without a limit."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit == resource.RLIM_INFINITY:
            return None
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        return max(0, limit - pages * os.sysconf("SC_PAGE_SIZE"))
    except (ImportError, OSError, ValueError):  # not a Unix system
        return None
