"""Style that all plots share: axes, colours, markers and legends, with checks of what is drawn.

matplotlib is imported when the first plot is drawn. The six colours were found by a search: their lightness L* is 27,
37, 47, 57, 67 and 78, so that they differ in a grey print, and their hues are as different as possible to normal eyes
and to the three kinds of colour blindness (the smallest distance in CIELAB is above 30 for all four). More than six
classes are told apart by their markers, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..._util.arrays import AnyArray, Array, Labels
from ..._util.compat import import_optional
from ..._util.params import check_number
from ...tables.labels import known_label_numbers


def pyplot() -> Any:
    """matplotlib's pyplot, imported on first use."""
    return import_optional("matplotlib.pyplot", "plots need")


def one_axes(ax: Any, **options: Any) -> Any:
    """``ax``, or the axes of a new figure where it is None."""
    plt = pyplot()
    if ax is None:
        return plt.subplots(layout="constrained", **options)[1]
    check_axes(ax, "ax")
    return ax


def solid_axes(ax: Any, **options: Any) -> Any:
    """``ax``, which must be three-dimensional, or such axes of a new figure."""
    ax = one_axes(ax, subplot_kw={"projection": "3d"}, **options)
    if ax.name != "3d":
        raise ValueError("ax is flat, and the picture has three dimensions; pass axes made with projection='3d'.")
    return ax


def row_of_axes(axes: Any, count: int, **options: Any) -> list[Any]:
    """A list of ``count`` axes: those that are given, or a row of axes of a new figure."""
    if axes is None:
        options = {"figsize": (4 * count, 4.6), "layout": "constrained", **options}
        return list(pyplot().subplots(1, count, squeeze=False, **options)[1][0])
    given: Sequence[Any] = list(axes.flat) if hasattr(axes, "flat") else axes if hasattr(axes, "__len__") else [axes]
    if len(given) != count:
        raise ValueError(f"axes has {len(given)} entries; there are {count} panels to draw.")
    for ax in given:
        check_axes(ax, "axes")
    return list(given)


def check_axes(ax: Any, what: str) -> None:
    """Raise unless it is matplotlib's axes."""
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        raise TypeError(f"{what} holds a {type(ax).__name__}; pass matplotlib axes, or None for a new figure.")


MOST_ROWS = 3000  # points in one picture; more only hide each other


def class_places(classes: Any, known: AnyArray) -> Labels:
    """The numbers of chosen classes, (D,); of all if None."""
    if classes is None:
        return np.arange(len(known))
    labels = np.atleast_1d(np.asarray(classes))
    if labels.ndim != 1 or len(labels) == 0:
        raise ValueError("classes must be a label or a list of labels, at least one.")
    return known_label_numbers(labels, known, "classes")


def probabilities_of(estimator: Any, X: Any, what: str) -> AnyArray:
    """The probabilities (n, K) that a fitted classifier predicts, which ``what`` needs."""
    check_is_fitted(estimator)
    if not hasattr(estimator, "predict_proba"):
        raise TypeError(f"{type(estimator).__name__} has no predict_proba; {what} needs it.")
    return np.asarray(estimator.predict_proba(X))


def some_rows(n: int, most: int) -> Labels:
    """At most so many of n rows, drawn at random but always the same ones, in ascending order."""
    check_number("most", most, int, 1)
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, most, replace=False))


PALETTE = ("#093d87", "#dc9419", "#d41f6a", "#1bd7d1", "#675603", "#9873ed")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p")
LINES: tuple[Any, ...] = ("-", (0, (6, 2)), (0, (2, 1.5)), "-.", (0, (8, 2, 2, 2)), ":")
INK, GREY, PALE = "#1b1b1b", "#6b6b6b", "#d9d9d9"
SMALL = 8.0  # points; no text is smaller
MOST_IN_LEGEND = 12  # more classes are labelled where they lie, not in a legend
LONGEST = 24  # characters of a label


def class_style(k: int) -> dict[str, str]:
    """The colour and the marker of class k; the same for every picture."""
    return {"color": PALETTE[k % len(PALETTE)], "marker": MARKERS[(k // len(PALETTE) + k) % len(MARKERS)]}


def line_style(k: int) -> dict[str, Any]:
    """The colour and the dashes of the k-th line."""
    return {"color": PALETTE[k % len(PALETTE)], "linestyle": LINES[k % len(LINES)]}


def shades(count: int) -> list[Any]:
    """Colours from dark to light for a sequence, such as rounds; in grey they keep their order."""
    from matplotlib import colormaps

    return list(colormaps["viridis"](np.linspace(0.0, 0.85, max(count, 1))))


def low_to_high() -> Any:
    """A map of colours from dark to light that can be seen on white, and keeps its order in grey."""
    from matplotlib.colors import ListedColormap

    return ListedColormap(shades(256), "low to high")


def white_to(colour: str) -> Any:
    """A map of colours from white to this one; the lightness falls all the way."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list(f"white to {colour}", ["#ffffff", colour])


def ink_on(colour: Any) -> str:
    """Black or white, whichever can be read on a colour."""
    from matplotlib.colors import to_rgb

    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour))
    return INK if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.18 else "#ffffff"


def short(label: Any, most: int = LONGEST) -> str:
    """A label as text, cut if it is long."""
    text = str(label)
    return plain(text if len(text) <= most else text[: most - 1] + "…")


def plain(text: str) -> str:
    """Text of the user that matplotlib shall draw as it is.

    It would take what is between two dollars for a formula, and leave a name that begins with a line out of legends.
    """
    text = text.replace("$", r"\$")
    return "\u200b" + text if text.startswith("_") else text  # a space of no width


def legend_beside(ax: Any, **options: Any) -> Any:
    """A legend to the right of the axes, where it hides nothing; None if no artist has a label."""
    if not ax.get_legend_handles_labels()[0]:
        return None
    place = {"loc": "upper left", "bbox_to_anchor": (1.02, 1.0), "borderaxespad": 0.0}
    return ax.legend(**{**place, "frameon": False, "fontsize": "small", **options})


def class_ticks(ax: Any, which: str, labels: Sequence[Any]) -> None:
    """Write the names of classes (or features) at 0, 1, 2, …; as many of them as there is room for, at any size.

    Parameters
    ----------
    ax : axes
    which : {"x", "y"}
    labels : a label for every place
    """
    from .ticks import PlaceLocator, place_formatter

    words = [short(label) for label in labels]
    axis = ax.xaxis if which == "x" else ax.yaxis
    rotated = which == "x" and not words_fit(ax, words)
    across = which == "x" and not rotated  # words stand side by side
    longest = max((len(word) for word in words), default=1)
    axis.set_major_locator(PlaceLocator(len(words), SMALL * (0.72 * longest + 1.0) if across else 1.45 * SMALL))
    axis.set_major_formatter(place_formatter(words))
    ax.tick_params(which, labelsize=SMALL, length=2, labelrotation=90 if rotated else 0)


def words_fit(ax: Any, words: Sequence[str]) -> bool:
    """Whether words can stand side by side under the axes."""
    room = ax.bbox.width / ax.figure.dpi * 72 / max(len(words), 1)  # points for each
    return SMALL * (0.72 * max((len(word) for word in words), default=1) + 1.0) <= room


def settle(ax: Any) -> None:
    """Give the axes the place that they will have when they are drawn, so that sizes in points are known."""
    whole_figure(ax).draw_without_rendering()


def whole_figure(ax: Any) -> Any:
    """The figure of some axes, also where they lie in a part of it (a subfigure)."""
    return ax.figure.figure


def whole_numbers(ax: Any) -> None:
    """Ticks at whole numbers only, as many as there is room for: rounds, steps and classes are counted."""
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 5, 10], integer=True))


AROUND = [(u, v) for u, v in product((1, -1, 0), (1, -1, 0)) if (u, v) != (0, 0)]
OFFSETS = [(far * u, far * v) for far in (7.0, 12.0) for u, v in AROUND]  # farther away only where there is no room


def label_points(
    ax: Any, points: Array, words: Sequence[Any], *, free: Array | None = None, radius: float = 0.0, **options: Any
) -> list[Any]:
    """Write a label beside each point, in the order given, and leave out those for which there is no room.

    Parameters
    ----------
    ax : axes, with their limits set
    points : (m, 2)
    words : m labels
    free : (r, 2) points that no label may cover
    radius : of the markers of these points, in points of the typographer
    options : of the text

    Returns
    -------
    The texts that were written.
    """
    settle(ax)
    frame = ax.get_window_extent()
    kept = np.empty((0, 2)) if free is None else ax.transData.transform(free)  # (r, 2) pixels
    around = radius * ax.figure.dpi / 72
    taken: list[Any] = []
    texts: list[Any] = []
    for point, word in zip(points, words, strict=True):
        for dx, dy in OFFSETS if len(kept) else OFFSETS[: len(AROUND)]:
            text = ax.annotate(
                short(word),
                point,
                (dx, dy),
                textcoords="offset points",
                ha="center" if dx == 0 else "left" if dx > 0 else "right",
                va="center" if dy == 0 else "bottom" if dy > 0 else "top",
                **{"fontsize": SMALL, "color": INK, **options},
            )
            box = text.get_window_extent()
            inside = frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1
            if inside and not any(box.overlaps(other) for other in taken) and not covers(box, kept, around):
                taken.append(box.padded(3.0))
                texts.append(text)
                break
            text.remove()
    return texts


def covers(box: Any, points: Array, around: float) -> bool:
    """Whether a box, widened on all sides, holds any of some points (r, 2), all in pixels."""
    (low_x, low_y), (high_x, high_y) = box.padded(around).get_points()
    x, y = points.T
    return bool(((low_x < x) & (x < high_x) & (low_y < y) & (y < high_y)).any())


def equal_square(ax: Any, points: AnyArray, margin: float = 0.08) -> None:
    """Limits that hold all points (m, 2) and the origin, the same in both directions."""
    reach = float(np.abs(points[np.isfinite(points).all(axis=1)]).max(initial=0.0)) * (1 + margin)
    reach = reach if reach > 0 else 1.0
    ax.set(xlim=(-reach, reach), ylim=(-reach, reach))
    ax.set_aspect("equal", adjustable="box")


def equal_limits(ax: Any, points: AnyArray, margin: float = 0.06) -> None:
    """Limits that just hold all points (m, 2) and the origin, on axes of the same scale."""
    points = np.vstack([points[np.isfinite(points).all(axis=1)], np.zeros((1, 2))])
    low, high = points.min(axis=0), points.max(axis=0)
    room = margin * max(float((high - low).max()), 1e-9)
    ax.set(xlim=(low[0] - room, high[0] + room), ylim=(low[1] - room, high[1] + room))
    ax.set_aspect("equal", adjustable="box")


def rows_high(rows: int, least: float = 2.2, each: float = 0.24) -> float:
    """The height in inches of a picture with so many rows of text."""
    return max(least, 1.0 + each * rows)
