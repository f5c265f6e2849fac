"""Axes to draw on. matplotlib is imported when the first picture is drawn, not before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._packages import needed


def pyplot() -> Any:
    """matplotlib's pyplot, imported on first use."""
    return needed("matplotlib.pyplot", "plots need")


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
