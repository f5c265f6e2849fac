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
from .confusion import check_predicted
from .drawing import (
    GREY,
    PALE,
    Summary,
    class_style,
    complete_docstring,
    escape_text,
    legend_beside,
    one_axes,
    write_label,
)
from .score_tables import wilson


@complete_docstring
@dataclass(frozen=True, eq=False)
class Reliability(Summary):
    """Rows in B bins of their probability, without the bins that are empty, and their picture.

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
        """Compare probabilities with frequencies, in bins of probability.

        Parameters
        ----------
        label : label or None, default=None
            One class, whose probability is compared with how often it is true; None takes the most probable class of
            every row.
        bins : int, default=15
            The number of bins.
        strategy : {"uniform", "quantile"}, default="uniform"
            Whether bins have the same width or the same number of rows.
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
        """The bins with fewer than five rows (B,), whose frequency says next to nothing; pictures show them pale."""
        return self.count < 5

    def plot(self, *, name: str | None = None, ax: Any = None) -> Any:
        """Draw frequencies over probabilities: points on the diagonal can be believed; return the axes.

        Bars at the bottom show the fraction of the rows in each bin. Bins of fewer than five rows are small, pale and
        not joined with the others. Draw several on the same axes to compare classifiers or classes.
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


@complete_docstring
@dataclass(frozen=True, eq=False)
class RiskCurve(Summary):
    """The error among the rows that are answered, for B thresholds of confidence, and its picture.

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
        """Count the errors among the rows whose best class has at least some probability, for all probabilities."""
        c, P, _ = check_predicted(y_true, P, classes)
        top, wrong = P.max(axis=1), P.argmax(axis=1) != c
        confidence, place = np.unique(-top, return_inverse=True)
        answered, mistakes = np.cumsum(np.bincount(place)), np.cumsum(np.bincount(place, wrong))
        # Rows of the same confidence are answered together: in the area they count as if their errors were even.
        steps = np.arange(1, len(c) + 1)
        area = float(np.interp(steps, np.append(0, answered), np.append(0, mistakes)) @ (1 / steps) / len(c))
        return cls(-confidence, answered / len(c), mistakes / answered, area)

    def confidence_for(self, risk: float) -> float:
        """Return the smallest confidence with which at most this fraction of the answers were wrong on these rows.

        It is above 1, so that no row is answered, if no confidence is enough.
        """
        check_number("risk", risk, float, 0.0, 1.0)
        enough = np.flatnonzero(self.risk <= risk)
        return float(self.confidence[enough[-1]]) if len(enough) else float(np.nextafter(1.0, 2.0))

    def plot(self, *, name: str = "rows", ax: Any = None) -> Any:
        """Draw the fraction of wrong answers over the fraction of rows answered, the surest first; return the axes.

        A curve that is low on the left belongs to a classifier that knows what it does not know. Draw several on the
        same axes to compare classifiers.
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
