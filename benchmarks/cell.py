"""One cell of the race: load, fit against the clock, then evaluate and measure."""

from __future__ import annotations

import resource
import statistics
import sys
import tempfile
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from runner import Cell
from simplexboost._util.arrays import AnyArray
from simplexboost.datasets import Dataset

from .adapter import Clock, Contestant
from .calibration import Reliability, reliability
from .contestants import CONTESTANTS, OURS
from .curves import Curve, grid, score
from .problems import load

VALIDATION_PART = 0.2  # of the training rows
PREDICT_ROWS = 10_000  # at least so many rows are predicted at once, the test part repeated
PREDICT_SECONDS = 5.0


@dataclass(frozen=True)
class Spec(Cell):
    """What to measure; the race runs it in a process of its own.

    ``phase`` is "validate" (fit on a part of the training rows, evaluate on the others), "final" (fit a chosen setting
    on all of them, evaluate on the test rows) or "plain" (the same with the library's defaults, its own number of
    rounds among them). ``keep`` rounds make the final model and ``calibrate`` rounds that whose probabilities are
    examined, None for all.
    """

    dataset: str
    contestant: str
    setting: str
    phase: str
    repeat: int
    threads: int
    budget: float
    max_rounds: int | None = None
    keep: int | None = None
    calibrate: int | None = None
    data_home: str | None = None
    scale: float = 1.0

    @property
    def key(self) -> str:
        """By which reports find it; the options of the race are the same for all cells of a file."""
        return f"{self.dataset}/{self.contestant}/{self.setting}/{self.phase}/{self.repeat}"


def run(spec: Spec) -> dict[str, Any]:
    """Fit and measure."""
    warnings.simplefilter("ignore")  # libraries differ in what they warn of
    data = load(spec.dataset, spec.data_home, spec.scale)
    X, y, X_test, y_test = parts(data, spec.phase)
    kind = CONTESTANTS[spec.contestant]
    warm_up(kind, spec.setting, spec.threads, X.shape[1])
    own = {"own_rounds": spec.phase == "plain"}
    contestant = kind(spec.setting, threads=spec.threads, seed=spec.repeat, categorical=data.categorical, **own)
    X, X_test = contestant.prepare(X), contestant.prepare(X_test)
    before = peak_memory()
    clock = Clock(spec.budget, spec.max_rounds)
    contestant.fit(X, y, clock)
    fit_seconds, memory = clock.elapsed(), peak_memory()
    curve, bins = evaluate(contestant, clock, X_test, y_test, spec.calibrate)
    result = {
        "curve": curve.to_json(),
        "reliability": bins and bins.to_json(),
        "fit_seconds": fit_seconds,
        "stopped": clock.stopped and spec.contestant != OURS,
        "memory_mb": memory,
        "memory_before_fit_mb": before,
        "data": {"n_train": len(X), "n_test": len(X_test), "p": X.shape[1], "K": len(data.class_names)},
    }
    if spec.phase != "validate" and contestant.n_rounds:
        contestant.keep(spec.keep or contestant.n_rounds)
        result |= {
            "kept_rounds": contestant.kept,
            "n_trees": contestant.n_trees(len(data.class_names)),
            "model_bytes": model_bytes(contestant),
            "predict_rows_per_second": throughput(contestant, X_test),
        }
    return result


def parts(data: Dataset, phase: str) -> tuple[AnyArray, AnyArray, AnyArray, AnyArray]:
    """X, y to fit on and X, y to evaluate on; the same float32 numbers for everyone."""
    X, y = np.ascontiguousarray(data.X_train, dtype=np.float32), data.y_train
    if phase != "validate":
        return X, y, np.ascontiguousarray(data.X_test, dtype=np.float32), data.y_test
    held_out = validation_rows(y)
    return X[~held_out], y[~held_out], X[held_out], y[held_out]


def validation_rows(y: AnyArray) -> AnyArray:
    """Which rows to hold out, (n,) bool: a fifth of every class, never all of it."""
    rng = np.random.default_rng(0)
    out = np.zeros(len(y), dtype=bool)
    for k in np.unique(y):
        rows = rng.permutation(np.flatnonzero(y == k))
        count = int(VALIDATION_PART * len(rows) + rng.random())
        out[rows[: min(count, len(rows) - 1)]] = True
    return out


def warm_up(kind: type[Contestant], setting: str, threads: int, p: int) -> None:
    """A tiny fit first, so that no clock counts what a library loads when it is first used."""
    X = np.random.default_rng(0).standard_normal((60, p)).astype(np.float32)
    contestant = kind(setting, threads=threads, seed=0, categorical=np.zeros(p, dtype=bool))
    contestant.fit(X, np.arange(60) % 3, Clock(60.0, 2))


def evaluate(
    contestant: Contestant, clock: Clock, X: Any, y: AnyArray, calibrate: int | None = None
) -> tuple[Curve, Reliability | None]:
    """Scores after the rounds of the grid, beside the times that the clock took down; bins after ``calibrate``."""
    curve, bins = Curve(), None
    rounds = grid(min(contestant.n_rounds, len(clock.seconds)))
    examined = max((r for r in rounds if calibrate is None or r <= calibrate), default=0)
    for n_rounds, P in zip(rounds, contestant.staged(X, rounds), strict=True):
        curve.add(n_rounds, clock.seconds[n_rounds - 1], *score(P, y))
        if n_rounds == examined:
            bins = reliability(P, y)
    return curve, bins


def peak_memory() -> float:
    """The most memory this process has had so far, MB.

    From VmHWM where there is a /proc: ru_maxrss also counts what the parent process had when it started this one.
    """
    status = Path("/proc/self/status")
    if status.exists():
        line = next((line for line in status.read_text().splitlines() if line.startswith("VmHWM")), "")
        if line:
            return int(line.split()[1]) / 1024
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def model_bytes(contestant: Contestant) -> int:
    """The size of the saved model."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"model.{contestant.suffix}"
        contestant.save(path)
        return path.stat().st_size


def throughput(contestant: Contestant, X: Any) -> float:
    """Rows per second of predict_proba, the median of up to five calls."""
    rows = np.tile(np.arange(len(X)), -(-PREDICT_ROWS // len(X)))
    few = _timed(contestant, _take(X, rows[:200]), calls=2)[-1]
    rows = rows[: max(200, int(200 * PREDICT_SECONDS / few))]  # no more than take a few seconds
    seconds = _timed(contestant, _take(X, rows), calls=6)
    return len(rows) / statistics.median(seconds[1:] or seconds)  # the first call warms up


def _take(X: Any, rows: AnyArray) -> Any:
    return X.iloc[rows].reset_index(drop=True) if hasattr(X, "iloc") else np.ascontiguousarray(X[rows])


def _timed(contestant: Contestant, X: Any, calls: int) -> list[float]:
    seconds: list[float] = []
    while len(seconds) < calls and (len(seconds) < 2 or sum(seconds) < PREDICT_SECONDS):
        begin = time.perf_counter()
        contestant.predict_proba(X)
        seconds.append(time.perf_counter() - begin)
    return seconds
