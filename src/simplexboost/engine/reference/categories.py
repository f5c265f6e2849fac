"""The order of a node's categories; splits are searched as if the feature were a number that has this order.

A category is a point: its sum of statistics, divided by its sum of curvatures (newton) or its number of rows (all other
scores). The categories are ordered along the axis in which the points differ most. The reasons are in
kernels/trees/categories.hpp.
"""

from __future__ import annotations

import numpy as np

from ..._typing import AnyArray, Array
from .scores import sequential_sum

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
