"""Axes to draw on. No other module imports matplotlib."""

from __future__ import annotations

from typing import Any


def pyplot() -> Any:
    """matplotlib's pyplot, imported on first use."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'simplexboost[plot]'.") from error
    return plt


def one_axes(ax: Any, **options: Any) -> Any:
    """``ax``, or the axes of a new figure where it is None."""
    return pyplot().subplots(layout="constrained", **options)[1] if ax is None else ax


def row_of_axes(axes: Any, count: int, **options: Any) -> list[Any]:
    """A list of ``count`` axes: those that are given, or a row of axes of a new figure."""
    if axes is None:
        options = {"figsize": (4 * count, 4.6), "layout": "constrained", **options}
        return list(pyplot().subplots(1, count, squeeze=False, **options)[1][0])
    axes = list(axes) if hasattr(axes, "__len__") else [axes]
    if len(axes) != count:
        raise ValueError(f"axes has {len(axes)} entries; there are {count} panels to draw.")
    return axes
