"""Fitted classifiers: one of every kind, and the flagship in every state that it can be in."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import simplexboost as sb
from simplexboost import decide
from simplexboost.parts.losses import Logistic
from simplexboost.parts.optimizers import SketchedNewton

from .parameters import CLASSIFIERS, classifier

Fitted = tuple[Any, np.ndarray, np.ndarray]  # a classifier, the table X that it was fitted to, and its labels y
N, ROUNDS = 24, 4


def table(K: int, n: int = N) -> tuple[np.ndarray, np.ndarray]:
    """A small plain table (n, 3) of K classes, of which the first column tells something."""
    X, y = np.random.default_rng(0).normal(size=(n, 3)), np.arange(n) % K
    X[:, 0] += y
    return X, y


def flagship(**params: Any) -> Any:
    """A flagship of a few rounds."""
    return sb.SimplexBoostClassifier(**{"n_estimators": ROUNDS, "random_state": 0, "n_jobs": 1, **params})


def fitted(clf: Any, X: np.ndarray, y: np.ndarray) -> Fitted:
    """A classifier, fitted, and what to."""
    return clf.fit(X, y), X, y


def of_kind(kind: str) -> Fitted:
    """A classifier of a kind."""
    clf = classifier(np.random.default_rng(0), kind, plain=True)
    return fitted(clf, *table(2 if kind == "MartiBoostClassifier" else 3))


def labels(clf: Any) -> Fitted:
    """A classifier of rows with any number of three labels."""
    X, y = table(8)
    return fitted(clf, X, (y[:, None] >> np.arange(3)) & 1)


def targets(text: bool) -> Fitted:
    """A flagship of three targets, one of which has one class only."""
    X, y = table(6)
    Y = np.stack([y % 3 + 1, y % 2, np.zeros(N, dtype=int)], axis=1)
    if text:
        Y = Y.astype(object)
        Y[:, 1] = np.where(y % 2, "odd", "even")
    return fitted(flagship(), X, Y)


def added() -> Fitted:
    """A flagship that was taught a class."""
    X, y = table(4)
    clf = flagship().fit(X[y < 3], y[y < 3])
    return sb.add_classes(clf, X, y, n_rounds=2), X, y


def merged() -> Fitted:
    """A flagship of which two classes count as one."""
    X, y = table(4)
    clf = flagship().fit(X, y)
    return sb.merge_classes(clf, {0: [0, 3]}), X, y % 3


def dropped() -> Fitted:
    """A flagship of which one class was taken away."""
    X, y = table(4)
    clf = flagship().fit(X, y)
    return sb.drop_classes(clf, 1), X[y != 1], y[y != 1]


def calibrated() -> Fitted:
    """A booster that has seen fresh rows for its sets."""
    X, y = table(3)
    return decide.calibrate_sets(sb.GDMCBoostClassifier(n_estimators=ROUNDS).fit(X, y), X + 0.1, y), X, y


def loaded() -> Fitted:
    """A flagship with an order and sets, from its file."""
    clf, X, y = fitted(flagship(classes=sb.Ordinal()), *table(3))
    file = io.BytesIO()
    decide.calibrate_sets(clf, X, y).save(file)
    file.seek(0)
    return sb.load(file), X, y


def text() -> Fitted:
    """A flagship of labels that are text."""
    X, y = table(3)
    return fitted(flagship(), X, np.array(["a", "b", "c"])[y])


def of_many(K: int, **params: Any) -> Fitted:
    """A flagship of many classes, four rows of each; beyond 14 classes other code compares labels."""
    return fitted(flagship(min_samples_leaf=1, **params), *table(K, 4 * K))


def text_of_many() -> Fitted:
    """A flagship of 30 classes that are numerals."""
    X, y = table(30, 120)
    return fitted(flagship(), X, y.astype(str))


def changed_of_many() -> Fitted:
    """A flagship of 40 classes, two of which were merged, one taken away, one added, and whose sets are calibrated."""
    X, y = table(40, 160)
    clf = flagship().fit(X[y < 39], y[y < 39])
    clf = sb.merge_classes(sb.drop_classes(sb.add_classes(clf, X, y, n_rounds=2), 5), {3: [3, 20]})
    X, y = X[y != 5], np.where(y == 20, 3, y)[y != 5]
    return decide.calibrate_sets(clf, X, y), X, y


TREE = sb.Hierarchy({"a": [0, 1], "b": {"c": [2], "d": [3, 4]}})
STATES: dict[str, Callable[[], Fitted]] = {
    "labels": lambda: labels(flagship()),
    "labels with chosen thresholds": lambda: labels(flagship(thresholds="f1")),
    "labels of AdaBoost": lambda: labels(sb.AdaBoostMHClassifier(n_estimators=ROUNDS)),
    "targets": lambda: targets(text=False),
    "targets with text": lambda: targets(text=True),
    "ordinal": lambda: fitted(flagship(classes=sb.Ordinal()), *table(4)),
    "hierarchy": lambda: fitted(flagship(classes=TREE), *table(4)),
    "candidates": lambda: fitted(flagship(optimizer=SketchedNewton(candidates=2)), *table(8)),
    "chosen": lambda: fitted(flagship(n_estimators="auto", learning_rate=0.5), *table(3, 60)),
    "costs": lambda: fitted(flagship(loss=Logistic(cost_matrix=2 - np.eye(3))), *table(3)),
    "absent classes": lambda: fitted(flagship(classes=range(5)), *table(3)),
    "calibrated": calibrated,
    "added": added,
    "merged": merged,
    "dropped": dropped,
    "loaded": loaded,
    "text": text,
    "15 classes": lambda: of_many(15),
    "210 classes": lambda: of_many(210),
    "candidates of 60 classes": lambda: of_many(60, optimizer=SketchedNewton(candidates=8)),
    "20 classes in order": lambda: of_many(20, classes=sb.Ordinal()),
    "text of 30 classes": text_of_many,
    "40 classes, changed": changed_of_many,
}


def any_state(rng: np.random.Generator) -> str:
    """The name of a state of the flagship, or of a classifier, each about as often."""
    names = list(STATES) if rng.random() < 0.5 else list(CLASSIFIERS)
    return names[rng.integers(len(names))]


@cache
def in_state(name: str) -> Fitted:
    """The fitted classifier of a name; nobody must change it."""
    return STATES[name]() if name in STATES else of_kind(name)
