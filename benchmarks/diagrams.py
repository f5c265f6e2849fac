"""Two pictures of the results page: reliability diagrams, and mean ranks with their critical difference."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .calibration import Reliability
from .contestants import OURS
from .plots import COLOURS, pyplot
from .standings import SHOWN, Standings

COLUMNS = 5


# ---- reliability ----------------------------------------------------------------------------------------------------


def reliability(bins: Mapping[str, Mapping[str, Reliability | None]], path: Path) -> Path:
    """Accuracy against confidence in every bin, a panel for every set, defaults of everyone; ``path`` again."""
    plt = pyplot()
    columns = min(COLUMNS, len(bins))
    rows = -(-len(bins) // columns)
    figure, axes = plt.subplots(
        rows, columns, figsize=(max(2.9 * columns, 6.5), 2.9 * rows + 0.5), layout="constrained", squeeze=False
    )
    for axis, (dataset, by_name) in zip(axes.flat, bins.items(), strict=False):
        panel(axis, by_name)
        axis.set_title(dataset, fontsize=10)
    for axis in axes.flat[len(bins) :]:
        axis.set_axis_off()
    figure.supxlabel("mean probability of the predicted class")
    figure.supylabel("accuracy")
    handles = {label: line for axis in axes.flat for line, label in zip(*axis.get_legend_handles_labels(), strict=True)}
    names = [name for name in COLOURS if name in handles]
    legend = dict(loc="outside upper center", ncols=min(len(names), 2 * columns), frameon=False)
    figure.legend([handles[name] for name in names], names, **legend)
    return saved(plt, figure, path)


def panel(axis: Any, by_name: Mapping[str, Reliability | None]) -> None:
    """One set: a line for everyone, and the diagonal on which probabilities are right."""
    lowest = 1.0
    for name, one in reversed(by_name.items()):  # ours on top
        if one is not None:
            style = {"lw": 2.2, "ms": 4} if name == OURS else {"lw": 1.0, "ms": 2.5}
            axis.plot(one.confidence, one.accuracy, "o-", color=COLOURS[name], label=name, **style)
            lowest = min(lowest, *one.confidence, *one.accuracy)
    low = max(0.0, lowest - 0.03)
    axis.plot([low, 1], [low, 1], color="black", lw=0.8, ls="--", zorder=0)
    axis.set(xlim=(low, 1.02), ylim=(low, 1.02), aspect="equal")
    axis.tick_params(labelsize=8)
    axis.grid(alpha=0.25, lw=0.5)


# ---- ranks ----------------------------------------------------------------------------------------------------------


def ranks(found: Standings, path: Path) -> Path:
    """Mean ranks by each metric as Demšar draws them; libraries under one bar do not differ by more than chance."""
    plt = pyplot()
    height = 1.3 + 0.26 * len(found.libraries)
    figure, axes = plt.subplots(len(SHOWN), 1, figsize=(8.5, height * len(SHOWN)), layout="constrained")
    for axis, (metric, shown) in zip(np.atleast_1d(axes), SHOWN.items(), strict=True):
        by_name = dict(zip(found.libraries, found.ranks(metric).tolist(), strict=True))
        draw_ranks(axis, by_name, found.critical_difference(), f"mean rank by {shown}, {len(found.sets)} sets")
    return saved(plt, figure, path)


def draw_ranks(axis: Any, by_name: Mapping[str, float], difference: float, title: str) -> None:
    """An axis of ranks with the best to the left, names beside it, bars below it."""
    k = len(by_name)
    order = sorted(by_name, key=lambda name: by_name[name])
    bars = groups([by_name[name] for name in order], difference)
    first = 0.75 + 0.32 * len(bars)  # where the names begin, below the bars
    axis.plot([1, k], [0, 0], color="black", lw=1)
    for rank in range(1, k + 1):
        axis.plot([rank, rank], [0, -0.15], color="black", lw=1)
        axis.text(rank, -0.25, str(rank), ha="center", va="bottom", fontsize=9)
    axis.plot([1, 1 + difference], [-1.25, -1.25], color="black", lw=2, marker="|", ms=8)
    axis.text(1 + difference / 2, -1.35, f"critical difference {difference:.2f}", ha="center", va="bottom", fontsize=9)
    left = (k + 1) // 2
    for place, name in enumerate(order):
        to_left = place < left
        depth = first + 0.55 * (place if to_left else k - 1 - place)
        end = 0.75 if to_left else k + 0.25
        weight = {"color": COLOURS[name], "fontweight": "bold" if name == OURS else "normal"}
        axis.plot([by_name[name], by_name[name], end], [0, depth, depth], color=COLOURS[name], lw=1.2)
        shift, side = (-0.05, "right") if to_left else (0.05, "left")
        axis.text(end + shift, depth, f"{name}  {by_name[name]:.2f}", ha=side, va="center", fontsize=10, **weight)
    for level, (begin, end) in enumerate(bars):
        at = 0.4 + 0.32 * level
        span = [by_name[order[begin]] - 0.04, by_name[order[end]] + 0.04]
        axis.plot(span, [at, at], color="0.25", lw=4, solid_capstyle="round")
    axis.set(xlim=(-0.4, k + 1.4), ylim=(first + 0.55 * left, -2.0))
    axis.set_title(title, fontsize=11)
    axis.set_axis_off()


def groups(ranks: list[float], difference: float) -> list[tuple[int, int]]:
    """First and last places of the longest runs of sorted ranks that lie within the difference.

    Examples
    --------
    >>> groups([1.0, 2.0, 2.5, 4.0], 1.6)
    [(0, 2), (2, 3)]
    """
    runs: list[tuple[int, int]] = []
    for begin in range(len(ranks)):
        end = max(i for i in range(begin, len(ranks)) if ranks[i] - ranks[begin] <= difference)
        if end > begin and (not runs or end > runs[-1][1]):
            runs.append((begin, end))
    return runs


def saved(plt: Any, figure: Any, path: Path) -> Path:
    """Write and close a figure."""
    figure.savefig(path, dpi=110)
    plt.close(figure)
    return path
