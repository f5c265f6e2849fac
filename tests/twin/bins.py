"""Values to codes: the edges between a feature's bins, and the number of edges below every value."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from simplexboost._util.arrays import AnyArray, Array
from simplexboost.engine.binned import (
    TILE,
    BinnedData,
    Edges,
    SparseCodes,
    category_edges,
    category_mask,
    column_of,
    sampled_rows,
)


def bin_values(X: AnyArray, max_bins: int, categorical: AnyArray | None, sample: AnyArray | None = None) -> BinnedData:
    """X (n, p) as codes; see `interface.Engine.bin`."""
    if issparse(X):
        return bin_sparse(X, max_bins, categorical, sample)
    mask, rows = category_mask(categorical, X.shape[1]), sampled_rows(len(X)) if sample is None else sample
    some = X if rows is None else X[rows]
    edges = [
        category_edges(X[:, f], f) if mask[f] else find_edges(some[:, f], max_bins)  # (n_bins − 1,)
        for f in range(X.shape[1])
    ]
    codes, has_missing = find_codes(X, edges)
    n_bins = np.array([len(e) + 1 for e in edges], dtype=np.int32)
    return BinnedData(codes, n_bins, has_missing, Edges.of(edges), mask)


def bin_sparse(X: Any, max_bins: int, categorical: AnyArray | None, sample: AnyArray | None = None) -> BinnedData:
    """The same for a sparse table: column by column as if it were dense, then what differs from zero is kept."""
    n, p = X.shape
    mask, columns = category_mask(categorical, p), X.tocsc()
    rows = sampled_rows(n) if sample is None else sample
    edges, parts, zero, has_missing = [], [], [], []
    for f in range(p):
        values = column_of(columns, f)
        some = values if rows is None else values[rows]
        edges.append(category_edges(values, f) if mask[f] else find_edges(some, max_bins))
        codes, missing = find_codes(values[:, None], [edges[f]])
        zero.append(np.searchsorted(edges[f], 0.0))
        has_missing.append(missing[0])
        other = np.flatnonzero(codes[0, :, 0] != zero[f])
        parts.append((other, codes[0, other, 0]))
    first = np.cumsum([0, *(len(other) for other, _ in parts)], dtype=np.int64)
    stored = [np.concatenate(part) for part in zip(*parts, strict=True)]
    sparse = SparseCodes(n, np.array(zero, dtype=np.uint8), first, stored[0].astype(np.uint32), stored[1])
    n_bins = np.array([len(e) + 1 for e in edges], dtype=np.int32)
    return BinnedData(sparse, n_bins, np.array(has_missing, dtype=np.uint8), Edges.of(edges), mask)


def find_edges(values: AnyArray, max_bins: int) -> Array:
    """Ascending edges, at most max_bins − 1, for the values (n,) of a feature.

    If there are at most max_bins distinct values, there is an edge between any two neighbours. Otherwise there is an
    edge just above every quantile b / max_bins; quantiles are values of the data, those of rank
    ⌊(n − 1) b / max_bins⌋.
    """
    values = np.sort(values[~np.isnan(values)].astype(np.float64) + 0.0)  # adding zero turns −0 into 0
    distinct = np.unique(values)
    lower = distinct[:-1]
    if len(distinct) > max_bins:
        ranks = (len(values) - 1) * (np.arange(1, max_bins) * (1 / max_bins))  # rounded as np.quantile does
        lower = np.unique(values[ranks.astype(np.intp)])
        lower = lower[lower < distinct[-1]]  # nothing lies above the highest value
    upper = distinct[np.searchsorted(distinct, lower, side="right")]  # the next value in the data
    with np.errstate(over="ignore", invalid="ignore"):  # the difference of two values may overflow
        middle = lower + (upper - lower) / 2
    return np.where(middle < upper, middle, lower)  # no number lies between floating-point neighbours


def find_codes(X: AnyArray, edges: list[Array]) -> tuple[AnyArray, AnyArray]:
    """The codes (n_blocks, n, 8) of X (n, p) between these edges, and which features have missing values (p,)."""
    n, p = X.shape
    codes = np.zeros((-(-p // TILE), n, TILE), dtype=np.uint8)
    for f, values in enumerate(X.T.astype(np.float64)):
        below = np.searchsorted(edges[f], values)
        codes[f // TILE, :, f % TILE] = np.where(np.isnan(values), len(edges[f]) + 1, below)
    return codes, np.asarray(np.isnan(X).any(axis=0), dtype=np.uint8)
