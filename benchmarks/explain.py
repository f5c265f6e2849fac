"""Shapley values beside XGBoost's: ``python -m benchmarks.explain --sets letter,aloi27``.

XGBoost fits with its defaults for some rounds. Beside it stand our first rounds that are at least as accurate on the
test part as all of its rounds. Both then explain test rows for all classes on one thread, in turns: rows per second of
processor time, which hardly depends on what else the machine does, the best of three turns. What we prepare of the
trees before the first row, and keep for later calls, is done anew and counted in every turn.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from simplexboost import SimplexBoostClassifier, explain
from simplexboost._util.arrays import AnyArray
from simplexboost.datasets import load

from .tables import table

PEER, OWN = ["XGBoost: rounds", "accuracy", "rows", "rows/s"], ["ours: rounds", "accuracy", "rows", "rows/s"]
HEAD = ["set", "classes", *PEER, *OWN, "faster"]


def rate(predict: Callable[[AnyArray], Any], X: AnyArray) -> float:
    """Rows explained per second of processor time."""
    begin = time.process_time()
    predict(X)
    return len(X) / (time.process_time() - begin)


def fit_xgboost(data: Any, rounds: int, threads: int) -> tuple[Any, float]:
    """XGBoost with its defaults, and its test accuracy."""
    from xgboost import XGBClassifier

    peer = XGBClassifier(n_estimators=rounds, n_jobs=threads, random_state=0)
    peer.fit(data.X_train, data.y_train)
    return peer, float(np.mean(peer.predict(data.X_test) == data.y_test))


def fit_ours(data: Any, accuracy: float, most: int, threads: int) -> tuple[Any, float]:
    """Our first rounds that are as accurate as the peer, and their accuracy."""
    ours = SimplexBoostClassifier(n_estimators=most, random_state=0, n_jobs=threads)
    ours.fit(data.X_train, data.y_train)
    reached = [float(np.mean(labels == data.y_test)) for labels in ours.staged_predict(data.X_test)]
    first = next((r for r, value in enumerate(reached) if value >= accuracy), len(reached) - 1)
    ours.model_ = ours.model_.first(first + 1)
    return ours, reached[first]


def compare(name: str, data: Any, rounds: int, rows: int, threads: int) -> list[str]:
    """A line of the table."""
    from xgboost import DMatrix

    peer, accuracy = fit_xgboost(data, rounds, threads)
    ours, reached = fit_ours(data, accuracy, 4 * rounds, threads)
    booster = peer.get_booster()
    booster.set_param({"nthread": 1})
    ours.n_jobs = 1
    few = data.X_test[:rows]
    X = np.ascontiguousarray(data.X_test)
    theirs, own = [], []
    for _ in range(3):
        theirs.append(rate(lambda block: booster.predict(DMatrix(block), pred_contribs=True), few))
        ours.model_ = ours.model_.first(ours.model_.n_rounds)  # a new one, of which nothing is kept
        own.append(rate(lambda block: explain.shap_values(ours, block), X))
    values = explain.shap_values(ours, X[:100])
    sums, logits = values.sum(axis=1) + explain.expected_value(ours), 2 * ours.class_scores(X[:100])
    assert np.allclose(sums, logits, rtol=1e-6, atol=1e-6)
    return [
        name,
        str(len(ours.classes_)),
        str(rounds),
        f"{accuracy:.4f}",
        str(len(few)),
        f"{max(theirs):.1f}",
        str(ours.model_.n_rounds),
        f"{reached:.4f}",
        str(len(X)),
        f"{max(own):.0f}",
        f"{max(own) / max(theirs):.0f}×",
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default="letter,aloi27", help="names, separated by commas")
    parser.add_argument("--data-home", help="a folder of .npz files; SIMPLEXBOOST_DATA by default")
    parser.add_argument("--rounds", type=int, default=100, help="XGBoost's rounds")
    parser.add_argument("--rows", type=int, default=256, help="test rows that XGBoost explains; we explain all")
    parser.add_argument("--threads", type=int, default=1, help="for the fits")
    options = parser.parse_args(arguments)
    lines = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in options.sets.split(","):
            data = load(name, data_home=options.data_home)
            lines.append(compare(name, data, options.rounds, options.rows, options.threads))
    print(table(HEAD, lines))


if __name__ == "__main__":
    main()
