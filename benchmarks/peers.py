"""The peers with callbacks: LightGBM, XGBoost (a tree per class, or one tree for all), CatBoost.

Each runs with its defaults, with a slower learning rate and larger trees ("slow"), and with smaller or
regularised trees that see half of the features ("light"), or what comes nearest to that.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from simplexboost._util.arrays import AnyArray

from .adapter import MOST_ROUNDS, Clock, Contestant


class LightGBM(Contestant):
    """A tree per class and round, leaf by leaf."""

    package = "lightgbm"
    suffix = "txt"
    long: ClassVar = {"n_estimators": MOST_ROUNDS}
    settings: ClassVar = {
        "defaults": {},
        "slow": {"learning_rate": 0.05, "num_leaves": 63, "reg_lambda": 1.0},
        "light": {"num_leaves": 15, "min_child_samples": 5, "reg_lambda": 1.0, "colsample_bytree": 0.5},
    }

    def build(self, params: dict[str, Any]) -> Any:
        """The scikit-learn face."""
        import lightgbm

        params |= {"n_jobs": self.threads, "random_state": self.seed, "verbosity": -1}
        return lightgbm.LGBMClassifier(**params)

    def fit(self, X: Any, y: AnyArray, clock: Clock) -> None:
        """A callback ends training the way early stopping does."""
        from lightgbm.callback import EarlyStopException

        def tick(env: Any) -> None:
            if clock.tick():
                raise EarlyStopException(env.iteration, [("", "", 0.0, False)])

        self.model.fit(X, y, categorical_feature=self.categorical or "auto", callbacks=[tick])

    @property
    def n_rounds(self) -> int:
        """Rounds in the model."""
        return int(self.model.booster_.current_iteration())

    def raw(self, X: Any, begin: int, end: int) -> AnyArray:
        """A range of iterations."""
        part = {"start_iteration": begin, "num_iteration": end - begin, "num_threads": self.threads}
        return np.asarray(self.model.booster_.predict(X, raw_score=True, **part))

    def predict_proba(self, X: Any) -> AnyArray:
        """By the kept rounds."""
        return np.asarray(self.model.predict_proba(X, num_iteration=self.kept, validate_features=False))

    def save(self, path: Path) -> None:
        """Text."""
        self.model.booster_.save_model(path, num_iteration=self.kept)


class XGBoost(Contestant):
    """A tree per class and round, level by level."""

    package = "xgboost"
    suffix = "ubj"
    long: ClassVar = {"n_estimators": MOST_ROUNDS}
    strategy: ClassVar[str] = "one_output_per_tree"
    native_categories: ClassVar[bool] = True
    settings: ClassVar = {
        "defaults": {},
        "slow": {"learning_rate": 0.1, "max_depth": 8},
        "light": {"max_depth": 4, "colsample_bytree": 0.5},
    }

    def build(self, params: dict[str, Any]) -> Any:
        """The scikit-learn face; histograms are its default."""
        import xgboost

        common = {"n_jobs": self.threads, "random_state": self.seed}
        return xgboost.XGBClassifier(tree_method="hist", multi_strategy=self.strategy, **common, **params)

    def fit(self, X: Any, y: AnyArray, clock: Clock) -> None:
        """A callback returns True to stop."""
        from xgboost.callback import TrainingCallback

        class Ticking(TrainingCallback):
            def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
                return clock.tick()

        if self.categorical and self.native_categories:
            types = ["c" if f in set(self.categorical) else "q" for f in range(X.shape[1])]
            self.model.set_params(enable_categorical=True, feature_types=types)
        self.model.set_params(callbacks=[Ticking()]).fit(X, y)
        self.model.set_params(callbacks=None)

    @property
    def n_rounds(self) -> int:
        """Rounds in the model."""
        return int(self.model.get_booster().num_boosted_rounds())

    def raw(self, X: Any, begin: int, end: int) -> AnyArray:
        """A range of iterations on top of zero instead of the intercept, unless it is the first."""
        import xgboost

        data = xgboost.DMatrix(X, nthread=self.threads, feature_types=self.model.feature_types)
        if begin:
            K = self.model.n_classes_
            data.set_base_margin(np.zeros((len(X), K) if K > 2 else len(X), dtype=np.float32))
        part = {"output_margin": True, "iteration_range": (begin, end)}
        return np.asarray(self.model.get_booster().predict(data, **part), dtype=np.float64)

    def predict_proba(self, X: Any) -> AnyArray:
        """By the kept rounds."""
        return np.asarray(self.model.predict_proba(X, iteration_range=(0, self.kept)))

    def save(self, path: Path) -> None:
        """Universal binary JSON."""
        self.model.get_booster()[: self.kept].save_model(path)


class XGBoostMulti(XGBoost):
    """One tree a round with a vector in every leaf."""

    strategy = "multi_output_tree"
    native_categories = False  # not supported: their codes are used as numbers
    trees_per_class = False
    settings: ClassVar = {
        "defaults": {},
        "slow": {"learning_rate": 0.1, "max_depth": 8},
        "deep": {"max_depth": 10, "colsample_bytree": 0.5},
    }


class CatBoost(Contestant):
    """One oblivious tree a round with a vector in every leaf."""

    package = "catboost"
    suffix = "cbm"
    trees_per_class = False
    settings: ClassVar = {
        "defaults": {},  # 1000 rounds; its learning rate follows from this number
        "slow": {"iterations": MOST_ROUNDS, "learning_rate": 0.05, "depth": 8},
        "quick": {"iterations": MOST_ROUNDS, "learning_rate": 0.3, "rsm": 0.5},
    }

    def build(self, params: dict[str, Any]) -> Any:
        """The scikit-learn face."""
        import catboost

        common = {"thread_count": self.threads, "random_seed": self.seed, "cat_features": self.categorical or None}
        return catboost.CatBoostClassifier(verbose=False, allow_writing_files=False, **common, **params)

    def prepare(self, X: AnyArray) -> Any:
        """A frame with whole numbers in categorical columns."""
        if not self.categorical:
            return X
        import pandas

        frame = pandas.DataFrame(X)
        for feature in self.categorical:
            frame[feature] = np.nan_to_num(X[:, feature], nan=-1.0).astype(np.int64)
        return frame

    def fit(self, X: Any, y: AnyArray, clock: Clock) -> None:
        """A callback returns False to stop."""

        class Ticking:
            def after_iteration(self, info: Any) -> bool:
                return not clock.tick()

        self.model.fit(X, y, callbacks=[Ticking()])

    @property
    def n_rounds(self) -> int:
        """Rounds in the model."""
        return int(self.model.tree_count_)

    def raw(self, X: Any, begin: int, end: int) -> AnyArray:
        """A range of trees."""
        part = {"ntree_start": begin, "ntree_end": end, "thread_count": self.threads}
        return np.asarray(self.model.predict(X, prediction_type="RawFormulaVal", **part))

    def predict_proba(self, X: Any) -> AnyArray:
        """By the kept rounds."""
        return np.asarray(self.model.predict_proba(X, ntree_end=self.kept, thread_count=self.threads))

    def save(self, path: Path) -> None:
        """Its binary format."""
        model = self.model.copy()
        model.shrink(ntree_end=self.kept)
        model.save_model(str(path))
