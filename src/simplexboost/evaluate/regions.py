"""Decision regions of a classifier of two features: the parts of the plane in which it predicts each class."""

from __future__ import annotations

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
    Display,
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
class DecisionRegionsDisplay(Display):
    """Displays the regions of the plane in which a classifier predicts each class, with labelled rows over them.

    Regions have the pale colours of their classes, lines between them, and, where they are many, the names inside.

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

    Examples
    --------
    >>> import numpy as np
    >>> from simplexboost.evaluate import DecisionRegionsDisplay
    >>> regions = np.array([[0, 0], [0, 1]])
    >>> grid, labels = np.arange(2.0), np.array(["a", "b"])
    >>> display = DecisionRegionsDisplay(grid, grid, regions, labels, ("u", "v")).plot()
    >>> display.ax_.get_xlabel()
    'u'
    """

    def __init__(self, x: Array, y: Array, regions: Labels, classes: AnyArray, names: tuple[str, str]) -> None:
        self.x, self.y, self.regions, self.classes, self.names = x, y, regions, classes, names

    @classmethod
    def from_estimator(  # type: ignore[override]
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
        points = np.asarray(X)
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
        low, high = np.nanmin(points, axis=0), np.nanmax(points, axis=0)
        room = np.where(high > low, margin * (high - low), 0.5)
        sides = np.linspace(low - room, high + room, grid).T
        places: Any = np.stack(np.meshgrid(*sides), axis=-1).reshape(-1, 2)
        if hasattr(X, "iloc"):  # classifiers ask for the names that they were fitted with
            places = type(X)(places, columns=X.columns)
        predicted = np.asarray(estimator.predict(places))
        regions = known_label_numbers(predicted, estimator.classes_, "predict").reshape(grid, grid)
        first, second = feature_names(estimator)
        display = cls(sides[0], sides[1], regions, estimator.classes_, (first, second))
        return display.plot(points=points, y=y, most=most, ax=ax)

    def plot(
        self, *, points: Any = None, y: Any = None, most: int = MOST_ROWS, ax: Any = None
    ) -> DecisionRegionsDisplay:
        """Draw the display again; rows are drawn if they have labels.

        Parameters
        ----------
        points : array of shape (n, 2) or None, default=None
            The rows to draw.
        y : array of shape (n,) or None, default=None
            The labels of these rows.
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
            for k in np.unique(c[rows]).tolist():
                style = {"linestyle": "none", "markersize": 4, "markeredgecolor": "white", "markeredgewidth": 0.4}
                ax.plot(
                    *points[rows][c[rows] == k].T, label=short(self.classes[k]), zorder=2, **style, **class_style(k)
                )
        if c is None or len(np.unique(self.regions)) > MOST_IN_LEGEND:
            name_regions(ax, self)
        else:
            legend_beside(ax, markerscale=1.5)
        ax.set(xlim=self.x[[0, -1]], ylim=self.y[[0, -1]], xlabel=plain(self.names[0]), ylabel=plain(self.names[1]))
        return self


def draw_regions(ax: Any, display: DecisionRegionsDisplay) -> None:
    """Fill the regions with the pale colours of their classes, and draw lines between them."""
    from matplotlib.colors import to_rgb

    tints = np.array([0.72 + 0.28 * np.array(to_rgb(class_style(k)["color"])) for k in range(len(display.classes))])
    extent = (display.x[0], display.x[-1], display.y[0], display.y[-1])
    ax.imshow(tints[display.regions], origin="lower", extent=extent, aspect="auto", interpolation="nearest", zorder=0)
    for k in np.unique(display.regions).tolist()[1:]:
        inside = (display.regions == k).astype(float)
        ax.contour(display.x, display.y, inside, [0.5], colors=INK, linewidths=0.6, zorder=1)


def name_regions(ax: Any, display: DecisionRegionsDisplay) -> None:
    """Write the name of each class where its region is widest; regions that are too small have none."""
    from scipy.ndimage import distance_transform_edt

    lay_out(ax)
    boxes: list[Any] = []
    box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}
    for k in np.unique(display.regions).tolist():
        inside = np.pad(display.regions == k, 1)
        depth = distance_transform_edt(inside)[1:-1, 1:-1]
        row, column = np.unravel_index(depth.argmax(), depth.shape)
        place = (display.x[column], display.y[row])
        style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": SMALL, "color": INK, "zorder": 3}
        text = ax.text(*place, short(display.classes[k]), bbox=box, **style)
        extent = text.get_window_extent()
        if any(extent.overlaps(other) for other in boxes):
            text.remove()
        else:
            boxes.append(extent)
