"""The labelled rows of a report with their predictions, which are computed once and used by every section.

Scores on the training rows would be too good; if the report's rows seem to be the training rows, the page says so.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from ..._util.arrays import AnyArray, Array, Labels
from ..._util.compat import cached
from ...parts.losses import margins
from ...parts.losses.links import log_softmax
from ...tables.columns import is_missing
from ...tables.frames import as_frame, feature_names
from ...tables.validation import known_labels
from ..confusion import Confusion
from ..drawing import cut_text

CLOSE = 1e-3  # relative difference of two risks that count as equal
LONGEST = 40  # characters of a value that are shown


@dataclass(frozen=True, eq=False)
class Evaluated:
    """The labelled rows of a report with their class scores and probabilities."""

    clf: Any
    X: Any  # (n, p) as the user passed it
    c: Labels  # (n,) the numbers of the true classes
    U: Array  # (n, K) class scores
    P: Array | None  # (n, K) probabilities; None if the classifier has none
    rows: list[Any]  # (n,) the names of the rows, or their positions in the user's table
    seconds: float  # the time of the predictions

    @property
    def n(self) -> int:
        return len(self.c)

    @property
    def K(self) -> int:
        return len(self.labels)

    @cached
    def predicted(self) -> Labels:
        """The class index of the predicted class of each row, (n,)."""
        return self.clf._best(self.U)

    @cached
    def margin(self) -> Array:
        """The score of each row's true class minus the highest score of another class, (n,)."""
        return margins(self.U, self.c)

    @cached
    def confusion(self) -> Confusion:
        """The confusion matrix, with the mean probabilities of the classes if the classifier has probabilities."""
        return Confusion.from_predictions(self.c, self.predicted, range(self.U.shape[1]), P=self.P)

    @cached
    def labels(self) -> list[str]:
        """The K class labels as text in one line; a blank label, which nobody could see or click, becomes "(empty)"."""
        lines = [str(label).replace("\n", " ") for label in self.clf.classes_.tolist()]
        return [line if line.strip() else "(empty)" for line in lines]

    @cached
    def features(self) -> list[str]:
        return feature_names(self.clf)

    def probability(self, row: Any, k: Any) -> float | None:
        """Return the predicted probability of class k for a row; None if the classifier has no probabilities."""
        return None if self.P is None else float(self.P[row, k])


def evaluate(clf: Any, X: Any, y: Any, names: Any = None) -> Evaluated:
    """Predict the labelled rows X (n, p); ``names`` (n,) are the names of the rows, and None numbers them from 0."""
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
    given = list(range(len(U))) if names is None else np.asarray(names).tolist()
    if len(given) != len(U):
        raise ValueError(f"rows has {len(given)} names for {len(U)} rows of X; pass a name for each.")
    if not all(type(name) is int for name in given):
        given = [str(name) for name in given]
    return Evaluated(clf, X, c, U, P, given, seconds)


def rows_of_fit(clf: Any) -> int | None:
    """Return the number of training rows, the largest row count in the root of a tree; None if no tree stores one."""
    trees = getattr(getattr(clf, "model_", None), "trees", None)
    counts = [getattr(tree, "count", None) for tree in trees or []]
    return max((int(count[0]) for count in counts if count is not None and len(count)), default=None)


def seems_fitted(rows: Evaluated) -> bool:
    """Return whether the rows are probably the training rows: the fit had as many rows and the same training risk.

    Only fits with the logistic loss and without sample weights are recognised.
    """
    clf = rows.clf
    risks = np.asarray(getattr(clf, "history_", {}).get("risk", ()))
    if rows_of_fit(clf) != rows.n or not len(risks) or not np.isfinite(risks[-1]):
        return False
    if not getattr(getattr(clf, "loss_", None), "likelihood", False) or getattr(clf, "_merged", None) is not None:
        return False
    U = rows.U[:, clf._present] / clf.model_.temperature  # (n, present classes): as in the fit
    own = (np.cumsum(clf._present) - 1)[rows.c]
    risk = -log_softmax(U, 2.0)[np.arange(rows.n), own].mean()
    return bool(abs(risk - risks[-1]) <= CLOSE * max(risk, risks[-1]))


class Cells:
    """The columns of a table and their cells as text; each column is read when it is used for the first time."""

    def __init__(self, X: Any) -> None:
        if issparse(X):
            X = X.tocsc()
        elif isinstance(X, list | tuple):
            X = np.array(X, dtype=object)
        self.X, self.frame = X, None if issparse(X) or isinstance(X, np.ndarray) else as_frame(X)
        self.columns: dict[int, AnyArray] = {}

    def column(self, j: int) -> AnyArray:
        if j not in self.columns:
            if self.frame is None:
                self.columns[j] = self.X[:, [j]].toarray()[:, 0] if issparse(self.X) else self.X[:, j]
            else:
                self.columns[j] = np.array([*self.frame[:, j].to_list(), None], dtype=object)[:-1]
        return self.columns[j]

    def text(self, i: int, j: int) -> str:
        return write_value(self.column(j)[i])

    def typical(self, rows: AnyArray, j: int) -> str:
        """Return as text the median of column j over some rows if it is numeric, or else its most frequent value."""
        values = [value for value in self.column(j)[rows].tolist() if not is_missing(value)]
        if len(rows) == 0:
            return ""
        if not values:
            return "missing"
        if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
            return write_value(float(np.median(values)))
        words = [write_value(value) for value in values]
        return max(dict.fromkeys(words), key=words.count)


def write_value(value: Any) -> str:
    """Return a value as text; floats get four significant digits, and long text is cut."""
    if is_missing(value):
        return "missing"
    if isinstance(value, float | np.floating):
        return f"{float(value):.4g}"
    return cut_text(str(value), LONGEST)
