"""Precision and recall of every class, with Wilson's intervals, which stay sensible for classes of few rows."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from .._util.arrays import AnyArray, Array
from .._util.params import check_number
from .confusion import confusion_table


@dataclass(frozen=True, eq=False)
class ClassTable:
    """How well each class is found; arrays (K,).

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
    >>> class_table([0, 0, 0, 1], [0, 0, 1, 1]).support.tolist()
    [3, 1]
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


def class_table(y_true: Any, y_pred: Any, classes: Any = None, confidence: float = 0.95) -> ClassTable:
    """Precision, recall and F1 of every class.

    Parameters
    ----------
    y_true : array of shape (n,)
        The true labels.
    y_pred : array of shape (n,)
        The predicted labels.
    classes : array of shape (K,) or None, default=None
        All labels; None takes those that occur, sorted.
    confidence : float, default=0.95
        The part of such intervals that hold the true value, between 0 and 1.

    Returns
    -------
    ClassTable
        The numbers.

    Examples
    --------
    >>> table = class_table([0, 0, 0, 1], [0, 0, 1, 1])
    >>> table.recall.round(2).tolist(), table.precision.tolist()
    ([0.67, 1.0], [1.0, 0.5])
    >>> table.recall_interval[0].round(2).tolist()
    [0.21, 0.94]
    """
    found = confusion_table(y_true, y_pred, classes)
    correct, support, predicted = np.diag(found.counts), found.support, found.counts.sum(axis=0)
    return ClassTable(
        found.classes,
        support,
        predicted,
        correct,
        share(correct, predicted),
        share(correct, support),
        share(2 * correct, support + predicted),
        wilson(correct, predicted, confidence),
        wilson(correct, support, confidence),
    )


def share(part: AnyArray, whole: AnyArray) -> Array:
    """part / whole, NaN where that is 0 / 0."""
    return np.divide(part, whole, out=np.full(len(part), np.nan), where=whole > 0)


def wilson(successes: Any, trials: Any, confidence: float = 0.95) -> Array:
    """Wilson's interval for a probability, from counts; (..., 2).

    Unlike the mean ± 2 standard errors it stays within [0, 1] and is not empty if all trials or none succeed.

    Parameters
    ----------
    successes : int or array of int
        How many trials succeeded.
    trials : int or array of int
        How many there were, in the same shape.
    confidence : float, default=0.95
        The part of such intervals that hold the true value, between 0 and 1.

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
