"""The trees of a forest as paths, in flat arrays: see ``kernels/explain/paths.hpp`` and ``source/shapley.cu``.

A leaf takes part in the values of the features that are split on its path. All steps of the path that split the same
feature ask one question together; a pair of a leaf and such a feature is called a link. All trees are taken apart at
once, level by level from the leaves up: 200 trees of 255 leaves take 0.1 s.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..._typing import AnyArray
from ..cpu.forest import starts
from ..tree import Tree, node_bytes


class FlatPaths(NamedTuple):
    """The arrays of ``source/shapley.cu`` by their names there, and what the largest tree and path need.

    Attributes
    ----------
    arrays : by name
    most_links, most_splits : of a tree
    longest : the links of the longest path
    points : for which `rules` has room: a power of two, so that few kernels are compiled
    n_leaves : of all trees
    """

    arrays: dict[str, AnyArray]
    most_links: int
    most_splits: int
    longest: int
    points: int
    n_leaves: int


def flat_paths(trees: list[Tree], n_features: int, dtype: Any) -> FlatPaths:
    """The paths of trees with splits, their numbers in this precision."""
    nodes, count = np.concatenate([tree.nodes for tree in trees]), np.concatenate([tree.count for tree in trees])
    tree_of = np.repeat(np.arange(len(trees)), [len(tree.nodes) for tree in trees])
    inner = np.flatnonzero(nodes["feature"] >= 0)
    child = nodes["left"] + starts([len(tree.nodes) for tree in trees])[tree_of]
    n_splits = np.bincount(tree_of[inner], minlength=len(trees))
    first_leaf = starts(n_splits + 1)
    parent = np.full(len(nodes), -1)
    parent[child[inner]] = parent[child[inner] + 1] = inner
    at = np.flatnonzero(nodes["feature"] < 0)
    leaf, passed = climb(parent, at, (first_leaf[tree_of] + nodes["left"])[at])

    # The steps of all paths, by leaf and feature, from the root down.
    feature = nodes["feature"][parent[passed]]
    order = np.argsort(leaf * n_features + feature, kind="stable")
    leaf, passed, feature = leaf[order], passed[order], feature[order]
    number = np.zeros(len(nodes), dtype=np.int64)
    number[inner] = np.arange(len(inner)) - starts(n_splits)[tree_of[inner]]
    steps = 2 * number[parent[passed]] + (passed != child[parent[passed]])
    first_step = beginnings(leaf * n_features + feature)
    leaf, feature = leaf[first_step], feature[first_step]  # of the links
    z = np.multiply.reduceat(shares(count, inner, child)[passed], first_step)

    n_leaves = int(first_leaf[-1])
    length = np.bincount(leaf, minlength=n_leaves)
    n_points = (length + 1) // 2
    points = 1 << (int(n_points.max()) - 1).bit_length()
    rules = gauss_rules(points)
    tree_of_leaf = np.repeat(np.arange(len(trees)), n_splits + 1)
    by_length = np.lexsort((length, tree_of_leaf))

    # The weights of a tree stand feature by feature.
    key = tree_of_leaf[leaf] * n_features + feature
    slots = np.argsort(key, kind="stable")
    place = np.empty(len(slots), dtype=np.int64)
    place[slots] = np.arange(len(slots))
    n_links = np.bincount(tree_of_leaf[leaf], minlength=len(trees))
    first_slot = starts(n_links)
    used_slot = beginnings(key[slots])
    arrays = {
        "nodes": np.concatenate([node_bytes(tree.nodes) for tree in trees]),
        "sets": np.concatenate([*(tree.category_sets for tree in trees), np.zeros((1, 32), dtype=np.uint8)]),
        "first_set": starts([len(tree.category_sets) for tree in trees]),
        "first_split": starts(n_splits).astype(np.int32),
        "split": inner.astype(np.int32),
        "first_leaf": first_leaf.astype(np.int32),
        "leaf_link": starts(length)[by_length].astype(np.int32),
        "leaf_length": length[by_length].astype(np.int32),
        "leaf_ratio": starts(length * n_points)[by_length],
        "z": z.astype(dtype),
        "slot": (place - first_slot[tree_of_leaf[leaf]]).astype(np.int32),
        "first_step": np.append(first_step, len(steps)).astype(np.int32),
        "steps": steps.astype(np.int32),
        "ratio": ratios(z, n_points[leaf], rules).astype(dtype),
        "first_used": starts(np.bincount(key[slots][used_slot] // n_features, minlength=len(trees))).astype(np.int32),
        "used": feature[slots][used_slot].astype(np.int32),
        "used_slot": np.append(used_slot, len(slots)).astype(np.int32),
        "slot_leaf": leaf[slots].astype(np.int32),
        "rules": rules.astype(dtype),
    }
    return FlatPaths(arrays, int(n_links.max()), int(n_splits.max()), int(length.max()), points, n_leaves)


def climb(parent: AnyArray, at: AnyArray, leaf: AnyArray) -> tuple[AnyArray, AnyArray]:
    """For every step from a root to one of the nodes `at` the number of its leaf and the node that it leads to.

    What is nearer to the root comes first.
    """
    leaves: list[AnyArray] = []
    passed: list[AnyArray] = []
    while True:
        below = parent[at] >= 0
        at, leaf = at[below], leaf[below]
        if not len(at):
            return np.concatenate(leaves[::-1]), np.concatenate(passed[::-1])
        leaves.append(leaf)
        passed.append(at)
        at = parent[at]


def shares(count: AnyArray, inner: AnyArray, child: AnyArray) -> AnyArray:
    """The part of its parent's rows that every node has; a node without rows shares them evenly."""
    share, left = np.ones(len(count)), child[inner]
    total = (count[left] + count[left + 1]).astype(np.float64)
    for side in (0, 1):
        share[left + side] = np.where(total > 0, count[left + side] / np.maximum(total, 1e-300), 0.5)
    return share


def beginnings(key: AnyArray) -> AnyArray:
    """Where runs of equal numbers begin."""
    return np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))


def gauss_rules(most: int) -> AnyArray:
    """Gauss–Legendre rules on [0, 1], (most + 1, 4, most) by the number of points: t, 1 − t, weight, 1 / (1 − t)."""
    rules = np.zeros((most + 1, 4, most))
    for Q in range(1, most + 1):
        x, weight = np.polynomial.legendre.leggauss(Q)
        t = 0.5 * (1.0 + x)
        rules[Q, :, :Q] = t, 1.0 - t, 0.5 * weight, 1.0 / (1.0 - t)
    return rules


def ratios(z: AnyArray, n_points: AnyArray, rules: AnyArray) -> AnyArray:
    """(1 − z) / (t + (1 − t) z) of every link at the points t of its rule, one after another."""
    link = np.repeat(np.arange(len(z)), n_points)
    point = np.arange(len(link)) - starts(n_points)[link]
    t, rest = rules[n_points[link], 0, point], rules[n_points[link], 1, point]
    return (1.0 - z[link]) / (t + rest * z[link])
