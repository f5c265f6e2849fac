"""Maps of the classes: points in the plane, near each other where the model finds the classes similar."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._util.arrays import AnyArray, Array
from .._util.params import check_number
from .confusion import Confusion, check_labels, check_same_length, class_means, similarity
from .drawing import INK, PALETTE, describe, describe_picture, fade_to, label_points, one_axes

MOST_NAMES = 60  # of more classes only some have names


@dataclass(frozen=True, eq=False)
class ClassMap:
    """Points in the plane for the classes; similar classes are near each other.

    Attributes
    ----------
    points : array of shape (K, 2)
        The points; NaN for a class without rows.
    explained : array of shape (2,)
        The fraction of the squared distances between classes that each axis shows.
    classes : array of shape (K,)
        The labels.

    Examples
    --------
    >>> map_of_confusion(Confusion.from_predictions([0, 0, 1, 1, 2], [0, 1, 1, 0, 2])).points.shape
    (3, 2)
    """

    points: Array
    explained: Array
    classes: AnyArray


@describe
def map_of_scores(U: Any, y: Any, classes: Any) -> ClassMap:
    """Map the classes by the mean scores of their rows: classes with similar means are near each other.

    The map is the projection on the two axes along which the means differ most (principal components). Scores are
    centred in every row first, since a constant added to all classes decides nothing.

    Parameters
    ----------
    U : array of shape (n, K)
        The class scores, or log-probabilities.
    classes : array of shape (K,)
        The labels of the columns of U.

    Examples
    --------
    >>> found = map_of_scores([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 3.0]], ["a", "b", "c"], ["a", "b", "c"])
    >>> found.points.shape, round(float(found.explained.sum()), 6)
    ((3, 2), 1.0)
    """
    U = np.asarray(U, dtype=np.float64)
    finite = np.isfinite(U).all(axis=0)  # classes without training examples have scores of −inf
    U = U[:, finite]
    means = class_means(U - U.mean(axis=1, keepdims=True), y, classes)
    known = ~np.isnan(means).any(axis=1)
    points, centred = np.full((len(means), 2), np.nan), means[known] - means[known].mean(axis=0)
    points[known], explained = find_principal_axes(centred @ centred.T, 2)
    return ClassMap(points, explained, np.asarray(classes))


def find_principal_axes(B: Array, dim: int) -> tuple[Array, Array]:
    """Return points (K, dim) whose inner products are near B (K, K), and the share of every axis in the eigenvalues."""
    values, vectors = np.linalg.eigh(B)
    values = np.where(values > 1e-15 * len(B) * values.max(initial=0.0), values, 0.0)  # the others are rounding
    kept = np.argsort(-values)[:dim]
    points, explained = np.zeros((len(B), dim)), np.zeros(dim)
    points[:, : len(kept)] = vectors[:, kept] * np.sqrt(values[kept])
    explained[: len(kept)] = values[kept] / (values.sum() or 1.0)
    largest = points[np.abs(points).argmax(axis=0), np.arange(dim)]
    return points * np.where(largest < 0, -1.0, 1.0), explained  # signs are arbitrary: the largest is positive


def classical_mds(D: Any, dim: int = 2) -> tuple[Array, Array]:
    """Return points whose distances are near the given ones (classical multidimensional scaling).

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
        The share of each coordinate in the sum of the positive eigenvalues.

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
    return find_principal_axes(B, dim)


@describe
def map_of_confusion(found: Confusion) -> ClassMap:
    """Map the classes by their errors: classes that are confused are near each other.

    The distance of two classes falls with the mean rate s at which one is predicted for the other, relative to that of
    the most confused pair: 1 − s / s_max. `map_of_scores` shows more where there are few errors.

    Examples
    --------
    >>> found = map_of_confusion(Confusion.from_predictions([0, 0, 1, 1, 2], [0, 1, 1, 0, 2]))
    >>> near, far = np.linalg.norm(found.points[[1, 2]] - found.points[0], axis=1)
    >>> bool(near < far)
    True
    """
    S = similarity(found.rates)
    D = 1.0 - S / S.max() if S.max() > 0 else np.ones_like(S)
    np.fill_diagonal(D, 0.0)
    points, explained = classical_mds(D)
    return ClassMap(points, explained, found.classes)


@describe_picture
def plot_class_map(clf: Any, X: Any, y: Any, *, n_pairs: int = 20, ax: Any = None) -> Any:
    """Draw the classes in a plane by the mean scores of their rows, with lines between those that are confused most.

    The darker a point, the fewer rows of its class are recognised. Of many classes, those that are confused
    most and those at the edge have names, where there is room for a name that covers no point.

    Parameters
    ----------
    n_pairs : int, default=20
        The number of pairs of classes that are joined, the most confused ones.

    Examples
    --------
    >>> ax = plot_class_map(clf, X, y)
    >>> sorted(text.get_text() for text in ax.texts)
    ['0', '1', '2']
    """
    check_is_fitted(clf)
    check_number("n_pairs", n_pairs, int, 0)
    if not hasattr(clf, "class_scores"):
        raise TypeError(f"{type(clf).__name__} has no class_scores; pass a classifier of this package.")
    y, U = check_labels(y, "y"), clf.class_scores(X)
    check_same_length(y, U, "X")
    found, counted = map_of_scores(U, y, clf.classes_), Confusion.from_predictions(y, clf.predict(X), clf.classes_)
    ax = one_axes(ax, figsize=(7.2, 5.6))
    both = np.triu(counted.errors + counted.errors.T)
    worst = np.column_stack(np.unravel_index(np.argsort(-both, axis=None, kind="stable")[:n_pairs], both.shape))
    pairs = worst[both[*worst.T] > 0]  # (pairs, 2) the most confused classes
    for k, m in pairs:
        width = 0.6 + 2.4 * both[k, m] / both.max()
        ax.plot(*found.points[[k, m]].T, color=PALETTE[2], linewidth=width, alpha=0.7, zorder=1)
    if len(pairs):
        many = f"lines join the {len(pairs)} most confused pairs"
        ax.set_title(many if len(pairs) > 1 else "the line joins the confused pair", fontsize="medium")
    draw_classes(ax, found, counted, pairs)
    return ax


def draw_classes(ax: Any, found: ClassMap, counted: Confusion, pairs: AnyArray) -> None:
    """Draw points, coloured by recall, and names, first of confused classes and then of those far from the centre."""
    here = np.flatnonzero(np.isfinite(found.points).all(axis=1))
    recall = np.diag(counted.counts) / np.maximum(counted.support, 1)
    size = 22 if len(here) > MOST_NAMES else 50  # points², across a marker
    dots = ax.scatter(
        *found.points[here].T,
        c=recall[here],
        cmap=fade_to(PALETTE[0]).reversed(),
        vmin=min(float(recall[here].min()), 0.95),
        vmax=1.0,
        s=size,
        edgecolors=INK,
        linewidths=0.5,
        zorder=2,
    )
    ax.figure.colorbar(dots, ax=ax, label="recall", shrink=0.85)
    one, two = 100 * found.explained
    ax.set(xlabel=f"first axis ({one:.0f} % of the differences)", ylabel=f"second axis ({two:.0f} %)")
    ax.margins(0.1)
    far = here[np.argsort(-np.linalg.norm(found.points[here], axis=1), kind="stable")]
    first = list(dict.fromkeys([*pairs.ravel().tolist(), *far.tolist()]))[:MOST_NAMES]
    words = found.classes[first].tolist()
    label_points(ax, found.points[first], words, free=found.points[here], radius=0.5 * size**0.5)
