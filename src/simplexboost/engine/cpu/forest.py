"""Packs the trees of a model into arrays for the compiled prediction, on dense and sparse tables.

A packed forest numbers the nodes of a tree and the thresholds of a feature with 16-bit integers. If there are more, the
forest is packed in several parts; a tree that is too large even for a part of its own is predicted node by node,
without packing. All ways add the same values in the same order, so predictions are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from ... import _kernels
from ..._util.arrays import AnyArray
from ..._util.compat import cached
from ..binned import CodedRows
from ..interface import ForestArrays
from ..tree import Tree, node_bytes
from .trees import blocks, compact, route

Predict = Callable[[AnyArray, AnyArray, int], None]  # adds values at X (n, p) to F (n, d) on so many threads


@dataclass(frozen=True, eq=False)
class CpuForest:
    """A `PackedForest` for the CPU; trees are packed at the first dense table, and again at the first sparse table."""

    forest: ForestArrays

    def predict(self, X: AnyArray, F: AnyArray, n_threads: int) -> None:
        if isinstance(X, CodedRows):
            return add_trees(self.forest, X, F, n_threads)
        if X.shape[1] != self.forest.n_features:
            raise ValueError(f"X has {X.shape[1]} columns; the forest was packed for {self.forest.n_features}.")
        parts, used = self.sparse if issparse(X) else (self.dense, None)
        for rows, block in blocks(X, used, n_threads):
            for add_values in parts:
                add_values(block, F[rows], n_threads)
        return None

    @cached
    def dense(self) -> list[Predict]:
        return pack_parts(self.forest)

    @cached
    def sparse(self) -> tuple[list[Predict], AnyArray]:
        """The functions of `pack_parts`, on only the columns that a tree splits, and the indices of these columns."""
        nodes, used = compact(self.forest.trees)
        trees = [replace(tree, nodes=of_tree) for tree, of_tree in zip(self.forest.trees, nodes, strict=True)]
        return pack_parts(replace(self.forest, trees=trees, n_features=len(used))), used


def add_trees(forest: ForestArrays, X: AnyArray, F: AnyArray, n_threads: int) -> None:
    """Add the trees' values for the rows of X (n, p) to F (n, d) in place, tree after tree, without packing."""
    for tree, values, coordinate, step in zip(forest.trees, forest.values, forest.coordinate, forest.step, strict=True):
        leaves = find_leaves(tree, X, n_threads)
        dense = np.ascontiguousarray(values.toarray() if issparse(values) else values, dtype=F.dtype)
        if coordinate < 0:
            _kernels.add_values(F, dense, float(step), leaves, n_threads)
        else:
            F[:, coordinate] += F.dtype.type(step) * dense[leaves, 0]


def find_leaves(tree: Tree, X: AnyArray, n_threads: int) -> AnyArray:
    """Return the index of the leaf that each row of X (n, p) falls into, (n,) int32."""
    if isinstance(X, CodedRows):
        return route(X.binned, node_bytes(tree.nodes), tree.category_sets, n_threads)
    leaves = np.empty(X.shape[0], dtype=np.int32)
    nodes, used = compact([tree]) if issparse(X) else ([tree.nodes], None)
    for rows, block in blocks(X, used, n_threads):
        _kernels.apply(node_bytes(nodes[0]), tree.category_sets, block, leaves[rows], n_threads)
    return leaves


def pack_parts(forest: ForestArrays) -> list[Predict]:
    """Return functions that each add the values of some trees to F: one, or several if there are too many trees."""
    try:
        return [pack(forest).predict]
    except OverflowError:
        half = len(forest.trees) // 2
        if half == 0:
            return [partial(add_trees, forest)]
        parts: list[Predict] = []
        for which in (slice(half), slice(half, None)):
            arrays = {name: getattr(forest, name)[which] for name in ("trees", "values", "coordinate", "step")}
            parts += pack_parts(replace(forest, **arrays))
        return parts


def pack(forest: ForestArrays) -> Any:
    """Return the compiled form of a forest; raise `OverflowError` if its nodes or thresholds exceed 16-bit indices."""
    sparse = any(issparse(v) for v in forest.values)
    values = [csr_array(v) if sparse else v.ravel() for v in forest.values]
    kind = _kernels.Forest32 if forest.dtype == np.float32 else _kernels.Forest64
    return kind(
        np.concatenate([node_bytes(tree.nodes) for tree in forest.trees]),
        starts([len(tree.nodes) for tree in forest.trees]),
        np.concatenate([v.data if sparse else v for v in values]).astype(forest.dtype, copy=False),
        starts([v.size for v in values]),
        np.concatenate([v.indices for v in values]).astype(np.int32, copy=False) if sparse else None,
        starts(np.concatenate([np.diff(v.indptr) for v in values])) if sparse else None,
        forest.coordinate,
        forest.step,
        np.concatenate([tree.category_sets for tree in forest.trees]),
        starts([len(tree.category_sets) for tree in forest.trees]),
        forest.n_features,
    )


def starts(sizes: list[int] | AnyArray) -> AnyArray:
    """Return where parts of these sizes begin if they are concatenated, and as last entry the total size."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
