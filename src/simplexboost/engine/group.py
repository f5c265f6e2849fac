"""An engine whose rows are spread over the members of a group (`simplexboost.group`).

A member computes with its own rows and never sees those of another. Only maxima and sums of integers pass between
them: column maxima, histograms, the two integers of every exact sum, row counts. These are the same for any order and
any cuts, so the trees and the leaf values are those of `CpuEngine`, bit for bit. The leader has no rows: it grows the
trees, from histograms that the members have added up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array, issparse, vstack

from .._typing import AnyArray, Array
from ..group import Group, Leader, Member, Scattered, Share, put_together
from .binned import MAX_BINS, SAMPLE_ROWS, BinnedData, Edges, category_edges, category_mask, sampled_rows
from .cpu import CpuEngine, largest_magnitude, limb_total, sum_limbs
from .cpu.rows import CpuRowLoss
from .cpu.sparse import sparse_codes, sparse_quantiles
from .cpu.trees import make_shard
from .group_rows import GroupLogistic
from .group_trees import Answers, Layout, LeadGrowth
from .interface import BlockLoss, BlockProblem, Dense, Growth, OneHot, RowLoss, RowProblem, row_sizes
from .sparse import SparseCodes
from .tree import Grown

MOST_SAMPLED = 2**23  # values of the rows from which edges are computed that the leader collects at a time: 64 MB


@dataclass(frozen=True, eq=False, kw_only=True)
class GroupEngine(CpuEngine):
    """`CpuEngine` on the rows of a member; what is summed up is summed over all members.

    Attributes
    ----------
    group : the group as this member sees it
    share : which of all rows are here
    """

    group: Group
    share: Share | Scattered

    # ---- rows -------------------------------------------------------------------------------------------------------

    def count(self, n: int) -> int:
        """The number of all rows."""
        return self.share.n

    def here(self, rows: AnyArray) -> AnyArray:
        """Those of some rows that are here."""
        return self.share.here(rows)

    def of(self, rows: AnyArray) -> Self:
        """The engine for some of the rows."""
        return replace(self, share=self.share.of(rows))

    def alone(self) -> CpuEngine:
        """An engine for rows that are all here."""
        return CpuEngine(self.n_threads)

    def gathered(self, values: AnyArray) -> AnyArray:
        """The values of all rows, at the leader; the others get none."""
        found: list[AnyArray] = []

        def pieces() -> list[tuple[str, Any]]:
            return [("list", self.share.gives(values))]

        def keep(pieces: list[Any]) -> None:
            # Not with the leader's own values, of which there are none: their type need not be that of the others.
            found.append(put_together(pieces[0], values))

        self.group.exchange("rows", pieces, keep)
        return found[0] if found else values[:0]

    def decide(self, compute: Callable[[], Any]) -> Any:
        """What the leader computes."""
        return self.group.decide("decision", compute)

    def arranged(self, compute: Callable[[], AnyArray]) -> tuple[AnyArray, Self]:
        """The rows here in another order of all rows; their numbers are then no longer consecutive."""

        def places() -> AnyArray:
            order = compute()
            place = np.empty(len(order), dtype=np.uint32 if len(order) < 2**32 else np.int64)
            place[order] = np.arange(len(order))
            return place

        numbers = self.group.decide("order", places)[self.share.numbers].astype(np.int64)
        order = np.argsort(numbers)
        return order, replace(self, share=Scattered(self.share.n, numbers[order]))

    # ---- sums over rows ---------------------------------------------------------------------------------------------

    def total(self, values: Array) -> float:
        """Σ values."""
        return float(self.totals(values[:, None])[0])

    def totals(self, columns: Array) -> Array:
        """The sums of columns (n, m), from the integers of every member."""
        parts = [np.ascontiguousarray(column, dtype=np.float64) for column in columns.T]
        largest, n = self.group.exchange(
            "largest", lambda: [("max", np.array([largest_magnitude(v) for v in parts])), ("sum", len(columns))]
        )
        finite = np.isfinite(largest)

        def limbs() -> list[tuple[str, Any]]:
            exact = [sum_limbs(v, top, n) if ok else (0, 0) for v, top, ok in zip(parts, largest, finite, strict=True)]
            return [("sum", np.array(exact)), ("sum", np.array([np.sum(v) for v in parts]))]

        def add_up(pieces: list[Any]) -> Array:
            exact, plain = pieces
            return np.array(
                [
                    limb_total(int(hi), int(lo), float(top), int(n)) if ok else other
                    for (hi, lo), other, top, ok in zip(exact, plain, largest, finite, strict=True)
                ]
            )

        return self.group.exchange("total", limbs, add_up)

    def total_size(self, vectors: Array) -> float:
        """Σ‖v‖ over the rows of vectors (n, s)."""
        return self.total(row_sizes(vectors))

    def largest(self, values: AnyArray) -> float:
        """The largest of the values of all rows."""
        return float(self.group.exchange("maximum", lambda: [("max", np.max(values, initial=-np.inf))])[0])

    def every(self, mask: AnyArray) -> bool:
        """Whether the mask is true for all rows."""
        return not self.group.exchange("every", lambda: [("max", int(not np.all(mask)))])[0]

    # ---- bins -------------------------------------------------------------------------------------------------------

    def bin(
        self,
        X: AnyArray,
        max_bins: int = MAX_BINS,
        categorical: AnyArray | None = None,
        sample: AnyArray | None = None,
    ) -> BinnedData:
        """X as codes: the edges are those of all rows, found by the leader from a sample of them."""
        mask = category_mask(categorical, X.shape[1])
        codes: AnyArray | SparseCodes
        edges: Sequence[Array]
        if self.group.exchange("form", lambda: [("any", issparse(X))])[0]:
            table = X if issparse(X) else csr_array(X)  # of those that have no rows
            edges = of_all = self._sparse_edges(table, max_bins, sample)
            codes, has_missing = sparse_codes(table, of_all, self.n_threads)
        else:
            edges = self._edges(X, max_bins, mask, sample)
            codes, has_missing = self.codes(X, edges)
        has_missing = self.group.exchange("columns", lambda: [("any", has_missing)])[0]
        return BinnedData(codes, Edges.of(edges).n_bins, has_missing, edges, mask)

    def _sparse_edges(self, X: Any, max_bins: int, sample: AnyArray | None) -> Edges:
        """The edges of every column of a sparse table, which has no categories."""
        sample = self._sampled(X, sample)

        def find(pieces: list[Any]) -> Edges:
            return sparse_quantiles(vstack([block for _, block in pieces[0]]), max_bins, self.n_threads)

        return self.group.exchange("edges", lambda: [("list", [(0, sample)] if sample.shape[0] else [])], find)

    def _edges(self, X: AnyArray, max_bins: int, mask: AnyArray, sample: AnyArray | None) -> list[Array]:
        """The edges of every column, some columns at a time."""
        sample, p = self._sampled(X, sample), X.shape[1]
        n_sampled = min(self.share.n, SAMPLE_ROWS)
        width = max(1, MOST_SAMPLED // max(1, n_sampled))
        edges: list[Array] = []
        for first in range(0, p, width):
            edges += self._edges_of(X, sample, slice(first, min(first + width, p)), max_bins, mask)
        return edges

    def _sampled(self, X: Any, sample: AnyArray | None) -> Any:
        """The rows of X from which edges are computed: those that are told, or those of `sampled_rows` here."""
        rows = sampled_rows(self.share.n)
        if rows is None:
            return X
        return X[self.here(rows) if sample is None else sample]

    def _edges_of(self, X: AnyArray, sample: AnyArray, columns: slice, max_bins: int, mask: AnyArray) -> list[Array]:
        """The edges of some columns; those of categories depend only on the largest of all rows."""
        categories = np.flatnonzero(mask[columns]).tolist()

        def pieces() -> list[tuple[str, Any]]:
            largest = [np.nanmax(X[:, columns.start + f], initial=0.0) for f in categories]
            return [("list", [(0, sample[:, columns])]), ("max", np.array(largest))]

        def find(pieces: list[Any]) -> list[Array]:
            values, largest = np.concatenate([block for _, block in pieces[0]]), pieces[1]
            found = self.quantiles(np.ascontiguousarray(values), None, max_bins)
            for f, top in zip(categories, largest, strict=True):
                found[f] = category_edges(top[None], columns.start + f)
            return found

        return self.group.exchange("edges", pieces, find)

    # ---- trees ------------------------------------------------------------------------------------------------------

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
        """Grow one tree: the leader asks for histograms, the members answer."""
        features = data.splittable(features)

        def shard() -> Any:
            table = self.share.table()
            return make_shard(data, statistics, growth, rows, features, table, self.n_threads)

        self._agree_on_categories(data)
        sums_of = None if leaf_statistics is None else np.ascontiguousarray(leaf_statistics, dtype=np.float64)
        layout = Layout.of(data, statistics.m, features, growth.bits)
        if isinstance(self.group, Leader):
            lead = LeadGrowth(self.group, layout, sums_of is not None)
            parts, sums = lead.grow(data, statistics.m, score, growth, features, self.n_threads)
            return parts.grown(data, np.empty(0, dtype=np.int32), sums)
        assert isinstance(self.group, Member)
        answers = Answers(self.group, shard, layout, sums_of)
        parts, sums = answers.until_grown()
        return parts.grown(data, answers.leaf_of_row(parts, data, self.n_threads), sums)

    def _agree_on_categories(self, data: BinnedData) -> None:
        """Let the table know which categories occur in the rows of all members; once for every table."""
        if data.categorical.any() and "agreed" not in data.__dict__:
            own = data.seen_categories
            data.__dict__["seen_categories"] = self.group.exchange("categories", lambda: [("any", own)])[0]
            data.__dict__["agreed"] = True

    def row_loss(self, problem: RowProblem) -> RowLoss:
        """The flagship's loss on the rows here."""
        return CpuRowLoss(problem, self, GroupLogistic(problem, self.group, self.share))

    def block_loss(self, problem: BlockProblem) -> BlockLoss:
        """Nothing: a group fits one class target."""
        raise TypeError("on a cluster, y must hold one class per row; fit several labels or targets on one machine.")
