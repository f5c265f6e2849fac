"""Labels, weights and evaluated rows in partitions, checked and encoded as if they were in one table.

`tables.validation` and `classifiers.eval_sets` do the same for a whole table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.validation import _check_sample_weight, column_or_1d

from .._util.arrays import AnyArray, Array, Labels, Mask
from ..classifiers.eval_sets import check_init_score_val, check_weight_val
from ..classifiers.metrics import Rows
from ..classifiers.search import check_several, distinct_groups, one_per_row
from ..tables.inputs import plain_labels
from ..tables.labels import (
    check_are_classes,
    check_init_score,
    few,
    in_words,
    kind_of_target,
    known_label_numbers,
    label_numbers,
    listed_classes,
    warn_of_quantity,
)
from ..tables.problem import evaluated_labels, numbers_or_last
from ..tables.validation import (
    NEGLIGIBLE,
    Checked,
    Labelling,
    check_class_weight,
    check_finite_weight,
    check_some_weight,
    check_two_classes,
    encode_labels,
    mean_one,
    weight_of_labels,
)
from .comm import Group, Share, in_order, joined
from .group_engine import GroupRows
from .partitions import Part, agree_on_presence, all_or_none, in_partition, recognise_columns


class AgreedLabels(NamedTuple):
    """The labels and weights of a training set in partitions.

    Attributes
    ----------
    classes : (K,) all classes, sorted
    c : per partition here, the classes of the rows that are trained on, numbered among those that are present
    weight : per partition here, the weights of these rows; the mean over all partitions is one
    used : per partition here, which of its rows are trained on
    present : (K,) which classes are trained on
    share : which of all rows that are trained on are here
    n : the number of all rows
    """

    classes: AnyArray
    c: list[Labels]
    weight: list[Array]
    used: list[Mask]
    present: Mask
    share: Share
    n: int


def agree_on_labels(group: Group, parts: Sequence[Part], labelling: Labelling) -> AgreedLabels:
    """What `tables.validation.check_training` makes of the labels and weights of all partitions together.

    Parameters
    ----------
    parts : those that are here, as they are or with X as numbers; the leader has none
    """
    given = [Given.of(part, labelling) for part in parts]

    def learn(pieces: list[Any]) -> Classes:
        return learn_classes(in_order(pieces[0]), labelling)

    found = group.exchange("labels", lambda: [("list", [(g.index, g.summary()) for g in given])], learn)
    classes, K = found.classes, len(found.classes)
    c = [known_label_numbers(g.y, classes, "y") for g in given]
    weight = [g.weight if found.weight is None else g.weight * found.weight[k] for g, k in zip(given, c, strict=True)]

    def weights() -> list[tuple[str, Any]]:
        for one in weight:
            check_finite_weight(one, labelling.class_weight)
        positive = occurring([k[w > 0] for k, w in zip(c, weight, strict=True)], K)
        return [("max", np.max([w.max(initial=0.0) for w in weight], initial=0.0)), ("any", positive)]

    def heaviest(pieces: list[Any]) -> float:
        check_some_weight(bool(pieces[0] > 0))
        check_two_classes(classes, np.flatnonzero(pieces[1]), labelling)
        return float(pieces[0])

    largest = group.exchange("weights", weights, heaviest)
    used = [w > NEGLIGIBLE * largest for w in weight]
    c, weight = ([a[u] for a, u in zip(arrays, used, strict=True)] for arrays in (c, weight))

    def rows() -> list[tuple[str, Any]]:
        sizes = [(part.index, len(k)) for part, k in zip(parts, c, strict=True)]
        return [("any", occurring(c, K)), ("list", sizes)]

    present, sizes = group.exchange("rows in use", rows, lambda pieces: [pieces[0], in_order(pieces[1])])
    share = share_of(sizes, [part.index for part in parts])
    rank = np.cumsum(present) - 1  # as in `check_training`
    scaled = scaled_weights(weight, GroupRows(group, share), share.n)
    return AgreedLabels(classes, [rank[k] for k in c], scaled, used, present, share, found.n)


# ---- one partition --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class LabelSummary:
    """What a partition says of its labels: its rows, the distinct ones and their counts; and in which form it has them.

    Attributes
    ----------
    as_column : whether y has a second dimension of size one
    weighted : whether there are sample weights
    positive : whether some of them are positive
    """

    n: int
    labels: AnyArray
    counts: AnyArray
    as_column: bool
    weighted: bool
    positive: bool


@dataclass(frozen=True, eq=False)
class Given:
    """The checked labels (n,) and sample weights (n,) of a partition."""

    index: int
    y: AnyArray
    weight: Array
    as_column: bool
    weighted: bool

    @classmethod
    def of(cls, part: Part, labelling: Labelling) -> Given:
        """Those of a partition."""
        n = number_of_rows(part.X)
        with in_partition(part.index):
            given = check_target(part.y, labelling)
            y = column_or_1d(given)
            check_length("y", len(y), n)
            weight = check_sample_weight(part.sample_weight, n)
        return cls(part.index, y, weight, given.ndim > 1, part.sample_weight is not None)

    def summary(self) -> LabelSummary:
        """What the leader learns from."""
        with in_partition(self.index):
            labels, counts = distinct_labels(self.y)
        return LabelSummary(len(self.y), labels, counts, self.as_column, self.weighted, bool(self.weight.any()))


def number_of_rows(X: Any) -> int:
    """The rows of a table."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def check_length(name: str, found: int, n: int) -> None:
    """Raise unless there is an entry per row of X."""
    if found != n:
        raise ValueError(f"{name} has {found} entries, but X has {n} rows; there must be one per row.")


def check_target(y: Any, labelling: Labelling) -> AnyArray:
    """The y of a partition, as scikit-learn's check leaves it; label sets are refused."""
    if y is None:
        raise ValueError("y is None; a classifier needs the labels of all rows.")
    y = plain_labels(y)
    y = check_array(y, accept_sparse="csr", ensure_2d=False, dtype=None, input_name="y", ensure_min_samples=0)
    matrix = y.ndim > 1 and y.shape[1] > 1 and labelling.several
    if matrix and (labelling.targets or kind_of_target(y) == "multilabel-indicator"):
        raise ValueError(
            f"y is a matrix of shape {y.shape}; a table in partitions needs one label per row. Fit on one machine, or "
            "one classifier per column."
        )
    return y


def check_sample_weight(sample_weight: Any, n: int) -> Array:
    """The weights of n rows; all of them may be zero, as long as those of other partitions are not."""
    if np.ndim(sample_weight) == 0:  # None or a number
        floats = np.full(n, 1.0 if sample_weight is None else sample_weight, dtype=np.float64)
    else:
        options = {"ensure_2d": False, "dtype": np.float64, "input_name": "sample_weight", "ensure_min_samples": 0}
        floats = check_array(sample_weight, ensure_all_finite=False, **options)
    return floats if floats.shape == (n,) and not floats.any() else check_whole_weight(floats, n)


def check_whole_weight(sample_weight: Any, n: int) -> Array:
    """The weights of n rows, as for a table of these rows; some versions of scikit-learn refuse zeros only."""
    return _check_sample_weight(sample_weight, np.empty((n, 1)), dtype=np.float64, ensure_non_negative=True)


def distinct_labels(y: AnyArray) -> tuple[AnyArray, AnyArray]:
    """The sorted distinct labels and their counts; an error if they are none of a classifier.

    scikit-learn's check looks only at the distinct values. It warns if most of them occur once, which says nothing of a
    small partition: here every one occurs twice.
    """
    try:
        labels, counts = np.unique(y, return_counts=True)
    except TypeError:  # values that cannot be compared
        check_are_classes(y)
        raise
    if len(labels):
        check_are_classes(np.repeat(labels, 2))
    return labels, counts


# ---- all partitions -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Classes:
    """All classes (K,), the weights that they multiply by, (K,) or None, and the number of rows."""

    classes: AnyArray
    weight: Array | None
    n: int


def learn_classes(parts: list[LabelSummary], labelling: Labelling) -> Classes:
    """The classes of all partitions."""
    all_or_none("sample_weight", [(index, part.weighted) for index, part in enumerate(parts) if part.n])
    full = [(index, part) for index, part in enumerate(parts) if part.n]
    if not full:
        raise ValueError("y has no labels: all partitions are empty.")
    check_one_type(full)
    labels, inverse = np.unique(np.concatenate([part.labels for _, part in full]), return_inverse=True)
    counts = np.zeros(len(labels), dtype=np.int64)
    np.add.at(counts, inverse, np.concatenate([part.counts for _, part in full]))
    n = int(counts.sum())
    warn_as_of_one(labels, counts, any(part.as_column for part in parts))
    classes, _ = encode_labels(labels, labelling.classes)
    if labelling.classes is None:
        warn_of_quantity(classes, n)
    if not any(part.positive for part in parts):
        check_whole_weight(np.zeros(1), 1)
    return Classes(classes, class_weights(classes, labels, counts, labelling.class_weight), n)


def check_one_type(parts: list[tuple[int, LabelSummary]]) -> None:
    """Raise if labels are text in one partition and numbers in another."""
    i, first = parts[0]
    some = listed_classes(first.labels)[0]
    for k, part in parts:
        other = listed_classes(part.labels)[0]
        if in_words(other) != in_words(some):
            raise ValueError(
                f"y holds {in_words(some)} in partition {i}, such as {few([some])}, but {in_words(other)} in partition "
                f"{k}, such as {few([other])}; labels must have one type."
            )


def warn_as_of_one(labels: AnyArray, counts: AnyArray, as_column: bool) -> None:
    """The warnings of scikit-learn's checks on a whole y, once."""
    if as_column:
        column_or_1d(np.zeros((2, 1)), warn=True)
    if 2 * len(labels) > counts.sum():
        check_are_classes(np.repeat(labels, counts))


def class_weights(classes: AnyArray, labels: AnyArray, counts: AnyArray, class_weight: Any) -> Array | None:
    """What the weights of the rows of every class are multiplied by, (K,); None without class weights.

    Parameters
    ----------
    labels, counts : those that occur
    """
    if class_weight is None:
        return None
    check_class_weight(class_weight, labels, classes)
    if isinstance(class_weight, str):  # "balanced", by scikit-learn's formula
        of_label = counts.sum() / (len(labels) * counts.astype(np.float64))
    else:
        of_label = weight_of_labels(labels, class_weight)
    out = np.ones(len(classes))
    out[label_numbers(labels, classes)] = of_label
    return out


def occurring(c: list[Labels], K: int) -> Mask:
    """Which of K classes occur."""
    out = np.zeros(K, dtype=bool)
    for one in c:
        out[one] = True
    return out


def share_of(sizes: Sequence[int], here: Sequence[int]) -> Share:
    """Which rows the partitions ``here`` have, of all partitions of these sizes.

    Examples
    --------
    >>> share_of([3, 0, 2, 4], [0, 1, 3])
    Share(n=9, segments=((0, 3), (5, 9)))
    """
    ends = np.cumsum(sizes).tolist()
    return Share(ends[-1], joined([(ends[i] - sizes[i], ends[i]) for i in here if sizes[i]]))


def scaled_weights(weight: list[Array], rows: GroupRows, n: int) -> list[Array]:
    """Weights of n rows in all, with a mean of one over all of them."""
    scaled = mean_one(np.concatenate([np.empty(0), *weight]), rows, n)
    return np.split(scaled, np.cumsum([len(one) for one in weight])[:-1]) if weight else []


# ---- further fields of rows -----------------------------------------------------------------------------------------


def agree_on_init_score(group: Group, parts: Sequence[Part], labels: AgreedLabels) -> list[Array] | None:
    """The scores that boosting starts from, of the rows and classes that are trained on; None if there are none."""
    if not agree_on_presence(group, "init_score", parts):
        return None
    scores = []
    for part, used in zip(parts, labels.used, strict=True):
        with in_partition(part.index):
            scores.append(check_init_score(part.init_score, len(used), len(labels.classes))[used][:, labels.present])
    return scores


def agree_on_groups(group: Group, parts: Sequence[Part], labels: AgreedLabels) -> list[AnyArray] | None:
    """The groups of the rows that are trained on; None if there are none."""
    if not agree_on_presence(group, "groups", parts):
        return None
    groups = []
    for part, used in zip(parts, labels.used, strict=True):
        with in_partition(part.index):
            groups.append(one_per_row(part.groups, len(used)))

    def some() -> list[tuple[str, Any]]:  # two of every partition say whether there are two in all
        return [("list", [(part.index, distinct_groups(g)[:2]) for part, g in zip(parts, groups, strict=True)])]

    def check(pieces: list[Any]) -> None:
        found = in_order(pieces[0])
        check_several(distinct_groups(np.concatenate([one.astype(object) for one in found if len(one)])))

    group.exchange("groups", some, check)
    return [one[used] for one, used in zip(groups, labels.used, strict=True)]


# ---- rows of X_val --------------------------------------------------------------------------------------------------

OF = "X_val: "  # the beginning of messages
SHOWN = 5  # labels in a message


@dataclass(frozen=True, eq=False)
class Entry:
    """The rows of one evaluated set that are here, as `classifiers.eval_sets.EvalContext.evaluation` takes them.

    Attributes
    ----------
    rows : those of all partitions here, one after another
    targets : (n,) the numbers of their classes among the trained ones, or −1
    init_score : (n, K) or None
    share : which of all rows of the entry are here
    """

    rows: Rows
    targets: Labels
    init_score: Array | None
    share: Share


@dataclass(frozen=True, eq=False)
class Evaluated:
    """A partition of an entry, checked."""

    index: int
    X: Any
    y: AnyArray
    c: Labels
    weight: Array | None
    init_score: Array | None
    as_column: bool

    @classmethod
    def of(cls, part: Part, X: Any, checked: Checked) -> Evaluated:
        """A partition, with X as numbers."""
        with in_partition(part.index, OF):
            start = None if part.init_score is None else check_init_score_val(X, part.init_score, checked)
            weight = None if part.sample_weight is None else check_part_weight(part.sample_weight, X.shape[0])
            given = np.asarray(plain_labels(part.y))
            as_column = given.ndim == 2 and given.shape[1] == 1
            y = evaluated_labels(given.ravel() if as_column else given, X.shape[0])
        return cls(part.index, X, y, numbers_or_last(y, checked.classes), weight, start, as_column)

    def summary(self) -> EvalSummary:
        """What the leader looks at."""
        return EvalSummary(
            len(self.y),
            self.y[:SHOWN],
            self.as_column,
            self.weight is not None,
            self.weight is None or bool(self.weight.any()),
            self.init_score is not None,
        )


@dataclass(frozen=True, eq=False)
class EvalSummary:
    """What a partition says: its rows, its first labels, and what it has besides."""

    n: int
    labels: AnyArray
    as_column: bool
    weighted: bool
    positive: bool
    started: bool


@dataclass(frozen=True, eq=False)
class Agreed:
    """What all partitions have: their sizes, the first labels of all, and what there is besides labels."""

    sizes: list[int]
    labels: AnyArray
    weighted: bool
    started: bool


def agree_on_entry(group: Group, estimator: Any, parts: Sequence[Part], checked: Checked) -> Entry:
    """Return the rows of one evaluated set that are here, after checking them together with all others.

    Parameters
    ----------
    estimator : knows the columns that X must have
    parts : the partitions that are here; the leader has none
    checked : the classes of all training rows and those that are present; its training set is that of the rows here
    """
    tables = recognise_columns(group, estimator, parts, OF)
    here = [Evaluated.of(part, X, checked) for part, X in zip(parts, tables, strict=True)]

    def look(pieces: list[Any]) -> Agreed:
        return check_partitions(in_order(pieces[0]), checked)

    agreed = group.exchange("evaluated rows", lambda: [("list", [(one.index, one.summary()) for one in here])], look)
    p, K, dtype = estimator.n_features_in_, int(checked.present.sum()), agreed.labels.dtype
    X = stacked([one.X for one in here], p)
    y = np.concatenate([agreed.labels[:0], *(one.y.astype(dtype) for one in here)])
    c = np.concatenate([np.empty(0, dtype=np.intp), *(one.c for one in here)])
    weight, start = None, None
    if agreed.weighted:
        weight = np.concatenate([np.empty(0), *(one.weight for one in here if one.weight is not None)])
    if agreed.started:
        start = np.concatenate([np.empty((0, K)), *(one.init_score for one in here if one.init_score is not None)])
    problem: Any = checked.problem  # which is that of one class
    targets = problem.targets_of(c)

    def some() -> list[tuple[str, Any]]:
        counts = targets >= 0 if weight is None else weight[targets >= 0] > 0
        return [("any", np.bool_(counts.any()))]

    group.exchange(
        "trained labels", some, lambda pieces: problem.check_some_target(bool(pieces[0]), agreed.labels.tolist())
    )
    return Entry(Rows(X, y, c, weight), targets, start, share_of(agreed.sizes, [part.index for part in parts]))


def check_part_weight(sample_weight: Any, n: int) -> Array:
    """The weights of the n rows of a partition; all may be zero, if those of other partitions are not."""
    try:
        return check_sample_weight(sample_weight, n)
    except ValueError as error:
        raise ValueError(f"sample_weight_val is refused: {error}") from error


def check_partitions(parts: list[EvalSummary], checked: Checked) -> Agreed:
    """What all partitions have together; an error if they do not go together."""
    full = [(index, part) for index, part in enumerate(parts) if part.n]
    weighted = all_or_none("sample_weight_val", [(index, part.weighted) for index, part in full])
    started = all_or_none("init_score_val", [(index, part.started) for index, part in full])
    if not started:
        check_init_score_val(np.empty((0, 0)), None, checked)
    if weighted and not any(part.positive for part in parts):
        check_weight_val(np.empty((1, 1)), np.zeros(1))
    if any(part.as_column for part in parts):
        column_or_1d(np.zeros((2, 1)), warn=True)  # the warning, once
    labels = np.concatenate([part.labels for _, part in full])
    return Agreed([part.n for part in parts], labels[:SHOWN], weighted, started)


def stacked(tables: list[Any], p: int) -> Any:
    """Tables of p columns, one below another."""
    if len(tables) == 1:
        return tables[0]
    if any(sparse.issparse(X) for X in tables):
        return sparse.vstack(tables, format="csr")
    return np.concatenate(tables) if tables else np.empty((0, p))
