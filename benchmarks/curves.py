"""Learning curves, test scores against fit time, and the time ratio between two libraries."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median_high, median_low
from typing import Any

import numpy as np

EVERY_ROUND = 20  # the grid of rounds holds each of the first ones, then steps of 5 %
SMALLEST_PROBABILITY = 1e-15


def grid(n_rounds: int) -> list[int]:
    """Rounds at which a fit of ``n_rounds`` is evaluated: dense at first, then 5 % apart, always the last one.

    Examples
    --------
    >>> grid(30)[-9:]
    [20, 21, 22, 23, 24, 25, 27, 29, 30]
    """
    rounds, value = [], 1.0
    while value < n_rounds:
        rounds.append(int(value))
        value = max(value + 1, value * 1.05) if value < EVERY_ROUND else value * 1.05
    return sorted({*rounds, n_rounds}) if n_rounds > 0 else []


def score(P: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Accuracy and log-loss of probabilities P (n, K) against labels y (n,); what is not a number counts as zero."""
    P = np.nan_to_num(np.asarray(P, dtype=np.float64))
    own = np.clip(P[np.arange(len(y)), y], SMALLEST_PROBABILITY, 1.0)
    return float(np.mean(P.argmax(axis=1) == y)), float(-np.log(own).mean())


@dataclass
class Curve:
    """Scores after some of the rounds of one fit; ``seconds`` is fit time alone, from the call of ``fit``."""

    rounds: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    accuracy: list[float] = field(default_factory=list)
    log_loss: list[float] = field(default_factory=list)

    def add(self, n_rounds: int, seconds: float, accuracy: float, log_loss: float) -> None:
        """Append a point."""
        for values, value in zip(asdict_lists(self), (n_rounds, seconds, accuracy, log_loss), strict=True):
            values.append(value)

    def to_json(self) -> dict[str, list[Any]]:
        """As plain lists."""
        return asdict(self)

    def index(self, n_rounds: int | None) -> int:
        """The last point with at most ``n_rounds`` rounds (None: the last one)."""
        if n_rounds is None:
            return len(self.rounds) - 1
        return max([i for i, r in enumerate(self.rounds) if r <= n_rounds], default=0)


def asdict_lists(curve: Curve) -> tuple[list[Any], ...]:
    """The columns, in the order of the fields."""
    return curve.rounds, curve.seconds, curve.accuracy, curve.log_loss


# ---- the time ratio -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Metric:
    """How a score is compared.

    Accuracy: peers within 0.5 point of the best peer count, and the target is a peer's own best minus 0.1 point.
    Log-loss: peers within 5 % of the best peer count, and the target is a peer's own best plus 1 %.
    """

    name: str
    higher_is_better: bool

    def best(self, values: Sequence[float]) -> float:
        """The best of several."""
        return max(values) if self.higher_is_better else min(values)

    def typical_best(self, curves: Sequence[Curve]) -> float:
        """The median over repeats of a curve's best; the lesser of two middle ones, so that most repeats reach it."""
        bests = [self.best(getattr(curve, self.name)) for curve in curves]
        return median_low(bests) if self.higher_is_better else median_high(bests)

    def counts(self, value: float, best: float) -> bool:
        """Whether a peer is close enough to the best peer to be compared with."""
        return value >= best - 0.005 - 1e-12 if self.higher_is_better else value <= best * 1.05

    def target(self, best: float) -> float:
        """What a peer with this best must reach."""
        return best - 0.001 if self.higher_is_better else best * 1.01

    def reached(self, value: float, target: float) -> bool:
        """Whether a value is at least as good as the target."""
        return value >= target - 1e-12 if self.higher_is_better else value <= target + 1e-12


METRICS = {metric.name: metric for metric in (Metric("accuracy", True), Metric("log_loss", False))}


def time_to(curves: Sequence[Curve], metric: Metric, target: float) -> float:
    """The median over repeats of the fit time at which the target is first reached; infinite where it is not."""
    return median_low([_first(curve, metric, target) for curve in curves])


def _first(curve: Curve, metric: Metric, target: float) -> float:
    points = zip(curve.seconds, getattr(curve, metric.name), strict=True)
    return next((seconds for seconds, value in points if metric.reached(value, target)), math.inf)


@dataclass(frozen=True)
class Comparison:
    """Ours against one peer: its best, the target set by it, both times to the target, and their ratio."""

    peer: str
    best: float
    target: float
    peer_seconds: float
    our_seconds: float
    our_best: float
    counts: bool

    @property
    def ratio(self) -> float:
        """How many times as fast we are; 0 where we never reach the target."""
        return 0.0 if math.isinf(self.our_seconds) else self.peer_seconds / max(self.our_seconds, 1e-9)


def compare(ours: Sequence[Curve], peers: Mapping[str, Sequence[Curve]], metric: Metric) -> list[Comparison]:
    """Ours against every peer; ``counts`` tells which of them are close enough to the best peer."""
    bests = {name: metric.typical_best(curves) for name, curves in peers.items()}
    best = metric.best(list(bests.values())) if bests else math.nan
    out = []
    for name, curves in peers.items():
        target = metric.target(bests[name])
        times = time_to(curves, metric, target), time_to(ours, metric, target)
        counts = metric.counts(bests[name], best)
        out.append(Comparison(name, bests[name], target, *times, metric.typical_best(ours), counts))
    return out


def time_ratio(comparisons: Sequence[Comparison]) -> float | None:
    """The smallest ratio among the peers that count; None without peers."""
    return min((c.ratio for c in comparisons if c.counts), default=None)
