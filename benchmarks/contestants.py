"""The contestants: SimplexBoost with its defaults, and the peers.

The number of rounds is no setting of a peer: it trains until its budget is spent, and a validation split says how many
of its rounds are kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

import simplexboost
from simplexboost._typing import AnyArray

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
        """The clock ticks in a callback, after all that the estimator itself does in a round."""

        class Ticking(simplexboost.callbacks.Callback):
            def after_round(self, run: Any) -> None:
                if clock.tick() and run.stop_reason is None:
                    run.stop_reason = "the budget is spent"

        self.model.set_params(callbacks=[Ticking()]).fit(X, y)
        self.model.set_params(callbacks=None)

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
