"""Conformal prediction sets, as masks (n, K), and predictions (n,) that are missing in rows of low probability.

The score of a class in a row is the total probability of all classes that are more probable in this row,

    s_k = Σ {p_j : p_j > p_k},

so the most probable class has score 0. A threshold q is taken from labelled rows that the model was not trained on:
most scores of their true classes are at most q. The set of a new row is {k : s_k ≤ q}: the most probable classes, until
their probabilities add up to more than q. This is the score of adaptive prediction sets (Romano, Sesia and Candès,
2020) without the probability of the class itself, so no set is empty, and no random number is needed.
"""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from .._util.arrays import AnyArray, Array, Labels, Mask
from .._util.docstrings import described
from .._util.params import check_flag, check_number
from ..classifiers.prediction import check_booster
from ..classifiers.search import own_scores, set_scores
from ..persist.models import FRESH
from ..tables.labels import as_listed, listed_classes
from ..tables.validation import check_sample_weight, check_some_weight, known_labels
from .rows import accept_pipelines, check_one_class


@accept_pipelines
def predict_sets(clf: Any, X: Any, coverage: float = 0.9, per_class: bool = False, *, init_score: Any = None) -> Mask:
    """Return for every row a set of classes that has the true class with a promised probability, as a mask (n, K).

    The set has the most probable class, the second, and so on, until their probabilities add up to more than a
    threshold. That threshold comes from rows that the model was not trained on: those that `SimplexBoostClassifier`
    holds out when it chooses its rounds, or those given to `calibrate_sets`. No set is empty, so coverages below the
    accuracy give sets of one class. Classes without training examples are in no set. The page docs/sets.md says what
    is guaranteed and what is not.

    Examples
    --------
    >>> S = predict_sets(clf.set_params(n_estimators="auto").fit(X[::2], y[::2]), X[1::2])
    >>> S.shape, S.any(axis=1).all().item()
    ((75, 3), True)
    """
    X = clf._check_X(X)
    thresholds = set_thresholds(clf, coverage, per_class)
    S = np.empty((X.shape[0], len(clf.classes_)), dtype=bool)
    for rows, P in clf._proba_blocks(X, init_score):
        S[rows] = sets_of(P, thresholds)
    return S


@described
def calibrate_sets(clf: Any, X: Any, y: Any, sample_weight: Any = None, *, init_score: Any = None) -> Any:
    """Return a copy of a classifier, for which `predict_sets` takes its thresholds from these held-out rows.

    The fit must not have used the rows in any way: then the promised coverage is proven; with sample weights, for new
    rows drawn in proportion to them. The rows replace those that the fit held out itself. Rows of a class without
    training examples count as not covered. Only ``set_scores_`` of the copy differs; its predictions are the same.

    Examples
    --------
    >>> calibrated = calibrate_sets(clf.fit(X[::2], y[::2]), X[1::4], y[1::4])
    >>> predict_sets(calibrated, X[3::4]).shape
    (37, 3)
    """
    check_booster(clf)
    X = clf._check_X(X)
    check_one_class(clf, "calibrate_sets takes one label per row")
    c = known_labels(clf._to_host(y), X.shape[0], clf.classes_)
    sample_weight = clf._to_host(sample_weight)
    weight = None if sample_weight is None else check_sample_weight(sample_weight, X)
    check_some_weight(weight is None or bool(weight.any()))
    score = np.empty(X.shape[0])
    for rows, P in clf._proba_blocks(X, init_score):
        score[rows] = own_scores(P, c[rows])
    score[~clf._present[c]] = 2.0  # more than all probabilities together
    used = np.ones(len(c), dtype=bool) if weight is None else weight > 0
    weight = None if weight is None else weight[used]
    calibrated = copy(clf)
    calibrated.set_scores_ = set_scores(score[used], c[used], weight, FRESH, clf.n_iter_)
    return calibrated


@described
def set_thresholds(clf: Any, coverage: float = 0.9, per_class: bool = False) -> Array:
    """Return the thresholds (K,) of the sets that `predict_sets` makes, one for each class.

    A class is in the set of a row if all more probable classes together have at most this probability. The threshold is
    infinity where there are too few rows to estimate it, so that the class is always in the set.

    Examples
    --------
    >>> set_thresholds(clf.set_params(n_estimators="auto").fit(X, y), 0.9)
    array([0., 0., 0.])
    """
    check_booster(clf)
    check_one_class(clf, "predict_sets answers with classes of which one is right")
    scores = clf.set_scores_
    n_rounds = None if scores is None else scores["n_rounds"]  # of the model that the scores are of
    if scores is None or clf.n_iter_ > n_rounds or (clf.n_iter_ < n_rounds and clf.stop_reason_ is None):
        raise ValueError(
            "predict_sets needs labelled rows that the model was not trained on: call calibrate_sets(clf, X, y) with "
            'some, or fit SimplexBoostClassifier with n_estimators="auto", which holds out rows itself.'
        )
    return thresholds_of(scores, len(clf.classes_), coverage, per_class)


def thresholds_of(scores: dict[str, Any], K: int, coverage: float, per_class: bool = False) -> Array:
    """Compute the thresholds (K,) of prediction sets from the ``set_scores_`` of a classifier."""
    check_number("coverage", coverage, float, 0.0, 1.0, open_low=True, open_high=True)
    check_flag("per_class", per_class)
    score, c, weight = scores["score"], scores["c"], scores["weight"]
    if not per_class:
        return np.full(K, threshold(score, weight, coverage))
    groups = [c == k for k in range(K)]
    return np.array([threshold(score[g], None if weight is None else weight[g], coverage) for g in groups])


def class_scores(P: Array) -> Array:
    """Return for each row and class the total probability of all classes that are more probable, (n, K).

    Classes of equal probability have equal scores, whatever their order.
    """
    order = np.argsort(-P, axis=1, kind="stable")
    ranked = np.take_along_axis(P, order, axis=1)  # (n, K), descending
    above = np.zeros_like(ranked)
    np.cumsum(ranked[:, :-1], axis=1, out=above[:, 1:])
    above[:, 1:][ranked[:, 1:] == ranked[:, :-1]] = 0.0  # a class that ties with the one before has the score of it
    out = np.empty_like(above)
    np.put_along_axis(out, order, np.maximum.accumulate(above, axis=1), axis=1)
    return out


def threshold(score: Array, weight: Array | None, coverage: float) -> float:
    """Return the quantile of ascending scores (m,) at a coverage, as if one more row had an infinite score.

    For m rows of equal weight it is the ⌈(m + 1) coverage⌉-th smallest score, and infinity if there are fewer. Among
    rows of different weights w (m,), the added row weighs Σ w² / Σ w, the mean weight of a row drawn in proportion to
    these weights: so (Σ w)² / Σ w², the effective number of rows, takes the place of m.
    """
    m = len(score)
    if m == 0:
        return np.inf
    if weight is None:
        rank = max(1, int(np.ceil((m + 1) * coverage - 1e-9)))  # 1e-9: 10 · 0.7 may be a little above 7
        return float(score[rank - 1]) if rank <= m else np.inf
    share = weight / weight.max()  # squares of very large weights would overflow
    reached = np.cumsum(share) / (share.sum() + np.square(share).sum() / share.sum())
    enough = np.flatnonzero(reached >= coverage - 1e-9)
    return float(score[enough[0]]) if len(enough) else np.inf


def sets_of(P: Array, thresholds: Array) -> Mask:
    """Return the mask (n, K) of classes whose score (`class_scores`) is at most its threshold; probability 0 is out."""
    return (class_scores(P) <= thresholds) & (P > 0)


@accept_pipelines
def predict_or_abstain(
    clf: Any, X: Any, confidence: float = 0.9, *, missing: Any = None, init_score: Any = None
) -> AnyArray:
    """Return the most probable class of every row, (n,), or ``missing`` if its probability is below ``confidence``.

    The type of the array does not depend on whether any row is without a prediction.

    Parameters
    ----------
    confidence : float, default=0.9
        The smallest probability with which a class is predicted, from 0 to 1.
    missing : scalar or None, default=None
        The value for rows without a prediction, for instance -1 or "unknown"; it must not be a class. None takes NaN if
        the labels are numbers (whole numbers then become floats), NaT if they are dates, and None, in an array of
        objects, for all other labels: what pandas and scikit-learn take for missing values.

    Examples
    --------
    >>> predict_or_abstain(clf, X[[0, 77]], confidence=0.9, missing=-1).tolist()
    [0, -1]
    """
    X = clf._check_X(X)
    check_abstaining(clf, confidence, missing)
    best, sure = np.empty(X.shape[0], dtype=np.intp), np.empty(X.shape[0], dtype=bool)
    for rows, P in clf._proba_blocks(X, init_score):
        best[rows] = P.argmax(axis=1)
        sure[rows] = P.max(axis=1) >= confidence
    return with_missing(clf.classes_, best, sure, missing)


def check_abstaining(clf: Any, confidence: Any, missing: Any) -> None:
    """Raise unless the arguments of `predict_or_abstain` are valid."""
    check_one_class(clf, "predict_or_abstain answers with one label")
    check_number("confidence", confidence, float, 0.0, 1.0)
    if missing is None:
        return
    if np.ndim(missing) != 0:
        raise ValueError(f"missing={missing!r} must be a single value, such as -1 or 'unknown', or None.")
    if any(is_same(label, as_listed(missing, clf.classes_)) for label in listed_classes(clf.classes_)):
        raise ValueError(f"missing={missing!r} is one of the classes; take a value that no row can have.")


def with_missing(classes: AnyArray, best: Labels, answered: Mask, missing: Any = None) -> AnyArray:
    """Return the labels (n,) of class indices ``best`` (n,), with ``missing`` where ``answered`` (n,) is False.

    The docstring of `predict_or_abstain` says what is used if ``missing`` is None.
    """
    out = classes.astype(type_with_missing(classes, missing)).take(best)
    if missing is not None:
        out[~answered] = missing
    elif out.dtype.kind in "mM":
        out[~answered] = np.array("NaT", dtype=out.dtype)
    else:
        out[~answered] = None if out.dtype == object else np.nan
    return out


def type_with_missing(classes: AnyArray, missing: Any) -> Any:
    """Return the NumPy type that holds both the labels (K,) and the value for rows without a prediction."""
    kind = classes.dtype.kind
    if missing is not None:
        found = np.asarray(missing)
        alike = found.ndim == 0 and (found.dtype.kind == kind or {found.dtype.kind, kind} <= set("iuf"))
        of_both = np.result_type(classes.dtype, found.dtype) if alike and kind != "b" else np.dtype(object)
    elif kind in "iu":
        of_both = np.dtype(np.float64)
    else:
        of_both = classes.dtype if kind in "fmM" else np.dtype(object)
    if kind in "iu" and of_both.kind == "f" and (np.abs(classes.astype(np.float64)) >= 2**53).any():
        return np.dtype(object)  # a float would be another number
    return of_both


def is_same(label: Any, missing: Any) -> bool:
    """Return whether a label equals the value ``missing``; False if they cannot be compared, as with pandas.NA."""
    try:
        return bool(label == missing)
    except (TypeError, ValueError):
        return False
