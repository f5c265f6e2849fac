"""Checks the user's X, y, sample weights and costs together, and builds a `TrainingSet` from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse, vstack
from sklearn.utils import compute_sample_weight
from sklearn.utils.validation import _check_sample_weight, _num_samples, column_or_1d

from .._util.arrays import AnyArray, Array, Labels, Mask
from .._util.params import check_number as check_parameter
from ..engine import CPU, DeviceTable, Engine, Rows, auto_bins
from .encoding import learn_X, remember_columns
from .features import Features
from .frames import learn_names
from .inputs import FRAMES, Taken, check_nothing_is_masked, check_target, plain_labels
from .labels import (
    as_listed,
    check_are_classes,
    check_some_classes,
    in_words,
    indicator,
    is_indicator,
    is_matrix,
    known_label_numbers,
    label_numbers,
    listed_classes,
    of_one_kind,
    show_labels,
    target_columns,
    warn_of_quantity,
)
from .partitions import ALONE, FIELDS, WHOLE, Exchange, Partition, in_order, in_partition
from .problem import ClassTargets, LabelSets, OneClass, Problem
from .training_set import TrainingSet

# Boosting multiplies weights, so that after a few rounds the initial ones hardly matter: a row that began with a tiny
# weight would then count like any other. Rows that weigh less than this fraction of the heaviest row are therefore left
# out, like rows of zero weight.
NEGLIGIBLE = 1e-6


@dataclass(frozen=True, eq=False)
class Labelling:
    """Options for reading y: declared classes, class weights, and whether y may be a matrix."""

    classes: Any = None  # all labels, if some may be absent from the training data; None means those that occur
    class_weight: Any = None  # dict, "balanced" or None
    several: bool = False  # whether y may be an indicator matrix
    targets: bool = False  # whether y may be a matrix of class targets, and every label is a question of its own
    declares: bool = True  # whether the estimator has a parameter ``classes``, which error messages may then recommend


@dataclass(frozen=True, eq=False)
class Checked:
    """The result of validation: the training set, and a mask of the user's rows that are in it."""

    data: TrainingSet  # the rows that are trained on
    used: Mask  # (n,) which of the given rows are trained on
    order: AnyArray | None = None  # the labels from the lowest to the highest, if y itself tells their order; else None

    @property
    def problem(self) -> Problem:
        """The kind of y: one class, a set of labels, or one class of each of several targets per row."""
        return self.data.problem

    @property
    def classes(self) -> Any:
        """All classes (K,), sorted; with several targets, a list with the classes of each target."""
        return self.data.problem.classes

    @property
    def present(self) -> Mask:
        """The mask (K,) of the classes that have training rows."""
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
    """Check X, y, sample weights and costs; return the training set and a mask of the user's rows that are in it.

    Rows of zero or negligible weight are left out; the weights of all other rows are divided by their mean. A class
    that has no rows, or whose rows are all left out, is not trained on: `TrainingSet.c` holds indices among the present
    classes only. If ``reset`` is false, X must have the features on which the estimator was fitted.
    """
    if isinstance(X, DeviceTable):
        learn_names(estimator, None)
        remember_columns(estimator, X.shape[1], Features())
    else:
        X = learn_X(estimator, X, taken, reset=reset)
    part = check_rows(Partition(WHOLE, X, y, sample_weight))
    if labelling.several and is_matrix(part.y) and is_indicator(part.y):
        labels = read_indicator(part, labelling)
    elif labelling.targets and is_matrix(part.y):
        labels = read_targets(part, labelling)
    else:
        labels = read_labels(ALONE, [part], labelling)
    (used,), problem = labels.used, labels.problem
    data = training_set(estimator, [X], labels, max_bins, engine)
    if costs is not None and not problem.is_matrix:
        data = replace(data, costs=check_costs(costs, len(used), len(problem.present))[used][:, problem.present])
    return Checked(data, used)


@dataclass(frozen=True, eq=False)
class ReadLabels:
    """The training targets and sample weights of the rows that are trained on, in lists with an entry per partition."""

    problem: Problem  # what y says of a row: all classes, and which of them are trained on
    c: list[Labels]  # for every partition here the targets of the rows that are trained on
    weight: list[Array]  # for every partition here the weights of these rows
    used: list[Mask]  # for every partition here which of its rows are trained on
    sizes: list[int]  # the numbers of rows that are trained on, of all partitions
    n: int  # the number of all rows
    fields: frozenset[str] = frozenset()  # what all partitions have beside X and y, such as "init_score"


def training_set(estimator: Any, tables: list[Any], labels: ReadLabels, max_bins: Any, engine: Engine) -> TrainingSet:
    """Return the training set made from checked labels and tables; the list ``tables`` is emptied to free memory."""
    K, p = int(labels.problem.present.sum()), estimator.n_features_in_
    weight = mean_one(np.concatenate([np.empty(0), *labels.weight]), engine.rows)
    return TrainingSet(
        joint_table(tables, labels.used, p),
        np.concatenate([np.empty(0, dtype=np.intp), *labels.c]),
        weight,
        K,
        auto_bins(labels.n, p) if max_bins == "auto" else int(max_bins),
        engine,
        None if estimator.categories_ is None else estimator.categories_.mask,
        labels.problem,
        names=getattr(estimator, "feature_names_in_", None),
    )


def joint_table(tables: list[Any], used: list[Mask], p: int) -> Any:
    """Return as one table the rows of ``tables`` that the masks ``used`` mark; ``tables`` is emptied to free memory."""
    tables[:] = [X if rows.all() else X[rows] for X, rows in zip(tables, used, strict=True)]
    if len(tables) < 2 or issparse(tables[0]):
        return stack_tables(tables, p)
    whole, end = np.empty((sum(len(X) for X in tables), p), dtype=tables[0].dtype), 0
    while tables:
        X = tables.pop(0)
        whole[end : end + len(X)] = X
        end += len(X)
    return whole


def stack_tables(tables: list[Any], p: int) -> Any:
    """Return tables of p columns stacked row-wise into one table."""
    if len(tables) == 1:
        return tables[0]
    if any(issparse(X) for X in tables):
        return vstack(tables, format="csr")
    return np.concatenate(tables) if tables else np.empty((0, p))


# ---- one label per row ----------------------------------------------------------------------------------------------


def check_rows(part: Partition) -> Partition:
    """Return a partition after checks that y and sample weights have a valid entry per row; all weights may be zero."""
    n = _num_samples(part.X)
    with in_partition(part.index):
        y = check_target(part.y)
        if y.shape[0] != n:
            raise ValueError(f"y has {y.shape[0]} entries, but X has {n} rows: inconsistent numbers of samples.")
        weight = part.sample_weight
        if weight is not None:
            weight = check_sample_weight(weight, np.empty((n, 0)), zeros=True)
    return replace(part, y=y, sample_weight=weight)


@dataclass(frozen=True, eq=False)
class LabelSummary:
    """A summary of the labels of one partition: its distinct labels, and how many rows have each of them."""

    n: int  # the number of its rows
    labels: AnyArray  # the distinct labels, sorted, and how often each occurs; of evaluated rows, the first labels
    counts: Any
    as_column: bool  # whether y has a second dimension of size one
    fields: frozenset[str]  # what the partition has beside X and y
    positive: bool  # whether some rows have a positive weight


def summarise_labels(part: Partition, labelling: Labelling) -> tuple[LabelSummary, Labels]:
    """Return a summary of a checked partition's labels, and each row's index (n,) among its distinct labels."""
    with in_partition(part.index):
        if part.index >= 0 and labelling.several and is_matrix(part.y):
            raise ValueError(
                f"y is a matrix of shape {part.y.shape}; a table in partitions needs one label per row. Fit on one "
                "machine, or one classifier per column."
            )
        y = of_one_kind(column_or_1d(part.y))
        try:
            labels, places, counts = np.unique(y, return_inverse=True, return_counts=True)
        except TypeError:  # values that cannot be compared
            check_are_classes(y)
            raise
        if len(labels):  # twice: scikit-learn warns if most labels occur once, which says nothing of a small partition
            check_are_classes(np.repeat(labels, 2))
    positive = part.sample_weight is None or bool(part.sample_weight.any())
    return LabelSummary(len(y), labels, counts, part.y.ndim > 1, part.fields, positive), places


def common_fields(parts: dict[int, LabelSummary], suffix: str = "") -> frozenset[str]:
    """Return the names of the optional inputs (see `FIELDS`) of the partitions; raise if only some partitions have one.

    Parameters
    ----------
    suffix : appended to the names of inputs in messages
    """
    found = set()
    for name in FIELDS:
        with_it, without = ([i for i, part in parts.items() if (name in part.fields) is has] for has in (True, False))
        if with_it and without:
            raise ValueError(
                f"partition {with_it[0]} has {name}{suffix}, but partition {without[0]} has none; pass it for all "
                "partitions or for none."
            )
        found |= {name} if with_it else set()
    return frozenset(found)


@dataclass(frozen=True, eq=False)
class Classes:
    """All classes (K,), their class weights (K,) or None, the number of rows, and the names of the optional inputs."""

    classes: AnyArray
    weight: Array | None
    n: int
    fields: frozenset[str]


def learn_classes(parts: list[LabelSummary], labelling: Labelling) -> Classes:
    """Return the classes, class weights and number of rows of the whole table from all partitions' summaries."""
    full = {index: part for index, part in enumerate(parts) if part.n}
    if not full:
        raise ValueError("y has no labels: all partitions are empty.")
    fields = common_fields(full)
    check_one_type(full)
    labels, inverse = np.unique(np.concatenate([part.labels for part in full.values()]), return_inverse=True)
    counts = np.zeros(len(labels), dtype=np.int64)
    np.add.at(counts, inverse, np.concatenate([part.counts for part in full.values()]))
    n = int(counts.sum())
    if any(part.as_column for part in parts):
        column_or_1d(np.zeros((2, 1)), warn=True)  # scikit-learn's warning, once
    if 2 * len(labels) > n:
        check_are_classes(np.repeat(labels, counts))  # which may warn
    classes, _ = encode_labels(labels, labelling.classes)
    if labelling.classes is None:
        warn_of_quantity(classes, n)
    if not any(part.positive for part in parts):
        check_sample_weight(np.zeros(1), np.empty((1, 0)))
    weight = class_weights(classes, labels, counts, labelling.class_weight)
    return Classes(classes, weight, n, fields)


def check_one_type(parts: dict[int, LabelSummary]) -> None:
    """Raise ValueError unless the labels of all partitions are of the same kind, such as text or numbers."""
    first, *others = [(index, listed_classes(part.labels)[0]) for index, part in parts.items()]
    kind = in_words(first[1])
    for index, other in others:
        if in_words(other) != kind:
            raise ValueError(
                f"y holds {kind} in partition {first[0]}, such as {show_labels(first[1:])}, but {in_words(other)} in "
                f"partition {index}, such as {show_labels([other])}; labels must have one type."
            )


def class_weights(classes: AnyArray, labels: AnyArray, counts: AnyArray, class_weight: Any) -> Array | None:
    """Return the factor (K,) by which each class multiplies its rows' sample weights; None without class weights.

    Unlike in scikit-learn, a dict may have date labels, and labels that do not occur.

    Parameters
    ----------
    labels, counts : the labels that occur, and the number of rows with each
    """
    if class_weight is None:
        return None
    check_class_weight(class_weight, labels, classes)
    if isinstance(class_weight, str):  # "balanced", by scikit-learn's formula
        of_label = counts.sum() / (len(labels) * counts.astype(np.float64))
    else:
        weights = by_class(class_weight, labels)
        of_label = np.array([weights.get(label, 1.0) for label in listed_classes(labels)], dtype=np.float64)
    out = np.ones(len(classes))
    out[label_numbers(labels, classes)] = of_label
    return out


def number_labels(
    group: Exchange, parts: Sequence[Partition], labelling: Labelling
) -> tuple[Classes, list[Labels], list[Array], float]:
    """Return the classes; for each partition the rows' class indices and weights; and the largest weight of all rows.

    A weight is a sample weight times a class weight. Raises ValueError if fewer than two classes have rows of positive
    weight, unless the user declares ``classes``.
    """
    read = [summarise_labels(part, labelling) for part in parts]
    own = [(part.index, summary) for part, (summary, _) in zip(parts, read, strict=True)]
    found = group.exchange(
        "labels", lambda: [("list", own)], lambda pieces: learn_classes(in_order(pieces[0]), labelling)
    )
    c = [label_numbers(summary.labels, found.classes)[places] for summary, places in read]
    weight = [
        np.ones(len(k)) if part.sample_weight is None else part.sample_weight for part, k in zip(parts, c, strict=True)
    ]
    if found.weight is not None:
        with np.errstate(over="ignore"):  # an infinite product is refused next
            weight = [w * found.weight[k] for w, k in zip(weight, c, strict=True)]

    def weights() -> list[tuple[str, Any]]:
        for one in weight:
            check_finite_weight(one, labelling.class_weight)
        positive = find_present([k[w > 0] for k, w in zip(c, weight, strict=True)], len(found.classes))
        return [("max", np.max([w.max(initial=0.0) for w in weight], initial=0.0)), ("any", positive)]

    def heaviest(pieces: list[Any]) -> float:
        check_some_weight(bool(pieces[0] > 0))
        check_two_classes(found.classes, np.flatnonzero(pieces[1]), labelling)
        return float(pieces[0])

    return found, c, weight, group.exchange("weights", weights, heaviest)


def read_labels(group: Exchange, parts: Sequence[Partition], labelling: Labelling) -> ReadLabels:
    """Return the training targets and weights of this machine's partitions, and the classes of all partitions."""
    found, c, weight, largest = number_labels(group, parts, labelling)
    used = [w > NEGLIGIBLE * largest for w in weight]
    c = [k[u] for k, u in zip(c, used, strict=True)]
    weight = [w[u] for w, u in zip(weight, used, strict=True)]

    def rows() -> list[tuple[str, Any]]:
        sizes = [(part.index, len(k)) for part, k in zip(parts, c, strict=True)]
        return [("any", find_present(c, len(found.classes))), ("list", sizes)]

    present, sizes = group.exchange("rows in use", rows, lambda pieces: [pieces[0], in_order(pieces[1])])
    rank = np.cumsum(present) - 1  # label among all classes -> label among the present ones
    problem = OneClass(found.classes, present)
    return ReadLabels(problem, [rank[k] for k in c], weight, used, sizes, found.n, found.fields)


def find_present(c: list[Labels], K: int) -> Mask:
    """Return the mask (K,) of the classes whose index occurs in the arrays c."""
    return np.isin(np.arange(K), np.concatenate([np.empty(0, dtype=np.intp), *c]))


def check_labels(X: Any, y: Any, sample_weight: Any, labelling: Labelling) -> tuple[AnyArray, Labels, Array]:
    """Return the sorted classes (K,), and per row its class index (n,) and sample weight × class weight (n,)."""
    part = check_rows(Partition(WHOLE, X, y, sample_weight))
    found, (c,), (weight,), _ = number_labels(ALONE, [part], labelling)
    return found.classes, c, weight


# ---- a matrix of labels ---------------------------------------------------------------------------------------------


def read_indicator(part: Partition, labelling: Labelling) -> ReadLabels:
    """Return the training targets and weights of rows whose y is an indicator matrix (n, K)."""
    Z = part.y.toarray() if issparse(part.y) else part.y
    weight = matrix_weight(part, Z, weights_of_labels(labelling.class_weight, Z.shape[1]))
    used = weight > NEGLIGIBLE * weight.max()
    sets = LabelSets(check_label_names(labelling.classes, Z.shape[1]), labelling.targets)
    return ReadLabels(sets, [sets.number(Z[used])], [weight[used]], [used], [int(used.sum())], len(used))


def read_targets(part: Partition, labelling: Labelling) -> ReadLabels:
    """Return the training targets and weights of rows whose y is a matrix (n, T): a class for each of T targets."""
    columns = target_columns(part.y)
    if isinstance(labelling.class_weight, Mapping):
        raise ValueError(
            f"class_weight={labelling.class_weight!r} is one dict; for {len(columns)} targets pass a list of "
            f"{len(columns)} dicts, 'balanced' or None."
        )
    if labelling.classes is not None:
        raise ValueError(
            f"classes={labelling.classes!r} declares the classes of one target, but y has {len(columns)} columns; "
            "leave it None."
        )
    weight = matrix_weight(part, np.asarray(part.y), labelling.class_weight)
    used = weight > NEGLIGIBLE * weight.max()
    columns = [labels[used] for labels in columns]
    classes = [np.unique(labels) for labels in columns]
    check_some_classes(classes, left_out=not used.all())
    sets = ClassTargets(classes)
    c = sets.number(indicator(columns, classes)[0])
    return ReadLabels(sets, [c], [weight[used]], [used], [len(c)], len(used))


def matrix_weight(part: Partition, y: AnyArray, class_weight: Any) -> Array:
    """Return sample weights times class weights (n,) for a matrix y; raise unless finite, ≥ 0 and not all zero."""
    weight: Array = check_sample_weight(part.sample_weight, y)
    if class_weight is not None:
        check_class_weight(class_weight, y)
        with np.errstate(over="ignore"):  # an infinite product is refused next
            weight = weight * compute_sample_weight(class_weight, y)
    check_finite_weight(weight, class_weight)
    check_some_weight(bool(weight.any()))
    return weight


# ---- the parts of it ------------------------------------------------------------------------------------------------


def check_two_classes(classes: AnyArray, weighed: Labels, labelling: Labelling) -> None:
    """Raise if fewer than two classes have rows of positive weight (indices ``weighed``) and none are declared."""
    if len(weighed) < 2 and labelling.classes is None:
        advice = " (or name the others in classes=[...])" if labelling.declares else ""
        left_out = ", after leaving out rows of zero sample_weight" if len(classes) > 1 else ""
        raise ValueError(
            f"y has examples of one class only ({show_labels(listed_classes(classes[weighed[:1]]))}{left_out}); a "
            f"classifier needs at least two classes{advice}."
        )


def known_labels(y: Any, n: int, classes: AnyArray, what: str = "y") -> Labels:
    """Return the class indices (n,) of labels y; raise unless y has n labels that are all among the classes."""
    y = plain_labels(y, what)
    try:
        y = np.asarray(y)
    except (TypeError, ValueError) as error:  # rows of different lengths
        raise TypeError(
            f"{what} must hold a known label per row of X, such as {show_labels(classes.tolist())}: {error}"
        ) from error
    if y.shape != (n,):
        raise ValueError(f"{what} must hold a known label per row of X; it has shape {y.shape} for {n} rows.")
    return known_label_numbers(y, classes, what)


def check_costs(costs: Any, n: int, K: int) -> Array:
    """Return the user's costs as an array (n, K), per row and class; raise unless all are finite and not negative."""
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
    """Return the names (K,) of the columns of an indicator matrix: the user's ``classes``, or 0 .. K−1 if None."""
    if classes is None:
        return np.arange(K)
    if np.shape(classes) != (K,) or len(np.unique(np.asarray(classes))) < K:
        raise ValueError(f"classes={classes!r} must name the {K} columns of y, each by a name of its own.")
    return np.asarray(classes)


def weights_of_labels(class_weight: Any, K: int) -> Any:
    """Return class weights in scikit-learn's form for an indicator matrix: a dict becomes a list of K dicts."""
    if not isinstance(class_weight, dict):
        return class_weight
    unknown = sorted(set(class_weight) - set(range(K)), key=str)
    if unknown:
        raise ValueError(f"class_weight names {unknown[:5]}; the columns of y are 0 .. {K - 1}.")
    check_weights_by_label(class_weight, class_weight)
    return [{0: 1.0, 1: class_weight.get(k, 1.0)} for k in range(K)]


def encode_labels(y: AnyArray, classes: Any) -> tuple[AnyArray, Labels]:
    """Return the sorted classes, declared or found in y, and each label's class index; raise for undeclared labels."""
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


def check_sample_weight(sample_weight: Any, X: Any, zeros: bool = False) -> Array:
    """Return the sample weights as floats (n,); raise unless finite, ≥ 0 and, without ``zeros``, not all zero."""
    check_nothing_is_masked("sample_weight", sample_weight)
    try:
        with np.errstate(over="ignore"):  # numbers of more than 64 bits; they are refused as infinite
            return _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    except (TypeError, ValueError, OverflowError) as error:
        if zeros and ("non-zero" in str(error) or not (_num_samples(X) or _num_samples(sample_weight))):
            return np.zeros(_num_samples(X))
        if isinstance(error, ValueError) and "weight" in str(error):
            raise
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"sample_weight must hold a number from 0 on for every row of X: {error}") from error


def check_finite_weight(weight: Array, class_weight: Any) -> None:
    """Raise ValueError if a row's sample weight times its class weight is negative or not finite."""
    if not np.isfinite(weight).all() or (weight < 0).any():
        raise ValueError(f"class_weight={class_weight!r} gives weights that are negative or not finite.")


def check_some_weight(some: bool) -> None:
    """Raise ValueError if ``some``, whether any row has a positive weight, is false."""
    if not some:
        raise ValueError("sample_weight (times class_weight) is zero for every row; at least one must be positive.")


def by_class(weights: Mapping[Any, Any], classes: AnyArray) -> dict[Any, Any]:
    """Return the dict of class weights with date and duration labels converted to the NumPy type of ``classes``."""
    return {as_listed(label, classes): weight for label, weight in weights.items()}


def check_class_weight(class_weight: Any, y: AnyArray, classes: AnyArray | None = None) -> None:
    """Raise unless class weights are "balanced", a dict with labels as keys, or, for a matrix y, a list of such dicts.

    A dict with a weight for every label of y may also have labels that occur in neither y nor ``classes``: a class may
    be missing from a cross-validation fold.
    """
    if isinstance(class_weight, str) and class_weight == "balanced":
        return
    if np.ndim(y) > 1 and type(class_weight) is list:
        K = np.shape(y)[1]
        if len(class_weight) != K or not all(isinstance(weights, Mapping) for weights in class_weight):
            raise ValueError(
                f"class_weight={class_weight!r} must list a dict of weights for each of the {K} columns of y."
            )
        for weights in class_weight:
            check_weights_by_label(weights, class_weight)
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


def check_weights_by_label(weights: Mapping[Any, Any], class_weight: Any) -> None:
    """Raise unless the values of the dict ``weights`` are numbers of at least 0; messages show ``class_weight``."""
    for label, weight in weights.items():
        check_parameter(f"class_weight={class_weight!r}: the weight of {label!r}, weight", weight, float, 0.0)


def mean_one(weight: Array, rows: Rows = CPU.rows) -> Array:
    """Return positive sample weights (n,) divided by their mean, to within 1e-8.

    Regularisation is measured in units of one row; weights that sum to one would be far too small for it. The weights
    are first divided by a power of two, which is exact, so that large weights do not overflow when summed and small
    weights keep their digits. The factor that remains has 26 bits, so that whole-number weights keep their exact
    ratios: splits that are equally good with repeated rows are also equally good with weighted rows. Equal weights
    become exactly 1.

    Parameters
    ----------
    weight : (n,), or the weights of the rows on this machine
    rows : reduces over the rows of all machines; its sums are exact, however the rows are distributed
    """
    largest = rows.largest(weight)
    if rows.every(weight == largest):
        return np.ones_like(weight)
    weight = np.ldexp(weight, -np.frexp(largest)[1])
    fraction, exponent = np.frexp(rows.count(len(weight)) / rows.total(weight))
    return weight * np.ldexp(np.rint(np.ldexp(fraction, 26)), exponent - 26)
