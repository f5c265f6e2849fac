"""Metrics that are computed from the predictions for evaluated rows after every round.

A metric is a name, a scikit-learn scorer, or a function of class indices c (n,) and probabilities P (n, K).
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from .._util.arrays import AnyArray, Array, Labels, Mask
from .._util.compat import cached
from .._util.params import unknown_value
from ..boosting.decisions import OneLabel

EPS = float(np.finfo(np.float64).eps)


# ---- what a metric sees ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Rows:
    """The evaluated rows, with their labels, class indices and sample weights."""

    X: AnyArray  # (n, p) in the form that the model takes: categories are numbers
    y: AnyArray  # (n,) the labels
    c: Labels  # (n,) their numbers among the classes 0 .. K−1; K for a label that is not among them
    weight: Array | None = None  # (n,), or None if all rows count the same

    def mean(self, values: AnyArray) -> float:
        """Return the mean of ``values`` (n,) over the rows, weighted by the sample weights."""
        return float(np.average(values, weights=self.weight))


class Predicted(ClassifierMixin, BaseEstimator):
    """A classifier for scikit-learn's scorers that predicts only the evaluated rows, from their scores U (n, K)."""

    def __init__(self, rows: Rows, decision: OneLabel, U: Array) -> None:
        self.rows, self.decision, self.U = rows, decision, U

    @property
    def classes_(self) -> AnyArray:
        """The labels of all classes, (K,)."""
        return self.decision.classes

    @cached
    def P(self) -> Array:
        """The class probabilities of all rows, (n, K)."""
        return self.decision.probabilities(self.U)

    @cached
    def best(self) -> Labels:
        """The indices of the predicted classes, (n,)."""
        return self.decision.best(self.U)

    def predict(self, X: Any) -> AnyArray:
        """Return the predicted labels, (n,); X must be the evaluated rows."""
        return self.decision.labels(self._same(X))

    def predict_proba(self, X: Any) -> Array:
        """Return the class probabilities, (n, K); X must be the evaluated rows."""
        self._same(X)
        return self.P

    def decision_function(self, X: Any) -> Array:
        """Return the scores in scikit-learn's form: (n, K), or one column (n,) for two classes."""
        return self.decision.decision(self._same(X))

    def _same(self, X: Any) -> Array:
        """Return the scores U; raise unless X has as many rows as were evaluated."""
        if X.shape[0] != len(self.U):
            raise ValueError(
                f"a scorer asks about {X.shape[0]} rows; there are predictions for all {len(self.U)} only."
            )
        return self.U

    def __sklearn_is_fitted__(self) -> bool:
        return True


# ---- metrics by name ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Metric:
    """A metric: a function of the predictions for the evaluated rows, and whether larger values are better."""

    of: Callable[[Predicted], Any]
    greater_is_better: bool = False


def log_losses(P: Array, c: Labels) -> Array:
    """Return the log-loss −log p of every row, (n,); p is the probability of its class c, or 0 if c is not below K.

    As in scikit-learn's ``log_loss``, p is clipped to the range from `EPS` to 1 − `EPS`.
    """
    known = c < P.shape[1]
    own = np.zeros(len(c))
    own[known] = P[known, c[known]]
    return -np.log(np.clip(own, EPS, 1 - EPS))


def among_top(U: Array, c: Labels, k: int) -> Mask:
    """Return a mask (n,) of the rows whose class c is among the k classes with the highest scores U (n, K).

    Among equal scores the class with the smaller index ranks higher, as in ``predict``.
    """
    K, c = U.shape[1], c[:, None]
    own = np.take_along_axis(U, np.minimum(c, K - 1), axis=1)
    ahead = (U > own) | ((U == own) & (np.arange(K) < c))  # (n, K)
    return (c[:, 0] < K) & (ahead.sum(axis=1) < k)


def log_loss(seen: Predicted) -> float:
    """Return the mean log-loss of the evaluated rows, weighted by the sample weights."""
    return seen.rows.mean(log_losses(seen.P, seen.rows.c))


def top_accuracy(seen: Predicted, k: int) -> float:
    """Return the weighted fraction of the rows whose class is among the k classes with the highest scores."""
    return seen.rows.mean(among_top(seen.U, seen.rows.c, k))


def auc_ovr(seen: Predicted) -> float:
    """Return the area under the ROC curve of each class against all others, averaged over the classes.

    Classes without rows, and a class that has all rows, are left out.
    """
    from sklearn.metrics import roc_auc_score  # not at the top: start-up time

    c, weight = seen.rows.c, seen.rows.weight
    counted = c if weight is None else c[weight > 0]
    some = [k for k in range(seen.P.shape[1]) if 0 < (counted == k).sum() < len(counted)]
    areas = [roc_auc_score(c == k, seen.P[:, k], sample_weight=weight) for k in some]
    return float(np.mean(areas)) if areas else np.nan


LOG_LOSS, AUC = Metric(log_loss), Metric(auc_ovr, greater_is_better=True)
ERROR = Metric(lambda seen: seen.rows.mean(seen.best != seen.rows.c))
METRICS = {
    "log_loss": LOG_LOSS,
    "error": ERROR,
    "accuracy": Metric(lambda seen: seen.rows.mean(seen.best == seen.rows.c), greater_is_better=True),
    "auc_ovr": AUC,
    # The same under the names of scikit-learn, XGBoost and LightGBM.
    "neg_log_loss": Metric(lambda seen: -log_loss(seen), greater_is_better=True),
    "roc_auc_ovr": AUC,
    "mlogloss": LOG_LOSS,
    "merror": ERROR,
    "multi_logloss": LOG_LOSS,
    "multi_error": ERROR,
}


def find_metric(name: str) -> Metric:
    """Return the `Metric` of a name: a key of `METRICS`, "top_5_accuracy" (any number), or a scikit-learn scorer."""
    if name in METRICS:
        return METRICS[name]
    top = re.fullmatch(r"top_([1-9]\d*)_accuracy", name)
    if top:
        return Metric(partial(top_accuracy, k=int(top[1])), greater_is_better=True)
    from sklearn.metrics import get_scorer, get_scorer_names  # not at the top: start-up time

    if name not in get_scorer_names():
        rest = " (or another number), the name of a scikit-learn scorer, or pass a function or a scorer"
        raise ValueError(unknown_value("eval_metric", name, ["risk", *METRICS, "top_5_accuracy"], rest))
    return as_metric(get_scorer(name))


# ---- metrics of the user's ------------------------------------------------------------------------------------------


def as_metric(metric: Any) -> Metric:
    """Return the `Metric` for a name, a scikit-learn scorer or a function; raise TypeError for anything else."""
    if isinstance(metric, str):
        return find_metric(metric)
    if not callable(metric) or isinstance(metric, type):
        raise TypeError(
            f"eval_metric={metric!r} must be a name, a scikit-learn scorer or a function metric(c, P) -> float, or a "
            "list or dict of these."
        )
    is_scorer = parameters_of(metric)[:1] == ["estimator"]
    takes_weight = "sample_weight" in parameters_of(getattr(metric, "_score_func", metric) if is_scorer else metric)
    greater_is_better = is_scorer or bool(getattr(metric, "greater_is_better", False))
    return Metric(partial(call_metric, metric, is_scorer, takes_weight), greater_is_better)


def call_metric(metric: Any, is_scorer: bool, takes_weight: bool, seen: Predicted) -> Any:
    """Return a metric's value: pass (estimator, X, y) to a scorer, class indices and probabilities to a function."""
    rows = seen.rows
    weight = {"sample_weight": rows.weight} if takes_weight and rows.weight is not None else {}
    return metric(seen, rows.X, rows.y, **weight) if is_scorer else metric(rows.c, seen.P, **weight)


def parameters_of(function: Any) -> list[str]:
    """Return the names of a function's parameters; an empty list if its signature cannot be read."""
    try:
        return list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return []


@dataclass(frozen=True, eq=False)
class Metrics:
    """The metrics of a fit, a dict with their names as keys, and the name of the one that decides the best round."""

    table: dict[str, Metric] = field(default_factory=dict)
    watch: str = "risk"  # the metric that decides which round is the best: the first that was given, or the risk
    asked: bool = False  # whether the user asked for metrics

    @property
    def greater_is_better(self) -> bool:
        """Whether larger values of ``watch``, the metric that decides, are better."""
        return self.watch != "risk" and self.table[self.watch].greater_is_better


def check_metrics(eval_metric: Any) -> Metrics:
    """Return ``eval_metric`` (a metric, a list, a dict with names, or None) as `Metrics`; raise if it is invalid."""
    if eval_metric is None:
        return Metrics()
    if isinstance(eval_metric, dict):
        pairs = list(eval_metric.items())
    else:
        pairs = [(name_of(m), m) for m in (eval_metric if isinstance(eval_metric, list | tuple) else [eval_metric])]
    names = [name for name, _ in pairs]
    if not names or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise ValueError(f"eval_metric={eval_metric!r} must hold metrics of different names; a dict gives them names.")
    if any((name == "risk") != (isinstance(metric, str) and metric == "risk") for name, metric in pairs):
        raise ValueError(f"eval_metric={eval_metric!r}: 'risk' is the name of the mean loss, and of nothing else.")
    return Metrics({name: as_metric(metric) for name, metric in pairs if name != "risk"}, names[0], asked=True)


def name_of(metric: Any) -> str:
    """Return the default name of a metric in ``evals_result_``: a string itself, a function's name, or "metric"."""
    if isinstance(metric, str):
        return metric
    name = getattr(getattr(metric, "_score_func", metric), "__name__", "<object>")
    return "metric" if name.startswith("<") else name
