"""The table of a soak, for the terminal and for docs/reliability.md."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import groupby
from pathlib import Path

from runner.run import duration

from .trying import Tally

HEAD = """# Tried and counted

`make soak` tries to break the promises of [what you can rely on](promises.md) many times over, and writes this page:
what was promised, how often it was tried, and how often it was broken. `make test` tries a few cases of each. A case
runs in a process of its own, so that a crash or a hang is noticed. It is made from its number alone, so that whatever
fails can be repeated with `python -m promises NAME --case NUMBER`. "60 of 400" cases were tried where the soak was
only a part of a whole one (`python -m promises --part 0.15`), or time ran out.
"""

TABLE = "| promise | name | tried | broken |\n|---|---|---:|---:|"


def page(tallies: list[Tally]) -> str:
    """docs/reliability.md."""
    parts = [HEAD, summary(tallies)]
    for subject, group in groupby(tallies, key=lambda tally: tally.promise.subject):
        parts += [f"## {subject.replace('_', ' ').capitalize()}\n", TABLE, *map(row, group), ""]
    return "\n".join(parts)


def row(tally: Tally) -> str:
    """Of the table of a subject."""
    return f"| {tally.promise.words} | `{tally.promise.name}` | {count(tally)} | {len(tally.failures)} |"


def summary(tallies: list[Tally]) -> str:
    """When, where, how many."""
    tried = sum(tally.tried for tally in tallies)
    broken = sum(len(tally.failures) for tally in tallies)
    seconds = sum(tally.seconds for tally in tallies)
    what = f"{tried:,} cases of {len(tallies)} promises in {duration(seconds)}, {broken or 'none'} of them broken"
    return f"On {datetime.now(UTC):%d %B %Y}, {machine()}: {what}.\n"


def count(tally: Tally) -> str:
    """How many were tried, and of how many if not all cases of a soak were."""
    planned = max(tally.planned, tally.promise.soak)
    return f"{tally.tried:,}" if tally.cases >= planned else f"{tally.tried:,} of {planned * tally.promise.each:,}"


def machine() -> str:
    """The machine and the versions in a few words."""
    cores = len(os.sched_getaffinity(0))
    versions = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn"))
    return f"{cores} cores of {processor()}, Python {platform.python_version()}, {versions}"


def processor() -> str:
    """The name of the processor, where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())
