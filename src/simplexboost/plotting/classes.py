"""Precision and recall of every class, the worst first."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._parts import check_choice, check_number
from .._typing import Array, Labels
from ..inspection.classes import ClassTable, class_table
from ._axes import one_axes
from ._style import GREY, PALE, PALETTE, class_ticks, label_points, legend_beside, rows_high
from .confusion import with_unseen

KINDS = ("rows", "scatter")
MOST = 30  # classes in one picture


class ClassScoresDisplay:
    """Precision and recall of the classes, with intervals.

    ``kind="rows"`` has a row for every class, from the worst F1 on. ``kind="scatter"`` has a point for every class,
    however many there are, and names the worst.

    Make one with `from_estimator` or `from_predictions`.

    Parameters
    ----------
    table : ClassTable
        The numbers, from `simplexboost.inspection.class_table`.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes that were drawn on.
    figure_ : matplotlib Figure
        The figure that was drawn on.

    Examples
    --------
    >>> from simplexboost.inspection import class_table
    >>> from simplexboost.plotting import ClassScoresDisplay
    >>> display = ClassScoresDisplay(class_table([0, 0, 1], [0, 1, 1])).plot(kind="scatter")
    >>> display.ax_.get_xlabel()
    'recall'
    """

    def __init__(self, table: ClassTable) -> None:
        self.table = table

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, kind: str = "rows", most: int = MOST, ax: Any = None
    ) -> ClassScoresDisplay:
        """Predict, count and draw.

        Parameters
        ----------
        estimator : fitted classifier
            The classifier, of this package or of another.
        X : array, data frame or sparse matrix of shape (n, p)
            The rows, with the columns of the fit.
        y : array of shape (n,)
            The labels of the rows.
        kind : {"rows", "scatter"}, default="rows"
            A row for every class, or a point for every class.
        most : int, default=MOST
            The largest number of classes with a row, or with a name.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        ClassScoresDisplay
            The display, drawn.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from simplexboost import SimplexBoostClassifier
        >>> from simplexboost.plotting import ClassScoresDisplay
        >>> X, y = load_iris(return_X_y=True)
        >>> clf = SimplexBoostClassifier(n_estimators=5, random_state=0).fit(X[::2], y[::2])
        >>> display = ClassScoresDisplay.from_estimator(clf, X[1::2], y[1::2])
        >>> display.ax_.get_xlabel()
        'precision and recall, with 95 % intervals'
        """
        check_is_fitted(estimator)
        return cls.from_predictions(y, estimator.predict(X), classes=estimator.classes_, kind=kind, most=most, ax=ax)

    @classmethod
    def from_predictions(
        cls, y_true: Any, y_pred: Any, *, classes: Any = None, kind: str = "rows", most: int = MOST, ax: Any = None
    ) -> ClassScoresDisplay:
        """Count and draw.

        Parameters
        ----------
        y_true : array of shape (n,)
            The true labels.
        y_pred : array of shape (n,)
            The predicted labels.
        classes : array of shape (K,) or None, default=None
            All labels; None takes those that occur, sorted.
        kind : {"rows", "scatter"}, default="rows"
            A row for every class, or a point for every class.
        most : int, default=MOST
            The largest number of classes with a row, or with a name.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        ClassScoresDisplay
            The display, drawn.

        Examples
        --------
        >>> from simplexboost.plotting import ClassScoresDisplay
        >>> display = ClassScoresDisplay.from_predictions([0, 0, 1], [0, 1, 1], kind="scatter")
        >>> display.ax_.get_xlabel(), display.ax_.get_ylabel()
        ('recall', 'precision')
        """
        return cls(class_table(y_true, y_pred, with_unseen(y_true, classes))).plot(kind=kind, most=most, ax=ax)

    def plot(self, *, kind: str = "rows", most: int = MOST, ax: Any = None) -> ClassScoresDisplay:
        """Draw on ``ax``, or on a new figure.

        Parameters
        ----------
        kind : {"rows", "scatter"}, default="rows"
            A row for every class, or a point for every class.
        most : int, default=MOST
            The largest number of classes with a row, or with a name.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        ClassScoresDisplay
            The display itself.
        """
        check_choice("kind", kind, KINDS)
        check_number("most", most, int, 1)
        worst = worst_first(self.table)
        shown = worst[:most]
        if kind == "rows":
            ax = one_axes(ax, figsize=(7.2, rows_high(len(shown))))
            draw_rows(ax, self.table, shown)
        else:
            ax = one_axes(ax, figsize=(6.4, 5.2))
            draw_scatter(ax, self.table, worst, most)
        K = len(worst)
        ax.set_title(f"the {len(shown)} worst of {K} classes" if kind == "rows" and len(shown) < K else f"{K} classes")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def worst_first(table: ClassTable) -> Labels:
    """The numbers of the classes that occur, by F1."""
    order = np.argsort(table.f1, kind="stable")
    return order[~np.isnan(table.f1[order])]


def draw_rows(ax: Any, table: ClassTable, shown: Labels) -> None:
    """A row for each class: precision above, recall below, with intervals."""
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
    """A point for each class, its area the number of rows; the worst have names."""
    points = np.column_stack([table.recall, table.precision])
    points = np.where(np.isnan(points), 0.0, points)  # never predicted, or without rows: nothing was right
    low = float(points[worst].min())
    ax.scatter(*points[worst].T, s=areas(table.support[worst]), color=PALETTE[0], alpha=0.5, linewidths=0)
    ax.plot([0, 1], [0, 1], color=PALE, linewidth=0.8, zorder=0)
    room = 0.06 * (1 - low) + 1e-3
    ends = (low - room, 1 + room)
    ax.set(xlabel="recall", ylabel="precision", xlim=ends, ylim=ends)
    for which in (ax.xaxis, ax.yaxis):
        which.set_ticks([tick for tick in which.get_majorticklocs() if ends[0] <= tick <= 1 + 1e-9])
    label_points(ax, points[worst[:most]], table.classes[worst[:most]].tolist(), color=GREY)


def areas(support: Any) -> Array:
    """The areas of the points."""
    return 12.0 + 60.0 * np.asarray(support) / max(float(np.max(support)), 1.0)
