"""How many cores this process may use: its affinity, and the limits of its container or job.

joblib counts the cores of the affinity mask, and knows the processor quota of the outermost control group that it sees.
A quota may also be set further inside, on the groups between that one and the process: systemd, SLURM and containers
that share the host's control groups do that. All of them hold, so the smallest one counts.
"""

from __future__ import annotations

import math
from functools import lru_cache
from time import monotonic

from joblib import cpu_count

ROOT, OWN = "/sys/fs/cgroup", "/proc/self/cgroup"


def cores_here() -> int:
    """The number of cores that this process may use, at least one."""
    cores, limit = int(cpu_count()), quota_at(int(monotonic()))
    return cores if limit is None else max(1, min(cores, math.ceil(limit)))


@lru_cache(maxsize=1)
def quota_at(second: int) -> float | None:
    """The quota, read once a second: it seldom changes, and to read it takes up to 200 µs."""
    return quota()


def quota(root: str = ROOT, own: str = OWN) -> float | None:
    """The processor quota of this process in cores; None if there is none.

    Parameters
    ----------
    root : where the control groups are mounted
    own : the file that names the groups of this process
    """
    quotas = [found for folder in own_groups(root, own) if (found := quota_of(folder)) is not None]
    return min(quotas, default=None)


def own_groups(root: str, own: str) -> list[str]:
    """The folders of all control groups that this process is in."""
    folders: list[str] = []
    for line in (text_of(own) or "").splitlines():
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
    """The processor quota of one control group in cores; None if it has none, or is not visible from here."""
    text = text_of(f"{folder}/cpu.max")  # version 2: "max 100000" or "150000 100000"
    if text is None and (text := text_of(f"{folder}/cpu.cfs_quota_us")) is not None:  # version 1: "-1" or "150000"
        text += text_of(f"{folder}/cpu.cfs_period_us") or ""
    try:
        allowed, period = map(int, (text or "").split())
    except ValueError:  # there is no such file, or it says "max"
        return None
    return allowed / period if allowed > 0 and period > 0 else None


def text_of(path: str) -> str | None:
    """What a file says; None if it cannot be read."""
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return None
