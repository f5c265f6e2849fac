"""Curves of accuracy and log-loss against fit time, one picture per set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .contestants import OURS
from .curves import METRICS, Curve
from .results import Summary

COLOURS = {
    OURS: "#c1121f",
    "lightgbm": "#2a9d3f",
    "xgboost": "#1f6fb4",
    "xgboost-multi": "#7fb4dd",
    "catboost": "#d99000",
    "histgb": "#7a4fa3",
}
LABELS = {"accuracy": "test accuracy", "log_loss": "test log-loss"}


def pyplot() -> Any:
    """Matplotlib without a screen."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    return plt


def draw(summaries: dict[str, Summary], dataset: str, folder: Path) -> Path:
    """Write ``<set>.png``; the path. Lines of tuned peers are solid, those of their defaults dashed."""
    plt = pyplot()
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
    for axis, metric in zip(axes, METRICS, strict=True):
        for name, summary in reversed(summaries.items()):  # ours on top
            curve, colour = typical(summary), COLOURS[summary.contestant]
            style = {"lw": 2.6} if name == OURS else {"lw": 1.4, "ls": "--" if summary.way == "defaults" else "-"}
            axis.plot(curve.seconds, getattr(curve, metric), color=colour, label=name, **style)
            axis.plot(curve.seconds[-1], getattr(curve, metric)[-1], "o", ms=4, color=colour)
        axis.set(xscale="log", xlabel="fit time, seconds", title=LABELS[metric])
        axis.grid(alpha=0.25, which="both", lw=0.5)
        axis.set_ylim(*limits(summaries, metric))
        if metric == "log_loss":
            axis.set_yscale("log")
            few_ticks(axis.yaxis)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles[::-1], labels[::-1], loc="outside lower center", ncols=6, frameon=False, fontsize=9)
    figure.suptitle(dataset)
    path = folder / f"{dataset}.png"
    figure.savefig(path, dpi=110)
    plt.close(figure)
    return path


def few_ticks(axis: Any, subs: tuple[float, ...] = (1.0, 2.0, 5.0)) -> None:
    """Labels of a logarithmic axis that never touch: plain numbers at 1, 2 and 5 times powers of ten."""
    from matplotlib.ticker import LogLocator

    axis.set_major_locator(LogLocator(subs=subs))
    axis.set_major_formatter("{x:.4g}")
    axis.set_minor_formatter("")


def typical(summary: Summary) -> Curve:
    """The curve of the repeat that took the median time."""
    order = sorted(summary.curves, key=lambda curve: curve.seconds[-1])
    return order[(len(order) - 1) // 2]


def limits(summaries: dict[str, Summary], metric: str) -> tuple[float, float]:
    """Where the race is decided: from the best values to somewhat beyond the worst contestant's best."""
    bests = np.array([getattr(summary, f"best_{metric}") for summary in summaries.values()])
    if metric == "accuracy":
        reach = max(0.03, 1.5 * (bests.max() - np.median(bests)))
        return max(0.0, float(bests.max() - 2 * reach)), min(1.002, float(bests.max() + 0.15 * reach))
    low = max(float(bests.min()), 1e-6)
    return 0.85 * low, max(4 * low, 1.5 * float(np.median(bests)))
