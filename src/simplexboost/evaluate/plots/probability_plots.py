"""Plots of probabilities: reliability diagrams and risk curves."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..reliability import Reliability, RiskCurve, reliability_table, risk_curve
from .style import GREY, PALE, class_style, legend_beside, one_axes, plain, probabilities_of, short


class ReliabilityDisplay:
    """Probabilities beside frequencies: points on the diagonal are probabilities that can be believed.

    Bars at the bottom show which part of the rows each bin has. Bins of fewer than five rows are small, pale and not
    joined with the others. Draw several on the same axes to compare classifiers or classes.

    Make one with `from_estimator` or `from_predictions`.

    Parameters
    ----------
    table : Reliability
        The numbers, from `simplexboost.evaluate.reliability_table`.
    name : str or None
        What the legend calls it.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes that were drawn on.
    figure_ : matplotlib Figure
        The figure that was drawn on.

    Examples
    --------
    >>> import numpy as np
    >>> from simplexboost.evaluate import reliability_table
    >>> from simplexboost.evaluate.plots import ReliabilityDisplay
    >>> P = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]])
    >>> display = ReliabilityDisplay(reliability_table([0, 1, 1], P, [0, 1], bins=5), "mine").plot()
    >>> display.ax_.get_ylabel()
    'observed frequency'
    """

    def __init__(self, table: Reliability, name: str | None = None) -> None:
        self.table, self.name = table, name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        label: Any = None,
        bins: int = 15,
        strategy: str = "uniform",
        name: str | None = None,
        ax: Any = None,
    ) -> ReliabilityDisplay:
        """Predict probabilities, count and draw.

        Parameters
        ----------
        estimator : fitted classifier
            A classifier with ``predict_proba``, of this package or of another.
        X : array, data frame or sparse matrix of shape (n, p)
            The rows, with the columns of the fit.
        y : array of shape (n,)
            The labels of the rows.
        label : label or None, default=None
            One class, whose probability is compared with how often it is true; None takes the most probable class
            of every row.
        bins : int, default=15
            The number of bins.
        strategy : {"uniform", "quantile"}, default="uniform"
            Whether bins have the same width or the same number of rows.
        name : str or None, default=None
            What the legend calls it; None takes the label, or "most probable class".
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        ReliabilityDisplay
            The display, drawn.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from simplexboost import SimplexBoostClassifier
        >>> from simplexboost.evaluate.plots import ReliabilityDisplay
        >>> X, y = load_iris(return_X_y=True)
        >>> clf = SimplexBoostClassifier(n_estimators=5, random_state=0).fit(X[::2], y[::2])
        >>> display = ReliabilityDisplay.from_estimator(clf, X[1::2], y[1::2], bins=5)
        >>> display.ax_.get_ylabel()
        'observed frequency'
        """
        P = probabilities_of(estimator, X, "a reliability diagram")
        options = {"classes": estimator.classes_, "label": label, "bins": bins, "strategy": strategy}
        return cls.from_predictions(y, P, **options, name=name, ax=ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        P: Any,
        *,
        classes: Any = None,
        label: Any = None,
        bins: int = 15,
        strategy: str = "uniform",
        name: str | None = None,
        ax: Any = None,
    ) -> ReliabilityDisplay:
        """Count and draw.

        Parameters
        ----------
        y_true : array of shape (n,)
            The true labels.
        P : array of shape (n, K)
            The probabilities.
        classes : array of shape (K,) or None, default=None
            The labels of the columns of P; None takes the labels that occur, sorted.
        label : label or None, default=None
            One class, whose probability is compared with how often it is true; None takes the most probable class
            of every row.
        bins : int, default=15
            The number of bins.
        strategy : {"uniform", "quantile"}, default="uniform"
            Whether bins have the same width or the same number of rows.
        name : str or None, default=None
            What the legend calls it.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        ReliabilityDisplay
            The display, drawn.

        Examples
        --------
        >>> from simplexboost.evaluate.plots import ReliabilityDisplay
        >>> display = ReliabilityDisplay.from_predictions([0, 1, 1], [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]], bins=5)
        >>> round(display.table.ece, 3)
        0.3
        """
        known = np.unique(np.asarray(y_true)) if classes is None else np.asarray(classes)
        table = reliability_table(y_true, P, known, label=label, bins=bins, strategy=strategy)
        return cls(table, name).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> ReliabilityDisplay:
        """Draw on ``ax``, or on a new figure.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        ReliabilityDisplay
            The display itself.
        """
        ax = one_axes(ax, figsize=(6.6, 4.4))
        earlier = sum(line.get_gid() == "reliability" for line in ax.lines)
        self.ax_, self.figure_ = ax, ax.figure
        if earlier == 0:
            draw_frame(ax, self.table)
        draw_points(ax, self.table, self.words, earlier)
        legend_beside(ax)
        return self

    @property
    def words(self) -> str:
        """What the legend says."""
        known = "most probable class" if self.table.label is None else f"class {short(self.table.label)}"
        name = known if self.name is None else plain(self.name)
        return f"{name}\n(calibration error {self.table.ece:.3f})"


def draw_frame(ax: Any, table: Reliability) -> None:
    """The diagonal, and bars with the shares of the rows."""
    share = table.count / table.count.sum()
    ax.bar(table.low, share, table.high - table.low, align="edge", color=PALE, label="share of the rows", zorder=0)
    ax.plot([0, 1], [0, 1], color=GREY, linewidth=1.0, linestyle="--", label="perfect", zorder=1)
    ax.set(xlim=(0, 1), ylim=(0, 1), xlabel="predicted probability")
    ax.set_ylabel("observed frequency")
    ax.set_aspect("equal")


def draw_points(ax: Any, table: Reliability, words: str, number: int) -> None:
    """The bins with their intervals, joined; those of a few rows are small, pale and not joined."""
    joined: dict[str, Any] = {"gid": "reliability", "linewidth": 0.8, "markersize": 5, "label": words}
    pale: dict[str, Any] = {"gid": "few rows", "linestyle": "none", "markersize": 3, "alpha": 0.4}
    style = class_style(number)
    for bins, look in ((~table.few, joined), (table.few, pale)):
        p, observed = table.predicted[bins], table.observed[bins]
        line = ax.plot(p, observed, zorder=3, **look, **style)[0]
        if len(p):  # the layout makes room for an empty line that is not clipped
            line.set_clip_on(False)  # frequencies of 0 and 1 are common
            alpha = 0.5 * look.get("alpha", 1.0)
            ax.vlines(p, *table.interval[bins].T, color=style["color"], linewidth=1.0, alpha=alpha, zorder=2)


class RiskCurveDisplay:
    """The part of wrong answers against the part of rows that are answered, the surest ones first.

    A curve that is low on the left belongs to a classifier that knows what it does not know. Draw several on the same
    axes to compare classifiers.

    Make one with `from_estimator` or `from_predictions`.

    Parameters
    ----------
    curve : RiskCurve
        The numbers, from `simplexboost.evaluate.risk_curve`.
    name : str or None
        What the legend calls it.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes that were drawn on.
    figure_ : matplotlib Figure
        The figure that was drawn on.

    Examples
    --------
    >>> import numpy as np
    >>> from simplexboost.evaluate import risk_curve
    >>> from simplexboost.evaluate.plots import RiskCurveDisplay
    >>> P = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]])
    >>> display = RiskCurveDisplay(risk_curve([0, 1, 1], P, [0, 1]), "mine").plot()
    >>> display.ax_.get_ylabel()
    'part of the answers that is wrong'
    """

    def __init__(self, curve: RiskCurve, name: str | None = None) -> None:
        self.curve, self.name = curve, name

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, name: str | None = None, ax: Any = None
    ) -> RiskCurveDisplay:
        """Predict probabilities, count and draw.

        Parameters
        ----------
        estimator : fitted classifier
            A classifier with ``predict_proba``, of this package or of another.
        X : array, data frame or sparse matrix of shape (n, p)
            The rows, with the columns of the fit.
        y : array of shape (n,)
            The labels of the rows.
        name : str or None, default=None
            What the legend calls it; None takes the name of the class.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        RiskCurveDisplay
            The display, drawn.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from simplexboost import SimplexBoostClassifier
        >>> from simplexboost.evaluate.plots import RiskCurveDisplay
        >>> X, y = load_iris(return_X_y=True)
        >>> clf = SimplexBoostClassifier(n_estimators=5, random_state=0).fit(X[::2], y[::2])
        >>> display = RiskCurveDisplay.from_estimator(clf, X[1::2], y[1::2])
        >>> display.ax_.get_xlabel()
        'part of the rows that is answered'
        """
        P, name = probabilities_of(estimator, X, "a risk curve"), type(estimator).__name__ if name is None else name
        return cls.from_predictions(y, P, classes=estimator.classes_, name=name, ax=ax)

    @classmethod
    def from_predictions(
        cls, y_true: Any, P: Any, *, classes: Any = None, name: str | None = None, ax: Any = None
    ) -> RiskCurveDisplay:
        """Count and draw.

        Parameters
        ----------
        y_true : array of shape (n,)
            The true labels.
        P : array of shape (n, K)
            The probabilities.
        classes : array of shape (K,) or None, default=None
            The labels of the columns of P; None takes the labels that occur, sorted.
        name : str or None, default=None
            What the legend calls it.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        RiskCurveDisplay
            The display, drawn.

        Examples
        --------
        >>> from simplexboost.evaluate.plots import RiskCurveDisplay
        >>> display = RiskCurveDisplay.from_predictions([0, 1, 1], [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]])
        >>> round(display.curve.area, 3)
        0.111
        """
        known = np.unique(np.asarray(y_true)) if classes is None else np.asarray(classes)
        return cls(risk_curve(y_true, P, known), name).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> RiskCurveDisplay:
        """Draw on ``ax``, or on a new figure.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        RiskCurveDisplay
            The display itself.
        """
        ax = one_axes(ax, figsize=(6.6, 4.0))
        earlier = sum(line.get_gid() == "risk" for line in ax.lines)
        self.ax_, self.figure_ = ax, ax.figure
        colour = class_style(earlier)["color"]
        x, y = (np.append(first, part) for first, part in ((0, self.curve.answered), (0, self.curve.risk)))
        line = ax.plot(x, y, color=colour, linewidth=1.6, label=self.words)[0]
        line.set_gid("risk")
        ax.plot(x[-1:], y[-1:], "o", color=colour, markersize=5, clip_on=False)
        ax.set(xlim=(0, 1), xlabel="part of the rows that is answered", ylabel="part of the answers that is wrong")
        ax.set_ylim(bottom=0)
        legend_beside(ax)
        return self

    @property
    def words(self) -> str:
        """What the legend says."""
        name = "rows" if self.name is None else plain(self.name)
        return f"{name}\n(mean risk {self.curve.area:.3f})"
