"""Processes that compute cells, one cell at a time each, so that a process that dies costs its own cell only."""

from __future__ import annotations

import contextlib
import faulthandler
import json
import math
import multiprocessing
import os
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, TypeVar

from .stores import Outcome

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")

STARTING = 600.0  # seconds that a process may take to start and to import what a cell needs: much, on a busy machine
BEGUN = "begun"  # what a process sends when it has imported it
LAST_WORDS = 4000  # characters that are kept of what a process said before it ended

Work = TypeVar("Work")
Compute = Callable[[Any], dict[str, Any]]


def attempt(compute: Compute, work: Any) -> Outcome:
    """Compute, in this process; an error is an outcome too."""
    begin = time.process_time()  # of this process: what it costs, however busy the machine is
    try:
        result = json.loads(json.dumps(compute(work)))  # what a file will hold; what cannot be JSON is an error here
    except Exception as error:
        return Outcome(error=f"{type(error).__name__}: {error}", trace=traceback.format_exc(limit=-3))
    return Outcome(result, time.process_time() - begin)


@dataclass(frozen=True)
class Workers:
    """How cells are computed in processes of their own.

    Attributes
    ----------
    count : so many processes at a time
    threads : of BLAS and OpenMP in each
    fresh : a new process for every cell, for what a cell measures of its process; else processes are used again
    limit : seconds after which a cell is given up, from the moment when its process has imported what the cell needs
    """

    count: int = 1
    threads: int = 1
    fresh: bool = False
    limit: float = math.inf

    def outcomes(self, compute: Compute, cells: Iterable[Work]) -> Generator[tuple[Work, Outcome], None, None]:
        """Cells with their outcomes as these come in. ``compute`` is found by name in the other process: no lambda."""
        queue = deque(cells)
        idle: list[_Worker[Work]] = []
        busy: list[_Worker[Work]] = []
        try:
            while queue or busy:
                while queue and len(busy) < self.count:
                    worker = idle.pop() if idle else _Worker(compute, self.threads)
                    busy.append(worker)
                    worker.begin(queue.popleft(), self.limit)
                ready = wait([worker.connection for worker in busy], self._patience(busy))
                now = time.monotonic()
                for worker in [w for w in busy if w.connection in ready or w.deadline <= now]:
                    in_time = worker.connection in ready
                    outcome = worker.outcome() if in_time else worker.failure(f"not done after {self.limit:.0f} s")
                    if outcome is None:
                        worker.deadline = now + self.limit
                        continue
                    busy.remove(worker)
                    if self.fresh or outcome.error:
                        worker.end()
                    else:
                        idle.append(worker)
                    yield worker.work, outcome
        finally:
            for worker in busy + idle:
                worker.end()

    def _patience(self, busy: list[_Worker[Work]]) -> float | None:
        """Seconds until the first cell is late, None for no limit."""
        first = min(worker.deadline for worker in busy)
        return max(first - time.monotonic(), 0.0) if math.isfinite(first) else None


class _Worker(Generic[Work]):
    """A process and our end of the pipe to it."""

    work: Work
    deadline: float

    def __init__(self, compute: Compute, threads: int) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, other_end = context.Pipe()
        self.words = _Words()
        self.process = context.Process(target=_serve, args=(other_end, compute, os.getpid(), self.words.path))
        with _thread_variables(threads):  # BLAS reads them when it is loaded, so they must be there from the start
            self.process.start()
        other_end.close()

    def begin(self, work: Work, limit: float) -> None:
        """Send a cell; a process that is gone shows when its outcome is asked for."""
        self.work, self.deadline = work, time.monotonic() + STARTING + limit
        with contextlib.suppress(BrokenPipeError):
            self.connection.send(work)

    def outcome(self) -> Outcome | None:
        """What came back, None if the process has only begun; nothing comes back where it has died."""
        try:
            message: Outcome | str = self.connection.recv()
        except (EOFError, ConnectionResetError):
            self.process.join()
            status = self.process.exitcode
            killed = " (killed; out of memory?)" if status == -signal.SIGKILL else ""
            return self.failure(f"its process ended with status {status}{killed}")
        if not isinstance(message, Outcome):
            return None
        self.words.pass_on()
        return message

    def failure(self, error: str) -> Outcome:
        """Of a cell whose process gave no outcome, with the last that it said."""
        said = self.words.pass_on()
        return Outcome(error=error, trace=f"It said last:\n{said[-LAST_WORDS:].rstrip()}\n" if said.strip() else "")

    def end(self) -> None:
        """End the process, whatever it does."""
        self.process.kill()
        self.process.join()
        self.connection.close()
        self.words.close()


class _Words:
    """What a process writes to its standard error, in a file: if it dies, that says why. It appears on ours too."""

    def __init__(self) -> None:
        handle, self.path = tempfile.mkstemp(prefix="worker-", suffix=".txt")
        self.file = os.fdopen(handle, encoding="utf-8", errors="replace")

    def pass_on(self) -> str:
        """What was written since this was last asked for, which is printed."""
        said = self.file.read()
        if said:
            print(said, end="", file=sys.stderr, flush=True)
        return said

    def close(self) -> None:
        """Print the rest and remove the file, if the process did not begin and remove it."""
        self.pass_on()
        self.file.close()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)


def _speak_into(path: str) -> None:
    """Let the standard error of this process be a file, which goes when nobody has it open; crashes write to it too."""
    with open(path, "ab") as file:
        os.dup2(file.fileno(), 2)
    os.unlink(path)
    faulthandler.enable()


def _serve(connection: Connection, compute: Compute, parent: int, words: str) -> None:
    """What a worker does: compute what comes, until it is ended or the run is gone."""
    _speak_into(words)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to all processes; the run ends its workers itself
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    while True:
        try:
            work = connection.recv()  # which imports what the cell is made of
        except EOFError:
            return
        connection.send(BEGUN)
        connection.send(attempt(compute, work))


def _end_with(parent: int, every: float = 2.0) -> None:
    """End this process when the run has been killed; nobody would take its outcome."""
    while os.getppid() == parent:
        time.sleep(every)
    os._exit(1)


@contextlib.contextmanager
def _thread_variables(threads: int) -> Iterator[None]:
    """The environment that a new process inherits."""
    before = dict(os.environ)
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, str(threads)))
    try:
        yield
    finally:
        for name in THREAD_VARIABLES:
            os.environ.pop(name)
        os.environ.update({name: before[name] for name in THREAD_VARIABLES if name in before})
