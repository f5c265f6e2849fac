"""Calibration of probabilities, and risk curves of classifiers that answer only where they are sure.

Of the rows that are predicted with 80 %, 80 % should be right. A risk curve gives the error for every fraction of the
rows that is answered, the surest first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._util.arrays import AnyArray, Array, Mask
from .._util.params import check_choice, check_number
from ..tables.labels import known_label_numbers
from .class_table import wilson
from .confusion import check_predicted
from .drawing import GREY, PALE, Display, class_style, documented, legend_beside, one_axes, plain, short


@dataclass(frozen=True, eq=False)
class Reliability:
    """Rows in B bins of their probability, without the bins that are empty.

    Attributes
    ----------
    low : array of shape (B,)
        The lower ends of the bins.
    high : array of shape (B,)
        The upper ends of the bins.
    count : int array of shape (B,)
        The number of rows of each.
    predicted : array of shape (B,)
        Their mean probability.
    observed : array of shape (B,)
        The fraction of them that was right, or of the class in question.
    interval : array of shape (B, 2)
        The Wilson interval of ``observed``.
    ece : float
        The expected calibration error, the mean of abs(observed − predicted) over the rows.
    label : label or None
        The class in question; None if it is the most probable class of every row.

    Examples
    --------
    >>> table = reliability_table([0, 1], np.array([[1.0, 0.0], [0.2, 0.8]]), [0, 1])
    >>> table.count.tolist(), round(table.ece, 3)
    ([1, 1], 0.1)
    """

    low: Array
    high: Array
    count: AnyArray
    predicted: Array
    observed: Array
    interval: Array
    ece: float
    label: Any = None

    @property
    def few(self) -> Mask:
        """The bins with fewer than five rows (B,), whose frequency says next to nothing; pictures show them pale."""
        return self.count < 5


@documented
def reliability_table(
    y_true: Any,
    P: Any,
    classes: Any = None,
    *,
    label: Any = None,
    bins: int = 15,
    strategy: str = "uniform",
    confidence: float = 0.95,
) -> Reliability:
    """Compare probabilities with frequencies, in bins of probability.

    Returns
    -------
    Reliability
        The bins.

    Examples
    --------
    >>> P = np.array([[0.9, 0.1], [0.9, 0.1], [0.6, 0.4], [0.4, 0.6]])
    >>> found = reliability_table([0, 0, 1, 1], P, bins=5)
    >>> found.count.tolist(), found.predicted.tolist(), found.observed.tolist()
    ([2, 2], [0.6, 0.9], [0.5, 1.0])
    >>> round(found.ece, 3)
    0.1
    """
    c, P, known = check_predicted(y_true, P, classes)
    check_number("bins", bins, int, 1)
    check_choice("strategy", strategy, ("uniform", "quantile"))
    if label is None:
        best = P.argmax(axis=1)
        p, hit = P[np.arange(len(c)), best], best == c
    else:
        k = known_label_numbers(np.asarray([label]), known, "label")[0]
        p, hit = P[:, k], c == k
    return binned(p, hit, bin_edges(p, bins, strategy), confidence, label)


def bin_edges(p: Array, bins: int, strategy: str) -> Array:
    """Return the ends of the bins, ascending and all different, (B + 1,)."""
    if strategy == "uniform":
        return np.linspace(0.0, 1.0, bins + 1)
    inner = np.quantile(p, np.linspace(0.0, 1.0, bins + 1)[1:-1])
    return np.unique(np.concatenate([[0.0], inner, [1.0]]))


def binned(p: Array, hit: AnyArray, edges: Array, confidence: float, label: Any) -> Reliability:
    """Return the bins that have rows; a row on an edge belongs to the bin below, as in the literature."""
    place = np.clip(np.searchsorted(edges, p, side="left") - 1, 0, len(edges) - 2)
    count, right = np.bincount(place, minlength=len(edges) - 1), np.bincount(place, hit, minlength=len(edges) - 1)
    total = np.bincount(place, p, minlength=len(edges) - 1)
    full = np.flatnonzero(count)
    count, right, predicted = count[full], right[full], total[full] / count[full]
    observed = right / count
    ece = float((count * np.abs(observed - predicted)).sum() / count.sum())
    interval = wilson(right, count, confidence)
    return Reliability(edges[full], edges[full + 1], count, predicted, observed, interval, ece, label)


@documented
def class_calibration_errors(y_true: Any, P: Any, classes: Any = None, *, bins: int = 15) -> Array:
    """Return the expected calibration error of every class: its probability against how often it is true.

    Returns
    -------
    array of shape (K,)
        The errors.

    Examples
    --------
    >>> class_calibration_errors([0, 1], [[1.0, 0.0], [0.2, 0.8]]).round(3).tolist()
    [0.1, 0.1]
    """
    c, P, known = check_predicted(y_true, P, classes)
    check_number("bins", bins, int, 1)
    edges = bin_edges(P, bins, "uniform")
    return np.array([binned(P[:, k], c == k, edges, 0.95, None).ece for k in range(len(known))])


@dataclass(frozen=True, eq=False)
class RiskCurve:
    """The error among the rows that are answered, for B thresholds of confidence.

    Attributes
    ----------
    confidence : array of shape (B,)
        The smallest probability of the best class with which a row is answered, descending.
    answered : array of shape (B,)
        The fraction of the rows that have an answer.
    risk : array of shape (B,)
        The fraction of these answers that are wrong.
    area : float
        The area under the curve: the mean risk if one more row is answered at a time.

    Examples
    --------
    >>> P = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.5, 0.5]])
    >>> curve = risk_curve([0, 1, 1, 0], P, [0, 1])
    >>> curve.answered.tolist(), curve.risk.round(2).tolist()
    ([0.25, 0.5, 0.75, 1.0], [0.0, 0.0, 0.33, 0.25])
    """

    confidence: Array
    answered: Array
    risk: Array
    area: float

    def confidence_for(self, risk: float) -> float:
        """Return the smallest confidence with which at most this fraction of the answers were wrong on these rows.

        It is above 1, so that no row is answered, if no confidence is enough.
        """
        check_number("risk", risk, float, 0.0, 1.0)
        enough = np.flatnonzero(self.risk <= risk)
        return float(self.confidence[enough[-1]]) if len(enough) else float(np.nextafter(1.0, 2.0))


@documented
def risk_curve(y_true: Any, P: Any, classes: Any = None) -> RiskCurve:
    """Return the risk of answering only where the best class has at least some probability, for all such probabilities.

    Returns
    -------
    RiskCurve
        The curve.

    Examples
    --------
    >>> P = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.5, 0.5]])
    >>> risk_curve([0, 1, 1, 0], P).confidence_for(0.0)
    0.8
    """
    c, P, _ = check_predicted(y_true, P, classes)
    top, wrong = P.max(axis=1), P.argmax(axis=1) != c
    confidence, place = np.unique(-top, return_inverse=True)
    count, errors = np.bincount(place), np.bincount(place, wrong)
    answered, mistakes = np.cumsum(count), np.cumsum(errors)
    # Rows of the same confidence are answered together: in the area they count as if the errors among them were even.
    steps = np.arange(1, len(c) + 1)
    area = float(np.interp(steps, np.append(0, answered), np.append(0, mistakes)) @ (1 / steps) / len(c))
    return RiskCurve(-confidence, answered / len(c), mistakes / answered, area)


@documented
class ReliabilityDisplay(Display):
    """Displays probabilities beside frequencies: points on the diagonal are probabilities that can be believed.

    Bars at the bottom show the fraction of the rows in each bin. Bins of fewer than five rows are small, pale and not
    joined with the others. Draw several on the same axes to compare classifiers or classes.

    Parameters
    ----------
    table : Reliability
        The numbers, from `reliability_table`.

    Examples
    --------
    >>> from simplexboost.evaluate import ReliabilityDisplay
    >>> display = ReliabilityDisplay.from_predictions([0, 1, 1], [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]], bins=5)
    >>> round(display.table.ece, 3)
    0.3
    """

    def __init__(self, table: Reliability, name: str | None = None) -> None:
        self.table, self.name = table, name

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
        """Count and draw."""
        table = reliability_table(y_true, P, classes, label=label, bins=bins, strategy=strategy)
        return cls(table, name).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> ReliabilityDisplay:
        """Draw the display again."""
        ax, table = one_axes(ax, figsize=(6.6, 4.4)), self.table
        self.ax_, self.figure_ = ax, ax.figure
        earlier = sum(line.get_gid() == "reliability" for line in ax.lines)
        if earlier == 0:
            heights, widths = table.count / table.count.sum(), table.high - table.low
            ax.bar(table.low, heights, widths, align="edge", color=PALE, label="share of the rows", zorder=0)
            ax.plot([0, 1], [0, 1], color=GREY, linewidth=1.0, linestyle="--", label="perfect", zorder=1)
            ax.set(xlim=(0, 1), ylim=(0, 1), xlabel="predicted probability")
            ax.set_ylabel("observed frequency")
            ax.set_aspect("equal")
        known = "most probable class" if table.label is None else f"class {short(table.label)}"
        words = f"{known if self.name is None else plain(self.name)}\n(calibration error {table.ece:.3f})"
        joined: dict[str, Any] = {"gid": "reliability", "linewidth": 0.8, "markersize": 5, "label": words}
        pale: dict[str, Any] = {"gid": "few rows", "linestyle": "none", "markersize": 3, "alpha": 0.4}
        style = class_style(earlier)
        for bins, look in ((~table.few, joined), (table.few, pale)):
            p, observed = table.predicted[bins], table.observed[bins]
            line = ax.plot(p, observed, zorder=3, **look, **style)[0]
            if len(p):  # the layout makes room for an empty line that is not clipped
                line.set_clip_on(False)  # frequencies of 0 and 1 are common
                alpha = 0.5 * look.get("alpha", 1.0)
                ax.vlines(p, *table.interval[bins].T, color=style["color"], linewidth=1.0, alpha=alpha, zorder=2)
        legend_beside(ax)
        return self


@documented
class RiskCurveDisplay(Display):
    """Displays the fraction of wrong answers against the fraction of rows that are answered, the surest ones first.

    A curve that is low on the left belongs to a classifier that knows what it does not know. Draw several on the same
    axes to compare classifiers.

    Parameters
    ----------
    curve : RiskCurve
        The numbers, from `risk_curve`.

    Examples
    --------
    >>> from simplexboost.evaluate import RiskCurveDisplay
    >>> display = RiskCurveDisplay.from_predictions([0, 1, 1], [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]])
    >>> round(display.curve.area, 3)
    0.111
    """

    def __init__(self, curve: RiskCurve, name: str | None = None) -> None:
        self.curve, self.name = curve, name

    @staticmethod
    def _predict(estimator: Any, X: Any) -> dict[str, Any]:
        return {**Display._predict(estimator, X), "name": type(estimator).__name__}

    @classmethod
    def from_predictions(
        cls, y_true: Any, P: Any, *, classes: Any = None, name: str | None = None, ax: Any = None
    ) -> RiskCurveDisplay:
        """Count and draw."""
        return cls(risk_curve(y_true, P, classes), name).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> RiskCurveDisplay:
        """Draw the display again."""
        ax = one_axes(ax, figsize=(6.6, 4.0))
        self.ax_, self.figure_ = ax, ax.figure
        earlier = sum(line.get_gid() == "risk" for line in ax.lines)
        colour = class_style(earlier)["color"]
        words = f"{'rows' if self.name is None else plain(self.name)}\n(mean risk {self.curve.area:.3f})"
        x, y = np.append(0, self.curve.answered), np.append(0, self.curve.risk)
        ax.plot(x, y, color=colour, linewidth=1.6, label=words, gid="risk")
        ax.plot(x[-1:], y[-1:], "o", color=colour, markersize=5, clip_on=False)
        ax.set(xlim=(0, 1), xlabel="part of the rows that is answered", ylabel="part of the answers that is wrong")
        ax.set_ylim(bottom=0)
        legend_beside(ax)
        return self
