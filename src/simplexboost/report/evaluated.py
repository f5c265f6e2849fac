"""Labelled rows and what a classifier says of them: predicted once, and then read by every section."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._typing import AnyArray, Array, Labels
from ..data.names import feature_names
from ..data.validation import known_labels
from ..losses import margins


@dataclass(frozen=True, eq=False)
class Evaluated:
    """Rows that were predicted.

    Attributes
    ----------
    clf : the fitted classifier
    X : (n, p) the rows, as the user passed them
    c : (n,) the numbers of their classes
    U : (n, K) class scores
    P : (n, K) probabilities; None if the classifier has none
    predicted : (n,) the numbers of the predicted classes
    margin : (n,) the score of the row's class minus the best other score
    rows : what the n rows are called: their positions in the user's table, or their names
    labels : the K labels as text
    features : the p names of the columns
    seconds : how long the predictions took
    """

    clf: Any
    X: Any
    c: Labels
    U: Array
    P: Array | None
    predicted: Labels
    margin: Array
    rows: list[Any]
    labels: list[str]
    features: list[str]
    seconds: float

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.c)

    @property
    def K(self) -> int:
        """The number of classes."""
        return len(self.labels)

    @property
    def right(self) -> AnyArray:
        """Whether each row was predicted right, (n,)."""
        return self.predicted == self.c

    def probability(self, row: int, k: int) -> float | None:
        """The probability of class k for a row; None if the classifier has none."""
        return None if self.P is None else float(self.P[row, k])


def evaluate(clf: Any, X: Any, y: Any, names: Any = None) -> Evaluated:
    """Predict rows with known labels.

    Parameters
    ----------
    clf : a fitted classifier of this package
    X : (n, p) rows, with the columns of the fit
    y : (n,) labels, all of them among those of the classifier
    names : (n,) what the rows are called; None numbers them from 0
    """
    check_is_fitted(clf)
    if clf._answers != "one":
        raise ValueError(
            f"report takes models of one label per row; this one was fitted to several {clf._answers} per row."
        )
    begin = time.perf_counter()
    U = np.asarray(clf.class_scores(X), dtype=np.float64)  # (n, K)
    seconds = time.perf_counter() - begin
    if len(U) == 0:
        raise ValueError("X has no rows; a report needs at least one.")
    c = known_labels(y, len(U), clf.classes_)
    P = np.asarray(clf.predict_proba(X)) if hasattr(clf, "predict_proba") else None
    return Evaluated(
        clf,
        X,
        c,
        U,
        P,
        clf._best(U),
        margins(U, c),
        row_names(names, len(U)),
        [label_text(label) for label in clf.classes_.tolist()],
        feature_names(clf),
        seconds,
    )


def label_text(label: Any) -> str:
    """A label as text of one line; an empty one could be neither seen nor clicked."""
    text = str(label).replace("\n", " ")
    return text if text.strip() else "(empty)"


def row_names(names: Any, n: int) -> list[Any]:
    """What the rows are called: whole numbers as they are, everything else as text."""
    if names is None:
        return list(range(n))
    given = [name if type(name) is int else str(name) for name in np.asarray(names).tolist()]
    if len(given) != n:
        raise ValueError(f"rows has {len(given)} names for {n} rows of X; pass a name for each.")
    return given if all(type(name) is int for name in given) else [str(name) for name in given]
