"""One temperature t for all classes: probabilities are softmax(t · 2U) in place of softmax(2U)."""

from __future__ import annotations

import numpy as np

from .._typing import Array
from ..boosting.run import Run

# Overfitted scores are too sure, which a t below 1 mends; too few rounds leave them too unsure. The loss is smooth in
# log t: between these values, which are apart by a factor of 1.3, a parabola finds t to about one part in a hundred,
# and so the log-loss to one in ten thousand (digits).
TEMPERATURES: Array = 2.0 ** np.linspace(-2.25, 2.25, 13)
PLAIN: Array = np.ones(1)  # no choice


def held_out_losses(run: Run, held: Array, temperatures: Array) -> Array:
    """The sums Σ weight · (−log p_c) over the rows held out, one for each temperature, (T,).

    Losses other than the log-loss have no temperature: there it is the sum of the loss itself, (1,).
    """
    F, c, weight = run.F[held], run.data.c[held], run.data.weight[held]
    if not run.loss.likelihood:
        return np.array([run.data.engine.total(weight * run.loss.value(run.model.scores(F), c))])
    Y = None if run.model.code.canonical else run.model.Y
    P = np.empty((len(F), run.data.K))  # (n, K)
    sums = np.empty(len(temperatures))
    for i, t in enumerate(temperatures):
        run.data.engine.softmax(F * np.float32(t), Y, P)
        own = np.take_along_axis(P, c[:, None], axis=1)[:, 0]
        sums[i] = run.data.engine.total(weight * -np.log(np.maximum(own, np.finfo(np.float32).tiny)))
    return sums


def cautious(t: float) -> float:
    """The temperature to use if t is the best one for the rows held out: t if it makes scores less sure, √t if more.

    New rows may be less like the training rows than those held out were, and to be too sure is worse than to be too
    unsure. In the logarithm √t is half of the way, which costs a quarter of what t would gain on rows alike.
    """
    return min(t, t**0.5)


def best_temperature(temperatures: Array, risks: Array) -> tuple[float, float]:
    """The temperature at the lowest point of a parabola through the lowest risk and its neighbours, and its risk."""
    i = int(risks.argmin())
    if i in (0, len(risks) - 1):
        return float(temperatures[i]), float(risks[i])
    before, here, after = risks[i - 1 : i + 2]
    bend = before - 2 * here + after
    shift = 0.5 * (before - after) / bend if bend > 0 else 0.0
    factor = (temperatures[i + 1] / temperatures[i]) ** shift
    return float(temperatures[i] * factor), float(here - 0.25 * (before - after) * shift)
