"""Progress of a fit, printed."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import TextIO

from ..boosting.run import Run
from .base import Callback


@dataclass(eq=False)
class Progress(Callback):
    """Prints a line about once a second: round, risk, what is evaluated, time so far and time to go.

    ``verbose=1`` of a classifier does the same.

    Parameters
    ----------
    every : float, default=1.0
        The number of seconds between two lines.
    stream : text file or None, default=None
        Where to print; None is the standard output.

    Examples
    --------
    >>> import io
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> stream = io.StringIO()
    >>> clf = sb.SimplexBoostClassifier(n_estimators=5, callbacks=[Progress(stream=stream)]).fit(X, y)
    >>> "risk" in stream.getvalue()
    True
    """

    every: float = 1.0  # seconds between lines
    stream: TextIO | None = None

    def start(self, run: Run) -> None:
        """Print the sizes and the forecast, and start the clock."""
        self._begin = self._last = time.perf_counter()
        self._first = run.round
        self._print(f"boosting: {run.data.n} rows, {run.data.K} classes, up to {run.n_rounds} rounds")
        time_needed = [] if run.seconds is None else [f"{run.seconds * (run.n_rounds - run.round):.1f} s"]
        memory = [] if run.memory is None else [f"{run.memory / 2**20:.0f} MB beside the data"]
        memory += [f"{run.memory_there / 2**20:.0f} MB on the GPU"] if run.memory_there else []
        if time_needed or memory:
            self._print(f"forecast: about {' and '.join(time_needed + memory)}")

    def after_round(self, run: Run) -> None:
        """Print a line if enough time has passed since the last one."""
        now = time.perf_counter()
        if now - self._last < self.every and run.round < run.n_rounds and run.stop_reason is None:
            return
        self._last, spent = now, now - self._begin
        to_go = spent / (run.round - self._first) * (run.n_rounds - run.round)
        risk = run.risk() if run.risk_before is None else run.risk_before
        parts = [f"round {run.round}/{run.n_rounds}", f"risk {risk:.6g}", *evaluated(run)]
        self._print("  ".join([*parts, f"{spent:.1f} s, {to_go:.1f} s to go"]))

    def finish(self, run: Run) -> None:
        """Print why boosting stopped early, if it did."""
        if run.stop_reason is not None:
            self._print(f"stopped after round {run.round}: {run.stop_reason}")

    def _print(self, line: str) -> None:
        print(line, file=self.stream or sys.stdout, flush=True)


def evaluated(run: Run) -> list[str]:
    """The newest results of every evaluated set, in words; sets are numbered if there are several."""
    many = len(run.evaluations) > 1
    return [
        f"eval{f'[{i}]' if many else ''}: " + ", ".join(f"{name} {values[-1]:.6g}" for name, values in results.items())
        for i, results in enumerate(run.evaluations)
        if results["risk"]
    ]
