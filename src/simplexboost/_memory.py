"""How much memory the process may still use, and the refusal of what needs more."""

from __future__ import annotations

import os
from pathlib import Path

ASSUMED = 2**32  # bytes, where the system does not tell
SMALL = 2**28  # requests of fewer bytes are not compared with what is free, which takes 50 µs to find out


def check_memory(needed: float, what: str, advice: str = "") -> None:
    """Raise MemoryError if more bytes are needed than are free.

    It is called before the first long step and before the first large array: the system would otherwise refuse an array
    somewhere in the middle without saying what for, or grant it and later end the process.

    Examples
    --------
    >>> check_memory(1e18, "this fit", "Take fewer rows.")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    MemoryError: this fit needs about 1000000000.0 GB of memory beside the data, and ... GB are free. Take fewer rows.
    """
    if needed < SMALL:
        return
    free = free_memory()
    if needed > free:
        sizes = f"about {needed / 1e9:.1f} GB of memory beside the data, and {free / 1e9:.1f} GB are free"
        raise MemoryError(f"{what} needs {sizes}. {advice}".strip())


def free_memory() -> int:
    """Bytes that are free: of the machine, or of the container or of the process's limit if that has less left."""
    return min([left for left in (_of_machine(), _of_container(), _of_limit()) if left is not None], default=ASSUMED)


def _of_machine() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError):
        pass
    try:  # systems without /proc: half of what the machine has
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, OSError, ValueError):
        return None


def _of_container(root: str = "/sys/fs/cgroup") -> int | None:
    """What control groups (version 2, else version 1) leave; None without a limit.

    What is in use counts the cache of files, of which the system gives up the inactive part for whoever needs memory.
    """
    for folder, limit, used, inactive in (
        ("", "memory.max", "memory.current", "inactive_file"),
        ("memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    ):
        try:
            left = int(Path(root, folder, limit).read_text()) - int(Path(root, folder, used).read_text())
        except (OSError, ValueError):  # no such file, or "max"
            continue
        return max(0, left + _cached(Path(root, folder, "memory.stat"), inactive))
    return None


def _cached(path: Path, name: str) -> int:
    """The number after a name in a file of statistics; 0 if there is none."""
    try:
        return next(int(line.split()[1]) for line in path.read_text().splitlines() if line.split()[0] == name)
    except (OSError, StopIteration, ValueError, IndexError):
        return 0


def _of_limit() -> int | None:
    """What a limit on the address space (``ulimit -v``) leaves; None without one."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit == resource.RLIM_INFINITY:
            return None
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        return max(0, limit - pages * os.sysconf("SC_PAGE_SIZE"))
    except (ImportError, OSError, ValueError):  # not a Unix system
        return None
