"""Defines the engine for NVIDIA GPUs, through CuPy; its CUDA kernels are compiled at first use.

``device`` wraps the GPU; the other modules launch the kernels in ``source``. The CPU engine does what the GPU engine
does not: trees of sparse tables, codewords that are not canonical, and the losses of other boosters. CuPy is imported
when an engine is made.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..._util.arrays import AnyArray, Array
from ..binned import BinnedData, Edges
from ..cpu import CpuCompute, LocalRows
from ..interface import (
    BlockProblem,
    Engine,
    FitSize,
    ForestArrays,
    Growth,
    OneHot,
    PackedForest,
    RowLoss,
    RowProblem,
)
from ..tree import Grown
from .binning import DeviceCodes, DeviceTable, code_rows, goes_to_device, hash_rows
from .device import current_device
from .forest import CudaForest, explain
from .growing import TreeGrower, can_grow, check_room
from .rows import CudaLeaves, CudaRowLoss, add_leaves, find_leaves


def cuda_engine(n_threads: int = 1, device: Any = None) -> Engine:
    """Return the engine on `device`, by default the current GPU; CPU work uses `n_threads` threads."""
    device = current_device() if device is None else device
    return Engine(CudaCompute(n_threads, CudaRows(n_threads, device), device), device)


@dataclass(frozen=True)
class CudaRows(LocalRows):
    """The rows of a table that is wholly in this process; arrays in GPU memory are summed there, others on the CPU."""

    device: Any = field(default_factory=current_device, repr=False)

    def total(self, values: Array) -> Any:
        if values.ndim == 1 and self.device.owns(values):
            return float(values.sum(dtype=np.float64))
        return super().total(values)

    def total_size(self, vectors: Array) -> float:
        if not self.device.owns(vectors):
            return super().total_size(vectors)
        return self.total(abs(vectors[:, 0]) if vectors.shape[1] == 1 else (vectors**2).sum(axis=1) ** 0.5)


@dataclass(frozen=True)
class CudaCompute(CpuCompute):
    """The computations of an engine on the current GPU.

    Repeated computations on one GPU give the same bytes. From the same statistics, they give the same trees as those
    of the CPU engine, bit for bit.
    """

    device: Any = field(default_factory=current_device)

    def quantiles(self, X: Any, rows: AnyArray | None, max_bins: int) -> Edges:
        if isinstance(X, DeviceTable):
            X, rows = X.download_rows(rows), None
        return super().quantiles(X, rows, max_bins)

    def codes(self, X: Any, edges: Edges) -> tuple[Any, AnyArray]:
        return code_rows(X, edges, self.device) if goes_to_device(X) else super().codes(X, edges)

    def hash_rows(self, X: Any, factors: AnyArray) -> AnyArray | None:
        return hash_rows(X, factors, self.device) if goes_to_device(X) else None

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
        """Grow one tree; if `statistics` is on the GPU, return a `PendingGrown`, which waits when it is read."""
        n_rows, to_host, m = data.n if rows is None else len(rows), self.device.to_host, statistics.shape[1]
        d = m if leaf_statistics is None else leaf_statistics.shape[1]
        if can_grow(data, m, d, growth, rows, features):
            grower = TreeGrower.of(self.device, data)
            if grower.has_room(m, d, growth, n_rows):
                grown = grower.grow(data, statistics, score, growth, leaf_statistics, rows, features)
                if rows is not None:
                    find_leaves(grower, grown)
                if self.device.owns(statistics):
                    return grown
                return Grown(grown.tree, to_host(grown.leaf_of_row), grown.leaf_sums)
        statistics = to_host(statistics)
        if isinstance(data.codes, DeviceCodes):
            data = replace(data, codes=data.codes.host)
        return super().grow(data, statistics, score, growth, to_host(leaf_statistics), rows, features)

    def pack(self, forest: ForestArrays) -> PackedForest:
        return CudaForest(forest, device=self.device)

    def explain(self, paths: Any, X: AnyArray, leaves: Any, total: Array | None, out: Array) -> None:
        if not explain(self.device, paths, X, leaves, total, out):
            super().explain(paths, X, leaves, total, out)

    def add_leaves(self, F: AnyArray, values: Any, step: float, leaf_of_row: AnyArray) -> None:
        if not self.device.owns(F):
            super().add_leaves(F, np.asarray(values), step, self.device.to_host(leaf_of_row))
            return
        if isinstance(values, CudaLeaves):
            if values.added:
                return
            values = values.on_device
        upload = self.device.upload
        add_leaves(self.device, F, upload(values, np.float32), float(step), upload(leaf_of_row, np.int32))

    def row_loss(self, problem: RowProblem | BlockProblem) -> RowLoss:
        if isinstance(problem, BlockProblem) or problem.Y is not None:
            return super().row_loss(problem)
        self.device.give_back_reserve()
        return CudaRowLoss(problem, self, self.device)

    def check_memory(self, size: FitSize) -> float:
        return check_room(size, self.device.room())
