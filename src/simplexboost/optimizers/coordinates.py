"""Coordinate descent: a scalar h in one coordinate of F, or in each."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from .._parts import check_choice, check_flag
from ..boosting.hypotheses import Hypothesis
from ..boosting.run import Run, Update
from ..losses import Gradient
from .asking import (
    ask,
    ask_each,
    binary_ray,
    binary_request,
    coordinate_ray,
    decouples,
    gradient_of,
    step_along,
    step_together,
    take_step,
)
from .base import Optimizer


@dataclass(eq=False, repr=False)
class CoordinateDescent(Optimizer):
    """Coordinate descent (CD-MCBoost): one scalar h in one coordinate of F.

    Parameters
    ----------
    schedule : {"best", "cyclic"}, default="best"
        ``"best"`` fits every coordinate and keeps the one with the lowest risk after its step (the journal version);
        ``"cyclic"`` takes coordinate t mod d in round t (the conference version), which makes rounds d times cheaper.

    Examples
    --------
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = sb.BoostingClassifier(optimizer=CoordinateDescent("cyclic"), learner="stump", n_estimators=4).fit(X, y)
    >>> clf.history_["coordinate"].tolist()
    [0, 1, 0, 1]
    """

    schedule: str = "best"

    def check(self, run: Run) -> None:
        """Raise if the schedule is unknown."""
        check_choice("schedule", self.schedule, ("best", "cyclic"))

    def propose(self, run: Run) -> list[Update]:
        """One update of one coordinate."""
        gradient, d = gradient_of(run), run.Y.shape[1]
        if self.schedule == "cyclic":
            # A coordinate without an edge is skipped; if none has an edge, there is no update.
            for j in (run.round + np.arange(d)) % d:
                if update := step_along(run, gradient, int(j)):
                    return update
            return []
        return self._best(run, gradient)

    @staticmethod
    def _best(run: Run, gradient: Gradient) -> list[Update]:
        """The update of the coordinate with the lowest risk after its step; of equal ones, the lowest coordinate."""
        requests = [binary_request(run, g) for g in gradient.G.T]
        rivals = cache(lambda: run.loss.rivals(run.U, run.data.c))  # the same for all coordinates
        risk, best = math.inf, []
        for j, (request, answer) in enumerate(zip(requests, ask_each(run, requests), strict=True)):
            ray = coordinate_ray(run, answer, j, gradient, rivals)
            update = take_step(run, request, answer, ray, j)
            if update and (after := ray.log_risk(update[0].alpha)) < risk:
                risk, best = after, update
        return best


@dataclass(eq=False, repr=False)
class AllCoordinates(Optimizer):
    """Every round fits a scalar h in each coordinate.

    Parameters
    ----------
    shared_step : bool, default=True
        One step for all coordinates, along the vector that they form; otherwise one step for each, which is exact if
        the loss decouples over coordinates (one-vs-all).

    Examples
    --------
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = sb.BoostingClassifier(optimizer=AllCoordinates(), learner="stump", n_estimators=10).fit(X, y)
    >>> clf.score(X, y) > 0.95
    True
    """

    shared_step: bool = True

    def check(self, run: Run) -> None:
        """Raise if the parameter is invalid."""
        check_flag("shared_step", self.shared_step)

    def propose(self, run: Run) -> list[Update]:
        """An update of every coordinate that has an edge."""
        gradient = gradient_of(run)
        if not self.shared_step:
            return self._separate(run, gradient)
        return step_together(run, gradient)

    @staticmethod
    def _separate(run: Run, gradient: Gradient) -> list[Update]:
        """One step for each coordinate."""
        if not decouples(run):
            return [update for j in range(run.Y.shape[1]) for update in step_along(run, gradient, j)]
        return one_by_one(run, gradient)

    def resume(self, run: Run) -> None:
        """Mark the coordinates whose last learner is perfect as ended."""
        if not self.shared_step and decouples(run):
            last = {term.coordinate: term.hypothesis for term in run.model.terms}
            run.workspace = {k for k, h in last.items() if k is not None and is_perfect(run, h, k)}


def one_by_one(run: Run, gradient: Gradient) -> list[Update]:
    """K independent boosters, each with its own steps; one that finds a perfect learner keeps it and ends."""
    d = run.Y.shape[1]
    finished: set[int] = run.workspace or set()  # coordinates that have ended
    if len(finished) == d:
        run.refusal = "perfect learner: every class has met one and has ended"
    sizes = run.data.engine.totals(np.abs(gradient.G))  # (d,)
    updates = []
    for j in (j for j in range(d) if j not in finished):
        request = binary_request(run, gradient.G[:, j])
        answer = ask(run, request)
        for update in take_step(run, request, answer, binary_ray(run, answer.outputs, j), j):
            finished = finished | {j} if update.perfect else finished
            updates.append(replace(update, share=sizes[j] / sizes.sum(), perfect=len(finished) == d))
    run.workspace = finished
    return updates


def is_perfect(run: Run, h: Hypothesis, k: int) -> bool:
    """Whether h alone separates class k from the rest; for risks that decouple."""
    return run.step.length(binary_ray(run, h.outputs(run.data.X, run.data.engine), k)).perfect
