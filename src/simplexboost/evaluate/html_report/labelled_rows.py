"""Labelled rows of a report and the predictions for them, computed once and read by every section.

Scores on the rows of the fit would be too good; if the rows seem to be those, the page says so.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from ..._util.arrays import AnyArray, Array, Labels
from ...parts.losses import margins
from ...parts.losses.links import log_softmax
from ...tables.frames import as_frame, feature_names
from ...tables.validation import known_labels


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
    message = "report takes models of one label per row; this one was fitted to several {several} per row."
    clf._problem.check_one_class(message)
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


CLOSE = 1e-3  # relative difference of two risks that are taken for the same


def rows_of_fit(clf: Any) -> int | None:
    """The number of rows in the root of the largest tree; None if the model has no trees that know it."""
    trees = getattr(getattr(clf, "model_", None), "trees", None)
    counts = [getattr(tree, "count", None) for tree in trees or []]
    return max((int(count[0]) for count in counts if count is not None and len(count)), default=None)


def seem_fitted(rows: Evaluated) -> bool:
    """Whether the model was fitted to these rows: there are as many, and their risk is the one of the last round.

    Only the logistic loss without weights is recognised.
    """
    clf = rows.clf
    risks = np.asarray(getattr(clf, "history_", {}).get("risk", ()))
    if rows_of_fit(clf) != rows.n or not len(risks) or not np.isfinite(risks[-1]):
        return False
    if not getattr(getattr(clf, "loss_", None), "likelihood", False):
        return False
    if getattr(clf, "merged_", None) is not None:
        return False
    U = rows.U[:, clf.present_] / clf.model_.temperature  # (n, present classes): the scores that boosting has seen
    own = (np.cumsum(clf.present_) - 1)[rows.c]
    risk = -log_softmax(U, 2.0)[np.arange(rows.n), own].mean()
    return bool(abs(risk - risks[-1]) <= CLOSE * max(risk, risks[-1]))


LONGEST = 40  # characters of a value that are shown


class Cells:
    """The columns of a table, read when they are asked for."""

    def __init__(self, X: Any) -> None:
        self.X = X.tocsc() if issparse(X) else X
        plain = issparse(X) or isinstance(X, np.ndarray | list | tuple)
        self.frame = None if plain else as_frame(X)
        self._columns: dict[int, AnyArray] = {}

    def column(self, j: int) -> AnyArray:
        """The values of a column, (n,): numbers, or objects."""
        if j not in self._columns:
            self._columns[j] = self._read(j)
        return self._columns[j]

    def _read(self, j: int) -> AnyArray:
        if self.frame is not None:
            values = self.frame[:, j].to_list()
        elif issparse(self.X):
            return self.X[:, [j]].toarray()[:, 0]
        elif isinstance(self.X, np.ndarray):
            return self.X[:, j]
        else:
            values = [row[j] for row in self.X]
        column = np.empty(len(values), dtype=object)
        column[:] = values
        return column

    def text(self, i: int, j: int) -> str:
        """The value in row i and column j."""
        return as_text(self.column(j)[i])

    def typical(self, rows: AnyArray, j: int) -> str:
        """The median of a column of numbers over some rows, or its most frequent value; "" without rows."""
        values = [value for value in self.column(j)[rows].tolist() if not is_missing(value)]
        if len(rows) == 0:
            return ""
        if not values:
            return "missing"
        if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
            return as_text(float(np.median(values)))
        words = [as_text(value) for value in values]
        return max(dict.fromkeys(words), key=words.count)


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT or the like: those differ from themselves, or cannot be compared."""
    try:
        return value is None or bool(value != value)
    except TypeError:  # pd.NA
        return True


def as_text(value: Any) -> str:
    """A value as people read it: numbers to four digits, long text cut."""
    if is_missing(value):
        return "missing"
    if isinstance(value, float | np.floating):
        return f"{float(value):.4g}"
    text = str(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
