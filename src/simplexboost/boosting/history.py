"""Records the risk, the edge, the step and the time of every round, for the attribute ``history_``."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

import numpy as np

from .._util.arrays import AnyArray
from ..engine import RoundBlock
from ..parts.losses.objective import mean_loss
from ..parts.optimizers.run import Run
from .callbacks import Callback

HISTORY_COLUMNS = ("risk", "edge", "step", "coordinate", "seconds")


@dataclass(eq=False)
class History(Callback):
    """Records what happened in every round; the fitted attribute ``history_`` holds its records as arrays.

    These are the risk, the edge and the step (means over the updates of a round), the coordinate (−1 for all) and the
    seconds. Where the step knows them, there are two more: error, the learner's weighted error (a mean again), and
    bound, a bound on the training error in which a tie counts as an error. The bound is the loss before the first round
    times a factor for every round, which the theory guarantees. The clock starts when the history is made, at the
    beginning of ``fit``.

    Parameters
    ----------
    records : dict of lists
        The values of each kind, one for every round; they are empty at first.
    begin : float
        The time at which the clock started, which is now by default.

    Examples
    --------
    Every booster has one of its own.

    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = sb.AdaBoostM1Classifier(n_estimators=5).fit(X, y)
    >>> sorted(clf.history_)
    ['bound', 'coordinate', 'edge', 'error', 'risk', 'seconds', 'step']
    """

    records: dict[str, list[float]] = field(default_factory=lambda: {k: [] for k in HISTORY_COLUMNS})
    begin: float = field(default_factory=time.perf_counter)

    def next_call(self, run: Run) -> int:
        return run.n_rounds

    def after_round(self, run: Run) -> None:
        if run.block is not None:
            self._add_block(run.block)
            return
        updates, records = run.updates, self.records
        coordinates = {-1 if update.coordinate is None else update.coordinate for update in updates}
        edge, step, error = updates[0].edge, updates[0].alpha, updates[0].error
        if len(updates) > 1:  # the mean of one number is itself, which a GPU would otherwise wait for
            edge = float(np.mean([update.edge for update in updates]))
            step = float(np.mean([update.alpha for update in updates]))
            error = None if error is None else float(np.mean([update.error for update in updates]))
        if error is not None:
            self.add("error", float(error))
        drops = [update.drop for update in updates if update.drop is not None]
        if len(drops) == len(updates):
            bound = 1.0  # the factor by which the bound changes with this round
            for update, drop in zip(updates, drops, strict=True):
                bound -= update.share * (1.0 - drop(run.learning_rate * update.alpha))
            bounds = records.setdefault("bound", [])
            if bounds:
                before = bounds[-1]
            else:
                start = mean_loss(run.loss, run.code, run.start(), run.data.c, run.data.weight, run.data.engine)
                before = start / run.loss.mistake(run.data.K)
            bound = float(before) * float(bound)
            bounds.append(bound if math.isfinite(bound) else math.inf)  # of a fit that diverges
        records["edge"].append(float(edge))
        records["step"].append(float(step))
        records["coordinate"].append(coordinates.pop() if len(coordinates) == 1 else -1)
        records["seconds"].append(time.perf_counter() - self.begin)
        if run.risk_before is None:
            records["risk"].append(run.risk())
        elif len(records["risk"]) < len(records["step"]) - 1:  # the risk after the round before, known only now
            records["risk"].append(run.risk_before)

    def _add_block(self, block: RoundBlock) -> None:
        """Record rounds that the engine made in one call, which has just ended."""
        records, n, now = self.records, len(block), time.perf_counter() - self.begin
        first = 1 if len(records["risk"]) == len(records["step"]) else 0  # the risk before it is known already
        records["risk"] += block.risk[first:].tolist()
        records["edge"] += block.edge.tolist()
        records["step"] += [float(block.alpha)] * n
        records["coordinate"] += [-1] * n
        records["seconds"] += (now - block.seconds[-1] + block.seconds).tolist()

    def finish(self, run: Run) -> None:
        if len(self.records["risk"]) < len(self.records["step"]):
            self.records["risk"].append(run.risk())

    def continue_from(self, arrays: dict[str, AnyArray]) -> None:
        """Begin with the records of an earlier fit."""
        unknown = np.zeros(len(arrays["step"]))  # model files do not hold the seconds
        self.records = {name: list(arrays.get(name, unknown)) for name in {**dict.fromkeys(HISTORY_COLUMNS), **arrays}}
        if self.records["risk"] and np.isnan(self.records["risk"][-1]):  # a checkpoint does not know its last risk
            self.records["risk"].pop()
        self.begin -= self.records["seconds"][-1] if self.records["seconds"] else 0.0

    def add(self, name: str, value: float) -> None:
        """Append to a column."""
        self.records.setdefault(name, []).append(value)

    def arrays(self, n_rounds: int) -> dict[str, AnyArray]:
        """The records of the first rounds as arrays; a risk that is not known yet is NaN."""
        columns = {name: [*values, np.nan] for name, values in self.records.items()}
        return {name: np.array(values[:n_rounds]) for name, values in columns.items()}
