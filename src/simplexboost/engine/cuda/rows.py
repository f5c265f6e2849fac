"""Computes losses and Newton steps of `SimplexBoostClassifier` on the GPU by ``source/rows.cu``.

Codewords must be canonical.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from ..._util.arrays import AnyArray, Array
from ..._util.compat import cached
from ..cpu.rows import TiltedLoss
from ..interface import Compute, LeafRule, RowProblem
from ..tree import Grown, LateValues
from .device import BLOCK, WARPS, records
from .growing import PendingGrown, TreeGrower

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


MACROS = {"GROUP": 32, "EACH": 0, "DIRECTIONS": 1, "CLASSES": 32, "TURNS": 1}  # where a kernel does not use them


def power_of_two(x: int, most: int) -> int:
    """Return the smallest power of two that is at least x, but at most `most`."""
    return min(most, 1 << max(0, x - 1).bit_length())


def exact_exponent(largest: float, n_rows: int) -> int:
    """Return an integer e: sums of n_rows values up to `largest`, scaled by 2^e to integers, stay below 2^62."""
    width = min(50, 62 - n_rows.bit_length())
    return min(max(width - math.frexp(largest)[1], -1000), 1000)


def launch(device: Any, name: str, grid: Any, dtype: Any, fields: Any, shared: int = 0, **macros: int) -> None:
    """Launch a kernel of ``source/rows.cu``; GPU arrays among `fields` are passed as pointers."""
    device.launch("rows", name, MACROS | macros, grid, dtype, fields, shared)


def add_leaves(device: Any, F: Any, values: Any, step: float, leaf_of_row: Any, n_leaves: int = 0) -> None:
    """Add step · values[leaf of i] to F[i]; only with two leaves or more if `n_leaves`, a GPU address, is not 0."""
    n, d = F.shape
    rows = max(4, power_of_two(-(-n // (WARPS * device.most_blocks)), 32))  # of a warp, so that every warp has some
    fields = {
        "F": F, "values": values, "leaf_of_row": leaf_of_row, "n_leaves": n_leaves, "n": n, "d": d, "step": step,
    }  # fmt: skip
    launch(device, "add_leaves", device.count_blocks(n, WARPS * rows), UPDATE, fields, GROUP=rows)


def find_leaves(table: TreeGrower, grown: PendingGrown) -> None:
    """Write the leaf index of every row to ``grown.leaf_of_row``, for a tree that is grown on a sample of rows."""
    fields = {
        "codes": table.codes, "n_bins": table.n_bins, "has_missing": table.has_missing, "nodes": grown.nodes,
        "sets": grown.sets, "leaf_of_row": grown.leaf_of_row, "n": table.n,
    }  # fmt: skip
    launch(table.device, "route", table.device.count_blocks(table.n, BLOCK), ROUTE, fields)


class CudaLeaves(LateValues):
    """Leaf values that the GPU may still be computing; the float32 ``on_device`` has K columns and at least L rows."""

    def __init__(self, on_device: Any, device: Any, n_leaves: Callable[[], int], bound: float, count: int = 0) -> None:
        self.on_device, self._device, self._n_leaves, self._bound = on_device, device, n_leaves, bound
        self._count, self._step = count, 0.0  # the address of the number of leaves on the device
        self._fetched = self._fetch()

    def _fetch(self) -> Any:
        return self._device.fetch(self.on_device, self.on_device.nbytes)

    def __len__(self) -> int:
        return self._n_leaves()

    @cached
    def values(self) -> AnyArray:
        return self._fetched.wait().view(np.float32).reshape(self.on_device.shape)[: len(self)].copy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> AnyArray:
        return np.array(self.values, dtype=dtype, copy=copy)

    def add_ahead(self, F: AnyArray, step: float, leaf_of_row: AnyArray) -> None:
        add_leaves(self._device, F, self.on_device, step, leaf_of_row, self._count)
        self._step = step

    @property
    def added(self) -> bool:  # type: ignore[override]  # waits until the tree is finished
        return self._step != 0.0 and len(self) > 1

    @property
    def bound(self) -> float:  # type: ignore[override]
        return self._bound if math.isfinite(self._bound) else float(np.abs(self.values).max(initial=0.0))


class ThinLeaves(CudaLeaves):
    """`CudaLeaves` that are mostly zero: only non-zero leaf values are copied to host memory.

    Their number is guessed from the previous round (``expected``); if there are more, all of them are copied again.
    """

    def __init__(self, *parts: Any, pairs: Any, expected: list[int]) -> None:
        self._pairs, self._expected = pairs, expected
        super().__init__(*parts)

    def _fetch(self, n_pairs: int | None = None) -> Any:
        most = 4 * len(self.on_device) + 4 + 8 * (self._expected[0] if n_pairs is None else n_pairs)
        return self._device.fetch(self._pairs, min(self._pairs.nbytes, most))

    @cached
    def values(self) -> AnyArray:
        return self._device.download(self.on_device, len(self))

    @cached
    def sparse(self) -> Any:
        L, begin, found = len(self), len(self.on_device) + 1, self._fetched.wait().view(np.int32)
        n = int(found[L])
        if len(found) < begin + 2 * n:
            found = self._fetch(n).wait().view(np.int32)
        self._expected[0] = n + n // 2 + 1000
        columns, values = found[begin : begin + 2 * n].reshape(n, 2).T.copy()
        return csr_array((values.view(np.float32), columns, found[: L + 1].copy()), shape=(L, self.on_device.shape[1]))


class CudaRowLoss(TiltedLoss):
    """A `RowLoss` on the GPU; if F is in host memory, every call of `pull` copies it to the GPU."""

    def __init__(self, problem: RowProblem, compute: Compute, device: Any) -> None:
        self.device, self.n, self.K = device, len(problem.c), problem.K
        super().__init__(problem, compute, device.empty(self.n, np.float32))
        self.c = device.upload(problem.c, np.int32)
        self.single_weight = None if problem.weight is None else device.upload(problem.weight)
        self.weight = None if self.weight is None else device.upload(self.weight)
        self.log_cost = None if problem.log_cost is None else device.upload(problem.log_cost)
        self.scale = device.empty(self.n, np.float64) if self.tilted or problem.weight is not None else None
        self.largest_weight = 1.0 if problem.weight is None else float(problem.weight.max(initial=0.0))
        self.turns = min(4, -(-self.K // 32))  # classes of a thread in `leaf_sums`
        self.classes = power_of_two(-(-self.K // self.turns), 256)
        self.stats: Any = None
        self.sums: Any = None
        self.parts: Any = None
        self.counts: Any = None
        self._directions: Any = None  # the Z of the last pull
        # Of the last pull: some rows, and what waits for Σ w · loss over all rows and Σ‖g‖ over these.
        self._totals: tuple[AnyArray | None, Callable[[], list[float]]] | None = None
        self._expected = [self.n * self.K]  # leaf values that are not zero: at first, any number

    def to_device(self, F: AnyArray) -> AnyArray:
        return self.device.upload(F, np.float32)

    def pull(self, F: AnyArray, Z: AnyArray) -> Array:
        if self.tilted:
            self.update_tilt()
        device, s = self.device, Z.shape[1]
        self.F, self._totals = self.to_device(F), None
        if self._directions is None or self._directions.shape != Z.shape:
            self._directions = device.empty(Z.shape, np.float32)
            self.stats = device.empty((self.n, s + 1), np.float64)
        device.send(self._directions, np.ascontiguousarray(Z, dtype=np.float32))
        # 16 numbers of a row for a thread, but at least 4 threads, so that neighbours read neighbouring numbers.
        group = power_of_two(max(4, -(-self.K // 16)), 32)
        each, (a, b) = -(-self.K // group), self.problem.exponents
        fields = {
            "F": self.F, "c": self.c, "weight": self.single_weight, "log_cost": self.log_cost, "Z": self._directions,
            "stats": self.stats, "loss": self.loss, "scale": self.scale, "n": self.n, "K": self.K, "tilt_a": a,
            "tilt_b": b, "tilt_scale": 1.0 / self.tilt_mean,
        }  # fmt: skip
        macros = {"GROUP": group, "EACH": each if each * (s + 1) <= 48 else 0, "DIRECTIONS": s}
        launch(device, "pull", device.count_blocks(self.n * group, BLOCK), ROWS, fields, **macros)
        return self.stats if device.owns(F) else device.download(self.stats)

    def leaves(self, F: AnyArray, grown: Grown, rows: AnyArray | None, rule: LeafRule) -> AnyArray | LateValues:
        device, n_rows = self.device, self.n if rows is None else len(rows)
        if not isinstance(grown, PendingGrown):  # the tree is finished
            leaf_of_row = device.to_host(grown.leaf_of_row)
            used = np.arange(len(leaf_of_row)) if rows is None else np.asarray(rows)
            finished = SimpleNamespace(
                order=device.upload(used[np.argsort(leaf_of_row[used], kind="stable")], np.int32),
                leaf_of_row=device.upload(leaf_of_row, np.int32),
                leaf_count=device.upload(np.array([grown.n_leaves], dtype=np.int32)),
                most_leaves=grown.n_leaves,
            )
            return device.download(self._newton_steps(finished, n_rows, rule))
        self._totals = rows, self._add_totals(grown.rows, n_rows)
        steps = self._newton_steps(grown, n_rows, rule)
        bound = rule.max_step * (2.0 if rule.thin else 1.0)  # the median that is subtracted is not larger than a step
        parts = (steps, device, lambda: grown.n_leaves, bound, grown.leaf_count)
        pairs = self._pairs(steps, grown) if rule.thin else None
        values = CudaLeaves(*parts) if pairs is None else ThinLeaves(*parts, pairs=pairs, expected=self._expected)
        device.run_postponed()
        return values

    def risk(self) -> float:
        if self.tilted:
            return super().risk()
        if self._totals is None:
            self._totals = None, self._add_totals(None, self.n)
        return self._totals[1]()[0] / self.weights

    def gradient_size(self, statistics: Array, rows: AnyArray | None) -> float:
        if self._totals is not None and self._totals[0] is rows:
            return self._totals[1]()[1]
        return self.compute.rows.total_size((statistics if rows is None else statistics[rows])[:, :-1])

    def _add_totals(self, rows: Any, n_rows: int) -> Callable[[], list[float]]:
        """Sum weighted losses over all rows and gradient norms over `rows`; return a function that waits for them."""
        n_blocks = min(-(-self.n // BLOCK), 2 * self.device.n_processors)
        if self.parts is None:
            self.parts = self.device.empty((2, n_blocks), np.float64)
        fields = {
            "loss": self.loss, "weight": self.single_weight, "stats": self.stats, "rows": rows, "parts": self.parts,
            "n": self.n, "n_rows": n_rows, "s": int(self.stats.shape[1]) - 1,
        }  # fmt: skip
        launch(self.device, "totals", n_blocks, TOTALS, fields, shared=16 * WARPS)
        fetched = self.device.fetch(self.parts, self.parts.nbytes)
        return cache(lambda: fetched.wait().view(np.float64).reshape(2, -1).sum(axis=1).tolist())

    def _newton_steps(self, tree: Any, n_rows: int, rule: LeafRule) -> Any:
        """Return a GPU array (most_leaves, K) whose first rows are the Newton steps in the leaves of `tree`."""
        device, K, n_leaves = self.device, self.K, tree.most_leaves
        if self.sums is None or self.sums.size != n_leaves * 2 * K:
            self.sums = device.empty(n_leaves * 2 * K, np.uint64)
        device.clear(self.sums)
        exponent = exact_exponent(self.largest_weight / self.tilt_mean, n_rows)
        parts_per_block = BLOCK // self.classes
        layers = -(-K // (self.classes * self.turns))
        part = max(16, -(-n_rows * layers // (device.most_blocks * parts_per_block)))
        fields = {
            "F": self.F, "c": self.c, "log_cost": self.log_cost, "loss": self.loss, "scale": self.scale,
            "order": tree.order, "leaf_of_row": tree.leaf_of_row, "sums": self.sums, "unit": math.ldexp(1.0, exponent),
            "n_rows": n_rows, "K": K, "rows_per_part": part,
        }  # fmt: skip
        macros = {"CLASSES": self.classes, "TURNS": self.turns}
        launch(device, "leaf_sums", (-(-n_rows // (part * parts_per_block)), layers), LEAF_ROWS, fields, **macros)
        values = device.empty((n_leaves, K), np.float32)
        if self.counts is None or self.counts.size < n_leaves:
            self.counts = device.empty(n_leaves, np.int32)
        fields = {
            "sums": self.sums, "values": values, "n_leaves": tree.leaf_count, "counts": self.counts,
            "inverse": math.ldexp(1.0, -exponent), "l2": rule.l2_regularization, "max_step": rule.max_step,
            "thin": rule.thin, "K": K,
        }  # fmt: skip
        launch(device, "leaf_steps", n_leaves, LEAF_STEPS, fields, shared=64)
        return values

    def _pairs(self, values: Any, tree: PendingGrown) -> Any:
        """Return the non-zero leaf values in CSR form, as one int32 array in GPU memory.

        First come L + 1 row starts (space: `most_leaves` + 1), then the column index and float32 bits of each value.
        """
        n_leaves, K = values.shape
        out = self.device.empty(n_leaves + 1 + 2 * n_leaves * K, np.int32)
        at = self.device.pointer(out)
        fields = {
            "values": values, "n_leaves": tree.leaf_count, "counts": self.counts, "ends": at,
            "pairs": at + 4 * (n_leaves + 1), "K": K,
        }  # fmt: skip
        launch(self.device, "pack_leaves", n_leaves, LEAF_PAIRS, fields, shared=4 * WARPS)
        return out
