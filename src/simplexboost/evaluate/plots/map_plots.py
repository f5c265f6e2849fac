"""Maps of the classes by similarity, and the decision regions of a classifier of two features."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..._util.arrays import AnyArray, Array, Labels
from ..._util.params import check_number
from ...tables.frames import feature_names
from ...tables.labels import known_label_numbers
from ..confusion import Confusion, check_labels, check_same_length, confusion_table
from ..curves import labels_among
from ..maps import ClassMap, map_of_scores
from .style import (
    INK,
    MOST_IN_LEGEND,
    MOST_ROWS,
    PALETTE,
    SMALL,
    class_style,
    label_points,
    legend_beside,
    one_axes,
    plain,
    short,
    some_rows,
    white_to,
)

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
    >>> from simplexboost.evaluate.plots import plot_class_map
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


class DecisionRegionsDisplay:
    """The regions of the plane in which a classifier decides for each class, with labelled rows over them.

    Regions have the pale colours of their classes, lines between them, and, where they are many, the names inside.

    Make one with `from_estimator`.

    Parameters
    ----------
    x : array of shape (m,)
        The first coordinates of a grid.
    y : array of shape (m,)
        The second coordinates of the grid.
    regions : int array of shape (m, m)
        The numbers of the classes, a row for every y.
    classes : array of shape (K,)
        The labels.
    names : tuple of two str
        The names of the two features.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes that were drawn on.
    figure_ : matplotlib Figure
        The figure that was drawn on.

    Examples
    --------
    >>> import numpy as np
    >>> from simplexboost.evaluate.plots import DecisionRegionsDisplay
    >>> regions = np.array([[0, 0], [0, 1]])
    >>> grid, labels = np.arange(2.0), np.array(["a", "b"])
    >>> display = DecisionRegionsDisplay(grid, grid, regions, labels, ("u", "v")).plot()
    >>> display.ax_.get_xlabel()
    'u'
    """

    def __init__(self, x: Array, y: Array, regions: Labels, classes: AnyArray, names: tuple[str, str]) -> None:
        self.x, self.y, self.regions, self.classes, self.names = x, y, regions, classes, names

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        grid: int = 200,
        margin: float = 0.05,
        most: int = MOST_ROWS,
        ax: Any = None,
    ) -> DecisionRegionsDisplay:
        """Predict on a grid and draw.

        Parameters
        ----------
        estimator : fitted classifier
            A classifier of two features, of this package or of another.
        X : array or data frame of shape (n, 2)
            The rows, which the picture will hold.
        y : array of shape (n,) or None, default=None
            The labels of the rows; None draws no rows.
        grid : int, default=200
            The number of points along each axis.
        margin : float, default=0.05
            How much room is left around the rows, as a part of their extent.
        most : int, default=MOST_ROWS
            The largest number of rows to draw; of more rows some are drawn at random.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        DecisionRegionsDisplay
            The display, drawn.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from simplexboost import SimplexBoostClassifier
        >>> from simplexboost.evaluate.plots import DecisionRegionsDisplay
        >>> X, y = load_iris(return_X_y=True)
        >>> clf = SimplexBoostClassifier(n_estimators=20, random_state=0).fit(X[:, 2:], y)
        >>> display = DecisionRegionsDisplay.from_estimator(clf, X[:, 2:], y)
        >>> display.regions.shape
        (200, 200)
        """
        check_is_fitted(estimator)
        check_number("grid", grid, int, 2, 2000)
        check_number("margin", margin, float, 0.0)
        points = two_columns(X)
        if estimator.n_features_in_ != 2:
            raise ValueError(
                f"the classifier has {estimator.n_features_in_} features; regions of the plane need one of 2 features."
            )
        sides = [side_of(points[:, j], grid, margin) for j in range(2)]
        places = np.stack(np.meshgrid(*sides), axis=-1).reshape(-1, 2)
        predicted = estimator.predict(like(X, places))
        regions = known_label_numbers(np.asarray(predicted), estimator.classes_, "predict").reshape(grid, grid)
        first, second = feature_names(estimator)
        display = cls(sides[0], sides[1], regions, estimator.classes_, (first, second))
        return display.plot(points=points, y=y, most=most, ax=ax)

    def plot(
        self, *, points: Any = None, y: Any = None, most: int = MOST_ROWS, ax: Any = None
    ) -> DecisionRegionsDisplay:
        """Draw on ``ax``, or on a new figure; rows (n, 2) are drawn if they have labels y (n,).

        Parameters
        ----------
        points : array of shape (n, 2) or None, default=None
            Rows to draw, if they have labels.
        y : array of shape (n,) or None, default=None
            The labels of these rows.
        most : int, default=MOST_ROWS
            The largest number of rows to draw; of more rows some are drawn at random.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        DecisionRegionsDisplay
            The display itself.
        """
        c = None
        if y is not None:
            labels = check_labels(y, "y")
            check_same_length(labels, points, "X")
            c = known_label_numbers(labels, self.classes, "y")
        ax = one_axes(ax, figsize=(6.4, 4.8))
        self.ax_, self.figure_ = ax, ax.figure
        draw_regions(ax, self)
        if c is not None:
            rows = some_rows(len(points), most)
            draw_rows(ax, points[rows], c[rows], self.classes)
        if len(np.unique(self.regions)) > MOST_IN_LEGEND:
            name_regions(ax, self)
        elif c is not None:
            legend_beside(ax, markerscale=1.5)
        else:
            name_regions(ax, self)
        ax.set(xlim=self.x[[0, -1]], ylim=self.y[[0, -1]], xlabel=plain(self.names[0]), ylabel=plain(self.names[1]))
        return self


def two_columns(X: Any) -> Array:
    """Rows of two numbers, (n, 2)."""
    points = np.asarray(X)
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(f"X has shape {points.shape}; regions of the plane need two columns, (n, 2).")
    try:
        return points.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError("X must hold two columns of numbers; categories have no place in a plane.") from error


def side_of(x: Array, grid: int, margin: float) -> Array:
    """Places along one axis that hold all values, (grid,)."""
    low, high = float(np.nanmin(x)), float(np.nanmax(x))
    room = margin * (high - low) if high > low else 0.5
    return np.linspace(low - room, high + room, grid)


def like(X: Any, places: Array) -> Any:
    """The places, as a data frame if X is one of pandas: classifiers ask for the names that they were fitted with."""
    return type(X)(places, columns=X.columns) if hasattr(X, "iloc") else places


def draw_regions(ax: Any, display: DecisionRegionsDisplay) -> None:
    """Pale colours, and lines where the class changes."""
    from matplotlib.colors import to_rgb

    tints = np.array([0.72 + 0.28 * np.array(to_rgb(class_style(k)["color"])) for k in range(len(display.classes))])
    extent = (display.x[0], display.x[-1], display.y[0], display.y[-1])
    ax.imshow(tints[display.regions], origin="lower", extent=extent, aspect="auto", interpolation="nearest", zorder=0)
    for k in np.unique(display.regions).tolist()[1:]:
        ax.contour(
            display.x, display.y, (display.regions == k).astype(float), [0.5], colors=INK, linewidths=0.6, zorder=1
        )


def draw_rows(ax: Any, points: Array, c: Labels, classes: AnyArray) -> None:
    """The rows, a marker for each class."""
    for k in np.unique(c).tolist():
        style = {"linestyle": "none", "markersize": 4, "markeredgecolor": "white", "markeredgewidth": 0.4}
        ax.plot(*points[c == k].T, label=short(classes[k]), zorder=2, **style, **class_style(k))


def name_regions(ax: Any, display: DecisionRegionsDisplay) -> None:
    """The name of each class inside its region, where the region is widest; none in regions that are too small."""
    from scipy.ndimage import distance_transform_edt

    from .style import settle

    settle(ax)
    taken: list[Any] = []
    box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}
    for k in np.unique(display.regions).tolist():
        inside = np.pad(display.regions == k, 1)
        depth = distance_transform_edt(inside)[1:-1, 1:-1]
        row, column = np.unravel_index(depth.argmax(), depth.shape)
        place = (display.x[column], display.y[row])
        text = ax.text(
            *place, short(display.classes[k]), ha="center", va="center", fontsize=SMALL, color=INK, bbox=box, zorder=3
        )
        extent = text.get_window_extent()
        if any(extent.overlaps(other) for other in taken):
            text.remove()
        else:
            taken.append(extent)
