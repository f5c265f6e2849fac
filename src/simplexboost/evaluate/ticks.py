"""Axis ticks that never overlap: their number follows the size of the axes each time they are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.ticker import FuncFormatter, Locator


class PlaceLocator(Locator):
    """Locates ticks at 0, 1, 2, …, or at every second, third, … of them if there is no room for all.

    There are ``count`` places, and a label needs ``need`` points.
    """

    def __init__(self, count: int, need: float) -> None:
        self.count, self.need = count, need

    def __call__(self) -> list[float]:
        axis: Any = self.axis
        return self.tick_values(*axis.get_view_interval())

    def tick_values(self, vmin: float, vmax: float) -> list[float]:
        axis: Any = self.axis
        low, high = sorted((vmin, vmax))
        box, dpi = axis.axes.bbox, axis.axes.figure.dpi
        length = (box.width if axis.axis_name == "x" else box.height) / dpi * 72  # points
        each = length / max(high - low, 1e-9)
        step = max(1, int(np.ceil(self.need / each - 1e-9)))
        first, last = max(0, int(np.ceil(low))), min(self.count - 1, int(np.floor(high)))
        return [float(place) for place in range(-(-first // step) * step, last + 1, step)]


def place_formatter(words: Sequence[str]) -> FuncFormatter:
    """Return a formatter that writes the word of every place."""
    return FuncFormatter(lambda x, _=None: words[round(x)] if 0 <= round(x) < len(words) else "")
