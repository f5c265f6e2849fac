"""Promises about models that change: classes that come, go and are merged, further rounds, and copies of all kinds."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np

import simplexboost as sb
from simplexboost import decide

from .generated.judging import NOTHING_IS_ODD, BrokenError, check_predictions, check_quality, outcome
from .inputs import check_file
from .promise import promise
from .sizes import flagship, grid

Model = tuple[Any, np.ndarray, np.ndarray]  # a classifier, rows, and the labels that they have by now
Step = Callable[[np.random.Generator, Any, np.ndarray, np.ndarray], Model]
CLASS_COUNTS = (3, 4, 8, 15, 20, 60, 200)


def new_label(clf: Any, text: bool) -> Any:
    """A label that is no class yet; its place among the others is any."""
    known = set(clf.classes_.tolist())
    return next(label for k in range(10**6) if (label := f"new {k}" if text else 7 * k - 3) not in known)


def add(rng: np.random.Generator, clf: Any, X: np.ndarray, y: np.ndarray) -> Model:
    """One class more, at a place of its own."""
    label = new_label(clf, y.dtype.kind == "U")
    rows = rng.normal(scale=0.1, size=(6, X.shape[1])) - rng.integers(1, 9, size=X.shape[1])
    X, y = np.concatenate([X, rows]), np.concatenate([y, np.array([label] * 6)])
    return sb.add_classes(clf, X, y, n_rounds=3, learning_rate=0.3), X, y


def drop(rng: np.random.Generator, clf: Any, X: np.ndarray, y: np.ndarray) -> Model:
    """One class less, or several."""
    classes = clf.classes_
    if len(classes) < 4:
        return clf, X, y
    gone = rng.choice(classes, size=int(rng.integers(1, len(classes) // 2)), replace=False)
    U, kept = clf.class_scores(X), ~np.isin(classes, gone)
    clf = sb.drop_classes(clf, gone.tolist())
    if not np.array_equal(clf.class_scores(X), U[:, kept]):
        raise BrokenError("the scores of the classes that stay have changed")
    rows = ~np.isin(y, gone)
    return clf, X[rows], y[rows]


def merge(rng: np.random.Generator, clf: Any, X: np.ndarray, y: np.ndarray) -> Model:
    """Two classes or more become one of them."""
    classes = clf.classes_
    if len(classes) < 4:
        return clf, X, y
    group = rng.choice(classes, size=int(rng.integers(2, min(len(classes) - 1, 6))), replace=False)
    clf = sb.merge_classes(clf, {group.tolist()[0]: group.tolist()})
    return clf, X, np.where(np.isin(y, group), group[0], y)


def go_on(rng: np.random.Generator, clf: Any, X: np.ndarray, y: np.ndarray) -> Model:
    """Further rounds, on rows that lie a little elsewhere."""
    clf.set_params(warm_start=True, n_estimators=clf.n_iter_ + 2)
    return clf.fit(X + rng.normal(scale=0.01, size=X.shape), y), X, y


def calibrate(rng: np.random.Generator, clf: Any, X: np.ndarray, y: np.ndarray) -> Model:
    """Sets from fresh rows; asked for 0.8, they have the true class of about so many of these rows."""
    clf = decide.calibrate_sets(clf, X, y)
    S = decide.predict_sets(clf, X, coverage=0.8)
    held = S[np.arange(len(y)), np.searchsorted(clf.classes_, y)].mean()
    if held < 0.8 - 1e-9:
        raise BrokenError(f"sets hold the true class of {held:.3f} of the very rows that they were calibrated on")
    return clf, X, y


def copied(rng: np.random.Generator, clf: Any, X: np.ndarray, y: np.ndarray) -> Model:
    """From its file, from a pickle, or by `copy`: the same in every bit."""
    way, U = rng.integers(3), clf.class_scores(X)
    if way == 0:
        file = io.BytesIO()
        clf.save(file)
        file.seek(0)
        other = sb.load(file)
    else:
        other = pickle.loads(pickle.dumps(clf)) if way == 1 else deepcopy(clf)
    if not np.array_equal(other.class_scores(X), U):
        raise BrokenError("the copy has other scores")
    return other, X, y


STEPS: tuple[Step, ...] = (add, drop, merge, go_on, calibrate, copied)


@promise(
    "Whatever is done to a model of up to 200 classes one after the other (classes added, dropped, merged, further "
    "rounds, sets calibrated, copies and files), it stays sound: finite scores, right labels, the same from its file, "
    "and better than the class shares.",
    fast=6,
    soak=600,
)
def any_sequence_of_changes_leaves_a_sound_model(case: int) -> None:
    """One case: a flagship, and four to seven changes; what is refused must say why, and leaves the model as it was."""
    rng = np.random.default_rng(case)
    K = int(rng.choice(CLASS_COUNTS))
    X, y = grid(rng, max(6 * K, 40), K)
    if rng.random() < 0.4:
        y = np.array([f"class {k}" for k in y])
    clf = flagship(min_samples_leaf=1).fit(X, y)
    told = [f"{K} classes"]
    for _ in range(int(rng.integers(4, 8))):
        step = STEPS[rng.integers(len(STEPS))]
        told.append(step.__name__)
        model = (clf, X, y)
        try:
            after, refusal = outcome(lambda: step(rng, *model), WORDS.get(step.__name__, NOTHING_IS_ODD))  # noqa: B023
            if refusal is None:
                clf, X, y = after
            outcome(lambda: check_predictions(clf, X, len(X)), NOTHING_IS_ODD)  # noqa: B023
            outcome(lambda: check_file(clf, X), NOTHING_IS_ODD)  # noqa: B023
            check_quality(clf, X, y)
        except BrokenError as error:
            raise BrokenError(f"{', '.join(told)}: {error}") from error


# What may be refused: a model of merged classes does not learn on.
WORDS = {"go_on": "warm_start.*merge|merge.*warm_start", "add": "merge"}
