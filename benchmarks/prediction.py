"""Prediction at equal accuracy: ``python -m benchmarks.prediction --sets letter,aloi27 --data-home DIR``.

Every library fits with its defaults for as long as the budget lasts. Beside each peer stand our first rounds that are
as accurate on the test part as all of its rounds: rows per second of probabilities, and size of the file.

``--symmetric`` compares symmetric trees of one shape instead, ours and CatBoost's: ten classes, 400 trees of depth 6.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simplexboost import BoostingClassifier
from simplexboost.datasets import load
from simplexboost.parts.learners import SketchTree

from .adapter import Clock, Contestant
from .cell import model_bytes, parts, throughput
from .contestants import CONTESTANTS, OURS, SimplexBoost
from .curves import grid
from .report import table

HEAD = ["peer", "accuracy", "rows/s", "kB", "our rounds", "accuracy", "rows/s", "kB", "faster", "smaller"]


@dataclass(frozen=True)
class Measured:
    """A model: its rounds, test accuracy, rows per second and bytes."""

    rounds: int
    accuracy: float
    rows_per_second: float
    size: int

    @classmethod
    def of(cls, contestant: Contestant, rounds: int, X: Any, y: Any) -> Measured:
        """Measure the first rounds of a contestant."""
        contestant.keep(rounds)
        accuracy = float(np.mean(contestant.predict_proba(X).argmax(axis=1) == y))
        return cls(rounds, accuracy, throughput(contestant, X), model_bytes(contestant))


class Shortened(SimplexBoost):
    """Ours, cut after any number of rounds."""

    def fit(self, X: Any, y: Any, clock: Clock) -> None:
        """All rounds stay there to be cut again."""
        super().fit(X, y, clock)
        self.whole = self.model.model_

    def keep(self, n_rounds: int) -> None:
        """The first rounds."""
        self.kept, self.model.model_ = n_rounds, self.whole.first(n_rounds)


def fitted(kind: type[Contestant], data: Any, threads: int, budget: float) -> Contestant:
    """A contestant with its defaults, fitted for so many seconds."""
    X, y, _, _ = parts(data, "final")
    setting = next(iter(kind.settings))
    contestant = kind(setting, threads=threads, seed=0, categorical=data.categorical)
    contestant.fit(contestant.prepare(X), y, Clock(budget))
    return contestant


def rows(data: Any, options: argparse.Namespace) -> list[list[str]]:
    """A line per peer."""
    _, _, X, y = parts(data, "final")
    ours = fitted(Shortened, data, options.threads, options.budget)
    stages = grid(ours.n_rounds)
    reached = [float(np.mean(P.argmax(axis=1) == y)) for P in ours.staged(X, stages)]
    lines = []
    for name, kind in CONTESTANTS.items():
        if name == OURS or not kind.is_installed():
            continue
        peer = fitted(kind, data, options.threads, options.budget)
        theirs = Measured.of(peer, peer.n_rounds, peer.prepare(X), y)
        enough = next((n for n, accuracy in zip(stages, reached, strict=True) if accuracy >= theirs.accuracy), None)
        beside = compared(Measured.of(ours, enough, X, y), theirs) if enough else ["never", *[""] * 5]
        lines.append([name, *shown(theirs), *beside])
    lines.append([OURS, *shown(Measured.of(ours, ours.n_rounds, X, y)), *[""] * 6])
    return lines


def shown(m: Measured) -> list[str]:
    """Accuracy, rows per second, size."""
    return [f"{m.accuracy:.4f}", f"{m.rows_per_second:.0f}", f"{m.size / 1000:.0f}"]


def compared(ours: Measured, theirs: Measured) -> list[str]:
    """Ours, and by how much it is faster and smaller."""
    faster, smaller = ours.rows_per_second / theirs.rows_per_second, theirs.size / ours.size
    return [str(ours.rounds), *shown(ours), f"{faster:.1f}", f"{smaller:.1f}"]


def symmetric(threads: int, n: int = 100_000, p: int = 50, K: int = 10) -> list[list[str]]:
    """Scores of n rows from 400 trees of depth 6, a line per library."""
    from catboost import CatBoostClassifier

    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p)).astype(np.float32)
    y = np.argmax(X[:, :K] + rng.normal(size=(n, K)), axis=1)
    tree = SketchTree(max_depth=6, growth="symmetric")
    ours = BoostingClassifier(optimizer="sketched-newton", learner=tree, n_estimators=400, n_jobs=threads)
    theirs = CatBoostClassifier(400, depth=6, thread_count=threads, verbose=0, allow_writing_files=False)
    for model in (ours, theirs):
        model.fit(X[:5000], y[:5000])
    calls = {
        "ours": lambda: ours.decision_function(X),
        "CatBoost": lambda: theirs.predict(X, prediction_type="RawFormulaVal", thread_count=threads),
    }
    return [[name, f"{n / fastest(call):.0f}"] for name, call in calls.items()]


def fastest(call: Callable[[], Any], times: int = 7) -> float:
    """Seconds of the fastest of some calls."""
    seconds = []
    for _ in range(times):
        begin = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - begin)
    return min(seconds)


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.prediction", description=__doc__)
    parser.add_argument("--sets", default="digits")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--budget", type=float, default=20.0, help="seconds of a fit")
    parser.add_argument("--data-home")
    parser.add_argument("--symmetric", action="store_true", help="symmetric trees of one shape")
    options = parser.parse_args(argv)
    if options.symmetric:
        print(table(["400 trees of depth 6", "rows/s"], symmetric(options.threads)))
        return
    warnings.simplefilter("ignore")  # libraries differ in what they warn of
    for name in options.sets.split(","):
        print(f"## {name}\n\n{table(HEAD, rows(load(name, options.data_home), options))}\n", flush=True)


if __name__ == "__main__":
    main()
