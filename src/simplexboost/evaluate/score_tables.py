"""Scores on labelled rows: scores per class, hierarchical scores, error-correcting codes, calibration and abstention.

Scores of a class have Wilson's confidence intervals, which are sensible even for classes with few rows. Probabilities
are calibrated if 80 % of the rows that are predicted with probability 80 % are right. A risk-coverage curve shows for
every fraction of the rows the error rate if a classifier answers only the most confident rows, and abstains on others.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._util.arrays import AnyArray, Array, Labels, Mask
from .._util.docstrings import described
from .._util.params import check_choice, check_number
from ..parts.codewords import Hierarchy
from ..tables.inputs import as_label_array
from ..tables.labels import known_label_numbers
from ..tables.validation import check_sample_weight, check_some_weight, known_labels
from .confusion import Confusion, check_predicted, check_same_length, predict_labels
from .drawing import (
    GREY,
    PALE,
    PALETTE,
    Summary,
    class_style,
    class_ticks,
    escape_text,
    height_of_rows,
    label_points,
    legend_beside,
    one_axes,
    write_label,
)


@described
@dataclass(frozen=True, eq=False)
class ClassTable(Summary):
    """A table of precision, recall and F1 of every class.

    Attributes
    ----------
    classes : array of shape (K,)
        The class labels.
    support : int array of shape (K,)
        The number of rows of each class.
    predicted : int array of shape (K,)
        The number of rows for which each class was predicted.
    correct : int array of shape (K,)
        The number of rows of each class for which this class was predicted.
    precision : array of shape (K,)
        correct / predicted; NaN for a class that was never predicted.
    recall : array of shape (K,)
        correct / support; NaN for a class without rows.
    f1 : array of shape (K,)
        The harmonic mean of precision and recall, 2 correct / (predicted + support); NaN if the divisor is 0.
    precision_interval, recall_interval : arrays of shape (K, 2)
        The lower and upper ends of the Wilson intervals of precision and recall; [0, 1] where the score is NaN.

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
        """Compute precision, recall and F1 of every class from true and predicted labels."""
        return cls.of_counts(Confusion.from_predictions(y_true, y_pred, classes), confidence)

    @classmethod
    def of_counts(cls, found: Confusion, confidence: float = 0.95) -> ClassTable:
        """Compute precision, recall and F1 of every class from a confusion matrix."""
        correct, support, predicted = np.diag(found.counts), found.support, found.counts.sum(axis=0)
        precision, recall, f1 = (
            np.divide(part, whole, out=np.full(len(part), np.nan), where=whole > 0)
            for part, whole in ((correct, predicted), (correct, support), (2 * correct, support + predicted))
        )
        intervals = wilson(correct, predicted, confidence), wilson(correct, support, confidence)
        return cls(found.classes, support, predicted, correct, precision, recall, f1, *intervals)

    _predict = staticmethod(predict_labels)

    def plot(self, *, kind: str = "rows", most: int = 30, ax: Any = None) -> Any:
        """Draw precision and recall of the classes, beginning with the class that has the lowest F1; return the axes.

        Parameters
        ----------
        kind : {"rows", "scatter"}, default="rows"
            "rows" draws a row per class with Wilson intervals; "scatter" draws a point per class and names the worst
            classes.
        most : int, default=30
            The largest number of classes that get a row, or a name in the scatter plot.
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


@described
def wilson(successes: Any, trials: Any, confidence: float = 0.95) -> Array:
    """Return Wilson's confidence interval for a probability: the lower and the upper end in the last axis, (..., 2).

    Unlike the mean ± 2 standard errors, the interval stays within [0, 1], and its width is above zero even if all
    trials or none succeed.

    Parameters
    ----------
    successes, trials : int or array of int
        The number of successful trials and the number of all trials; arrays have the same shape.

    Examples
    --------
    >>> wilson(9, 10).round(3).tolist(), wilson(0, 0).tolist()
    ([0.596, 0.982], [0.0, 1.0])
    """
    check_number("confidence", confidence, float, 0.0, 1.0, open_low=True, open_high=True)
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
    """Draw a point per class, with an area that grows with the number of rows, and the names of the worst classes."""
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


@described
@dataclass(frozen=True)
class HierarchicalScores:
    """Precision, recall and F1 in a tree of classes, in which a wrong class near the true class counts as partly right.

    Attributes
    ----------
    precision : float
        The fraction of the nodes on the paths from the root to the predictions that are also on the path to the true
        class. The root itself does not count.
    recall : float
        The fraction of the nodes on the paths to the true classes that are also on the path to the prediction.
    f1 : float
        The harmonic mean of precision and recall.
    distance : float
        The mean number of edges in the tree between the prediction and the true class.
    accuracy : list of float
        For every level from the top down, the fraction of the rows whose prediction is the right node or below it.

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
        """Compare the path from the root to each prediction with the path from the root to the true class.

        A prediction may be a label or an inner node, as `decide.predict_level` returns it; a node above the true class
        is less precise but not wrong. The scores follow Kiritchenko, Matwin and Famili (2005).

        Parameters
        ----------
        y_pred : array of shape (n,)
            The predictions: class labels or names of inner nodes.
        hierarchy : Hierarchy
            The tree of the classes.
        """
        if not isinstance(hierarchy, Hierarchy):
            raise TypeError(f"hierarchy={hierarchy!r:.200} must be a simplexboost.Hierarchy.")
        labels, answers = as_label_array(y_true, "y_true"), as_label_array(y_pred, "y_pred")
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


@described
@dataclass(frozen=True, eq=False)
class CodeReport:
    """An evaluation of an `OutputCodeClassifier` on labelled rows: the coding matrix and the errors of its columns.

    Attributes
    ----------
    n_columns : int
        The number l of columns of the coding matrix; each column has a binary classifier.
    min_distance : float
        The smallest Hamming distance between two rows of the coding matrix; an entry 0 counts ½.
    bits_corrected : int
        The largest number of wrong columns for which Hamming decoding always finds the right class.
    column_errors : array of shape (l,)
        The error rate of each column's binary classifier on the rows whose entry is not 0; NaN without such rows.
    wrong_bits : int array of shape (n,)
        For every row, the number of columns whose binary classifier is wrong.
    error : float
        The fraction of the rows for which the predicted class is wrong.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from simplexboost import OutputCodeClassifier
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
        """Compute the report of a fitted classifier from labelled rows.

        Parameters
        ----------
        clf : OutputCodeClassifier
            The fitted classifier.
        y : array of shape (n,)
            The labels of the rows; every label must have occurred in training.
        """
        check_is_fitted(clf)
        if not hasattr(clf, "column_scores"):
            raise TypeError(f"{type(clf).__name__} has no columns; pass a fitted OutputCodeClassifier.")
        f = clf.column_scores(X)
        c = known_labels(y, len(f), clf.classes_[clf._present])
        letters = clf.codewords_[clf._present][c]  # (n, l)
        wrong = (letters != 0) & ((f > 0) != (letters > 0))
        taking_part = (letters != 0).sum(axis=0)
        errors = np.full(f.shape[1], np.nan)
        np.divide(wrong.sum(axis=0), taking_part, out=errors, where=taking_part > 0)
        error = float(np.mean(clf._present_scores(f).argmax(axis=1) != c))
        return cls(f.shape[1], clf.min_distance_, clf.bits_corrected_, errors, wrong.sum(axis=1), error)

    @property
    def within_reach(self) -> float:
        """The fraction of the rows that have at most ``bits_corrected`` wrong columns."""
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


@described
@dataclass(frozen=True, eq=False)
class Reliability(Summary):
    """A reliability diagram: predicted probabilities and observed frequencies in B bins of rows, without empty bins.

    Attributes
    ----------
    low, high : arrays of shape (B,)
        The lower and the upper end of each bin.
    count : int array of shape (B,)
        The number of rows in each bin.
    predicted : array of shape (B,)
        The mean predicted probability of the rows in each bin.
    observed : array of shape (B,)
        The fraction of the rows in each bin whose class is ``label``; for None, whose predicted class is right.
    interval : array of shape (B, 2)
        The Wilson interval of each entry of ``observed``.
    ece : float
        The expected calibration error: the mean over the rows of abs(observed − predicted) in the bin of the row.
    label : label or None
        The class whose predicted probability is compared; None compares the most probable class of every row.

    Examples
    --------
    >>> P = np.array([[0.9, 0.1], [0.9, 0.1], [0.6, 0.4], [0.4, 0.6]])
    >>> found = Reliability.from_predictions([0, 0, 1, 1], P, bins=5)
    >>> found.count.tolist(), found.predicted.tolist(), found.observed.tolist()
    ([2, 2], [0.6, 0.9], [0.5, 1.0])
    >>> round(found.ece, 3)
    0.1
    >>> found.plot().get_xlabel()
    'predicted probability'
    """

    low: Array
    high: Array
    count: AnyArray
    predicted: Array
    observed: Array
    interval: Array
    ece: float
    label: Any = None

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        P: Any,
        classes: Any = None,
        *,
        label: Any = None,
        bins: int = 15,
        strategy: str = "uniform",
        confidence: float = 0.95,
    ) -> Reliability:
        """Compare predicted probabilities with observed frequencies, in bins of the probability.

        Parameters
        ----------
        label : label or None, default=None
            The class whose predicted probability is compared; None compares the most probable class of every row.
        bins : int, default=15
            The number of bins, including those that stay empty.
        strategy : {"uniform", "quantile"}, default="uniform"
            "uniform" makes bins of the same width, "quantile" bins with about the same number of rows.
        """
        c, P, known = check_predicted(y_true, P, classes)
        check_number("bins", bins, int, 1)
        check_choice("strategy", strategy, ("uniform", "quantile"))
        k = P.argmax(axis=1) if label is None else known_label_numbers(np.asarray([label]), known, "label")[0]
        p, hit, edges = P[np.arange(len(c)), k], c == k, np.linspace(0.0, 1.0, bins + 1)
        if strategy == "quantile":
            edges = np.unique(np.concatenate([[0.0], np.quantile(p, edges[1:-1]), [1.0]]))
        place = np.clip(np.searchsorted(edges, p, side="left") - 1, 0, None)  # on an edge: the bin below, as usual
        full, place, count = np.unique(place, return_inverse=True, return_counts=True)
        right, predicted = np.bincount(place, hit), np.bincount(place, p) / count
        ece = float((count * np.abs(right / count - predicted)).sum() / count.sum())
        interval = wilson(right, count, confidence)
        return cls(edges[full], edges[full + 1], count, predicted, right / count, interval, ece, label)

    @property
    def few(self) -> Mask:
        """A mask (B,) of the bins with fewer than five rows, too few to estimate a frequency; plots show them pale."""
        return self.count < 5

    def plot(self, *, name: str | None = None, ax: Any = None) -> Any:
        """Draw observed frequencies over predicted probabilities; calibrated bins lie on the diagonal. Return the axes.

        Bars at the bottom show the fraction of the rows in each bin. Points of bins with fewer than five rows are small
        and pale. Draw several diagrams on the same axes to compare them.
        """
        ax = one_axes(ax, figsize=(6.6, 4.4))
        earlier = sum(line.get_gid() == "reliability" for line in ax.lines)
        if earlier == 0:
            heights, widths = self.count / self.count.sum(), self.high - self.low
            ax.bar(self.low, heights, widths, align="edge", color=PALE, label="share of the rows", zorder=0)
            ax.plot([0, 1], [0, 1], color=GREY, linewidth=1.0, linestyle="--", label="perfect", zorder=1)
            ax.set(xlim=(0, 1), ylim=(0, 1), xlabel="predicted probability")
            ax.set_ylabel("observed frequency")
            ax.set_aspect("equal")
        known = "most probable class" if self.label is None else f"class {write_label(self.label)}"
        words = f"{known if name is None else escape_text(name)}\n(calibration error {self.ece:.3f})"
        joined: dict[str, Any] = {"gid": "reliability", "linewidth": 0.8, "markersize": 5, "label": words}
        pale: dict[str, Any] = {"gid": "few rows", "linestyle": "none", "markersize": 3, "alpha": 0.4}
        style = class_style(earlier)
        for bins, look in ((~self.few, joined), (self.few, pale)):
            p, observed = self.predicted[bins], self.observed[bins]
            line = ax.plot(p, observed, zorder=3, **look, **style)[0]
            if len(p):  # the layout makes room for an empty line that is not clipped
                line.set_clip_on(False)  # frequencies of 0 and 1 are common
                alpha = 0.5 * look.get("alpha", 1.0)
                ax.vlines(p, *self.interval[bins].T, color=style["color"], linewidth=1.0, alpha=alpha, zorder=2)
        legend_beside(ax)
        return ax


@described
@dataclass(frozen=True, eq=False)
class RiskCurve(Summary):
    """A risk-coverage curve: the error among the rows that a classifier answers, for B thresholds of confidence.

    Attributes
    ----------
    confidence : array of shape (B,)
        The thresholds, descending: a row is answered if its largest class probability is at least the threshold.
    answered : array of shape (B,)
        The fraction of the rows that are answered at each threshold (the coverage).
    risk : array of shape (B,)
        The fraction of the answered rows whose predicted class is wrong.
    area : float
        The area under the curve: the mean risk if the rows are answered one after the other, the most confident first.

    Examples
    --------
    >>> P = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.5, 0.5]])
    >>> curve = RiskCurve.from_predictions([0, 1, 1, 0], P)
    >>> curve.answered.tolist(), curve.risk.round(2).tolist()
    ([0.25, 0.5, 0.75, 1.0], [0.0, 0.0, 0.33, 0.25])
    >>> curve.confidence_for(0.0)
    0.8
    >>> curve.plot().get_xlabel()
    'part of the rows that is answered'
    """

    confidence: Array
    answered: Array
    risk: Array
    area: float

    @classmethod
    def from_predictions(cls, y_true: Any, P: Any, classes: Any = None) -> RiskCurve:
        """Compute the error among the rows whose largest probability is at least a threshold, for all thresholds."""
        c, P, _ = check_predicted(y_true, P, classes)
        top, wrong = P.max(axis=1), P.argmax(axis=1) != c
        confidence, place = np.unique(-top, return_inverse=True)
        answered, mistakes = np.cumsum(np.bincount(place)), np.cumsum(np.bincount(place, wrong))
        # Rows of the same confidence are answered together: in the area they count as if their errors were even.
        steps = np.arange(1, len(c) + 1)
        area = float(np.interp(steps, np.append(0, answered), np.append(0, mistakes)) @ (1 / steps) / len(c))
        return cls(-confidence, answered / len(c), mistakes / answered, area)

    def confidence_for(self, risk: float) -> float:
        """Return the smallest threshold at which at most a fraction ``risk`` of the answered rows are wrong.

        If no threshold is high enough, the result is above 1, so that no row is answered.
        """
        check_number("risk", risk, float, 0.0, 1.0)
        enough = np.flatnonzero(self.risk <= risk)
        return float(self.confidence[enough[-1]]) if len(enough) else float(np.nextafter(1.0, 2.0))

    def plot(self, *, name: str = "rows", ax: Any = None) -> Any:
        """Draw the error among the answered rows over the fraction of rows that are answered; return the axes.

        The most confident rows are answered first, so the curve is low on the left if the confidence is informative. To
        compare classifiers, draw several curves on the same axes.
        """
        ax = one_axes(ax, figsize=(6.6, 4.0))
        colour = class_style(sum(line.get_gid() == "risk" for line in ax.lines))["color"]
        x, y = np.append(0, self.answered), np.append(0, self.risk)
        words = f"{escape_text(name)}\n(mean risk {self.area:.3f})"
        ax.plot(x, y, color=colour, linewidth=1.6, label=words, gid="risk")
        ax.plot(x[-1:], y[-1:], "o", color=colour, markersize=5, clip_on=False)
        ax.set(xlim=(0, 1), xlabel="part of the rows that is answered", ylabel="part of the answers that is wrong")
        ax.set_ylim(bottom=0)
        legend_beside(ax)
        return ax
