"""The curves that a fit has recorded: training risk, evaluated rows, and the risk by which rounds were chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._parts import is_auto
from .._typing import AnyArray, Array

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
    >>> found = learning_curves(clf.fit(X[::2], y[::2], eval_set=(X[1::2], y[1::2]), eval_metric="error"))
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
    if getattr(clf, "early_stopping", False) is True and hasattr(clf, "best_iteration_"):
        return int(clf.best_iteration_), "kept by early stopping"
    if hasattr(clf, "choice_") and is_auto(getattr(clf, "n_estimators", "auto")):  # or only the temperature was
        return int(clf.choice_.n_estimators), "chosen by held-out risk"
    if hasattr(clf, "best_iteration_"):
        return int(clf.best_iteration_), "best of the evaluated rows"
    return None, ""
