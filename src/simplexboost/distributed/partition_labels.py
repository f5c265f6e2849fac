"""Labels, weights and evaluated rows in partitions, checked and encoded as if they were in one table.

`tables.validation` and `classifiers.eval_sets` do the same for a whole table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from .._util.arrays import AnyArray, Array, Labels, Mask
from ..classifiers.eval_sets import check_init_score_val, check_weight_val
from ..classifiers.metrics import Rows
from ..classifiers.search import check_several, distinct_groups, one_per_row
from ..tables.inputs import plain_labels
from ..tables.partitions import Partition, all_or_none, in_order, in_partition
from ..tables.problem import evaluated_labels, numbers_or_last
from ..tables.validation import Checked, check_sample_weight, stacked
from .comm import Group, Share, joined
from .partition_columns import recognise_columns


def share_of(sizes: Sequence[int], here: Sequence[int]) -> Share:
    """Which rows the partitions ``here`` have, of all partitions of these sizes.

    Examples
    --------
    >>> share_of([3, 0, 2, 4], [0, 1, 3])
    Share(n=9, segments=((0, 3), (5, 9)))
    """
    ends = np.cumsum(sizes).tolist()
    return Share(ends[-1], joined([(ends[i] - sizes[i], ends[i]) for i in here if sizes[i]]))


def agree_on_groups(group: Group, parts: Sequence[Partition], used: Sequence[Mask]) -> AnyArray:
    """The groups of the rows that are trained on."""
    groups = []
    for part, rows in zip(parts, used, strict=True):
        with in_partition(part.index):
            groups.append(one_per_row(part.groups, len(rows)))

    def some() -> list[tuple[str, Any]]:  # two of every partition say whether there are two in all
        return [("list", [(part.index, distinct_groups(g)[:2]) for part, g in zip(parts, groups, strict=True)])]

    def check(pieces: list[Any]) -> None:
        found = in_order(pieces[0])
        check_several(distinct_groups(np.concatenate([one.astype(object) for one in found if len(one)])))

    group.exchange("groups", some, check)
    kept = [one[rows] for one, rows in zip(groups, used, strict=True)]
    return np.concatenate(kept) if kept else np.empty(0)


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
    def of(cls, part: Partition, X: Any, checked: Checked) -> Evaluated:
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


def agree_on_entry(group: Group, estimator: Any, parts: Sequence[Partition], checked: Checked) -> Entry:
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
        return check_sample_weight(sample_weight, np.empty((n, 0)), zeros=True)
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
