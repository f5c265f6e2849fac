"""The trees of the twin: exact sums, scores, noise on gains, categories, growth.

Sums that depend neither on the order of the addends nor on the shards they are cut into; see core/exact.hpp.

Node scores: a function of the sum of a node's statistics; children with high scores make a good split.

Noise on gains: the feature of a split is the one whose gain plus a random number is largest.

The numbers depend on the seed, on the place in the tree and on the feature. The same as in kernels/trees/noise.hpp.

The order of a node's categories; splits are searched as if the feature were a number that has this order.

A category is a point: its sum of statistics, divided by its sum of curvatures (newton) or its number of rows (all other
scores). The categories are ordered along the axis in which the points differ most. The reasons are in
kernels/trees/categories.hpp.

The growth of a tree: the best split of every node, and the queue of nodes.

Integers, the order of floating-point operations and the choice among ties are the same as in kernels/trees.

Growing a symmetric tree: one split for all nodes of a level, the one with the highest sum of the children's scores.

A node votes for a split if both of its children have `min_samples_leaf` rows; otherwise it counts with its own score, a
gain of zero. Sums are in the order of the nodes, as in kernels/trees/level.hpp.

A tree on binned data: statistics in fixed point, growth, and the leaves of the rows with their sums.

Integers and the order of floating-point operations are the same as in kernels/trees.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from simplexboost._util.arrays import AnyArray, Array
from simplexboost.engine.binned import BinnedData
from simplexboost.engine.interface import Growth, OneHot
from simplexboost.engine.tree import NODE, Grown, Tree, complete_tree, no_sets


def exact_sum(values: Array, largest: Array, n: int) -> Array:
    """Column sums of (rows, d): every number becomes two integers, whose sums are the same in any order.

    ``largest`` (d,) are the largest |value| of each column over all n rows, of which these may be a part.
    """
    width = min(50, 62 - n.bit_length())  # bits of an integer, such that no sum of n reaches 2^62
    exponent = np.clip(width - np.frexp(largest)[1], -1000, 1000)
    scaled = values * np.ldexp(1.0, exponent)
    hi = np.rint(scaled)
    lo = np.rint((scaled - hi) * 2.0**width)  # the remainder of the number
    high, low = (limb.astype(np.int64).sum(axis=0).astype(np.float64) for limb in (hi, lo))
    return np.ldexp(high, -exponent) + np.ldexp(low, -exponent - width)


def exact_total(values: Array) -> float:
    """The exact sum of values (n,); if one is not finite, an ordinary sum."""
    largest = np.abs(values).max(initial=0.0)
    if not np.isfinite(largest):
        return float(values.sum())
    return float(exact_sum(values[:, None], np.array([largest]), len(values))[0])


def node_score(name: str, sums: Array, l2: float) -> float:
    """The score of a node with these sums (m,); the operations are in the order of kernels/trees/score.hpp."""
    values = [float(v) for v in sums]
    if name == "newton":
        h = values[-1] + l2
        return sequential_sum(v * v for v in values[:-1]) / h if h > 0.0 else 0.0
    if name == "norm":
        return math.sqrt(sequential_sum(v * v for v in values))
    if name == "max":
        return max(values)
    if name == "sign":
        return sequential_sum(abs(v) for v in values)
    if name == "gini":
        total = eight_lane_sum(values)
        return eight_lane_sum([w * w for w in values]) / total if total > 0.0 else 0.0
    positive = [w for w in values if w > 0.0]
    total = sequential_sum(positive)
    return sequential_sum(w * math.log(w) for w in positive) - total * math.log(total) if total > 0.0 else 0.0


def sequential_sum(values: Iterable[float]) -> float:
    """The sum from left to right, like a loop; `sum` and `np.sum` may use another order or compensation."""
    total = 0.0
    for v in values:
        total += v
    return total


def eight_lane_sum(values: list[float]) -> float:
    """The sum in the order of vector units: eight sums of every eighth number, then these eight in a fixed order."""
    x = [sequential_sum(values[lane::8]) for lane in range(8)]
    return ((x[0] + x[4]) + (x[1] + x[5])) + ((x[2] + x[6]) + (x[3] + x[7]))


BITS = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15  # the step of splitmix64's counter


def mixed_bits(z: int) -> int:
    """splitmix64's finaliser: the bits of a counter, thoroughly mixed."""
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & BITS
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & BITS
    return z ^ (z >> 31)


def noise_key(seed: int, place: int) -> int:
    """The key of a place: a level of a symmetric tree, or the path to a node (see `child_place`)."""
    return mixed_bits(seed ^ mixed_bits((place + 1) & BITS))


def child_place(parent: int, right: bool) -> int:
    """The place of a node for its noise: 1 for the root, twice the parent's for a left child, one more for a right."""
    return (2 * parent + int(right)) & BITS


def normal(key: int, feature: int) -> float:
    """A number that is normally distributed, nearly: the sum of twelve uniform numbers, less 6.

    It is a sum of integers, so that the compiled engine gets the same bits.
    """
    words = [mixed_bits((key + GOLDEN * (6 * feature + i + 1)) & BITS) for i in range(6)]
    return sum((word >> 32) + (word & 0xFFFFFFFF) for word in words) * 2.0**-32 - 6.0


def spread(numbers: list[float]) -> float:
    """The standard deviation; numbers are first divided by the largest, so that squares cannot overflow."""
    largest = max((abs(x) for x in numbers), default=0.0)
    if largest == 0.0:
        return 0.0
    mean = sequential_sum(x / largest for x in numbers) / len(numbers)
    squares = sequential_sum((x / largest - mean) * (x / largest - mean) for x in numbers)
    return largest * math.sqrt(squares / len(numbers))


AXIS_STEPS = 3  # of the power iteration


def category_order(
    sums: Array, count: AnyArray, node: Array, rows: float, newton: bool, min_count: int, smoothing: float
) -> list[int]:
    """The categories of a node in ascending order, ties by number; those with few rows are left out.

    Parameters
    ----------
    sums, count : (n_bins, m) and (n_bins,), the statistics and the rows of every category
    node, rows : (m,), the statistics of the node and its number of rows
    newton : whether the last statistic is a curvature
    min_count : rows below which a category is left out
    smoothing : how many average rows of the node are added to every category
    """
    used = np.flatnonzero(count >= min_count).tolist()
    if not used:
        return []
    points, weight = category_points(sums[used], count[used], node, rows, newton, smoothing)
    axis = main_axis(points, weight)
    return [b for _, b in sorted((dot(point, axis), b) for point, b in zip(points, used, strict=True))]


def category_points(
    sums: Array, count: AnyArray, node: Array, rows: float, newton: bool, smoothing: float
) -> tuple[Array, Array]:
    """Categories as points (c, d) relative to the node, divided by the largest coordinate; weights of sum one."""
    node_weight, weight = (node[-1], sums[:, -1]) if newton else (rows, count.astype(np.float64))
    weight = (weight + smoothing * (node_weight / rows))[:, None]
    if newton:
        node, sums = node[:-1], sums[:, :-1]
    mean = bounded_ratio(node, node_weight) if node_weight > 0.0 else np.zeros_like(node)
    ratio = bounded_ratio(sums + smoothing * (node / rows), np.where(weight > 0.0, weight, 1.0))
    points = np.where(weight > 0.0, ratio - mean, 0.0)
    largest, weights = float(np.abs(points).max()), sequential_sum(weight[:, 0].tolist())
    return points / largest if largest > 0.0 else points, weight[:, 0] / (weights if weights > 0.0 else 1.0)


def bounded_ratio(sums: Array, weight: Array | float) -> Array:
    """Sums divided by weights, limited to ±1e300: infinite points could not be ordered along an axis."""
    with np.errstate(over="ignore"):
        return np.clip(sums / weight, -1e300, 1e300)


def main_axis(points: Array, weight: Array) -> Array:
    """The direction in which the points (c, d) differ most, by a few power iterations from the farthest point."""
    farthest = int(np.argmax([w * dot(point, point) for point, w in zip(points, weight, strict=True)]))
    axis = scaled_axis(points[farthest])
    if axis is None:  # all points are equal
        return np.eye(points.shape[1])[0]
    for _ in range(AXIS_STEPS if points.shape[1] > 1 else 0):
        following = np.zeros_like(axis)
        for point, w in zip(points, weight, strict=True):
            following = following + w * dot(point, axis) * point
        scaled = scaled_axis(following)
        if scaled is None:
            break
        axis = scaled
    return axis


def scaled_axis(axis: Array) -> Array | None:
    """The axis divided by its largest coordinate (in absolute value, with its sign); None if all are zero."""
    largest = axis[np.argmax(np.abs(axis))]
    return axis / largest if largest != 0.0 else None


def dot(a: Array, b: Array) -> float:
    """Σ_j a_j b_j, added from left to right."""
    return sequential_sum((a * b).tolist())


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


class SymmetricGrower(Grower):
    """Grows one symmetric tree."""

    def run(self, rows: AnyArray) -> tuple[Tree, list[AnyArray]]:
        """The tree, and the rows of every node."""
        self.min_category_count = self.growth.category_count(len(rows))
        levels: list[list[AnyArray]] = [[rows]]
        splits: list[Split] = []
        for depth in range(self.growth.levels):
            split = self.level_split(levels[-1], depth, frozenset(split.feature for split in splits))
            if split is None:
                break
            splits.append(split)
            levels.append([part for of_node in levels[-1] for part in self.partition(of_node, split)])
        node_rows = [of_node for level in levels for of_node in level]
        nodes: list[tuple[int, int, int, int, int]] = []
        gains: list[float] = []
        for split, level, below in zip(splits, levels, levels[1:], strict=False):
            n_left, n_right = (sum(map(len, below[side::2])) for side in (0, 1))
            missing_left = split.missing_left if split.missing_seen else n_left >= n_right
            record = self.record(split)
            nodes += [(split.feature, 2 * (len(nodes) + i) + 1, *record, int(missing_left)) for i in range(len(level))]
            gains += [self.share(*sides) for sides in zip(level, below[::2], below[1::2], strict=True)]
        nodes += [(-1, -1, 0, -1, 0)] * len(levels[-1])
        gains += [0.0] * len(levels[-1])
        count = np.array([len(r) for r in node_rows], dtype=np.int64)
        sets = np.concatenate([no_sets(), *(s[None] for s in self.category_sets)])
        return Tree(self.finish(nodes), np.array(gains), count, sets), node_rows

    def level_split(self, level: list[AnyArray], depth: int, used: frozenset[int]) -> Split | None:
        """The best split of a level, from the rows of its nodes; ``used`` are the features of the levels above."""
        voters = [rows for rows in level if len(rows) >= 2 * max(self.growth.min_samples_leaf, 1)]
        own = sequential_sum(self.score_of(self.total(rows)) for rows in voters)
        splits = [first_best(self.level_candidates(feature, level, voters)) for feature in self.allowed(used)]
        return choose(splits, own, self.growth, depth)

    def level_candidates(self, feature: int, level: list[AnyArray], voters: list[AnyArray]) -> list[Split]:
        """All splits of one feature for which a node votes, in the order of `Grower.candidates`."""
        histograms = [self.histogram(feature, rows) for rows in voters]
        totals = [self.total(rows) for rows in voters]
        all_rows = np.concatenate(level)
        whole = self.histogram(feature, all_rows)
        order, seen = self.order_of(feature, whole, self.total(all_rows)), bool(whole[-1, -1] > 0)
        out = []
        for missing_left in (False, True) if seen else (False,):
            for i in range(len(order)):
                codes = order[: i + 1] + [len(whole) - 1] * missing_left
                lefts = [histogram[codes].sum(axis=0) for histogram in histograms]
                votes = [self.votes(left, total) for left, total in zip(lefts, totals, strict=True)]
                if any(votes):
                    sides = zip(lefts, totals, strict=True)
                    score = sequential_sum(self.level_score(left, total) for left, total in sides)
                    categorical = bool(self.data.categorical[feature])
                    out.append(Split(score, 0.0, feature, order[: i + 1], missing_left, seen, categorical))
        return out

    def votes(self, left: AnyArray, total: AnyArray) -> bool:
        """Whether a node votes for a split, from the integer sums of its left child and of all its rows."""
        return bool(min(left[-1], (total - left)[-1]) >= max(self.growth.min_samples_leaf, 1))

    def level_score(self, left: AnyArray, total: AnyArray) -> float:
        """What a node adds to the score of a split."""
        if not self.votes(left, total):
            return self.score_of(total)
        return self.score_of(left) + self.score_of(total - left)

    def share(self, rows: AnyArray, left: AnyArray, right: AnyArray) -> float:
        """What a node gains by the split into these rows."""
        total = self.total(rows)
        return self.level_score(self.total(left), total) - self.score_of(total) if len(rows) else 0.0


def grow(
    data: BinnedData,
    statistics: Array | OneHot,
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
    kind = SymmetricGrower if growth.order == "symmetric" else Grower
    grower = kind(data, lanes, inverse, score, growth, [int(f) for f in features])
    tree, node_rows = grower.run(rows)
    complete_tree(tree, data)
    leaf_rows = [node_rows[node] for node in np.flatnonzero(tree.nodes["feature"] < 0)]
    values = dense_values(statistics) if leaf_statistics is None else leaf_statistics
    largest = np.abs(values[rows]).max(axis=0)
    if leaf_statistics is None and isinstance(statistics, OneHot):  # one scale for all weights
        largest[:] = np.abs(statistics.weight[rows]).max()
    sums = np.array([exact_sum(values[r], largest, len(rows)) for r in leaf_rows])
    return Grown(tree, leaves_of_codes(tree, data), sums)


# ---- fixed point ----------------------------------------------------------------------------------------------------


def quantize(statistics: Array | OneHot, rows: AnyArray, growth: Growth) -> tuple[AnyArray, Array]:
    """Integer statistics (n, m + 1), the last column counting rows, and the size of one unit per column (m,)."""
    values = statistics.weight[:, None] if isinstance(statistics, OneHot) else statistics
    columns, units = zip(*(quantize_column(v, j, rows, growth) for j, v in enumerate(values.T)), strict=True)
    lanes = np.zeros((len(values), statistics.shape[1] + 1), dtype=np.int64)
    if isinstance(statistics, OneHot):  # one scale for all weights, so that classes can be compared
        lanes[rows, statistics.classes[rows]] = columns[0]
    else:
        lanes[rows, :-1] = np.transpose(columns)
    lanes[rows, -1] = 1
    return lanes, np.array(units * statistics.shape[1] if isinstance(statistics, OneHot) else units)


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
    unit = min(max(20 - math.frexp(largest)[1], -1000), 1000)
    magnitude = float(np.ceil(np.abs(column) * math.ldexp(1.0, unit)).sum())  # integers below 2^53: exact in any order
    if not math.isfinite(magnitude):
        raise ValueError("the statistics of a tree must be finite")
    room = 61 if bits == 64 else 30
    exponent = room - math.frexp(magnitude)[1] + unit
    if exponent < -1000:
        raise ValueError("the statistics of a tree are too large")
    return min(exponent, 1000)


def hashed_uniform(seed: int, rows: AnyArray, column: int) -> Array:
    """Uniform numbers in [0, 1) from (seed, row, column): splitmix64's finaliser on a counter."""
    with np.errstate(over="ignore"):  # arithmetic modulo 2^64 is intended
        counter = rows.astype(np.uint64) * np.uint64(1024) + np.uint64(column + 1)
        z = np.uint64(seed) + np.uint64(0x9E3779B97F4A7C15) * counter
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((z ^ (z >> np.uint64(31))) >> np.uint64(11)).astype(np.float64) * 2.0**-53


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


def dense_values(statistics: Array | OneHot) -> Array:
    """The statistics as a dense array, (n, m)."""
    if isinstance(statistics, np.ndarray):
        return statistics
    return np.where(statistics.classes[:, None] == np.arange(statistics.shape[1]), statistics.weight[:, None], 0.0)
