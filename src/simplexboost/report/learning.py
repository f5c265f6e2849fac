"""Learning curves: what the fit has recorded, and the error and log-loss of the report's rows after some rounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import AnyArray, Array
from ..data.tables import take_rows
from ..inspection import learning_curves
from .evaluated import Evaluated
from .headline import TINY

MOST_POINTS = 200  # of a curve; more cannot be told apart on a screen
# So many rows are predicted after every round that rows × classes × rounds is at most this: some two seconds.
MOST_STAGED = 2 * 10**8
FEWEST_STAGED = 500
TITLES = {"risk": "Risk (mean loss)", "log-loss": "Log-loss", "error": "Error rate"}


def learning(rows: Evaluated) -> dict[str, Any] | None:
    """The curves by metric; None for a classifier that has no rounds, or none that were kept."""
    clf = rows.clf
    if not hasattr(clf, "history_") or not hasattr(clf, "staged_predict"):
        return None
    found = learning_curves(clf)
    groups: dict[str, list[dict[str, Any]]] = {}
    for curve in found.curves:
        groups.setdefault(curve.metric, []).append(as_curve(curve.name, curve.rounds, curve.values))
    here, used = staged(rows)
    for metric, (at, values) in here.items():
        shared = "risk" if metric == "log-loss" and logistic(clf) else metric
        groups.setdefault(shared, []).append(as_curve("this report", at, values))
    if not groups:
        return None
    order = sorted(groups, key=lambda metric: ("risk", "log-loss", "error").index(metric) if metric in TITLES else 9)
    return {
        "metrics": [{"metric": metric, "title": title_of(metric, clf), "curves": groups[metric]} for metric in order],
        "rounds": found.n_rounds,
        "chosen": found.chosen,
        "why": found.why,
        "rows": used,
    }


def logistic(clf: Any) -> bool:
    """Whether the risk of the fit is the log-loss, so that both are on one scale."""
    return bool(getattr(clf.loss_, "likelihood", False))


def title_of(metric: str, clf: Any) -> str:
    """What the axis of a metric is called."""
    return "Log-loss" if metric == "risk" and logistic(clf) else TITLES.get(metric, metric)


def staged(rows: Evaluated) -> tuple[dict[str, tuple[AnyArray, Array]], int]:
    """The error and, with probabilities, the log-loss after every round, by name; and the number of rows used."""
    clf, rounds = rows.clf, int(rows.clf.n_iter_)
    if rounds == 0:
        return {}, 0
    most = min(rows.n, max(FEWEST_STAGED, MOST_STAGED // (rounds * rows.K)))
    some = np.linspace(0, rows.n - 1, most).astype(np.intp)
    X, c, at = take_rows(rows.X, some), rows.c[some], thinned(np.arange(rounds))
    wanted, each = set(at.tolist()), np.arange(most)
    errors, losses = [], []
    if rows.P is None:
        for t, labels in enumerate(clf.staged_predict(X)):
            if t in wanted:
                errors.append(np.mean(labels != clf.classes_[c]))
        return {"error": (at + 1, np.array(errors))}, most
    for t, P in enumerate(clf.staged_predict_proba(X)):
        if t in wanted:
            errors.append(np.mean(P.argmax(axis=1) != c))
            losses.append(-np.log(np.maximum(P[each, c], TINY)).mean())
    return {"log-loss": (at + 1, np.array(losses)), "error": (at + 1, np.array(errors))}, most


def as_curve(name: str, rounds: AnyArray, values: Array) -> dict[str, Any]:
    """A curve of at most 200 points."""
    at = thinned(np.arange(len(rounds)))
    return {"name": name, "rounds": np.asarray(rounds)[at].tolist(), "values": np.asarray(values)[at].tolist()}


def thinned(places: AnyArray) -> AnyArray:
    """At most 200 of some places, the first and the last among them."""
    return places[np.unique(np.linspace(0, len(places) - 1, MOST_POINTS).round().astype(np.intp))]
