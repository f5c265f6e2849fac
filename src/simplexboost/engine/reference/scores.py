"""Node scores: a function of the sum of a node's statistics; children with high scores make a good split."""

from __future__ import annotations

import math
from collections.abc import Iterable

from ..._typing import Array


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
