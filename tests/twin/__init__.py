"""The engine in plain NumPy: it specifies what the kernels compute, and tests compare the kernels with it.

Integers, the order of floating-point operations and the choice among ties are the same, so binning, trees, prediction
and the losses of score differences agree with the compiled engine bit for bit. Only the flagship's loss does not: the
kernels compute it in single precision, this engine in double (``rows.py``). The code is written to be read, not to be
fast.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from simplexboost._util.arrays import AnyArray, Array
from simplexboost.engine.binned import MAX_BINS, BinnedData
from simplexboost.engine.candidates import Candidates
from simplexboost.engine.cpu import HOST
from simplexboost.engine.interface import (
    BlockProblem,
    Compute,
    Engine,
    ForestArrays,
    Growth,
    OneHot,
    PackedForest,
    RowLoss,
    RowProblem,
    Rows,
)
from simplexboost.engine.tree import Grown, Tree

from . import bins
from .forest import ReferenceForest, add_leaves, find_leaves
from .losses import ReferenceBlocks, ReferenceCandidateRows, ReferenceRowLoss, add_entries, logits, softmax
from .trees import exact_total, grow

__all__ = ["ReferenceCompute", "ReferenceRows", "reference_engine"]


@dataclass(frozen=True)
class ReferenceRows(Rows):
    """All rows are in this process; totals are sums of integers."""

    def total(self, values: Array) -> Any:
        if values.ndim == 2:
            return np.array([self.total(column) for column in values.T])
        return exact_total(np.asarray(values, dtype=np.float64))


def reference_engine() -> Engine:
    """The engine in plain NumPy."""
    return Engine(ReferenceCompute(), HOST)


@dataclass(frozen=True)
class ReferenceCompute(Compute):
    """The computations in plain NumPy; see `interface.Compute`. The number of threads has no effect."""

    n_threads: int = 1
    rows: Rows = ReferenceRows()

    def bin(
        self,
        X: AnyArray,
        max_bins: int = MAX_BINS,
        categorical: AnyArray | None = None,
        sample: AnyArray | None = None,
    ) -> BinnedData:
        """X as codes.

        Examples
        --------
        >>> import numpy as np
        >>> binned = ReferenceCompute().bin(np.array([[1.0], [2.0], [np.nan], [4.0]]))
        >>> binned.edges[0].tolist(), binned.column(0).tolist()
        ([1.5, 3.0], [0, 1, 3, 2])
        """
        return bins.bin_values(X, max_bins, categorical, sample)

    def codes(self, X: AnyArray, edges: list[Array]) -> tuple[AnyArray, AnyArray]:
        """The codes (n_blocks, n, 8) of X (n, p) between these edges, and which features have missing values (p,)."""
        return bins.find_codes(X, edges)

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
        """Grow one tree."""
        return grow(data, statistics, score, growth, leaf_statistics, rows, features)

    def apply(self, tree: Tree, X: AnyArray) -> AnyArray:
        """The leaf of every row of X (n, p), (n,) int32."""
        return find_leaves(tree, X)

    def pack(self, forest: ForestArrays) -> PackedForest:
        """Trees ready for prediction."""
        return ReferenceForest(forest)

    def add_leaves(self, F: AnyArray, values: AnyArray, step: float, leaf_of_row: AnyArray) -> None:
        """F[i] += step · values[leaf of i], in place."""
        if isinstance(F, Candidates):
            return add_entries(F, values, step, leaf_of_row)
        add_leaves(F, values, step, leaf_of_row)

    def row_loss(self, problem: RowProblem | BlockProblem) -> RowLoss:
        """The evaluator of the flagship's loss on these rows."""
        if isinstance(problem, BlockProblem):
            return ReferenceBlocks(problem, self)
        return (ReferenceCandidateRows if problem.candidates else ReferenceRowLoss)(problem, self)

    def softmax(self, F: AnyArray, Y: AnyArray | None, out: Array) -> None:
        """The soft-max of 2U = F Yᵀ, row by row."""
        out[:] = softmax(logits(F, Y))

    def times(self, A: AnyArray, M: AnyArray, factor: float = 1.0, out: AnyArray | None = None) -> AnyArray:
        """factor · A M; see `interface.Compute.times`."""
        product = np.zeros((len(A), M.shape[1]), dtype=A.dtype)
        for column, row in zip(A.T, M.astype(A.dtype, copy=False), strict=True):
            product += column[:, None] * row
        if out is None:
            return product * A.dtype.type(factor)
        return np.multiply(product, A.dtype.type(factor), out=out)

    def explain(self, paths: Any, X: AnyArray, leaves: Any, total: Array | None, out: Array) -> None:
        paths.kernel.values(np.ascontiguousarray(X), *leaves, total, out, 1)  # `shapley` specifies it
