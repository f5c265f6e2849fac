"""How a group grows a tree: the leader asks for histograms, the members answer, and what is sent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._typing import AnyArray, Array
from ..group import Leader, Member
from ..group.messages import Milestone
from .binned import BinnedData
from .cpu.trees import GrownParts, grow_from, lane_count, limb_values, route
from .interface import Growth


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
        return cls(m, lane_count(m), int(widths.sum()), np.flatnonzero(np.repeat(used, widths)), bits)

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
    ) -> tuple[GrownParts, Array]:
        """Grow a tree from the members' answers, and tell them the tree and the sums over its leaves."""
        leader = self.leader
        n_rows, maxima = leader.ask("grow")
        source = Asked(leader, self.layout, int(n_rows), maxima)
        parts = grow_from(source, data, m, score, growth, source.n_rows, features, n_threads)
        largest = parts.largest
        if self.other_sums:
            largest = source.ask("maxima")[0]
        sums = limb_values(source.ask("limbs", parts.cells, largest, source.n_rows)[0], largest, source.n_rows)
        leader.tell(Milestone([(GROWN, parts, sums)]))
        return parts, sums


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

    def until_grown(self) -> tuple[GrownParts, Array]:
        """Answer the leader's questions until it sends the tree and the sums over its leaves."""
        self.member.answer("grow", lambda: [("sum", self.rows().n_rows), ("max", self.rows().column_maxima())])
        while True:
            orders = self.member.receive()
            what, *arguments = orders[-1]
            if what == GROWN:
                parts, sums = arguments
                return parts, sums
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

    def leaf_of_row(self, parts: GrownParts, data: BinnedData, n_threads: int) -> AnyArray:
        """The leaf of every row here."""
        if self.shard is None or self.noted:  # the past told the whole tree, so that no rows were cut
            return route(data, parts.nodes, parts.category_sets, n_threads)
        return self.shard.leaf_of_row(parts.nodes, parts.category_sets, parts.cells)
