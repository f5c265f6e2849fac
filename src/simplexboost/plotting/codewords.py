"""Codewords as points in two or three dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._parts import check_number
from .._typing import AnyArray, Array
from ..codewords import as_codewords, min_distance
from ..codewords.checks import check_codewords
from ..explain.choosing import check_not_merged
from ._axes import one_axes, solid_axes
from ._style import GREY, INK, PALE, SMALL, class_style, equal_square, settle, short

MOST_NAMED = 40  # more codewords are points without lines and names
MOST_EDGES = 60  # of more codewords the nearest are not joined


def plot_codewords(codewords: Any, K: int | None = None, *, labels: Any = None, ax: Any = None) -> Any:
    """Codewords in the plane or in space: lines from the origin, and between the nearest neighbours.

    Figures 1 and 2 of Saberian and Vasconcelos (2019).

    Parameters
    ----------
    codewords : array of shape (K, d), fitted booster, str or Codewords
        The codewords, in up to three dimensions: a matrix, those of a booster, or a set by its name, such as
        ``"simplex"``, or as a part, such as ``MaxMin(code_dim=2)``.
    K : int or None, default=None
        The number of classes, if a set is given.
    labels : sequence or None, default=None
        The names of the classes; None takes those of the booster, or 1 .. K.
    ax : matplotlib Axes or None, default=None
        Where to draw, in three dimensions if the codewords have three; None makes a new figure.

    Returns
    -------
    matplotlib Axes
        The axes with the picture.

    Examples
    --------
    >>> from simplexboost.plotting import plot_codewords
    >>> ax = plot_codewords("simplex", 3)
    >>> [text.get_text() for text in ax.texts]
    ['1', '2', '3']
    """
    Y, names = matrix_and_names(codewords, K, labels)
    d = Y.shape[1]
    if d > 3:
        raise ValueError(
            f"the codewords have {d} dimensions; a picture has 2 or 3. Pass codewords of few dimensions, such as "
            "MaxMin(code_dim=3), or draw predictions with plot_predictor."
        )
    return draw_solid(Y, names, ax) if d == 3 else draw_flat(Y, names, ax)


def matrix_and_names(codewords: Any, K: int | None, labels: Any) -> tuple[Array, list[str]]:
    """The codewords (K, d), and what the classes are called."""
    if hasattr(codewords, "fit"):
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(codewords)
        check_not_merged(codewords)
        Y, known = codewords.model_.Y.astype(np.float64), codewords.classes_[codewords.present_]
    else:
        Y, known = matrix_of(codewords, K), None
    names = labels if labels is not None else range(1, len(Y) + 1) if known is None else known.tolist()
    words = [short(name) for name in names]
    if len(words) != len(Y):
        raise ValueError(f"labels has {len(words)} entries; there are {len(Y)} codewords.")
    return Y, words


def matrix_of(codewords: Any, K: int | None) -> Array:
    """The codewords (K, d) of a matrix or a set."""
    if isinstance(codewords, list | tuple | np.ndarray):
        return check_codewords(codewords)
    rule = as_codewords(codewords)
    if K is None:
        raise ValueError(f"codewords={codewords!r} is a rule for any number of classes; pass K, too.")
    check_number("K", K, int, 2)
    return rule.matrix(K, np.random.default_rng(0))


def nearest_pairs(Y: Array) -> list[tuple[int, int]]:
    """Pairs of codewords at the smallest distance, or within a thousandth of it; none for many codewords."""
    if len(Y) > MOST_EDGES:
        return []
    squared = ((Y[:, None] - Y) ** 2).sum(axis=2)
    rows, columns = np.nonzero(squared <= min_distance(Y) * 1.002 + 1e-12)
    return [(k, m) for k, m in zip(rows.tolist(), columns.tolist(), strict=True) if k < m]


def draw_flat(Y: Array, names: list[str], ax: Any) -> Any:
    """Codewords of one or two dimensions."""
    ax = one_axes(ax, figsize=(4.8, 4.6))
    points = np.column_stack([Y, np.zeros((len(Y), 2 - Y.shape[1]))])
    norms = np.linalg.norm(points, axis=1)
    if np.allclose(norms, norms[0]):
        around = np.linspace(0.0, 2 * np.pi, 200)
        ax.plot(norms[0] * np.cos(around), norms[0] * np.sin(around), color=PALE, linewidth=1, zorder=0)
    for pair in nearest_pairs(points):
        ax.plot(*points[list(pair)].T, color=GREY, linewidth=0.8, zorder=1)
    equal_square(ax, points, 0.3 if len(Y) <= MOST_NAMED else 0.1)
    for k, point in enumerate(points):
        draw_word(ax, point, k, len(Y))
    ax.set(xlabel="$y_1$", ylabel="$y_2$" if Y.shape[1] > 1 else "")
    ax.set_title(title_of(Y), fontsize="medium")
    if Y.shape[1] == 1:
        ax.set_yticks([])
    if len(Y) <= MOST_NAMED:
        name_words(ax, points, names)
    return ax


def draw_word(ax: Any, point: AnyArray, k: int, K: int) -> None:
    """A codeword as a point, with a line from the origin if there are few."""
    style = class_style(k) if K <= MOST_NAMED else {"color": class_style(0)["color"], "marker": "o"}
    if K <= MOST_NAMED:
        ax.plot(*np.stack([0 * point, point], axis=1), color=style["color"], linewidth=1.2, zorder=2)
    ax.plot(*point[:, None], linestyle="none", markersize=6 if K <= MOST_NAMED else 3, zorder=3, **style)


def name_words(ax: Any, points: AnyArray, names: list[str]) -> None:
    """Names beyond the codewords, seen from the origin; those without room are left out."""
    lengths = np.maximum(np.linalg.norm(points, axis=1), 1e-12)
    reach = np.abs(points).max()
    beyond = points * (1 + 0.14 * reach / lengths)[:, None]
    settle(ax)
    placed: list[Any] = []
    for point, name in zip(beyond, names, strict=True):
        text = ax.text(*point, name, ha="center", va=side_of(ax, point), fontsize=SMALL + 1, color=INK)
        box = box_around(ax, text, point)
        if any(box.overlaps(other) for other in placed):
            text.remove()
        else:
            placed.append(box)


def in_picture(ax: Any, point: AnyArray) -> Any:
    """Where a point is drawn, in pixels; texts in space know it only while they are drawn."""
    from mpl_toolkits.mplot3d.proj3d import proj_transform

    return ax.transData.transform(point if len(point) == 2 else proj_transform(*point, ax.get_proj())[:2])


def side_of(ax: Any, point: AnyArray) -> str:
    """How a name is set: in space above or below its place, because its codeword may point at the reader."""
    if len(point) == 2:
        return "center"
    return "bottom" if in_picture(ax, point)[1] >= in_picture(ax, 0 * point)[1] else "top"


def box_around(ax: Any, text: Any, point: AnyArray) -> Any:
    """The place of a name in the picture."""
    from matplotlib.transforms import Bbox

    size, (x, y) = text.get_window_extent(), in_picture(ax, point)
    below = {"center": 0.5, "bottom": 0.0, "top": 1.0}[text.get_va()] * size.height
    return Bbox.from_bounds(x - size.width / 2, y - below, size.width, size.height)


def draw_solid(Y: Array, names: list[str], ax: Any) -> Any:
    """Codewords of three dimensions, within the sphere on which they lie."""
    ax = solid_axes(ax, figsize=(5.2, 5.0))
    radius = float(np.linalg.norm(Y, axis=1).max())
    draw_sphere(ax, radius)
    for pair in nearest_pairs(Y):
        ax.plot(*Y[list(pair)].T, color=GREY, linewidth=0.8)
    for k, y in enumerate(Y):
        if len(Y) <= MOST_NAMED:
            draw_word(ax, y, k, len(Y))
    if len(Y) > MOST_NAMED:
        ax.scatter(*Y.T, s=9, color=class_style(0)["color"], linewidths=0)  # paler at the back
    ends, ticks = (-1.1 * radius, 1.1 * radius), [-radius, 0.0, radius]
    ax.set(xlim=ends, ylim=ends, zlim=ends, xticks=ticks, yticks=ticks, zticks=ticks)
    ax.set_title(title_of(Y), fontsize="medium")
    for which in (ax.xaxis, ax.yaxis, ax.zaxis):
        which.set_major_formatter("{x:.2g}")
    ax.set(xlabel="$y_1$", ylabel="$y_2$", zlabel="$y_3$")
    ax.set_box_aspect((1, 1, 1), zoom=0.88)
    if len(Y) <= MOST_NAMED:
        name_words(ax, Y, names)
    return ax


def draw_sphere(ax: Any, radius: float) -> None:
    """Three great circles."""
    around = np.linspace(0.0, 2 * np.pi, 120)
    circle = radius * np.stack([np.cos(around), np.sin(around), 0 * around])
    for turn in ([0, 1, 2], [2, 0, 1], [0, 2, 1]):
        ax.plot(*circle[turn], color=PALE, linewidth=0.8)


def title_of(Y: Array) -> str:
    """How many codewords, and how far apart they are."""
    return f"{len(Y)} codewords, smallest squared distance {min_distance(Y):.3g}"
