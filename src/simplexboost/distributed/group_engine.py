"""An engine whose rows are spread over the members of a group (`simplexboost.distributed.comm`).

A member computes with its own rows and never sees rows of another member. Only maxima and sums of integers travel:
column maxima, histograms, the two integers of every exact sum, row counts. They do not depend on the order or the
division of the rows, so trees and leaf values are those of the CPU engine, bit for bit. The leader has no rows: it
grows the trees from the summed histograms of all members.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
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
from .comm import Group, Leader, Member, Milestone


@dataclass(frozen=True, eq=False)
class Layout:
    """The form in which histograms are sent: every sum as an array of its own, without the bins of unused features.

    Kernels store the sums of a bin side by side, padded with zeros to a width that suits the CPU.
    """

    m: int  # the number of sums of a bin, beside the number of its rows
    lanes: int  # the numbers that a kernel stores for each bin
    n_bins: int  # the number of bins of all features
    bins: AnyArray  # which of them travel
    bits: int  # of every integer

    @classmethod
    def of(cls, data: BinnedData, m: int, features: AnyArray | None, bits: int) -> Layout:
        """Return the layout of the histograms for a tree on `features` (None for all), with m statistics."""
        widths = data.n_bins + data.has_missing
        used = np.ones(data.p, dtype=bool) if features is None else np.isin(np.arange(data.p), features)
        return cls(m, _kernels.lane_count(m), int(widths.sum()), np.flatnonzero(np.repeat(used, widths)), bits)

    def send(self, histograms: AnyArray) -> list[tuple[str, Any]]:
        """Convert histograms from the form in which kernels store them to pieces of an `Answer`."""
        table = histograms.reshape(-1, self.n_bins, self.lanes)
        return [("sum", np.take(table[:, :, j], self.bins, axis=1)) for j in range(self.m + 1)]

    def receive(self, pieces: list[AnyArray]) -> AnyArray:
        """Convert pieces of an answer to histograms as kernels store them, (number of histograms, size)."""
        n = len(pieces[0])
        out = np.zeros((n, self.n_bins, self.lanes), dtype=np.int64 if self.bits == 64 else np.int32)
        whole = len(self.bins) == self.n_bins
        for j, piece in enumerate(pieces):
            out[:, slice(None) if whole else self.bins, j] = piece
        return out.reshape(n, self.n_bins * self.lanes)


class MemberRows:
    """The leader's source of sums for `cpu.trees.grow_from`: most methods request the sums of all members' rows."""

    def __init__(self, leader: Leader, layout: Layout) -> None:
        self.leader, self.layout = leader, layout
        self.orders: list[tuple[Any, ...]] = []  # need no answer, and travel with the next question
        n_rows, self.maxima = leader.ask("grow")
        self.n_rows = int(n_rows)

    def column_maxima(self) -> Array:
        """Return the largest absolute value of every statistic over all rows."""
        return self.maxima

    def column_magnitudes(self, unit: Array) -> Array:
        """Return Σ ⌈|v| · unit⌉ over all rows for the values v of every statistic: sums of integers, as doubles."""
        return self.ask("magnitudes", unit)[0]

    def quantize(self, exponents: AnyArray) -> None:
        """Let all members round their statistics to integers, scaled by 2 to the power of `exponents`."""
        self.orders.append(("quantize", np.array(exponents)))

    def root(self) -> AnyArray:
        """Return the histogram of all rows, which are in the root node."""
        self.leader.traffic.histograms += 1
        return self.layout.receive(self.ask("root"))[0]

    def expand(self, cells: AnyArray, splits: AnyArray, sets: AnyArray, build: AnyArray) -> AnyArray:
        """Split the row sets of nodes in two, and return the histograms of the new row sets that `build` selects."""
        self.leader.traffic.histograms += int(build.sum())
        if build.any():
            return self.layout.receive(self.ask("expand", cells, splits, sets, build))
        self.orders.append(("expand", *(np.array(a) for a in (cells, splits, sets, build))))
        return self.layout.receive([np.empty((0, len(self.layout.bins)))] * (self.layout.m + 1))

    def cell_sizes(self, cells: AnyArray) -> AnyArray:
        """Return the number of rows in each of the row sets with the ids `cells`."""
        return self.ask("sizes", cells)[0]

    def ask(self, what: str, *arguments: Any) -> list[AnyArray]:
        """Send a question with its arguments to all members, and return their combined values."""
        self.leader.tell([*self.orders, (what, *(np.array(a) for a in arguments))])
        self.orders = []
        return self.leader.ask(what)


GROWN = "grown"


class Answers:
    """A handler of the leader's requests while a tree grows: it computes sums over the rows of this member.

    While the member replays the past, its answers are already known. Requests are then only stored; if the past ends in
    the middle of a tree, they are computed before the next answer.
    """

    def __init__(self, member: Member, make: Callable[[], Any], layout: Layout, sums_of: Array | None) -> None:
        self.member, self.make, self.layout, self.sums_of = member, make, layout, sums_of
        self.shard: Any = None
        self.noted: list[tuple[Any, ...]] = []

    def until_grown(self) -> tuple[Tree, AnyArray, Array]:
        """Answer the leader's requests until a tree comes; return the tree, each leaf's row set id, and leaf sums."""
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
        """Return the compiled source of sums over this member's rows, made at the first call."""
        if self.shard is None:
            self.shard = self.make()
        return self.shard

    def last_answer(self) -> list[tuple[str, Any]]:
        """Compute all stored requests, and return the result of the last one."""
        noted, self.noted = self.noted, []
        return [self.reply(*question) for question in noted][-1]

    def reply(self, what: str, *arguments: Any) -> list[tuple[str, Any]]:
        """Return the result of one request of the leader, as pieces of an `Answer`."""
        shard = self.rows()
        if what == "magnitudes":
            return [("sum", shard.column_magnitudes(*arguments))]
        if what == "quantize":
            shard.quantize(*arguments)
            return []
        if what in ("root", "expand"):
            return self.layout.send(getattr(shard, what)(*arguments))
        if what == "sizes":
            return [("sum", shard.cell_sizes(*arguments))]
        if what == "maxima":
            return [("max", shard.column_maxima(self.sums_of))]
        cells, largest, n_rows = arguments
        return [("sum", shard.leaf_limbs(cells, self.sums_of, largest, int(n_rows)))]

    def leaf_of_row(self, tree: Tree, cells: AnyArray, data: BinnedData, n_threads: int) -> AnyArray:
        """Return the index of the leaf that each row of this member falls into."""
        if self.shard is None or self.noted:  # the past held the whole tree, so that no rows were split
            return route(data, node_bytes(tree.nodes), tree.category_sets, n_threads)
        return self.shard.leaf_of_row(node_bytes(tree.nodes), tree.category_sets, cells)


HESSIAN_ROWS = 48  # of a leaf; kHessianRows in kernels/losses/newton.hpp


class GroupLogistic:
    """The logistic loss on the rows of a member, with the methods of `_kernels.LogisticLoss`.

    With codewords that are not canonical, the Hessian of a leaf is estimated from some of its rows, chosen by their
    rank among all rows of the leaf. The leader chooses them, because only the leader knows the leaves of all rows.
    """

    def __init__(self, problem: RowProblem, rows: GroupRows) -> None:
        self.problem, self.rows = problem, rows
        self.whole = logistic_kernel(problem, rows.n)
        self.ranked, self.tilted = problem.Y is not None, problem.exponents != (0, 0)

    def pull(self, *arguments: Any) -> None:
        """Compute gradients and losses of the rows, unless the past messages in a replay hold this tree and the next.

        Weights of robust losses depend on earlier rounds, so robust losses are always computed.
        """
        if self.tilted or self.rows.group.milestones_ahead < 2:
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
        """Return each leaf's Newton step: exchange the largest weight and leaf sizes first, then the sums per leaf."""
        arrays = (F, G, loss, scale)
        used = leaf_of_row if rows is None else leaf_of_row[rows]

        def counts() -> list[tuple[str, Any]]:
            numbers = self.rows.numbers if rows is None else self.rows.numbers[rows]
            listed = [(numbers, used)] if self.ranked else []
            found = np.bincount(used, minlength=n_leaves)
            return [("max", self.whole.largest_weight(scale)), ("sum", found), ("list", listed)]

        def choose(pieces: list[Any]) -> tuple[float, AnyArray, AnyArray]:
            return float(pieces[0]), pieces[1], choose_rows(pieces[2])

        largest, total, chosen = self.rows.group.exchange("weights", counts, choose)
        n_rows = int(total.sum())

        def sums() -> list[tuple[str, Any]]:
            # No row comes after those of all members, so that this call leaves the Hessian out.
            out = self.whole.leaf_sums(*arrays, leaf_of_row, rows, total, total, largest, n_rows, n_threads)
            at = self.rows.find(chosen)
            if len(at):
                weight = None if self.problem.weight is None else self.problem.weight[at]
                kernel = logistic_kernel(replace(self.problem, c=self.problem.c[at], weight=weight), self.rows.n)
                some = [None if a is None else np.ascontiguousarray(a[at]) for a in arrays]
                own = np.bincount(leaf_of_row[at], minlength=n_leaves)
                none = np.zeros_like(own)
                sampled = kernel.leaf_sums(*some, leaf_of_row[at], None, none, own, largest, n_rows, n_threads)
                first = F.shape[1] + 1  # before it are the sums over all rows
                out[:, first:] = sampled[:, first:]
            return [("sum", out)]

        def values(pieces: list[Any]) -> AnyArray:
            return self.whole.leaf_values(pieces[0], largest, n_rows, l2, max_step, thin, n_threads)

        return self.rows.group.exchange("leaves", sums, values)


def choose_rows(pieces: list[tuple[AnyArray, AnyArray]]) -> AnyArray:
    """Return the ascending indices of up to 48 rows per leaf, evenly spaced among its rows, to estimate its Hessian.

    Parameters
    ----------
    pieces : for every member, the indices of its rows among all rows, and the leaf indices of these rows
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
    """Return the engine of one member of a group, with the rows of this member and `n_threads` threads."""
    return Engine(GroupCompute(n_threads, rows), HOST)


@dataclass(frozen=True, eq=False)
class GroupRows:
    """The rows of one member, with sums over the rows of all members; see `engine.interface.Rows`.

    Examples
    --------
    >>> rows = GroupRows.of(Any, [3, 0, 2, 4], [0, 1, 3])
    >>> rows.n, rows.numbers.tolist(), rows.runs().tolist()
    (9, [0, 1, 2, 5, 6, 7, 8], [[0, 0], [3, 5]])
    >>> rows.find(np.array([0, 4, 5])).tolist(), rows.subset(np.array([0, 4, 5])).numbers.tolist()
    ([0, 3], [0, 2])
    """

    group: Group  # the group as this member sees it
    n: int  # the number of all rows
    numbers: AnyArray  # (rows here,) the number of every row here among all rows, ascending
    is_spread: ClassVar[bool] = True

    @classmethod
    def of(cls, group: Group, sizes: Sequence[int], here: Sequence[int]) -> GroupRows:
        """Return the rows of the member that has the partitions `here`; `sizes` has all partitions' row counts."""
        ends = np.cumsum(sizes).tolist()
        numbers = [np.arange(0), *(np.arange(ends[i] - sizes[i], ends[i]) for i in here)]
        return cls(group, ends[-1], np.concatenate(numbers))

    def count(self, n: int) -> int:
        return self.n

    def find(self, rows: AnyArray) -> AnyArray:
        return np.flatnonzero(self._locate(rows)[1])

    def subset(self, rows: AnyArray) -> GroupRows:
        place, found = self._locate(rows)
        return GroupRows(self.group, len(rows), place[found])

    def _locate(self, rows: AnyArray) -> tuple[AnyArray, AnyArray]:
        """Return, for every row of this member, its position in `rows`, and whether `rows` contains the row."""
        place = np.searchsorted(rows, self.numbers)
        return place, np.append(rows, -1)[place] == self.numbers

    def runs(self) -> AnyArray:
        """Return runs of consecutive rows, (s, 2): each first row's position at this member, and its row index."""
        first = np.flatnonzero(np.diff(self.numbers, prepend=-2) != 1)
        return np.column_stack([first, self.numbers[first]]) if len(first) else np.zeros((1, 2), dtype=np.int64)

    def gather(self, values: AnyArray) -> AnyArray:
        found: list[AnyArray] = []

        def pieces() -> list[tuple[str, Any]]:
            first, numbers = self.runs().T
            if len(self.numbers) and 2 * len(first) <= len(self.numbers):  # few runs
                return [("list", list(zip(numbers.tolist(), np.split(values, first[1:]), strict=True)))]
            return [("list", [(self.numbers, values)] if len(self.numbers) else [])]

        def keep(pieces: list[Any]) -> None:
            # The leader's own values are left out: it has none, and their type may differ from that of the others.
            found.append(merge_rows(pieces[0], values))

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

        numbers = self.group.decide("order", places)[self.numbers].astype(np.int64)
        order = np.argsort(numbers)
        return order, replace(self, numbers=numbers[order])

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


def merge_rows(pieces: Sequence[tuple[Any, AnyArray]], otherwise: AnyArray) -> AnyArray:
    """Return all rows' values in row order, from pieces (row indices or the first one, values); `otherwise` if none.

    Examples
    --------
    >>> merge_rows([(2, np.array([7, 8])), (0, np.array([5, 6]))], np.empty(0)).tolist()
    [5, 6, 7, 8]
    """
    if not pieces:
        return otherwise
    numbers = [first + np.arange(len(values)) if np.ndim(first) == 0 else first for first, values in pieces]
    return np.concatenate([values for _, values in pieces])[np.argsort(np.concatenate(numbers), kind="stable")]


class GroupCompute(CpuCompute):
    """The computations of the CPU engine on the rows of a member; trees and losses are those of all members' rows."""

    rows: GroupRows

    # ---- bins -------------------------------------------------------------------------------------------------------

    def bin(
        self,
        X: AnyArray,
        max_bins: int = MAX_BINS,
        categorical: AnyArray | None = None,
        sample: AnyArray | None = None,
    ) -> BinnedData:
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
        """Return the bin edges of every column of a sparse table without categorical columns."""
        sample = self._sampled(X, sample)

        def find(pieces: list[Any]) -> Edges:
            return sparse_quantiles(vstack([block for _, block in pieces[0]]), max_bins, self.n_threads)

        return self.rows.group.exchange("edges", lambda: [("list", [(0, sample)] if sample.shape[0] else [])], find)

    def _edges(self, X: AnyArray, max_bins: int, mask: AnyArray, sample: AnyArray | None) -> list[Array]:
        """Return the bin edges of every column; the leader collects sampled rows for some columns at a time."""
        sample, p = self._sampled(X, sample), X.shape[1]
        n_sampled = min(self.rows.n, SAMPLE_ROWS)
        width = max(1, MOST_SAMPLED // max(1, n_sampled))
        edges: list[Array] = []
        for first in range(0, p, width):
            edges += self._edges_of(X, sample, slice(first, min(first + width, p)), max_bins, mask)
        return edges

    def _sampled(self, X: Any, sample: AnyArray | None) -> Any:
        """Return the rows of X to compute bin edges from: `sample` if given, else this member's `sampled_rows`."""
        rows = sampled_rows(self.rows.n)
        if rows is None:
            return X
        return X[self.rows.find(rows) if sample is None else sample]

    def _edges_of(self, X: AnyArray, sample: AnyArray, columns: slice, max_bins: int, mask: AnyArray) -> list[Array]:
        """Return the bin edges of some columns; of categorical ones, edges depend only on the largest category code."""
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
        features = data.find_varied(features)

        def shard() -> Any:
            table = self.rows.runs()
            return make_shard(data, statistics, growth, rows, features, table, self.n_threads)

        self._agree_on_categories(data)
        sums_of = None if leaf_statistics is None else np.ascontiguousarray(leaf_statistics, dtype=np.float64)
        m, group = statistics.shape[1], self.rows.group
        layout = Layout.of(data, m, features, growth.bits)
        if isinstance(group, Leader):
            source = MemberRows(group, layout)
            tree, cells, largest = grow_from(source, data, m, score, growth, features, self.n_threads)
            if sums_of is not None:
                largest = source.ask("maxima")[0]
            sums = limb_values(source.ask("limbs", cells, largest, source.n_rows)[0], largest, source.n_rows)
            group.tell(Milestone([(GROWN, tree, cells, sums)]))
            return Grown(tree, np.empty(0, dtype=np.int32), sums)
        assert isinstance(group, Member)
        answers = Answers(group, shard, layout, sums_of)
        tree, cells, sums = answers.until_grown()
        return Grown(tree, answers.leaf_of_row(tree, cells, data, self.n_threads), sums)

    def _agree_on_categories(self, data: BinnedData) -> None:
        """Set ``data.seen_categories`` to the categories that occur at any member, at the first call for a table."""
        if data.categorical.any() and "agreed" not in data.__dict__:
            own = data.seen_categories
            data.__dict__["seen_categories"] = self.rows.group.exchange("categories", lambda: [("any", own)])[0]
            data.__dict__["agreed"] = True

    def row_loss(self, problem: RowProblem | BlockProblem) -> RowLoss:
        if isinstance(problem, BlockProblem):
            raise TypeError(
                "on a cluster, y must hold one class per row; fit several labels or targets on one machine."
            )
        return CpuRowLoss(problem, self, GroupLogistic(problem, self.rows))
