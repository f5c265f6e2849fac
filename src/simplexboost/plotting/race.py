"""Race curves: how good several classifiers are after so many seconds of fitting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._typing import Array
from ._axes import one_axes
from ._style import MARKERS, PALETTE, legend_beside, line_style, plain


def plot_race(
    curves: Mapping[str, Any],
    *,
    ylabel: str = "test accuracy",
    highlight: str | None = None,
    ax: Any = None,
) -> Any:
    """A curve for every contestant: seconds across on a logarithmic axis, and a score or a loss upwards.

    Parameters
    ----------
    curves : mapping of pairs
        For every name a pair (seconds, values) of arrays of the same length.
    ylabel : str, default="test accuracy"
        What the values are.
    highlight : str or None, default=None
        The name of a contestant that gets a wide line; None takes the first.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    matplotlib Axes
        The axes with the picture.

    Examples
    --------
    >>> from simplexboost.plotting import plot_race
    >>> ax = plot_race({"ours": ([0.1, 1.0], [0.8, 0.97]), "other": ([0.3, 4.0], [0.7, 0.96])})
    >>> ax.get_xscale(), [line.get_label() for line in ax.lines[::2]]
    ('log', ['ours', 'other'])
    """
    checked = {str(name): check_curve(str(name), pair) for name, pair in curves.items()}
    if not checked:
        raise ValueError("curves is empty; pass at least one contestant.")
    names = list(checked)
    first = names[0] if highlight is None else highlight
    if first not in checked:
        raise ValueError(f"highlight={first!r} is no contestant; choose one of {', '.join(map(repr, checked))}.")
    ax = one_axes(ax, figsize=(7.0, 4.2))
    others = [name for name in checked if name != first]
    for number, name in enumerate([first, *others]):
        draw_curve(ax, name, *checked[name], number)
    ax.set(xscale="log", xlabel="seconds of fitting", ylabel=ylabel)
    legend_beside(ax)
    return ax


def check_curve(name: str, pair: Any) -> tuple[Array, Array]:
    """Seconds and values, (m,) each."""
    try:
        seconds, values = (np.asarray(part, dtype=np.float64) for part in pair)
    except (TypeError, ValueError) as error:
        raise ValueError(f"curves[{name!r}] must be a pair (seconds, values) of arrays of numbers.") from error
    if seconds.ndim != 1 or seconds.shape != values.shape or len(seconds) == 0:
        raise ValueError(
            f"curves[{name!r}] has shapes {seconds.shape} and {values.shape}; pass two of the same length."
        )
    if not (seconds > 0).all():
        raise ValueError(f"curves[{name!r}] must have seconds above 0; the axis is logarithmic.")
    return seconds, values


def draw_curve(ax: Any, name: str, seconds: Array, values: Array, number: int) -> None:
    """A line, and a marker where it ends."""
    style = line_style(number)
    width = 2.8 if number == 0 else 1.5
    ax.plot(seconds, values, label=plain(name), linewidth=width, zorder=3 if number == 0 else 2, **style)
    marker = MARKERS[number % len(MARKERS)]
    ax.plot(seconds[-1], values[-1], marker, color=PALETTE[number % len(PALETTE)], markersize=6, zorder=4)
