"""Risk curves: how many errors remain if a classifier answers only where it is sure."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..inspection.risks import RiskCurve, risk_curve
from ._axes import one_axes
from ._models import probabilities_of
from ._style import class_style, legend_beside, plain


class RiskCurveDisplay:
    """The part of wrong answers against the part of rows that are answered, the surest ones first.

    A curve that is low on the left belongs to a classifier that knows what it does not know. Draw several on the same
    axes to compare classifiers.

    Make one with `from_estimator` or `from_predictions`.

    Parameters
    ----------
    curve : RiskCurve
        The numbers, from `simplexboost.inspection.risk_curve`.
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
    >>> from simplexboost.inspection import risk_curve
    >>> from simplexboost.plotting import RiskCurveDisplay
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
        >>> from simplexboost.plotting import RiskCurveDisplay
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
        >>> from simplexboost.plotting import RiskCurveDisplay
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
