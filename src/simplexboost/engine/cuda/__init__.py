"""Defines the engine for NVIDIA GPUs, through CuPy; its kernels are compiled at first use.

``device`` wraps the GPU; ``growing`` and ``stepping`` launch the kernels in ``source`` and know arrays only; ``trees``
and ``rows`` translate between them and the engine's types. What the GPU does not compute is inherited from the compiled
engine: trees of sparse tables, codewords that are not canonical, and the losses of other boosters. CuPy is imported
when an engine is made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..._util.arrays import AnyArray, Array
from ..binned import BinnedData
from ..cpu import CpuEngine
from ..interface import Dense, FitSize, ForestArrays, Growth, OneHot, PackedForest, RowLoss, RowProblem
from ..tree import Grown
from .binning import DeviceCodes, DeviceTable, codes_there, hashes_there, is_there
from .device import DeviceError, check_gpu, current_device, has_gpu
from .forest import CudaForest, explain_there
from .rows import CudaLeaves, CudaRowLoss
from .stepping import Launcher
from .trees import PendingGrown, begin_tree, can_grow, check_room, grower_of, has_room, kept_limits, route_all

FEW_KEYS = 2**17  # the processor sorts fewer in milliseconds
FEW_SCORES = 2**15  # evaluated in every round: up to here a tree comes to the device later than the processor adds it

__all__ = ["CudaEngine", "DeviceError", "DeviceTable", "check_gpu", "has_gpu"]


@dataclass(frozen=True)
class CudaEngine(CpuEngine):
    """The engine on the current GPU; see `interface.Engine`.

    ``n_threads`` is for what is computed on the host. The same GPU gives the same bytes every time, and from the same
    statistics the tree of the compiled engine, bit for bit.
    """

    device: Any = field(default_factory=current_device)

    def host(self, values: Any) -> Any:
        """An array that may be on the device, in the memory of the host."""
        return self.device.download(values) if self.device.owns(values) else values

    def take(self, values: Any) -> Any:
        """An array of the device by its ``__cuda_array_interface__`` or DLPack, without a copy; else None."""
        return self.device.take(values)

    def there(self, X: AnyArray, d: int) -> Any:
        """Rows of a dense table on the device, if they are not few and take at most a quarter of what is free there."""
        if type(X) is not np.ndarray or len(X) * d < FEW_SCORES or X.nbytes + 4 * len(X) * d > self.device.room() // 4:
            return None
        return self.device.upload_large(np.ascontiguousarray(X))

    @property
    def has_device(self) -> bool:
        """There is one."""
        return True

    @property
    def place(self) -> Any:
        """The device."""
        return self.device

    def check_memory(self, size: FitSize) -> float:
        """The bytes of `memory.fit_bytes`; raises `DeviceMemoryError` if less is free on the device."""
        return check_room(size, self.device.room())

    def later(self, work: Callable[[], Any]) -> bool:
        """Call a function while the device grows the next tree."""
        self.device.later.work.append(work)
        return True

    def quantiles(self, X: Any, rows: AnyArray | None, max_bins: int) -> list[Array]:
        """The edges of every column; of a table on the device, only the rows that tell them come to the host."""
        if isinstance(X, DeviceTable):
            X, rows = X.some(rows), None
        return super().quantiles(X, rows, max_bins)

    def codes(self, X: Any, edges: Sequence[Array]) -> tuple[Any, AnyArray]:
        """The codes of X between these edges, on the device unless the table is small; and what has missing values."""
        return codes_there(X, edges, self.device) if is_there(X) else super().codes(X, edges)

    def argsort(self, keys: AnyArray) -> AnyArray:
        """The order in which keys ascend."""
        return super().argsort(keys) if keys.size < FEW_KEYS else self.device.argsort(keys)

    def hashes(self, X: Any, factors: AnyArray) -> AnyArray | None:
        """Σ_j hash(X_ij) a_j of every row, if the table is on the device or large."""
        return hashes_there(X, factors, self.device) if is_there(X) else None

    def grow(
        self,
        data: BinnedData,
        statistics: Dense | OneHot,
        score: str,
        growth: Growth,
        leaf_statistics: Array | None = None,
        rows: AnyArray | None = None,
        features: AnyArray | None = None,
    ) -> Grown:
        """Grow one tree; if the statistics are on the device, so is its `leaf_of_row`, and it may still be growing."""
        n_rows = data.n if rows is None else len(rows)
        d = statistics.m if leaf_statistics is None else leaf_statistics.shape[1]
        if can_grow(data, statistics.m, d, growth, rows, features):
            limits = kept_limits(grower_of(self.device, data), score, growth, n_rows)
            if has_room(self.device, data, statistics.m, d, limits, n_rows):
                pending = begin_tree(
                    self.device, data, statistics, limits, growth.seed, leaf_statistics, rows, features
                )
                if rows is not None:
                    route_all(self.device, data, pending)
                grown = PendingGrown(data, pending, n_rows)
                if isinstance(statistics, Dense) and self.device.owns(statistics.values):
                    return grown
                return Grown(grown.tree, self.host(grown.leaf_of_row), grown.leaf_sums)
        if isinstance(statistics, Dense):
            statistics = Dense(self.host(statistics.values))
        if isinstance(data.codes, DeviceCodes):
            data = replace(data, codes=data.codes.host)
        return super().grow(data, statistics, score, growth, self.host(leaf_statistics), rows, features)

    def pack(self, forest: ForestArrays) -> PackedForest:
        """Trees packed for prediction."""
        return CudaForest(forest, device=self.device)

    def add_leaves(self, F: AnyArray, values: Any, step: float, leaf_of_row: AnyArray) -> None:
        """F[i] += step · values[leaf of i], in place, where F is."""
        if not self.device.owns(F):
            return super().add_leaves(F, np.asarray(values), step, self.host(leaf_of_row))
        if isinstance(values, CudaLeaves):
            if values.added:
                return None
            there = values.there
        else:
            there = self.device.upload(np.ascontiguousarray(values, dtype=np.float32))
        if not self.device.owns(leaf_of_row):
            leaf_of_row = self.device.upload(np.ascontiguousarray(leaf_of_row, dtype=np.int32))
        Launcher.of(self.device).add_leaves(F, there, float(step), leaf_of_row)
        return None

    def row_loss(self, problem: RowProblem) -> RowLoss:
        """The flagship's loss on these rows: on the device if codewords are canonical."""
        if problem.Y is not None:
            return super().row_loss(problem)
        self.device.give_back_reserve()
        return CudaRowLoss(problem, self, self.device)

    def explain(self, paths: Any, X: AnyArray, leaves: Any, total: Array | None, out: Array) -> bool:
        """Shapley values on the device, unless rows are few or it has no room; see `interface.Engine.explain`."""
        return explain_there(self.device, paths, X, leaves, total, out)

    def total(self, values: Array) -> float:
        """Σ values."""
        if not self.device.owns(values):
            return super().total(values)
        return float(values.sum(dtype=np.float64))

    def total_size(self, vectors: Array) -> float:
        """Σ‖v‖ over the rows of vectors (n, s)."""
        if not self.device.owns(vectors):
            return super().total_size(vectors)
        return self.total(abs(vectors[:, 0]) if vectors.shape[1] == 1 else (vectors**2).sum(axis=1) ** 0.5)

    def largest(self, values: AnyArray) -> float:
        """The largest of the values; −inf without any."""
        return super().largest(values) if not self.device.owns(values) or values.size == 0 else float(values.max())
