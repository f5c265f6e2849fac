"""The cells of experiments: a task's name and JSON arguments, computed by the function of that name.

`runner` keeps their results in a folder, in files named after both, so that experiments share equal cells, and a quick
run and a full one share a folder without meeting.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import runner
from runner import Folder as Results

Task = Callable[..., dict[str, Any]]
TASKS: dict[str, Task] = {}


def task(function: Task) -> Task:
    """A function that cells may call by its name; its keyword arguments and its result must be JSON."""
    if function.__name__ in TASKS:
        raise ValueError(f"there are two tasks named {function.__name__!r}.")
    TASKS[function.__name__] = function
    return function


@dataclass(frozen=True, eq=False)
class Cell(runner.Cell):
    """One piece of work.

    Attributes
    ----------
    task : name of a function in `TASKS`
    arguments : its keyword arguments
    cost : about how many seconds it takes on one core, for the order of cells and the time to go
    """

    task: str
    arguments: dict[str, Any] = field(default_factory=dict)
    cost: float = 1.0

    @property
    def key(self) -> str:
        """What makes the cell itself: task and arguments, in one fixed spelling."""
        return json.dumps([self.task, self.arguments], sort_keys=True)

    @property
    def name(self) -> str:
        """Task and arguments, short enough to read and to name a file with."""
        words = "-".join(words_of(self.arguments))
        short = "".join(c if c.isalnum() or c in "-.+" else "_" for c in words)[:80]
        return f"{self.task}/{short}-{hashlib.sha256(self.key.encode()).hexdigest()[:10]}"


def words_of(value: Any) -> list[str]:
    """The values of nested arguments in order, ``false``, ``null`` and empty ones left out."""
    if isinstance(value, dict):
        return [word for key in value for word in words_of(value[key])]
    if isinstance(value, list | tuple):
        return [word for item in value for word in words_of(item)]
    return [] if value in (None, False, "") else [str(value)]


def run(cells: Iterable[Cell], results: Results, jobs: int = 1, data_home: str | None = None) -> list[Cell]:
    """Run what is not finished yet, in ``jobs`` processes (1: in this one); returns the cells that failed."""
    workers = runner.Workers(jobs) if jobs > 1 else None
    return runner.run(cells, results, partial(compute, data_home=data_home), workers)


def compute(cell: Cell, data_home: str | None = None) -> dict[str, Any]:
    """The result of a cell."""
    from . import papers  # noqa: F401  defines the tasks, in a new process too
    from .data import set_home

    set_home(data_home)
    return TASKS[cell.task](**cell.arguments)
