"""Five libraries' defaults on small sets: ``python -m benchmarks.ranks`` runs five times two stratified folds.

Every repeat shuffles all rows of a set and cuts them in halves with (almost) equally many rows of every class; each
half is once for training and once for testing. Vowel keeps its own two parts, whose speakers differ: there a repeat is
another seed of the libraries. ``python -m benchmarks.report`` ranks the libraries and draws the ranks.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import runner
from runner import Cell, File, Workers
from simplexboost._util.arrays import AnyArray
from simplexboost.datasets import ENVIRONMENT, Dataset, load

from . import machine, standings
from .adapter import Clock, Contestant
from .calibration import reliability
from .cell import warm_up
from .contestants import CONTESTANTS, OURS
from .curves import score

SETS = (
    "vehicle",
    "segment",
    "vowel",
    "abalone",
    "ecoli",
    "car",
    "splice",
    "dna",
    "soybean",
    "breast_tissue",
    "vertebral",
    "optdigits",
    "satimage",
)
OWN_PARTS = ("vowel",)  # sets whose official split means something
LIBRARIES = (OURS, "lightgbm", "xgboost", "catboost", "histgb")
REPEATS = 5


@dataclass(frozen=True)
class Fold(Cell):
    """One fit of a library's defaults."""

    dataset: str
    contestant: str
    repeat: int
    fold: int
    threads: int
    data_home: str | None = None

    @property
    def key(self) -> str:
        """By which reports find it."""
        return f"{self.dataset}/{self.contestant}/{self.repeat}/{self.fold}"


def run(spec: Fold) -> dict[str, Any]:
    """Fit and score; the time is that of the fit alone."""
    warnings.simplefilter("ignore")  # libraries differ in what they warn of
    data = load(spec.dataset, spec.data_home)
    X, y, X_test, y_test = parts(data, spec.repeat, spec.fold)
    classes, codes = np.unique(y, return_inverse=True)  # a rare class may be missing in a half
    kind = CONTESTANTS[spec.contestant]
    warm(kind, spec.threads)
    seed = 2 * spec.repeat + spec.fold
    contestant = kind("defaults", threads=spec.threads, seed=seed, categorical=data.categorical, own_rounds=True)
    X, X_test = contestant.prepare(X), contestant.prepare(X_test)
    clock = Clock(float("inf"))
    contestant.fit(X, codes, clock)
    seconds = clock.elapsed()
    contestant.keep(contestant.n_rounds)
    P = np.zeros((len(y_test), len(data.class_names)))
    P[:, classes] = contestant.predict_proba(X_test)
    accuracy, log_loss = score(P, y_test)
    bins = reliability(P, y_test).to_json()
    scores = {"accuracy": accuracy, "log_loss": log_loss, "seconds": seconds, "reliability": bins}
    return {**scores, "n_rounds": contestant.n_rounds, "n_train": len(y), "n_test": len(y_test)}


def parts(data: Dataset, repeat: int, fold: int) -> tuple[AnyArray, AnyArray, AnyArray, AnyArray]:
    """X, y to fit on and X, y to test on; the same float32 numbers for everyone."""
    X_train, X_test = (np.ascontiguousarray(X, dtype=np.float32) for X in (data.X_train, data.X_test))
    if data.name in OWN_PARTS:
        return X_train, data.y_train, X_test, data.y_test
    X, y = np.concatenate([X_train, X_test]), np.concatenate([data.y_train, data.y_test])
    train = halves(y, repeat) == fold
    return X[train], y[train], X[~train], y[~train]


def halves(y: AnyArray, seed: int) -> AnyArray:
    """0 or 1 for every row, (n,): rows in random order within their class go to the halves by turns."""
    order = np.lexsort([np.random.default_rng(seed).random(len(y)), y])
    half = np.empty(len(y), dtype=int)
    half[order] = np.arange(len(y)) % 2
    return half


_warm: set[str] = set()


def warm(kind: type[Contestant], threads: int) -> None:
    """Once in a process: a tiny fit, so that no clock counts what a library loads when it is first used."""
    if kind.__name__ not in _warm:
        warm_up(kind, "defaults", threads, 5)
        _warm.add(kind.__name__)


def folds(sets: Sequence[str], libraries: Sequence[str], repeats: int, **same: Any) -> list[Fold]:
    """All cells, set after set; libraries take turns in who begins."""
    return [
        Fold(dataset, library, repeat, fold, **same)
        for dataset in sets
        for repeat in range(repeats)
        for fold in range(1 if dataset in OWN_PARTS else 2)
        for library in list(libraries)[:: -1 if repeat % 2 else 1]
    ]


# ---- the command line -----------------------------------------------------------------------------------------------


def arguments(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ranks", description=__doc__)
    add = parser.add_argument
    add("--sets", default=",".join(SETS), help="names, separated by commas")
    add("--libraries", default=",".join(LIBRARIES), help=f"some of {', '.join(CONTESTANTS)}")
    add("--repeats", type=int, default=REPEATS, help="of two folds each")
    add("--threads", type=int, default=2, help="of each fit")
    add("--jobs", type=int, default=1, help="fits side by side; threads times jobs should not exceed the cores")
    add("--data-home", default=os.environ.get(ENVIRONMENT), help="a folder of .npz sets; scikit-learn's need none")
    add("--json", type=Path, default=Path("ranks.json"), help="finished cells go there at once")
    add("--resume", action="store_true", help="go on with that file")
    options = parser.parse_args(argv)
    options.data_home = str(Path(options.data_home).resolve()) if options.data_home else None
    options.libraries = [name for name in options.libraries.split(",") if name]
    unknown = [name for name in options.libraries if name not in CONTESTANTS or not CONTESTANTS[name].is_installed()]
    if unknown:
        parser.error(
            f"--libraries: {', '.join(unknown)} unknown or not installed; choose from {', '.join(CONTESTANTS)}."
        )
    return options


def main(argv: Sequence[str] | None = None) -> None:
    """Run what is not done yet and print the ranks."""
    options = arguments(argv)
    what = {name: getattr(options, name) for name in ("threads", "jobs", "repeats")}
    header = {"kind": "ranks", "machine": machine.describe(), "options": what}
    results = File(options.json, header, options.resume)
    same = {"threads": options.threads, "data_home": options.data_home}
    cells = folds(options.sets.split(","), options.libraries, options.repeats, **same)
    workers = Workers(count=options.jobs, threads=options.threads)
    runner.run(cells, results, run, workers, outcome)
    print("\n" + standings.section(results.cells))


def outcome(result: dict[str, Any]) -> str:
    """A cell in a few words."""
    return "accuracy {accuracy:.4f}, log-loss {log_loss:.4f}, {seconds:.2f} s".format(**result)


if __name__ == "__main__":
    main()
