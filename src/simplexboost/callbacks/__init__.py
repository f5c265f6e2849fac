"""Callbacks: everything around the loop, so that the loop stays the algorithm.

A callback sees the `Run` at the start, before and after every round, and at the end; it may set ``run.stop_reason``.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

import numpy as np

from .._typing import AnyArray, Array, Labels
from ..boosting.loop import Run, mean_loss
from ..boosting.model import AdditiveModel, add_terms


class Callback:
    """Does nothing; subclasses override what they need."""

    def start(self, run: Run) -> None:
        """Before the first round."""

    def before_round(self, run: Run) -> None:
        """Before every round."""

    def after_round(self, run: Run) -> None:
        """After every round."""

    def finish(self, run: Run) -> None:
        """After the last round."""


HISTORY_COLUMNS = ("risk", "edge", "step", "coordinate", "seconds")


@dataclass(eq=False)
class History(Callback):
    """Records every round: risk, edge and step (mean over the round's updates), coordinate (−1: all), seconds.

    Beside them, where the step knows them: error, the learner's weighted error (a mean again), and bound, a bound on
    the training error (a tie counts as an error): the loss before the first round times what the theory promises of
    every round since. The clock starts when the history is made, at the beginning of ``fit``.
    """

    records: dict[str, list[float]] = field(default_factory=lambda: {k: [] for k in HISTORY_COLUMNS})
    begin: float = field(default_factory=time.perf_counter)

    def after_round(self, run: Run) -> None:
        """Add a record."""
        coordinates = {update.coordinate for update in run.updates}
        only = coordinates.pop() if len(coordinates) == 1 else None
        if all(update.error is not None for update in run.updates):
            self.add("error", float(np.mean([update.error for update in run.updates])))
        if all(update.drop is not None for update in run.updates):
            self.add("bound", self._bound(run) * run.drop())
        self.add("edge", float(np.mean([update.edge for update in run.updates])))
        self.add("step", float(np.mean([update.alpha for update in run.updates])))
        self.add("coordinate", -1 if only is None else only)
        self.add("seconds", time.perf_counter() - self.begin)
        if run.risk_before is None:
            self.add("risk", run.risk())
        elif len(self.records["risk"]) < run.round - 1:  # that of the round before, which is known only now
            self.add("risk", run.risk_before)

    def _bound(self, run: Run) -> float:
        """The bound before this round."""
        if self.records.get("bound"):
            return self.records["bound"][-1]
        start = mean_loss(run.loss, AdditiveModel(run.Y), np.zeros_like(run.F), run.data.c, run.data.weight)
        return start / run.loss.mistake(run.data.K)

    def finish(self, run: Run) -> None:
        """The risk of the last round, if it lags behind."""
        if len(self.records["risk"]) < len(self.records["step"]):
            self.add("risk", run.risk())

    def continue_from(self, arrays: dict[str, AnyArray]) -> None:
        """Begin with the records of an earlier fit."""
        unknown = np.zeros(len(arrays["step"]))  # a model that was saved has forgotten its times
        self.records = {name: list(arrays.get(name, unknown)) for name in {**dict.fromkeys(HISTORY_COLUMNS), **arrays}}
        self.begin -= self.records["seconds"][-1] if self.records["seconds"] else 0.0

    def add(self, name: str, value: float) -> None:
        """Append to a column."""
        self.records.setdefault(name, []).append(value)

    def arrays(self, n_rounds: int) -> dict[str, AnyArray]:
        """The records of the first rounds as arrays; a risk that is not known yet is NaN."""
        columns = {name: [*values, np.nan] for name, values in self.records.items()}
        return {name: np.array(values[:n_rounds]) for name, values in columns.items()}


@dataclass(eq=False)
class Sampling(Callback):
    """Gives every round a random part of the rows and of the features, at least one of each.

    ``colsample="auto"`` is 0.8, and 0.4 where there are more than 256 features: many features say the same.
    """

    subsample: float = 1.0
    colsample: float | str = 1.0

    def start(self, run: Run) -> None:
        """Let the loop draw again where a sample shows no edge."""
        run.redraw = self.before_round

    def before_round(self, run: Run) -> None:
        """Draw."""
        n, p = run.data.X.shape
        run.rows = self._draw(run.rng, n, self.subsample)
        colsample = (0.8 if p <= 256 else 0.4) if isinstance(self.colsample, str) else self.colsample
        run.features = self._draw(run.rng, p, colsample)

    @staticmethod
    def _draw(rng: np.random.Generator, size: int, fraction: float) -> AnyArray | None:
        if fraction >= 1.0:
            return None
        return np.sort(rng.choice(size, max(1, round(fraction * size)), replace=False))


@dataclass(eq=False)
class Evaluation(Callback):
    """Follows the risk on rows that are not trained on, and metrics of the class scores U (n, K) if there are any.

    ``results`` has a list per name ("risk" first) with an entry per round.
    """

    X: AnyArray
    c: Labels
    weight: Array
    metrics: dict[str, Callable[[Array], float]] = field(default_factory=dict)
    results: dict[str, list[float]] = field(default_factory=dict)

    def start(self, run: Run) -> None:
        """The scores so far."""
        self._F = run.model.predictor(self.X, run.data.engine)  # (n, d)
        self.results.update({name: [] for name in ("risk", *self.metrics)})

    def after_round(self, run: Run) -> None:
        """Add the newest terms to the scores and record."""
        begin = run.model.round_ends[-2] if run.round > 1 else 0
        add_terms(run.model.terms[begin:], self.X, self._F, run.data.engine)
        self.results["risk"].append(self.risk(run))
        for name, metric in self.metrics.items():
            self.results[name].append(float(metric(run.model.scores(self._F))))

    def risk(self, run: Run) -> float:
        """The mean loss now."""
        return mean_loss(run.loss, run.model, self._F, self.c, self.weight)


@dataclass(eq=False)
class EarlyStopping(Evaluation):
    """Stops when the held-out risk has not improved by ``tol`` for ``patience`` rounds; keeps the best round."""

    patience: int = 10
    tol: float = 1e-7

    def start(self, run: Run) -> None:
        """The risk so far."""
        super().start(run)
        self._best, self.best_round = self.risk(run), run.round

    def after_round(self, run: Run) -> None:
        """Compare with the best."""
        super().after_round(run)
        risk = self.results["risk"][-1]
        if risk < self._best - self.tol:
            self._best, self.best_round = risk, run.round
        if run.round - self.best_round >= self.patience and run.stop_reason is None:
            run.stop_reason = f"early stopping: no better held-out risk in {self.patience} rounds"

    def finish(self, run: Run) -> None:
        """Forget the rounds after the best one."""
        run.model = run.model.first(max(1, self.best_round))


@dataclass(eq=False)
class Progress(Callback):
    """Prints a line now and then: round, risk, time so far and time to go."""

    every: float = 1.0  # seconds between lines
    stream: TextIO | None = None

    def start(self, run: Run) -> None:
        """Start the clock."""
        self._begin = self._last = time.perf_counter()
        self._first = run.round
        self._print(f"boosting: {run.data.n} rows, {run.data.K} classes, up to {run.n_rounds} rounds")
        if run.forecast is not None:
            seconds, megabytes = run.forecast
            to_go = seconds * (run.n_rounds - run.round)
            self._print(f"forecast: about {to_go:.1f} s and {megabytes:.0f} MB beside the data")

    def after_round(self, run: Run) -> None:
        """Print when it is time."""
        now = time.perf_counter()
        if now - self._last < self.every and run.round < run.n_rounds and run.stop_reason is None:
            return
        self._last, spent = now, now - self._begin
        to_go = spent / (run.round - self._first) * (run.n_rounds - run.round)
        risk = run.risk() if run.risk_before is None else run.risk_before
        self._print(f"round {run.round}/{run.n_rounds}  risk {risk:.6g}  {spent:.1f} s, {to_go:.1f} s to go")

    def finish(self, run: Run) -> None:
        """Say why it stopped."""
        if run.stop_reason is not None:
            self._print(f"stopped after round {run.round}: {run.stop_reason}")

    def _print(self, line: str) -> None:
        print(line, file=self.stream or sys.stdout, flush=True)


@dataclass(eq=False)
class Checkpoint(Callback):
    """Saves the classifier every few rounds, so that a long fit can be interrupted without loss.

    Parameters
    ----------
    path : where to save; `simplexboost.load` reads it back. Written beside and moved into place, never half a file.
    every : rounds between saves
    """

    path: str | Path
    every: int = 10

    def after_round(self, run: Run) -> None:
        """Save when it is time."""
        if run.round % self.every == 0 and run.snapshot is not None:
            run.snapshot().save(self.path)
