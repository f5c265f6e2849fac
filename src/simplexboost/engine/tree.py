"""Defines decision trees as arrays of nodes. Engines return these trees; prediction reads them."""

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
    """Return an empty array of category sets, (0, 32); each set is a bit mask of 32 bytes."""
    return np.empty((0, SET_BYTES), dtype=np.uint8)


@dataclass(frozen=True, eq=False)
class Tree:
    """The splits of a decision tree; its leaf values are stored by the weak classifier that uses the tree."""

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
        """Return the indices of the inner nodes, each node after all its descendants."""
        return np.flatnonzero(self.nodes["feature"] >= 0)[::-1].tolist()

    def node_sums(self, leaf_sums: Array) -> Array:
        """Return sums over the rows of each of the N nodes, (N, d), given the sums of the leaves (L, d)."""
        sums = np.zeros((len(self.nodes), leaf_sums.shape[1]))
        is_leaf = self.nodes["feature"] < 0
        sums[is_leaf] = leaf_sums[self.nodes["left"][is_leaf]]
        for node in self.children_first():
            left = self.nodes["left"][node]
            sums[node] = sums[left] + sums[left + 1]
        return sums


def node_bytes(nodes: AnyArray) -> AnyArray:
    """Return N nodes as the bytes that compiled kernels read, (N, 24) uint8.

    Concatenate nodes only in this form: NumPy changes the memory layout of structured arrays when it concatenates them.
    """
    return np.ascontiguousarray(nodes).view(np.uint8).reshape(-1, NODE.itemsize)


def single_leaf(n_rows: int) -> Tree:
    """Return a tree of one leaf, without splits, for `n_rows` training rows."""
    root = np.zeros(1, dtype=NODE)
    root["feature"] = root["category"] = -1
    return Tree(root, np.zeros(1), np.array([n_rows], dtype=np.int64))


@dataclass(frozen=True, eq=False)
class Grown:
    """A newly grown tree, the leaf index of every training row, and the sums of the statistics in each leaf."""

    tree: Tree
    leaf_of_row: AnyArray  # (n,) int32, also for rows the tree was not grown on
    leaf_sums: Array  # (L, d) exact sums of the leaf statistics over the rows it was grown on

    @property
    def n_leaves(self) -> int:
        return len(self.leaf_sums)


class LateValues(ABC):
    """Leaf values (L, d) that a device is still computing; ``np.asarray`` waits for the values.

    Attributes
    ----------
    bound : an upper bound on the absolute leaf values
    sparse : the leaf values as a ``csr_array`` if most of them are zero, else None
    added : whether `add_ahead` has already added the leaf values to F
    """

    bound: float
    sparse: Any = None
    added: bool = False

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of leaves L, which is known earlier than the leaf values."""

    @abstractmethod
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> AnyArray:
        """Wait until the device has computed the leaf values, and return the array (L, d)."""

    @abstractmethod
    def add_ahead(self, F: AnyArray, step: float, leaf_of_row: AnyArray) -> None:
        """Let the device add step · values[leaf of i] to F[i] for all rows i, once it has computed the values.

        The value of a tree with one leaf is not added. After an addition, `Compute.add_leaves` does nothing for `self`.
        """


def complete_tree(tree: Tree, data: BinnedData) -> Tree:
    """Set the thresholds of numeric splits, and the child for categories without training rows; return the tree.

    Values up to the threshold go to the left child; the threshold is the bin edge above their last bin, or infinite if
    only missing values go to the right child. A category without training rows goes to the same child as missing
    values, so that every set covers all category codes below 256.
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
