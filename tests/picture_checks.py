"""What every picture must be, and small models to draw: ticks apart, legends beside the data, text that can be read."""

from __future__ import annotations

from functools import cache

import matplotlib.pyplot as plt
import numpy as np

import simplexboost as sb

SMALLEST, SMALLEST_NUMBER = 7.9, 6.5  # points


@cache
def model_of(K, p=5):
    """A booster of K classes, labelled with words, and test rows."""
    rng = np.random.default_rng(K)
    centres = rng.normal(scale=3.0, size=(K, p))
    n = max(240, 6 * K)
    c = np.arange(n) % K
    X = centres[c] + rng.normal(size=(n, p))
    y = np.array([f"class {k:03d}" for k in c])
    clf = sb.SimplexBoostClassifier(n_estimators=8, learning_rate=0.5, max_leaf_nodes=16, growth="best", random_state=0)
    half = n // 2
    return clf.fit(X[:half], y[:half]), X[half:], y[half:]


def check_picture(ax):
    """The rules that hold for all pictures; ``ax`` or a list of axes of one figure."""
    axes = ax if isinstance(ax, list) else [ax]
    figure = axes[0].figure
    figure.canvas.draw()
    for one in figure.axes:
        check_ticks(one)
        check_legend(one)
    check_text(figure)


def boxes(texts):
    """The places of texts that can be seen."""
    return [text.get_window_extent() for text in texts if text.get_visible() and text.get_text().strip()]


def shown_ticks(axis):
    """The labels of ticks within the view."""
    low, high = sorted(axis.get_view_interval())
    slack = 1e-9 * max(abs(low), abs(high), 1.0)
    return [tick.label1 for tick in axis.get_major_ticks() if low - slack <= tick.get_loc() <= high + slack]


def check_ticks(ax):
    """No label of a tick touches the next one."""
    if not ax.axison or ax.name == "3d":
        return
    for axis in (ax.xaxis, ax.yaxis):
        check_apart(boxes(shown_ticks(axis)))


def check_apart(places):
    """No two boxes overlap."""
    for i, one in enumerate(places):
        for other in places[:i]:
            assert not one.overlaps(other), (one, other)


def check_legend(ax):
    """A legend lies outside the axes, so that it can hide no data."""
    legend = ax.get_legend()
    if legend is not None:
        box, frame = legend.get_window_extent(), ax.get_window_extent()
        assert box.x0 >= frame.x1 or box.y1 <= frame.y0 or box.y0 >= frame.y1, (box, frame)


def all_texts(figure):
    """Every text of a figure that can be seen."""
    for ax in figure.axes:
        yield from ax.texts
        yield from (ax.title, ax.xaxis.label, ax.yaxis.label)
        if ax.axison and ax.name != "3d":
            yield from shown_ticks(ax.xaxis)
            yield from shown_ticks(ax.yaxis)
        if ax.get_legend() is not None:
            yield from ax.get_legend().get_texts()


def check_text(figure):
    """All text is large enough, and within the figure."""
    width, height = figure.canvas.get_width_height()
    for text in all_texts(figure):
        if not text.get_visible() or not text.get_text().strip():
            continue
        assert text.get_fontsize() >= (SMALLEST_NUMBER if text.get_text().isdigit() else SMALLEST), text
        if text.axes is not None and text.axes.name == "3d":
            continue
        box = text.get_window_extent()
        assert box.x0 >= -1 and box.y0 >= -1 and box.x1 <= width + 1 and box.y1 <= height + 1, (text, box)


def own_axes(**options):
    """Axes that a picture is to be drawn on."""
    return plt.subplots(layout="constrained", **options)[1]
