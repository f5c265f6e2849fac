"""Launches the kernels of ``source/rows.cu``, which compute losses, gradients and leaf values on the GPU.

It knows only arrays that are on the GPU, and only canonical codewords; `rows` connects it with the engine.
"""

from __future__ import annotations

import math
from threading import Lock
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np

from .growing import BLOCK, Arguments, pointer, records

ROWS = records(
    "F c weight log_cost Z stats loss scale",
    [("n", "i8"), *((x, "i4") for x in ("K", "tilt_a", "tilt_b")), ("tilt_scale", "f4")],
)
TOTALS = records("loss weight stats rows parts", [("n", "i8"), ("n_rows", "i8"), ("s", "i4"), ("pad", "i4")])
LEAF_ROWS = records(
    "F c log_cost loss scale order leaf_of_row sums",
    [("unit", "f8"), *((x, "i4") for x in ("n_rows", "K", "rows_per_part", "pad"))],
)
LEAF_STEPS = records(
    "sums values n_leaves counts", [("inverse", "f8"), ("l2", "f8"), ("max_step", "f8"), ("thin", "f4"), ("K", "i4")]
)
LEAF_PAIRS = records("values n_leaves counts ends pairs", [("K", "i4"), ("pad", "i4")])
UPDATE = records("F values leaf_of_row n_leaves", [("n", "i8"), ("d", "i4"), ("step", "f4")])
ROUTE = records("codes n_bins has_missing nodes sets leaf_of_row", [("n", "i8")])
BLOCKS_PER_PROCESSOR = 8
NUMBERS = (int, float)
WARPS = BLOCK // 32


def power_of_two(x: int, most: int) -> int:
    """The least power of two that is at least x, but at most `most`."""
    return min(most, 1 << max(0, x - 1).bit_length())


def threads_per_row(K: int) -> int:
    """How many threads share the K numbers of a row.

    16 numbers each, but at least 4 threads, so that neighbours read neighbouring numbers.
    """
    return power_of_two(max(4, -(-K // 16)), 32)


def exact_exponent(largest: float, n_rows: int) -> int:
    """log2 of the scale that turns numbers up to `largest` into integers whose sum over n_rows stays below 2^62."""
    width = min(50, 62 - n_rows.bit_length())
    return min(max(width - math.frexp(largest)[1], -1000), 1000)


_launchers: WeakKeyDictionary[Any, Launcher] = WeakKeyDictionary()


class Launcher:
    """Launches kernels of ``source/rows.cu``; keeps their arguments from launch to launch."""

    keeps: ClassVar[bool] = False  # whether it also keeps the arrays, so as to know which ones are others

    def __init__(self, device: Any) -> None:
        self._arrays: dict[str, dict[str, Any]] = {}
        self.device, self._lock = device, Lock()  # the structures of arguments are shared by all fits
        self.blocks = BLOCKS_PER_PROCESSOR * device.n_processors
        self._arguments: dict[str, Arguments] = {}
        self._kernels: dict[Any, Any] = {}

    @staticmethod
    def of(device: Any) -> Launcher:
        """One that is kept as long as the device."""
        if device not in _launchers:
            _launchers[device] = Launcher(device)
        return _launchers[device]

    def launch(self, name: str, grid: Any, dtype: Any, fields: dict[str, Any], shared: int = 0, **macros: int) -> None:
        """Launch a kernel; arrays among the fields become pointers."""
        known, pointers = self._arrays.setdefault(name, {}) if self.keeps else {}, {}
        for field, x in fields.items():
            if type(x) in NUMBERS:
                pointers[field] = x
            elif field not in known or known[field] is not x:
                pointers[field], known[field] = pointer(self.device, x), x
        key = (name, shared, *macros.items())
        if key not in self._kernels:
            options = {"GROUP": 32, "EACH": 0, "DIRECTIONS": 1, "CLASSES": 32, "TURNS": 1} | macros
            self._kernels[key] = self.device.kernel("rows", name, options, shared)
        with self._lock:
            if name not in self._arguments:
                self._arguments[name] = Arguments(dtype)
            self._arguments[name].set(**pointers)
            self._kernels[key](grid, BLOCK, self._arguments[name])

    def add_leaves(self, F: Any, values: Any, step: float, leaf_of_row: Any, n_leaves: int = 0) -> None:
        """F[i] += step · values[leaf of i]; given the address of the number of leaves, only if there are several."""
        n, d = F.shape
        rows = power_of_two(-(-n // (WARPS * self.blocks)), 32)  # of a warp, so that every warp has some
        rows = max(4, rows)
        fields = {
            "F": F, "values": values, "leaf_of_row": leaf_of_row, "n_leaves": n_leaves, "n": n, "d": d, "step": step,
        }  # fmt: skip
        self.launch("add_leaves", min(-(-n // (WARPS * rows)), self.blocks), UPDATE, fields, GROUP=rows)

    def route(self, table: Any, nodes: Any, sets: Any, leaf_of_row: Any) -> None:
        """The leaf of every row of a table of codes, written to leaf_of_row (n,)."""
        fields = {
            "codes": table.codes, "n_bins": table.columns["n_bins"], "has_missing": table.columns["has_missing"],
            "nodes": nodes, "sets": sets, "leaf_of_row": leaf_of_row, "n": table.n,
        }  # fmt: skip
        self.launch("route", min(-(-table.n // BLOCK), self.blocks), ROUTE, fields)


class Stepper(Launcher):
    """Evaluates the loss on rows whose arrays are on the device.

    c (n,) int32; weight (n,) float32 or None; log_cost (K, K) float32 or None.
    """

    keeps = True  # as long as the fit

    def __init__(self, device: Any, c: Any, K: int, weight: Any, log_cost: Any, exponents: tuple[int, int]) -> None:
        super().__init__(device)
        self.c, self.K, self.n = c, K, int(c.shape[0])
        self.weight, self.log_cost, self.exponents = weight, log_cost, exponents
        self.loss = device.empty(self.n, np.float32)
        self.scale = device.empty(self.n, np.float64) if weight is not None or exponents != (0, 0) else None
        self.stats: Any = None
        self.sums: Any = None
        self.parts: Any = None
        self.counts: Any = None
        self.turns = min(4, -(-K // 32))  # classes of a thread in `leaf_sums`
        self.classes = power_of_two(-(-K // self.turns), 256)

    def pull(self, F: Any, Z: Any, tilt_scale: float = 1.0) -> Any:
        """Sketched gradient and curvature (n, s + 1) at F (n, K), with Z (K, s), all on the device."""
        s = int(Z.shape[1])
        if self.stats is None or self.stats.shape[1] != s + 1:
            self.stats = self.device.empty((self.n, s + 1), np.float64)
        group = threads_per_row(self.K)
        each = -(-self.K // group)
        grid = min(-(-self.n * group // BLOCK), self.blocks)
        a, b = self.exponents
        fields = {
            "F": F, "c": self.c, "weight": self.weight, "log_cost": self.log_cost, "Z": Z, "stats": self.stats,
            "loss": self.loss, "scale": self.scale, "n": self.n, "K": self.K, "tilt_a": a, "tilt_b": b,
            "tilt_scale": tilt_scale,
        }  # fmt: skip
        self.launch("pull", grid, ROWS, fields, GROUP=group, EACH=each if each * (s + 1) <= 48 else 0, DIRECTIONS=s)
        return self.stats

    def totals(self, rows: Any, n_rows: int) -> Any:
        """The parts (2, b) of Σ w · loss over all rows and of Σ‖g‖ over `rows`, at the last pull; on the device."""
        n_blocks = min(-(-self.n // BLOCK), 2 * self.device.n_processors)
        if self.parts is None:
            self.parts = self.device.empty((2, n_blocks), np.float64)
        fields = {
            "loss": self.loss, "weight": self.weight, "stats": self.stats, "rows": rows, "parts": self.parts,
            "n": self.n, "n_rows": n_rows, "s": int(self.stats.shape[1]) - 1,
        }  # fmt: skip
        self.launch("totals", n_blocks, TOTALS, fields, shared=16 * WARPS)
        return self.parts

    def leaves(
        self, F: Any, tree: Any, n_rows: int, rule: tuple[float, float, float], largest_weight: float = 1.0
    ) -> Any:  # fmt: skip
        """Newton's steps in the leaves of a `PendingTree`, (most_leaves, K) float32 on the device.

        The first rows are the leaves; rule is (l2, max_step, thin).
        """
        device, K, n_leaves = self.device, self.K, tree.most_leaves
        if self.sums is None or self.sums.size != n_leaves * 2 * K:
            self.sums = device.empty(n_leaves * 2 * K, np.uint64)
        device.clear(self.sums)
        exponent = exact_exponent(largest_weight, n_rows)
        parts_per_block = BLOCK // self.classes
        layers = -(-K // (self.classes * self.turns))
        part = max(16, -(-n_rows * layers // (self.blocks * parts_per_block)))
        fields = {
            "F": F, "c": self.c, "log_cost": self.log_cost, "loss": self.loss, "scale": self.scale, "order": tree.order,
            "leaf_of_row": tree.leaf_of_row, "sums": self.sums, "unit": math.ldexp(1.0, exponent), "n_rows": n_rows,
            "K": K, "rows_per_part": part,
        }  # fmt: skip
        n_blocks = -(-n_rows // (part * parts_per_block))
        macros = {"CLASSES": self.classes, "TURNS": self.turns}
        self.launch("leaf_sums", (n_blocks, layers), LEAF_ROWS, fields, **macros)
        values = device.empty((n_leaves, K), np.float32)
        if self.counts is None or self.counts.size < n_leaves:
            self.counts = device.empty(n_leaves, np.int32)
        l2, max_step, thin = rule
        fields = {
            "sums": self.sums, "values": values, "n_leaves": tree.n_leaves, "counts": self.counts,
            "inverse": math.ldexp(1.0, -exponent), "l2": l2, "max_step": max_step, "thin": thin, "K": K,
        }  # fmt: skip
        self.launch("leaf_steps", n_leaves, LEAF_STEPS, fields, shared=64)
        return values

    def pairs(self, values: Any, tree: Any) -> Any:
        """The numbers of `leaves` that are not zero, if they were thinned; int32 on the device.

        First come the L + 1 places where the leaves begin, with room for `most_leaves` + 1, then for every number its
        column and its bits.
        """
        n_leaves, K = values.shape
        out = self.device.empty(n_leaves + 1 + 2 * n_leaves * K, np.int32)
        at = pointer(self.device, out)
        fields = {
            "values": values, "n_leaves": tree.n_leaves, "counts": self.counts, "ends": at,
            "pairs": at + 4 * (n_leaves + 1), "K": K,
        }  # fmt: skip
        self.launch("pack_leaves", n_leaves, LEAF_PAIRS, fields, shared=4 * WARPS)
        return out
