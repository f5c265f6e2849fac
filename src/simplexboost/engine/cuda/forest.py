"""Forests on the device."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import issparse

from ..._cached import cached
from ..._typing import AnyArray
from ..binned import CodedRows
from ..cpu.forest import CpuForest, starts
from ..tree import node_bytes
from .layout import BLOCK, Arguments, records
from .stepping import BLOCKS_PER_PROCESSOR, WARPS

FOREST = records(
    "X nodes first_node sets first_set values first_value coordinate F",
    [("n", "i8"), *((x, "i4") for x in ("p", "d", "n_trees", "pad"))],
)
SCORES = records("F P best", [("n", "i8"), ("K", "i4"), ("pad", "i4")])
CHUNK_OF_TREES = 256  # as in source/forest.cu
FEW_TREES = 8  # up to here the rows would take longer to be copied than the processor takes to predict them
PART = 2**27  # bytes of rows and of what is made of them, of one block


@dataclass(frozen=True, eq=False)
class CudaForest(CpuForest):
    """A packed forest; see `interface.PackedForest`. Few trees, sparse tables and codes are left to the processor."""

    device: Any = field(kw_only=True)

    def predict(self, X: AnyArray, F: AnyArray, n_threads: int) -> None:
        """F (n, d) += the trees' values at X (n, p), tree after tree, in place."""
        if not self._is_ours(X):
            return super().predict(X, F, n_threads)
        for rows, wait in self._blocks(X, F.itemsize * F.shape[1]):
            there = self._there(F[rows])
            self._launch(self._there(X[rows]), there)
            if not self.device.owns(F):
                wait(self.device.download_into(there, F[rows]))
            elif there.base is not F:
                F[rows] = there
        return None

    def probabilities(self, X: AnyArray, out: AnyArray) -> bool:
        """The soft-max of the sums, in out (n, K) float64 on the host or on the device."""
        return self._finish("probabilities", X, out.shape[1], out)

    def winners(self, X: AnyArray, K: int, out: AnyArray) -> bool:
        """The columns of the largest sums, in out (n,) int32 on the host or on the device."""
        return self._finish("winners", X, K, out)

    def _finish(self, kernel: str, X: AnyArray, K: int, out: AnyArray) -> bool:
        """Sums, and what a kernel makes of them, in out."""
        if not self._is_ours(X):
            return False
        device, dtype = self.device, self.forest.dtype
        for rows, wait in self._blocks(X, (np.dtype(dtype).itemsize + 8) * K):
            F = device.empty((len(X[rows]), K), dtype)
            device.clear(F)
            self._launch(self._there(X[rows]), F)
            found = out[rows] if device.owns(out) else device.empty(out[rows].shape, out.dtype)
            self._launch_scores(kernel, F, found)
            if not device.owns(out):
                wait(device.download_into(found, out[rows]))
        return True

    def _is_ours(self, X: AnyArray) -> bool:
        """Whether these rows are predicted on the device."""
        few = len(self.forest.trees) <= FEW_TREES and not self.device.owns(X)
        if few or isinstance(X, CodedRows) or issparse(X):
            return False
        if X.shape[1] != self.forest.n_features:
            raise ValueError(f"X has {X.shape[1]} columns; the forest was packed for {self.forest.n_features}.")
        return True

    def _blocks(self, X: AnyArray, each: int) -> Iterator[tuple[slice, Callable[[Callable[[], None]], None]]]:
        """Rows that are predicted together, of `each` bytes beside those of X; and where to leave a copy's `wait`.

        While a block is copied to the host, the next ones come to the device, so copies are waited for two blocks
        later.
        """
        step = max(1, PART // (X.itemsize * X.shape[1] + each))
        copies: deque[Callable[[], None]] = deque()
        for begin in range(0, len(X), step):
            yield slice(begin, begin + step), copies.append
            while len(copies) > 2:
                copies.popleft()()
        for wait in copies:
            wait()

    def _there(self, array: Any) -> Any:
        if self.device.owns(array):
            return array if array.flags.c_contiguous else array.copy()
        return self.device.upload_large(np.ascontiguousarray(array))

    def _launch_scores(self, name: str, F: Any, out: Any) -> None:
        kernel = self.device.kernel("forest", name, {"VALUE": "float", "REAL": ctype(F.dtype)}, 0)
        arguments, (n, K) = Arguments(SCORES), F.shape
        field = "P" if name == "probabilities" else "best"
        arguments.set(**{"F": self.device.pointer(F), field: self.device.pointer(out), "n": n, "K": K})
        kernel(self._n_blocks(n), BLOCK, arguments)

    def _launch(self, X: Any, F: Any) -> None:
        options = {"VALUE": ctype(X.dtype), "REAL": ctype(F.dtype)}
        kernel = self.device.kernel("forest", "predict", options, 4 * WARPS * CHUNK_OF_TREES)
        arguments, n, (arrays, mark) = Arguments(FOREST), len(X), self.arrays
        self.device.after(mark)
        fields = {name: self.device.pointer(array) for name, array in ({"X": X, "F": F} | arrays).items()}
        arguments.set(**fields, n=n, p=X.shape[1], d=F.shape[1], n_trees=len(self.forest.trees))
        kernel(self._n_blocks(n), BLOCK, arguments)

    def _n_blocks(self, n: int) -> int:
        """The blocks of a launch in which every warp has rows."""
        return max(1, min(-(-n // WARPS), BLOCKS_PER_PROCESSOR * self.device.n_processors))

    @cached
    def arrays(self) -> tuple[dict[str, Any], Any]:
        """The forest on the device, and the mark of its copies: other streams may use it, too."""
        forest, dtype = self.forest, np.dtype(self.forest.dtype)
        tables = [
            np.asarray(v.toarray() if issparse(v) else v).astype(dtype) * dtype.type(step)
            for v, step in zip(forest.values, forest.step, strict=True)
        ]
        no_set = np.zeros((1, 32), dtype=np.uint8)  # an array on the device must not be empty
        arrays = {
            "nodes": np.concatenate([node_bytes(tree.nodes) for tree in forest.trees]),
            "first_node": starts([len(tree.nodes) for tree in forest.trees]),
            "sets": np.concatenate([*(tree.category_sets for tree in forest.trees), no_set]),
            "first_set": starts([len(tree.category_sets) for tree in forest.trees]),
            "values": np.concatenate([table.ravel() for table in tables]),
            "first_value": starts([table.size for table in tables]),
            "coordinate": np.ascontiguousarray(forest.coordinate, dtype=np.int32),
        }
        return {name: self.device.upload(array) for name, array in arrays.items()}, self.device.mark()


def ctype(dtype: Any) -> str:
    """The name of a type in C."""
    return "float" if dtype == np.float32 else "double"
