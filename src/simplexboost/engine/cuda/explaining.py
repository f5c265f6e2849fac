"""Path-dependent Shapley values on the device."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from scipy.sparse import csr_array

from ..._typing import AnyArray, Array
from .forest import ctype
from .layout import BLOCK, Arguments, records
from .paths import FlatPaths, flat_paths
from .stepping import power_of_two

PATHS = records(
    "X nodes sets first_set first_split split first_leaf leaf_link leaf_length leaf_ratio z slot first_step steps "
    "ratio first_used used used_slot slot_leaf rules values weights answers out",
    [("n", "i8"), *((x, "i4") for x in ("p", "D", "n_trees", "most_links", "most_splits", "pad"))],
)
SUMS = records("phi total", [("n", "i8"), ("p", "i4"), ("D", "i4")])
ROWS = 32  # of a block, as in source/shapley.cu
LONGEST = 64  # links of a path: a thread keeps the answers to their questions as bits of one word
FEW_ROWS = 1000  # fewer are left to the processor: 16 cores explain 1000 rows in the time in which the device does
BLOCKS_PER_PROCESSOR = 3  # as many as are there at the same time: see source/shapley.cu
PART = 2**30  # bytes of the values that are computed before they are copied


class DevicePaths:
    """The paths of a forest on the device, and the leaf values that were explained last."""

    def __init__(self, device: Any, flat: FlatPaths, dtype: Any) -> None:
        self.device, self.flat, self.dtype = device, flat, np.dtype(dtype)
        self.arrays = {name: device.upload(array) for name, array in flat.arrays.items()}
        self._mark = device.mark()  # of these copies: other streams may use them, too
        self._kept: tuple[Any, Any, Any] | None = None  # the leaves, their values, and the mark of that copy

    def values(self, leaves: Any, D: int) -> Any:
        """The values of all leaves, (leaves, D), on the device; see `explain.leaves.LeafTable`."""
        kept = self._kept
        if kept is None or kept[0] is not leaves:  # another thread may explain others meanwhile
            table = leaves.values
            if leaves.columns is not None:
                table = csr_array((table, leaves.columns, leaves.start), shape=(self.flat.n_leaves, D)).toarray()
            values = self.device.upload(np.ascontiguousarray(table, dtype=self.dtype))
            kept = self._kept = (leaves, values, self.device.mark())
        self.device.after(self._mark)
        self.device.after(kept[2])
        return kept[1]

    def explain(self, X: AnyArray, leaves: Any, total: Array | None, out: Array) -> None:
        """Write the values to out (n, p, D); if totals (n, D) are given, make the values add up to them."""
        device, (n, p, D) = self.device, out.shape
        values, n_blocks = self.values(leaves, D), min(-(-n // ROWS), BLOCKS_PER_PROCESSOR * device.n_processors)
        weights = device.empty((n_blocks, self.flat.most_links, ROWS), self.dtype)
        answers = device.empty((n_blocks, self.flat.most_splits), np.uint32)
        step = max(ROWS, min(PART, device.room() // 4) // (8 * p * D) // ROWS * ROWS)
        wait, single = None, X.dtype == np.float32
        for begin in range(0, n, step):
            rows = slice(begin, begin + step)
            there = device.upload_large(np.ascontiguousarray(X[rows], dtype=None if single else np.float64))
            phi = device.empty((len(X[rows]), p, D), np.float64)
            device.clear(phi)
            fields = self.arrays | {"X": there, "values": values, "weights": weights, "answers": answers, "out": phi}
            self._launch_paths(fields, phi.shape, n_blocks)
            if total is not None:
                self._launch_sums(phi, device.upload(np.ascontiguousarray(total[rows])))
            if wait is not None:
                wait()
            wait = device.download_into(phi, out[rows])
        if wait is not None:
            wait()

    def _launch_paths(self, fields: dict[str, Any], shape: tuple[int, int, int], n_blocks: int) -> None:
        n, p, D = shape
        macros = {
            "VALUE": ctype(fields["X"].dtype),
            "REAL": ctype(self.dtype),
            "COLUMNS": power_of_two(D, ROWS),
            "PER": 2 if D > ROWS else 1,
            "POINTS": self.flat.points,
        }
        arguments, flat = Arguments(PATHS), self.flat
        arguments.set(**{name: self.device.pointer(array) for name, array in fields.items()}, n=n, p=p, D=D)
        arguments.set(n_trees=len(flat.arrays["first_set"]) - 1, most_links=flat.most_links)
        arguments.set(most_splits=flat.most_splits)
        self.device.kernel("shapley", "explain", macros)(min(-(-n // ROWS), n_blocks), BLOCK, arguments)

    def _launch_sums(self, phi: Any, total: Any) -> None:
        n, p, D = phi.shape
        macros = {"VALUE": "float", "REAL": ctype(self.dtype), "COLUMNS": 32, "PER": 1, "POINTS": 1}
        arguments = Arguments(SUMS)
        arguments.set(phi=self.device.pointer(phi), total=self.device.pointer(total), n=n, p=p, D=D)
        n_blocks = min(-(-n * D // BLOCK), 8 * self.device.n_processors)
        self.device.kernel("shapley", "share_rounding", macros)(n_blocks, BLOCK, arguments)


_PATHS: WeakKeyDictionary[Any, WeakKeyDictionary[Any, DevicePaths | None]] = WeakKeyDictionary()  # by device


def device_paths(device: Any, paths: Any) -> DevicePaths | None:
    """The paths of a forest on the device, kept as long as `paths`; None if the processor must explain it."""
    known = _PATHS.setdefault(device, WeakKeyDictionary())
    if paths not in known:
        flat = None
        if any(tree.n_leaves > 1 for tree in paths.trees):
            flat = flat_paths(paths.trees, paths.n_features, paths.dtype)
        ours = flat is not None and flat.longest <= LONGEST
        known[paths] = DevicePaths(device, flat, paths.dtype) if flat is not None and ours else None
    return known[paths]


def has_room(device: Any, paths: DevicePaths, shape: tuple[int, int, int]) -> bool:
    """Whether leaf values, the weights of all blocks and the values of some rows take at most half of what is free."""
    n, p, D = shape
    n_blocks = min(-(-n // ROWS), BLOCKS_PER_PROCESSOR * device.n_processors)
    leaves, weights = paths.flat.n_leaves * D, n_blocks * ROWS * paths.flat.most_links
    return paths.dtype.itemsize * (leaves + weights) + 8 * p * D * ROWS <= device.room() // 2


def explain_there(device: Any, paths: Any, X: AnyArray, leaves: Any, total: Array | None, out: Array) -> bool:
    """Write Shapley values to out, unless this is left to the processor; see `interface.Engine.explain`."""
    there = device_paths(device, paths) if len(X) >= FEW_ROWS and out.size else None
    if there is None or not has_room(device, there, out.shape):
        return False
    there.explain(X, leaves, total, out)
    return True
