"""What the rows held out say about sets of classes: the scores that their true classes have at the chosen rounds."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .._typing import AnyArray, Array
from ..boosting.decisions import not_zero
from ..boosting.model import AdditiveModel
from ..boosting.run import Run
from ..deciding.sets import SetScores, own_scores
from .splits import Split
from .temperatures import BLOCK

# The most probabilities that are computed, which takes seconds. With tens of thousands of classes only the first of the
# rows held out are scored; the order of the rows is that of a hash, so that they are a random sample.
MOST = 2**28
FEWEST = 1_000  # rows that are scored in any case: enough for a coverage of 0.99


def held_out_scores(runs: list[tuple[Run, Split]], n_rounds: int, temperature: float) -> SetScores:
    """The scores of all rows that were held out, each by the run that did not train on it.

    Parameters
    ----------
    runs : the runs of the winner, and what each of them held out
    n_rounds : the rounds that were chosen, in those of the race
    temperature : what the finished model multiplies its scores by
    """
    data = runs[0][0].data
    most = max(FEWEST, MOST // data.K) // len(runs) + 1
    pieces = [gathered_scores(run, split.held[:most], n_rounds, temperature) for run, split in runs]

    def joined() -> SetScores:
        score, c = (np.concatenate(column) for column in zip(*pieces, strict=True))
        return SetScores.of(score, c, data.K)

    return data.engine.decide(joined)


def gathered_scores(run: Run, held: AnyArray, n_rounds: int, temperature: float) -> tuple[Array, AnyArray]:
    """The scores of rows held out and their classes, (m,) each; where the engine decides, those of all rows."""
    run.model.settle()
    model = run.model.first(n_rounds).at(temperature)
    c = run.data.c[run.data.engine.here(held)]
    parts = [own_scores(probabilities(run, model, rows), run.data.c[here]) for rows, here in blocks(run, held)]
    engine = run.data.engine.of(held)
    return engine.gathered(np.concatenate(parts)), engine.gathered(c)


def blocks(run: Run, held: AnyArray) -> Iterator[tuple[AnyArray, AnyArray]]:
    """The rows held out, some at a time, so that many classes take little memory; and which of them are here."""
    step = max(1, BLOCK // run.data.K)
    for begin in range(0, len(held), step):
        rows = held[begin : begin + step]
        yield rows, run.data.engine.here(rows)


def probabilities(run: Run, model: AdditiveModel, rows: AnyArray) -> Array:
    """The probabilities (n, K) of some training rows by a model, computed as predictions are."""
    sample = run.data.sample(rows)
    F = model.predictor(sample.table, sample.engine)
    if run.data.init_score is not None:
        F = F + run.start(run.data.engine.here(rows))
    if not run.loss.likelihood:
        return not_zero(run.loss.probabilities(model.scores(F)))
    P = np.empty((len(F), run.data.K))  # (n, K)
    sample.engine.softmax(F, None if model.code.canonical else model.Y, P)
    return not_zero(P)
