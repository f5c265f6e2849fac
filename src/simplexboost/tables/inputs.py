"""Converts the user's X to a dense or sparse table of numbers, and checks X and y.

A sparse table is checked once, and is never changed or made dense.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_array
from sklearn.utils.validation import _check_n_features

from .._util.arrays import AnyArray
from ..engine import infinity_at
from .columns import is_missing
from .features import Features
from .frames import Table, array_table, check_names, learn_names, read_table

MOST_INDEX = np.iinfo(np.int32).max


def without_duplicates(X: Any) -> Any:
    """Return a sparse table as CSR with duplicate entries added up; return X itself if it already has this form."""
    if X.ndim != 2 or (X.format == "csr" and X.has_canonical_format):
        return X  # a table of other than two dimensions is for validation to refuse
    table = X.tocsr(copy=True) if X.format == "csr" else X.tocsr()
    table.sum_duplicates()
    return table


def check_places(X: Any, what: str = "X") -> None:
    """Raise ValueError unless all stored entries of a sparse table have valid row and column indices.

    Compiled code does not check the indices again. SciPy checks only some of them, when the table is created.
    """
    if X.ndim == 2 and X.format == "coo":
        check_within(X.row, X.shape[0], f"{what}.row", "row")
        check_within(X.col, X.shape[1], f"{what}.col", "column")
    if X.ndim != 2 or X.format not in ("csr", "csc", "bsr"):  # the other formats keep no places that could be wrong
        return
    size = [length // block for length, block in zip(X.shape, getattr(X, "blocksize", (1, 1)), strict=True)]
    (major, minor), found = size[::-1] if X.format == "csc" else size, X.indptr
    stored = min(len(X.indices), len(X.data))
    rises = len(found) == major + 1 and found[0] == 0 and found[-1] <= stored and bool((np.diff(found) >= 0).all())
    if not rises:
        raise ValueError(
            f"{what} is a sparse table of the format {X.format} with wrong indptr: it must hold {major + 1} numbers "
            f"that begin at 0, never fall and end at {stored} or below, the number of stored entries."
        )
    check_within(X.indices[: found[-1]], minor, f"{what}.indices", "row" if X.format == "csc" else "column")


def check_within(places: AnyArray, size: int, what: str, of: str) -> None:
    """Raise ValueError unless all row or column indices of a sparse table are at least 0 and below ``size``."""
    if len(places) and (places.min() < 0 or places.max() >= size):
        wrong = places[(places < 0) | (places >= size)][0]
        raise ValueError(f"{what} has the {of} {wrong}; in this sparse table, {of}s are numbered 0 .. {size - 1}.")


def make_canonical(table: Any, X: Any) -> Any:
    """Return a CSR table without stored zeros, with 32-bit indices if they suffice; the user's X stays unchanged."""
    if not table.data.all():
        given = getattr(X, "data", None)  # formats that store no array of values share no memory
        shares = isinstance(given, np.ndarray) and given.dtype != object and np.may_share_memory(table.data, given)
        table = table.copy() if shares else table
        table.eliminate_zeros()
    if table.indices.dtype != np.int32 and max(table.nnz, *table.shape) <= MOST_INDEX:
        parts = (table.data, table.indices.astype(np.int32), table.indptr.astype(np.int32))
        table = type(table)(parts, shape=table.shape)
    return table


def refuse_sparse(p: int, categorical_features: Any) -> None:
    """Raise ValueError if the user declares any of the p columns of a sparse table categorical."""
    if categorical_features is None or isinstance(categorical_features, str):
        return
    wanted = np.asarray(categorical_features)
    if wanted.size == 0 or (wanted.dtype == bool and not wanted.any()):
        return
    raise ValueError(
        f"categorical_features={categorical_features!r} names columns of a sparse X; categories need a dense table. "
        f"Encode these columns before (sklearn.preprocessing.OneHotEncoder gives sparse columns), or pass a dense X of "
        f"{p} columns."
    )


@dataclass(frozen=True, eq=False)
class Taken:
    """Options for reading X: the declared categorical columns, and whether the classifier accepts categories."""

    categorical_features: Any = "from_dtype"  # "from_dtype", a mask, positions, names or None
    refusal: str | None = None  # the beginning of the error for categories; None if the classifier takes them

    @property
    def declared(self) -> bool:
        """Whether the user lists the categorical columns, by a mask, positions or names."""
        return self.categorical_features is not None and not isinstance(self.categorical_features, str)


FRAMES = Taken()
# Errors of scikit-learn that say whether X or y is wrong; others come from NumPy, which knows neither.
SAYS_WHAT = re.compile(r"\b[Xy]\b|sample|feature|[Cc]olumn|2D array|[Ss]parse|Complex")


def check_columns(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Return X, or the data frame made of it; check its columns against the fit or, with ``reset``, store the names."""
    table = read_table(X)
    if issparse(X):
        check_places(X)
    names = None if table is None else table.names
    if reset:
        learn_names(estimator, names)
    else:
        check_names(estimator, names, Table.by_name if table is None else table.by_name)
    try:
        _check_n_features(estimator, X if table is None else np.empty((0, len(table.columns))), reset=reset)
    except LookupError as error:
        raise TypeError(f"X={shorten(X)} must be a table with a row per example.") from error
    return X if table is None or table.native is None else table.native


def as_numbers(estimator: Any, X: Any, table: Table | None, features: Features, **options: Any) -> Any:
    """Return X as numbers checked by scikit-learn; ``table`` is X split into columns, None if X already holds numbers.

    A sparse X becomes a CSR matrix or array with sorted indices, and without duplicates or stored zeros.
    """
    given, X = X, X if table is None else features.numbers(table)
    if issparse(X):
        check_places(X)
    options = {
        "dtype": [np.float64, np.float32],
        "order": "C",
        "accept_sparse": "csr",
        "ensure_all_finite": "allow-nan",
    } | options
    try:
        with np.errstate(invalid="ignore", over="ignore"):  # sums of infinities, numbers of more than 64 bits
            table_of = without_duplicates(X) if issparse(X) else X
            checked = check_array(table_of, input_name="X", estimator=estimator, **options)
    except (ValueError, TypeError, OverflowError) as error:
        check_infinity(X, table)
        if SAYS_WHAT.search(str(error)):
            raise
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"X={shorten(given)} cannot be read as a table of numbers: {error}") from error
    return make_canonical(checked, given) if issparse(X) else checked


def check_target(y: Any) -> AnyArray:
    """Return y as an array or a sparse matrix, after scikit-learn's checks of labels; y may have no rows."""
    if y is None:
        raise ValueError("this classifier requires y to be passed, but the target y is None")
    check_several_labels(y)
    y = plain_labels(y)
    options = {"accept_sparse": "csr", "ensure_2d": False, "dtype": None, "ensure_min_samples": 0}
    try:
        with np.errstate(invalid="ignore", over="ignore"):  # numbers of more than 64 bits
            return check_array(y, input_name="y", **options)
    except (ValueError, TypeError, OverflowError) as error:
        check_no_label_is_missing(y)
        if "Complex" in str(error) and np.iscomplexobj(y):
            raise ValueError("Complex data not supported: y holds complex numbers, which are no labels.") from error
        if SAYS_WHAT.search(str(error)):
            raise
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"y={shorten(y)} cannot be read as labels: {error}") from error


def check_several_labels(y: Any) -> None:
    """Raise unless y has one or two dimensions, at least one column, no missing dates and no masked entries."""
    try:  # what tells its shape, as arrays, frames and sparse matrices do, is not made an array
        shape = y.shape if hasattr(y, "shape") else np.asarray(y).shape
    except ValueError:  # rows of different lengths
        shape = ()
    if not shape or 0 in shape[1:]:
        raise TypeError(f"y={shorten(y)} must hold a label for every row of X.")
    if len(shape) > 2:
        raise ValueError(f"y should hold a label for every row of X; it has the shape {shape}.")
    if getattr(getattr(y, "dtype", None), "kind", "") in ("M", "m"):  # scikit-learn takes a missing date for a class
        check_no_label_is_missing(y)
    check_nothing_is_masked("y", y)


def plain_labels(y: Any, what: str = "y") -> Any:
    """Return y as an array if it holds integers, truth values, or text that ends in a null character; else unchanged.

    scikit-learn makes floats of pandas' nullable and Arrow types, but floats cannot hold all integers beyond 2⁵³. NumPy
    drops null characters at the end of text, so a list with such text becomes an array of objects.

    Examples
    --------
    >>> import pandas as pd
    >>> plain_labels(pd.Series([2**53, 2**53 + 1], dtype="Int64"))
    array([9007199254740992, 9007199254740993])
    """
    if isinstance(y, list | tuple):
        ends_in_null = any(isinstance(label, str) and label.endswith("\0") for label in y)
        return np.array(y, dtype=object) if ends_in_null else y
    if issparse(y):
        check_places(y, what)
    if y is None or isinstance(y, np.ndarray) or issparse(y):
        return y
    import narwhals as nw  # not at the top: start-up time

    taken = nw.from_native(y, pass_through=True, allow_series=True)
    if isinstance(taken, nw.Series):
        return plain_column(taken, what)
    if not isinstance(taken, nw.DataFrame):
        return y
    columns = [plain_column(column, what) for column in taken.iter_columns()]
    if not any(isinstance(column, np.ndarray) for column in columns):
        return y
    whole = np.result_type(*(np.asarray(column).dtype for column in columns)).kind in "biu"
    return np.column_stack([np.asarray(column) if whole else np.asarray(column, dtype=object) for column in columns])


def as_label_array(labels: Any, what: str) -> AnyArray:
    """Return labels as an array (n,); raise ValueError if it is empty or not one-dimensional."""
    array = np.asarray(plain_labels(labels, what))
    if array.ndim != 1 or not len(array):
        raise ValueError(f"{what} has shape {array.shape}; pass one label per row, and at least one row.")
    return array


def plain_column(column: Any, what: str) -> Any:
    """Return a narwhals series as an array if it holds integers or truth values, else as its library's own series."""
    import narwhals as nw

    if not (column.dtype.is_integer() or isinstance(column.dtype, nw.Boolean)):
        return column.to_native()
    if column.null_count():
        row = int(np.argmax(column.is_null().to_numpy()))
        raise ValueError(f"{what} contains NaN: the label of row {row} is missing. Leave such rows out.")
    return column.to_numpy()


def check_nothing_is_masked(name: str, values: Any) -> None:
    """Raise ValueError if a masked array has masked entries, since the libraries that read it later ignore the mask."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise ValueError(f"{name} has {np.ma.count_masked(values)} masked entries; leave these rows out.")


def check_no_label_is_missing(y: Any) -> None:
    """Raise ValueError if y is an array of dates, durations or objects with a missing value."""
    try:
        labels = np.asarray(y)
    except (TypeError, ValueError):  # refused for another reason
        return
    if labels.ndim in (1, 2) and labels.dtype.kind in ("M", "m", "O"):
        rows = labels[:, None] if labels.ndim == 1 else labels
        row = next((i for i, of_row in enumerate(rows.tolist()) if any(map(is_missing, of_row))), None)
        if row is not None:
            which = "the label" if labels.ndim == 1 else "a label"
            raise ValueError(f"y contains NaN: {which} of row {row} is missing. Leave such rows out.")


def shorten(value: Any) -> str:
    """Return a value as text for messages, on one line of at most 60 characters."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else text[:57] + "..."


def plain_table(X: Any) -> Table | None:
    """Return an array or a list of rows as a `Table` of columns; None if it is sparse or not two-dimensional."""
    try:
        array = None if issparse(X) else np.asarray(X)
    except ValueError:  # rows of different lengths, which are refused later
        array = None
    return None if array is None or array.ndim != 2 else array_table(array)


def check_infinity(X: Any, table: Table | None) -> None:
    """Raise ValueError if X holds an infinite number, and name the row and the column in the message."""
    if isinstance(X, list | tuple):
        try:
            X = np.array(X)
        except ValueError:  # rows of different lengths
            return
    if not (isinstance(X, np.ndarray) or issparse(X)) or X.dtype.kind != "f" or X.ndim != 2:
        return
    if issparse(X):
        X = X.tocoo()
        rows, columns, values = X.row, X.col, X.data
    else:
        rows, columns = np.nonzero(np.isinf(X))
        values = X[rows, columns]
    for i in np.flatnonzero(np.isinf(values))[:1]:
        where = f"column {columns[i]}" if table is None else table.columns[columns[i]].label
        raise infinity_at(float(values[i]), where, int(rows[i]))
