"""Shows progress and messages on standard error, so that standard output has only data.

If standard error is not a terminal, progress is a plain line of text about every second.
"""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from ..boosting import Callback

if TYPE_CHECKING:
    from ..parts.optimizers.run import Run

EVERY = 1.0  # seconds between lines


@dataclass
class Talk:
    """A printer of messages on standard error, silent if ``quiet``; it prints no warning twice."""

    quiet: bool = False
    _said: set[str] = field(default_factory=set)

    @property
    def on_terminal(self) -> bool:
        """Whether messages go to a terminal, which can show progress bars."""
        return not self.quiet and sys.stderr.isatty()

    def say(self, line: str) -> None:
        """Print a line of text, unless quiet."""
        if not self.quiet:
            print(line, file=sys.stderr, flush=True)

    def warn(self, line: str, about: str | None = None) -> None:
        """Print a warning, only once for the same subject ``about``."""
        if (about or line) not in self._said:
            self._said.add(about or line)
            self.say(f"warning: {line}")

    @contextmanager
    def counting(self, what: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
        """Show progress within this context, which provides a function: call it with the number of new steps done."""
        if self.on_terminal:
            done = MofNCompleteColumn() if total else TextColumn("{task.completed}")
            times = [BarColumn(), TimeRemainingColumn()] if total else [TimeElapsedColumn()]
            columns = (SpinnerColumn(), done, TextColumn(what), *times)
            with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
                yield partial(progress.advance, progress.add_task("", total=total))
            return
        n, last = 0, time.monotonic()

        def advance(steps: int) -> None:
            nonlocal n, last
            n += steps
            if time.monotonic() - last >= EVERY:
                last = time.monotonic()
                self.say(f"{n}{f' of {total}' if total else ''} {what}")

        yield advance


class RoundsBar(Callback):
    """A callback that shows a progress bar of boosting rounds, with the risk and held-out metrics."""

    def __init__(self) -> None:
        self.progress: Progress | None = None

    def start(self, run: Run) -> None:
        columns = (TextColumn("boosting"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
        self.progress = Progress(
            *columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True, redirect_stdout=False
        )
        self.progress.start()
        self.task = self.progress.add_task("", total=run.n_rounds)

    def after_round(self, run: Run) -> None:
        assert self.progress is not None
        words = "" if run.risk_before is None else f"risk {run.risk_before:.4g}"
        for results in run.evaluations[:1]:
            words += "".join(f"  held-out {name} {values[-1]:.4g}" for name, values in results.items() if values)
        self.progress.update(self.task, completed=run.round, description=words)

    def finish(self, run: Run) -> None:
        self.close()

    def close(self) -> None:
        """Remove the progress bar."""
        if self.progress is not None:
            self.progress.stop()


class UntilBar(io.TextIOBase):
    """A text stream that writes to standard error until the progress bar starts, and then discards all text."""

    def __init__(self, bar: RoundsBar) -> None:
        self.bar = bar

    def write(self, text: str) -> int:
        if self.bar.progress is None:
            sys.stderr.write(text)
            sys.stderr.flush()
        return len(text)


@contextmanager
def show_rounds(estimator: Any, talk: Talk) -> Iterator[None]:
    """Show the progress of fits within this context; it sets ``verbose`` and ``callbacks``, and restores them."""
    takes = estimator.get_params(deep=False)
    if talk.quiet or "verbose" not in takes or takes["verbose"]:
        with redirect_stdout(sys.stderr):
            yield
        return
    bar = RoundsBar()
    with_bar = talk.on_terminal and "callbacks" in takes
    estimator.set_params(verbose=1, **({"callbacks": [*(takes["callbacks"] or []), bar]} if with_bar else {}))
    try:
        with redirect_stdout(UntilBar(bar) if with_bar else sys.stderr):
            yield
    finally:
        bar.close()
        estimator.set_params(**{name: takes[name] for name in ("verbose", "callbacks") if name in takes})
