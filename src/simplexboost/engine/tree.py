"""Trees as values: what the engine grows and what prediction reads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import AnyArray, Array

# One node: 24 bytes, the layout of kernels/tree.hpp.
NODE = np.dtype(
    {
        "names": ["threshold", "feature", "left", "bin", "missing_left"],
        "formats": ["<f8", "<i4", "<i4", "u1", "u1"],
        "offsets": [0, 8, 12, 16, 17],
        "itemsize": 24,
    }
)


@dataclass(frozen=True, eq=False)
class Tree:
    """The structure of a tree; its leaf values belong to the hypothesis that uses it.

    Attributes
    ----------
    nodes : (N,) of dtype NODE. Values <= threshold go left, missing ones left where ``missing_left``; ``left`` is the
        left child and the right one is ``left + 1``. At a leaf ``feature`` is -1 and ``left`` the leaf's index.
    gain : (N,) what each split gained in the node score, 0 at leaves
    count : (N,) training rows
    """

    nodes: AnyArray
    gain: Array
    count: AnyArray

    @property
    def n_leaves(self) -> int:
        """The number of leaves."""
        return (len(self.nodes) + 1) // 2

    def children_first(self) -> list[int]:
        """The inner nodes, every one after the inner nodes below it."""
        return np.flatnonzero(self.nodes["feature"] >= 0)[::-1].tolist()

    def node_sums(self, leaf_sums: Array) -> Array:
        """Sums over the rows of every node (N, d), from those of the leaves (L, d)."""
        sums = np.zeros((len(self.nodes), leaf_sums.shape[1]))
        is_leaf = self.nodes["feature"] < 0
        sums[is_leaf] = leaf_sums[self.nodes["left"][is_leaf]]
        for node in self.children_first():
            left = self.nodes["left"][node]
            sums[node] = sums[left] + sums[left + 1]
        return sums


@dataclass(frozen=True, eq=False)
class Grown:
    """A fresh tree and what it says about its training rows.

    Attributes
    ----------
    tree : Tree
    leaf_of_row : (n,) int32, also for rows the tree was not grown on
    leaf_sums : (L, d) exact sums of the leaf statistics over the rows it was grown on
    """

    tree: Tree
    leaf_of_row: AnyArray
    leaf_sums: Array


def set_thresholds(nodes: AnyArray, edges: list[Array]) -> None:
    """Fill in the thresholds of inner nodes: the edge above the last bin that goes left.

    A split of all known values against the missing ones has no edge above: its threshold is infinite.
    """
    for node in np.flatnonzero(nodes["feature"] >= 0):
        feature, last = nodes["feature"][node], nodes["bin"][node]
        nodes["threshold"][node] = edges[feature][last] if last < len(edges[feature]) else np.inf
