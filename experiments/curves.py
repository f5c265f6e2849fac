"""Panels of error curves, one per data set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .registry import Figure


@dataclass(frozen=True)
class Line:
    """A curve: x, y (runs, points) in percent, and its look; several runs are a mean in a band of one deviation."""

    label: str
    x: Sequence[float]
    y: Any
    style: dict[str, Any]


STYLES: dict[str, dict[str, Any]] = {
    "MH": {"color": "#1b6ca8", "ls": ":"},
    "M1": {"color": "black", "ls": "--"},
    "MM": {"color": "#d1495b", "ls": "-"},
    "SAMME": {"color": "#3a7d44", "ls": "--"},
    "sm-boost": {"color": "#d1495b", "ls": "-"},
    "MartiBoost": {"color": "#8d6a9f", "ls": "-."},
    "AdaBoost.MH": {"color": "#1b6ca8", "ls": ":"},
}


def panels(
    name: str,
    caption: str,
    lines: dict[str, Callable[[], list[Line]]],
    xlabel: str,
    ylabel: str = "error, %",
    columns: int = 4,
    log: bool = True,
    ticks: Sequence[float] | None = None,
    whole: bool = False,
) -> Figure:
    """A panel per key; keys without curves stay empty. ``ticks`` are those of a logarithmic axis, None for its own;
    ``whole`` is for numbers that have no fractions, such as dimensions.
    """

    def draw(figure: Any) -> None:
        rows = -(-len(lines) // columns)
        grid = np.atleast_1d(figure.subplots(rows, columns, squeeze=False)).ravel()
        for axes in grid[len(lines) :]:
            axes.set_axis_off()
        for i, (axes, (title, make)) in enumerate(zip(grid, lines.items(), strict=False)):
            drawn = make()
            for line in drawn:
                draw_line(axes, line)
            if not any(np.size(line.y) for line in drawn):
                axes.set(xticks=[], yticks=[])
                axes.text(0.5, 0.5, "not run yet", ha="center", va="center", transform=axes.transAxes, fontsize=8)
                axes.set_title(title, fontsize=9)
                continue
            axes.set_title(title, fontsize=9)
            axes.tick_params(labelsize=7)
            axes.grid(alpha=0.3)
            if whole:
                axes.xaxis.get_major_locator().set_params(integer=True)
            if log:
                axes.set_xscale("log")
                axes.xaxis.set_major_formatter("{x:.0f}")
                axes.xaxis.set_minor_formatter("")
                if ticks is not None:
                    set_ticks(axes, ticks)
            if i >= len(lines) - columns:
                axes.set_xlabel(xlabel, fontsize=8)
            if i % columns == 0:
                axes.set_ylabel(ylabel, fontsize=8)
        handles = {label: h for axes in grid for h, label in zip(*axes.get_legend_handles_labels(), strict=True)}
        figure.legend(handles.values(), handles.keys(), loc="outside upper right", ncols=len(handles) or 1, fontsize=8)

    return Figure(name, caption, draw, (2.9 * columns, 2.3 * -(-len(lines) // columns) + 0.4))


MOST_TICKS = 5


def set_ticks(axes: Any, ticks: Sequence[float]) -> None:
    """Those of some ticks that lie in the picture, at most five of them."""
    low, high = axes.get_xlim()
    inside = [t for t in ticks if low <= t <= high]
    axes.set_xticks(inside[:: -(-len(inside) // MOST_TICKS) or 1])


def draw_line(axes: Any, line: Line) -> None:
    """Mean, and a band where there are several runs."""
    y = np.atleast_2d(line.y)
    if y.size == 0:
        return
    mean = y.mean(axis=0)
    (drawn,) = axes.plot(line.x, mean, label=line.label, lw=1.4, **line.style)
    if len(y) > 1:
        spread = y.std(axis=0, ddof=1)
        low, high = np.maximum(mean - spread, 0.0), np.minimum(mean + spread, 100.0)  # errors are percentages
        axes.fill_between(line.x, low, high, color=drawn.get_color(), alpha=0.2, lw=0)
