"""Shapley values of one tree in NumPy: the twin of kernels/explain, written from the definition with other formulas.

A leaf with value v is the game S → v Π_{i∈S} o_i Π_{i∉S} z_i over the m features of its path, where o_i says whether
the row gets through all splits on feature i, and z_i is the share of rows that do. The kernels integrate; this module
expands Π (z_i + o_i y) into powers of y and weighs the coefficient of y^s by s! (m − 1 − s)! / m!.
"""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np

from simplexboost._util.arrays import AnyArray, Array
from simplexboost.engine import Tree

from .forest import goes_left


def tree_values(tree: Tree, leaves: Array, X: AnyArray, background: AnyArray | None = None) -> Array:
    """The values (n, p, D) of the rows of X (n, p) in a tree with these leaf values (L, D)."""
    out = np.zeros((*X.shape, leaves.shape[1]))
    for leaf, path in enumerate(leaf_paths(tree)):
        for share, z in unknown_features(tree, path, background):
            o = {f: gets_through(tree, steps, X).astype(float) for f, steps in path.items()}
            for f in path:
                others = [g for g in path if g != f]
                weight = (o[f] - z[f]) * mean_product([z[g] for g in others], [o[g] for g in others], len(X))
                out[:, f] += share * weight[:, None] * leaves[leaf]
    return out


def tree_interactions(tree: Tree, leaves: Array, X: AnyArray) -> Array:
    """The interaction values (n, p, p, D) of the rows of X (n, p)."""
    n, p = X.shape
    out = np.zeros((n, p, p, leaves.shape[1]))
    for leaf, path in enumerate(leaf_paths(tree)):
        [(_, z)] = unknown_features(tree, path, None)
        o = {f: gets_through(tree, steps, X).astype(float) for f, steps in path.items()}
        for f, g in combinations(path, 2):
            others = [h for h in path if h not in (f, g)]
            both = (o[f] - z[f]) * (o[g] - z[g]) * mean_product([z[h] for h in others], [o[h] for h in others], n)
            half = 0.5 * both[:, None] * leaves[leaf]
            out[:, f, g] += half
            out[:, g, f] += half
    own = np.arange(p)
    out[:, own, own] = tree_values(tree, leaves, X) - out.sum(axis=2)
    return out


Path = dict[int, list[tuple[int, int]]]  # by feature: nodes, and 0 where the path goes left, 1 where it goes right


def leaf_paths(tree: Tree) -> list[Path]:
    """The way from the root to every leaf."""
    paths: list[Path] = [{} for _ in range(tree.n_leaves)]
    waiting: list[tuple[int, Path]] = [(0, {})]
    while waiting:
        at, path = waiting.pop()
        feature, left = int(tree.nodes["feature"][at]), int(tree.nodes["left"][at])
        if feature < 0:
            paths[left] = path
            continue
        waiting += [(left + side, path | {feature: [*path.get(feature, []), (at, side)]}) for side in (0, 1)]
    return paths


def gets_through(tree: Tree, steps: list[tuple[int, int]], X: AnyArray) -> AnyArray:
    """Which rows of X take all these steps, (n,)."""
    values = X[:, tree.nodes["feature"][steps[0][0]]].astype(np.float64)
    return np.logical_and.reduce([goes_left(tree, at, values) == (side == 0) for at, side in steps])


def unknown_features(tree: Tree, path: Path, background: AnyArray | None) -> list[tuple[float, dict[int, float]]]:
    """What gets through where a feature is unknown: shares of training rows, or background rows one by one."""
    if background is None:
        return [(1.0, {f: float(np.prod([step_share(tree, *step) for step in steps])) for f, steps in path.items()})]
    through = {f: gets_through(tree, steps, background).astype(float) for f, steps in path.items()}
    rows = len(background)
    return [(1 / rows, {f: through[f][b] for f in path}) for b in range(rows)]


def step_share(tree: Tree, at: int, side: int) -> float:
    """The part of a node's training rows that go to one side; half of them if there are none."""
    rows = tree.count[tree.nodes["left"][at] :][:2].astype(np.float64)
    return float(rows[side] / rows.sum()) if rows.sum() > 0 else 0.5


def mean_product(z: list[float], o: list[Array], n: int) -> Array:
    """The mean of Π_{i∈S} o_i Π_{i∉S} z_i over the sets S before a feature in a random order, (n,)."""
    powers = np.ones((1, n))  # coefficients of Π (z_i + o_i y), the s-th row that of y^s
    for share, through in zip(z, o, strict=True):
        longer = np.zeros((len(powers) + 1, n))
        longer[:-1] += share * powers
        longer[1:] += through * powers
        powers = longer
    m = len(z) + 1  # s! (m − 1 − s)! / m! = 1 / (m C(m − 1, s))
    return np.sum([row / (m * comb(m - 1, s)) for s, row in enumerate(powers)], axis=0)
