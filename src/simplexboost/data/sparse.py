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
