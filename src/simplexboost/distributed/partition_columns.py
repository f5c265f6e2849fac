"""X in partitions → numbers, with the columns and categories that the whole table would have.

A member says of its partitions which columns they have, of what kind these are and which categories they hold. The
leader learns from that what `tables.inputs.learn_X` learns from a whole table, with the same functions. Then everybody
turns its own partitions into numbers. Errors name the partition that they are about.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_array

from .._util.arrays import AnyArray
from ..tables.columns import WORDS, Tally
from ..tables.features import Features, learn_features, more_features
from ..tables.frames import (
    Digest,
    Digests,
    Table,
    categorical_mask,
    check_feature_count,
    check_names,
    digest_columns,
    learn_names,
    merged,
    read_table,
)
from ..tables.inputs import Taken, as_numbers, plain_table, refuse_sparse
from ..tables.partitions import Partition, in_order, in_partition
from .comm import Group


@dataclass(frozen=True, eq=False)
class Tables:
    """The partitions that a member holds, ascending; the leader holds none.

    Attributes
    ----------
    train : those of the training table
    evals : for every evaluated set of rows those of its table
    """

    train: list[Partition] = field(default_factory=list)
    evals: list[list[Partition]] = field(default_factory=list)


MOST_NAMES = 10  # of columns in a message


@dataclass(frozen=True, eq=False)
class Shape:
    """What a partition looks like.

    Attributes
    ----------
    form : "columns" if their values have to be looked at, "numbers" for arrays, "sparse"
    n, p : rows and columns
    names, by_name : those of `tables.frames.Table`
    dtype : of arrays and sparse tables; for the whole table, the type that their numbers get
    """

    form: str
    n: int
    p: int
    names: list[Any] | None = None
    by_name: str = Table.by_name
    dtype: Any = None


@dataclass(frozen=True, eq=False)
class Columns:
    """What an estimator remembers of its columns, and the type that all partitions get as numbers."""

    names: AnyArray | None
    p: int
    features: Features
    dtype: Any

    def remember(self, estimator: Any) -> None:
        """Set the attributes that `tables.inputs.learn_X` sets."""
        vars(estimator).pop("feature_names_in_", None)
        if self.names is not None:
            estimator.feature_names_in_ = self.names
        estimator.n_features_in_ = self.p
        estimator.feature_kinds_, estimator.categories_ = self.features.kinds, self.features.categories


def agree_on_columns(
    group: Group, estimator: Any, parts: Sequence[Partition], taken: Taken, reset: bool = True
) -> list[Any]:
    """The X of every partition here as numbers, and an estimator that remembers the columns of all of them.

    Parameters
    ----------
    parts : those that are here; the leader has none
    taken, reset : as in `tables.inputs.learn_X`

    Returns
    -------
    A C-contiguous array (n_i, p), or a sparse table in canonical form, per partition; float32 if the whole table would
    be float32, else float64.
    """
    known = Features() if reset else Features.of(estimator)
    read = [Reading.of(part, estimator, taken.declared or known.categories is not None) for part in parts]

    def look(pieces: list[Any]) -> tuple[Shape, Any]:
        whole = whole_shape(pieces[0], estimator)
        (learn_names if reset else check_names)(estimator, bare_table(whole))
        if whole.form == "sparse":
            refuse_sparse(whole.p, taken.categorical_features)
        if not reset:
            check_feature_count(estimator, whole.p)
        declared = bare_table(whole) if taken.declared else None
        return whole, None if declared is None else categorical_mask(declared, taken.categorical_features)

    whole, declared = group.exchange("shapes", lambda: [("list", [(r.index, r.shape) for r in read])], look)

    def learn(pieces: list[Any]) -> Columns:
        columns = merged_columns(pieces[0])
        table = Digests(columns, whole.n, whole.names, whole.by_name)
        if reset:
            features = learn_features(table, taken.categorical_features, taken.refusal)
        else:
            features = more_features(known, table, taken.categorical_features)
        return Columns(names_of(estimator), whole.p, features, type_of_columns(columns, features))

    if whole.form == "columns":
        agreed = group.exchange("columns", lambda: [("list", [(r.index, r.digests(declared)) for r in read])], learn)
    else:
        agreed = group.decide("columns", lambda: Columns(names_of(estimator), whole.p, known, whole.dtype))
    agreed.remember(estimator)
    return [one.numbers(estimator, whole.form, agreed.features, agreed.dtype) for one in read]


def recognise_columns(group: Group, estimator: Any, parts: Sequence[Partition], of: str = "") -> list[Any]:
    """The X of every partition here as numbers, if they have the columns of the fit: as `tables.inputs.check_X`.

    Parameters
    ----------
    of : the beginning of messages about single partitions
    """
    features = Features.of(estimator)
    read = [Reading.of(part, estimator, features.categories is not None, of) for part in parts]

    def look(pieces: list[Any]) -> str:
        whole = whole_shape(pieces[0], estimator, of)
        check_names(estimator, bare_table(whole))
        if whole.form == "sparse" and features.categories is not None:
            refuse_sparse(whole.p, np.flatnonzero(features.categories.mask).tolist())
        check_feature_count(estimator, whole.p)
        return whole.form

    form = group.exchange("shapes", lambda: [("list", [(r.index, r.shape) for r in read])], look)
    return [one.numbers(estimator, form, features) for one in read]


# ---- one partition --------------------------------------------------------------------------------------------------


class Reading:
    """One partition on its way to numbers.

    Attributes
    ----------
    index : of the partition
    name : of the table, the beginning of messages
    X : as the user gave it, until it is numbers
    table : X as columns; None for arrays and sparse tables, which are ``checked`` at once
    """

    def __init__(self, index: int, name: str, X: Any, table: Table | None, checked: Any) -> None:
        self.index, self.name, self.X, self.table, self.checked = index, name, X, table, checked

    @classmethod
    def of(cls, part: Partition, estimator: Any, as_columns: bool, name: str = "") -> Reading:
        """The X of a partition; ``as_columns`` if arrays of numbers may hold categories."""
        with in_partition(part.index, name):
            table = read_table(part.X)
            if table is None and as_columns:
                table = plain_table(part.X)
            checked = None if table is not None else checked_numbers(estimator, part.X, None, Features())
            if table is not None and not table.columns:
                checked_numbers(estimator, np.empty((table.n, 0)), None, Features())  # raises
        return cls(part.index, name, part.X, table, checked)

    @property
    def shape(self) -> Shape:
        """What it looks like."""
        if self.table is not None:
            return Shape("columns", self.table.n, len(self.table.columns), self.table.names, self.table.by_name)
        form, (n, p) = "sparse" if issparse(self.checked) else "numbers", self.checked.shape
        return Shape(form, n, p, dtype=self.X.dtype if hasattr(self.X, "dtype") else np.asarray(self.X).dtype)

    def columns(self) -> Table:
        """X as columns, if need be those of an array of numbers: another partition may hold objects."""
        if self.table is None:
            self.table = plain_table(self.X)
        assert self.table is not None
        return self.table

    def digests(self, declared: AnyArray | None) -> list[Digest]:
        """What is to be known of the columns; (p,) which of them the user declares categorical, or None."""
        table = self.columns()
        mask = np.zeros(len(table.columns), dtype=bool) if declared is None else declared
        with in_partition(self.index, self.name):
            return digest_columns(table, mask, self.index)

    def numbers(self, estimator: Any, form: str, features: Features, dtype: Any = None) -> Any:
        """X as numbers, of a type if one is given; what was kept of it on the way is let go.

        ``form`` is that of the whole table: an array of numbers may be followed by one of objects.
        """
        if form == "columns":
            with in_partition(self.index, self.name):
                self.checked = checked_numbers(estimator, self.X, self.columns(), features)
        X, self.X, self.table, self.checked = self.checked, None, None, None
        return X if dtype is None or X.dtype == dtype else X.astype(dtype)


def checked_numbers(estimator: Any, X: Any, table: Table | None, features: Features) -> Any:
    """`as_numbers` of a partition, which may have no rows; the estimator stays as it is."""
    return as_numbers(copy.copy(estimator), X, table, features, reset=True, ensure_min_samples=0)


# ---- all partitions -------------------------------------------------------------------------------------------------


def whole_shape(pieces: list[tuple[int, Shape]], estimator: Any, of: str = "") -> Shape:
    """The shape of the whole table; an error, beginning with ``of``, if the partitions do not make one."""
    indices = sorted(index for index, _ in pieces)
    if not indices:
        raise ValueError(f"{of}X has no partitions.")
    if indices != list(range(len(indices))):
        raise RuntimeError(f"partitions must be numbered from 0 on, each held by one member; they are {indices}.")
    shapes = in_order(pieces)
    for index, shape in enumerate(shapes):
        check_same(shapes[0], shape, index, of)
    forms, n, first = {shape.form for shape in shapes}, sum(shape.n for shape in shapes), shapes[0]
    if n == 0:
        check_array(np.empty((0, first.p)), input_name="X", estimator=estimator)  # raises what it raises on one table
    if "columns" in forms:
        return Shape("columns", n, first.p, first.names, first.by_name)
    return Shape(first.form, n, first.p, dtype=common_type([shape.dtype for shape in shapes]))


def check_same(first: Shape, other: Shape, index: int, of: str) -> None:
    """Raise unless a partition has the columns of the first one."""
    if (first.form == "sparse") != (other.form == "sparse"):
        ways = ["sparse" if shape.form == "sparse" else "dense" for shape in (other, first)]
        raise ValueError(f"{of}X is {ways[0]} in partition {index}, but {ways[1]} in partition 0; make it one of both.")
    if first.p == other.p and first.names == other.names:
        return
    where, ordered = 0, ""
    if first.names is not None and other.names is not None:
        pairs = zip(first.names, other.names, strict=False)
        where = next((j for j, (a, b) in enumerate(pairs) if a != b), min(first.p, other.p))
        ordered = " in the same order" if set(first.names) == set(other.names) else ""
    raise ValueError(
        f"{of}partition {index} {described(other, where)}, partition 0 {described(first, where)}; all partitions must "
        f"have the same columns{ordered}."
    )


def described(shape: Shape, where: int = 0) -> str:
    """The columns of a partition, for messages; of many, those around a position."""
    if shape.names is None:
        return f"has {shape.p} column{'s' * (shape.p != 1)} without names"
    begin = max(0, min(where - 2, shape.p - MOST_NAMES))
    some = ", ".join(repr(name) for name in shape.names[begin : begin + MOST_NAMES])
    before, after = "… " if begin else "", " …" if begin + MOST_NAMES < shape.p else ""
    return f"has {shape.p} column{'s' * (shape.p != 1)} [{before}{some}{after}]"


def bare_table(shape: Shape) -> Digests | None:
    """The names of the columns as `names` takes them; None for arrays and sparse tables."""
    if shape.form != "columns":
        return None
    nothing = Tally([], np.empty(0, dtype=np.int64), np.empty((0, 2), dtype=np.int64))
    columns = [Digest("", "missing", True, nothing, np.float16)] * shape.p
    return Digests(columns, shape.n, shape.names, shape.by_name)


def names_of(estimator: Any) -> AnyArray | None:
    """The names that an estimator remembers."""
    return getattr(estimator, "feature_names_in_", None)


def merged_columns(pieces: list[tuple[int, list[Digest]]]) -> list[Digest]:
    """The digests of the columns of all partitions together."""
    parts = in_order(pieces)
    return [merged_column([columns[j] for columns in parts]) for j in range(len(parts[0]))]


def merged_column(parts: list[Digest]) -> Digest:
    """One column, from its digests in all partitions."""
    return Digest(
        parts[0].label,
        common_kind(parts),
        all(part.empty for part in parts),
        merged([part.distinct for part in parts]),
        np.result_type(*(part.dtype for part in parts)),
    )


def common_kind(parts: list[Digest]) -> str:
    """The kind of a column: that of all partitions in which it is not empty."""
    full = [(index, part) for index, part in enumerate(parts) if not part.empty]
    if not full:
        return "number" if any(part.kind == "number" for part in parts) else parts[0].kind
    kinds = {part.kind for _, part in full}
    if len(kinds) == 1:
        return kinds.pop()
    if kinds == {"text", "category"} and all(isinstance(v, str) for _, part in full for v in part.distinct.values):
        return "text"
    i, first = full[0]
    others = [(index, part) for index, part in full if part.kind != first.kind]
    k, other = others[0]
    raise ValueError(
        f"{first.label} holds {WORDS[first.kind]} in partition {i}, but {WORDS[other.kind]} in partition {k}. Give it "
        f"the same type in all partitions, for example by X.astype({{{first.name}: …}})."
    )


# ---- types ----------------------------------------------------------------------------------------------------------


def common_type(dtypes: list[Any]) -> Any:
    """The type of the numbers of several arrays: float32 if they make an array of that, else float64."""
    return np.float32 if dtypes and np.result_type(*dtypes) == np.float32 else np.float64


def type_of_columns(columns: list[Digest], features: Features) -> Any:
    """The type of the numbers of a table, as `Features.numbers` finds it."""
    kinds = features.kinds or ["number"] * len(columns)
    dtypes = [np.float16 if kind == "missing" else column.dtype for column, kind in zip(columns, kinds, strict=True)]
    if features.categories is not None and features.categories.mask.any():
        return np.float64  # numbers of categories are of this type
    return common_type([bool, *dtypes])
