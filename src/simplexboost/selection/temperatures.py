"""One temperature t for all classes: probabilities are softmax(t · 2U) in place of softmax(2U).

Of several labels or class targets, which are blocks of columns, each has a temperature of its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import AnyArray, Array, Labels
from ..boosting.run import Run
from ..engine import Candidates
from ..optimizers import SketchedNewton

# Overfitted scores are too sure, which a t below 1 mends; too few rounds leave them too unsure. The loss is smooth in
# log t: between these values, which are apart by a factor of 1.3, a parabola finds t to about one part in a hundred,
# and so the log-loss to one in ten thousand (digits).
TEMPERATURES: Array = 2.0 ** np.linspace(-2.25, 2.25, 13)
BLOCK = 2**21  # probabilities that are computed at a time


def held_out_losses(run: Run, held: AnyArray, temperatures: Array) -> Array:
    """The sums Σ weight · (−log p_c) over the rows ``held`` out, for each temperature and each block, (T, B).

    One class target is one block. Losses other than the log-loss have no temperature: there it is the sum of the loss
    itself, (1, 1).
    """
    held = run.data.engine.here(held)
    if isinstance(run.F, Candidates):
        return candidate_losses(run, run.F[held], held, temperatures)
    c, weight, totals = run.data.c[held], run.data.weight[held], run.data.engine.totals
    constant = run.model.constant
    if run.loss.blockwise:
        return np.array([totals(weight[:, None] * block_losses(run, held, t, constant)) for t in temperatures])
    if not run.loss.likelihood:
        values = run.loss.value(run.model.scores(run.data.engine.host(run.F[held])), c)
        return totals((weight * values)[:, None])[:, None]
    losses = np.empty((len(temperatures), len(held)))  # (T, n)
    step = max(1, BLOCK // run.data.K)  # so that many classes need no more memory than few
    for begin in range(0, len(held), step):
        rows = slice(begin, begin + step)
        start = constant if run.data.init_score is None else run.start(held[rows])
        losses[:, rows] = log_losses(run, run.data.engine.host(run.F[held[rows]]), c[rows], temperatures, start)
    return totals((weight * losses).T)[:, None]


def block_losses(run: Run, held: AnyArray, temperature: float, constant: Array | None) -> Array:
    """The losses of every block in the rows held out, (h, B), at a temperature."""
    rows: Any = SketchedNewton.objective(run).rows
    if constant is None or temperature == 1.0:
        losses: Array = rows.losses(run.F, held, temperature)
        return losses
    before = run.F[held]
    run.F[held] = before + (constant * (1.0 / temperature - 1.0)).astype(before.dtype)
    try:
        return block_losses(run, held, temperature, None)
    finally:
        run.F[held] = before


def candidate_losses(run: Run, F: Candidates, held: AnyArray, temperatures: Array) -> Array:
    """The same where rows keep the scores of few classes: a temperature multiplies that of the rest, too."""
    weight, totals = run.data.weight[held], run.data.engine.totals
    if not run.loss.likelihood:
        return totals((weight * run.loss.value_of(np.exp(-F.log_losses()[0])))[:, None])[:, None]
    return totals((weight * F.log_losses(temperatures)).T)[:, None]


def log_losses(run: Run, F: AnyArray, c: Labels, temperatures: Array, start: AnyArray | None = None) -> Array:
    """−log p_c for each temperature and row, (T, n); a temperature does not change the start of boosting.

    The start is that of every row, (n, d), or of all rows, (d,).
    """
    Y = None if run.model.code.canonical else run.model.Y
    P = np.empty((len(F), run.data.K))  # (n, K)
    out = np.empty((len(temperatures), len(F)))
    for i, t in enumerate(temperatures):
        scaled = F * np.float32(t) if start is None else (start + (F - start) * np.float32(t)).astype(F.dtype)
        run.data.engine.softmax(scaled, Y, P)
        own = np.take_along_axis(P, c[:, None], axis=1)[:, 0]
        out[i] = -np.log(np.maximum(own, np.finfo(np.float32).tiny))
    return out


def cautious(t: float) -> float:
    """The temperature to use if t is the best one for the rows held out: t if it makes scores less sure, √t if more.

    New rows may be less like the training rows than those held out were, and to be too sure is worse than to be too
    unsure. In the logarithm √t is half of the way, which costs a quarter of what t would gain on rows alike.
    """
    return min(t, t**0.5)


def best_temperature(temperatures: Array, risks: Array) -> tuple[float, float]:
    """The temperature at the lowest point of a parabola through the lowest risk and its neighbours, and its risk.

    It is 1 if no temperature changes the risk, like that of a model which predicts the same for all rows.
    """
    if np.ptp(risks) <= 1e-6 * np.abs(risks).max():
        return 1.0, float(risks[np.abs(np.log(temperatures)).argmin()])
    i = int(risks.argmin())
    if i in (0, len(risks) - 1):
        return float(temperatures[i]), float(risks[i])
    before, here, after = risks[i - 1 : i + 2]
    bend = before - 2 * here + after
    shift = 0.5 * (before - after) / bend if bend > 0 else 0.0
    factor = (temperatures[i + 1] / temperatures[i]) ** shift
    return float(temperatures[i] * factor), float(here - 0.25 * (before - after) * shift)
