"""How much memory the process may still use."""

from __future__ import annotations

import os
from pathlib import Path

ASSUMED = 2**32  # bytes, where the system does not tell


def free_memory() -> int:
    """Bytes that are free: of the machine, or of the container if that has less left."""
    return min([left for left in (_of_machine(), _of_container()) if left is not None], default=ASSUMED)


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
    """What control groups (version 2, else version 1) leave; None without a limit."""
    for limit, used in (
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    ):
        try:
            return max(0, int(Path(root, limit).read_text()) - int(Path(root, used).read_text()))
        except (OSError, ValueError):  # no such file, or "max"
            continue
    return None
