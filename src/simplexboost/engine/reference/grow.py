"""A tree on binned data: statistics in fixed point, growth, and the leaves of the rows with their sums.

Integers and the order of floating-point operations are the same as in kernels/trees.
"""

from __future__ import annotations

import math

import numpy as np

from ..._typing import AnyArray, Array
from ..binned import BinnedData
from ..interface import Dense, Growth, OneHot
from ..tree import Grown, Tree, set_thresholds, set_unseen
from .exact import exact_sum
from .grower import Grower, codes_go_left
from .symmetric import SymmetricGrower


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
    kind = SymmetricGrower if growth.order == "symmetric" else Grower
    grower = kind(data, lanes, inverse, score, growth, [int(f) for f in features])
    tree, node_rows = grower.run(rows)
    set_thresholds(tree.nodes, data.all_edges.values, data.all_edges.first)
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


def dense_values(statistics: Dense | OneHot) -> Array:
    """The statistics as a dense array, (n, m)."""
    if isinstance(statistics, Dense):
        return statistics.values
    return np.where(statistics.classes[:, None] == np.arange(statistics.m), statistics.weight[:, None], 0.0)
