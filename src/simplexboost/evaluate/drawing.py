"""Shared parts of all plots: axes, colours, markers, legends and labels.

matplotlib is imported when the first plot is drawn. The six colours were found by a search: their lightness L* is 27,
37, 47, 57, 67 and 78, so that they differ in a grey print, and their hues are as different as possible to normal eyes
and to the three kinds of colour blindness (the smallest distance in CIELAB is above 30 for all four). If there are more
than six classes, their markers differ, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._util.arrays import Array, Labels
from .._util.compat import import_optional
from .._util.params import check_number

MOST_ROWS = 3000  # points in one picture; more would hide each other
PALETTE = ("#093d87", "#dc9419", "#d41f6a", "#1bd7d1", "#675603", "#9873ed")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p")
LINES: tuple[Any, ...] = ("-", (0, (6, 2)), (0, (2, 1.5)), "-.", (0, (8, 2, 2, 2)), ":")
INK, GREY, PALE = "#1b1b1b", "#6b6b6b", "#d9d9d9"
SMALL = 8.0  # points; no text is smaller
MOST_IN_LEGEND = 12  # more classes are labelled where they lie, not in a legend
LONGEST = 24  # characters of a label
AROUND = [(u, v) for u, v in product((1, -1, 0), (1, -1, 0)) if (u, v) != (0, 0)]
OFFSETS = [(far * u, far * v) for far in (7.0, 12.0) for u, v in AROUND]  # farther away only where there is no room


class Summary:
    """A summary of the predictions of any classifier, such as a confusion matrix; the base class of all summaries."""

    from_predictions: Any

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, **options: Any) -> Self:
        """Predict rows with a fitted classifier, and compute the summary from the predictions and the true labels.

        Parameters
        ----------
        options : further arguments
            Further keyword arguments of `from_predictions`; by default ``classes`` are those of the classifier.
        """
        check_is_fitted(estimator)
        return cls.from_predictions(y, **{**cls._predict(estimator, X, y), **options})

    @staticmethod
    def _predict(estimator: Any, X: Any, y: Any) -> dict[str, Any]:
        """Predict rows; return the predictions and the classes as keyword arguments of `from_predictions`."""
        if not hasattr(estimator, "predict_proba"):
            raise TypeError(f"{type(estimator).__name__} has no predict_proba, which this picture needs.")
        return {"P": estimator.predict_proba(X), "classes": estimator.classes_}


def one_axes(ax: Any, **options: Any) -> Any:
    """Return ``ax``, or the axes of a new figure if ``ax`` is None."""
    return row_of_axes(ax, 1, **options)[0]


def row_of_axes(ax: Any, count: int, **options: Any) -> list[Any]:
    """Return ``ax`` as a list of ``count`` axes; if it is None, return a row of new axes in a new figure."""
    plt = import_optional("matplotlib.pyplot", "plots need")
    if ax is None:
        return list(plt.subplots(1, count, squeeze=False, layout="constrained", **options)[1][0])
    given = list(np.ravel(ax))
    if len(given) != count:
        raise ValueError(f"ax has {len(given)} entries; there are {count} panels to draw.")
    from matplotlib.axes import Axes

    for one in given:
        if not isinstance(one, Axes):
            raise TypeError(f"ax holds a {type(one).__name__}; pass matplotlib axes, or None for a new figure.")
    return given


def sample_rows(n: int, most: int) -> Labels:
    """Return the ascending indices of at most ``most`` of n rows, sampled at random with a fixed seed."""
    check_number("most", most, int, 1)
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, most, replace=False))


def class_style(k: int) -> dict[str, str]:
    """Return the colour and the marker of the class with index k as matplotlib options, the same in every plot."""
    return {"color": PALETTE[k % len(PALETTE)], "marker": MARKERS[(k // len(PALETTE) + k) % len(MARKERS)]}


def line_style(k: int) -> dict[str, Any]:
    """Return the colour and the dash pattern of the line with index k as matplotlib options."""
    return {"color": PALETTE[k % len(PALETTE)], "linestyle": LINES[k % len(LINES)]}


def pick_shades(count: int) -> list[Any]:
    """Return ``count`` colours from dark to light for a sequence such as rounds; in grey, they keep the order."""
    from matplotlib import colormaps

    return list(colormaps["viridis"](np.linspace(0.0, 0.85, max(count, 1))))


def fade_to(colour: str) -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list(f"white to {colour}", ["#ffffff", colour])


def choose_ink(colour: Any) -> str:
    """Return the colour of text, black or white, that has more contrast with the background ``colour``."""
    from matplotlib.colors import to_rgb

    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour))
    return INK if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.18 else "#ffffff"


def cut_text(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def write_label(label: Any, most: int = LONGEST) -> str:
    """Return a class label as text for matplotlib, cut to ``most`` characters."""
    return escape_text(cut_text(str(label), most))


def escape_text(text: str) -> str:
    """Escape text of the user so that matplotlib draws it unchanged.

    Otherwise text between two dollar signs would be a formula, and a legend would leave out names that begin with "_".
    """
    text = text.replace("$", r"\$")
    return "\u200b" + text if text.startswith("_") else text  # a space of no width


def legend_beside(ax: Any, **options: Any) -> Any:
    """Add a legend to the right of the axes, where it hides nothing; return it, or None if no artist has a label."""
    if not ax.get_legend_handles_labels()[0]:
        return None
    place = {"loc": "upper left", "bbox_to_anchor": (1.02, 1.0), "borderaxespad": 0.0}
    return ax.legend(**{**place, "frameon": False, "fontsize": "small", **options})


def class_ticks(ax: Any, which: str, labels: Sequence[Any]) -> None:
    """Write the names of classes or features at 0, 1, 2, … on the axis ``which``, "x" or "y": as many names as fit."""
    from matplotlib.ticker import FuncFormatter, Locator

    words = [write_label(label) for label in labels]
    axis = ax.xaxis if which == "x" else ax.yaxis
    width = SMALL * (0.72 * max((len(word) for word in words), default=1) + 1.0)  # points
    rotated = which == "x" and width > ax.bbox.width / ax.figure.dpi * 72 / max(len(words), 1)
    need = width if which == "x" and not rotated else 1.45 * SMALL  # points of a word

    class PlaceLocator(Locator):
        def __call__(self) -> list[float]:
            low, high = sorted(axis.get_view_interval())
            box = ax.bbox.width if which == "x" else ax.bbox.height
            each = box / ax.figure.dpi * 72 / max(high - low, 1e-9)
            step = max(1, int(np.ceil(need / each - 1e-9)))
            first, last = max(0, int(np.ceil(low))), min(len(words) - 1, int(np.floor(high)))
            return [float(place) for place in range(-(-first // step) * step, last + 1, step)]

    axis.set_major_locator(PlaceLocator())
    axis.set_major_formatter(FuncFormatter(lambda x, _=None: words[round(x)] if 0 <= round(x) < len(words) else ""))
    ax.tick_params(which, labelsize=SMALL, length=2, labelrotation=90 if rotated else 0)


def lay_out(ax: Any) -> None:
    """Compute the layout of the figure that contains ``ax``, so that sizes in points are known."""
    ax.figure.figure.draw_without_rendering()  # of the whole figure, where the axes are in a part of it


def set_whole_ticks(ax: Any) -> None:
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 5, 10], integer=True))


def label_points(
    ax: Any, points: Array, words: Sequence[Any], *, free: Array | None = None, radius: float = 0.0, **options: Any
) -> list[Any]:
    """Write a label beside each of m points (m, 2) where there is room, and return the matplotlib texts.

    No label covers any of the r points ``free`` (r, 2), which are markers with a radius in typographic points.
    ``options`` are passed to each matplotlib text. The limits of the axes must be set before.
    """
    lay_out(ax)
    frame = ax.get_window_extent()
    kept = np.empty((0, 2)) if free is None else ax.transData.transform(free)  # (r, 2) pixels
    around = radius * ax.figure.dpi / 72
    boxes: list[Any] = []
    texts: list[Any] = []
    for point, word in zip(points, words, strict=True):
        for dx, dy in OFFSETS if len(kept) else OFFSETS[: len(AROUND)]:
            text = ax.annotate(
                write_label(word),
                point,
                (dx, dy),
                textcoords="offset points",
                ha="center" if dx == 0 else "left" if dx > 0 else "right",
                va="center" if dy == 0 else "bottom" if dy > 0 else "top",
                **{"fontsize": SMALL, "color": INK, **options},
            )
            box = text.get_window_extent()
            inside = frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1
            low, high = box.padded(around).get_points()
            covers = ((low < kept) & (kept < high)).all(axis=1).any()
            if inside and not covers and not any(box.overlaps(other) for other in boxes):
                boxes.append(box.padded(3.0))
                texts.append(text)
                break
            text.remove()
    return texts


def height_of_rows(rows: int, least: float = 2.2, each: float = 0.24) -> float:
    return max(least, 1.0 + each * rows)
