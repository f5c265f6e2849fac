"""Validation: X, y and weights from the user → a checked `TrainingSet`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_array, check_X_y, compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_n_features, _check_sample_weight, column_or_1d

from .._parts import check_number as check_parameter
from .._typing import AnyArray, Array, Labels, Mask
from ..engine import Engine, auto_bins
from .features import Features, learn_features, more_features
from .names import check_names, check_number, learn_names
from .sparse import canonical, refuse_sparse, without_duplicates
from .tables import Table, array_table, read_table
from .training_set import LabelSets, TrainingSet

# Boosting multiplies weights, so that after a few rounds the initial ones hardly matter: a row that began with a tiny
# weight would then count like any other. Rows that weigh less than this fraction of the heaviest row are therefore left
# out, like rows of zero weight.
NEGLIGIBLE = 1e-6


@dataclass(frozen=True, eq=False)
class Taken:
    """Which tables a classifier takes.

    Attributes
    ----------
    categorical_features : "from_dtype", a mask, positions, names or None
    refusal : why the classifier cannot take categories, as the beginning of a message; None if it can
    """

    categorical_features: Any = "from_dtype"
    refusal: str | None = None

    @property
    def declared(self) -> bool:
        """Whether the user names the categorical columns."""
        return self.categorical_features is not None and not isinstance(self.categorical_features, str)


FRAMES = Taken()


def check_X(estimator: Any, X: Any, **options: Any) -> Any:
    """X in the form that kernels take, if it has the columns of the fit; NaN is allowed, infinity is not."""
    table, features = read_table(X), Features.of(estimator)
    check_names(estimator, table)
    if issparse(X) and features.categories is not None:
        refuse_sparse(X.shape[1], np.flatnonzero(features.categories.mask).tolist())
    if table is None and features.categories is not None:
        table = plain_table(X)
    if table is not None:
        check_number(estimator, len(table.columns))
    return as_numbers(estimator, X, table, features, reset=False, **options)


def learn_X(estimator: Any, X: Any, taken: Taken, *, reset: bool = True, **options: Any) -> Any:
    """X (and y, if among the options) in the form that kernels take; the estimator remembers the columns.

    If ``reset`` is false, a model goes on: X must have the columns it was fitted on, and may add categories.
    """
    table, known = read_table(X), Features() if reset else Features.of(estimator)
    (learn_names if reset else check_names)(estimator, table)
    if issparse(X):
        refuse_sparse(X.shape[1], taken.categorical_features)
    if table is None and (taken.declared or known.categories is not None):
        table = plain_table(X)
    features = known
    if table is not None and reset:
        features = learn_features(table, taken.categorical_features, taken.refusal)
    elif table is not None:
        check_number(estimator, len(table.columns))
        features = more_features(known, table, taken.categorical_features)
    estimator.feature_kinds_, estimator.categories_ = features.kinds, features.categories
    return as_numbers(estimator, X, table, features, reset=reset, **options)


def check_columns(estimator: Any, X: Any, *, reset: bool) -> Any:
    """X as it is, or as a frame that narwhals knows; only the names and the number of its columns are checked."""
    table = read_table(X)
    (learn_names if reset else check_names)(estimator, table)
    _check_n_features(estimator, X if table is None else np.empty((0, len(table.columns))), reset=reset)
    return X if table is None or table.native is None else table.native


def as_numbers(estimator: Any, X: Any, table: Table | None, features: Features, *, reset: bool, **options: Any) -> Any:
    """X (and y, if among the options), checked by scikit-learn; ``table`` is X as columns, None if it is numbers.

    A sparse X of any format comes back as a CSR matrix or array in canonical form (`engine.sparse`).
    """
    given, X = X, X if table is None else features.numbers(table)
    options = {
        "dtype": [np.float64, np.float32],
        "order": "C",
        "accept_sparse": "csr",
        "ensure_all_finite": "allow-nan",
    } | options
    check = check_X_y if "y" in options else partial(check_array, input_name="X")
    try:
        with np.errstate(invalid="ignore"):  # a sum of both infinities
            checked = check(without_duplicates(X) if issparse(X) else X, estimator=estimator, **options)
    except ValueError:
        check_infinity(X, table)
        raise
    _check_n_features(estimator, checked[0] if "y" in options else checked, reset=reset)
    if not issparse(X):
        return checked
    return (canonical(checked[0], given), *checked[1:]) if "y" in options else canonical(checked, given)


def plain_table(X: Any) -> Table | None:
    """The columns of an array of numbers, or of what can be one; None if it has not two dimensions."""
    array = None if issparse(X) else np.asarray(X)
    return None if array is None or array.ndim != 2 else array_table(array)


def check_infinity(X: Any, table: Table | None) -> None:
    """Raise if an array holds an infinite number, and say where."""
    X = np.array(X) if isinstance(X, list | tuple) else X
    if not isinstance(X, np.ndarray) or X.dtype.kind != "f" or X.ndim != 2 or not np.isinf(X).any():
        return
    row, j = np.argwhere(np.isinf(X))[0].tolist()
    where = f"column {j}" if table is None else table.columns[j].label
    raise ValueError(
        f"X contains infinity: {X[row, j]} in {where}, row {row}. Replace it by a finite number, or by NaN, which "
        "means missing."
    )


@dataclass(frozen=True, eq=False)
class Labelling:
    """How labels are to be read.

    Attributes
    ----------
    classes : all labels, if some may be absent from the training data; None means those that occur
    class_weight : dict, "balanced" or None
    several : whether y may be an indicator matrix
    declares : whether the estimator has a parameter ``classes``, which error messages may then recommend
    """

    classes: Any = None
    class_weight: Any = None
    several: bool = False
    declares: bool = True


@dataclass(frozen=True, eq=False)
class Checked:
    """A training set, all classes (K,), which of them have examples (K,), and which of the given rows it has (n,)."""

    data: TrainingSet
    classes: AnyArray
    present: Mask
    used: Mask


def check_training(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    labelling: Labelling,
    max_bins: Any,
    engine: Engine,
    taken: Taken = FRAMES,
    costs: Any = None,
    reset: bool = True,
) -> Checked:
    """The training set, all classes, and which of them have examples.

    Rows of zero or negligible weight are left out; the weights of the others are divided by their mean. A class without
    examples, whether it occurs only in ``classes`` or all its rows are left out, is not trained on: `TrainingSet.c`
    numbers the present classes only. If ``reset`` is false, X must have the features the estimator was fitted on.
    """
    X, y = learn_X(estimator, X, taken, reset=reset, y=y, multi_output=True)
    categorical = None if estimator.categories_ is None else estimator.categories_.mask
    bins = auto_bins(*X.shape) if max_bins == "auto" else max_bins
    if labelling.several and type_of_target(y) == "multilabel-indicator":
        return check_indicator(X, y, sample_weight, labelling, bins, engine, categorical)
    classes, c, weight = check_labels(X, y, sample_weight, labelling)
    used = weight > NEGLIGIBLE * weight.max()
    X, c, weight = X if used.all() else X[used], c[used], mean_one(weight[used])
    present = np.isin(np.arange(len(classes)), c)
    rank = np.cumsum(present) - 1  # label among all classes -> label among the present ones
    if costs is not None:
        costs = check_costs(costs, len(used), len(present))[used][:, present]
    data = TrainingSet(X, rank[c], weight, int(present.sum()), bins, engine, categorical, costs=costs)
    return Checked(data, classes, present, used)


def check_indicator(
    X: AnyArray,
    y: Any,
    sample_weight: Any,
    labelling: Labelling,
    bins: int,
    engine: Engine,
    categorical: Mask | None,
) -> Checked:
    """The training set of an indicator matrix y (n, K)."""
    Z = y.toarray() if issparse(y) else y
    weight = check_weight(X, Z, sample_weight, weights_of_labels(labelling.class_weight, Z.shape[1]))
    used = weight > NEGLIGIBLE * weight.max()
    sets, labels = LabelSets(Z.shape[1]), check_label_names(labelling.classes, Z.shape[1])
    weight = mean_one(weight[used])
    data = TrainingSet(X[used], sets.number(Z[used]), weight, sets.K, bins, engine, categorical, sets)
    return Checked(data, labels, np.ones(sets.K, dtype=bool), used)


def check_labels(X: Any, y: Any, sample_weight: Any, labelling: Labelling) -> tuple[AnyArray, Labels, Array]:
    """The sorted classes (K,), the number of every row's class among them (n,), and the weights of the rows (n,).

    Raises an error if fewer than two classes have examples of positive weight, unless ``classes`` declares others.
    """
    y = column_or_1d(y, warn=True)
    check_classification_targets(y)
    classes, c = encode_labels(y, labelling.classes)
    weight = check_weight(X, y, sample_weight, labelling.class_weight)
    check_two_classes(classes, np.unique(c[weight > 0]), labelling)
    return classes, c, weight


def check_two_classes(classes: AnyArray, weighed: Labels, labelling: Labelling) -> None:
    """Raise if all examples of positive weight have the same class (``weighed``) and no other classes are declared."""
    if len(weighed) < 2 and labelling.classes is None:
        advice = " (or name the others in classes=[...])" if labelling.declares else ""
        raise ValueError(
            f"y has examples of one class only ({classes[weighed[0]]!r}, after leaving out rows of zero "
            f"sample_weight); a classifier needs at least two classes{advice}."
        )


def known_labels(y: Any, n: int, classes: AnyArray, what: str = "y", which: str = "known") -> Labels:
    """The numbers of n labels among the sorted classes, (n,); ``what`` and ``which`` name them in messages."""
    y = np.asarray(y)
    unknown = np.setdiff1d(y, classes)
    if y.shape != (n,) or len(unknown):
        raise ValueError(
            f"{what} must hold a {which} label per row of X; it has shape {y.shape} for {n} rows, unknown labels "
            f"{unknown[:5].tolist()}."
        )
    return np.searchsorted(classes, y)


def check_costs(costs: Any, n: int, K: int) -> Array:
    """What each decision costs each example, (n, K), finite and not negative."""
    C = np.asarray(costs, dtype=np.float64)
    if C.shape != (n, K):
        raise ValueError(f"costs has shape {C.shape}; pass ({n}, {K}): a row per example, a column per class.")
    if not (np.isfinite(C).all() and (C >= 0).all()):
        raise ValueError(
            f"costs contains {C[~(np.isfinite(C) & (C >= 0))][0]}; entries must be finite and not negative."
        )
    return C


def check_label_names(classes: Any, K: int) -> AnyArray:
    """The names of the columns of an indicator matrix; their numbers by default."""
    if classes is None:
        return np.arange(K)
    if len(classes) != K:
        raise ValueError(f"classes={classes!r} must name the {K} columns of y.")
    return np.asarray(classes)


def weights_of_labels(class_weight: Any, K: int) -> Any:
    """Class weights as scikit-learn takes them for an indicator matrix: a label k multiplies by ``class_weight[k]``."""
    if not isinstance(class_weight, dict):
        return class_weight
    unknown = sorted(set(class_weight) - set(range(K)), key=str)
    if unknown:
        raise ValueError(f"class_weight names {unknown[:5]}; the columns of y are 0 .. {K - 1}.")
    return [{0: 1.0, 1: class_weight.get(k, 1.0)} for k in range(K)]


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


def check_weight(X: Any, y: AnyArray, sample_weight: Any, class_weight: Any) -> Array:
    """Example weights times class weights, (n,), finite, non-negative, not all zero."""
    weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    if class_weight is not None:
        check_class_weight(class_weight, y)
        weight = weight * compute_sample_weight(class_weight, y)
    if not np.isfinite(weight).all() or (weight < 0).any():
        raise ValueError(f"class_weight={class_weight!r} gives weights that are negative or not finite.")
    if not weight.any():
        raise ValueError("sample_weight (times class_weight) is zero for every row; at least one must be positive.")
    return weight


def check_class_weight(class_weight: Any, y: AnyArray) -> None:
    """Raise unless it is "balanced" or a dict of weights by label, or a list of dicts for an indicator matrix y.

    Labels that y does not have are allowed if all labels of y have a weight: a fold may lack a class.
    """
    if (isinstance(class_weight, str) and class_weight == "balanced") or (
        np.ndim(y) > 1 and type(class_weight) is list
    ):
        return
    accepted = "pass a dict of weights by label, 'balanced' or None."
    if not isinstance(class_weight, Mapping):
        raise ValueError(f"class_weight={class_weight!r} is unknown; {accepted}")
    labels = np.unique(y).tolist()
    unknown = [label for label in class_weight if label not in labels]
    if unknown and any(label not in class_weight for label in labels):
        raise ValueError(
            f"class_weight={class_weight!r} has labels that y does not have, {unknown[:5]}, and none for some of "
            f"{labels[:5]}; {accepted}"
        )
    for label, weight in class_weight.items():
        check_parameter(f"class_weight={class_weight!r}: the weight of {label!r}, weight", weight, float, 0.0)


def mean_one(weight: Array) -> Array:
    """Positive weights (n,) divided by their mean, to within 1e-8, so that only their ratios matter.

    Regularisation is measured in units of one example; compared with it, weights of sum one would be far too small. A
    power of two is taken out first, which is exact: then sums of very large weights cannot overflow, and those of very
    small ones keep their digits. The rest is multiplied by a number of 26 bits, so that whole numbers keep their exact
    ratios; splits that are equally good when rows are repeated are then equally good when they are weighted instead.
    Equal weights become exactly 1.

    Examples
    --------
    >>> mean_one(np.array([1e300, 3e300])).round(6)
    array([0.5, 1.5])
    """
    if (weight == weight[0]).all():
        return np.ones_like(weight)
    weight = np.ldexp(weight, -np.frexp(weight.max())[1])
    fraction, exponent = np.frexp(1.0 / weight.mean())
    return weight * np.ldexp(np.rint(np.ldexp(fraction, 26)), exponent - 26)
