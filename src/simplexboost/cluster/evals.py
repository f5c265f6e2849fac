"""The rows of an ``eval_set`` in partitions: what `estimators.evaluation` makes of an entry on the whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import column_or_1d

from .._typing import AnyArray, Array, Labels
from ..data.inputs import plain_labels
from ..data.validation import Checked
from ..estimators.evaluation import (
    check_eval_labels,
    check_eval_start,
    check_eval_weight,
    check_some_target,
    numbers_or_last,
    trained_targets,
)
from ..estimators.metrics import Rows
from ..group import Group, Share
from ..group.messages import in_order
from .labels import check_sample_weight, share_of
from .naming import all_or_none, in_partition
from .parts import Part
from .tables import recognise_columns

OF = "eval_set: "  # the beginning of messages
SHOWN = 5  # labels in a message


@dataclass(frozen=True, eq=False)
class Entry:
    """The rows of an entry that are here, as `estimators.evaluation.Watched.evaluation` takes them.

    Attributes
    ----------
    rows : those of all partitions here, one after another
    targets : (n,) as those of `estimators.evaluation.check_targets`
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
            start = None if part.init_score is None else check_eval_start(X, part.init_score, checked)
            weight = None if part.sample_weight is None else check_part_weight(part.sample_weight, X.shape[0])
            given = np.asarray(plain_labels(part.y))
            as_column = given.ndim == 2 and given.shape[1] == 1
            y = check_eval_labels(X, given.ravel() if as_column else given)
        return cls(part.index, X, y, numbers_or_last(y, checked.classes), weight, start, as_column)

    def summary(self) -> Summary:
        """What the leader looks at."""
        return Summary(
            len(self.y),
            self.y[:SHOWN],
            self.as_column,
            self.weight is not None,
            self.weight is None or bool(self.weight.any()),
            self.init_score is not None,
        )


@dataclass(frozen=True, eq=False)
class Summary:
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
    """The rows of one entry of an ``eval_set``.

    Parameters
    ----------
    estimator : knows the columns that X must have
    parts : the partitions that are here; the leader has none
    checked : the classes of all training rows and those that are present; its training set is that of the rows here
    """
    if checked.data.sets is not None:
        raise ValueError("eval_set takes one label per row where tables are in partitions, not an indicator matrix.")
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
    targets = trained_targets(c, checked.present)

    def some() -> list[tuple[str, Any]]:
        counts = targets >= 0 if weight is None else weight[targets >= 0] > 0
        return [("any", np.bool_(counts.any()))]

    group.exchange(
        "trained labels", some, lambda pieces: check_some_target(bool(pieces[0]), agreed.labels.tolist(), checked)
    )
    return Entry(Rows(X, y, c, weight), targets, start, share_of(agreed.sizes, [part.index for part in parts]))


def check_part_weight(sample_weight: Any, n: int) -> Array:
    """The weights of the n rows of a partition; all may be zero, if those of other partitions are not."""
    try:
        return check_sample_weight(sample_weight, n)
    except ValueError as error:
        raise ValueError(f"the sample_weight of an eval_set is refused: {error}") from error


def check_partitions(parts: list[Summary], checked: Checked) -> Agreed:
    """What all partitions have together; an error if they do not go together."""
    full = [(index, part) for index, part in enumerate(parts) if part.n]
    weighted = all_or_none("sample_weight", [(index, part.weighted) for index, part in full], OF)
    started = all_or_none("init_score", [(index, part.started) for index, part in full], OF)
    if not started:
        check_eval_start(np.empty((0, 0)), None, checked)
    if weighted and not any(part.positive for part in parts):
        check_eval_weight(np.empty((1, 1)), np.zeros(1))
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
