"""New classes for a fitted model: ``python -m benchmarks.classes --sets letter,satimage --data-home DIR``.

A model is fitted without some classes, which are drawn at random, and learns them then. Beside it stand two fits to all
classes: with the defaults, and with the number of rounds and the shape of the trees that the defaults chose, which is
the same model without the time of the choice. All of them take turns, and every turn draws other classes: accuracies
are means over the turns, times are medians. Times are those of the processor, which other work on the machine hardly
changes; by default there is one thread.

The lines of a set are:

- ``fit, default`` and ``fit, same rounds``: the model fitted anew, to all classes
- ``add_classes``: its defaults, with all training rows
- ``n_rounds=0``: the leaves of the old trees learn, with all training rows
- ``new rows only``: the leaves of the old trees learn, without any row of an old class
"""

from __future__ import annotations

import argparse
import copy
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from simplexboost import SimplexBoostClassifier, add_classes
from simplexboost.datasets import load

from .pages import parser_of, publish

HEAD = ["set", "old + new", "model", "accuracy", "old", "new", "log-loss", "seconds", "of default", "of same rounds"]
NEW = {"letter": 6, "aloi27": 38, "digits": 2, "satimage": 1, "pendigits": 2, "vowel": 3, "segment": 2, "isolet": 6}
FITS = ("fit, default", "fit, same rounds")
ABOUT = """Accuracy on the test part, on its rows of old and of new classes, the log-loss, seconds of the processor, and
what part these are of the two fits to all classes.

**How much time is saved depends on what it is compared with.** Beside a default fit, which also chooses its rounds and
its trees and is what one would call otherwise, `add_classes` takes {default}. Beside a fit that is told all of
this, and so makes the same model without the time of the choice, it takes {same}."""


def about(found: list[list[str]]) -> str:
    """Words above the table, with the least and the most time that ``add_classes`` takes."""
    names = dict(zip(("default", "same"), HEAD[-2:], strict=True))
    shares = {
        name: [float(line[HEAD.index(column)]) for line in found if line[2] == "add_classes"]
        for name, column in names.items()
    }
    words = {name: f"{100 * min(part):.0f} to {100 * max(part):.0f} % of the time" for name, part in shares.items()}
    return ABOUT.format(**words)


def measured(clf: Any, data: Any, new: Any) -> list[float]:
    """The accuracy on all test rows, on those of old and of new classes, and the log-loss."""
    right, P = clf.predict(data.X_test) == data.y_test, clf.predict_proba(data.X_test)
    fresh = np.isin(data.y_test, new)
    own = P[np.arange(len(P)), np.searchsorted(clf.classes_, data.y_test)]
    return [right.mean(), right[~fresh].mean(), right[fresh].mean(), -np.log(own).mean()]


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """What some work returns, and the seconds of the processor that it takes."""
    begin = time.process_time()
    result = work()
    return result, time.process_time() - begin


def models(data: Any, n_new: int, seed: int, threads: int) -> tuple[Any, dict[str, Callable[[], Any]]]:
    """The new classes, and how every model is made; the second fit needs what the first has chosen."""
    X, y = data.X_train, data.y_train
    new = np.random.default_rng(seed).choice(np.unique(y), n_new, replace=False)
    fresh = np.isin(y, new)
    base = SimplexBoostClassifier(random_state=seed, n_jobs=threads).fit(X[~fresh], y[~fresh])
    chosen: dict[str, Any] = {}

    def default() -> Any:
        clf = SimplexBoostClassifier(random_state=seed, n_jobs=threads).fit(X, y)
        choice = clf.choice_
        chosen.update(choice.params, n_estimators=clf.n_iter_, learning_rate=choice.learning_rate)
        chosen.update(calibration=choice.temperature)
        return clf

    def same() -> Any:
        return SimplexBoostClassifier(random_state=seed, n_jobs=threads, **chosen).fit(X, y)

    pupils = [copy.deepcopy(base) for _ in range(3)]
    lessons = {
        "add_classes": lambda: add_classes(pupils[0], X, y),
        "n_rounds=0": lambda: add_classes(pupils[1], X, y, n_rounds=0),
        "new rows only": lambda: add_classes(pupils[2], X[fresh], y[fresh]),
    }
    return new, dict(zip(FITS, (default, same), strict=True)) | lessons


def turn(data: Any, n_new: int, seed: int, threads: int) -> dict[str, list[float]]:
    """What every model measures, and its seconds, for one draw of new classes."""
    new, makers = models(data, n_new, seed, threads)
    found = {}
    for name, make in makers.items():
        clf, seconds = timed(make)
        found[name] = [*measured(clf, data, new), seconds]
    return found


def lines(name: str, options: argparse.Namespace) -> list[list[str]]:
    """A line per model."""
    data = load(name, options.data_home)
    K, n_new = len(np.unique(data.y_train)), NEW.get(name, 1)
    turns = [turn(data, n_new, seed, options.threads) for seed in range(options.turns)]
    seconds = {model: float(np.median([found[model][-1] for found in turns])) for model in turns[0]}
    table = []
    for model, took in seconds.items():
        means = np.mean([found[model][:-1] for found in turns], axis=0)
        shares = [f"{took / seconds[fit]:.3f}" for fit in FITS]
        figures = [*(f"{value:.4f}" for value in means), f"{took:.2f}", *shares]
        table.append([name, f"{K - n_new} + {n_new}", model, *figures])
        print(table[-1], flush=True)
    return table


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, print and perhaps write a page."""
    parser = parser_of("classes", __doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--turns", type=int, default=3)
    publish(parser, argv, HEAD, lines, about)


if __name__ == "__main__":
    main()
