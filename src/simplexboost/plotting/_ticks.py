"""Ticks that never overlap: their number follows the size of the axes each time they are drawn."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.ticker import FuncFormatter, Locator

from .._typing import AnyArray


class PlaceLocator(Locator):
    """Ticks at 0, 1, 2, …, or at every second, third, … of them if there is no room for all.

    Parameters
    ----------
    count : the number of places
    need : the room in points that a label needs
    """

    def __init__(self, count: int, need: float) -> None:
        self.count, self.need = count, need

    def __call__(self) -> AnyArray:
        """The places of the ticks now."""
        return self.tick_values(*self.axis.get_view_interval())

    def tick_values(self, vmin: float, vmax: float) -> AnyArray:
        """The places of the ticks between two ends."""
        low, high = sorted((vmin, vmax))
        box, dpi = self.axis.axes.bbox, self.axis.axes.figure.dpi
        length = (box.width if self.axis.axis_name == "x" else box.height) / dpi * 72  # points
        each = length / max(high - low, 1e-9)
        step = max(1, int(np.ceil(self.need / each - 1e-9)))
        first, last = max(0, int(np.ceil(low))), min(self.count - 1, int(np.floor(high)))
        return np.arange(-(-first // step) * step, last + 1, step)


def place_formatter(words: Sequence[str]) -> FuncFormatter:
    """The word that belongs to a place."""
    return FuncFormatter(lambda x, _=None: words[round(x)] if 0 <= round(x) < len(words) else "")
