"""The cells of experiments: a task's name and JSON arguments, computed by the function of that name.

`runner` saves their results in a folder, in files named after both, so that experiments share equal cells, and a quick
run and a full one share a folder without meeting. Those of the full plan are kept in the repository (`kept`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import runner

from . import kept

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
    repeat : of the same with other seeds, the how-manieth; None for the seed among the arguments
    """

    task: str
    arguments: dict[str, Any] = field(default_factory=dict)
    cost: float = 1.0
    repeat: int | None = None

    @property
    def key(self) -> str:
        """What makes the cell itself: task and arguments, in one fixed spelling."""
        return json.dumps([self.task, self.arguments], sort_keys=True)

    @property
    def turn(self) -> int:
        """Which repetition it is, from 0; what is not repeated is the first."""
        if self.repeat is not None:
            return self.repeat
        problem = self.arguments.get("problem")
        inner = problem.get("seed") if isinstance(problem, dict) else None
        return int(self.arguments.get("seed") or inner or 0)

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


class Results(runner.Folder):
    """Results of a working folder and, where it has none, those kept in the repository.

    Parameters
    ----------
    path : the working folder, which runs write to; None for the kept cells alone
    kept_in : the folder of kept cells; None for none
    """

    def __init__(self, path: str | Path | None, kept_in: str | Path | None = None) -> None:
        super().__init__(path or Path(), {"maker": kept.maker()})
        self.only_kept = path is None
        self.kept_in = None if kept_in is None else Path(kept_in)

    @cached_property
    def kept(self) -> dict[str, kept.Record]:
        """The kept cells by key."""
        return {} if self.kept_in is None else kept.read(self.kept_in)

    def _content(self, cell: runner.Cell) -> dict[str, Any]:
        content = {} if self.only_kept else super()._content(cell)
        return content if "result" in content else self.kept.get(cell.key, content)

    def record(self, cell: Cell) -> kept.Record | None:
        """What is to be kept of a cell, None where it is not finished."""
        content = self._content(cell)
        if "result" not in content:
            return None
        made = content.get("maker", kept.maker())
        names = {"task": cell.task, "arguments": cell.arguments}
        return names | {"seconds": content["seconds"], "maker": made, "result": content["result"]}


class Listening(Results):
    """Results that note which cells they are asked for."""

    def __init__(self, found: Results) -> None:
        super().__init__(None)
        self.found = found
        self.asked: dict[str, Cell] = {}

    def _content(self, cell: Any) -> dict[str, Any]:
        self.asked[cell.key] = cell
        result = self.found.get(cell)
        return {} if result is None else {"result": result}


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
