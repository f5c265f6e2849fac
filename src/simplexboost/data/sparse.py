"""Sparse tables from the user: checked once, and never changed or made dense."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import AnyArray

MOST_INDEX = np.iinfo(np.int32).max


def without_duplicates(X: Any) -> Any:
    """A sparse table of any format in CSR, entries that are stored several times added up; X itself if it is that."""
    if X.ndim != 2 or (X.format == "csr" and X.has_canonical_format):
        return X  # a table of other than two dimensions is for validation to refuse
    table = X.tocsr(copy=True) if X.format == "csr" else X.tocsr()
    table.sum_duplicates()
    return table


def check_places(X: Any, what: str = "X") -> None:
    """Raise unless the stored numbers of a sparse table have places in it: compiled code would look for them there.

    SciPy itself looks at them when a table is made, and only at a part; later they can be changed.
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
    """Raise unless numbers of rows or columns are from 0 to below a size."""
    if len(places) and (places.min() < 0 or places.max() >= size):
        wrong = places[(places < 0) | (places >= size)][0]
        raise ValueError(f"{what} has the {of} {wrong}; in this sparse table, {of}s are numbered 0 .. {size - 1}.")


def canonical(table: Any, X: Any) -> Any:
    """A CSR table made from X, without the zeros that it stores and with 32-bit indices if these suffice."""
    if not table.data.all():
        table = table.copy() if np.may_share_memory(table.data, data_of(X)) else table
        table.eliminate_zeros()
    if table.indices.dtype != np.int32 and max(table.nnz, *table.shape) <= MOST_INDEX:
        parts = (table.data, table.indices.astype(np.int32), table.indptr.astype(np.int32))
        table = type(table)(parts, shape=table.shape)
    return table


def data_of(X: Any) -> AnyArray:
    """The values that a sparse table of the user stores; none for formats that keep no such array."""
    data = getattr(X, "data", None)
    return data if isinstance(data, np.ndarray) and data.dtype != object else np.empty(0)


def refuse_sparse(p: int, categorical_features: Any) -> None:
    """Raise if columns of a sparse table of p columns are to hold categories; those "from_dtype" are none."""
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
