"""What pictures ask of a classifier and of labelled rows, with checks."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._parts import check_number
from .._typing import AnyArray, Labels
from ..data.labels import known_label_numbers

MOST_ROWS = 3000  # points in one picture; more only hide each other


def class_places(classes: Any, known: AnyArray) -> Labels:
    """The numbers of chosen classes, (D,); of all if None."""
    if classes is None:
        return np.arange(len(known))
    labels = np.atleast_1d(np.asarray(classes))
    if labels.ndim != 1 or len(labels) == 0:
        raise ValueError("classes must be a label or a list of labels, at least one.")
    return known_label_numbers(labels, known, "classes")


def probabilities_of(estimator: Any, X: Any, what: str) -> AnyArray:
    """The probabilities (n, K) that a fitted classifier predicts, which ``what`` needs."""
    check_is_fitted(estimator)
    if not hasattr(estimator, "predict_proba"):
        raise TypeError(f"{type(estimator).__name__} has no predict_proba; {what} needs it.")
    return np.asarray(estimator.predict_proba(X))


def some_rows(n: int, most: int) -> Labels:
    """At most so many of n rows, drawn at random but always the same ones, in ascending order."""
    check_number("most", most, int, 1)
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, most, replace=False))
