"""Sparse tables in the compiled engine: bins, codes by rows, and the columns that trees ask for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import issparse

from ... import _kernels
from ..._typing import AnyArray
from ..binned import BinnedData, Edges, category_edges, sampled_rows
from ..sparse import SparseCodes
from ..tree import Tree

BLOCK = 2**22  # values of a dense block of columns: 32 MB


def bin_sparse(X: Any, max_bins: int, mask: AnyArray, sample: AnyArray | None, n_threads: int) -> BinnedData:
    """A sparse table (n, p) as codes; the columns in the mask (p,) hold categories."""
    columns, rows = X.tocsc(), sampled_rows(X.shape[0]) if sample is None else sample
    edges = sparse_quantiles(columns if rows is None else X[rows], max_bins, n_threads)
    if mask.any():
        of_columns = list(edges)
        for f in np.flatnonzero(mask).tolist():
            of_columns[f] = category_edges(columns.data[columns.indptr[f] : columns.indptr[f + 1]], f)
        edges = Edges.of(of_columns)
    codes, has_missing = sparse_codes(columns, edges, n_threads)
    return BinnedData(codes, edges.n_bins, has_missing, edges, mask)


def sparse_quantiles(X: Any, max_bins: int, n_threads: int) -> Edges:
    """The edges of every column of a sparse table (n, p), as if all of them were numbers."""
    return Edges(*_kernels.find_edges_sparse(*by_columns(X), max_bins, n_threads))


def sparse_codes(X: Any, edges: Edges, n_threads: int) -> tuple[SparseCodes, AnyArray]:
    """The codes of a sparse table (n, p) between these edges, and which features have missing values (p,)."""
    *codes, has_missing = _kernels.bin_sparse(*by_columns(X), edges.values, edges.first, n_threads)
    return SparseCodes(X.shape[0], *codes), has_missing


def by_columns(X: Any) -> tuple[int, AnyArray, AnyArray, AnyArray]:
    """A table by columns as kernels take it: the number of rows; where columns begin, the rows and the values."""
    X = X.tocsc()
    return X.shape[0], X.indptr.astype(np.int64, copy=False), X.indices.astype(np.int32, copy=False), X.data


def sparse_table(data: BinnedData, n_threads: int) -> Any:
    """The codes by columns and by rows, made once for all trees."""
    table = data.__dict__.get("table")
    if table is None:
        codes = data.codes
        assert isinstance(codes, SparseCodes)
        table = _kernels.SparseTable(
            codes.zero, codes.first, codes.rows, codes.codes, data.n_bins, data.has_missing, codes.n, n_threads
        )
        table = data.__dict__.setdefault("table", table)  # in one step: threads share the data
    return table


def compact(trees: list[Tree]) -> tuple[list[AnyArray], AnyArray]:
    """The nodes of trees with features renumbered among those that they split, and these features, ascending.

    There is always one, because tables have at least one column.
    """
    features = [tree.nodes["feature"] for tree in trees]
    used = np.unique(np.concatenate([f[f >= 0] for f in features]))
    out = []
    for tree, of_tree in zip(trees, features, strict=True):
        nodes = tree.nodes.copy()
        nodes["feature"] = np.where(of_tree >= 0, np.searchsorted(used, of_tree), -1)
        out.append(nodes)
    return out, used if len(used) else np.zeros(1, dtype=used.dtype)


def blocks(X: Any, used: AnyArray | None, n_threads: int) -> Iterator[tuple[slice, AnyArray]]:
    """Rows of a table as dense blocks, with where they are: of a sparse table only the columns `used`."""
    n = X.shape[0]
    if not issparse(X) or used is None:
        yield slice(0, n), X
        return
    place = np.full(X.shape[1], -1, dtype=np.int32)
    place[used] = np.arange(len(used))
    first, columns = X.indptr.astype(np.int64, copy=False), X.indices.astype(np.int32, copy=False)
    step = max(256, BLOCK // len(used))
    for begin in range(0, n, step):
        end = min(n, begin + step)
        block = np.empty((end - begin, len(used)), dtype=X.dtype)
        _kernels.gather_columns(first[begin : end + 1], columns, X.data, place, block, n_threads)
        yield slice(begin, end), block
