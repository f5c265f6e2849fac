"""Promises about sizes at which other code runs: many rows, classes, leaves, and places where a column is split."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import simplexboost as sb
from simplexboost.parts.codewords import Auto
from simplexboost.parts.optimizers import SketchedNewton

from .generated.judging import NOTHING_IS_ODD, BrokenError, check_predictions, check_quality, outcome
from .generated.parameters import CLASSIFIERS, classifier
from .inputs import BOOSTERS, check_file
from .promise import promise

Sized = tuple[Any, np.ndarray, np.ndarray]  # a fitted classifier, and the X and y that it must predict well
ROUNDS = 8
MANY_CLASSES = (15, 16, 26, 50, 100, 200, 260, 600)
ROUGH = {"AdaBoostM1Classifier", "MartiBoostClassifier"}  # a few rounds of these need not beat the class shares


def grid(rng: np.random.Generator, n: int, K: int, noise: float = 0.1) -> tuple[np.ndarray, np.ndarray]:
    """Rows X (n, 3) around the places of a grid, and the place of each, which is its class; every class occurs."""
    y = rng.permutation(np.arange(n) % K)
    side = int(np.ceil(np.sqrt(K)))
    places = np.stack([y % side, y // side, np.zeros(n)], axis=1)
    return places + rng.normal(scale=noise, size=(n, 3)), y


def flagship(**params: Any) -> Any:
    """A flagship of a few rounds, which chooses nothing."""
    return sb.SimplexBoostClassifier(
        **{"n_estimators": ROUNDS, "learning_rate": 0.3, "random_state": 0, "n_jobs": 1, **params}
    )


def many_rows(rng: np.random.Generator) -> Sized:
    """60 000 rows and more: columns of bins in several pieces, candidates that race on a sample."""
    X, y = grid(rng, int(rng.integers(60_000, 140_000)), int(rng.choice([2, 3, 15, 40])))
    X = X.astype(rng.choice(["float32", "float64"]))
    clf = flagship(n_estimators=3, growth=str(rng.choice(["best", "symmetric", "level"])))
    return clf.fit(X, y), X, y


def many_rows_of_any_booster(rng: np.random.Generator) -> Sized:
    """60 000 rows, and a booster of any kind."""
    kinds = [kind for kind in BOOSTERS if kind != "MartiBoostClassifier"]
    kind = kinds[rng.integers(len(kinds))]
    X, y = grid(rng, 66_000, 3)
    clf = classifier(rng, kind, plain=True).set_params(n_estimators=4)
    return clf.fit(X, y), X, y


def a_rare_class(rng: np.random.Generator) -> Sized:
    """Many rows of one class, so few of others that a leaf may not hold them alone, and the default choices."""
    n, few, K = int(rng.integers(20_000, 100_000)), int(rng.integers(3, 12)), int(rng.integers(2, 4))
    y = np.zeros(n, dtype=int)
    y[rng.choice(n, few * (K - 1), replace=False)] = np.repeat(np.arange(1, K), few)
    X = rng.normal(size=(n, 3))
    X[:, 0] += 20 * y
    return sb.SimplexBoostClassifier(random_state=0, n_jobs=1).fit(X, y), X, y


def many_classes(rng: np.random.Generator) -> Sized:
    """15 to 600 classes, of which some are numbers and some are text."""
    K = int(rng.choice(MANY_CLASSES))
    X, y = grid(rng, 4 * K, K)
    if rng.random() < 0.4:
        y = np.array([f"class {k}" for k in y])
    params: dict[str, Any] = {"min_samples_leaf": 1, "max_leaf_nodes": 64}
    more: list[dict[str, Any]] = [
        {},
        {"optimizer": SketchedNewton(candidates=16)},
        {"codewords": Auto(8)},
        {"classes": sb.Ordinal()},
        {"optimizer": SketchedNewton(init="prior")},
    ]
    return flagship(**params, **more[rng.integers(5)]).fit(X, y), X, y


def many_classes_of_any_kind(rng: np.random.Generator) -> Sized:
    """15 classes and more, and a classifier of any kind that takes more than two."""
    kinds = [kind for kind in CLASSIFIERS if kind not in ("MartiBoostClassifier", "OutputCodeClassifier")]
    kind = kinds[rng.integers(len(kinds))]
    K = int(rng.choice([15, 16, 40, 200]))
    X, y = grid(rng, 4 * K, K)
    clf = classifier(rng, kind, plain=True)
    if "n_estimators" in clf.get_params(deep=False):
        clf.set_params(n_estimators=5)
    return clf.fit(X, y), X, y


def many_leaves(rng: np.random.Generator) -> Sized:
    """Trees of more than 32 768 leaves."""
    n = int(rng.integers(90_000, 200_000))
    X = rng.normal(size=(n, 3))
    y = ((np.floor(4 * X).sum(axis=1) + rng.integers(0, 2, n) * (rng.random(n) < 0.5)) % 2).astype(int)
    clf = flagship(
        n_estimators=int(rng.integers(1, 3)), max_leaf_nodes=100_000, min_samples_leaf=1, l2_regularization=0.0
    )
    return clf.fit(X, y), X, y


def many_thresholds(rng: np.random.Generator) -> Sized:
    """A column that is split in more than 32 767 places: many fits that go on, each with fresh rows."""
    clf = flagship(
        n_estimators=0,
        warm_start=True,
        max_leaf_nodes=255,
        min_samples_leaf=1,
        l2_regularization=0.0,
        learning_rate=0.02,
    )
    for turn in range(140):
        X = rng.uniform(size=(1500, 1))
        y = (np.floor(8 * X[:, 0]) % 2).astype(int)
        clf.set_params(n_estimators=3 * (turn + 1)).fit(X, np.where(rng.random(1500) < 0.2, 1 - y, y))
    return clf, X, y


SIZES: tuple[Callable[[np.random.Generator], Sized], ...] = (
    many_classes, many_classes_of_any_kind, many_leaves, many_rows, many_rows_of_any_booster, a_rare_class,
    many_classes, many_thresholds,
)  # fmt: skip


@promise(
    "Large sizes work: 60 000 rows and more, 15 to 600 classes, trees of more than 32 768 leaves, a column that is "
    "split in more than 32 767 places. Where X tells the class clearly, the answers are better than the class shares.",
    fast=8,
    soak=400,
)
def large_sizes_work(case: int) -> None:
    """One case: one of these sizes."""
    rng, make = np.random.default_rng(case), SIZES[case % len(SIZES)]
    try:
        made, _ = outcome(lambda: make(rng), NOTHING_IS_ODD)
        clf, X, y = made
        some = X[:2000]
        outcome(lambda: check_predictions(clf, some, len(some)), NOTHING_IS_ODD)
        if not np.array_equal(clf.class_scores(some)[7:9], clf.class_scores(some[7:9])):
            raise BrokenError("rows get other scores alone")
        outcome(lambda: check_file(clf, some), NOTHING_IS_ODD)
        if type(clf).__name__ not in ROUGH:
            check_quality(clf, X, y, clear=make is not a_rare_class)
    except BrokenError as error:
        raise BrokenError(f"{make.__name__}: {error}") from error
