"""A map of the classes: those that the model finds similar are near each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._parts import check_number
from .._typing import Array
from ..inspection.confusion import Confusion, confusion_table
from ..inspection.maps import ClassMap, map_of_scores
from ..inspection.rounds import labels_among
from ._axes import one_axes
from ._style import INK, PALETTE, label_points, white_to

MOST_NAMES = 60  # of more classes only some have names


def plot_class_map(clf: Any, X: Any, y: Any, *, n_pairs: int = 20, ax: Any = None) -> Any:
    """The classes in a plane by the mean scores of their rows, with lines between those that are confused most.

    The darker a point, the fewer rows of its class are recognised. Of many classes, those that are confused
    most and those at the edge have names, where there is room for a name that covers no point.

    Parameters
    ----------
    clf : fitted booster
        The model.
    X : array, data frame or sparse matrix of shape (n, p)
        The rows, with the columns of the fit.
    y : array of shape (n,)
        The labels of the rows.
    n_pairs : int, default=20
        How many pairs of classes are joined, the most confused ones.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    matplotlib Axes
        The axes with the picture.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from simplexboost import SimplexBoostClassifier
    >>> from simplexboost.plotting import plot_class_map
    >>> X, y = load_iris(return_X_y=True)
    >>> ax = plot_class_map(SimplexBoostClassifier(n_estimators=20, random_state=0).fit(X, y), X, y)
    >>> sorted(text.get_text() for text in ax.texts)
    ['0', '1', '2']
    """
    check_is_fitted(clf)
    check_number("n_pairs", n_pairs, int, 0)
    if not hasattr(clf, "class_scores"):
        raise TypeError(f"{type(clf).__name__} has no class_scores; pass a classifier of this package.")
    labels_among(clf, X, y)
    U = clf.class_scores(X)
    found = map_of_scores(U, y, clf.classes_)
    counted = confusion_table(y, clf.predict(X), clf.classes_)
    ax = one_axes(ax, figsize=(7.2, 5.6))
    pairs = most_confused(counted, n_pairs)
    draw_pairs(ax, found, pairs)
    draw_classes(ax, found, counted, pairs)
    return ax


def most_confused(found: Confusion, n_pairs: int) -> list[tuple[int, int, float]]:
    """Pairs of classes (k, l, errors in both directions), the worst first."""
    both = np.triu(found.errors + found.errors.T)
    worst = np.argsort(-both, axis=None, kind="stable")[:n_pairs]
    rows, columns = np.unravel_index(worst, both.shape)
    return [(k, m, float(both[k, m])) for k, m in zip(rows.tolist(), columns.tolist(), strict=True) if both[k, m] > 0]


def draw_pairs(ax: Any, found: ClassMap, pairs: list[tuple[int, int, float]]) -> None:
    """Lines between confused classes, the wider the more errors."""
    most = max((errors for _, _, errors in pairs), default=1.0)
    for k, m, errors in pairs:
        width = 0.6 + 2.4 * errors / most
        ax.plot(*found.points[[k, m]].T, color=PALETTE[2], linewidth=width, alpha=0.7, zorder=1)


def draw_classes(ax: Any, found: ClassMap, counted: Confusion, pairs: list[tuple[int, int, float]]) -> None:
    """Points, their colours and their names."""
    here = np.flatnonzero(np.isfinite(found.points).all(axis=1))
    recall = np.diag(counted.counts) / np.maximum(counted.support, 1)
    size = 22 if len(here) > MOST_NAMES else 50  # points², across a marker
    low = float(recall[here].min())
    dots = ax.scatter(
        *found.points[here].T,
        c=recall[here],
        cmap=white_to(PALETTE[0]).reversed(),
        vmin=min(low, 0.95),
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
    first = names_first(found.points, here, pairs)[:MOST_NAMES]
    if pairs:
        title = (
            f"lines join the {len(pairs)} most confused pairs" if len(pairs) > 1 else "the line joins the confused pair"
        )
        ax.set_title(title, fontsize="medium")
    words = found.classes[first].tolist()
    label_points(ax, found.points[first], words, free=found.points[here], radius=0.5 * size**0.5)


def names_first(points: Array, here: Any, pairs: list[tuple[int, int, float]]) -> Any:
    """The classes in the order in which they get names: the confused ones, then those far from the middle."""
    confused = list(dict.fromkeys(k for pair in pairs for k in pair[:2]))
    far = here[np.argsort(-np.linalg.norm(points[here], axis=1), kind="stable")].tolist()
    return np.array(list(dict.fromkeys([*confused, *far])), dtype=np.intp)
