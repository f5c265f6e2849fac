"""The contestants: SimplexBoost with its defaults, and the peers.

A peer runs in two ways: with its defaults, its own number of rounds among them; and with a setting for as long as the
budget lasts, where a validation split says how many of its rounds are kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

import simplexboost
from simplexboost._util.arrays import AnyArray

from .adapter import Clock, Contestant
from .histgb import HistGradientBoosting
from .peers import CatBoost, LightGBM, XGBoost, XGBoostMulti


class SimplexBoost(Contestant):
    """Ours, with defaults."""

    package = "simplexboost"
    settings: ClassVar = {"defaults": {}}
    trees_per_class = False
    suffix = "sb"

    def build(self, params: dict[str, Any]) -> Any:
        """The flagship."""
        model = simplexboost.SimplexBoostClassifier(n_jobs=self.threads, random_state=self.seed, **params)
        if self.categorical and "categorical_features" in model.get_params(deep=False):
            model.set_params(categorical_features=self.categorical)
        return model

    def fit(self, X: Any, y: AnyArray, clock: Clock) -> None:
        """The clock ticks in a callback, after all that the estimator itself does in a round.

        Whatever the estimator tries before its model counts: the clock began before. No budget ends the fit, because
        what was chosen would then have been chosen in vain; only a number of rounds does. Where the estimator tells of
        fewer rounds than the model has, none of them is counted before the end of the fit.
        """

        class Ticking(simplexboost.boosting.Callback):
            def start(self, run: Any) -> None:
                clock.begin_model()

            def after_round(self, run: Any) -> None:
                clock.tick()
                if len(clock.seconds) == clock.max_rounds and run.stop_reason is None:
                    run.stop_reason = "these were all the rounds"

        self.model.set_params(callbacks=[Ticking()]).fit(X, y)
        self.model.set_params(callbacks=None)
        if len(clock.seconds) < self.n_rounds:
            clock.seconds[:] = [clock.elapsed()] * self.n_rounds

    @property
    def n_rounds(self) -> int:
        """Early stopping may keep fewer than were trained."""
        return int(self.model.n_iter_)

    def staged(self, X: Any, rounds: Sequence[int]) -> Iterator[AnyArray]:
        """By the public generator."""
        wanted = set(rounds)
        stages = enumerate(self.model.staged_predict_proba(X), start=1)
        return (P for n_rounds, P in stages if n_rounds in wanted)

    def keep(self, n_rounds: int) -> None:
        """All: the defaults say how many rounds there are."""
        self.kept = self.n_rounds

    def predict_proba(self, X: Any) -> AnyArray:
        """By all rounds."""
        return np.asarray(self.model.predict_proba(X))

    def save(self, path: Path) -> None:
        """A zip of a header and raw arrays."""
        self.model.save(path)


OURS = "simplexboost"
CONTESTANTS: dict[str, type[Contestant]] = {
    OURS: SimplexBoost,
    "lightgbm": LightGBM,
    "xgboost": XGBoost,
    "xgboost-multi": XGBoostMulti,
    "catboost": CatBoost,
    "histgb": HistGradientBoosting,
}
