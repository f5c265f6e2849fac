"""Importance of features, overall and for classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._parts import check_number
from .._typing import Array
from ..data.names import feature_names
from ..inspection.confusion import similarity_order
from ..inspection.rounds import check_booster
from ._axes import one_axes
from ._models import class_places
from ._style import PALETTE, class_ticks, rows_high, short, white_to

MEANING = {
    "gain": "share of the gain of all splits",
    "cover": "training rows that pass splits on the feature",
    "splits": "number of splits",
    "shap": "mean of the absolute Shapley values (log-odds)",
}


def plot_importance(
    clf: Any, kind: str = "gain", X: Any = None, *, classes: Any = None, most: int = 20, ax: Any = None
) -> Any:
    """The most important features: bars, or for several classes a table of colours.

    Parameters
    ----------
    clf : fitted booster
        The model.
    kind : {"gain", "cover", "splits", "shap"}, default="gain"
        What is measured: the gains of the splits on a feature, the rows that pass them, their number, or the mean
        absolute Shapley values of X.
    X : array, data frame or sparse matrix of shape (n, p), or None, default=None
        The rows whose Shapley values are taken, for ``kind="shap"`` only.
    classes : label, list of labels or None, default=None
        None is for all classes together, a label for one class, a list for a column each. A long list is put in an
        order in which classes with similar features are neighbours.
    most : int, default=20
        The largest number of features.
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
    >>> from simplexboost.plotting import plot_importance
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> clf = SimplexBoostClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> ax = plot_importance(clf, most=2)
    >>> len(ax.patches), ax.get_xlabel()
    (2, 'share of the gain of all splits')
    """
    check_booster(clf)
    check_number("most", most, int, 1)
    if classes is not None:
        class_places(classes, clf.classes_)
    values = clf.importances(kind, X, classes=classes)
    names = feature_names(clf)
    if values.ndim == 1:
        title = "all classes" if classes is None else f"class {short(classes)}"
        return draw_bars(values, names, most, MEANING[kind], title, ax)
    return draw_table(values, names, np.atleast_1d(np.asarray(classes)), most, MEANING[kind], ax)


def largest_first(values: Array, most: int) -> Any:
    """The features with the largest values, which must not be zero unless all are."""
    order = np.argsort(-values, kind="stable")[:most]
    some = order[values[order] > 0]
    return some if len(some) else order[:1]


def draw_bars(values: Array, names: list[str], most: int, meaning: str, title: str, ax: Any) -> Any:
    """A bar for each of the features."""
    shown = largest_first(values, most)
    ax = one_axes(ax, figsize=(6.4, rows_high(len(shown))))
    ax.barh(np.arange(len(shown)), values[shown], height=0.7, color=PALETTE[0])
    class_ticks(ax, "y", [names[f] for f in shown.tolist()])
    ax.set(xlabel=meaning, title=title, ylim=(len(shown) - 0.4, -0.6))
    return ax


def alike(part: Array) -> Array:
    """How similar the columns of a table are: their correlations, and zero instead of negative ones."""
    centred = part - part.mean(axis=0)
    lengths = np.maximum(np.linalg.norm(centred, axis=0), 1e-300)
    return np.maximum(centred.T @ centred / lengths / lengths[:, None], 0.0)


def draw_table(values: Array, names: list[str], classes: Any, most: int, meaning: str, ax: Any) -> Any:
    """Features down, classes across; the colour is the importance relative to the largest of the class."""
    shown = largest_first(values.mean(axis=1), most)
    part = values[shown] / np.maximum(values.max(axis=0), 1e-300)  # (features, classes)
    if len(classes) > 10:
        order = similarity_order(alike(part))
        part, classes = part[:, order], classes[order]
    ax = one_axes(ax, figsize=(min(12.0, 4.4 + 0.28 * len(classes)), rows_high(len(shown), 3.0)))
    drawn = ax.imshow(part, cmap=white_to(PALETTE[0]), vmin=0.0, vmax=1.0, aspect="auto", interpolation="nearest")
    class_ticks(ax, "y", [names[f] for f in shown.tolist()])
    class_ticks(ax, "x", classes.tolist())
    ax.set(xlabel="class")
    ax.set_title(meaning.replace(" (", "\n("), fontsize="medium")
    ax.figure.colorbar(drawn, ax=ax, label="relative to the largest of the class", shrink=0.8, pad=0.02)
    return ax
