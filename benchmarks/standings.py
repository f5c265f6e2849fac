"""Mean ranks of libraries over sets, and which differences between them are more than chance (Demšar, 2006)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np
from scipy.stats import rankdata, studentized_range

from .calibration import Reliability
from .contestants import CONTESTANTS
from .curves import METRICS
from .tables import best_in_bold, number, table

SIGNIFICANCE = 0.05
SHOWN = {"log_loss": "log-loss", "accuracy": "accuracy"}


@dataclass(frozen=True)
class Standings:
    """Means over folds of every library on every set that all of them finished.

    Attributes
    ----------
    sets, libraries : names
    means : by name of the figure, (sets, libraries)
    unfinished : sets on which a library has failed or has fewer folds than others; they do not count
    """

    sets: list[str]
    libraries: list[str]
    means: dict[str, np.ndarray]
    unfinished: list[str]

    def ranks(self, metric: str) -> np.ndarray:
        """Mean ranks over sets, (libraries,), 1 the best; ties share their ranks."""
        sign = -1.0 if METRICS[metric].higher_is_better else 1.0
        return np.asarray(rankdata(np.round(sign * self.means[metric], 12), axis=1).mean(axis=0))

    def critical_difference(self) -> float:
        """Mean ranks that differ by more are different at the level of 0.05, by Nemenyi's test."""
        return critical_difference(len(self.libraries), len(self.sets))


def critical_difference(n_libraries: int, n_sets: int) -> float:
    """Nemenyi's: the quantile of the studentised range over √2, times √(k (k + 1) / (6 N)).

    Examples
    --------
    >>> round(critical_difference(5, 13), 2)
    1.69
    """
    quantile = studentized_range.ppf(1 - SIGNIFICANCE, n_libraries, np.inf) / math.sqrt(2)
    return float(quantile * math.sqrt(n_libraries * (n_libraries + 1) / (6 * n_sets)))


def standings(cells: dict[str, Any]) -> Standings:
    """Means over the folds, from finished cells."""
    groups: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for key, cell in cells.items():
        dataset, library, *_ = key.split("/")
        groups.setdefault(dataset, {}).setdefault(library, []).extend([] if "error" in cell else [cell])
    libraries = [name for name in CONTESTANTS if any(name in group for group in groups.values())]
    counts = {dataset: {len(group.get(name, [])) for name in libraries} for dataset, group in groups.items()}
    sets = [dataset for dataset in groups if len(counts[dataset]) == 1 and 0 not in counts[dataset]]
    figures = {
        "accuracy": lambda cell: cell["accuracy"],
        "log_loss": lambda cell: cell["log_loss"],
        "calibration": lambda cell: Reliability(**cell["reliability"]).error,
        "seconds": lambda cell: cell["seconds"],
    }
    means = {
        name: np.array([[fmean(map(value, groups[s][library])) for library in libraries] for s in sets])
        for name, value in figures.items()
    }
    totals = [[sum(cell["seconds"] for cell in groups[s][library]) for library in libraries] for s in sets]
    return Standings(sets, libraries, {**means, "total": np.array(totals)}, [s for s in groups if s not in sets])


# ---- in words -------------------------------------------------------------------------------------------------------


def section(cells: dict[str, Any]) -> str:
    """Mean ranks and total times, then the means of every set."""
    found = standings(cells)
    if not found.sets:
        return "No set is finished."
    parts = [overview(found)]
    if found.unfinished:
        parts.append(f"Not finished by everyone, and not counted: {', '.join(found.unfinished)}.")
    titles = {"log_loss": "Log-loss", "accuracy": "Accuracy", "calibration": "Expected calibration error, percent"}
    for name, title in titles.items():
        parts += [f"{title}, means over folds:", by_set(found, name)]
    return "\n\n".join(parts)


def overview(found: Standings) -> str:
    """A row for every library."""
    ranks = {metric: found.ranks(metric) for metric in SHOWN}
    total = found.means["total"].sum(axis=0)
    rows = [
        [library, *(f"{ranks[metric][i]:.2f}" for metric in SHOWN), f"{total[i]:.1f}"]
        for i, library in enumerate(found.libraries)
    ]
    head = ["library", *(f"mean rank, {shown}" for shown in SHOWN.values()), "fit s, all folds"]
    difference = f"The critical difference of mean ranks is {found.critical_difference():.2f}"
    return f"{table(head, rows)}\n\n{difference} ({len(found.sets)} sets, Nemenyi's test at {SIGNIFICANCE})."


def by_set(found: Standings, name: str) -> str:
    """One figure of every library on every set, the best in bold."""
    higher, factor, digits = name == "accuracy", 100 if name == "calibration" else 1, 2 if name == "calibration" else 4
    rows = [
        [dataset, *best_in_bold((factor * found.means[name][i]).tolist(), digits, higher_is_better=higher)]
        for i, dataset in enumerate(found.sets)
    ]
    return table(["set", *found.libraries], rows)


def summary(found: Standings, ours: str) -> list[str]:
    """Our mean ranks, and our time beside those of the others, in two lines."""
    if ours not in found.libraries or not found.sets:
        return []
    own, total = found.libraries.index(ours), found.means["total"].sum(axis=0)
    places = []
    for metric, shown in SHOWN.items():
        ranks = found.ranks(metric)
        places.append(f"{number(ranks[own], 2)} by {shown} (place {1 + int((ranks < ranks[own] - 1e-9).sum())})")
    times = [f"{name} {total[i]:.1f} s" for i, name in enumerate(found.libraries)]
    where = f"small sets, defaults of {len(found.libraries)} libraries on {len(found.sets)} sets"
    return [f"{where}: mean rank {' and '.join(places)}.", f"small sets, fit time in all: {', '.join(times)}."]


def ahead(found: Standings, ours: str) -> list[list[str]]:
    """Sets and metrics by which a library is better than ours."""
    rows = []
    own = found.libraries.index(ours) if ours in found.libraries else None
    for metric, shown in SHOWN.items() if own is not None else ():
        better = METRICS[metric].best
        for i, dataset in enumerate(found.sets):
            values: Sequence[float] = found.means[metric][i].tolist()
            best, mine = better(values), values[own]
            if best != mine:
                gap = abs(best - mine)
                by = f"{100 * gap:.2f} point(s)" if metric == "accuracy" else f"{gap / best:.1%}"
                rows.append([dataset, shown, found.libraries[values.index(best)], f"{best:.4f}", f"{mine:.4f}", by])
    return rows
