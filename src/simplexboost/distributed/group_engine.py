"""An engine whose rows are spread over the members of a group (`simplexboost.distributed.comm`).

A member computes with its own rows and never sees those of another. Only maxima and sums of integers pass between
them: column maxima, histograms, the two integers of every exact sum, row counts. These are the same for any order and
any cuts, so the trees and the leaf values are those of the compiled engine, bit for bit. The leader has no rows: it
grows the trees, from histograms that the members have added up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array, issparse, vstack

from .. import _kernels
from .._util.arrays import AnyArray, Array
from ..engine.binned import (
    MAX_BINS,
    SAMPLE_ROWS,
    BinnedData,
    Edges,
    SparseCodes,
    category_edges,
    category_mask,
    sampled_rows,
)
from ..engine.cpu import HOST, CpuCompute
from ..engine.cpu.rows import CpuRowLoss, logistic_kernel
from ..engine.cpu.trees import (
    grow_from,
    limb_values,
    make_shard,
    route,
    sparse_codes,
    sparse_quantiles,
)
from ..engine.interface import (
    BlockProblem,
    Engine,
    Growth,
    OneHot,
    RowLoss,
    RowProblem,
    row_sizes,
)
from ..engine.tree import Grown, Tree, node_bytes
from .comm import Group, Leader, Member, Milestone, Scattered, Share, put_together


def part_problem(problem: RowProblem, part: slice | AnyArray) -> RowProblem:
    """The problem of some of the rows, such as those of a shard."""
    weight = None if problem.weight is None else problem.weight[part]
    return replace(problem, c=problem.c[part], weight=weight)


@dataclass(frozen=True, eq=False)
class Layout:
    """How histograms are sent: every sum as an array of its own, without the bins of features that are not used.

    Kernels have the sums of a bin one after another, and fill them up with zeros to a number that suits the machine.

    Attributes
    ----------
    m : the sums of a bin, and after them the number of its rows
    lanes : the numbers that a kernel has for each bin
    n_bins : of all features
    bins : which of them are sent
    bits : of every integer
    """

    m: int
    lanes: int
    n_bins: int
    bins: AnyArray
    bits: int

    @classmethod
    def of(cls, data: BinnedData, m: int, features: AnyArray | None, bits: int) -> Layout:
        """That of a tree on these features."""
        widths = data.n_bins + data.has_missing
        used = np.ones(data.p, dtype=bool) if features is None else np.isin(np.arange(data.p), features)
        return cls(m, _kernels.lane_count(m), int(widths.sum()), np.flatnonzero(np.repeat(used, widths)), bits)

    def sent(self, histograms: AnyArray) -> list[tuple[str, Any]]:
        """Histograms, any number of them, as pieces of an answer."""
        table = histograms.reshape(-1, self.n_bins, self.lanes)
        return [("sum", np.take(table[:, :, j], self.bins, axis=1)) for j in range(self.m + 1)]

    def received(self, pieces: list[AnyArray]) -> AnyArray:
        """Histograms as kernels have them, (number, size)."""
        n = len(pieces[0])
        out = np.zeros((n, self.n_bins, self.lanes), dtype=np.int64 if self.bits == 64 else np.int32)
        whole = len(self.bins) == self.n_bins
        for j, piece in enumerate(pieces):
            out[:, slice(None) if whole else self.bins, j] = piece
        return out.reshape(n, self.n_bins * self.lanes)


@dataclass(eq=False)
class Asked:
    """The members' rows as a source of sums (`cpu.trees.grow_from`): every method is a question to all of them."""

    leader: Leader
    layout: Layout
    n_rows: int
    maxima: Array
    orders: list[tuple[Any, ...]] = field(default_factory=list)  # that nobody need answer; they travel with a question

    def column_maxima(self) -> Array:
        """The largest absolute value of every statistic."""
        return self.maxima

    def column_magnitudes(self, unit: Array) -> Array:
        """For every column Σ ⌈|v| · unit⌉: sums of integers, as doubles."""
        return self.ask("magnitudes", unit)[0]

    def quantize(self, exponents: AnyArray) -> None:
        """Turn the statistics into integers."""
        self.orders.append(("quantize", np.array(exponents)))

    def root(self) -> AnyArray:
        """The histogram of all rows."""
        self.leader.traffic.histograms += 1
        return self.layout.received(self.ask("root"))[0]

    def expand(self, cells: AnyArray, splits: AnyArray, sets: AnyArray, build: AnyArray) -> AnyArray:
        """Cut the row sets of nodes in two, as ordered, and return the histograms that the orders ask for."""
        self.leader.traffic.histograms += int(build.sum())
        if build.any():
            return self.layout.received(self.ask("expand", cells, splits, sets, build))
        self.orders.append(("expand", *(np.array(a) for a in (cells, splits, sets, build))))
        return self.layout.received([np.empty((0, len(self.layout.bins)))] * (self.layout.m + 1))

    def cell_sizes(self, cells: AnyArray) -> AnyArray:
        """The number of rows in each of these row sets."""
        return self.ask("sizes", cells)[0]

    def ask(self, what: str, *arguments: Any) -> list[AnyArray]:
        """The combined answer to a question."""
        self.leader.tell([*self.orders, (what, *(np.array(a) for a in arguments))])
        self.orders = []
        return self.leader.ask(what)


@dataclass(frozen=True, eq=False)
class LeadGrowth:
    """The leader's part in growing a tree; ``other_sums`` says whether other statistics are summed over its leaves."""

    leader: Leader
    layout: Layout
    other_sums: bool

    def grow(
        self, data: BinnedData, m: int, score: str, growth: Growth, features: AnyArray | None, n_threads: int
    ) -> tuple[Tree, Array]:
        """Grow a tree from the members' answers, and tell them the tree and the sums over its leaves."""
        leader = self.leader
        n_rows, maxima = leader.ask("grow")
        source = Asked(leader, self.layout, int(n_rows), maxima)
        tree, cells, largest = grow_from(source, data, m, score, growth, features, n_threads)
        if self.other_sums:
            largest = source.ask("maxima")[0]
        sums = limb_values(source.ask("limbs", cells, largest, source.n_rows)[0], largest, source.n_rows)
        leader.tell(Milestone([(GROWN, tree, cells, sums)]))
        return tree, sums


GROWN = "grown"


class Answers:
    """A member's part in growing a tree.

    While the member replays the past, nobody waits for its answers. Questions are then only noted; should the past end
    in the middle of the tree, what they ordered is done before the next answer.
    """

    def __init__(self, member: Member, make: Callable[[], Any], layout: Layout, sums_of: Array | None) -> None:
        self.member, self.make, self.layout, self.sums_of = member, make, layout, sums_of
        self.shard: Any = None
        self.noted: list[tuple[Any, ...]] = []

    def until_grown(self) -> tuple[Tree, AnyArray, Array]:
        """Answer the leader's questions until it sends the tree and the sums over its leaves."""
        self.member.answer("grow", lambda: [("sum", self.rows().n_rows), ("max", self.rows().column_maxima())])
        while True:
            orders = self.member.receive()
            what, *arguments = orders[-1]
            if what == GROWN:
                tree, cells, sums = arguments
                return tree, cells, sums
            self.noted += orders
            self.member.answer(what, self.last_answer)

    def rows(self) -> Any:
        """The shard, made when it is first needed."""
        if self.shard is None:
            self.shard = self.make()
        return self.shard

    def last_answer(self) -> list[tuple[str, Any]]:
        """Do what was noted; the answer to the last question."""
        noted, self.noted = self.noted, []
        return [self.reply(*question) for question in noted][-1]

    def reply(self, what: str, *arguments: Any) -> list[tuple[str, Any]]:
        """The answer to one question."""
        shard = self.rows()
        if what == "magnitudes":
            return [("sum", shard.column_magnitudes(*arguments))]
        if what == "quantize":
            shard.quantize(*arguments)
            return []
        if what == "root":
            return self.layout.sent(shard.root())
        if what == "expand":
            return self.layout.sent(shard.expand(*arguments))
        if what == "sizes":
            return [("sum", shard.cell_sizes(*arguments))]
        if what == "maxima":
            return [("max", shard.column_maxima(self.sums_of))]
        cells, largest, n_rows = arguments
        return [("sum", shard.leaf_limbs(cells, self.sums_of, largest, int(n_rows)))]

    def leaf_of_row(self, tree: Tree, cells: AnyArray, data: BinnedData, n_threads: int) -> AnyArray:
        """The leaf of every row here."""
        if self.shard is None or self.noted:  # the past told the whole tree, so that no rows were cut
            return route(data, node_bytes(tree.nodes), tree.category_sets, n_threads)
        return self.shard.leaf_of_row(node_bytes(tree.nodes), tree.category_sets, cells)


HESSIAN_ROWS = 48  # of a leaf; kHessianRows in kernels/losses/newton.hpp


class GroupLogistic:
    """`_kernels.LogisticLoss` on the rows of a member.

    With codewords that are not canonical, the Hessian of a leaf is estimated from some of its rows, chosen by their
    rank among all rows of the leaf. The leader chooses them, from the leaves of all rows.
    """

    def __init__(self, problem: RowProblem, group: Group, share: Share | Scattered) -> None:
        self.problem, self.group, self.share = problem, group, share
        self.whole = logistic_kernel(problem, share.n)
        self.ranked, self.tilted = problem.Y is not None, problem.exponents != (0, 0)

    def pull(self, *arguments: Any) -> None:
        """Fill in the rows here.

        That is left out if the past has this tree and the next, so that all sums over these rows are known already.
        Only the tilts of robust losses depend on rows of earlier rounds.
        """
        if self.tilted or self.group.milestones_ahead < 2:
            self.whole.pull(*arguments)

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
        arrays = (F, G, loss, scale)
        used = leaf_of_row if rows is None else leaf_of_row[rows]

        def counts() -> list[tuple[str, Any]]:
            numbers = self.share.numbers if rows is None else self.share.numbers[rows]
            listed = [(numbers, used)] if self.ranked else []
            found = np.bincount(used, minlength=n_leaves)
            return [("max", self.whole.largest_weight(scale)), ("sum", found), ("list", listed)]

        def choose(pieces: list[Any]) -> tuple[float, AnyArray, AnyArray]:
            return float(pieces[0]), pieces[1], chosen_rows(pieces[2])

        largest, total, chosen = self.group.exchange("weights", counts, choose)
        n_rows = int(total.sum())

        def sums() -> list[tuple[str, Any]]:
            # No row comes after those of all members, so that this call leaves the Hessian out.
            out = self.whole.leaf_sums(*arrays, leaf_of_row, rows, total, total, largest, n_rows, n_threads)
            at = self.share.here(chosen)
            if len(at):
                kernel = logistic_kernel(part_problem(self.problem, at), self.share.n)
                some = [None if a is None else np.ascontiguousarray(a[at]) for a in arrays]
                own = np.bincount(leaf_of_row[at], minlength=n_leaves)
                none = np.zeros_like(own)
                sampled = kernel.leaf_sums(*some, leaf_of_row[at], None, none, own, largest, n_rows, n_threads)
                first = F.shape[1] + 1  # before it are the sums over all rows
                out[:, first:] = sampled[:, first:]
            return [("sum", out)]

        def values(pieces: list[Any]) -> AnyArray:
            return self.whole.leaf_values(pieces[0], largest, n_rows, l2, max_step, thin, n_threads)

        return self.group.exchange("leaves", sums, values)


def chosen_rows(pieces: list[tuple[AnyArray, AnyArray]]) -> AnyArray:
    """The numbers (ascending) of the rows that Hessians are estimated from: in every leaf those of evenly spaced ranks.

    Parameters
    ----------
    pieces : for every member the numbers of its rows and their leaves
    """
    if not pieces:
        return np.empty(0, dtype=np.int64)
    numbers, leaves = (np.concatenate(arrays) for arrays in zip(*pieces, strict=True))
    order = np.lexsort((numbers, leaves))
    counts = np.bincount(leaves)
    first, chosen = np.cumsum(counts) - counts, [np.empty(0, dtype=np.int64)]
    for begin, count in zip(first.tolist(), counts.tolist(), strict=True):
        wanted = min(count, HESSIAN_ROWS)
        chosen.append(begin + np.arange(wanted) * count // max(wanted, 1))
    return np.sort(numbers[order[np.concatenate(chosen)]])


MOST_SAMPLED = 2**23  # values of the rows from which edges are computed that the leader collects at a time: 64 MB


def group_engine(n_threads: int, rows: GroupRows) -> Engine:
    """The engine of one member of a group."""
    return Engine(GroupCompute(n_threads, rows), HOST)


@dataclass(frozen=True, eq=False)
class GroupRows:
    """The rows of a member; what is summed up is summed over all members. See `engine.interface.Rows`.

    Attributes
    ----------
    group : the group as this member sees it
    share : which of all rows are here
    """

    group: Group
    share: Share | Scattered
    is_spread: ClassVar[bool] = True

    def count(self, n: int) -> int:
        return self.share.n

    def find(self, rows: AnyArray) -> AnyArray:
        return self.share.here(rows)

    def subset(self, rows: AnyArray) -> GroupRows:
        return replace(self, share=self.share.of(rows))

    def gather(self, values: AnyArray) -> AnyArray:
        found: list[AnyArray] = []

        def pieces() -> list[tuple[str, Any]]:
            return [("list", self.share.gives(values))]

        def keep(pieces: list[Any]) -> None:
            # Not with the leader's own values, of which there are none: their type need not be that of the others.
            found.append(put_together(pieces[0], values))

        self.group.exchange("rows", pieces, keep)
        return found[0] if found else values[:0]

    def decide(self, compute: Callable[[], Any]) -> Any:
        return self.group.decide("decision", compute)

    def reorder(self, compute: Callable[[], AnyArray]) -> tuple[AnyArray, GroupRows]:
        def places() -> AnyArray:
            order = compute()
            place = np.empty(len(order), dtype=np.uint32 if len(order) < 2**32 else np.int64)
            place[order] = np.arange(len(order))
            return place

        numbers = self.group.decide("order", places)[self.share.numbers].astype(np.int64)
        order = np.argsort(numbers)
        # The numbers of the rows here are no longer consecutive.
        return order, replace(self, share=Scattered(self.share.n, numbers[order]))

    def total(self, values: Array) -> Any:
        if values.ndim == 1:
            return float(self._totals(values[:, None])[0])
        return self._totals(values)

    def _totals(self, columns: Array) -> Array:
        parts = [np.ascontiguousarray(column, dtype=np.float64) for column in columns.T]
        largest, n = self.group.exchange(
            "largest",
            lambda: [("max", np.array([_kernels.largest_magnitude(v) for v in parts])), ("sum", len(columns))],
        )
        finite = np.isfinite(largest)

        def limbs() -> list[tuple[str, Any]]:
            exact = [
                _kernels.sum_limbs(v, top, n) if ok else (0, 0)
                for v, top, ok in zip(parts, largest, finite, strict=True)
            ]
            return [("sum", np.array(exact)), ("sum", np.array([np.sum(v) for v in parts]))]

        def add_up(pieces: list[Any]) -> Array:
            exact, plain = pieces
            return np.array(
                [
                    _kernels.limb_total(int(hi), int(lo), float(top), int(n)) if ok else other
                    for (hi, lo), other, top, ok in zip(exact, plain, largest, finite, strict=True)
                ]
            )

        return self.group.exchange("total", limbs, add_up)

    def total_size(self, vectors: Array) -> float:
        return self.total(row_sizes(vectors))

    def largest(self, values: AnyArray) -> float:
        return float(self.group.exchange("maximum", lambda: [("max", np.max(values, initial=-np.inf))])[0])

    def every(self, mask: AnyArray) -> bool:
        return not self.group.exchange("every", lambda: [("max", int(not np.all(mask)))])[0]


class GroupCompute(CpuCompute):
    """The compiled computations on the rows of a member, whose trees and losses are those of all members."""

    rows: GroupRows

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
        if self.rows.group.exchange("form", lambda: [("any", issparse(X))])[0]:
            table = X if issparse(X) else csr_array(X)  # of those that have no rows
            edges = self._sparse_edges(table, max_bins, sample)
            codes, has_missing = sparse_codes(table, edges, self.n_threads)
        else:
            edges = Edges.of(self._edges(X, max_bins, mask, sample))
            codes, has_missing = self.codes(X, edges)
        has_missing = self.rows.group.exchange("columns", lambda: [("any", has_missing)])[0]
        return BinnedData(codes, edges.n_bins, has_missing, edges, mask)

    def _sparse_edges(self, X: Any, max_bins: int, sample: AnyArray | None) -> Edges:
        """The edges of every column of a sparse table, which has no categories."""
        sample = self._sampled(X, sample)

        def find(pieces: list[Any]) -> Edges:
            return sparse_quantiles(vstack([block for _, block in pieces[0]]), max_bins, self.n_threads)

        return self.rows.group.exchange("edges", lambda: [("list", [(0, sample)] if sample.shape[0] else [])], find)

    def _edges(self, X: AnyArray, max_bins: int, mask: AnyArray, sample: AnyArray | None) -> list[Array]:
        """The edges of every column, some columns at a time."""
        sample, p = self._sampled(X, sample), X.shape[1]
        n_sampled = min(self.rows.share.n, SAMPLE_ROWS)
        width = max(1, MOST_SAMPLED // max(1, n_sampled))
        edges: list[Array] = []
        for first in range(0, p, width):
            edges += self._edges_of(X, sample, slice(first, min(first + width, p)), max_bins, mask)
        return edges

    def _sampled(self, X: Any, sample: AnyArray | None) -> Any:
        """The rows of X from which edges are computed: those that are told, or those of `sampled_rows` here."""
        rows = sampled_rows(self.rows.share.n)
        if rows is None:
            return X
        return X[self.rows.find(rows) if sample is None else sample]

    def _edges_of(self, X: AnyArray, sample: AnyArray, columns: slice, max_bins: int, mask: AnyArray) -> list[Array]:
        """The edges of some columns; those of categories depend only on the largest of all rows."""
        categories = np.flatnonzero(mask[columns]).tolist()

        def pieces() -> list[tuple[str, Any]]:
            largest = [np.nanmax(X[:, columns.start + f], initial=0.0) for f in categories]
            return [("list", [(0, sample[:, columns])]), ("max", np.array(largest))]

        def find(pieces: list[Any]) -> list[Array]:
            values, largest = np.concatenate([block for _, block in pieces[0]]), pieces[1]
            found = list(self.quantiles(np.ascontiguousarray(values), None, max_bins))
            for f, top in zip(categories, largest, strict=True):
                found[f] = category_edges(top[None], columns.start + f)
            return found

        return self.rows.group.exchange("edges", pieces, find)

    # ---- trees ------------------------------------------------------------------------------------------------------

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
        """Grow one tree: the leader asks for histograms, the members answer."""
        features = data.find_varied(features)

        def shard() -> Any:
            table = self.rows.share.table()
            return make_shard(data, statistics, growth, rows, features, table, self.n_threads)

        self._agree_on_categories(data)
        sums_of = None if leaf_statistics is None else np.ascontiguousarray(leaf_statistics, dtype=np.float64)
        layout = Layout.of(data, statistics.shape[1], features, growth.bits)
        if isinstance(self.rows.group, Leader):
            lead = LeadGrowth(self.rows.group, layout, sums_of is not None)
            tree, sums = lead.grow(data, statistics.shape[1], score, growth, features, self.n_threads)
            return Grown(tree, np.empty(0, dtype=np.int32), sums)
        assert isinstance(self.rows.group, Member)
        answers = Answers(self.rows.group, shard, layout, sums_of)
        tree, cells, sums = answers.until_grown()
        return Grown(tree, answers.leaf_of_row(tree, cells, data, self.n_threads), sums)

    def _agree_on_categories(self, data: BinnedData) -> None:
        """Let the table know which categories occur in the rows of all members; once for every table."""
        if data.categorical.any() and "agreed" not in data.__dict__:
            own = data.seen_categories
            data.__dict__["seen_categories"] = self.rows.group.exchange("categories", lambda: [("any", own)])[0]
            data.__dict__["agreed"] = True

    def row_loss(self, problem: RowProblem | BlockProblem) -> RowLoss:
        if isinstance(problem, BlockProblem):
            raise TypeError(
                "on a cluster, y must hold one class per row; fit several labels or targets on one machine."
            )
        return CpuRowLoss(problem, self, GroupLogistic(problem, self.rows.group, self.rows.share))
