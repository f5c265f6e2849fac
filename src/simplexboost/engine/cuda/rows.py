"""Computes the loss and Newton steps of `SimplexBoostClassifier` row by row on the GPU, for canonical codewords.

`CudaRowLoss` implements `interface.RowLoss`; `stepping` launches the kernels.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from ..._util.arrays import AnyArray, Array
from ..._util.compat import cached
from ..cpu.rows import TiltedLoss
from ..interface import Compute, LeafRule, RowProblem
from ..tree import Grown, LateValues
from .stepping import Launcher, Stepper
from .trees import PendingGrown


class CudaLeaves(LateValues):
    """Leaf values that are being computed on the device.

    Attributes
    ----------
    there : (at least L, K) float32, on the device
    """

    def __init__(self, there: Any, device: Any, n_leaves: Callable[[], int], bound: float, counted: int = 0) -> None:
        self.there, self._device, self._n_leaves, self._bound = there, device, n_leaves, bound
        self._counted, self._step = counted, 0.0  # where the number of leaves is on the device
        self._fetched = self._fetch()

    def _fetch(self) -> Any:
        return self._device.fetch(self.there, self.there.nbytes)

    def __len__(self) -> int:
        return self._n_leaves()

    @cached
    def values(self) -> AnyArray:
        """(L, K) float32, in the memory of the host."""
        return self._fetched.wait().view(np.float32).reshape(self.there.shape)[: len(self)].copy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> AnyArray:
        return np.array(self.values, dtype=dtype, copy=copy)

    def add_ahead(self, F: AnyArray, step: float, leaf_of_row: AnyArray) -> None:
        """Launch the kernel, which looks at the number of leaves."""
        Launcher.of(self._device).add_leaves(F, self.there, step, leaf_of_row, self._counted)
        self._step = step

    @property
    def added(self) -> bool:  # type: ignore[override]
        """Whether they were, for which the tree must be finished."""
        return self._step != 0.0 and len(self) > 1

    @property
    def bound(self) -> float:  # type: ignore[override]
        """What no value exceeds: the longest step, or the largest of them if there is no limit."""
        return self._bound if math.isfinite(self._bound) else float(np.abs(self.values).max(initial=0.0))


class ThinLeaves(CudaLeaves):
    """The same where most values are zero: only the others come to the host.

    As many of them are fetched as are expected from the round before (``expected`` has one number), and all of them
    once more if there are more than that.
    """

    def __init__(self, *parts: Any, pairs: Any, expected: list[int]) -> None:
        self._pairs, self._expected = pairs, expected
        super().__init__(*parts)

    def _fetch(self, n_pairs: int | None = None) -> Any:
        most = 4 * len(self.there) + 4 + 8 * (self._expected[0] if n_pairs is None else n_pairs)
        return self._device.fetch(self._pairs, min(self._pairs.nbytes, most))

    @cached
    def values(self) -> AnyArray:
        """(L, K) float32, in the memory of the host."""
        return self._device.download(self.there, len(self))

    @cached
    def sparse(self) -> Any:
        """The same as a sparse array."""
        L, begin, found = len(self), len(self.there) + 1, self._fetched.wait().view(np.int32)
        n = int(found[L])
        if len(found) < begin + 2 * n:
            found = self._fetch(n).wait().view(np.int32)
        self._expected[0] = n + n // 2 + 1000
        columns, values = found[begin : begin + 2 * n].reshape(n, 2).T.copy()
        return csr_array((values.view(np.float32), columns, found[: L + 1].copy()), shape=(L, self.there.shape[1]))


class PullTotals:
    """Sums over the rows at a pull, which are being computed on the device; `rows` are those of the second one."""

    def __init__(self, parts: Any, rows: AnyArray | None, device: Any) -> None:
        self.rows, self._fetched = rows, device.fetch(parts, parts.nbytes)

    @cached
    def found(self) -> tuple[float, float]:
        """Σ w · loss over all rows, and Σ‖g‖ over `rows`."""
        loss, size = self._fetched.wait().view(np.float64).reshape(2, -1).sum(axis=1)
        return float(loss), float(size)


class CudaRowLoss(TiltedLoss):
    """Evaluates the loss at an F on the device; an F of the host is copied there every time."""

    def __init__(self, problem: RowProblem, compute: Compute, device: Any) -> None:
        self.stepper = Stepper(
            device,
            device.upload(np.ascontiguousarray(problem.c, dtype=np.int32)),
            problem.K,
            None if problem.weight is None else device.upload(problem.weight),
            None if problem.log_cost is None else device.upload(np.ascontiguousarray(problem.log_cost)),
            problem.exponents,
        )
        super().__init__(problem, compute, self.stepper.loss)
        self.device, self.weight = device, None if self.weight is None else device.upload(self.weight)
        self.largest_weight = 1.0 if problem.weight is None else float(problem.weight.max(initial=0.0))
        self._directions: Any = None  # the Z of the last pull
        self._totals: PullTotals | None = None
        self._expected = [len(problem.c) * problem.K]  # leaf values that are not zero: at first, any number

    def to_device(self, F: AnyArray) -> AnyArray:
        return F if self.device.owns(F) else self.device.upload_large(np.ascontiguousarray(F, dtype=np.float32))

    def pull(self, F: AnyArray, Z: AnyArray) -> Array:
        """The sketched gradient and curvature at F, in the memory where F is."""
        if self.tilted:
            self.update_tilt()
        here = self.device.owns(F)
        self.F = self.to_device(F)
        if self._directions is None or self._directions.shape != Z.shape:
            self._directions = self.device.empty(Z.shape, np.float32)
        self.device.send(self._directions, np.ascontiguousarray(Z, dtype=np.float32))
        stats = self.stepper.pull(self.F, self._directions, 1.0 / self.tilt_mean)
        self._totals = None
        return stats if here else self.device.download(stats)

    def leaves(self, F: AnyArray, grown: Grown, rows: AnyArray | None, rule: LeafRule) -> AnyArray | LateValues:
        """Newton's steps; if the tree may still be growing, the kernels are launched before it is waited for."""
        if not isinstance(grown, PendingGrown):
            return self.leaves_now(grown.leaf_of_row, rows, grown.n_leaves, rule)
        n_rows = len(self.problem.c) if rows is None else len(rows)
        self._totals = PullTotals(self.stepper.totals(grown.pending.rows, n_rows), rows, self.device)
        bound = rule.max_step * (2.0 if rule.thin else 1.0)  # the median that is subtracted is not larger than a step
        values = self.leaves_later(self.begin(grown.pending, n_rows, rule), grown, rule, bound)
        self.device.run_postponed()
        return values

    def leaves_now(self, leaf_of_row: AnyArray, rows: AnyArray | None, n_leaves: int, rule: LeafRule) -> AnyArray:
        """Newton's steps in leaves of rows that are known already, (L, K)."""
        leaf_of_row = self.device.to_host(leaf_of_row)
        used = np.arange(len(leaf_of_row)) if rows is None else np.asarray(rows)
        order = used[np.argsort(leaf_of_row[used], kind="stable")].astype(np.int32)
        count = self.device.upload(np.array([n_leaves], dtype=np.int32))
        rows_of = SimpleNamespace(
            order=self.device.upload(order),
            leaf_of_row=self.device.upload(np.ascontiguousarray(leaf_of_row, dtype=np.int32)),
            n_leaves=self.device.pointer(count),
            most_leaves=n_leaves,
        )
        return np.asarray(CudaLeaves(self.begin(rows_of, len(used), rule), self.device, lambda: n_leaves, np.inf))

    def leaves_later(self, there: Any, grown: PendingGrown, rule: LeafRule, bound: float) -> CudaLeaves:
        """Leaf values that are on the way."""
        parts = (there, self.device, lambda: grown.n_leaves, bound, grown.pending.n_leaves)
        if not rule.thin:
            return CudaLeaves(*parts)
        return ThinLeaves(*parts, pairs=self.stepper.pairs(there, grown.pending), expected=self._expected)

    def begin(self, tree: Any, n_rows: int, rule: LeafRule) -> Any:
        """Launch the kernels that compute the leaf values, (most_leaves, K) on the device."""
        options = (rule.l2_regularization, rule.max_step, rule.thin)
        return self.stepper.leaves(self.F, tree, n_rows, options, self.largest_weight / self.tilt_mean)

    def risk(self) -> float:
        if self.tilted:
            return super().risk()
        if self._totals is None:
            self._totals = PullTotals(self.stepper.totals(None, len(self.problem.c)), None, self.device)
        return self._totals.found[0] / self.weights

    def gradient_size(self, statistics: Array, rows: AnyArray | None) -> float:
        if self._totals is not None and self._totals.rows is rows:
            return self._totals.found[1]
        return self.compute.rows.total_size((statistics if rows is None else statistics[rows])[:, :-1])
