"""What validation chose, medians over repeats, and the best peer, from the finished cells of a race.

Everyone has a row "defaults"; a peer has another, "tuned": the best of its settings and of its rounds, both chosen on
rows held out of training.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any

from .calibration import Reliability
from .contestants import CONTESTANTS, OURS
from .curves import METRICS, Comparison, Curve, compare, time_ratio

MORE_ROUNDS = 50  # a final fit may go to twice the rounds that validation chose, and these
LATE = "not done after"  # how the error of a cell begins that was given up
WAYS = {"plain": "defaults", "final": "tuned"}


def found(cells: dict[str, Any], dataset: str, contestant: str, phase: str) -> list[tuple[str, dict[str, Any]]]:
    """(setting, cell) of the cells that succeeded, in a fixed order."""
    out = []
    for name in sorted(cells):
        parts = name.split("/")
        if (parts[0], parts[1], parts[3]) == (dataset, contestant, phase) and "error" not in cells[name]:
            out.append((parts[2], cells[name]))
    return out


def sets_of(cells: dict[str, Any]) -> list[str]:
    """The sets of some cells, in order."""
    return list(dict.fromkeys(name.partition("/")[0] for name in cells))


def data_of(cells: dict[str, Any], dataset: str) -> dict[str, int]:
    """The sizes of a set, from any cell that was fitted on all training rows; empty where there is none."""
    wanted = (cell for name, cell in cells.items() if name.startswith(f"{dataset}/") and "/validate/" not in name)
    return next((cell["data"] for cell in wanted if "data" in cell), {})


# ---- what validation chose ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Choice:
    """A setting and the rounds with the best validated accuracy and log-loss."""

    setting: str
    rounds: dict[str, int]

    @property
    def max_rounds(self) -> int:
        """As far as a final fit goes: its curve shows what lies beyond the best rounds, but not without end."""
        return 2 * max(self.rounds.values()) + MORE_ROUNDS


def choose(cells: dict[str, Any], dataset: str, contestant: str) -> Choice | None:
    """The setting with the best validated accuracy, then log-loss; None where nothing was validated."""
    candidates = [(setting, Curve(**cell["curve"])) for setting, cell in found(cells, dataset, contestant, "validate")]
    candidates = [(setting, curve) for setting, curve in candidates if curve.rounds]
    if not candidates:
        return None
    setting, curve = max(candidates, key=lambda pair: (max(pair[1].accuracy), -min(pair[1].log_loss)))
    points = range(len(curve.rounds))
    by_accuracy = max(points, key=lambda i: (curve.accuracy[i], -curve.log_loss[i]))
    by_loss = min(points, key=lambda i: curve.log_loss[i])
    return Choice(setting, {"accuracy": curve.rounds[by_accuracy], "log_loss": curve.rounds[by_loss]})


# ---- medians --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Summary:
    """One row of a set's table; medians over repeats.

    ``accuracy`` and ``log_loss`` are those after the last round, or tuned: after the rounds that validation chose, for
    each of the two its own; the best ones are those of the whole curve. ``seconds`` is the time of the whole fit, or
    tuned: of the rounds kept. ``stopped`` where the budget ended the fit.
    """

    contestant: str
    way: str
    setting: str
    stopped: bool
    curves: list[Curve]
    accuracy: float
    log_loss: float
    best_accuracy: float
    best_log_loss: float
    seconds: float
    rounds: float
    n_trees: float
    model_bytes: float
    rows_per_second: float
    memory_mb: float
    reliability: Reliability | None

    @property
    def name(self) -> str:
        """By which tables call it."""
        return self.contestant if self.way == "defaults" else f"{self.contestant}, {self.way}"


def summarise(cells: dict[str, Any], dataset: str) -> dict[str, Summary]:
    """Everyone who finished at least a round, by name: ours, the peers' defaults, the peers tuned."""
    out = {}
    for phase in WAYS:
        for contestant in CONTESTANTS:
            choice = choose(cells, dataset, contestant) if phase == "final" else None
            finished = [
                (setting, cell)
                for setting, cell in found(cells, dataset, contestant, phase)
                if cell["curve"]["rounds"] and (choice is None or setting == choice.setting)
            ]
            if finished:
                summary = _summary(contestant, phase, finished, choice)
                out[summary.name] = summary
    return out


def _summary(contestant: str, phase: str, finished: list[tuple[str, dict[str, Any]]], choice: Choice | None) -> Summary:
    curves = [Curve(**cell["curve"]) for _, cell in finished]
    rounds: dict[str, int | None] = {**choice.rounds} if choice else dict.fromkeys(METRICS)

    def at(column: str, by: str) -> float:
        return median(getattr(curve, column)[curve.index(rounds[by])] for curve in curves)

    def over(name: str) -> float:
        return median(cell[name] for _, cell in finished)

    bins = finished[0][1]["reliability"]
    return Summary(
        contestant,
        WAYS[phase],
        finished[0][0],
        stopped=phase == "plain" and all(cell["stopped"] for _, cell in finished),
        curves=curves,
        accuracy=at("accuracy", "accuracy"),
        log_loss=at("log_loss", "log_loss"),
        best_accuracy=METRICS["accuracy"].typical_best(curves),
        best_log_loss=METRICS["log_loss"].typical_best(curves),
        seconds=at("seconds", "accuracy") if choice else over("fit_seconds"),
        rounds=over("kept_rounds"),
        n_trees=over("n_trees"),
        model_bytes=over("model_bytes"),
        rows_per_second=over("predict_rows_per_second"),
        memory_mb=over("memory_mb"),
        reliability=Reliability(**bins) if bins else None,
    )


# ---- ours and the best peer -----------------------------------------------------------------------------------------


def comparisons(summaries: dict[str, Summary], metric: str) -> list[Comparison]:
    """Ours against every row of a peer; empty where ours is missing."""
    if OURS not in summaries:
        return []
    peers = {name: summary.curves for name, summary in summaries.items() if name != OURS}
    return compare(summaries[OURS].curves, peers, METRICS[metric])


@dataclass(frozen=True)
class Verdict:
    """Ours beside the best row of a peer on one set, by one metric; of equal rows the first."""

    dataset: str
    metric: str
    ours: float
    best: float
    peer: str

    @property
    def lead(self) -> float:
        """By how much ours is better; below zero where the peer is."""
        return self.ours - self.best if METRICS[self.metric].higher_is_better else self.best - self.ours

    @property
    def holds(self) -> bool:
        """Whether we are behind no peer: by log-loss at all, by accuracy for more than 0.1 point."""
        return self.lead >= -(0.001 + 1e-12 if self.metric == "accuracy" else 0.0)


def verdict(summaries: dict[str, Summary], dataset: str, metric: str) -> Verdict | None:
    """Ours beside the best peer; None where one of the two is missing."""
    peers = {name: getattr(summary, metric) for name, summary in summaries.items() if name != OURS}
    if OURS not in summaries or not peers:
        return None
    best = METRICS[metric].best(list(peers.values()))
    who = next(name for name, value in peers.items() if value == best)
    return Verdict(dataset, metric, getattr(summaries[OURS], metric), best, who)


def verdicts(race: dict[str, dict[str, Summary]], metric: str) -> Iterator[Verdict]:
    """Those of all sets that can be compared."""
    found = (verdict(summaries, dataset, metric) for dataset, summaries in race.items())
    return (one for one in found if one is not None)


def set_ratio(summaries: dict[str, Summary], metric: str) -> float | None:
    """The time ratio of a set."""
    return time_ratio(comparisons(summaries, metric))
