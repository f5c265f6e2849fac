"""scikit-learn's HistGradientBoosting, which has no callbacks, in the race."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar
from unittest.mock import patch

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.ensemble._hist_gradient_boosting import gradient_boosting

from simplexboost._util.arrays import AnyArray

from .adapter import MOST_ROUNDS, Clock, Contestant, probabilities


class Stop(Exception):  # noqa: N818
    """Ends a fit from within."""


class HistGradientBoosting(Contestant):
    """scikit-learn's: a tree per class and round, leaf by leaf. It takes its threads from OMP_NUM_THREADS."""

    package = "sklearn"
    suffix = "pickle"
    long: ClassVar = {"max_iter": MOST_ROUNDS, "early_stopping": False}  # which would take a tenth of the training rows
    settings: ClassVar = {
        "defaults": {},
        "slow": {"learning_rate": 0.05, "max_leaf_nodes": 63},
        "light": {"max_leaf_nodes": 15, "min_samples_leaf": 5, "l2_regularization": 1.0, "max_features": 0.5},
    }

    def build(self, params: dict[str, Any]) -> Any:
        """The estimator."""
        common = {"categorical_features": self.categorical or None, "random_state": self.seed}
        return HistGradientBoostingClassifier(**common, **params)

    def fit(self, X: Any, y: AnyArray, clock: Clock) -> None:
        """It has no callbacks: the grower of its trees is replaced by one that ticks after a round's last tree."""

        class Ticking(gradient_boosting.TreeGrower):
            grown, stop = 0, False

            def __init__(self, *args: Any, **kwargs: Any) -> None:
                if Ticking.stop:
                    raise Stop
                super().__init__(*args, **kwargs)

            def make_predictor(self, *args: Any, **kwargs: Any) -> Any:
                Ticking.grown += 1
                if Ticking.grown % model.n_trees_per_iteration_ == 0:
                    Ticking.stop = clock.tick()
                return super().make_predictor(*args, **kwargs)

        model = self.model
        try:
            with patch.object(gradient_boosting, "TreeGrower", Ticking):
                model.fit(X, y)
        except Stop:  # leaves an empty round behind, and a mark that says it is still fitting
            model._predictors.pop()
            del model._in_fit

    @property
    def n_rounds(self) -> int:
        """Rounds in the model."""
        return int(self.model.n_iter_)

    def staged(self, X: Any, rounds: Sequence[int]) -> Iterator[AnyArray]:
        """By the public generator."""
        wanted = set(rounds)
        stages = enumerate(self.model.staged_decision_function(X), start=1)
        return (probabilities(raw) for n_rounds, raw in stages if n_rounds in wanted)

    def keep(self, n_rounds: int) -> None:
        """Cut the list of trees."""
        super().keep(n_rounds)
        self.model._predictors = self.model._predictors[: self.kept]

    def predict_proba(self, X: Any) -> AnyArray:
        """By the kept rounds."""
        return np.asarray(self.model.predict_proba(X))

    def save(self, path: Path) -> None:
        """It has no format of its own but a pickle."""
        path.write_bytes(pickle.dumps(self.model))
