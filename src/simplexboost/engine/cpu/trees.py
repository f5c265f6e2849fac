"""Grows trees in compiled code, and bins sparse tables.

A tree is grown from sums over rows, computed by a shard (a compiled object that has the rows) or by several shards.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import issparse

from ... import _kernels
from ..._util.arrays import AnyArray, Array
from ..binned import BinnedData, Edges, SparseCodes, category_edges, sampled_rows
from ..interface import ORDERS, SCORES, Growth, OneHot
from ..tree import NODE, Tree, complete_tree

BLOCK = 2**22  # values of a dense block of columns: 32 MB


def bin_sparse(X: Any, max_bins: int, mask: AnyArray, sample: AnyArray | None, n_threads: int) -> BinnedData:
    """Return a sparse table X (n, p) as bin codes; the columns in `mask` (p,) hold category codes."""
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
    """Return the bin edges of every column of a sparse table X (n, p), with all columns treated as numeric."""
    return Edges(*_kernels.find_edges_sparse(*by_columns(X), max_bins, n_threads))


def sparse_codes(X: Any, edges: Edges, n_threads: int) -> tuple[SparseCodes, AnyArray]:
    """Return the bin codes of a sparse table X (n, p), and a mask (p,) of the features with missing values."""
    *codes, has_missing = _kernels.bin_sparse(*by_columns(X), edges.values, edges.first, n_threads)
    return SparseCodes(X.shape[0], *codes), has_missing


def by_columns(X: Any) -> tuple[int, AnyArray, AnyArray, AnyArray]:
    """Return the number of rows of a sparse table, and its CSC arrays: column starts, row indices and values."""
    X = X.tocsc()
    return X.shape[0], X.indptr.astype(np.int64, copy=False), X.indices.astype(np.int32, copy=False), X.data


def compact(trees: list[Tree]) -> tuple[list[AnyArray], AnyArray]:
    """Return the nodes of trees with features renumbered 0, 1, …, and the old indices of these features, ascending.

    Only features that a tree splits are kept; without splits, feature 0 is.
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
    """Yield X in dense blocks, each with the slice of its rows; sparse tables keep only the columns `used`."""
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


limb_values = _kernels.limb_values  # the last step of exact sums over leaves: see kernels/core/exact.hpp


def table_of(data: BinnedData, n_threads: int) -> Any:
    """Return the bin codes as a compiled table, cached in `data`; raise if a code is not a bin of its feature."""
    codes = data.codes
    if isinstance(codes, SparseCodes):
        table: Any = _kernels.SparseTable(
            codes.zero, codes.first, codes.rows, codes.codes, data.n_bins, data.has_missing, codes.n, n_threads
        )
    else:
        table = _kernels.DenseTable(codes, data.n_bins, data.has_missing, n_threads)
    return data.__dict__.setdefault("table", table)  # in one step: threads share the data


def make_shard(
    data: BinnedData,
    statistics: Array | OneHot,
    growth: Growth,
    rows: AnyArray | None,
    features: AnyArray | None,
    segments: AnyArray,
    n_threads: int,
) -> Any:
    """Return a shard: a compiled object that computes sums over the rows of one process, from which a tree is grown.

    ``segments`` (s, 2) maps row indices in this shard to indices among all rows: s runs of consecutive rows, run i from
    ``segments[i, 0]`` in this shard and from ``segments[i, 1]`` among all rows.
    """
    if growth.bits not in (32, 64):
        raise ValueError(f"bits={growth.bits!r} must be 32 or 64.")
    kind = _kernels.Shard64 if growth.bits == 64 else _kernels.Shard32
    table, is_sparse = data.__dict__.get("table"), isinstance(data.codes, SparseCodes)
    if table is None:
        table = table_of(data, n_threads)
    classes = weight = values = None
    if isinstance(statistics, OneHot):
        classes = np.ascontiguousarray(statistics.classes, dtype=np.int32)
        weight = np.ascontiguousarray(statistics.weight, dtype=np.float64)
    else:
        values = np.ascontiguousarray(statistics, dtype=np.float64)
    return kind(
        None if is_sparse else table,
        table if is_sparse else None,
        data.n_bins,
        data.has_missing,
        data.categorical,
        values,
        classes,
        weight,
        statistics.shape[1],
        None if rows is None else np.ascontiguousarray(rows, dtype=np.uint32),
        None if features is None else np.ascontiguousarray(features, dtype=np.int32),
        np.ascontiguousarray(segments, dtype=np.int64),
        growth.seed,
        n_threads,
    )


def interaction_groups(growth: Growth) -> tuple[int, AnyArray | None, AnyArray | None]:
    """Return the limit on features of a path: (most features, None, None), or (0, groups' features, group starts)."""
    together = growth.interactions
    if isinstance(together, int):
        return together, None, None
    starts = np.cumsum([0, *map(len, together)], dtype=np.int64)
    return 0, np.array([f for group in together for f in group], dtype=np.int32), starts


def grow_from(
    source: Any,
    data: BinnedData,
    m: int,
    score: str,
    growth: Growth,
    features: AnyArray | None,
    n_threads: int,
) -> tuple[Tree, AnyArray, Array]:
    """Grow a tree on m statistics from a source of sums: a shard with all rows, or an object that adds up shards.

    Such an object has the attribute ``n_rows`` and the methods ``column_maxima``, ``column_magnitudes``, ``quantize``,
    ``root``, ``expand`` and ``cell_sizes`` of a shard; they return sums over all rows. The codes in `data` are not
    used.

    Return the tree; (L,) int32, the id of each leaf's row set in the source; and the largest absolute value of every
    statistic.
    """
    together, groups, starts = interaction_groups(growth) if growth.interactions else (0, None, None)
    nodes, gain, count, sets, cells, largest = _kernels.grow(
        source,
        data.n_bins,
        data.has_missing,
        data.categorical,
        m,
        None if features is None else np.ascontiguousarray(features, dtype=np.int32),
        SCORES[score],
        growth.l2_regularization,
        growth.levels if growth.order == "symmetric" else growth.max_depth,
        growth.max_leaf_nodes,
        growth.min_samples_leaf,
        growth.category_count(source.n_rows),
        growth.category_smoothing,
        ORDERS[growth.order],
        growth.noise,
        growth.seed,
        growth.bits,
        growth.histogram_memory,
        together,
        groups,
        starts,
        n_threads,
    )
    tree = Tree(nodes.view(NODE)[:, 0], gain, count, sets)
    return complete_tree(tree, data), cells, largest


def route(data: BinnedData, nodes: AnyArray, category_sets: AnyArray, n_threads: int) -> AnyArray:
    """Return the index of the leaf that each row of `data` falls into, (n,) int32, found from its bin codes."""
    none = np.empty(0, dtype=np.uint32)
    shard = make_shard(data, np.empty((data.n, 1)), Growth(), none, None, np.zeros((1, 2)), n_threads)
    n_leaves = (len(nodes) + 1) // 2
    return shard.leaf_of_row(nodes, category_sets, np.zeros(n_leaves, dtype=np.int32))
