"""The growth of a tree: the best split of every node, and the queue of nodes.

Integers, the order of floating-point operations and the choice among ties are the same as in kernels/trees.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._typing import AnyArray, Array
from ..binned import BinnedData
from ..interface import Growth
from ..tree import NODE, Tree, no_sets
from .categories import category_order
from .noise import child_place, noise_key, normal, spread
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
        gains, node_rows, depth, place, used = [0.0], [rows], [0], [1], [frozenset[int]()]
        queue: list[tuple[int, Split]] = []
        self.consider(queue, 0, rows, 0, n_leaves=1, place=1, used=used[0])
        n_leaves = 1
        while queue and (self.growth.max_leaf_nodes == 0 or n_leaves < self.growth.max_leaf_nodes):
            node, split = self.pop(queue)
            parts = self.partition(node_rows[node], split)
            left = len(nodes)
            missing_left = split.missing_left if split.missing_seen else len(parts[0]) >= len(parts[1])
            nodes[node] = (split.feature, left, *self.record(split), int(missing_left))
            gains[node] = split.gain
            n_leaves += 1
            for right, part in enumerate(parts):
                nodes.append((-1, -1, 0, -1, 0))
                gains.append(0.0)
                node_rows.append(part)
                depth.append(depth[node] + 1)
                place.append(child_place(place[node], bool(right)))
                used.append(used[node] | {split.feature})
            for child in (left, left + 1):
                self.consider(queue, child, node_rows[child], depth[child], n_leaves, place[child], used[child])
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
        best_first = self.growth.order == "best"
        at = min(range(len(queue)), key=lambda i: (-queue[i][1].gain if best_first else 0.0, queue[i][0]))
        return queue.pop(at)

    def consider(
        self,
        queue: list[tuple[int, Split]],
        node: int,
        rows: AnyArray,
        depth: int,
        n_leaves: int,
        place: int,
        used: frozenset[int],
    ) -> None:
        """Put the node's best split into the queue, if the node may be split and some split has a gain.

        ``used`` are the features that are split above the node.
        """
        growth = self.growth
        if growth.max_leaf_nodes and n_leaves >= growth.max_leaf_nodes:
            return
        if (growth.max_depth and depth >= growth.max_depth) or len(rows) < 2 * growth.min_samples_leaf:
            return
        total = self.total(rows)
        splits = [first_best(self.candidates(feature, rows, total)) for feature in self.allowed(used)]
        best = choose(splits, self.score_of(total), growth, place)
        if best is not None:
            queue.append((node, best))

    def allowed(self, used: frozenset[int]) -> list[int]:
        """The features that may be split below a path that has split those in ``used``."""
        together = self.growth.interactions
        if not used or together == 0:
            return self.features
        if isinstance(together, int):
            return self.features if len(used) < together else [f for f in self.features if f in used]
        reach = used.union(*(group for group in together if used <= set(group)))
        return [f for f in self.features if f in reach]

    def total(self, rows: AnyArray) -> AnyArray:
        """The integer sums of some rows, (m + 1,)."""
        return self.lanes[rows].sum(axis=0)

    def histogram(self, feature: int, rows: AnyArray) -> AnyArray:
        """The integer sums of every bin, (n_bins + 1, m + 1); the last one is that of missing values."""
        histogram = np.zeros((int(self.data.n_bins[feature]) + 1, self.lanes.shape[1]), dtype=np.int64)
        np.add.at(histogram, self.data.column(feature)[rows], self.lanes[rows])
        return histogram

    def order_of(self, feature: int, histogram: AnyArray, total: AnyArray) -> list[int]:
        """The bins that have rows, in the order in which they go left."""
        known = histogram[:-1]
        if self.data.categorical[feature]:
            return self.category_order(known, total)
        return [b for b in range(len(known)) if known[b, -1] > 0]

    def candidates(self, feature: int, rows: AnyArray, total: AnyArray) -> list[Split]:
        """All splits of one feature: first those with missing values right; among them, lower bins come first.

        For a categorical feature these are the prefixes of the order of its categories, shorter ones first.
        """
        histogram = self.histogram(feature, rows)
        missing, known = histogram[-1], histogram[:-1]
        seen, categorical = bool(missing[-1] > 0), bool(self.data.categorical[feature])
        order = self.order_of(feature, histogram, total)
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


def choose(splits: list[Split | None], own: float, growth: Growth, place: int) -> Split | None:
    """The best of the features' splits, given the score of what is split; its gain is more than rounding noise."""
    found = [split for split in splits if split is not None]
    for split in found:
        split.gain = split.score - own
    if growth.noise == 0.0:
        best = first_best(found)
        return best if best is not None and is_gain(best, own) else None
    key, unit = noise_key(growth.seed, place), growth.noise * spread([split.gain for split in found])
    gaining = [split for split in found if is_gain(split, own)]
    return max(gaining, key=lambda split: split.gain + unit * normal(key, split.feature), default=None)


def is_gain(split: Split, own: float) -> bool:
    """Whether the gain over the score `own` is more than rounding noise."""
    return split.gain > GAIN_TOLERANCE * (abs(split.score) + abs(own))


def code_mask(codes: list[int]) -> AnyArray:
    """These codes as (256,) bool."""
    return np.isin(np.arange(256), codes)


def codes_go_left(data: BinnedData, rows: AnyArray, feature: int, left: AnyArray, missing_left: bool) -> AnyArray:
    """Which of the rows go left; ``left`` (256,) says which codes do."""
    codes = data.column(feature)[rows]
    is_missing = (codes == data.n_bins[feature]) & bool(data.has_missing[feature])
    return np.where(is_missing, missing_left, left[codes])
