"""Maps of the classes: points in the plane, near each other where the model finds the classes similar."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._util.arrays import AnyArray, Array
from .._util.params import check_number
from ..tables.labels import known_label_numbers
from .confusion import Confusion, check_labels, similarity


@dataclass(frozen=True, eq=False)
class ClassMap:
    """Points for classes.

    Attributes
    ----------
    points : array of shape (K, 2)
        The points; NaN for a class without rows.
    explained : array of shape (2,)
        The part of the squared distances between classes that each axis shows.
    classes : array of shape (K,)
        The labels.

    Examples
    --------
    >>> from simplexboost.evaluate import confusion_table
    >>> map_of_confusion(confusion_table([0, 0, 1, 1, 2], [0, 1, 1, 0, 2])).points.shape
    (3, 2)
    """

    points: Array
    explained: Array
    classes: AnyArray


def class_means(values: Any, y: Any, classes: Any) -> Array:
    """The mean of values (n, m) over the rows of each class, (K, m); NaN for a class without rows.

    Parameters
    ----------
    values : array of shape (n, m)
        The values of the rows.
    y : array of shape (n,)
        The labels of the rows.
    classes : array of shape (K,)
        The labels, in the order that the result shall have.

    Returns
    -------
    array of shape (K, m)
        The means; NaN for a class without rows.

    Examples
    --------
    >>> class_means([[1.0, 0.0], [3.0, 0.0], [0.0, 5.0]], ["a", "a", "b"], ["a", "b"]).tolist()
    [[2.0, 0.0], [0.0, 5.0]]
    """
    values, y, known = np.asarray(values, dtype=np.float64), check_labels(y, "y"), np.asarray(classes)
    if values.ndim != 2 or len(values) != len(y):
        raise ValueError(f"values has shape {values.shape}; pass a row for each of the {len(y)} labels.")
    c = known_label_numbers(y, known, "y")
    order = np.argsort(c, kind="stable")
    present, starts, counts = np.unique(c[order], return_index=True, return_counts=True)
    means = np.full((len(known), values.shape[1]), np.nan)
    means[present] = np.add.reduceat(values[order], starts, axis=0) / counts[:, None]
    return means


def map_of_scores(U: Any, y: Any, classes: Any) -> ClassMap:
    """A map of the classes by the mean scores of their rows: those with similar means are near each other.

    It is the projection on the two axes along which the means differ most (principal components). Scores are centred in
    every row first, since a constant added to all classes decides nothing.

    Parameters
    ----------
    U : array of shape (n, K)
        The class scores, or log-probabilities.
    y : array of shape (n,)
        The labels of the rows.
    classes : array of shape (K,)
        The labels of the columns of U.

    Returns
    -------
    ClassMap
        The map.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from simplexboost import SimplexBoostClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = SimplexBoostClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> found = map_of_scores(clf.class_scores(X), y, clf.classes_)
    >>> found.points.shape, round(float(found.explained.sum()), 6)
    ((3, 2), 1.0)
    """
    U = np.asarray(U, dtype=np.float64)
    finite = np.isfinite(U).all(axis=0)  # classes without training examples have scores of −inf
    U = U[:, finite]
    means = class_means(U - U.mean(axis=1, keepdims=True), y, classes)
    here = ~np.isnan(means).any(axis=1)
    points = np.full((len(means), 2), np.nan)
    points[here], explained = principal(means[here])
    return ClassMap(points, explained, np.asarray(classes))


def principal(points: Array, dim: int = 2) -> tuple[Array, Array]:
    """Points (m, q) on their first principal axes, (m, dim), and the part of the variance of each, (dim,)."""
    centred = points - points.mean(axis=0)
    left, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    kept = min(dim, int((sizes > 1e-9 * sizes.max(initial=0.0)).sum()))  # the others are rounding
    placed, explained = np.zeros((len(points), dim)), np.zeros(dim)
    placed[:, :kept] = left[:, :kept] * sizes[:kept]
    total = float((sizes**2).sum())
    explained[:kept] = sizes[:kept] ** 2 / total if total > 0 else 0.0
    return pointing_up(placed), explained


def pointing_up(points: Array) -> Array:
    """The same points with the sign of each axis chosen: the largest coordinate is positive. Else it is arbitrary."""
    largest = points[np.abs(points).argmax(axis=0), np.arange(points.shape[1])]
    return points * np.where(largest < 0, -1.0, 1.0)


def classical_mds(D: Any, dim: int = 2) -> tuple[Array, Array]:
    """Points whose distances are near those given (classical multidimensional scaling).

    Parameters
    ----------
    D : array of shape (K, K)
        The distances, symmetric.
    dim : int, default=2
        The number of coordinates.

    Returns
    -------
    points : array of shape (K, dim)
        The points.
    explained : array of shape (dim,)
        The part of the positive eigenvalues that each coordinate has.

    Examples
    --------
    >>> points, explained = classical_mds([[0, 3, 4], [3, 0, 5], [4, 5, 0]])
    >>> bool(np.isclose(np.linalg.norm(points[1] - points[2]), 5))
    True
    """
    check_number("dim", dim, int, 1)
    D = np.asarray(D, dtype=np.float64)
    if D.ndim != 2 or D.shape[0] != D.shape[1] or not np.allclose(D, D.T):
        raise ValueError(f"D has shape {D.shape}; pass a symmetric matrix of distances.")
    squared = D**2
    B = -0.5 * (squared - squared.mean(axis=0) - squared.mean(axis=1)[:, None] + squared.mean())
    values, vectors = np.linalg.eigh(B)
    order = np.argsort(-values)[:dim]
    top = np.maximum(values[order], 0.0)
    points, explained = np.zeros((len(D), dim)), np.zeros(dim)
    points[:, : len(order)] = vectors[:, order] * np.sqrt(top)
    positive = values[values > 0].sum()
    explained[: len(order)] = top / positive if positive > 0 else 0.0
    return pointing_up(points), explained


def map_of_confusion(found: Confusion) -> ClassMap:
    """A map of the classes by what they are taken for: classes that are confused are near each other.

    The distance of two classes falls with the mean rate s at which one is taken for the other, relative to that of the
    most confused pair: 1 − s / s_max. `map_of_scores` shows more where there are few errors.

    Parameters
    ----------
    found : Confusion
        The counts, from `confusion_table`.

    Returns
    -------
    ClassMap
        The map.

    Examples
    --------
    >>> from simplexboost.evaluate import confusion_table
    >>> found = map_of_confusion(confusion_table([0, 0, 1, 1, 2], [0, 1, 1, 0, 2]))
    >>> near, far = np.linalg.norm(found.points[[1, 2]] - found.points[0], axis=1)
    >>> bool(near < far)
    True
    """
    S = similarity(found.rates)
    D = 1.0 - S / S.max() if S.max() > 0 else np.ones_like(S)
    np.fill_diagonal(D, 0.0)
    points, explained = classical_mds(D)
    return ClassMap(points, explained, found.classes)
