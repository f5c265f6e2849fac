"""Shapley values of many rows at a glance, for chosen classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import issparse

from .._parts import check_number
from .._typing import AnyArray, Array
from ..data.names import feature_names
from ..data.tables import take_rows
from ..inspection.rounds import check_booster, n_rows
from ._axes import one_axes, row_of_axes
from ._models import class_places, some_rows
from ._style import GREY, PALE, class_ticks, low_to_high, rows_high, short

MOST_ROWS = 1000  # swarms of more rows look the same
MOST_PANELS = 6


def plot_shap_summary(
    clf: Any,
    X: Any,
    label: Any = None,
    *,
    most: int = 12,
    rows: int = MOST_ROWS,
    background: Any = None,
    ax: Any = None,
) -> Any:
    """What the features add to the log-odds of one class: a point for every row, the most important feature on top.

    Points to the right speak for the class, points to the left against it. Their colour is the rank of the feature's
    value among the rows, from dark (low) to light (high); missing values are grey.

    Parameters
    ----------
    clf : fitted booster
        The model.
    X : array, data frame or sparse matrix of shape (n, p)
        The rows, with the columns of the fit.
    label : label or None, default=None
        The class. None takes the second one of two classes; of more classes one has to be chosen.
    most : int, default=12
        The largest number of features.
    rows : int, default=MOST_ROWS
        The largest number of rows to draw; of more rows some are drawn at random.
    background : rows like X, or None, default=None
        Rows that unknown features are taken from; None takes the shares of the training rows that the trees have
        stored.
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
    >>> from simplexboost.plotting import plot_shap_summary
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> clf = SimplexBoostClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> ax = plot_shap_summary(clf, X, 1)
    >>> ax.get_title()
    'class 1'
    """
    check_booster(clf)
    label = only_label(clf.classes_) if label is None else label
    values, table = values_of(clf, X, [label], rows, background)
    shown = most_important(values, most)
    ax = one_axes(ax, figsize=(7.4, rows_high(len(shown), each=0.34)))
    dots = draw_swarms(ax, values[:, shown, 0], table[:, shown])
    name_axes(ax, [feature_names(clf)[f] for f in shown.tolist()], label)
    colour_scale(ax.figure, dots, [ax])
    return ax


def plot_shap_panels(
    clf: Any,
    X: Any,
    classes: Sequence[Any] | None = None,
    *,
    most: int = 12,
    rows: int = MOST_ROWS,
    background: Any = None,
    axes: Any = None,
) -> list[Any]:
    """`plot_shap_summary` of several classes side by side: the same features in every panel, to the same scale.

    Parameters
    ----------
    clf : fitted booster
        The model.
    X : array, data frame or sparse matrix of shape (n, p)
        The rows, with the columns of the fit.
    classes : list of labels or None, default=None
        Up to six classes, a panel each; None takes all.
    most : int, default=12
        The largest number of features.
    rows : int, default=MOST_ROWS
        The largest number of rows to draw; of more rows some are drawn at random.
    background : rows like X, or None, default=None
        Rows that unknown features are taken from; None takes the shares of the training rows that the trees have
        stored.
    axes : list of matplotlib Axes or None, default=None
        Where to draw, one for every panel; None makes a new figure.

    Returns
    -------
    list of matplotlib Axes
        The axes with the pictures.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from simplexboost import SimplexBoostClassifier
    >>> from simplexboost.plotting import plot_shap_panels
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> clf = SimplexBoostClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> [ax.get_title() for ax in plot_shap_panels(clf, X, [0, 2])]
    ['class 0', 'class 2']
    """
    check_booster(clf)
    labels = list(np.atleast_1d(np.asarray(clf.classes_ if classes is None else classes)).tolist())
    if len(labels) > MOST_PANELS:
        raise ValueError(f"classes has {len(labels)} labels; a row of panels takes up to {MOST_PANELS}.")
    values, table = values_of(clf, X, labels, rows, background)
    shown = most_important(values, most)
    size = (2.2 + 3.2 * len(labels), rows_high(len(shown), each=0.34))
    axes = row_of_axes(axes, len(labels), figsize=size)
    names, reach = [feature_names(clf)[f] for f in shown.tolist()], np.abs(values[:, shown]).max() * 1.05
    for place, (label, ax) in enumerate(zip(labels, axes, strict=True)):
        dots = draw_swarms(ax, values[:, shown, place], table[:, shown])
        name_axes(ax, names, label)
        ax.set_xlim(-reach, reach)
        if place:
            ax.tick_params("y", labelleft=False)
    colour_scale(axes[0].figure, dots, axes)
    return axes


def only_label(classes: AnyArray) -> Any:
    """The second of two classes; an error for more, of which none goes without saying."""
    if len(classes) > 2:
        known = ", ".join(map(repr, classes[:3].tolist()))
        raise ValueError(
            f"label=None needs two classes, and there are {len(classes)}: pass one of {known}, ... as label, or draw "
            "several beside each other with plot_shap_panels."
        )
    return classes[-1]


def values_of(clf: Any, X: Any, labels: list[Any], rows: int, background: Any) -> tuple[Array, Array]:
    """Shapley values (n, p, D) of some rows, and the rows themselves as numbers (n, p)."""
    check_booster(clf)
    class_places(labels, clf.classes_)
    part = take_rows(X, some_rows(n_rows(X), rows))
    table: Any = clf._check_X(part)
    dense = table.toarray() if issparse(table) else np.asarray(table)
    return clf.shap_values(part, labels, background=background), dense.astype(np.float64)


def most_important(values: Array, most: int) -> AnyArray:
    """The features with the largest mean absolute value over rows and classes."""
    check_number("most", most, int, 1)
    return np.argsort(-np.abs(values).mean(axis=(0, 2)), kind="stable")[:most]


def draw_swarms(ax: Any, values: Array, table: Array) -> Any:
    """A swarm for every feature, (n, m) values and the features themselves; the artist of the last, for its colours."""
    dots = None
    ax.axvline(0.0, color=GREY, linewidth=0.8, zorder=0)
    for place in range(values.shape[1]):
        ax.axhline(place, color=PALE, linewidth=0.5, zorder=0)
        x, colour = values[:, place], ranks(table[:, place])
        y, known = place + spread(x), ~np.isnan(colour)
        ax.plot(x[~known], y[~known], ".", color=GREY, markersize=3, markeredgewidth=0)
        options = {"cmap": low_to_high(), "vmin": 0.0, "vmax": 1.0, "s": 7, "linewidths": 0}
        dots = ax.scatter(x[known], y[known], c=colour[known], **options)
    return dots


def ranks(x: Array) -> Array:
    """The ranks of values from 0 to 1, equal for equal values; NaN for missing ones."""
    from scipy.stats import rankdata

    out = np.full(len(x), np.nan)
    known = ~np.isnan(x)
    if known.any():
        place = rankdata(x[known], "average")
        out[known] = 0.5 if place.max() == place.min() else (place - place.min()) / (place.max() - place.min())
    return out


def spread(x: Array, bins: int = 60, width: float = 0.38) -> Array:
    """How far each point moves up or down so that points of similar value do not hide each other."""
    if np.ptp(x) == 0:
        return np.linspace(-width, width, len(x)) if len(x) > 1 else np.zeros(1)
    place = np.floor((x - x.min()) / np.ptp(x) * (bins - 1e-9)).astype(int)
    order = np.argsort(place, kind="stable")
    counts = np.bincount(place)
    number = np.empty(len(x), dtype=int)  # of the point within its bin
    number[order] = np.arange(len(x)) - np.repeat(np.cumsum(counts) - counts, counts)
    side = np.where(number % 2 == 0, 1, -1) * ((number + 1) // 2)  # 0, −1, 1, −2, 2, …
    return side * width / max(counts.max() / 2, 4)


def name_axes(ax: Any, names: list[str], label: Any) -> None:
    """The names of the features, the most important on top."""
    class_ticks(ax, "y", names)
    ax.set(xlabel="added to the log-odds", title=f"class {short(label)}", ylim=(len(names) - 0.4, -0.6))


def colour_scale(figure: Any, dots: Any, axes: list[Any]) -> None:
    """What the colours mean."""
    bar = figure.colorbar(dots, ax=axes, aspect=30, pad=0.02)
    bar.set_ticks([0.0, 1.0], labels=["low", "high"])
    bar.set_label("value of the feature")
