"""Calibration of probabilities, and risk curves of classifiers that answer only where they are sure.

Of the rows that are predicted with 80 %, 80 % should be right. A risk curve gives the error for every share of rows
answered, the surest first.
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

FEW_ROWS = 5
STRATEGIES = ("uniform", "quantile")


@dataclass(frozen=True, eq=False)
class Reliability:
    """Rows in bins of their probability; arrays (B,) over the bins that have rows.

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
        The part of them that was right, or of the class that was asked for.
    interval : array of shape (B, 2)
        The Wilson interval of ``observed``.
    ece : float
        The expected calibration error, the mean of abs(observed − predicted) over the rows.
    label : label or None
        The class that was asked for; None if it is the most probable class of every row.

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
        return self.count < FEW_ROWS


def reliability_table(
    y_true: Any,
    P: Any,
    classes: Any,
    *,
    label: Any = None,
    bins: int = 15,
    strategy: str = "uniform",
    confidence: float = 0.95,
) -> Reliability:
    """Probabilities beside frequencies, in bins.

    Parameters
    ----------
    y_true : array of shape (n,)
        The true labels.
    P : array of shape (n, K)
        The probabilities.
    classes : array of shape (K,)
        The labels of the columns of P.
    label : label or None, default=None
        One class, whose probability is compared with how often it is true; None takes the most probable class of
        every row.
    bins : int, default=15
        The number of bins.
    strategy : {"uniform", "quantile"}, default="uniform"
        Whether bins have the same width or the same number of rows.
    confidence : float, default=0.95
        The part of such intervals that hold the true value, between 0 and 1.

    Returns
    -------
    Reliability
        The bins.

    Examples
    --------
    >>> P = np.array([[0.9, 0.1], [0.9, 0.1], [0.6, 0.4], [0.4, 0.6]])
    >>> found = reliability_table([0, 0, 1, 1], P, [0, 1], bins=5)
    >>> found.count.tolist(), found.predicted.tolist(), found.observed.tolist()
    ([2, 2], [0.6, 0.9], [0.5, 1.0])
    >>> round(found.ece, 3)
    0.1
    """
    c, P, known = check_predicted(y_true, P, classes)
    check_number("bins", bins, int, 1)
    check_choice("strategy", strategy, STRATEGIES)
    if label is None:
        best = P.argmax(axis=1)
        p, hit = P[np.arange(len(c)), best], best == c
    else:
        k = known_label_numbers(np.asarray([label]), known, "label")[0]
        p, hit = P[:, k], c == k
    return binned(p, hit, bin_edges(p, bins, strategy), confidence, label)


def bin_edges(p: Array, bins: int, strategy: str) -> Array:
    """The ends of the bins, ascending and all different, (B + 1,)."""
    if strategy == "uniform":
        return np.linspace(0.0, 1.0, bins + 1)
    inner = np.quantile(p, np.linspace(0.0, 1.0, bins + 1)[1:-1])
    return np.unique(np.concatenate([[0.0], inner, [1.0]]))


def binned(p: Array, hit: AnyArray, edges: Array, confidence: float, label: Any) -> Reliability:
    """The bins that have rows; a row on an edge belongs to the bin below, as in the literature."""
    place = np.clip(np.searchsorted(edges, p, side="left") - 1, 0, len(edges) - 2)
    count, right = np.bincount(place, minlength=len(edges) - 1), np.bincount(place, hit, minlength=len(edges) - 1)
    total = np.bincount(place, p, minlength=len(edges) - 1)
    full = np.flatnonzero(count)
    count, right, predicted = count[full], right[full], total[full] / count[full]
    observed = right / count
    ece = float((count * np.abs(observed - predicted)).sum() / count.sum())
    interval = wilson(right, count, confidence)
    return Reliability(edges[full], edges[full + 1], count, predicted, observed, interval, ece, label)


def class_calibration_errors(y_true: Any, P: Any, classes: Any, *, bins: int = 15) -> Array:
    """The expected calibration error of every class, (K,): its probability against how often it is true.

    Parameters
    ----------
    y_true : array of shape (n,)
        The true labels.
    P : array of shape (n, K)
        The probabilities.
    classes : array of shape (K,)
        The labels of the columns of P.
    bins : int, default=15
        The number of bins.

    Returns
    -------
    array of shape (K,)
        The errors.

    Examples
    --------
    >>> class_calibration_errors([0, 1], [[1.0, 0.0], [0.2, 0.8]], [0, 1]).round(3).tolist()
    [0.1, 0.1]
    """
    c, P, known = check_predicted(y_true, P, classes)
    check_number("bins", bins, int, 1)
    edges = bin_edges(P, bins, "uniform")
    return np.array([binned(P[:, k], c == k, edges, 0.95, None).ece for k in range(len(known))])


@dataclass(frozen=True, eq=False)
class RiskCurve:
    """The error among the rows that are answered, for every confidence that asks for one; arrays (B,).

    Attributes
    ----------
    confidence : array of shape (B,)
        The smallest probability of the best class with which a row is answered, descending.
    answered : array of shape (B,)
        The part of the rows that have an answer.
    risk : array of shape (B,)
        The part of these answers that are wrong.
    area : float
        The mean risk over all parts of rows answered, one row more at a time: the area under the curve.

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
        """The smallest confidence with which at most this part of the answers were wrong on these rows.

        Parameters
        ----------
        risk : float
            The part of the answers that may be wrong, from 0 to 1.

        Returns
        -------
        float
            The confidence; above 1, so that no row is answered, if no confidence is enough.
        """
        check_number("risk", risk, float, 0.0, 1.0)
        enough = np.flatnonzero(self.risk <= risk)
        return float(self.confidence[enough[-1]]) if len(enough) else float(np.nextafter(1.0, 2.0))


def risk_curve(y_true: Any, P: Any, classes: Any) -> RiskCurve:
    """The risk of answering only where the best class has at least some probability, for all such probabilities.

    Parameters
    ----------
    y_true : array of shape (n,)
        The true labels.
    P : array of shape (n, K)
        The probabilities.
    classes : array of shape (K,)
        The labels of the columns of P.

    Returns
    -------
    RiskCurve
        The curve.

    Examples
    --------
    >>> P = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.5, 0.5]])
    >>> risk_curve([0, 1, 1, 0], P, [0, 1]).confidence_for(0.0)
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
