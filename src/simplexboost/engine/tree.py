"""Defines decision trees as arrays of nodes, which engines return and prediction reads."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._util.arrays import AnyArray, Array
from .binned import BinnedData

MOST_CATEGORIES = 256  # of a category set


# One node: 24 bytes, the layout of kernels/trees/tree.hpp.
NODE = np.dtype(
    {
        "names": ["threshold", "feature", "left", "bin", "missing_left", "category"],
        "formats": ["<f8", "<i4", "<i4", "u1", "u1", "<i4"],
        "offsets": [0, 8, 12, 16, 17, 20],
        "itemsize": 24,
    }
)

SET_BYTES = 32  # a set of categories: bit b % 8 of byte b // 8 is category b


def no_sets() -> AnyArray:
    """Return an empty array of category sets, (0, 32)."""
    return np.empty((0, SET_BYTES), dtype=np.uint8)


@dataclass(frozen=True, eq=False)
class Tree:
    """The structure of a tree; its leaf values belong to the hypothesis that uses it."""

    # (N,) of dtype NODE. Values <= threshold go left, and so do missing ones if ``missing_left``; ``left`` is the left
    # child and ``left + 1`` the right one. At a leaf ``feature`` is -1 and ``left`` the leaf's index. If ``category``
    # is not -1, it is the index in ``category_sets`` of the set of categories that go left.
    nodes: AnyArray
    gain: Array  # (N,) what each split gained in the node score, 0 at leaves
    count: AnyArray  # (N,) training rows
    category_sets: AnyArray = field(default_factory=no_sets)  # (n_sets, 32) uint8; see SET_BYTES

    @property
    def n_leaves(self) -> int:
        return (len(self.nodes) + 1) // 2

    def children_first(self) -> list[int]:
        """Return the inner nodes in an order in which every node comes after those below it."""
        return np.flatnonzero(self.nodes["feature"] >= 0)[::-1].tolist()

    def node_sums(self, leaf_sums: Array) -> Array:
        """Return sums over the rows of every node (N, d), from those of the leaves (L, d)."""
        sums = np.zeros((len(self.nodes), leaf_sums.shape[1]))
        is_leaf = self.nodes["feature"] < 0
        sums[is_leaf] = leaf_sums[self.nodes["left"][is_leaf]]
        for node in self.children_first():
            left = self.nodes["left"][node]
            sums[node] = sums[left] + sums[left + 1]
        return sums


def node_bytes(nodes: AnyArray) -> AnyArray:
    """Return nodes in the form that kernels take, (N, 24) uint8.

    Concatenate nodes in this form: NumPy changes the memory layout of structured arrays when it concatenates them.
    """
    return np.ascontiguousarray(nodes).view(np.uint8).reshape(-1, NODE.itemsize)


def single_leaf(n_rows: int) -> Tree:
    """Return a tree without splits."""
    root = np.zeros(1, dtype=NODE)
    root["feature"] = root["category"] = -1
    return Tree(root, np.zeros(1), np.array([n_rows], dtype=np.int64))


@dataclass(frozen=True, eq=False)
class Grown:
    """A newly grown tree, with the leaves of the training rows and the sums over them."""

    tree: Tree
    leaf_of_row: AnyArray  # (n,) int32, also for rows the tree was not grown on
    leaf_sums: Array  # (L, d) exact sums of the leaf statistics over the rows it was grown on

    @property
    def n_leaves(self) -> int:
        return len(self.leaf_sums)


class LateValues(ABC):
    """Leaf values (L, d) that a device is still computing; ``np.asarray`` waits for them.

    Attributes
    ----------
    bound : an upper bound on their absolute values
    sparse : the values as a ``csr_array`` if most of them are zero, else None
    added : whether `add_ahead` has added them to F
    """

    bound: float
    sparse: Any = None
    added: bool = False

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of leaves, which is known earlier than the values."""

    @abstractmethod
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> AnyArray:
        """Return the values, when they are computed."""

    @abstractmethod
    def add_ahead(self, F: AnyArray, step: float, leaf_of_row: AnyArray) -> None:
        """Let the device do `Compute.add_leaves` as soon as it has the values, unless the tree has only one leaf.

        A later call of `Compute.add_leaves` with these values then does nothing.
        """


def complete_tree(tree: Tree, data: BinnedData) -> Tree:
    """Fill in the thresholds of numeric splits, and the sides of categories that no training row has.

    A threshold is the edge above the last bin that goes left. If all known values go left and only missing ones right,
    there is no such edge, and the threshold is infinite. A category that no training row has goes to the same side as
    missing values, so that a set covers all numbers below 256.
    """
    nodes, edges = tree.nodes, data.edges
    feature = nodes["feature"]
    split = np.flatnonzero((feature >= 0) & (nodes["category"] < 0))
    feature = feature.take(split)
    place, end = edges.first.take(feature) + nodes["bin"].take(split), edges.first.take(feature + 1)
    nodes["threshold"][split] = np.inf
    exists = place < end
    nodes["threshold"][split[exists]] = edges.values.take(place[exists])
    if len(tree.category_sets):
        for node in np.flatnonzero(nodes["category"] >= 0):
            of_node = tree.category_sets[nodes["category"][node]]  # a view
            known = data.seen_categories[nodes["feature"][node]]
            of_node &= known
            if nodes["missing_left"][node]:
                of_node |= ~known
    return tree
