"""What validation chose, and medians over repeats, from the finished cells of a race."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import Any

from .contestants import CONTESTANTS, OURS
from .curves import METRICS, Comparison, Curve, compare

MORE_ROUNDS = 50  # a final fit may go to twice the rounds that validation chose, and these


def found(cells: dict[str, Any], dataset: str, contestant: str, phase: str) -> list[tuple[str, dict[str, Any]]]:
    """(setting, cell) of the cells that succeeded, in a fixed order."""
    out = []
    for name in sorted(cells):
        parts = name.split("/")
        if (parts[0], parts[1], parts[3]) == (dataset, contestant, phase) and "error" not in cells[name]:
            out.append((parts[2], cells[name]))
    return out


# ---- what validation chose ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Choice:
    """A setting and the rounds with the best validated accuracy and log-loss; None: as many as there are."""

    setting: str
    rounds: dict[str, int | None]

    @property
    def max_rounds(self) -> int | None:
        """As far as a final fit goes: its curve shows what lies beyond the best rounds, but not without end."""
        chosen = [rounds for rounds in self.rounds.values() if rounds is not None]
        return 2 * max(chosen) + MORE_ROUNDS if chosen else None


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
    """One contestant on one set; medians over repeats.

    ``accuracy`` and ``log_loss`` are those after the rounds that validation chose (ours: after the last one), the best
    ones those of the whole curve; ``seconds`` is the fit time of the rounds kept.
    """

    contestant: str
    setting: str
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


def summarise(cells: dict[str, Any], dataset: str) -> dict[str, Summary]:
    """Everyone who finished, by name."""
    out = {}
    for contestant in CONTESTANTS:
        choice = choose(cells, dataset, contestant)
        finished = [
            (setting, cell)
            for setting, cell in found(cells, dataset, contestant, "final")
            if cell["curve"]["rounds"] and (choice is None or setting == choice.setting)
        ]
        if finished:
            out[contestant] = _summary(contestant, finished, choice)
    return out


def _summary(contestant: str, finished: list[tuple[str, dict[str, Any]]], choice: Choice | None) -> Summary:
    curves = [Curve(**cell["curve"]) for _, cell in finished]
    rounds = choice.rounds if choice else dict.fromkeys(METRICS)

    def at(column: str, by: str) -> float:
        return median(getattr(curve, column)[curve.index(rounds[by])] for curve in curves)

    def over(name: str) -> float:
        return median(cell[name] for _, cell in finished)

    return Summary(
        contestant,
        finished[0][0],
        curves,
        accuracy=at("accuracy", "accuracy"),
        log_loss=at("log_loss", "log_loss"),
        best_accuracy=METRICS["accuracy"].typical_best(curves),
        best_log_loss=METRICS["log_loss"].typical_best(curves),
        seconds=at("seconds", "accuracy"),
        rounds=over("kept_rounds"),
        n_trees=over("n_trees"),
        model_bytes=over("model_bytes"),
        rows_per_second=over("predict_rows_per_second"),
        memory_mb=over("memory_mb"),
    )


def comparisons(summaries: dict[str, Summary], metric: str) -> list[Comparison]:
    """Ours against every peer on a set; empty where ours is missing."""
    if OURS not in summaries:
        return []
    peers = {name: summary.curves for name, summary in summaries.items() if name != OURS}
    return compare(summaries[OURS].curves, peers, METRICS[metric])
