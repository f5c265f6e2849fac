"""Cells: small independent pieces of work, run in parallel, saved one by one, never run twice.

A cell is a task's name and JSON arguments. Its result is a JSON file under the results folder, named after both, so
that equal cells of several experiments are run once, a killed run goes on where it was, and a quick run and a full one
share a folder without meeting.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")

Task = Callable[..., dict[str, Any]]
TASKS: dict[str, Task] = {}


def task(function: Task) -> Task:
    """A function that cells may call by its name; its keyword arguments and its result must be JSON."""
    if function.__name__ in TASKS:
        raise ValueError(f"there are two tasks named {function.__name__!r}.")
    TASKS[function.__name__] = function
    return function


@dataclass(frozen=True, eq=False)
class Cell:
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


class Results:
    """Finished cells in a folder.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = Results(folder)
    ...     results.put(Cell("square", {"x": 3}), {"y": 9})
    ...     Results(folder).get(Cell("square", {"x": 3}))
    {'y': 9}
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._read: dict[str, dict[str, Any] | None] = {}

    def path(self, cell: Cell) -> Path:
        """Where a cell's result lies."""
        return self.folder / f"{cell.name}.json"

    def get(self, cell: Cell) -> dict[str, Any] | None:
        """A cell's result, None where it is not finished; a damaged file counts as none."""
        if cell.key not in self._read:
            content = self._load(cell)
            self._read[cell.key] = content["result"] if content else None
        return self._read[cell.key]

    def seconds(self, cell: Cell) -> float | None:
        """How many seconds on a core it took."""
        content = self._load(cell)
        return content["seconds"] if content else None

    def _load(self, cell: Cell) -> dict[str, Any] | None:
        try:
            content = json.loads(self.path(cell).read_text())
        except (FileNotFoundError, json.JSONDecodeError):
            return None
        return content if isinstance(content, dict) and content.get("key") == cell.key else None

    def put(self, cell: Cell, result: dict[str, Any], seconds: float = 0.0) -> None:
        """Save; written beside and moved into place, so that there is never half a file."""
        path = self.path(cell)
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(path.name + f".{os.getpid()}.part")
        beside.write_text(json.dumps({"key": cell.key, "seconds": round(seconds, 3), "result": result}))
        os.replace(beside, path)
        self._read[cell.key] = result


# ---- running --------------------------------------------------------------------------------------------------------


@dataclass
class Progress:
    """Prints a line per finished cell, with the time to go by the costs that are left."""

    total: int
    cost_left: float
    jobs: int
    done: int = 0
    cost_done: float = 0.0
    begin: float = field(default_factory=time.perf_counter)

    def finished(self, cell: Cell, outcome: str) -> None:
        """A cell came back."""
        self.done += 1
        self.cost_done += cell.cost
        self.cost_left -= cell.cost
        spent = time.perf_counter() - self.begin
        to_go = spent / self.cost_done * max(self.cost_left, 0.0) if self.cost_done else 0.0
        print(f"[{self.done}/{self.total}] {cell.name}: {outcome}; {duration(to_go)} to go", flush=True)


def run(cells: Iterable[Cell], results: Results, jobs: int = 1, data_home: str | None = None) -> list[Cell]:
    """Run what is not finished yet, in the order given; returns the cells that failed."""
    unique = {cell.key: cell for cell in reversed(list(cells))}  # the first of equal cells
    waiting = [cell for cell in reversed(unique.values()) if results.get(cell) is None]
    progress = Progress(len(waiting), sum(cell.cost for cell in waiting), jobs)
    print(f"{len(unique)} cells, {len(unique) - len(waiting)} finished before", flush=True)
    if jobs == 1:
        return [cell for cell in waiting if not _keep(cell, attempt(cell, data_home), results, progress)]
    return _run_pool(waiting, results, jobs, data_home, progress)


def _run_pool(
    waiting: Sequence[Cell], results: Results, jobs: int, data_home: str | None, progress: Progress
) -> list[Cell]:
    """The same with a pool of processes; where one is killed, the cells in flight are tried once more, one by one."""
    failed: list[Cell] = []
    suspects: list[Cell] = []
    queue = list(waiting)
    while queue:
        try:
            _feed(queue, failed, results, jobs, data_home, progress, suspects)
        except BrokenProcessPool:
            print(f"a process was killed; {len(suspects)} cells are tried again, one at a time", flush=True)
            failed += [cell for cell in suspects if not _alone(cell, results, data_home, progress)]
            suspects.clear()
    return failed


def _feed(
    queue: list[Cell],
    failed: list[Cell],
    results: Results,
    jobs: int,
    data_home: str | None,
    progress: Progress,
    flying: list[Cell],
) -> None:
    """Keep the pool busy until the queue is empty; ``flying`` holds the cells in the pool."""
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), begin_worker) as pool:
        futures: dict[Future[Any], Cell] = {}
        while queue or futures:
            while queue and len(futures) < jobs + 1:
                cell = queue.pop(0)
                flying.append(cell)
                futures[pool.submit(attempt, cell, data_home)] = cell
            for future in wait(futures, return_when=FIRST_COMPLETED).done:
                outcome = future.result()
                cell = futures.pop(future)
                flying.remove(cell)
                if not _keep(cell, outcome, results, progress):
                    failed.append(cell)


def _alone(cell: Cell, results: Results, data_home: str | None, progress: Progress) -> bool:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), begin_worker) as pool:
        try:
            outcome = pool.submit(attempt, cell, data_home).result()
        except BrokenProcessPool:
            outcome = {"error": "its process was killed (out of memory?)"}
    return _keep(cell, outcome, results, progress)


def begin_worker() -> None:
    """A worker computes on one core (BLAS reads this when it is loaded) and ends when the run is killed."""
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))
    threading.Thread(target=end_with, args=(os.getppid(),), daemon=True).start()


def end_with(parent: int, every: float = 2.0) -> None:
    """Wait until the parent is gone, then end this process; the pool alone would leave it waiting for ever."""
    while os.getppid() == parent:
        time.sleep(every)
    os._exit(1)


def attempt(cell: Cell, data_home: str | None) -> dict[str, Any]:
    """The result and the seconds on a core that it took, or the error."""
    from . import papers  # noqa: F401  defines the tasks, in a new process too
    from .data import set_home

    set_home(data_home)
    begin = time.process_time()  # of this process: what it costs, however busy the machine is
    try:
        result = TASKS[cell.task](**cell.arguments)
    except Exception as error:
        trace = traceback.format_exc(limit=-3)
        return {"error": f"{type(error).__name__}: {error}", "trace": trace}
    return {"result": result, "seconds": time.process_time() - begin}


def _keep(cell: Cell, outcome: dict[str, Any], results: Results, progress: Progress) -> bool:
    """Save a result; an error is only printed, so that the next run tries again."""
    if "error" in outcome:
        progress.finished(cell, f"FAILED, {outcome['error']}")
        print(outcome.get("trace", ""), flush=True)
        return False
    results.put(cell, outcome["result"], outcome["seconds"])
    progress.finished(cell, f"{outcome['seconds']:.1f} s")
    return True


def duration(seconds: float) -> str:
    """Seconds, minutes or hours.

    Examples
    --------
    >>> duration(50), duration(150), duration(9000)
    ('50 s', '2.5 min', '2.5 h')
    """
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"
