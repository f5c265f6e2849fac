"""Boosters of other libraries for ``compare``, with their defaults, where they are installed."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
import pyarrow as pa

from .._util.arrays import AnyArray, Mask
from .kinds import converted

PACKAGES = {"HGB": "sklearn", "LightGBM": "lightgbm", "XGBoost": "xgboost", "CatBoost": "catboost"}
MOST_CATEGORIES = 255  # HistGradientBoosting takes no more; columns with more are numbers to it


def installed() -> list[str]:
    """The peers that can be used here."""
    return [name for name, package in PACKAGES.items() if find_spec(package) is not None]


def encoded(X: Any) -> tuple[AnyArray, Mask]:
    """A table as numbers (n, p), categories as 0, 1, … and missing values as NaN; and which columns are categories."""
    if not isinstance(X, pa.Table):
        return np.asarray(X.todense()), np.zeros(X.shape[1], dtype=bool)
    out, mask = np.empty((X.num_rows, X.num_columns)), np.zeros(X.num_columns, dtype=bool)
    for j, column in enumerate(X.columns):
        mask[j] = pa.types.is_dictionary(column.type)
        if mask[j]:
            codes = column.cast(pa.string()).combine_chunks().dictionary_encode().indices
            out[:, j] = codes.cast(pa.float64()).to_numpy(zero_copy_only=False)
        else:
            out[:, j] = converted(column.combine_chunks()).to_numpy(zero_copy_only=False)
    return out, mask


def make_peer(name: str, X: AnyArray, mask: Mask, seed: int, jobs: int | None) -> Peer:
    """A peer with its defaults."""
    return {"HGB": HGB, "LightGBM": LightGBM, "XGBoost": XGBoost, "CatBoost": CatBoost}[name](X, mask, seed, jobs)


class Peer:
    """Another library's classifier: fits and predicts rows of the encoded table; labels are 0 .. K−1."""

    def __init__(self, X: AnyArray, mask: Mask, seed: int, jobs: int | None) -> None:
        self.mask, self.seed, self.jobs = mask, seed, -1 if jobs is None else jobs
        self.model = self.make(X)

    def make(self, X: AnyArray) -> Any:
        """The library's estimator."""
        raise NotImplementedError

    def fit(self, X: AnyArray, c: AnyArray) -> None:
        """Fit; classes that are absent from these rows must not leave gaps in the numbers."""
        self.classes, c = np.unique(c, return_inverse=True)
        self.model.fit(self.prepared(X), c, **self.more())

    def predict_proba(self, X: AnyArray) -> AnyArray:
        """Probabilities of the classes in ``classes``."""
        return np.asarray(self.model.predict_proba(self.prepared(X)))

    def prepared(self, X: AnyArray) -> Any:
        """X as the library takes it."""
        return X

    def more(self) -> dict[str, Any]:
        """What else the library's ``fit`` is told."""
        return {}


class HGB(Peer):
    """scikit-learn's HistGradientBoostingClassifier."""

    def make(self, X: AnyArray) -> Any:
        """With its defaults."""
        from sklearn.ensemble import HistGradientBoostingClassifier

        few = np.array([np.nanmax(column, initial=0) < MOST_CATEGORIES for column in X.T])
        return HistGradientBoostingClassifier(categorical_features=self.mask & few, random_state=self.seed)


class LightGBM(Peer):
    """LightGBM."""

    def make(self, X: AnyArray) -> Any:
        """With its defaults."""
        import lightgbm

        return lightgbm.LGBMClassifier(n_jobs=self.jobs, random_state=self.seed, verbosity=-1)

    def more(self) -> dict[str, Any]:
        """The categories, which its constructor does not take."""
        return {"categorical_feature": np.flatnonzero(self.mask).tolist() or "auto"}


class XGBoost(Peer):
    """XGBoost."""

    def make(self, X: AnyArray) -> Any:
        """With its defaults."""
        import xgboost

        types = ["c" if is_one else "q" for is_one in self.mask]
        return xgboost.XGBClassifier(
            n_jobs=self.jobs, random_state=self.seed, enable_categorical=True, feature_types=types
        )


class CatBoost(Peer):
    """CatBoost."""

    def make(self, X: AnyArray) -> Any:
        """With its defaults."""
        import catboost

        return catboost.CatBoostClassifier(
            thread_count=self.jobs,
            random_seed=self.seed,
            verbose=False,
            allow_writing_files=False,
            cat_features=np.flatnonzero(self.mask).tolist() or None,
        )

    def prepared(self, X: AnyArray) -> Any:
        """Categories as whole numbers, −1 for a missing one."""
        if not self.mask.any():
            return X
        table = X.astype(object)
        table[:, self.mask] = np.nan_to_num(X[:, self.mask], nan=-1).astype(np.int64)
        return table
