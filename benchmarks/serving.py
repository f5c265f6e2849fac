"""A call of predict_proba for 1, 10 and 1000 rows: ``python -m benchmarks.serving --sets letter --data-home DIR``.

Every library fits the same number of rounds on one thread. Of every library the fastest call that gives probabilities
from an array of NumPy is taken: LightGBM's Booster.predict, XGBoost's inplace_predict, CatBoost's predict. The figures
are microseconds a call, the fastest of several turns, because a machine that does other things only makes calls slower.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from simplexboost import SimplexBoostClassifier
from simplexboost.datasets import load

from .pages import parser_of, publish

ABOUT = (
    "Microseconds a call of predict_proba, on one thread. CatBoost's trees are symmetric, which suits many rows at a "
    "time."
)
BATCHES = (1, 10, 1000)
HEAD = ["set", "classes", "library", "rounds", "accuracy", *(f"{n} row{'s' * (n > 1)}" for n in BATCHES)]
Call = Callable[[Any], Any]


def ours(X: Any, y: Any, rounds: int) -> Call:
    """The flagship."""
    return SimplexBoostClassifier(n_estimators=rounds, random_state=0, n_jobs=1).fit(X, y).predict_proba


def lightgbm(X: Any, y: Any, rounds: int) -> Call:
    """LightGBM, without the scikit-learn layer."""
    from lightgbm import LGBMClassifier

    booster = LGBMClassifier(n_estimators=rounds, n_jobs=1, verbose=-1).fit(X, y).booster_
    return lambda rows: booster.predict(rows, num_threads=1)


def xgboost(X: Any, y: Any, rounds: int) -> Call:
    """XGBoost, without the scikit-learn layer and without a DMatrix."""
    from xgboost import XGBClassifier

    booster = XGBClassifier(n_estimators=rounds, n_jobs=1).fit(X, y).get_booster()
    return booster.inplace_predict


def catboost(X: Any, y: Any, rounds: int) -> Call:
    """CatBoost."""
    from catboost import CatBoostClassifier

    model = CatBoostClassifier(rounds, thread_count=1, verbose=0, allow_writing_files=False, random_seed=0).fit(X, y)
    return lambda rows: model.predict(rows, prediction_type="Probability", thread_count=1)


LIBRARIES = {"simplexboost": ours, "lightgbm": lightgbm, "xgboost": xgboost, "catboost": catboost}


def microseconds(call: Call, rows: Any, seconds: float = 1.0, turns: int = 8) -> float:
    """The time of a call: the mean of a turn, and of all turns the fastest."""
    call(rows)
    begin = time.perf_counter()
    call(rows)
    calls = max(1, int(seconds / turns / (time.perf_counter() - begin)))
    found = []
    for _ in range(turns):
        begin = time.perf_counter()
        for _ in range(calls):
            call(rows)
        found.append((time.perf_counter() - begin) / calls)
    return 1e6 * min(found)


def lines(name: str, options: argparse.Namespace) -> list[list[str]]:
    """A line per library that is installed."""
    data = load(name, options.data_home)
    _, y = np.unique(data.y_train, return_inverse=True)
    labels = np.unique(data.y_train)
    X, test = (np.ascontiguousarray(some, dtype=np.float64) for some in (data.X_train, data.X_test))
    found = []
    for library, fit in LIBRARIES.items():
        try:
            call = fit(X, y, options.rounds)
        except ImportError:
            continue
        accuracy = float(np.mean(labels[np.asarray(call(test)).argmax(axis=1)] == data.y_test))
        times = [microseconds(call, np.ascontiguousarray(test[:n])) for n in BATCHES]
        found.append(
            [name, str(len(labels)), library, str(options.rounds), f"{accuracy:.4f}", *(f"{t:.0f}" for t in times)]
        )
        print(found[-1], flush=True)
    return found


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, print and perhaps write a page."""
    publish(parser_of("serving", __doc__, 100), argv, HEAD, lines, ABOUT)


if __name__ == "__main__":
    main()
