"""Fits boosters of other installed libraries, with their default parameters, for the command ``compare``."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .._util.arrays import AnyArray, Mask
from .kinds import as_floats

PACKAGES = {"HGB": "sklearn", "LightGBM": "lightgbm", "XGBoost": "xgboost", "CatBoost": "catboost"}
MOST_CATEGORIES = 255  # HistGradientBoosting takes no more; columns with more are numbers to it


def find_installed() -> list[str]:
    """Return the names of the boosters in `PACKAGES` whose libraries are installed."""
    return [name for name, package in PACKAGES.items() if find_spec(package) is not None]


def encode_table(X: Any) -> tuple[AnyArray, Mask]:
    """Return a table as numbers (n, p), category codes and NaN if missing, and a mask (p,) of categorical columns."""
    if not isinstance(X, pa.Table):
        return np.asarray(X.todense()), np.zeros(X.shape[1], dtype=bool)
    mask = np.array([pa.types.is_dictionary(column.type) for column in X.columns], dtype=bool)
    columns = []
    for column, is_category in zip(X.columns, mask, strict=True):
        if is_category:
            words = column.cast(pa.string())
            column = pc.index_in(words, words.drop_null().unique())
        columns.append(as_floats(column).to_numpy())
    return np.column_stack(columns), mask


class Peer:
    """A booster of another library, such as LightGBM; it takes X from `encode_table` and class indices."""

    def __init__(self, name: str, X: AnyArray, mask: Mask, seed: int, jobs: int | None) -> None:
        self.name, self.mask = name, mask
        self.fit_options: dict[str, Any] = {}
        self.model = self._make(X, np.flatnonzero(mask).tolist(), seed, -1 if jobs is None else jobs)

    def _make(self, X: AnyArray, categories: list[int], seed: int, jobs: int) -> Any:
        """Return the unfitted classifier of the library; ``categories`` are the indices of the categorical columns."""
        library = import_module("sklearn.ensemble" if self.name == "HGB" else PACKAGES[self.name])
        if self.name == "HGB":
            few = np.array([np.nanmax(column, initial=0) < MOST_CATEGORIES for column in X.T])
            return library.HistGradientBoostingClassifier(categorical_features=self.mask & few, random_state=seed)
        if self.name == "LightGBM":
            self.fit_options = {"categorical_feature": categories or "auto"}  # its constructor does not take them
            return library.LGBMClassifier(n_jobs=jobs, random_state=seed, verbosity=-1)
        if self.name == "XGBoost":
            types = ["c" if is_one else "q" for is_one in self.mask]
            return library.XGBClassifier(n_jobs=jobs, random_state=seed, enable_categorical=True, feature_types=types)
        options = {"verbose": False, "allow_writing_files": False, "cat_features": categories or None}
        return library.CatBoostClassifier(thread_count=jobs, random_seed=seed, **options)

    def fit(self, X: AnyArray, c: AnyArray) -> None:
        """Fit the classifier; class indices are renumbered without gaps if some classes are absent from the rows."""
        self.classes, c = np.unique(c, return_inverse=True)
        self.model.fit(self._rows(X), c, **self.fit_options)

    def predict_proba(self, X: AnyArray) -> AnyArray:
        """Return class probabilities, a column for each class index in ``classes``, the classes seen in the fit."""
        return np.asarray(self.model.predict_proba(self._rows(X)))

    def _rows(self, X: AnyArray) -> Any:
        """Return X in the form that the library takes: CatBoost needs category codes as integers, −1 if missing."""
        if self.name != "CatBoost" or not self.mask.any():
            return X
        table = X.astype(object)
        table[:, self.mask] = np.nan_to_num(X[:, self.mask], nan=-1).astype(np.int64)
        return table
