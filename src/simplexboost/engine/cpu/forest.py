"""Forests packed for prediction, on dense and on sparse tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from ... import _kernels
from ..._cached import cached
from ..._typing import AnyArray
from ..binned import CodedRows
from ..interface import ForestArrays, HostForest
from ..tree import node_bytes
from .sparse import blocks, compact
from .trees import route


@dataclass(frozen=True, eq=False)
class CpuForest(HostForest):
    """A packed forest; see `interface.PackedForest`. It is packed for dense or for sparse tables when one comes."""

    forest: ForestArrays

    def predict(self, X: AnyArray, F: AnyArray, n_threads: int) -> None:
        """F (n, d) += the trees' values at X (n, p), tree after tree, in place."""
        if isinstance(X, CodedRows):
            return add_coded(self.forest, X, F, n_threads)
        if not issparse(X):
            return self.dense.predict(X, F, n_threads)
        if X.shape[1] != self.forest.n_features:
            raise ValueError(f"X has {X.shape[1]} columns; the forest was packed for {self.forest.n_features}.")
        kernel, used = self.sparse
        for rows, block in blocks(X, used, n_threads):
            kernel.predict(block, F[rows], n_threads)
        return None

    @cached
    def dense(self) -> Any:
        """The forest for dense tables."""
        return pack(self.forest, [tree.nodes for tree in self.forest.trees], self.forest.n_features)

    @cached
    def sparse(self) -> tuple[Any, AnyArray]:
        """The forest on the columns that its trees ask for, which are few of those of a sparse table; and these."""
        nodes, used = compact(self.forest.trees)
        return pack(self.forest, nodes, len(used)), used


def add_coded(forest: ForestArrays, X: CodedRows, F: AnyArray, n_threads: int) -> None:
    """F (n, d) += the trees' values at rows that are known by their codes."""
    for tree, values, coordinate, step in zip(forest.trees, forest.values, forest.coordinate, forest.step, strict=True):
        leaves = route(X.binned, node_bytes(tree.nodes), tree.category_sets, n_threads)
        dense = np.ascontiguousarray(values.toarray() if issparse(values) else values, dtype=F.dtype)
        if coordinate < 0:
            _kernels.add_values(F, dense, float(step), leaves, n_threads)
        else:
            F[:, coordinate] += step * dense[leaves, 0]


def pack(forest: ForestArrays, nodes: list[AnyArray], n_features: int) -> Any:
    """The kernel of a forest whose trees have these nodes."""
    sparse = any(issparse(v) for v in forest.values)
    values = [csr_array(v) if sparse else v.ravel() for v in forest.values]
    kind = _kernels.Forest32 if forest.dtype == np.float32 else _kernels.Forest64
    return kind(
        np.concatenate([node_bytes(of_tree) for of_tree in nodes]),
        starts([len(of_tree) for of_tree in nodes]),
        np.concatenate([v.data if sparse else v for v in values]).astype(forest.dtype, copy=False),
        starts([v.size for v in values]),
        np.concatenate([v.indices for v in values]).astype(np.int32, copy=False) if sparse else None,
        starts(np.concatenate([np.diff(v.indptr) for v in values])) if sparse else None,
        forest.coordinate,
        forest.step,
        np.concatenate([tree.category_sets for tree in forest.trees]),
        starts([len(tree.category_sets) for tree in forest.trees]),
        n_features,
    )


def starts(sizes: list[int] | AnyArray) -> AnyArray:
    """Where parts of these sizes begin, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
