"""Precision and recall of every class, with Wilson's intervals, which stay sensible for classes of few rows."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from .._util.arrays import AnyArray, Array, Labels
from .._util.params import check_choice, check_number
from .confusion import Confusion, predict_labels
from .drawing import (
    GREY,
    PALE,
    PALETTE,
    Summary,
    class_ticks,
    documented,
    label_points,
    legend_beside,
    one_axes,
    rows_high,
)

MOST = 30  # classes in one picture


@documented
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
        Their harmonic mean, 2 correct / (predicted + support); NaN if both are empty.
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
        """Count the rows of every class."""
        return cls.of_counts(Confusion.from_predictions(y_true, y_pred, classes), confidence)

    @classmethod
    def of_counts(cls, found: Confusion, confidence: float = 0.95) -> ClassTable:
        """Return the scores of the classes from their confusion."""
        correct, support, predicted = np.diag(found.counts), found.support, found.counts.sum(axis=0)
        precision, recall, f1 = (
            np.divide(part, whole, out=np.full(len(part), np.nan), where=whole > 0)
            for part, whole in ((correct, predicted), (correct, support), (2 * correct, support + predicted))
        )
        intervals = wilson(correct, predicted, confidence), wilson(correct, support, confidence)
        return cls(found.classes, support, predicted, correct, precision, recall, f1, *intervals)

    @staticmethod
    def _predict(estimator: Any, X: Any, y: Any) -> dict[str, Any]:
        return predict_labels(estimator, X, y)

    def plot(self, *, kind: str = "rows", most: int = MOST, ax: Any = None) -> Any:
        """Draw precision and recall of the classes with their intervals, the worst F1 first; return the axes.

        Parameters
        ----------
        kind : {"rows", "scatter"}, default="rows"
            A row for every class, or a point for every class, however many there are, with the names of the worst.
        most : int, default=30
            The largest number of classes with a row, or with a name.
        """
        check_choice("kind", kind, ("rows", "scatter"))
        check_number("most", most, int, 1)
        worst = np.argsort(self.f1, kind="stable")
        worst = worst[~np.isnan(self.f1[worst])]
        shown, K = worst[:most], len(worst)
        if kind == "rows":
            ax = one_axes(ax, figsize=(7.2, rows_high(len(shown))))
            draw_rows(ax, self, shown)
        else:
            ax = one_axes(ax, figsize=(6.4, 5.2))
            draw_scatter(ax, self, worst, most)
        ax.set_title(f"the {len(shown)} worst of {K} classes" if kind == "rows" and len(shown) < K else f"{K} classes")
        return ax


@documented
def wilson(successes: Any, trials: Any, confidence: float = 0.95) -> Array:
    """Return Wilson's interval for a probability, from counts.

    Unlike the mean ± 2 standard errors it stays within [0, 1] and is not empty if all trials or none succeed.

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
    """Draw a row for each class: precision above, recall below, with intervals."""
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
    """Draw a point for each class, its area the number of rows, and the names of the worst."""
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
