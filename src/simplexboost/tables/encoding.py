"""Converts X, one table or several partitions, to numbers, with the same columns and categories for all partitions.

First, each partition is summarised: its columns, their kinds and their categories. The summaries are merged once into
what holds for the whole table. Then every partition is converted. A table on one machine is a single partition. Error
messages name the partition in which the error is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_array

from .._util.arrays import AnyArray
from .columns import WORDS, Column, Digest, Tally, has_large_numbers, lost_digits, merge_tallies, warn_of_columns
from .features import Features, learn_features, more_features
from .frames import Table, categorical_mask, check_feature_count, check_names, learn_names, read_table, text_names
from .inputs import Taken, as_numbers, plain_table, refuse_sparse
from .partitions import ALONE, WHOLE, Exchange, Partition, in_order, in_partition

SMALL = 2**14  # values of X for which a fast look is worth its while
MOST_NAMES = 10  # of columns in a message


def check_X(estimator: Any, X: Any, **options: Any) -> Any:
    """Return X as a table of numbers; raise unless it has the columns of the fit and no infinite values."""
    if not options and is_ready(estimator, X):
        return X
    return check_partitions(ALONE, estimator, [Partition(WHOLE, X)], **options)[0]


def is_ready(estimator: Any, X: Any) -> bool:
    """Return whether X is a small contiguous array of floats without infinity that has the columns of the fit.

    The full checks would return such an array unchanged after 50 µs: most of the time that predicting one row takes.
    """
    if type(X) is not np.ndarray or X.ndim != 2 or X.dtype not in (np.float64, np.float32):
        return False
    plain = estimator.categories_ is None and not hasattr(estimator, "feature_names_in_")
    fits = X.shape[1] == estimator.n_features_in_ and 0 < X.size <= SMALL and X.flags.c_contiguous
    return plain and fits and not np.isinf(X).any()


def learn_X(estimator: Any, X: Any, taken: Taken, *, reset: bool = True, **options: Any) -> Any:
    """Return X as a table of numbers, and store its columns (names, kinds, categories) in the estimator.

    If ``reset`` is false, the estimator is already fitted and training continues: X must have the columns of the fit,
    and may have new categories.
    """
    return learn_partitions(ALONE, estimator, [Partition(WHOLE, X)], taken, reset, **options)[0]


def warn_of_large_numbers(X: Any, table: Table | None, features: Features) -> None:
    """Warn of columns with distinct whole numbers that become equal in float64."""
    if table is not None and features.kinds is not None:
        pairs = zip(table.columns, features.kinds, strict=True)
        numbers = [column for column, kind in pairs if kind == "number"]
        warn_of_columns({column.label: lost_digits(column.whole_numbers(), column.label) for column in numbers})
    elif isinstance(X, np.ndarray) and X.ndim == 2 and has_large_numbers(X):
        labels = [f"column {j}" for j in range(X.shape[1])]
        warn_of_columns({label: lost_digits(values, label) for label, values in zip(labels, X.T, strict=True)})


# ---- all partitions -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Shape:
    """The form (columns, numbers or sparse), size, column names and number type of a partition or the whole table."""

    form: str  # "columns" if their values have to be looked at, "numbers" for arrays, "sparse"
    n: int  # rows
    p: int  # columns
    names: list[Any] | None = None  # these two as in `Table`
    by_name: str = Table.by_name
    dtype: Any = None  # the type of an array or a sparse table; for the whole table, the type of its numbers


def learn_partitions(
    group: Exchange, estimator: Any, parts: Sequence[Partition], taken: Taken, reset: bool = True, **options: Any
) -> list[Any]:
    """Return X as numbers for each partition on this machine; store the whole table's columns in the estimator.

    Parameters
    ----------
    parts : the partitions on this machine; the leader of a group of machines has none
    taken, reset : the options for reading X; whether columns are learned anew, as in `learn_X`
    options : arguments of scikit-learn's ``check_array``

    Returns
    -------
    For each partition a C-contiguous array of its rows, with p columns, or a sparse table in canonical form; float32
    if the whole table would be float32, else float64.
    """
    known = Features() if reset else Features.of(estimator)
    read = [Reading(part, estimator, taken.declared or known.categories is not None, options) for part in parts]

    def look(pieces: list[Any]) -> tuple[Shape, Any]:
        whole = merge_shapes(pieces[0], estimator)
        if reset:
            text_names(whole.names)  # may raise
        else:
            check_names(estimator, whole.names, whole.by_name)
            check_feature_count(estimator, whole.p)
        declared = None
        if whole.form == "sparse":
            refuse_sparse(whole.p, taken.categorical_features)
        elif whole.form == "columns" and taken.declared:
            declared = categorical_mask(Table([None] * whole.p, whole.n, whole.names), taken.categorical_features)
        return whole, declared

    whole, declared = group.exchange("shapes", lambda: [("list", [(r.index, r.shape) for r in read])], look)
    if reset:
        learn_names(estimator, whole.names)

    def learn(pieces: list[Any]) -> tuple[Features, Any]:
        columns = merge_columns(in_order(pieces[0]))
        table = Table(columns, whole.n, whole.names, whole.by_name)
        if reset:
            features = learn_features(table, taken.categorical_features, taken.refusal)
        else:
            features = more_features(known, table, taken.categorical_features)
        return features, type_of_columns(columns, features)

    features, dtype = known, whole.dtype
    if whole.form == "columns":
        features, dtype = group.exchange(
            "columns", lambda: [("list", [(r.index, r.digests(declared)) for r in read])], learn
        )
    remember_columns(estimator, whole.p, features)
    for one in read:
        if one.index == WHOLE:
            warn_of_large_numbers(one.X, one.table, features)
    return [one.numbers(whole.form, features, dtype) for one in read]


def remember_columns(estimator: Any, p: int, features: Features) -> None:
    """Store the number of columns, their kinds and their categories as attributes of the estimator."""
    estimator.n_features_in_ = p
    estimator.feature_kinds_, estimator.categories_ = features.kinds, features.categories


def check_partitions(
    group: Exchange, estimator: Any, parts: Sequence[Partition], of: str = "", **options: Any
) -> list[Any]:
    """Return X as numbers for each partition on this machine; raise unless the columns are those of the fit.

    Parameters
    ----------
    of : the first words of error messages about a single partition
    options : arguments of scikit-learn's ``check_array``
    """
    features = Features.of(estimator)
    read = [Reading(part, estimator, features.categories is not None, options, of) for part in parts]

    def look(pieces: list[Any]) -> str:
        whole = merge_shapes(pieces[0], estimator, of)
        check_names(estimator, whole.names, whole.by_name)
        if whole.form == "sparse" and features.categories is not None:
            refuse_sparse(whole.p, np.flatnonzero(features.categories.mask).tolist())
        check_feature_count(estimator, whole.p)
        return whole.form

    form = group.exchange("shapes", lambda: [("list", [(r.index, r.shape) for r in read])], look)
    return [one.numbers(form, features) for one in read]


# ---- one partition --------------------------------------------------------------------------------------------------


class Reading:
    """The reader of one partition: checks its X, summarises its columns and converts them to numbers."""

    def __init__(
        self, part: Partition, estimator: Any, as_columns: bool, options: dict[str, Any], of: str = ""
    ) -> None:
        self.index, self.X, self.of = part.index, part.X, of
        if part.index != WHOLE:  # which may have no rows, if others have some
            options = {"ensure_min_samples": 0} | options
        self.as_numbers: Any = lambda *some: as_numbers(estimator, *some, **options)
        with in_partition(part.index, of):
            self.table = read_table(part.X)  # None for arrays and sparse tables, which are checked at once
            if self.table is None and as_columns:
                self.table = plain_table(part.X)
            self.checked: Any = None if self.table is not None else self.as_numbers(part.X, None, Features())
            if self.table is not None and not self.table.columns:
                self.as_numbers(np.empty((self.table.n, 0)), None, Features())  # raises

    @property
    def shape(self) -> Shape:
        """The form ("columns", "numbers" or "sparse"), size and column names of the partition."""
        if self.table is not None:
            return Shape("columns", self.table.n, len(self.table.columns), self.table.names, self.table.by_name)
        dtype = None
        if self.index != WHOLE:
            dtype = self.X.dtype if hasattr(self.X, "dtype") else np.asarray(self.X).dtype
        n, p = self.checked.shape
        return Shape("sparse" if issparse(self.checked) else "numbers", n, p, dtype=dtype)

    def columns(self) -> Table:
        """Return X as a `Table` of columns, even an array of numbers, since another partition may hold objects."""
        if self.table is None:
            self.table = plain_table(self.X)
        assert self.table is not None
        return self.table

    def digests(self, declared: AnyArray | None) -> list[Any]:
        """Return the columns of an undivided table, or a partition's summaries; ``declared`` masks categorical ones."""
        columns = self.columns().columns
        if self.index == WHOLE:
            return columns
        mask = np.zeros(len(columns), dtype=bool) if declared is None else declared
        with in_partition(self.index, self.of):
            return [digest(column, bool(one), self.index) for column, one in zip(columns, mask, strict=True)]

    def numbers(self, form: str, features: Features, dtype: Any = None) -> Any:
        """Return X as an array of numbers or a sparse table, of type ``dtype`` if given, and drop all references to X.

        ``form`` is the form of the whole table: it may be "columns" although this partition is an array of numbers.
        """
        if form == "columns":
            with in_partition(self.index, self.of):
                self.checked = self.as_numbers(self.X, self.columns(), features)
        X, self.X, self.table, self.checked = self.checked, None, None, None
        return X if dtype is None or X.dtype == dtype else X.astype(dtype)


def digest(column: Column, declared: bool, partition: int) -> Digest:
    """Return the summary of a column of one partition; if ``declared``, the column counts as categorical."""
    if not declared and column.kind not in ("text", "category"):
        return Digest(column.label, column.kind, column.empty, merge_tallies([]), column.numbers().dtype)
    found, kind = column.distinct, "category" if declared else column.kind
    first = np.column_stack([np.full(len(found.values), partition), found.first])
    return Digest(column.label, kind, not found.values, Tally(found.values, found.counts, first), np.float64)


# ---- shapes and columns of the whole table --------------------------------------------------------------------------


def merge_shapes(pieces: list[tuple[int, Shape]], estimator: Any, of: str = "") -> Shape:
    """Return the whole table's shape from (partition index, shape) pairs; messages of errors begin with ``of``."""
    indices = sorted(index for index, _ in pieces)
    if not indices:
        raise ValueError(f"{of}X has no partitions.")
    if indices not in ([WHOLE], list(range(len(indices)))):
        raise RuntimeError(f"partitions must be numbered from 0 on, each held by one member; they are {indices}.")
    shapes = in_order(pieces)
    for index, shape in enumerate(shapes):
        check_same(shapes[0], shape, index, of)
    forms, n, first = {shape.form for shape in shapes}, sum(shape.n for shape in shapes), shapes[0]
    if n == 0:
        check_array(np.empty((0, first.p)), input_name="X", estimator=estimator)  # raises what it raises on one table
    if "columns" in forms:
        return Shape("columns", n, first.p, first.names, first.by_name)
    dtypes = [shape.dtype for shape in shapes if shape.dtype is not None]
    return Shape(first.form, n, first.p, dtype=common_type(dtypes) if dtypes else None)


def check_same(first: Shape, other: Shape, index: int, of: str) -> None:
    """Raise ValueError if a partition has other columns than the first, or if only one of the two is sparse."""
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
        f"{of}partition {index} {describe_columns(other, where)}, partition 0 {describe_columns(first, where)}; all "
        f"partitions must have the same columns{ordered}."
    )


def describe_columns(shape: Shape, where: int = 0) -> str:
    """Return the number and names of a partition's columns as text; of many names, ten around position ``where``."""
    count = f"has {shape.p} column{'s' * (shape.p != 1)}"
    if shape.names is None:
        return f"{count} without names"
    begin = max(0, min(where - 2, shape.p - MOST_NAMES))
    some = ", ".join(repr(name) for name in shape.names[begin : begin + MOST_NAMES])
    before, after = "… " if begin else "", " …" if begin + MOST_NAMES < shape.p else ""
    return f"{count} [{before}{some}{after}]"


def merge_columns(parts: list[list[Any]]) -> list[Any]:
    """Return the column summaries of the whole table, merged from those of its partitions (a list each)."""
    if len(parts) == 1:
        return parts[0]
    return [
        Digest(
            some[0].label,
            common_kind(some),
            all(part.empty for part in some),
            merge_tallies([part.distinct for part in some]),
            np.result_type(*(part.dtype for part in some)),
        )
        for some in zip(*parts, strict=True)
    ]


def common_kind(parts: Sequence[Digest]) -> str:
    """Return the kind that a column has in all partitions where it is not empty; raise ValueError if kinds differ."""
    full = [(index, part) for index, part in enumerate(parts) if not part.empty]
    if not full:
        return "number" if any(part.kind == "number" for part in parts) else parts[0].kind
    kinds = {part.kind for _, part in full}
    if len(kinds) == 1:
        return kinds.pop()
    if kinds == {"text", "category"} and all(isinstance(v, str) for _, part in full for v in part.distinct.values):
        return "text"
    i, first = full[0]
    (k, other), *_ = [(index, part) for index, part in full if part.kind != first.kind]
    raise ValueError(
        f"{first.label} holds {WORDS[first.kind]} in partition {i}, but {WORDS[other.kind]} in partition {k}. Give it "
        f"the same type in all partitions, for example by X.astype({{{first.name}: …}})."
    )


def common_type(dtypes: list[Any]) -> Any:
    """Return float32 if NumPy's common type of several dtypes is float32, else float64."""
    return np.float32 if np.result_type(*dtypes) == np.float32 else np.float64


def type_of_columns(columns: Sequence[Any], features: Features) -> Any:
    """Return the number type (float32 or float64) of a table in several partitions; None for an undivided table."""
    if isinstance(columns[0], Column):
        return None
    if features.categories is not None and features.categories.mask.any():
        return np.float64  # the type of the numbers of categories
    kinds = features.kinds or ["number"] * len(columns)
    dtypes = [np.float16 if kind == "missing" else column.dtype for column, kind in zip(columns, kinds, strict=True)]
    return common_type([bool, *dtypes])
