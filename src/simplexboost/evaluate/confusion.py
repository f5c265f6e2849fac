"""Confusion matrices, the most confused pairs of classes, and an order in which similar classes are neighbours.

A matrix of 400 × 400 counts in the order of the alphabet looks like noise around a diagonal. In an order by similarity
the errors gather in blocks along the diagonal, and the worst of these can be shown alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._util.arrays import AnyArray, Array, Labels
from .._util.params import check_number
from ..tables.inputs import plain_labels
from ..tables.labels import known_label_numbers, united


def check_labels(y: Any, what: str) -> AnyArray:
    """Labels as an array, one per row, (n,)."""
    y = np.asarray(plain_labels(y, what))
    if y.ndim != 1:
        raise ValueError(f"{what} has shape {y.shape}; pass one label per row.")
    if len(y) == 0:
        raise ValueError(f"{what} is empty; pass at least one row.")
    return y


def check_same_length(y: AnyArray, other: AnyArray, what: str) -> None:
    """Raise unless there is an entry of ``other`` for every label; ``what`` names it."""
    if len(other) != len(y):
        raise ValueError(f"{what} has {len(other)} rows, and there are {len(y)} labels; pass as many.")


def check_probabilities(P: Any, n: int, K: int) -> Array:
    """Probabilities (n, K)."""
    P = np.asarray(P, dtype=np.float64)
    if P.shape != (n, K):
        raise ValueError(f"P has shape {P.shape}; pass ({n}, {K}): a row per label and a column per class.")
    if not (np.isfinite(P).all() and P.min(initial=0.0) >= 0 and P.max(initial=0.0) <= 1 + 1e-6):
        raise ValueError("P must hold probabilities: numbers from 0 to 1.")
    return P


def check_predicted(y_true: Any, P: Any, classes: Any) -> tuple[Labels, Array, AnyArray]:
    """The numbers of the true classes (n,), the probabilities (n, K), and the labels of the columns of these (K,)."""
    y, known = check_labels(y_true, "y_true"), np.asarray(classes)
    P = check_probabilities(P, len(y), len(known))
    return known_label_numbers(y, known, "y_true"), P, known


# Up to so many classes the order is the best that keeps the groups together; that takes 0.1 s for 438 classes, 0.3 s
# for 600 and 2 s for 1000. Beyond, groups follow each other in the order in which they were joined.
MOST_ORDERED = 1000


@dataclass(frozen=True, eq=False)
class Confusion:
    """How often rows of a class were taken for another.

    Attributes
    ----------
    counts : int array of shape (K, K)
        In row k and column l the number of rows of class k for which class l was predicted.
    classes : array of shape (K,)
        The labels.

    Examples
    --------
    >>> confusion_table(["a", "a", "b"], ["a", "b", "b"]).counts.tolist()
    [[1, 1], [0, 1]]
    """

    counts: AnyArray
    classes: AnyArray

    @property
    def n(self) -> int:
        """The number of rows."""
        return int(self.counts.sum())

    @property
    def support(self) -> AnyArray:
        """The number of rows of each class, (K,)."""
        return self.counts.sum(axis=1)

    @property
    def accuracy(self) -> float:
        """The share of rows that were predicted right."""
        return float(np.trace(self.counts) / self.n)

    @property
    def errors(self) -> AnyArray:
        """The counts with zeros on the diagonal, (K, K)."""
        errors = self.counts.copy()
        np.fill_diagonal(errors, 0)
        return errors

    @property
    def rates(self) -> Array:
        """The counts divided by the rows of their class, (K, K); zeros for a class without rows."""
        return self.counts / np.maximum(self.support, 1)[:, None]

    def taken(self, order: AnyArray) -> Confusion:
        """The same for some classes, given by their numbers, in this order."""
        return Confusion(self.counts[np.ix_(order, order)], self.classes[order])


class ConfusedPair(NamedTuple):
    """Rows of class ``true`` for which ``predicted`` was predicted: how many, and their part of the class.

    Attributes
    ----------
    true : label
        The class of the rows.
    predicted : label
        The class that was predicted for them.
    n_rows : int
        How many rows there are.
    rate : float
        Their part of the class.

    Examples
    --------
    >>> worst_pairs(confusion_table(["a", "a", "b"], ["a", "b", "b"]))[0].rate
    0.5
    """

    true: Any
    predicted: Any
    n_rows: int
    rate: float


class Block(NamedTuple):
    """Neighbours in an order of the classes.

    Attributes
    ----------
    start : int
        The place of the first of them in the order.
    stop : int
        The place after the last of them.
    numbers : int array of shape (stop − start,)
        Their numbers among the classes.
    errors : int
        The errors among them.
    share : float
        Their part of all errors.

    Examples
    --------
    >>> worst_block(confusion_table([0, 1, 1, 2, 3], [0, 1, 2, 1, 3]), [0, 1, 2, 3], 2).share
    1.0
    """

    start: int
    stop: int
    numbers: Labels
    errors: int
    share: float


def confusion_table(y_true: Any, y_pred: Any, classes: Any = None) -> Confusion:
    """Count which class was predicted for the rows of each class.

    Parameters
    ----------
    y_true : array of shape (n,)
        The true labels.
    y_pred : array of shape (n,)
        The predicted labels.
    classes : array of shape (K,) or None, default=None
        All labels, in the order that the result shall have; None takes those that occur, sorted.

    Returns
    -------
    Confusion
        The counts.

    Examples
    --------
    >>> found = confusion_table(["cat", "cat", "dog"], ["cat", "dog", "dog"])
    >>> found.counts
    array([[1, 1],
           [0, 1]])
    >>> round(found.accuracy, 3)
    0.667
    """
    y_true, y_pred = check_labels(y_true, "y_true"), check_labels(y_pred, "y_pred")
    check_same_length(y_true, y_pred, "y_pred")
    known = united({"y_true": y_true, "y_pred": y_pred}) if classes is None else np.asarray(classes)
    c, predicted = known_label_numbers(y_true, known, "y_true"), known_label_numbers(y_pred, known, "y_pred")
    K = len(known)
    return Confusion(np.bincount(K * c + predicted, minlength=K * K).reshape(K, K), known)


def soft_confusion(y_true: Any, P: Any, classes: Any) -> Array:
    """The mean probability of every class over the rows of each class, (K, K).

    Of many classes most are never taken for each other. Probabilities still tell which of them are similar.

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
    array of shape (K, K)
        The mean probabilities, a row for every true class.

    Examples
    --------
    >>> soft_confusion([0, 0, 1], [[0.5, 0.5], [1.0, 0.0], [0.25, 0.75]], [0, 1])
    array([[0.75, 0.25],
           [0.25, 0.75]])
    """
    c, P, known = check_predicted(y_true, P, classes)
    order = np.argsort(c, kind="stable")
    present, starts, counts = np.unique(c[order], return_index=True, return_counts=True)
    means = np.zeros((len(known), len(known)))
    means[present] = np.add.reduceat(P[order], starts, axis=0) / counts[:, None]
    return means


def similarity(rates: Any) -> Array:
    """How similar classes are, (K, K): the mean of the rates of both directions, and zeros on the diagonal.

    Parameters
    ----------
    rates : array of shape (K, K)
        How often each class is taken for each other one, for instance `Confusion.rates` or `soft_confusion`.

    Returns
    -------
    array of shape (K, K)
        The similarities.

    Examples
    --------
    >>> similarity([[0.8, 0.2], [0.4, 0.6]]).round(2).tolist()
    [[0.0, 0.3], [0.3, 0.0]]
    """
    rates = np.asarray(rates, dtype=np.float64)
    if rates.ndim != 2 or rates.shape[0] != rates.shape[1]:
        raise ValueError(f"rates has shape {rates.shape}; pass a square matrix, a row and a column per class.")
    if not np.isfinite(rates).all():
        raise ValueError("rates must hold finite numbers.")
    mean = 0.5 * (rates + rates.T)
    np.fill_diagonal(mean, 0.0)
    return mean


def similarity_order(S: Any) -> Labels:
    """An order of the classes in which similar ones are neighbours, (K,) their numbers.

    The two most similar groups are joined, again and again, where the similarity of groups is the mean over the pairs;
    the order keeps the groups together and, up to 1000 classes, makes neighbours as similar as that allows.

    Parameters
    ----------
    S : array of shape (K, K)
        The similarities, symmetric and not negative; see `similarity`.

    Returns
    -------
    int array of shape (K,)
        The numbers of the classes.

    Examples
    --------
    >>> S = np.array([[0, 0, 3, 1], [0, 0, 0, 2], [3, 0, 0, 0], [1, 2, 0, 0]])
    >>> similarity_order(S).tolist() in ([2, 0, 3, 1], [1, 3, 0, 2])
    True
    """
    from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering  # not at the top: start-up time
    from scipy.spatial.distance import squareform

    S = similarity(S)
    K = len(S)
    if K < 3:
        return np.arange(K)
    distances = squareform(S.max() - S, checks=False)  # (K(K−1)/2,)
    if not distances.any():  # all pairs are equally similar
        return np.arange(K)
    tree = linkage(distances, "average")
    return leaves_list(optimal_leaf_ordering(tree, distances) if K <= MOST_ORDERED else tree).astype(np.intp)


def worst_pairs(found: Confusion, most: int = 10) -> list[ConfusedPair]:
    """The pairs of classes with most errors, the worst first; a pair without errors is not among them.

    Parameters
    ----------
    found : Confusion
        The counts, from `confusion_table`.
    most : int, default=10
        The largest number of pairs.

    Returns
    -------
    list of ConfusedPair
        The pairs.

    Examples
    --------
    >>> worst_pairs(confusion_table(["a", "a", "b", "b", "b"], ["b", "b", "a", "b", "b"]), 1)
    [ConfusedPair(true='a', predicted='b', n_rows=2, rate=1.0)]
    """
    check_number("most", most, int, 1)
    errors, support = found.errors, found.support
    first = np.argsort(-errors, axis=None, kind="stable")[:most]
    rows, columns = np.unravel_index(first, errors.shape)
    labels = found.classes.tolist()
    return [
        ConfusedPair(labels[k], labels[m], int(errors[k, m]), float(errors[k, m] / support[k]))
        for k, m in zip(rows.tolist(), columns.tolist(), strict=True)
        if errors[k, m] > 0
    ]


def worst_block(found: Confusion, order: Any, size: int = 12) -> Block:
    """The neighbours in an order with most errors among them.

    Parameters
    ----------
    found : Confusion
        The counts, from `confusion_table`.
    order : int array of shape (K,)
        The numbers of the classes, from `similarity_order`.
    size : int, default=12
        The number of classes in the block; all if there are fewer.

    Returns
    -------
    Block
        The neighbours.

    Examples
    --------
    >>> found = confusion_table([0, 1, 1, 2, 3], [0, 1, 2, 1, 3])
    >>> worst_block(found, [0, 1, 2, 3], 2)
    Block(start=1, stop=3, numbers=array([1, 2]), errors=2, share=1.0)
    """
    check_number("size", size, int, 1)
    order, K = np.asarray(order, dtype=np.intp), len(found.classes)
    if not np.array_equal(np.sort(order), np.arange(K)):
        raise ValueError(f"order must hold each of the numbers 0 to {K - 1} once.")
    size = min(size, K)
    errors = found.errors[np.ix_(order, order)]
    sums = np.zeros((K + 1, K + 1), dtype=np.int64)  # over all rows and columns before
    sums[1:, 1:] = errors.cumsum(axis=0).cumsum(axis=1)
    ends, starts = np.arange(size, K + 1), np.arange(K - size + 1)
    within = sums[ends, ends] - sums[starts, ends] - sums[ends, starts] + sums[starts, starts]
    start = int(within.argmax())
    total = int(errors.sum())
    share = float(within[start] / total) if total else 0.0
    return Block(start, start + size, order[start : start + size], int(within[start]), share)
