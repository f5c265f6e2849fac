"""Tables of scores on labelled rows: of every class, of the levels of a hierarchy, and of the columns of a code.

Scores of classes have Wilson's intervals, which stay sensible for classes of few rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._util.arrays import AnyArray, Array, Labels
from .._util.params import check_choice, check_number
from ..parts.codewords import Hierarchy
from ..tables.validation import check_sample_weight, check_some_weight, known_labels
from .confusion import Confusion, check_labels, check_same_length, predict_labels
from .drawing import (
    GREY,
    PALE,
    PALETTE,
    Summary,
    class_ticks,
    complete_docstring,
    height_of_rows,
    label_points,
    legend_beside,
    one_axes,
)


@complete_docstring
@dataclass(frozen=True, eq=False)
class ClassTable(Summary):
    """Precision, recall and F1 of every class, and their picture.

    Attributes
    ----------
    classes : array of shape (K,)
        The labels.
    support : int array of shape (K,)
        The number of rows of the class.
    predicted : int array of shape (K,)
        The number of rows for which the class was predicted.
    correct : int array of shape (K,)
        The number of rows of the class that were predicted right.
    precision : array of shape (K,)
        correct / predicted; NaN if the class was never predicted.
    recall : array of shape (K,)
        correct / support; NaN if it has no rows.
    f1 : array of shape (K,)
        The harmonic mean of precision and recall, 2 correct / (predicted + support); NaN if both are empty.
    precision_interval : array of shape (K, 2)
        The Wilson interval of the precision; [0, 1] where there is nothing to count.
    recall_interval : array of shape (K, 2)
        The Wilson interval of the recall; [0, 1] where there is nothing to count.

    Examples
    --------
    >>> table = ClassTable.from_predictions([0, 0, 0, 1], [0, 0, 1, 1])
    >>> table.recall.round(2).tolist(), table.precision.tolist()
    ([0.67, 1.0], [1.0, 0.5])
    >>> table.recall_interval[0].round(2).tolist()
    [0.21, 0.94]
    >>> table.plot(kind="scatter").get_xlabel()
    'recall'
    """

    classes: AnyArray
    support: AnyArray
    predicted: AnyArray
    correct: AnyArray
    precision: Array
    recall: Array
    f1: Array
    precision_interval: Array
    recall_interval: Array

    @classmethod
    def from_predictions(cls, y_true: Any, y_pred: Any, classes: Any = None, confidence: float = 0.95) -> ClassTable:
        """Count the rows of every class, and how many were predicted right."""
        return cls.of_counts(Confusion.from_predictions(y_true, y_pred, classes), confidence)

    @classmethod
    def of_counts(cls, found: Confusion, confidence: float = 0.95) -> ClassTable:
        """Compute the scores of the classes from a confusion matrix."""
        correct, support, predicted = np.diag(found.counts), found.support, found.counts.sum(axis=0)
        precision, recall, f1 = (
            np.divide(part, whole, out=np.full(len(part), np.nan), where=whole > 0)
            for part, whole in ((correct, predicted), (correct, support), (2 * correct, support + predicted))
        )
        intervals = wilson(correct, predicted, confidence), wilson(correct, support, confidence)
        return cls(found.classes, support, predicted, correct, precision, recall, f1, *intervals)

    _predict = staticmethod(predict_labels)

    def plot(self, *, kind: str = "rows", most: int = 30, ax: Any = None) -> Any:
        """Draw precision and recall of the classes with their intervals, the worst F1 first; return the axes.

        Parameters
        ----------
        kind : {"rows", "scatter"}, default="rows"
            "rows" draws a row per class, "scatter" a point per class, with the names of the worst classes.
        most : int, default=30
            The largest number of classes with a row or a name.
        """
        check_choice("kind", kind, ("rows", "scatter"))
        check_number("most", most, int, 1)
        worst = np.argsort(self.f1, kind="stable")
        worst = worst[~np.isnan(self.f1[worst])]
        shown, K = worst[:most], len(worst)
        if kind == "rows":
            ax = one_axes(ax, figsize=(7.2, height_of_rows(len(shown))))
            draw_rows(ax, self, shown)
        else:
            ax = one_axes(ax, figsize=(6.4, 5.2))
            draw_scatter(ax, self, worst, most)
        ax.set_title(f"the {len(shown)} worst of {K} classes" if kind == "rows" and len(shown) < K else f"{K} classes")
        return ax


@complete_docstring
def wilson(successes: Any, trials: Any, confidence: float = 0.95) -> Array:
    """Return Wilson's interval for a probability, from counts.

    Unlike the mean ± 2 standard errors it stays within [0, 1] and has a width if all trials or none succeed.

    Parameters
    ----------
    successes : int or array of int
        The number of trials that succeeded.
    trials : int or array of int
        The number of trials, in the same shape.

    Returns
    -------
    array of shape (..., 2)
        The ends of the intervals.

    Examples
    --------
    >>> wilson(9, 10).round(3).tolist(), wilson(0, 0).tolist()
    ([0.596, 0.982], [0.0, 1.0])
    """
    check_number("confidence", confidence, float, 0.0, 1.0, open_low=True)
    if confidence == 1:
        raise ValueError("confidence=1 is out of range; it must be below 1.")
    k, n = np.broadcast_arrays(np.asarray(successes, dtype=np.float64), np.asarray(trials, dtype=np.float64))
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    m = np.maximum(n, 1e-9)  # no division by zero; such intervals are replaced below
    centre = (k / m + z * z / (2 * m)) / (1 + z * z / m)
    half = z / (1 + z * z / m) * np.sqrt(k / m * (1 - k / m) / m + z * z / (4 * m * m))
    interval = np.stack([np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)], axis=-1)
    return np.where((n > 0)[..., None], interval, np.array([0.0, 1.0]))


def draw_rows(ax: Any, table: ClassTable, shown: Labels) -> None:
    places = np.arange(len(shown))
    parts = (
        ("precision", table.precision, table.precision_interval, -0.16, PALETTE[1], "s"),
        ("recall", table.recall, table.recall_interval, 0.16, PALETTE[0], "o"),
    )
    ax.hlines(places, 0, 1, color=PALE, linewidth=0.5, zorder=0)
    low = 1.0
    for name, values, interval, shift, colour, marker in parts:
        known = ~np.isnan(values[shown])
        here, y = values[shown][known], places[known] + shift
        ends = interval[shown][known]
        ax.hlines(y, ends[:, 0], ends[:, 1], color=colour, linewidth=1.2)
        ax.plot(here, y, marker, color=colour, markersize=4.5, label=name, linestyle="none")
        low = min(low, float(ends.min(initial=1.0)))
    class_ticks(ax, "y", table.classes[shown].tolist())
    room = 0.03 * (1 - low) + 1e-3
    ax.set(xlabel="precision and recall, with 95 % intervals", xlim=(low - room, 1 + room))
    ax.set_ylim(len(shown) - 0.4, -0.6)
    legend_beside(ax)


def draw_scatter(ax: Any, table: ClassTable, worst: Labels, most: int) -> None:
    """Draw a point for each class, whose area is the number of rows, and the names of the worst classes."""
    points = np.column_stack([table.recall, table.precision])
    points = np.where(np.isnan(points), 0.0, points)  # never predicted, or without rows: nothing was right
    low = float(points[worst].min())
    areas = 12.0 + 60.0 * table.support[worst] / max(float(table.support[worst].max()), 1.0)
    ax.scatter(*points[worst].T, s=areas, color=PALETTE[0], alpha=0.5, linewidths=0)
    ax.plot([0, 1], [0, 1], color=PALE, linewidth=0.8, zorder=0)
    room = 0.06 * (1 - low) + 1e-3
    ends = (low - room, 1 + room)
    ax.set(xlabel="recall", ylabel="precision", xlim=ends, ylim=ends)
    for which in (ax.xaxis, ax.yaxis):
        which.set_ticks([tick for tick in which.get_majorticklocs() if ends[0] <= tick <= 1 + 1e-9])
    label_points(ax, points[worst[:most]], table.classes[worst[:most]].tolist(), color=GREY)


@complete_docstring
@dataclass(frozen=True)
class HierarchicalScores:
    """Scores of predictions in a tree of classes, which count how near a prediction is to the true class.

    Attributes
    ----------
    precision : float
        The fraction of the nodes above predictions (without the root) that are also above the true class.
    recall : float
        The fraction of the nodes above true classes that are also above the prediction.
    f1 : float
        The harmonic mean of precision and recall.
    distance : float
        The mean number of edges between the prediction and the true class.
    accuracy : list of float
        The fraction of the rows whose prediction is in the right node, for every level from the top down.

    Examples
    --------
    >>> tree = Hierarchy({"bird": ["owl", "wren"], "fish": ["eel", "carp"]})
    >>> HierarchicalScores.from_predictions(["owl", "eel"], ["wren", "eel"], tree)
    HierarchicalScores(precision=0.75, recall=0.75, f1=0.75, distance=1.0, accuracy=[1.0, 0.5])
    """

    precision: float
    recall: float
    f1: float
    distance: float
    accuracy: list[float]

    @classmethod
    def from_predictions(
        cls, y_true: Any, y_pred: Any, hierarchy: Hierarchy, sample_weight: Any = None
    ) -> HierarchicalScores:
        """Count the nodes above predictions, above true labels and above both, over all rows.

        Predictions may be labels or nodes further up, as `decide.predict_level` returns them: such a prediction is less
        precise but not wrong. The sets of nodes are those of Kiritchenko, Matwin and Famili (2005).

        Parameters
        ----------
        y_pred : array of shape (n,)
            The predictions: labels or names of nodes.
        hierarchy : Hierarchy
            The tree.
        """
        if not isinstance(hierarchy, Hierarchy):
            raise TypeError(f"hierarchy={hierarchy!r:.200} must be a simplexboost.Hierarchy.")
        labels, answers = check_labels(y_true, "y_true"), check_labels(y_pred, "y_pred")
        check_same_length(labels, answers, "y_pred")
        weight = check_sample_weight(sample_weight, labels)
        check_some_weight(bool(weight.any()))
        truth, predicted = labels.tolist(), answers.tolist()
        paths = {node: hierarchy.ancestors(node) for node in {*truth, *predicted}}
        # The names of nodes differ, so that two paths share what they share from the top.
        shared = np.array([len({*paths[a]} & {*paths[b]}) for a, b in zip(truth, predicted, strict=True)])
        depth_true, depth_pred = (np.array([len(paths[node]) for node in nodes]) for nodes in (truth, predicted))
        precision, recall = (float(weight @ shared / (weight @ depth)) for depth in (depth_pred, depth_true))
        f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
        distance = float(np.average(depth_true + depth_pred - 2 * shared, weights=weight))
        exact = (shared == depth_true) & (depth_pred == depth_true)  # a label above a level must be predicted itself
        levels = range(1, hierarchy.n_levels + 1)
        accuracy = [float(np.average((shared >= level) | exact, weights=weight)) for level in levels]
        return cls(precision, recall, f1, distance, accuracy)


@complete_docstring
@dataclass(frozen=True, eq=False)
class CodeReport:
    """How well the code of an `OutputCodeClassifier` and its columns do on labelled rows.

    Attributes
    ----------
    n_columns : int
        The number of columns, l.
    min_distance : float
        The smallest Hamming distance of two rows of the code; zeros count ½.
    bits_corrected : int
        The number of wrong bits that Hamming decoding always survives.
    column_errors : array of shape (l,)
        The error of each column on the rows that take part in it; NaN where none does.
    wrong_bits : int array of shape (n,)
        The number of columns that answer wrongly, for every row.
    error : float
        The fraction of the rows that are classified wrongly.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from simplexboost import OutputCodeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = OutputCodeClassifier(GaussianNB(), "exhaustive", "hamming").fit(X, y)
    >>> print(CodeReport.from_estimator(clf, X, y))
    columns            3
    minimum distance   2
    bits corrected     0
    errors of columns  0.0000 to 0.0800, mean 0.0511
    within reach       0.8733
    error              0.0733
    """

    n_columns: int
    min_distance: float
    bits_corrected: int
    column_errors: Array
    wrong_bits: Array
    error: float

    @classmethod
    def from_estimator(cls, clf: Any, X: Any, y: Any) -> CodeReport:
        """Compute the errors of the columns of a fitted classifier.

        Parameters
        ----------
        clf : OutputCodeClassifier
            The fitted classifier.
        y : array of shape (n,)
            The labels of the rows, which must have occurred in training.
        """
        check_is_fitted(clf)
        if not hasattr(clf, "column_scores"):
            raise TypeError(f"{type(clf).__name__} has no columns; pass a fitted OutputCodeClassifier.")
        f = clf.column_scores(X)
        c = known_labels(y, len(f), clf.classes_[clf.present_])
        letters = clf.codewords_[clf.present_][c]  # (n, l)
        wrong = (letters != 0) & ((f > 0) != (letters > 0))
        taking_part = (letters != 0).sum(axis=0)
        errors = np.full(f.shape[1], np.nan)
        np.divide(wrong.sum(axis=0), taking_part, out=errors, where=taking_part > 0)
        error = float(np.mean(clf._present_scores(f).argmax(axis=1) != c))
        return cls(f.shape[1], clf.min_distance_, clf.bits_corrected_, errors, wrong.sum(axis=1), error)

    @property
    def within_reach(self) -> float:
        """The fraction of the rows with no more wrong bits than the code corrects."""
        return float(np.mean(self.wrong_bits <= self.bits_corrected))

    def __str__(self) -> str:
        errors = self.column_errors[~np.isnan(self.column_errors)]
        low, mean, high = (errors.min(), errors.mean(), errors.max()) if len(errors) else (0.0, 0.0, 0.0)
        return "\n".join(
            [
                f"columns            {self.n_columns}",
                f"minimum distance   {self.min_distance:g}",
                f"bits corrected     {self.bits_corrected}",
                f"errors of columns  {low:.4f} to {high:.4f}, mean {mean:.4f}",
                f"within reach       {self.within_reach:.4f}",
                f"error              {self.error:.4f}",
            ]
        )
