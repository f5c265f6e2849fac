"""Checks the user's X, y, weights and costs together, and makes a `TrainingSet` of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import compute_sample_weight
from sklearn.utils.validation import _check_sample_weight, column_or_1d

from .._util.arrays import AnyArray, Array, Labels, Mask
from .._util.params import check_number as check_parameter
from ..engine import CPU, DeviceTable, Engine, Rows, auto_bins
from .inputs import FRAMES, Taken, check_nothing_is_masked, learn_rows, learn_X, plain_labels
from .labels import (
    as_listed,
    check_are_classes,
    check_some_classes,
    check_target_weights,
    few,
    indicator,
    is_indicator,
    is_matrix,
    known_label_numbers,
    listed_classes,
    of_one_kind,
    target_columns,
    warn_of_quantity,
)
from .problem import ClassTargets, LabelSets, OneClass, Problem
from .training_set import TrainingSet

# Boosting multiplies weights, so that after a few rounds the initial ones hardly matter: a row that began with a tiny
# weight would then count like any other. Rows that weigh less than this fraction of the heaviest row are therefore left
# out, like rows of zero weight.
NEGLIGIBLE = 1e-6


@dataclass(frozen=True, eq=False)
class Labelling:
    """How labels are to be read.

    Attributes
    ----------
    classes : all labels, if some may be absent from the training data; None means those that occur
    class_weight : dict, "balanced" or None
    several : whether y may be an indicator matrix
    targets : whether y may be a matrix of several class targets, and every label is a question of its own
    declares : whether the estimator has a parameter ``classes``, which error messages may then recommend
    """

    classes: Any = None
    class_weight: Any = None
    several: bool = False
    targets: bool = False
    declares: bool = True


@dataclass(frozen=True, eq=False)
class Checked:
    """A checked training set.

    Attributes
    ----------
    data : the rows that are trained on
    used : (n,) which of the given rows are trained on
    order : the labels from the lowest to the highest, if y itself tells their order; else None
    """

    data: TrainingSet
    used: Mask
    order: AnyArray | None = None

    @property
    def problem(self) -> Problem:
        """What y says of a row."""
        return self.data.problem

    @property
    def classes(self) -> Any:
        """All classes (K,), sorted; of several targets, a list of those of each."""
        return self.data.problem.classes

    @property
    def present(self) -> Mask:
        """Which of them have examples, (K,)."""
        return self.data.problem.present


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
    if isinstance(X, DeviceTable):
        y = learn_rows(estimator, X, y)
    else:
        X, y = learn_X(estimator, X, taken, reset=reset, y=y, multi_output=True)
    categorical = None if estimator.categories_ is None else estimator.categories_.mask
    bins = auto_bins(*X.shape) if max_bins == "auto" else int(max_bins)
    if labelling.several and is_matrix(y) and is_indicator(y):
        return check_indicator(X, y, sample_weight, labelling, bins, engine, categorical)
    if labelling.targets and is_matrix(y):
        return check_class_targets(X, y, sample_weight, labelling, bins, engine, categorical)
    classes, c, weight = check_labels(X, y, sample_weight, labelling)
    used = weight > NEGLIGIBLE * weight.max()
    X, c, weight = kept_rows(X, used), c[used], mean_one(weight[used], engine.rows)
    present = np.isin(np.arange(len(classes)), c)
    rank = np.cumsum(present) - 1  # label among all classes -> label among the present ones
    if costs is not None:
        costs = check_costs(costs, len(used), len(present))[used][:, present]
    problem = OneClass(classes, present)
    return Checked(TrainingSet(X, rank[c], weight, int(present.sum()), bins, engine, categorical, problem, costs), used)


def kept_rows(X: AnyArray, used: Mask) -> AnyArray:
    """The rows of X that are used, which are no copy if all are."""
    return X if used.all() else X[used]


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
    sets = LabelSets(check_label_names(labelling.classes, Z.shape[1]), labelling.targets)
    weight = mean_one(weight[used], engine.rows)
    data = TrainingSet(kept_rows(X, used), sets.number(Z[used]), weight, sets.K, bins, engine, categorical, sets)
    return Checked(data, used)


def check_class_targets(
    X: AnyArray,
    y: Any,
    sample_weight: Any,
    labelling: Labelling,
    bins: int,
    engine: Engine,
    categorical: Mask | None,
) -> Checked:
    """The training set of a matrix y (n, T) with a class of each of T targets."""
    columns = target_columns(y)
    check_target_weights(labelling.class_weight, len(columns))
    if labelling.classes is not None:
        raise ValueError(
            f"classes={labelling.classes!r} declares the classes of one target, but y has {len(columns)} columns; "
            "leave it None."
        )
    weight = check_weight(X, np.asarray(y), sample_weight, labelling.class_weight)
    used = weight > NEGLIGIBLE * weight.max()
    columns = [labels[used] for labels in columns]
    classes = [np.unique(labels) for labels in columns]
    check_some_classes(classes, left_out=not used.all())
    sets = ClassTargets(classes)
    c = sets.number(indicator(columns, classes)[0])
    weight = mean_one(weight[used], engine.rows)
    data = TrainingSet(kept_rows(X, used), c, weight, sets.K, bins, engine, categorical, sets)
    return Checked(data, used)


def check_labels(X: Any, y: Any, sample_weight: Any, labelling: Labelling) -> tuple[AnyArray, Labels, Array]:
    """The sorted classes (K,), the number of every row's class among them (n,), and the weights of the rows (n,).

    Raises an error if fewer than two classes have examples of positive weight, unless ``classes`` declares others.
    """
    y = of_one_kind(column_or_1d(y, warn=True))
    check_are_classes(y)
    classes, c = encode_labels(y, labelling.classes)
    if labelling.classes is None:
        warn_of_quantity(classes, len(y))
    weight = check_weight(X, y, sample_weight, labelling.class_weight, classes)
    check_two_classes(classes, np.unique(c[weight > 0]), labelling)
    return classes, c, weight


def check_two_classes(classes: AnyArray, weighed: Labels, labelling: Labelling) -> None:
    """Raise if all examples of positive weight have the same class (``weighed``) and no other classes are declared."""
    if len(weighed) < 2 and labelling.classes is None:
        advice = " (or name the others in classes=[...])" if labelling.declares else ""
        left_out = ", after leaving out rows of zero sample_weight" if len(classes) > 1 else ""
        raise ValueError(
            f"y has examples of one class only ({few(listed_classes(classes[weighed[:1]]))}{left_out}); a classifier "
            f"needs at least two classes{advice}."
        )


def known_labels(y: Any, n: int, classes: AnyArray, what: str = "y") -> Labels:
    """The numbers of n labels among the classes, (n,); ``what`` names them in messages."""
    y = plain_labels(y, what)
    try:
        y = np.asarray(y)
    except (TypeError, ValueError) as error:  # rows of different lengths
        raise TypeError(
            f"{what} must hold a known label per row of X, such as {few(classes.tolist())}: {error}"
        ) from error
    if y.shape != (n,):
        raise ValueError(f"{what} must hold a known label per row of X; it has shape {y.shape} for {n} rows.")
    return known_label_numbers(y, classes, what)


def check_costs(costs: Any, n: int, K: int) -> Array:
    """What each decision costs each example, (n, K), finite and not negative."""
    try:
        if np.iscomplexobj(costs):
            raise TypeError("they are complex")
        C = np.asarray(costs, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"costs must hold numbers: {error}") from error
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
    if np.shape(classes) != (K,) or len(np.unique(np.asarray(classes))) < K:
        raise ValueError(f"classes={classes!r} must name the {K} columns of y, each by a name of its own.")
    return np.asarray(classes)


def weights_of_labels(class_weight: Any, K: int) -> Any:
    """Class weights as scikit-learn takes them for an indicator matrix: a label k multiplies by ``class_weight[k]``."""
    if not isinstance(class_weight, dict):
        return class_weight
    unknown = sorted(set(class_weight) - set(range(K)), key=str)
    if unknown:
        raise ValueError(f"class_weight names {unknown[:5]}; the columns of y are 0 .. {K - 1}.")
    check_weights_by_label(class_weight, class_weight)
    return [{0: 1.0, 1: class_weight.get(k, 1.0)} for k in range(K)]


def encode_labels(y: AnyArray, classes: Any) -> tuple[AnyArray, Labels]:
    """The sorted classes, and every label's index among them."""
    if classes is None:
        found, c = np.unique(y, return_inverse=True)
        return found, c
    try:
        declared = np.asarray(classes)
        different = len(np.unique(declared)) if declared.ndim == 1 else 0
    except (TypeError, ValueError) as error:  # of several types, or rows of different lengths
        raise TypeError(f"classes={classes!r} must list labels like those of y: {error}") from error
    if declared.ndim != 1 or different < max(2, len(declared)):
        raise ValueError(f"classes={classes!r} must list at least two different labels.")
    declared = np.sort(declared)
    return declared, known_label_numbers(y, declared, "y", "the declared classes")


def check_weight(X: Any, y: AnyArray, sample_weight: Any, class_weight: Any, classes: AnyArray | None = None) -> Array:
    """Example weights times class weights, (n,), finite, non-negative, not all zero.

    ``classes`` are all labels of one target, if some may have no rows.
    """
    weight = check_sample_weight(sample_weight, X)
    if class_weight is not None:
        check_class_weight(class_weight, y, classes)
        with np.errstate(over="ignore"):  # an infinite product is refused next
            weight = weight * weight_of_labels(y, class_weight)
    check_finite_weight(weight, class_weight)
    check_some_weight(bool(weight.any()))
    return weight


def check_sample_weight(sample_weight: Any, X: Any) -> Array:
    """The weights of the rows of X, (n,), finite and not negative."""
    check_nothing_is_masked("sample_weight", sample_weight)
    try:
        with np.errstate(over="ignore"):  # numbers of more than 64 bits; they are refused as infinite
            return _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    except (TypeError, ValueError, OverflowError) as error:
        if isinstance(error, ValueError) and "weight" in str(error):
            raise
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"sample_weight must hold a number from 0 on for every row of X: {error}") from error


def check_finite_weight(weight: Array, class_weight: Any) -> None:
    """Raise if class weights make some weight infinite or negative."""
    if not np.isfinite(weight).all() or (weight < 0).any():
        raise ValueError(f"class_weight={class_weight!r} gives weights that are negative or not finite.")


def check_some_weight(some: bool) -> None:
    """Raise unless some weight is positive."""
    if not some:
        raise ValueError("sample_weight (times class_weight) is zero for every row; at least one must be positive.")


def weight_of_labels(y: AnyArray, class_weight: Any) -> Array:
    """The weight that every row of y has by its labels, (n,).

    A dict may have weights of labels that y does not have, and of dates, both of which scikit-learn refuses.
    """
    if not isinstance(class_weight, Mapping) or np.ndim(y) != 1:
        return compute_sample_weight(class_weight, y)
    found, c = np.unique(y, return_inverse=True)
    weights = by_class(class_weight, found)
    return np.array([weights.get(label, 1.0) for label in listed_classes(found)], dtype=np.float64)[c]


def by_class(weights: Mapping[Any, Any], classes: AnyArray) -> dict[Any, Any]:
    """Weights by label, where labels that are dates or durations are as NumPy has them in the classes (K,)."""
    return {as_listed(label, classes): weight for label, weight in weights.items()}


def check_class_weight(class_weight: Any, y: AnyArray, classes: AnyArray | None = None) -> None:
    """Raise unless it is "balanced" or a dict of weights by label, or a list of dicts for an indicator matrix y.

    Labels that neither y nor ``classes`` have are allowed if all labels of y have a weight: a fold may lack a class.
    """
    if isinstance(class_weight, str) and class_weight == "balanced":
        return
    if np.ndim(y) > 1 and type(class_weight) is list:
        check_weights_by_column(class_weight, np.shape(y)[1])
        return
    accepted = "pass a dict of weights by label, 'balanced' or None."
    if not isinstance(class_weight, Mapping):
        raise ValueError(f"class_weight={class_weight!r} is unknown; {accepted}")
    found = np.unique(y)
    labels, given = listed_classes(found), by_class(class_weight, found)
    known = labels if classes is None else listed_classes(classes)
    unknown = [label for label in given if label not in known]
    if unknown and any(label not in given for label in labels):
        raise ValueError(
            f"class_weight={class_weight!r} has labels that y does not have, {unknown[:5]}, and none for some of "
            f"{labels[:5]}; {accepted}"
        )
    check_weights_by_label(class_weight, class_weight)


def check_weights_by_column(class_weight: list[Any], K: int) -> None:
    """Raise unless a list holds, for each of K columns of an indicator matrix, weights of 0 and 1 in a dict."""
    if len(class_weight) != K or not all(isinstance(weights, Mapping) for weights in class_weight):
        raise ValueError(f"class_weight={class_weight!r} must list a dict of weights for each of the {K} columns of y.")
    for weights in class_weight:
        check_weights_by_label(weights, class_weight)


def check_weights_by_label(weights: Mapping[Any, Any], class_weight: Any) -> None:
    """Raise unless the weights of labels, all or a part of ``class_weight``, are numbers that are not negative."""
    for label, weight in weights.items():
        check_parameter(f"class_weight={class_weight!r}: the weight of {label!r}, weight", weight, float, 0.0)


def mean_one(weight: Array, rows: Rows = CPU.rows, n: int | None = None) -> Array:
    """Positive weights (n,) divided by their mean, to within 1e-8, so that only their ratios matter.

    Regularisation is measured in units of one example; compared with it, weights of sum one would be far too small. A
    power of two is taken out first, which is exact: then sums of very large weights cannot overflow, and those of very
    small ones keep their digits. The rest is multiplied by a number of 26 bits, so that whole numbers keep their exact
    ratios; splits that are equally good when rows are repeated are then equally good when they are weighted instead.
    Equal weights become exactly 1.

    Parameters
    ----------
    weight : (n,), or those of the rows that are here
    rows : reduces over all rows, wherever they are; its sums are exact, so that they do not depend on that
    n : the number of all rows, if not all are here

    Examples
    --------
    >>> mean_one(np.array([1e300, 3e300])).round(6)
    array([0.5, 1.5])
    """
    largest = rows.largest(weight)
    if rows.every(weight == largest):
        return np.ones_like(weight)
    weight = np.ldexp(weight, -np.frexp(largest)[1])
    fraction, exponent = np.frexp((len(weight) if n is None else n) / rows.total(weight))
    return weight * np.ldexp(np.rint(np.ldexp(fraction, 26)), exponent - 26)
