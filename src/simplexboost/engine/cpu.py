"""The compiled engine: a thin face on ``simplexboost._kernels``."""

from __future__ import annotations

import numpy as np

from .. import _kernels
from .._typing import AnyArray, Array
from ..binning import BinnedData
from .interface import SCORES, Dense, Growth, OneHot
from .tree import NODE, Grown, Tree, set_thresholds, set_unseen

if _kernels.NODE_SIZE != NODE.itemsize:
    raise ImportError(
        "the compiled kernels and the Python package disagree about the node layout; reinstall simplexboost"
    )


def grow(
    data: BinnedData,
    statistics: Dense | OneHot,
    score: str,
    growth: Growth,
    leaf_statistics: Array,
    rows: AnyArray | None = None,
    features: AnyArray | None = None,
    n_threads: int = 1,
) -> Grown:
    """Grow one tree; see `interface.Grow`."""
    nodes, gain, count, category_sets, leaf_of_row, leaf_sums = _kernels.grow(
        data.codes,
        data.n_bins,
        data.has_missing,
        data.categorical,
        np.ascontiguousarray(statistics.values, dtype=np.float64) if isinstance(statistics, Dense) else None,
        None if isinstance(statistics, Dense) else np.ascontiguousarray(statistics.classes, dtype=np.int32),
        None if isinstance(statistics, Dense) else np.ascontiguousarray(statistics.weight, dtype=np.float64),
        statistics.m,
        np.ascontiguousarray(leaf_statistics, dtype=np.float64),
        None if rows is None else np.ascontiguousarray(rows, dtype=np.uint32),
        None if features is None else np.ascontiguousarray(features, dtype=np.int32),
        SCORES[score],
        growth.l2,
        growth.max_depth,
        growth.max_leaves,
        growth.min_samples_leaf,
        growth.category_count(data.n if rows is None else len(rows)),
        growth.category_smoothing,
        growth.best_first,
        growth.bits,
        growth.seed,
        growth.histogram_memory,
        n_threads,
    )
    nodes = nodes.view(NODE)[:, 0]
    set_thresholds(nodes, data.edges)
    set_unseen(nodes, category_sets, data.seen_categories)
    return Grown(Tree(nodes, gain, count, category_sets), leaf_of_row, leaf_sums)


def apply(tree: Tree, X: AnyArray, n_threads: int = 1) -> AnyArray:
    """The leaf of every row of X (n, p), (n,) int32."""
    leaves = np.empty(len(X), dtype=np.int32)
    _kernels.apply(node_bytes(tree.nodes), tree.category_sets, X, leaves, n_threads)
    return leaves


def node_bytes(nodes: AnyArray) -> AnyArray:
    """Nodes as the kernels take them, (N, 24) uint8. Join nodes as bytes: NumPy repacks structured arrays it joins."""
    return np.ascontiguousarray(nodes).view(np.uint8).reshape(-1, NODE.itemsize)
