"""Curves over the rounds of a fit: recorded risks and metrics, predictors F and margins.

Recorded are the training risk, the metrics of evaluated rows, and the risk by which the number of rounds was chosen.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._util.arrays import AnyArray, Array, Labels
from .._util.params import check_number, is_auto
from ..classifiers.base_classifier import ONE_CLASS_ONLY
from ..explain.explained_classes import check_booster
from ..model.additive import add_terms
from ..parts import losses
from ..tables.labels import known_label_numbers
from ..tables.validation import known_labels
from .confusion import check_labels, check_same_length

RISK = "risk"


@dataclass(frozen=True, eq=False)
class Curve:
    """One number after every round.

    Attributes
    ----------
    name : str
        Which rows: "training", "held out", "evaluated", or "evaluated 2" where there are several sets.
    metric : str
        What is measured: "risk" or the name of a metric.
    rounds : int array of shape (m,)
        The numbers of rounds.
    values : array of shape (m,)
        The values after them.

    Examples
    --------
    >>> import numpy as np
    >>> Curve("training", "risk", np.arange(1, 4), np.array([0.5, 0.3, 0.2])).values[-1]
    np.float64(0.2)
    """

    name: str
    metric: str
    rounds: AnyArray
    values: Array


@dataclass(frozen=True, eq=False)
class LearningCurves:
    """What a fit has recorded.

    Attributes
    ----------
    curves : list of Curve
        All of them; those of one metric have the same scale.
    n_rounds : int
        The number of rounds of the model.
    chosen : int or None
        The number of rounds that early stopping, or the model's own choice, has settled on; the best round of
        evaluated rows if nothing was stopped; None if nothing tells.
    why : str
        A few words on how it was chosen.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from simplexboost import SimplexBoostClassifier
    >>> clf = SimplexBoostClassifier(n_estimators=20, random_state=0).fit(*load_iris(return_X_y=True))
    >>> found = learning_curves(clf)
    >>> found.n_rounds, found.chosen is None
    (20, True)
    """

    curves: list[Curve]
    n_rounds: int
    chosen: int | None
    why: str

    @property
    def metrics(self) -> list[str]:
        """The names of what was measured, the risk first."""
        names = list(dict.fromkeys(curve.metric for curve in self.curves))
        return sorted(names, key=lambda name: name != RISK)

    def of(self, metric: str) -> list[Curve]:
        """The curves of one metric."""
        if not self.curves:
            raise ValueError("the fit has kept no round, so that there are no curves.")
        if metric not in self.metrics:
            known = ", ".join(map(repr, self.metrics))
            raise ValueError(f"metric={metric!r} was not recorded; choose one of {known}.")
        return [curve for curve in self.curves if curve.metric == metric]


def learning_curves(clf: Any) -> LearningCurves:
    """The curves of a fitted booster, from ``history_``, ``evals_result_`` and ``choice_``.

    Parameters
    ----------
    clf : fitted booster
        The model.

    Returns
    -------
    LearningCurves
        The curves, with the chosen round.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from simplexboost import SimplexBoostClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = SimplexBoostClassifier(n_estimators=20, random_state=0)
    >>> found = learning_curves(clf.fit(X[::2], y[::2], X_val=X[1::2], y_val=y[1::2], eval_metric="error"))
    >>> [(curve.name, curve.metric) for curve in found.curves]
    [('training', 'risk'), ('evaluated', 'risk'), ('evaluated', 'error')]
    """
    check_is_fitted(clf)
    if not hasattr(clf, "history_"):
        raise TypeError(f"{type(clf).__name__} records no rounds; pass a fitted booster.")
    curves = [*training_curves(clf), *chosen_curves(clf), *evaluated_curves(clf)]
    chosen, why = chosen_round(clf)
    return LearningCurves(curves, int(clf.n_iter_), chosen, why)


def training_curves(clf: Any) -> list[Curve]:
    """The training risk after every round, as far as it is known."""
    if RISK not in clf.history_:
        return []
    values = np.asarray(clf.history_[RISK], dtype=np.float64)
    known = np.flatnonzero(np.isfinite(values))
    return [Curve("training", RISK, known + 1, values[known])] if len(known) else []


def chosen_curves(clf: Any) -> list[Curve]:
    """The held-out risk by which `SimplexBoostClassifier` chose its rounds."""
    choice = getattr(clf, "choice_", None)
    if choice is None or not len(choice.curve.get("n_estimators", ())):
        return []
    rounds = np.asarray(choice.curve["n_estimators"])
    return [Curve("held out", RISK, rounds, np.asarray(choice.curve["calibrated"], dtype=np.float64))]


def evaluated_curves(clf: Any) -> list[Curve]:
    """The risks and metrics of evaluated rows."""
    results = getattr(clf, "evals_result_", [])
    names = ["evaluated" if len(results) == 1 else f"evaluated {i + 1}" for i in range(len(results))]
    return [
        Curve(name, metric, np.arange(1, len(values) + 1), np.asarray(values, dtype=np.float64))
        for name, result in zip(names, results, strict=True)
        for metric, values in result.items()
    ]


def chosen_round(clf: Any) -> tuple[int | None, str]:
    """The round that was settled on, and how."""
    if getattr(clf, "early_stopping", False) and hasattr(clf, "best_iteration_"):
        return int(clf.best_iteration_), "kept by early stopping"
    if hasattr(clf, "choice_") and is_auto(getattr(clf, "n_estimators", "auto")):  # or only the temperature was
        return int(clf.choice_.n_estimators), "chosen by held-out risk"
    if hasattr(clf, "best_iteration_"):
        return int(clf.best_iteration_), "best of the evaluated rows"
    return None, ""


def spread_rounds(n_rounds: int, count: int = 5) -> list[int]:
    """Some of the rounds 1 .. n_rounds, from the first to the last, each about as many times later than the one before.

    Most of what boosting does to predictions happens early.

    Parameters
    ----------
    n_rounds : int
        The number of rounds.
    count : int, default=5
        How many of them to take, at most.

    Returns
    -------
    list of int
        Their numbers, ascending.

    Examples
    --------
    >>> spread_rounds(100, 3), spread_rounds(3, 10)
    ([1, 10, 100], [1, 2, 3])
    """
    check_number("n_rounds", n_rounds, int, 1)
    check_number("count", count, int, 1)
    if count == 1:
        return [n_rounds]
    return sorted({round(t) for t in np.geomspace(1, n_rounds, min(count, n_rounds))})


def chosen_rounds(clf: Any, rounds: Any, count: int = 5, *, start: bool = False) -> list[int]:
    """The numbers of rounds that a picture shows, ascending: those that the user names, checked, or else some.

    Parameters
    ----------
    clf : fitted booster
    rounds : what the user has passed; None takes some of the rounds of the model
    count : how many to take, at most
    start : whether 0 is taken, too
    """
    n_rounds = check_booster(clf).n_rounds
    if rounds is not None:
        return check_rounds(rounds, n_rounds)
    if n_rounds == 0:
        why = "" if clf.stop_reason_ is None else f" ({clf.stop_reason_})"
        raise ValueError(
            f"this {type(clf).__name__} has no rounds to show{why}. Pass rounds=[0] to draw the predictor before the "
            "first round, which is zero everywhere."
        )
    return [*([0] if start else []), *spread_rounds(n_rounds, count)]


def check_rounds(rounds: Any, n_rounds: int) -> list[int]:
    """Numbers of rounds, ascending, from 0 to that of the model."""
    rounds = [rounds] if np.ndim(rounds) == 0 else list(rounds)
    if not rounds:
        raise ValueError("rounds is empty; pass at least one number of rounds.")
    for t in rounds:
        check_number("rounds", t, int, 0, n_rounds)
    if any(a >= b for a, b in pairwise(rounds)):
        raise ValueError(f"rounds={rounds} must be in ascending order, without repetitions.")
    return [int(t) for t in rounds]


def predictors_over_rounds(clf: Any, X: Any, rounds: Any) -> AnyArray:
    """The predictor F after some of the rounds, (len(rounds), n, d); zeros after round 0.

    Every tree is evaluated once, however many rounds are asked for.

    Parameters
    ----------
    clf : fitted booster
        The model.
    X : array, data frame or sparse matrix of shape (n, p)
        The rows, with the columns of the fit.
    rounds : int or sequence of int
        Ascending numbers from 0 to ``clf.n_iter_``, or one of them.

    Returns
    -------
    array of shape (len(rounds), n, d)
        The predictors.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from simplexboost import SimplexBoostClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = SimplexBoostClassifier(n_estimators=20, codewords="simplex", random_state=0).fit(X, y)
    >>> predictors_over_rounds(clf, X, [0, 10, 20]).shape
    (3, 150, 2)
    """
    model = check_booster(clf)
    rounds = check_rounds(rounds, model.n_rounds)
    checked, engine, terms = clf._check_X(X), clf._engine(), model.scaled_terms
    F = np.zeros((checked.shape[0], model.Y.shape[1]), dtype=model.dtype)  # (n, d)
    out = np.empty((len(rounds), *F.shape), dtype=model.dtype)
    ends, done = [0, *model.round_ends], 0
    for place, t in enumerate(rounds):
        if ends[t] > done:
            add_terms(terms[done : ends[t]], checked, F, engine)
            done = ends[t]
        out[place] = F
    return out


def margins(clf: Any, X: Any, y: Any) -> Array:
    """Return the margin of every row, U_c − max_{k≠c} U_k: positive where the prediction is right.

    Parameters
    ----------
    clf : fitted classifier
        A classifier of this package for one label per row.
    X : array, data frame or sparse matrix of shape (n, p)
        The rows, with the columns of the fit.
    y : array of shape (n,)
        The labels of the rows.

    Returns
    -------
    array of shape (n,)
        The margins.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from simplexboost import SimplexBoostClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = SimplexBoostClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> bool((margins(clf, X, y) > 0).mean() == clf.score(X, y))
    True
    """
    check_is_fitted(clf)
    clf._problem.check_one_class(f"margins {ONE_CLASS_ONLY}")
    U = clf.class_scores(X)
    return losses.margins(U, known_labels(clf._brought(y), len(U), clf.classes_))


def margins_over_rounds(clf: Any, X: Any, y: Any, rounds: Any) -> Array:
    """The margins of labelled rows after some of the rounds, (len(rounds), n).

    The margin is U_c − max_{k≠c} U_k: positive where the prediction is right, and larger where it is surer.

    Parameters
    ----------
    clf : fitted booster
        The model.
    X : array, data frame or sparse matrix of shape (n, p)
        The rows, with the columns of the fit.
    y : array of shape (n,)
        The labels of the rows.
    rounds : int or sequence of int
        Ascending numbers from 0 to ``clf.n_iter_``, or one of them.

    Returns
    -------
    array of shape (len(rounds), n)
        The margins.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from simplexboost import SimplexBoostClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = SimplexBoostClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> (margins_over_rounds(clf, X, y, [1, 20]) > 0).mean(axis=1).round(2).tolist()
    [0.98, 0.99]
    """
    check_booster(clf)
    c = labels_among(clf, X, y)
    return np.array([losses.margins(clf._scores(F), c) for F in predictors_over_rounds(clf, X, rounds)])


def n_rows(X: Any) -> int:
    """The number of rows of a table of any kind; sparse matrices have no length."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def labels_among(clf: Any, X: Any, y: Any) -> Labels:
    """The numbers of the labels of rows among the classes of a classifier, (n,)."""
    y = check_labels(y, "y")
    check_same_length(y, np.empty(n_rows(X)), "X")
    return known_label_numbers(y, clf.classes_, "y")
