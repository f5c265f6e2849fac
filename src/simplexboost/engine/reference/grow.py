"""Growing a tree on binned data: statistics in fixed point, the best split of every node, the queue of nodes.

Integers, the order of floating-point operations and the choice among ties are the same as in kernels/trees.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..._typing import AnyArray, Array
from ..binned import BinnedData
from ..interface import Dense, Growth, OneHot
from ..tree import NODE, Grown, Tree, no_sets, set_thresholds, set_unseen
from .categories import category_order
from .exact import exact_sum
from .scores import node_score

TIE_TOLERANCE = 1e-12  # scores that differ by less than this part are a tie: rounding may be the cause
GAIN_TOLERANCE = 1e-12  # a gain below this part of the scores that are subtracted is rounding noise


@dataclass
class Split:
    """The best split of a node: these codes of the feature go left."""

    score: float
    gain: float
    feature: int
    left: list[int]
    missing_left: bool
    missing_seen: bool
    categorical: bool


def grow(
    data: BinnedData,
    statistics: Dense | OneHot,
    score: str,
    growth: Growth,
    leaf_statistics: Array | None = None,
    rows: AnyArray | None = None,
    features: AnyArray | None = None,
) -> Grown:
    """Grow one tree; see `interface.Engine.grow`."""
    rows = np.arange(data.n) if rows is None else np.asarray(rows, dtype=np.intp)
    features = np.arange(data.p) if features is None else features
    lanes, inverse = quantize(statistics, rows, growth)
    grower = Grower(data, lanes, inverse, score, growth, [int(f) for f in features])
    tree, node_rows = grower.run(rows)
    set_thresholds(tree.nodes, data.edges)
    set_unseen(tree.nodes, tree.category_sets, data.seen_categories)
    leaf_rows = [node_rows[node] for node in np.flatnonzero(tree.nodes["feature"] < 0)]
    values = dense_values(statistics) if leaf_statistics is None else leaf_statistics
    largest = np.abs(values[rows]).max(axis=0)
    if leaf_statistics is None and isinstance(statistics, OneHot):  # one scale for all weights
        largest[:] = np.abs(statistics.weight[rows]).max()
    sums = np.array([exact_sum(values[r], largest, len(rows)) for r in leaf_rows])
    return Grown(tree, leaves_of_codes(tree, data), sums)


# ---- fixed point ----------------------------------------------------------------------------------------------------


def quantize(statistics: Dense | OneHot, rows: AnyArray, growth: Growth) -> tuple[AnyArray, Array]:
    """Integer statistics (n, m + 1), the last column counting rows, and the size of one unit per column (m,)."""
    values = statistics.weight[:, None] if isinstance(statistics, OneHot) else statistics.values
    columns, units = zip(*(quantize_column(v, j, rows, growth) for j, v in enumerate(values.T)), strict=True)
    lanes = np.zeros((len(values), statistics.m + 1), dtype=np.int64)
    if isinstance(statistics, OneHot):  # one scale for all weights, so that classes can be compared
        lanes[rows, statistics.classes[rows]] = columns[0]
    else:
        lanes[rows, :-1] = np.transpose(columns)
    lanes[rows, -1] = 1
    return lanes, np.array(units * statistics.m if isinstance(statistics, OneHot) else units)


def quantize_column(column: Array, j: int, rows: AnyArray, growth: Growth) -> tuple[AnyArray, float]:
    """The integers of the rows of one column, and the size of one unit."""
    exponent = scale_exponent(column[rows], growth.bits)
    scaled = column[rows] * math.ldexp(1.0, exponent)
    to_nearest = growth.bits == 64 or growth.seed == 0
    rounded = np.rint(scaled) if to_nearest else np.floor(scaled + hashed_uniform(growth.seed, rows, j))
    return rounded.astype(np.int64), math.ldexp(1.0, -exponent)


def scale_exponent(column: Array, bits: int) -> int:
    """log2 of a column's scale, such that Σ|v| · scale is below 2^61 (64-bit integers) or 2^30 (32-bit integers)."""
    largest = float(np.abs(column).max())
    if largest == 0.0:
        return 0
    e = math.frexp(largest)[1]
    unit = math.ldexp(1.0, min(max(20 - e, -1000), 1000))
    magnitude = float(np.ceil(np.abs(column) * unit).sum())  # integers below 2^53: exact in any order
    room = 61 if bits == 64 else 30
    return min(max(room - math.frexp(magnitude)[1] + 20 - e, -1000), 1000)


def hashed_uniform(seed: int, rows: AnyArray, column: int) -> Array:
    """Uniform numbers in [0, 1) from (seed, row, column): splitmix64's finaliser on a counter."""
    with np.errstate(over="ignore"):  # arithmetic modulo 2^64 is intended
        counter = rows.astype(np.uint64) * np.uint64(1024) + np.uint64(column + 1)
        z = np.uint64(seed) + np.uint64(0x9E3779B97F4A7C15) * counter
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((z ^ (z >> np.uint64(31))) >> np.uint64(11)).astype(np.float64) * 2.0**-53


# ---- growth ---------------------------------------------------------------------------------------------------------


class Grower:
    """Grows one tree."""

    def __init__(
        self, data: BinnedData, lanes: AnyArray, inverse: Array, score: str, growth: Growth, features: list[int]
    ) -> None:
        self.data, self.lanes, self.inverse = data, lanes, inverse
        self.score, self.growth, self.features = score, growth, features
        self.min_category_count = 1
        self.category_sets: list[AnyArray] = []

    def run(self, rows: AnyArray) -> tuple[Tree, list[AnyArray]]:
        """The tree, and the rows of every node."""
        self.min_category_count = self.growth.category_count(len(rows))
        nodes: list[tuple[int, int, int, int, int]] = [(-1, -1, 0, -1, 0)]
        gains, node_rows, depth = [0.0], [rows], [0]
        queue: list[tuple[int, Split]] = []
        self.consider(queue, 0, rows, 0, n_leaves=1)
        n_leaves = 1
        while queue and (self.growth.max_leaf_nodes == 0 or n_leaves < self.growth.max_leaf_nodes):
            node, split = self.pop(queue)
            parts = self.partition(node_rows[node], split)
            left = len(nodes)
            missing_left = split.missing_left if split.missing_seen else len(parts[0]) >= len(parts[1])
            nodes[node] = (split.feature, left, *self.record(split), int(missing_left))
            gains[node] = split.gain
            n_leaves += 1
            for part in parts:
                nodes.append((-1, -1, 0, -1, 0))
                gains.append(0.0)
                node_rows.append(part)
                depth.append(depth[node] + 1)
            for child in (left, left + 1):
                self.consider(queue, child, node_rows[child], depth[child], n_leaves)
        count = np.array([len(r) for r in node_rows], dtype=np.int64)
        sets = np.concatenate([no_sets(), *(s[None] for s in self.category_sets)])
        return Tree(self.finish(nodes), np.array(gains), count, sets), node_rows

    def record(self, split: Split) -> tuple[int, int]:
        """A node's fields (bin, category): the last bin that goes left and -1, or 0 and the number of a new set."""
        if not split.categorical:
            return split.left[-1], -1
        self.category_sets.append(np.packbits(code_mask(split.left), bitorder="little"))
        return 0, len(self.category_sets) - 1

    @staticmethod
    def finish(nodes: list[tuple[int, int, int, int, int]]) -> AnyArray:
        """The nodes as an array, leaves numbered in node order."""
        out = np.zeros(len(nodes), dtype=NODE)
        fields = ("feature", "left", "bin", "category", "missing_left")
        for name, values in zip(fields, zip(*nodes, strict=True), strict=True):
            out[name] = values
        is_leaf = out["feature"] < 0
        out["left"][is_leaf] = np.arange(is_leaf.sum())
        return out

    def pop(self, queue: list[tuple[int, Split]]) -> tuple[int, Split]:
        """The next node to split. Best-first: that of the largest gain, ties to the older; level-wise: the oldest."""
        at = min(range(len(queue)), key=lambda i: (-queue[i][1].gain if self.growth.best_first else 0.0, queue[i][0]))
        return queue.pop(at)

    def consider(self, queue: list[tuple[int, Split]], node: int, rows: AnyArray, depth: int, n_leaves: int) -> None:
        """Put the node's best split into the queue, if the node may be split and some split has a gain."""
        growth = self.growth
        if growth.max_leaf_nodes and n_leaves >= growth.max_leaf_nodes:
            return
        if (growth.max_depth and depth >= growth.max_depth) or len(rows) < 2 * growth.min_samples_leaf:
            return
        total = self.lanes[rows].sum(axis=0)
        own = self.score_of(total)
        best = first_best([first_best(self.candidates(feature, rows, total)) for feature in self.features])
        if best is None:
            return
        best.gain = best.score - own
        if best.gain > GAIN_TOLERANCE * (abs(best.score) + abs(own)):
            queue.append((node, best))

    def candidates(self, feature: int, rows: AnyArray, total: AnyArray) -> list[Split]:
        """All splits of one feature: first those with missing values right; among them, lower bins come first.

        For a categorical feature these are the prefixes of the order of its categories, shorter ones first.
        """
        n_bins = int(self.data.n_bins[feature])
        histogram = np.zeros((n_bins + 1, len(total)), dtype=np.int64)
        np.add.at(histogram, self.data.column(feature)[rows], self.lanes[rows])
        missing, known = histogram[n_bins], histogram[:n_bins]
        seen, categorical = bool(missing[-1] > 0), bool(self.data.categorical[feature])
        order = self.category_order(known, total) if categorical else [b for b in range(n_bins) if known[b, -1] > 0]
        out = []
        for missing_left in (False, True) if seen else (False,):
            left = missing.copy() if missing_left else np.zeros_like(missing)
            for i, b in enumerate(order):
                left = left + known[b]
                right = total - left
                if min(left[-1], right[-1]) < max(self.growth.min_samples_leaf, 1):
                    continue
                score = self.score_of(left) + self.score_of(right)
                out.append(Split(score, 0.0, feature, order[: i + 1], missing_left, seen, categorical))
        return out

    def category_order(self, known: AnyArray, total: AnyArray) -> list[int]:
        """The categories of a node in ascending order, from their sums (n_bins, m + 1); rare ones are left out."""
        return category_order(
            known[:, :-1].astype(np.float64) * self.inverse,
            known[:, -1],
            self.sums_of(total),
            float(total[-1]),
            self.score == "newton",
            self.min_category_count,
            self.growth.category_smoothing,
        )

    def sums_of(self, sums: AnyArray) -> Array:
        """Integer sums (m + 1,), converted to the units of the statistics (m,)."""
        return sums[:-1].astype(np.float64) * self.inverse

    def score_of(self, sums: AnyArray) -> float:
        """The node score of integer sums (m + 1,)."""
        return node_score(self.score, self.sums_of(sums), self.growth.l2_regularization)

    def partition(self, rows: AnyArray, split: Split) -> tuple[AnyArray, AnyArray]:
        """The rows that go left and those that go right, in their order."""
        left = codes_go_left(self.data, rows, split.feature, code_mask(split.left), split.missing_left)
        return rows[left], rows[~left]


def first_best(splits: list[Split] | list[Split | None]) -> Split | None:
    """The first of the best splits: a later one must be better by more than the tolerance for ties."""
    best = None
    for split in splits:
        if split is not None and (best is None or split.score > best.score + TIE_TOLERANCE * abs(best.score)):
            best = split
    return best


def code_mask(codes: list[int]) -> AnyArray:
    """These codes as (256,) bool."""
    return np.isin(np.arange(256), codes)


def codes_go_left(data: BinnedData, rows: AnyArray, feature: int, left: AnyArray, missing_left: bool) -> AnyArray:
    """Which of the rows go left; ``left`` (256,) says which codes do."""
    codes = data.column(feature)[rows]
    is_missing = (codes == data.n_bins[feature]) & bool(data.has_missing[feature])
    return np.where(is_missing, missing_left, left[codes])


def leaves_of_codes(tree: Tree, data: BinnedData) -> AnyArray:
    """The leaf of every row, (n,) int32."""
    leaves = np.empty(data.n, dtype=np.int32)
    pending = [(0, np.arange(data.n))]
    while pending:
        at, rows = pending.pop()
        node = tree.nodes[at]
        if node["feature"] < 0:
            leaves[rows] = node["left"]
            continue
        codes = np.arange(256) <= node["bin"]
        if node["category"] >= 0:
            codes = np.unpackbits(tree.category_sets[node["category"]], bitorder="little").astype(bool)
        left = codes_go_left(data, rows, int(node["feature"]), codes, bool(node["missing_left"]))
        pending += [(int(node["left"]), rows[left]), (int(node["left"]) + 1, rows[~left])]
    return leaves


def dense_values(statistics: Dense | OneHot) -> Array:
    """The statistics as a dense array, (n, m)."""
    if isinstance(statistics, Dense):
        return statistics.values
    return np.where(statistics.classes[:, None] == np.arange(statistics.m), statistics.weight[:, None], 0.0)
