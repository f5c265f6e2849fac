"""Predictions (n,) that are missing where the model is not confident enough."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._util.arrays import AnyArray, Labels, Mask
from .._util.params import check_number
from ..tables.labels import as_listed, listed_classes
from .rows import accept_pipelines, check_one_class


@accept_pipelines
def predict_or_abstain(
    clf: Any, X: Any, confidence: float = 0.9, *, missing: Any = None, init_score: Any = None
) -> AnyArray:
    """Return the most probable class of every row, or no answer where its probability is below a confidence, (n,).

    The type of the array depends on the labels only, not on whether a row is without an answer.

    Parameters
    ----------
    confidence : float, default=0.9
        The smallest probability with which a row gets an answer, from 0 to 1.
    missing : scalar or None, default=None
        What stands for no answer, for instance -1 or "unknown"; it must not be a class. None takes NaN if the labels
        are numbers (whole numbers then become floats), NaT if they are dates, and None, in an array of objects, for all
        other labels: what pandas and scikit-learn take for missing values.

    Examples
    --------
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> iris = load_iris()
    >>> clf = sb.SimplexBoostClassifier(n_estimators=20, random_state=0)
    >>> clf = clf.fit(iris.data, iris.target_names[iris.target])
    >>> predict_or_abstain(clf, iris.data[[0, 77]], confidence=0.9).tolist()
    ['setosa', None]
    """
    X = clf._check_X(X)
    check_abstaining(clf, confidence, missing)
    best, sure = np.empty(X.shape[0], dtype=np.intp), np.empty(X.shape[0], dtype=bool)
    for rows, P in clf._blocks(X, clf.model_, init_score):
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
    """Return the labels (n,) of the classes ``best`` (n,), and ``missing`` in rows that are not ``answered`` (n,).

    What None takes for a missing label, the documentation of `predict_or_abstain` says.

    Examples
    --------
    >>> best, answered = np.array([1, 0]), np.array([True, False])
    >>> with_missing(np.array([3, 5]), best, answered)
    array([ 5., nan])
    >>> with_missing(np.array(["cat", "dog"]), best, answered)
    array(['dog', None], dtype=object)
    >>> with_missing(np.array([3, 5]), best, answered, -1)
    array([ 5, -1])
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
    """Return the type of an array that can hold the labels (K,) and the value for no answer."""
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
    """Return whether a label equals the value for no answer; pandas.NA, which cannot be compared, equals no label."""
    try:
        return bool(label == missing)
    except (TypeError, ValueError):
        return False
