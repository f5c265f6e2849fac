"""The time and memory of a fit on Gaussian classes, in a process of its own."""

from __future__ import annotations

import numpy as np

from runner import Workers

from .adapter import Clock
from .cell import peak_memory
from .contestants import SimplexBoost
from .problems import make


def measure(n: int, p: int, K: int, rounds: int, threads: int) -> dict[str, float]:
    """Fit so many rounds: seconds of the whole fit and of a round (the median, without the first), memory in MB."""
    X, y = make(n, p, K)
    small = SimplexBoost("defaults", threads=threads, seed=0, categorical=np.zeros(p, dtype=bool))
    small.fit(X[:60], np.arange(60) % 3, Clock(60.0, 2))
    contestant = SimplexBoost("defaults", threads=threads, seed=0, categorical=np.zeros(p, dtype=bool))
    contestant.model.set_params(n_estimators=rounds)  # nothing is to be chosen: rounds are what is measured
    before, clock = peak_memory(), Clock(float("inf"), rounds)
    contestant.fit(X, y, clock)
    fit_seconds = clock.elapsed()
    per_round = np.diff(clock.seconds[:rounds])
    return {
        "seconds_per_round": float(np.median(per_round)) if len(per_round) else clock.seconds[0],
        "fit_seconds": fit_seconds,
        "memory_mb": peak_memory(),
        "memory_before_fit_mb": before,
    }


def measure_apart(**size: int) -> dict[str, float]:
    """`measure` in a process of its own."""
    ((_, outcome),) = Workers(threads=size["threads"], fresh=True).outcomes(_measure, [size])
    if outcome.result is None:
        raise RuntimeError(f"measuring {size} failed: {outcome.error}\n{outcome.trace}")
    return outcome.result


def _measure(size: dict[str, int]) -> dict[str, float]:
    return measure(**size)
