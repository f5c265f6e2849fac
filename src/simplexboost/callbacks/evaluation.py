"""Evaluation on rows that are not trained on, and early stopping."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from .._typing import AnyArray, Array, Labels
from ..boosting.model import add_terms
from ..boosting.run import Run
from ..losses.objective import mean_loss
from .base import Callback


@dataclass(eq=False)
class Evaluation(Callback):
    """Records the risk on rows that are not trained on, and metrics of their class scores U (n, K), if any are given.

    ``results`` has a list for "risk" and for every metric, with an entry per round.
    """

    X: AnyArray
    c: Labels
    weight: Array
    metrics: dict[str, Callable[[Array], float]] = field(default_factory=dict)
    results: dict[str, list[float]] = field(default_factory=dict)

    def start(self, run: Run) -> None:
        """Compute the predictor of the model so far."""
        self._F = run.model.predictor(self.X, run.data.engine)  # (n, d)
        self.results.update({name: [] for name in ("risk", *self.metrics)})

    def after_round(self, run: Run) -> None:
        """Add the newest terms to the predictor, and record."""
        begin = run.model.round_ends[-2] if run.round > 1 else 0
        add_terms(run.model.terms[begin:], self.X, self._F, run.data.engine)
        self.results["risk"].append(self.risk(run))
        for name, metric in self.metrics.items():
            self.results[name].append(float(metric(run.model.scores(self._F))))

    def risk(self, run: Run) -> float:
        """The mean loss now."""
        return mean_loss(run.loss, run.model.code, self._F, self.c, self.weight)


@dataclass(eq=False)
class EarlyStopping(Evaluation):
    """Stops when the held-out risk has not fallen by ``tol`` in ``n_iter_no_change`` rounds; keeps the best round."""

    n_iter_no_change: int = 10
    tol: float = 1e-7

    def start(self, run: Run) -> None:
        """The risk of the model so far is the best until now."""
        super().start(run)
        self._best, self.best_round = self.risk(run), run.round

    def after_round(self, run: Run) -> None:
        """Compare the risk with the best so far."""
        super().after_round(run)
        risk = self.results["risk"][-1]
        if risk < self._best - self.tol:
            self._best, self.best_round = risk, run.round
        if run.round - self.best_round >= self.n_iter_no_change and run.stop_reason is None:
            run.stop_reason = f"early stopping: no better held-out risk in {self.n_iter_no_change} rounds"

    def finish(self, run: Run) -> None:
        """Forget the rounds after the best one."""
        run.model = run.model.first(max(1, self.best_round))
