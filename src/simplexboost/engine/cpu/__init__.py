"""Defines the compiled CPU engine.

All calls of ``simplexboost._kernels`` that boosting needs are in this package.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import issparse

from ... import _kernels
from ..._util.arrays import AnyArray, Array
from ..binned import MAX_BINS, TILE, BinnedData, Edges, category_edges, category_mask, sampled_rows
from ..candidates import Candidates
from ..interface import (
    BlockProblem,
    Compute,
    Device,
    Engine,
    ForestArrays,
    Growth,
    OneHot,
    PackedForest,
    RowLoss,
    RowProblem,
    Rows,
    row_sizes,
)
from ..tree import NODE, Grown, Tree, node_bytes
from .forest import CpuForest, find_leaves
from .rows import CandidateRowLoss, CpuBlocks, CpuRowLoss, add_entries, logistic_kernel
from .trees import bin_sparse, grow_from, limb_values, make_shard

if _kernels.NODE_SIZE != NODE.itemsize or _kernels.TILE != TILE:
    raise ImportError(
        "the compiled kernels and the Python package disagree about the layout of nodes or codes; "
        "reinstall simplexboost"
    )

WHOLE = np.zeros((1, 2), dtype=np.int64)  # the segments of a shard that has all rows


@dataclass(frozen=True)
class LocalRows(Rows):
    """The rows of a table that is wholly in this process; sums over the rows are computed on `n_threads` threads."""

    n_threads: int = 1

    def total(self, values: Array) -> Any:
        if values.ndim == 2:
            return np.array([self.total(column) for column in values.T])
        values = np.ascontiguousarray(values, dtype=None if values.dtype == np.float32 else np.float64)
        total = _kernels.total(values, self.n_threads)  # a sum of integers
        return float(np.sum(values, dtype=np.float64)) if np.isnan(total) else total  # if a value is not finite

    def total_size(self, vectors: Array) -> float:
        if vectors.shape[1] > 1:
            return super().total_size(vectors)
        total = _kernels.total_magnitude(vectors[:, 0], self.n_threads)
        return float(np.sum(row_sizes(vectors))) if np.isnan(total) else total


@dataclass(frozen=True)
class Host(Device):
    """The host memory, for engines that compute on the CPU."""


HOST = Host()


def cpu_engine(n_threads: int = 1) -> Engine:
    """Return the compiled CPU engine with `n_threads` threads, for tables that are wholly in this process."""
    return Engine(CpuCompute(n_threads, LocalRows(n_threads)), HOST)


@dataclass(frozen=True)
class CpuCompute(Compute):
    """The computations of an engine, in compiled code on `n_threads` CPU threads."""

    n_threads: int = 1
    rows: Rows = field(default=LocalRows(), repr=False)

    @property
    def instruction_set(self) -> str:
        """The CPU instruction set that the inner loops use: "avx512", "avx2" or "baseline"."""
        return _kernels.instruction_set()

    def bin(
        self, X: AnyArray, max_bins: int = MAX_BINS, categorical: AnyArray | None = None, sample: AnyArray | None = None
    ) -> BinnedData:
        """Return the table X (n, p) as bin codes.

        Examples
        --------
        >>> binned = CpuCompute().bin(np.array([[1.0], [2.0], [np.nan], [4.0]]))
        >>> binned.edges[0].tolist(), binned.column(0).tolist()
        ([1.5, 3.0], [0, 1, 3, 2])
        """
        mask = category_mask(categorical, X.shape[1])
        if issparse(X):
            return bin_sparse(X, max_bins, mask, sample, self.n_threads)
        X = np.ascontiguousarray(X) if isinstance(X, np.ndarray) else X  # which a device has
        edges = self.quantiles(X, sampled_rows(len(X)) if sample is None else sample, max_bins)
        if mask.any():
            edges = Edges.of([category_edges(X[:, f], f) if mask[f] else edges[f] for f in range(len(edges))])
        codes, has_missing = self.codes(X, edges)
        return BinnedData(codes, edges.n_bins, has_missing, edges, mask)

    def quantiles(self, X: AnyArray, rows: AnyArray | None, max_bins: int) -> Edges:
        """Return the bin edges of all columns of X (n, p), treated as numeric, from the given rows (None for all)."""
        return Edges(*_kernels.find_edges(X, rows, max_bins, self.n_threads))

    def codes(self, X: AnyArray, edges: Edges) -> tuple[AnyArray, AnyArray]:
        """Return the bin codes (n_blocks, n, 8) of X (n, p), and a mask (p,) of the features with missing values."""
        n, p = X.shape
        codes = np.zeros((-(-p // TILE), n, TILE), dtype=np.uint8)
        has_missing = np.zeros(p, dtype=np.uint8)
        _kernels.bin_values(X, edges.values, edges.first, codes, has_missing, self.n_threads)
        return codes, has_missing

    def grow(
        self,
        data: BinnedData,
        statistics: Array | OneHot,
        score: str,
        growth: Growth,
        leaf_statistics: Array | None = None,
        rows: AnyArray | None = None,
        features: AnyArray | None = None,
    ) -> Grown:
        features = data.find_varied(features)
        shard = make_shard(data, statistics, growth, rows, features, WHOLE, self.n_threads)
        tree, cells, largest = grow_from(shard, data, statistics.shape[1], score, growth, features, self.n_threads)
        leaf_of_row = shard.leaf_of_row(node_bytes(tree.nodes), tree.category_sets, cells)
        n_rows = len(leaf_of_row if rows is None else rows)
        values = None
        if leaf_statistics is not None:
            values = np.ascontiguousarray(leaf_statistics, dtype=np.float64)
            largest = shard.column_maxima(values)
        limbs = shard.leaf_limbs(cells, values, largest, n_rows)
        return Grown(tree, leaf_of_row, limb_values(limbs, largest, n_rows))

    def apply(self, tree: Tree, X: AnyArray) -> AnyArray:
        return find_leaves(tree, X, self.n_threads)

    def pack(self, forest: ForestArrays) -> PackedForest:
        return CpuForest(forest)

    def explain(self, paths: Any, X: AnyArray, leaves: Any, total: Array | None, out: Array) -> None:
        paths.kernel.values(np.ascontiguousarray(X), *leaves, total, out, self.n_threads)

    def add_leaves(self, F: AnyArray, values: AnyArray, step: float, leaf_of_row: AnyArray) -> None:
        if isinstance(F, Candidates):
            return add_entries(F, values, step, leaf_of_row, self.n_threads)
        _kernels.add_values(F, values, step, leaf_of_row, self.n_threads)

    def row_loss(self, problem: RowProblem | BlockProblem) -> RowLoss:
        if isinstance(problem, BlockProblem):
            return CpuBlocks(problem, self)
        if problem.candidates:
            return CandidateRowLoss(problem, self, None)
        return CpuRowLoss(problem, self, logistic_kernel(problem, len(problem.c)))

    def softmax(self, F: AnyArray, Y: AnyArray | None, out: Array) -> None:
        _kernels.softmax_scores(F, Y, out, self.n_threads)

    def times(self, A: AnyArray, M: AnyArray, factor: float = 1.0, out: AnyArray | None = None) -> AnyArray:
        A = np.ascontiguousarray(A)
        out = np.empty((len(A), M.shape[1]), dtype=A.dtype) if out is None else out
        _kernels.times(A, np.ascontiguousarray(M, dtype=A.dtype), factor, out, self.n_threads)
        return out
