"""Decision regions of a classifier of two features: the parts of the plane in which it predicts each class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._util.arrays import AnyArray, Array, Labels
from .._util.params import check_number
from ..tables.frames import feature_names
from ..tables.labels import known_label_numbers
from .confusion import check_labels, check_same_length
from .drawing import (
    INK,
    MOST_IN_LEGEND,
    MOST_ROWS,
    SMALL,
    class_style,
    documented,
    lay_out,
    legend_beside,
    one_axes,
    plain,
    short,
    some_rows,
)


@documented
@dataclass(frozen=True, eq=False)
class DecisionRegions:
    """The regions of the plane in which a classifier predicts each class, with labelled rows, and their picture.

    Attributes
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
    points : array of shape (n, 2) or None
        Rows to draw.
    c : int array of shape (n,) or None
        The numbers of their classes; None draws no rows.

    Examples
    --------
    >>> grid, regions = np.arange(2.0), np.array([[0, 0], [0, 1]])
    >>> DecisionRegions(grid, grid, regions, np.array(["a", "b"]), ("u", "v")).plot().get_xlabel()
    'u'
    """

    x: Array
    y: Array
    regions: Labels
    classes: AnyArray
    names: tuple[str, str]
    points: Array | None = None
    c: Labels | None = None

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any = None, *, grid: int = 200, margin: float = 0.05
    ) -> DecisionRegions:
        """Predict on a grid.

        Parameters
        ----------
        X : array or data frame of shape (n, 2)
            The rows, which the picture will hold.
        y : array of shape (n,) or None, default=None
            The labels of the rows; None draws no rows.
        grid : int, default=200
            The number of points along each axis.
        margin : float, default=0.05
            The room around the rows, as a fraction of their extent.
        """
        check_is_fitted(estimator)
        check_number("grid", grid, int, 2, 2000)
        check_number("margin", margin, float, 0.0)
        points, c = np.asarray(X), None
        if points.ndim != 2 or points.shape[1] != 2:
            raise ValueError(f"X has shape {points.shape}; regions of the plane need two columns, (n, 2).")
        try:
            points = points.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError("X must hold two columns of numbers; categories have no place in a plane.") from error
        if estimator.n_features_in_ != 2:
            raise ValueError(
                f"the classifier has {estimator.n_features_in_} features; regions of the plane need one of 2 features."
            )
        if y is not None:
            labels = check_labels(y, "y")
            check_same_length(labels, points, "X")
            c = known_label_numbers(labels, estimator.classes_, "y")
        low, high = np.nanmin(points, axis=0), np.nanmax(points, axis=0)
        room = np.where(high > low, margin * (high - low), 0.5)
        sides = np.linspace(low - room, high + room, grid).T
        places: Any = np.stack(np.meshgrid(*sides), axis=-1).reshape(-1, 2)
        if hasattr(X, "iloc"):  # classifiers ask for the names that they were fitted with
            places = type(X)(places, columns=X.columns)
        predicted = np.asarray(estimator.predict(places))
        regions = known_label_numbers(predicted, estimator.classes_, "predict").reshape(grid, grid)
        first, second = feature_names(estimator)
        return cls(sides[0], sides[1], regions, estimator.classes_, (first, second), points, c)

    def plot(self, *, most: int = MOST_ROWS, ax: Any = None) -> Any:
        """Draw the regions in pale colours with lines between them, and the rows over them; return the axes.

        Where the classes are many their names are inside the regions.
        """
        ax = one_axes(ax, figsize=(6.4, 4.8))
        draw_regions(ax, self)
        if self.points is not None and self.c is not None:
            rows = some_rows(len(self.points), most)
            points, c = self.points[rows], self.c[rows]
            style = {"linestyle": "none", "markersize": 4, "markeredgecolor": "white", "markeredgewidth": 0.4}
            for k in np.unique(c).tolist():
                ax.plot(*points[c == k].T, label=short(self.classes[k]), zorder=2, **style, **class_style(k))
        if self.c is None or len(np.unique(self.regions)) > MOST_IN_LEGEND:
            name_regions(ax, self)
        else:
            legend_beside(ax, markerscale=1.5)
        ax.set(xlim=self.x[[0, -1]], ylim=self.y[[0, -1]], xlabel=plain(self.names[0]), ylabel=plain(self.names[1]))
        return ax


def draw_regions(ax: Any, found: DecisionRegions) -> None:
    """Fill the regions with the pale colours of their classes, and draw lines between them."""
    from matplotlib.colors import to_rgb

    tints = np.array([0.72 + 0.28 * np.array(to_rgb(class_style(k)["color"])) for k in range(len(found.classes))])
    extent = (found.x[0], found.x[-1], found.y[0], found.y[-1])
    ax.imshow(tints[found.regions], origin="lower", extent=extent, aspect="auto", interpolation="nearest", zorder=0)
    for k in np.unique(found.regions).tolist()[1:]:
        inside = (found.regions == k).astype(float)
        ax.contour(found.x, found.y, inside, [0.5], colors=INK, linewidths=0.6, zorder=1)


def name_regions(ax: Any, found: DecisionRegions) -> None:
    """Write the name of each class where its region is widest; regions that are too small have none."""
    from scipy.ndimage import distance_transform_edt

    lay_out(ax)
    boxes: list[Any] = []
    box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}
    for k in np.unique(found.regions).tolist():
        inside = np.pad(found.regions == k, 1)
        depth = distance_transform_edt(inside)[1:-1, 1:-1]
        row, column = np.unravel_index(depth.argmax(), depth.shape)
        place = (found.x[column], found.y[row])
        style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": SMALL, "color": INK, "zorder": 3}
        text = ax.text(*place, short(found.classes[k]), bbox=box, **style)
        extent = text.get_window_extent()
        if any(extent.overlaps(other) for other in boxes):
            text.remove()
        else:
            boxes.append(extent)
