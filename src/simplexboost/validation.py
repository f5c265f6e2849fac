"""Validation: X, y, weights as they come → a checked `TrainingSet`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.utils import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, column_or_1d, validate_data

from ._typing import AnyArray, Array, Labels, Mask
from .binning import MAX_BINS, BinnedData, auto_bins, bin_data

# Boosting multiplies weights, so that after a few rounds it has forgotten the ones it started with; rows that weigh
# less than this part of the heaviest row are left out like rows of zero weight instead of coming back to power.
NEGLIGIBLE = 1e-6


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """What boosting trains on.

    Attributes
    ----------
    X : (n, p) float32 or float64, C-contiguous, NaN where missing
    c : (n,) labels 0 .. K−1, every one of them present
    weight : (n,) positive
    K : number of classes
    categorical : (p,) which columns hold category numbers, or None
    """

    X: AnyArray
    c: Labels
    weight: Array
    K: int
    max_bins: int = MAX_BINS
    n_threads: int = 1
    categorical: Mask | None = None

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.X)

    @cached_property
    def uniform(self) -> bool:
        """Whether all rows weigh the same."""
        return bool((self.weight == self.weight[0]).all())

    @cached_property
    def binned(self) -> BinnedData:
        """X as codes, made when the first tree asks for it."""
        return bin_data(self.X, self.max_bins, self.n_threads, categorical=self.categorical)

    def subset(self, rows: AnyArray) -> TrainingSet:
        """Some of the rows."""
        return replace(self, X=self.X[rows], c=self.c[rows], weight=self.weight[rows])


def check_X(estimator: Any, X: Any, *, reset: bool, **options: Any) -> Any:
    """X (and y, if among the options) as the kernels take them; NaN is allowed, infinity is not."""
    return validate_data(
        estimator,
        X,
        reset=reset,
        dtype=[np.float64, np.float32],
        order="C",
        ensure_all_finite="allow-nan",
        **options,
    )


def check_training(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    class_weight: Any,
    classes: Any,
    max_bins: Any,
    n_threads: int,
    categorical: Mask | None = None,
) -> tuple[TrainingSet, AnyArray, Mask]:
    """The training set, all classes, and which of them have examples.

    Rows of zero or negligible weight are left out. A class without examples, be it named in ``classes`` or weighed
    down to nothing, is not trained on; `TrainingSet.c` counts the present classes only.
    """
    X, y = check_X(estimator, X, reset=True, y=y, multi_output=True)
    y = column_or_1d(y, warn=True)
    check_classification_targets(y)
    all_classes, c = encode_labels(y, classes)
    weight = check_weight(X, y, sample_weight, class_weight)
    weighed = np.unique(c[weight > 0])
    if len(weighed) < 2 and classes is None:
        raise ValueError(
            f"y has examples of one class only ({all_classes[weighed[0]]!r}, after leaving out rows of zero "
            "sample_weight); a classifier needs at least two classes (or name the others in classes=[...])."
        )
    used = weight > NEGLIGIBLE * weight.max()
    X, c, weight = X if used.all() else X[used], c[used], weight[used]
    present = np.isin(np.arange(len(all_classes)), c)
    rank = np.cumsum(present) - 1  # label among all classes -> label among the present ones
    bins = auto_bins(*X.shape) if max_bins == "auto" else max_bins
    data = TrainingSet(X, rank[c], weight, int(present.sum()), bins, n_threads, categorical)
    return data, all_classes, present


def encode_labels(y: AnyArray, classes: Any) -> tuple[AnyArray, Labels]:
    """The sorted classes, and every label's index among them."""
    if classes is None:
        found, c = np.unique(y, return_inverse=True)
        return found, c
    declared = np.asarray(classes)
    if declared.ndim != 1 or len(np.unique(declared)) != len(declared) or len(declared) < 2:
        raise ValueError(f"classes={classes!r} must list at least two different labels.")
    unknown = np.setdiff1d(y, declared)
    if len(unknown):
        raise ValueError(f"y has labels that classes={declared.tolist()!r} does not name: {unknown[:5].tolist()!r}.")
    declared = np.sort(declared)
    return declared, np.searchsorted(declared, y)


def check_weight(X: AnyArray, y: AnyArray, sample_weight: Any, class_weight: Any) -> Array:
    """Example weights times class weights, (n,), finite, non-negative, not all zero."""
    weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    if class_weight is not None:
        weight = weight * compute_sample_weight(class_weight, y)
    if not np.isfinite(weight).all() or (weight < 0).any():
        raise ValueError(f"class_weight={class_weight!r} gives weights that are negative or not finite.")
    if not weight.any():
        raise ValueError("sample_weight (times class_weight) is zero for every row; at least one must be positive.")
    return weight
