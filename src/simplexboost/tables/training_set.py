"""Defines `TrainingSet`, the checked data on which boosting trains."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from .._util.arrays import AnyArray, Array, Labels, Mask
from .._util.compat import cached
from ..engine import CPU, MAX_BINS, BinnedData, CodedRows, Engine, local_engine, sampled_rows
from .problem import ONE_CLASS, Problem

NEARLY_CONSTANT = 1e-6  # a column that varies by less than this part of its values is as good as constant
EXTREME = 1e100  # sizes of values whose products with others might overflow
BLOCK = 1 << 17  # values that are converted at a time


def float_blocks(X: Any, rows: AnyArray | None) -> Iterator[tuple[AnyArray | slice, Array]]:
    """Yield blocks of X, restricted to ``rows`` unless None: the row indices (or slice), and dense float64 values."""
    n, size = X.shape[0] if rows is None else len(rows), max(1, BLOCK // max(1, X.shape[1]))
    for begin in range(0, n, size):
        part = slice(begin, begin + size) if rows is None else rows[begin : begin + size]
        yield part, (X[part].toarray() if issparse(X) else X[part]).astype(np.float64)


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """The checked data that boosting trains on: features, training targets, sample weights and the engine to use."""

    table: Any  # (n, p) float32 or float64, C-contiguous or sparse, NaN where missing; as it was given
    # (n,) the target of every row: a class 0 .. K−1, all of which occur; numbers from K on stand for rows of a table
    # that the loss holds (label sets, or costs of examples)
    c: Labels
    weight: Array  # (n,) positive, of mean one; exactly 1 if all weights are equal
    K: int  # number of classes; of several targets the sum
    max_bins: int = MAX_BINS
    engine: Engine = CPU  # does the heavy computations, on its threads
    categorical: Mask | None = None  # (p,) which columns hold category numbers, or None
    problem: Problem = ONE_CLASS  # what y says of a row
    costs: Array | None = None  # (n, K) what each decision costs each example, or None
    names: AnyArray | None = None  # (p,) the names of the columns, or None if they have none
    init_score: Array | None = None  # (n, K) the logits 2U that boosting starts from, or None for zeros
    bins_of: tuple[TrainingSet, AnyArray] | None = None  # whose bins are used, and where it has these rows
    # (n,) which row of ``table`` is the first, the second, … (`tables.order`); None leaves them as they are. Everything
    # but ``table`` is in this order
    order: AnyArray | None = None
    class_ranks: AnyArray | None = None  # (K,) places of classes in an order that does not depend on their names

    @property
    def rivals(self) -> float:
        """The number of classes that compete for a row: K, or the mean number per target if there are several."""
        return self.K if self.problem.widths is None else self.K / len(self.problem.widths)

    @property
    def n(self) -> int:
        """The number of training rows on all machines together."""
        return self.engine.rows.count(self.n_here)

    @property
    def n_here(self) -> int:
        """The number of training rows on this machine; in a distributed fit, each machine has only some of the rows."""
        return int(self.table.shape[0])

    @property
    def p(self) -> int:
        """The number of features (columns of X)."""
        return int(self.table.shape[1])

    @cached
    def X(self) -> Any:
        """The table (n, p) with its rows in training order; a copy, made on first use, unless ``order`` is None."""
        return self.in_order(self.table)

    @cached
    def uniform(self) -> bool:
        """Whether all sample weights are one."""
        return self.engine.rows.every(self.weight == 1.0)

    @cached
    def binned(self) -> BinnedData:
        """X as histogram bin codes, computed on first use."""
        if self.bins_of is not None:
            whole, here = self.bins_of
            return whole.binned.subset(here)
        if self.order is None:
            return self.engine.compute.bin(self.table, self.max_bins, self.categorical)
        # Codes are smaller than values: they are put in order in place of the table. Edges do not depend on the order,
        # only on which rows they are computed from.
        rows = sampled_rows(self.n)
        sample = None if rows is None else np.sort(self.order[self.engine.rows.find(rows)])
        return self.engine.compute.bin(self.table, self.max_bins, self.categorical, sample).subset(self.order)

    @cached
    def columns(self) -> Any:
        """X in a layout from which `engine.column_of` reads single columns quickly: CSC if X is sparse."""
        return self.X.tocsc() if issparse(self.X) else self.X

    @cached
    def spans(self) -> tuple[Array, Array]:
        """For each column of X, the midpoint between its least and largest value, and half their distance, (p,) each.

        The half distance is NaN where sums of products may be inaccurate: values are missing, extreme, or nearly all
        equal.
        """
        low, high = np.full(self.p, np.inf), np.full(self.p, -np.inf)
        for _, block in float_blocks(self.X, None):
            np.minimum(low, block.min(axis=0), out=low)
            np.maximum(high, block.max(axis=0), out=high)
        size = np.maximum(np.abs(low), np.abs(high))
        middle, half = low / 2 + high / 2, high / 2 - low / 2
        tame = (size == 0) | ((half > NEARLY_CONSTANT * size) & (size < EXTREME) & (size > 1 / EXTREME))
        return middle, np.where(tame, half, np.nan)

    def target_weights(self, rows: AnyArray | slice = slice(None)) -> Array:
        """Return the total sample weight of every class, or of every label set, over the given rows of this machine.

        In a distributed fit the totals of all machines are added. Weights are rounded to multiples of 2⁻⁴⁰ and summed
        in two parts of 20 bits, so that every sum is exact, in any order and on any number of machines.
        """
        weight, c = self.weight[rows], self.c[rows]
        high = np.rint(weight * 2**20)
        halves = (high, np.rint((weight * 2**20 - high) * 2**20))  # (n,) each
        table = self.problem.table
        n_targets = self.K if table is None else len(table)
        sums = np.stack([np.bincount(c, half, minlength=n_targets) for half in halves])  # (2, K), or (2, S)
        if self.engine.rows.is_spread:
            sums = np.stack([self.engine.rows.total(part[None]) for part in sums])  # those of all members
        return (sums[0] + sums[1] / 2**20) / 2**20

    def in_order(self, values: AnyArray) -> AnyArray:
        """Return values (n, ...), rearranged from the row order of ``table`` to training order."""
        return values if self.order is None else values[self.order]

    def as_given(self, values: AnyArray) -> AnyArray:
        """Return values (n, ...), rearranged from training order to the row order of ``table``."""
        if self.order is None:
            return values
        out = np.empty_like(values)
        out[self.order] = values
        return out

    def deal(self, drawn: AnyArray) -> AnyArray:
        """Return random values (K,), reordered so that the value of a class does not depend on the class names."""
        return drawn if self.class_ranks is None else drawn[self.class_ranks]

    def on(self, engine: Engine) -> TrainingSet:
        """Return a copy of this training set with another engine and the same histogram bins."""
        other = replace(self, engine=engine)
        other.__dict__["binned"] = self.binned
        if "X" in self.__dict__:
            other.__dict__["X"] = self.X
        return other

    def sample(self, rows: AnyArray) -> TrainingSet:
        """Return the training set restricted to rows (ascending indices), with the histogram bins of all rows."""
        here = self.engine.rows.find(rows)
        at = here if self.order is None else self.order[here]
        costs, init = (None if a is None else a[here] for a in (self.costs, self.init_score))
        return replace(
            self,
            table=self.table[at],
            c=self.c[here],
            weight=self.weight[here],
            costs=costs,
            init_score=init,
            engine=self.engine.with_rows(self.engine.rows.subset(rows)),
            bins_of=(self, here),
            order=None,
        )

    def gather_sample(self, rows: AnyArray) -> TrainingSet:
        """Return the training set restricted to rows, gathered on one machine; all other machines get no rows."""
        sample = self.sample(rows)
        if not sample.engine.rows.is_spread:
            return sample
        gather, engine = sample.engine.rows.gather, local_engine(sample.engine)
        binned = sample.binned.gather_rows(gather)
        init = None if sample.init_score is None else gather(sample.init_score)
        X, c, weight = CodedRows(binned), gather(sample.c), gather(sample.weight)
        other = replace(sample, table=X, c=c, weight=weight, init_score=init, engine=engine, bins_of=None)
        other.__dict__["binned"] = binned
        return other
