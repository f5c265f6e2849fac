"""Defines the base class of callbacks, and callbacks for history, checkpoints, printed progress and random samples."""

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
    """The base class of callbacks: methods that are called around boosting rounds, and do nothing unless overridden.

    Every method gets the run: ``run.round`` is the number of rounds so far, ``run.risk()`` the training risk, and
    ``run.evaluations`` the results on other rows. A callback ends the fit by setting ``run.stop_reason``.

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
        """Raise if the callback does not work with this estimator; called at the beginning of ``fit``."""

    def start(self, run: Run) -> None:
        """Prepare for the run; called before the first round."""

    def before_round(self, run: Run) -> None:
        """Act before a round; called before every round."""

    def after_round(self, run: Run) -> None:
        """Act after a round; called after every round, or less often if `next_call` says so."""

    def finish(self, run: Run) -> None:
        """Act at the end of the run; called after the last round."""

    def next_call(self, run: Run) -> int:
        """Return the round, counted from 1, after which `after_round` must be called next.

        A class that overrides `before_round` or `after_round` is called in every round, unless it or a subclass
        overrides this method, too. The engine may make all rounds up to the returned one in a single call, which saves
        Python's overhead. Then `before_round` is called once for each round, ahead of time, so that it may only draw
        random numbers. And `after_round` is called some time after these rounds.
        """
        return run.n_rounds


def next_look(callback: Callback, run: Run) -> int:
    """Return the round after which to call a callback next: what `next_call` returns if it applies, else the next."""
    in_rounds = {"before_round", "after_round"}
    for own in (vars(callback), *map(vars, type(callback).__mro__)):
        if "next_call" in own:
            return callback.next_call(run)
        if in_rounds & own.keys():
            break
    return run.round + 1


@dataclass(eq=False)
class Checkpoint(Callback):
    """A callback that saves the classifier every few rounds, so that an interrupted fit is not lost.

    Parameters
    ----------
    path : str or Path
        The file, which `simplexboost.load` can read. A save replaces the older file only when the new one is complete
        on the disk, so that one complete file exists even after a crash or a power failure.
    every : int, default=10
        The number of rounds between two saves.

    Notes
    -----
    If the classifier cannot be saved, for example with a scikit-learn learner, or no file can be written at the path,
    ``fit`` raises at its beginning. A later problem, such as a full disk, causes a `RuntimeWarning`, but the fit
    continues: the older file stays unchanged, and the next save is tried as usual.

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
    """A callback that prints a line about once a second: round, risk, evaluation results, elapsed and remaining time.

    ``verbose=1`` of a classifier has the same effect.

    Parameters
    ----------
    every : float, default=1.0
        The number of seconds between two lines.
    stream : text file or None, default=None
        Where to print; None means standard output.

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
    """Return for each evaluated set of rows a text with its latest results; several sets are numbered."""
    many = len(run.evaluations) > 1
    return [
        f"eval{f'[{i}]' if many else ''}: " + ", ".join(f"{name} {values[-1]:.6g}" for name, values in results.items())
        for i, results in enumerate(run.evaluations)
        if results["risk"]
    ]


@dataclass(eq=False)
class Sampling(Callback):
    """A callback that draws a random sample of rows and one of features for every round, each with at least one.

    The parameters ``subsample`` and ``max_features`` of a classifier have the same effect.

    Parameters
    ----------
    subsample : float, default=1.0
        The fraction of the rows.
    max_features : float or "auto", default=1.0
        The fraction of the features; "auto" is 0.8 for up to 256 features and 0.4 for more, since many of them are then
        alike.
    held : array or None, default=None
        The indices of held-out rows, which are never drawn, ascending; None stands for no rows.

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
    """Return a random sample of the indices 0 .. size − 1, ascending: the given fraction of them, but at least one."""
    drawn = np.zeros(size, dtype=bool)
    drawn[rng.choice(size, max(1, round(fraction * size)), replace=False)] = True
    return np.flatnonzero(drawn)


def remaining_rows(n: int, held: AnyArray) -> AnyArray:
    """Return the row indices 0 .. n − 1 without those of the held-out rows, ascending."""
    return np.delete(np.arange(n), held)


HISTORY_COLUMNS = ("risk", "edge", "step", "coordinate", "seconds")


@dataclass(eq=False)
class History(Callback):
    """A callback that records the risk, edge, step and more of every round; ``history_`` has the records as arrays.

    Risk is the training risk; edge and step are means over the updates of a round. The coordinate is the column of F
    that was updated (−1 for all), and the seconds count from the beginning of ``fit``. Some step rules add two records:
    error is the weak learner's weighted error (also a mean), and bound is an upper bound on the training error, where
    ties count as errors. The bound is the loss before the first round times a factor for every round, which the theory
    guarantees.

    Parameters
    ----------
    records : dict of lists
        A list for every name, with a value for every round; the lists are empty at first.
    begin : float
        The time from which the seconds count; by default the time at which the callback is created.

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
        """Record the rounds that the engine has just made in one call."""
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
        """Start with the records of an earlier fit, a dict from each record's name to its array."""
        unknown = np.zeros(len(arrays["step"]))  # model files do not hold the seconds
        self.records = {name: list(arrays.get(name, unknown)) for name in {**dict.fromkeys(HISTORY_COLUMNS), **arrays}}
        if self.records["risk"] and np.isnan(self.records["risk"][-1]):  # a checkpoint does not know its last risk
            self.records["risk"].pop()
        self.begin -= self.records["seconds"][-1] if self.records["seconds"] else 0.0

    def add(self, name: str, value: float) -> None:
        """Append a value to the record with this name."""
        self.records.setdefault(name, []).append(value)

    def arrays(self, n_rounds: int) -> dict[str, AnyArray]:
        """Return the records of the first ``n_rounds`` rounds as arrays; a risk that is not yet known is NaN."""
        columns = {name: [*values, np.nan] for name, values in self.records.items()}
        return {name: np.array(values[:n_rounds]) for name, values in columns.items()}
