"""Defines the base class of callbacks, and those for the history, checkpoints, printed progress and random samples."""

from __future__ import annotations

import math
import sys
import time
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from .._util.arrays import AnyArray
from .._util.messages import warn_user
from .._util.params import check_number
from ..engine import RoundBlock
from ..parts.losses.objective import mean_loss
from ..parts.optimizers.run import Run


class Callback:
    """The base class of callbacks: it does nothing, and subclasses override the methods that they need.

    Every method gets the run: ``run.round`` is the number of rounds so far, ``run.risk()`` the training risk,
    ``run.evaluations`` what was evaluated, and a callback that sets ``run.stop_reason`` ends the fit.

    Examples
    --------
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> class Stop(Callback):
    ...     def after_round(self, run):
    ...         if run.risk() < 0.1:
    ...             run.stop_reason = "the risk is small"
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = sb.SimplexBoostClassifier(n_estimators=100, callbacks=[Stop()], random_state=0).fit(X, y)
    >>> clf.n_iter_ < 100, clf.stop_reason_
    (True, 'the risk is small')
    """

    def check(self, estimator: Any) -> None:
        """Raise if the callback will not work with an estimator; called at the beginning of ``fit``."""

    def start(self, run: Run) -> None:
        """Do what is needed before the first round."""

    def before_round(self, run: Run) -> None:
        """Do what is needed before a round."""

    def after_round(self, run: Run) -> None:
        """Do what is needed after a round."""

    def finish(self, run: Run) -> None:
        """Do what is needed after the last round."""

    def next_call(self, run: Run) -> int:
        """Return the round after which `after_round` must be called next.

        It is asked only of a class that overrides it after, or together with, `before_round` and `after_round`; other
        classes that override one of these are called in every round. Rounds before the one that is returned may be made
        in one call of the engine, which saves the time of Python. Then `after_round` is called some time after them,
        and `before_round` ahead of them, once for each, to draw random numbers only.
        """
        return run.n_rounds


def next_look(callback: Callback, run: Run) -> int:
    """Return the round after which a callback must be called next: the next one, unless its class says another."""
    in_rounds = {"before_round", "after_round"}
    for own in (vars(callback), *map(vars, type(callback).__mro__)):
        if "next_call" in own:
            return callback.next_call(run)
        if in_rounds & own.keys():
            break
    return run.round + 1


@dataclass(eq=False)
class Checkpoint(Callback):
    """Saves the classifier every few rounds, so that a long fit can be interrupted without loss.

    Parameters
    ----------
    path : str or Path
        Where to save; `simplexboost.load` reads it back. A save replaces the file only when the new one is complete and
        on the disk, so that a whole one is there even after a crash or a loss of power.
    every : int, default=10
        The number of rounds between two saves.

    Notes
    -----
    A classifier that cannot be saved, for example with a scikit-learn learner, is refused when its fit begins; so is a
    place where no file can be. What goes wrong later, such as a full disk, costs the checkpoint and a `RuntimeWarning`,
    but not the fit: the older file stays as it is, and the next save is tried as usual.

    Examples
    --------
    >>> import tempfile
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = f"{folder}/model.sb"
    ...     clf = sb.SimplexBoostClassifier(n_estimators=25, callbacks=[Checkpoint(path)], random_state=0).fit(X, y)
    ...     sb.load(path).n_iter_
    20
    """

    path: str | Path
    every: int = 10

    def check(self, estimator: Any) -> None:
        if not isinstance(self.path, str | PathLike):
            raise TypeError(f"path={self.path!r} must be the name of a file.")
        check_number("every", self.every, int, 1)
        estimator.check_savable()
        if not Path(self.path).resolve().parent.is_dir():
            raise FileNotFoundError(f"Checkpoint's path={str(self.path)!r} is in a folder that does not exist.")
        if Path(self.path).exists() and not Path(self.path).is_file():
            raise OSError(f"Checkpoint's path={str(self.path)!r} is there already and is no regular file.")

    def next_call(self, run: Run) -> int:
        return run.round + self.every - run.round % self.every

    def after_round(self, run: Run) -> None:
        if run.round % self.every or run.snapshot is None:
            return
        try:
            run.snapshot().save(self.path)
        except (OSError, MemoryError) as error:
            warn_user(
                f"the checkpoint of round {run.round} could not be saved, and the fit goes on without it: {error!r}",
                RuntimeWarning,
            )


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

    def next_call(self, run: Run) -> int:
        return run.n_rounds

    def start(self, run: Run) -> None:
        self._begin = self._last = time.perf_counter()
        self._first = run.round
        self._print(f"boosting: {run.data.n} rows, {run.data.K} classes, up to {run.n_rounds} rounds")
        time_needed = [] if run.seconds is None else [f"{run.seconds * (run.n_rounds - run.round):.1f} s"]
        memory = [] if run.memory is None else [f"{run.memory / 2**20:.0f} MB beside the data"]
        memory += [f"{run.memory_there / 2**20:.0f} MB on the GPU"] if run.memory_there else []
        if time_needed or memory:
            self._print(f"forecast: about {' and '.join(time_needed + memory)}")

    def after_round(self, run: Run) -> None:
        now = time.perf_counter()
        if now - self._last < self.every and run.round < run.n_rounds and run.stop_reason is None:
            return
        self._last, spent = now, now - self._begin
        to_go = spent / (run.round - self._first) * (run.n_rounds - run.round)
        risk = run.risk() if run.risk_before is None else run.risk_before
        parts = [f"round {run.round}/{run.n_rounds}", f"risk {risk:.6g}", *format_evaluations(run)]
        self._print("  ".join([*parts, f"{spent:.1f} s, {to_go:.1f} s to go"]))

    def finish(self, run: Run) -> None:
        if run.stop_reason is not None:
            self._print(f"stopped after round {run.round}: {run.stop_reason}")

    def _print(self, line: str) -> None:
        print(line, file=self.stream or sys.stdout, flush=True)


def format_evaluations(run: Run) -> list[str]:
    """Return the newest results of every evaluated set as text; sets are numbered if there are several."""
    many = len(run.evaluations) > 1
    return [
        f"eval{f'[{i}]' if many else ''}: " + ", ".join(f"{name} {values[-1]:.6g}" for name, values in results.items())
        for i, results in enumerate(run.evaluations)
        if results["risk"]
    ]


@dataclass(eq=False)
class Sampling(Callback):
    """Gives every round a random sample of the rows and of the features, at least one of each.

    The parameters ``subsample`` and ``max_features`` of a classifier do the same.

    Parameters
    ----------
    subsample : float, default=1.0
        The fraction of the rows.
    max_features : float or "auto", default=1.0
        The fraction of the features; "auto" is 0.8, and 0.4 where there are more than 256 features, since many of them
        are then alike.
    held : array or None, default=None
        The numbers of rows that are never drawn, ascending; None stands for no rows.

    Examples
    --------
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = sb.GDMCBoostClassifier(n_estimators=10, callbacks=[Sampling(subsample=0.5)], random_state=0).fit(X, y)
    >>> clf.score(X, y) > 0.9
    True
    """

    subsample: float = 1.0
    max_features: float | str = 1.0
    held: AnyArray | None = None

    _others: AnyArray | None = field(default=None, init=False, repr=False)  # the rows that are not held out

    def next_call(self, run: Run) -> int:
        return run.n_rounds

    def start(self, run: Run) -> None:
        run.redraw, self._others = self.before_round, None

    def before_round(self, run: Run) -> None:
        data, held = run.data, self.held
        if self.subsample < 1.0:
            drawn = draw(run.rng, data.n - (0 if held is None else len(held)), self.subsample)
            run.rows = data.engine.rows.find(drawn if held is None else remaining_rows(data.n, held)[drawn])
        else:
            if held is not None and self._others is None:
                self._others = remaining_rows(data.n_here, data.engine.rows.find(held))
            run.rows = self._others
        p = data.p
        most = (0.8 if p <= 256 else 0.4) if isinstance(self.max_features, str) else self.max_features
        run.features = draw(run.rng, p, most) if most < 1.0 else None


def draw(rng: np.random.Generator, size: int, fraction: float) -> AnyArray:
    """Draw a random sample of a fraction of the numbers 0 .. size − 1, ascending."""
    drawn = np.zeros(size, dtype=bool)
    drawn[rng.choice(size, max(1, round(fraction * size)), replace=False)] = True
    return np.flatnonzero(drawn)


def remaining_rows(n: int, held: AnyArray) -> AnyArray:
    """Return the rows 0 .. n − 1 that are not held out, ascending."""
    return np.delete(np.arange(n), held)


HISTORY_COLUMNS = ("risk", "edge", "step", "coordinate", "seconds")


@dataclass(eq=False)
class History(Callback):
    """Records what happened in every round; the fitted attribute ``history_`` holds its records as arrays.

    These are the risk, the edge and the step (means over the updates of a round), the coordinate (−1 for all) and the
    seconds. Where the step knows them, there are two more: error, the learner's weighted error (a mean again), and
    bound, a bound on the training error in which a tie counts as an error. The bound is the loss before the first round
    times a factor for every round, which the theory guarantees. The clock starts when the history is made, at the
    beginning of ``fit``.

    Parameters
    ----------
    records : dict of lists
        The values of each kind, one for every round; they are empty at first.
    begin : float
        The time at which the clock started, which is now by default.

    Examples
    --------
    Every booster has one of its own.

    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = sb.AdaBoostM1Classifier(n_estimators=5).fit(X, y)
    >>> sorted(clf.history_)
    ['bound', 'coordinate', 'edge', 'error', 'risk', 'seconds', 'step']
    """

    records: dict[str, list[float]] = field(default_factory=lambda: {k: [] for k in HISTORY_COLUMNS})
    begin: float = field(default_factory=time.perf_counter)

    def next_call(self, run: Run) -> int:
        return run.n_rounds

    def after_round(self, run: Run) -> None:
        if run.block is not None:
            self._add_block(run.block)
            return
        updates, records = run.updates, self.records
        coordinates = {-1 if update.coordinate is None else update.coordinate for update in updates}
        edge, step, error = updates[0].edge, updates[0].alpha, updates[0].error
        if len(updates) > 1:  # the mean of one number is itself, which a GPU would otherwise wait for
            edge = float(np.mean([update.edge for update in updates]))
            step = float(np.mean([update.alpha for update in updates]))
            error = None if error is None else float(np.mean([update.error for update in updates]))
        if error is not None:
            self.add("error", float(error))
        drops = [update.drop for update in updates if update.drop is not None]
        if len(drops) == len(updates):
            bound = 1.0  # the factor by which the bound changes with this round
            for update, drop in zip(updates, drops, strict=True):
                bound -= update.share * (1.0 - drop(run.learning_rate * update.alpha))
            bounds = records.setdefault("bound", [])
            if bounds:
                before = bounds[-1]
            else:
                start = mean_loss(run.loss, run.code, run.start(), run.data.c, run.data.weight, run.data.engine)
                before = start / run.loss.mistake(run.data.K)
            bound = float(before) * float(bound)
            bounds.append(bound if math.isfinite(bound) else math.inf)  # of a fit that diverges
        records["edge"].append(float(edge))
        records["step"].append(float(step))
        records["coordinate"].append(coordinates.pop() if len(coordinates) == 1 else -1)
        records["seconds"].append(time.perf_counter() - self.begin)
        if run.risk_before is None:
            records["risk"].append(run.risk())
        elif len(records["risk"]) < len(records["step"]) - 1:  # the risk after the round before, known only now
            records["risk"].append(run.risk_before)

    def _add_block(self, block: RoundBlock) -> None:
        """Record rounds that the engine made in one call, which has just ended."""
        records, n, now = self.records, len(block), time.perf_counter() - self.begin
        first = 1 if len(records["risk"]) == len(records["step"]) else 0  # the risk before it is known already
        records["risk"] += block.risk[first:].tolist()
        records["edge"] += block.edge.tolist()
        records["step"] += [float(block.alpha)] * n
        records["coordinate"] += [-1] * n
        records["seconds"] += (now - block.seconds[-1] + block.seconds).tolist()

    def finish(self, run: Run) -> None:
        if len(self.records["risk"]) < len(self.records["step"]):
            self.records["risk"].append(run.risk())

    def continue_from(self, arrays: dict[str, AnyArray]) -> None:
        """Begin with the records of an earlier fit."""
        unknown = np.zeros(len(arrays["step"]))  # model files do not hold the seconds
        self.records = {name: list(arrays.get(name, unknown)) for name in {**dict.fromkeys(HISTORY_COLUMNS), **arrays}}
        if self.records["risk"] and np.isnan(self.records["risk"][-1]):  # a checkpoint does not know its last risk
            self.records["risk"].pop()
        self.begin -= self.records["seconds"][-1] if self.records["seconds"] else 0.0

    def add(self, name: str, value: float) -> None:
        """Append to a column."""
        self.records.setdefault(name, []).append(value)

    def arrays(self, n_rounds: int) -> dict[str, AnyArray]:
        """Return the records of the first rounds as arrays; a risk that is not known yet is NaN."""
        columns = {name: [*values, np.nan] for name, values in self.records.items()}
        return {name: np.array(values[:n_rounds]) for name, values in columns.items()}
