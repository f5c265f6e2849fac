"""Making a tree monotone: leaf values are moved as little as possible until every constraint holds.

A tree is monotone in a feature if no step along this feature, all others staying as they are, leads from a leaf to one
with a smaller value. Which leaves such steps connect is known from their boxes: the values of every feature that a leaf
accepts. So a monotone tree is a table of leaf values with v_a <= v_b for certain pairs of leaves, and the nearest such
table is an isotonic regression, here by pooling: of the pairs that are the wrong way round, the worst one is pooled,
that is, its leaves (and all that were pooled with them) get their common mean, and so on until none is left.

A sum of monotone trees with positive steps is monotone, and rounding does not change that: a <= b and c <= d imply
fl(a + c) <= fl(b + d) for floating-point numbers too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import AnyArray, Array
from ..engine import Tree

CODES = 256  # of categories


@dataclass(frozen=True, eq=False)
class Boxes:
    """What the leaves of a tree accept, of each feature that the tree splits.

    Attributes
    ----------
    features : (q,) the features
    low, high : (L, q) the numbers in (low, high]; inf and −inf where there are none
    missing : (L, q) whether missing values are accepted
    categories : for each categorical one of them, by its place 0 .. q − 1, the categories (L, 256) that are accepted
    """

    features: AnyArray
    low: Array
    high: Array
    missing: AnyArray
    categories: dict[int, AnyArray]


def leaf_boxes(tree: Tree) -> Boxes:
    """The boxes of the leaves, by going down the tree."""
    nodes = tree.nodes
    inner = nodes["feature"] >= 0
    features, at = np.unique(nodes["feature"][inner], return_inverse=True)
    N, q = len(nodes), len(features)
    low, high = np.full((N, q), -np.inf), np.full((N, q), np.inf)
    missing = np.ones((N, q), dtype=bool)
    sets = {j: np.ones((N, CODES), dtype=bool) for j in np.unique(at[nodes["category"][inner] >= 0]).tolist()}
    for node, j in zip(np.flatnonzero(inner).tolist(), at.tolist(), strict=True):  # children come after their parents
        left = int(nodes["left"][node])
        both = slice(left, left + 2)
        low[both], high[both], missing[both] = low[node], high[node], missing[node]
        for of_feature in sets.values():
            of_feature[both] = of_feature[node]
        missing[left + int(nodes["missing_left"][node]), j] = False
        if nodes["category"][node] >= 0:
            goes_left = np.unpackbits(tree.category_sets[nodes["category"][node]], bitorder="little").astype(bool)
            sets[j][left] &= goes_left
            sets[j][left + 1] &= ~goes_left
            continue
        threshold = float(nodes["threshold"][node])
        high[left, j] = min(high[left, j], threshold)
        low[left + 1, j] = max(low[left + 1, j], threshold)
    leaves = np.flatnonzero(~inner)
    leaves = leaves[np.argsort(nodes["left"][leaves])]
    kept = {j: of_feature[leaves] for j, of_feature in sets.items()}
    low, high = low[leaves], high[leaves]
    # Symmetric trees ask some leaves for a number below 1 and above 2; and a split may send only missing values right.
    empty = low >= high
    return Boxes(features, np.where(empty, np.inf, low), np.where(empty, -np.inf, high), missing[leaves], kept)


def ordered_pairs(boxes: Boxes, signs: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Leaves a and b, as two arrays, such that v_a <= v_b for all these pairs makes the tree monotone.

    There is a pair if a point of a and a point of b agree in all features without a constraint, and the second is not
    below the first in those with one (``signs`` (p,) says which way is up). Pairs that follow from two others are left
    out.
    """
    L = len(boxes.low)
    before = ~np.eye(L, dtype=bool)  # (L, L)
    for j, sign in enumerate(signs[boxes.features].tolist()):
        if j in boxes.categories:
            accepted = boxes.categories[j].astype(np.float32)
            meets = accepted @ accepted.T > 0
        else:
            reaches = boxes.low[:, j][:, None] < boxes.high[:, j]  # b has a number above some number of a
            meets = reaches if sign > 0 else reaches.T if sign < 0 else reaches & reaches.T
        before &= meets | (boxes.missing[:, j][:, None] & boxes.missing[:, j])
    as_number = before.astype(np.float32)
    a, b = np.nonzero(before & ~(as_number @ as_number > 0))
    return a, b


def pooled(values: Array, weight: Array, a: AnyArray, b: AnyArray) -> Array:
    """Values (L,) near the given ones in squares weighted by (L,), with value[a] <= value[b] for all pairs.

    >>> pooled(np.array([3.0, 1.0, 2.0]), np.array([1.0, 3.0, 1.0]), np.array([0, 1]), np.array([1, 2]))
    array([1.5, 1.5, 2. ])
    """
    values, pool = values.copy(), np.arange(len(values))
    while len(a) and (excess := values[a] - values[b]).max() > 0:
        worst = int(excess.argmax())
        joined = (pool == pool[a[worst]]) | (pool == pool[b[worst]])
        pool[joined] = pool[a[worst]]
        values[joined] = np.average(values[joined], weights=weight[joined])
    return values


def monotone(tree: Tree, values: AnyArray, weight: Array, signs: AnyArray) -> AnyArray:
    """The leaf values (L, K) made monotone, in the precision they have.

    Parameters
    ----------
    values : (L, K), those of class k in column k
    weight : (L,) positive, how much the values of a leaf matter
    signs : (K, p) the direction in which each class follows each feature: −1, 0 or 1
    """
    split = np.unique(tree.nodes["feature"][tree.nodes["feature"] >= 0])
    classes = np.flatnonzero(signs[:, split].any(axis=1))
    if len(classes) == 0:
        return values
    boxes, values = leaf_boxes(tree), values.copy()
    pairs: dict[bytes, tuple[AnyArray, AnyArray]] = {}  # many classes may have the same constraints
    for k in classes.tolist():
        key = signs[k].tobytes()
        if key not in pairs:
            pairs[key] = ordered_pairs(boxes, signs[k])
        values[:, k] = pooled(values[:, k].astype(np.float64), weight, *pairs[key])
    return values
