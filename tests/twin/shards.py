"""An engine whose rows are cut into shards, all in one process; shards on other machines would work the same way.

A shard never sees the rows of another one. Only maxima and sums of integers pass between them: column maxima,
histograms, the two integers of every exact sum, row counts. Each of these is the same for any order and any cuts, so
the trees and the leaf values are those of `CpuCompute`, bit for bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import issparse

from simplexboost import _kernels
from simplexboost._util.arrays import AnyArray, Array
from simplexboost.engine.binned import MAX_BINS, BinnedData
from simplexboost.engine.cpu import HOST, CpuCompute, LocalRows
from simplexboost.engine.cpu.rows import CpuRowLoss, logistic_kernel
from simplexboost.engine.cpu.trees import grow_from, limb_values, make_shard
from simplexboost.engine.interface import BlockProblem, Engine, Growth, OneHot, RowLoss, RowProblem, row_sizes
from simplexboost.engine.tree import Grown, node_bytes


def part_rows(rows: AnyArray | None, part: slice) -> AnyArray | None:
    """The rows (ascending) that lie in one shard, numbered from the shard's first row."""
    if rows is None:
        return None
    begin, end = np.searchsorted(rows, [part.start, part.stop])
    return np.asarray(rows[begin:end]) - part.start


def part_problem(problem: RowProblem, part: slice) -> RowProblem:
    """The problem of the rows of one shard."""
    weight = None if problem.weight is None else problem.weight[part]
    return replace(problem, c=problem.c[part], weight=weight)


def part_statistics(statistics: Array | OneHot, part: slice) -> Array | OneHot:
    """The statistics of one shard's rows."""
    if isinstance(statistics, np.ndarray):
        return statistics[part]
    return OneHot(statistics.classes[part], statistics.weight[part], statistics.m)


@dataclass(frozen=True, eq=False)
class SumOfShards:
    """A source of sums (`cpu.grow_from`) that adds up those of several shards."""

    shards: Sequence[Any]

    @property
    def n_rows(self) -> int:
        """The number of rows that the tree is grown on."""
        return sum(shard.n_rows for shard in self.shards)

    def column_maxima(self, values: Sequence[AnyArray] | None = None) -> Array:
        """The largest absolute value of every column, of the statistics or of other values of the shards."""
        of_shards = [None] * len(self.shards) if values is None else values
        return np.maximum.reduce([s.column_maxima(v) for s, v in zip(self.shards, of_shards, strict=True)])

    def column_magnitudes(self, unit: Array) -> Array:
        """For every column Σ ⌈|v| · unit⌉: sums of integers, as doubles."""
        return added([shard.column_magnitudes(unit) for shard in self.shards])

    def quantize(self, exponents: AnyArray) -> None:
        """Turn the statistics into integers."""
        for shard in self.shards:
            shard.quantize(exponents)

    def root(self) -> AnyArray:
        """The histogram of all rows."""
        return added([shard.root() for shard in self.shards])

    def expand(self, *orders: AnyArray) -> AnyArray:
        """Cut the row sets of nodes in two, as ordered, and return the histograms that the orders ask for."""
        return added([shard.expand(*orders) for shard in self.shards])

    def cell_sizes(self, cells: AnyArray) -> AnyArray:
        """The number of rows in each of these row sets."""
        return added([shard.cell_sizes(cells) for shard in self.shards])


def added(parts: list[AnyArray]) -> AnyArray:
    """The sum of arrays."""
    return reduce(np.add, parts)


def sharded_engine(cuts: tuple[int, ...] = (), n_threads: int = 1) -> Engine:
    """The compiled engine on rows that are cut at these positions."""
    return Engine(ShardedCompute(n_threads, ShardedRows(n_threads, cuts), cuts), HOST)


def parts_of(n: int, cuts: tuple[int, ...]) -> list[slice]:
    """The shards of n rows; cuts beyond the last row give empty shards."""
    return [slice(begin, end) for begin, end in pairwise([0, *np.minimum(cuts, n).astype(int).tolist(), n])]


@dataclass(frozen=True)
class ShardedRows(LocalRows):
    """Totals from the integers of every shard."""

    cuts: tuple[int, ...] = ()

    def total(self, values: Array) -> Any:
        if values.ndim == 2:
            return super().total(values)
        values = np.ascontiguousarray(values, dtype=np.float64)
        parts, n = [values[part] for part in parts_of(len(values), self.cuts)], len(values)
        largest = float(np.max([_kernels.largest_magnitude(part) for part in parts]))
        if not np.isfinite(largest):
            return float(np.sum(values))
        hi, lo = np.sum([_kernels.sum_limbs(part, largest, n) for part in parts], axis=0).tolist()
        return _kernels.limb_total(hi, lo, largest, n)

    def total_size(self, vectors: Array) -> float:
        return self.total(row_sizes(vectors))


@dataclass(frozen=True)
class ShardedCompute(CpuCompute):
    """`CpuCompute` on rows that are cut at these positions.

    Examples
    --------
    >>> from simplexboost.engine import Growth
    >>> rng = np.random.default_rng(0)
    >>> X, G = rng.normal(size=(100, 4)), rng.normal(size=(100, 2))
    >>> whole, cut = CpuCompute(), ShardedCompute(cuts=(30, 31, 80))
    >>> a, b = (e.grow(e.bin(X), G, "norm", Growth(max_depth=3)) for e in (whole, cut))
    >>> a.tree.nodes.tobytes() == b.tree.nodes.tobytes() and a.leaf_sums.tobytes() == b.leaf_sums.tobytes()
    True
    """

    cuts: tuple[int, ...] = ()

    def bin(
        self,
        X: AnyArray,
        max_bins: int = MAX_BINS,
        categorical: AnyArray | None = None,
        sample: AnyArray | None = None,
    ) -> BinnedData:
        """X as codes: the edges are those of all rows, the codes are made shard by shard."""
        whole = super().bin(X, max_bins, categorical, sample)
        if issparse(X):
            return whole  # the codes of a row depend on nothing but the row and the edges
        made = [self.codes(np.ascontiguousarray(X[part]), whole.edges) for part in parts_of(len(X), self.cuts)]
        codes, missing = zip(*made, strict=True)
        has_missing = np.bitwise_or.reduce(missing)
        return replace(whole, codes=np.concatenate(codes, axis=1), has_missing=has_missing)

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
        """Grow one tree on sums over shards."""
        features = data.find_varied(features)
        parts = parts_of(data.n, self.cuts)
        shards = [
            make_shard(
                data.subset(part),
                part_statistics(statistics, part),
                growth,
                part_rows(rows, part),
                features,
                np.array([[0, part.start]]),
                self.n_threads,
            )
            for part in parts
        ]
        source = SumOfShards(shards)
        n_rows = source.n_rows
        tree, cells, largest = grow_from(source, data, statistics.shape[1], score, growth, features, self.n_threads)
        nodes = node_bytes(tree.nodes)
        leaf_of_row = [shard.leaf_of_row(nodes, tree.category_sets, cells) for shard in shards]
        values: list[Any] = [None] * len(shards)
        if leaf_statistics is not None:
            values = [np.ascontiguousarray(leaf_statistics[part], dtype=np.float64) for part in parts]
            largest = source.column_maxima(values)
        limbs = added([s.leaf_limbs(cells, v, largest, n_rows) for s, v in zip(shards, values, strict=True)])
        sums = limb_values(limbs, largest, n_rows)
        return Grown(tree, np.concatenate(leaf_of_row), sums)

    def row_loss(self, problem: RowProblem | BlockProblem) -> RowLoss:
        """The flagship's loss on these rows."""
        if isinstance(problem, BlockProblem) or problem.candidates:  # they need no other sums over shards than integers
            return super().row_loss(problem)
        return CpuRowLoss(problem, self, ShardedLogistic(problem, parts_of(len(problem.c), self.cuts)))


class ShardedLogistic:
    """`_kernels.LogisticLoss` on rows that are cut into shards: one kernel per shard, whose results are merged."""

    def __init__(self, problem: RowProblem, parts: list[slice]) -> None:
        self.parts = parts
        n_all = len(problem.c)
        self.kernels = [logistic_kernel(part_problem(problem, part), n_all) for part in parts]

    def pull(
        self,
        F: AnyArray,
        Z: AnyArray,
        tilt_scale: float,
        G: AnyArray | None,
        stats: Array,
        loss: AnyArray,
        scale: AnyArray | None,
        n_threads: int,
    ) -> None:
        """Every shard fills in its own rows."""
        for kernel, part in zip(self.kernels, self.parts, strict=True):
            mine = [None if a is None else a[part] for a in (G, stats, loss, scale)]
            kernel.pull(F[part], Z, tilt_scale, *mine, n_threads)

    def newton_leaves(
        self,
        F: AnyArray,
        G: AnyArray | None,
        loss: AnyArray,
        scale: AnyArray | None,
        leaf_of_row: AnyArray,
        rows: AnyArray | None,
        n_leaves: int,
        l2: float,
        max_step: float,
        thin: float,
        n_threads: int,
    ) -> AnyArray:
        """Newton's steps in two exchanges: first the largest weight and the row counts of the leaves, then the sums."""
        used = [part_rows(rows, part) for part in self.parts]
        mine = [[None if a is None else a[part] for a in (F, G, loss, scale)] for part in self.parts]
        leaves = [leaf_of_row[part] for part in self.parts]
        largest = max(k.largest_weight(arrays[3]) for k, arrays in zip(self.kernels, mine, strict=True))
        counts = [
            np.bincount(of_part if r is None else of_part[r], minlength=n_leaves)
            for of_part, r in zip(leaves, used, strict=True)
        ]  # (shards, L)
        before = np.cumsum([np.zeros(n_leaves, dtype=np.int64), *counts], axis=0)
        n_rows = int(before[-1].sum())
        sums = added(
            [
                kernel.leaf_sums(*arrays, of_part, r, first, before[-1], largest, n_rows, n_threads)
                for kernel, arrays, of_part, r, first in zip(self.kernels, mine, leaves, used, before[:-1], strict=True)
            ]
        )
        return self.kernels[0].leaf_values(sums, largest, n_rows, l2, max_step, thin, n_threads)
