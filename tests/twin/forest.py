"""Trees on values: the leaf of every row, sums of trees, and adding one tree's leaves to the predictor."""

from __future__ import annotations

import numpy as np
from scipy.sparse import issparse

from simplexboost._util.arrays import AnyArray
from simplexboost.engine.binned import column_of
from simplexboost.engine.interface import ForestArrays
from simplexboost.engine.tree import MOST_CATEGORIES, Tree


def find_leaves(tree: Tree, X: AnyArray) -> AnyArray:
    """The leaf of every row of X (n, p), (n,) int32: all rows go down the tree together, and separate at the nodes."""
    leaves = np.empty(X.shape[0], dtype=np.int32)
    pending = [(0, np.arange(X.shape[0]))]
    while pending:
        at, rows = pending.pop()
        node = tree.nodes[at]
        child = int(node["left"])
        if node["feature"] < 0:
            leaves[rows] = child
            continue
        left = goes_left(tree, at, column_of(X, node["feature"])[rows].astype(np.float64))
        pending += [(child, rows[left]), (child + 1, rows[~left])]
    return leaves


def goes_left(tree: Tree, at: int, values: AnyArray) -> AnyArray:
    """Which values (n,) of its feature a node sends left, (n,) bool."""
    node = tree.nodes[at]
    if node["category"] < 0:
        return np.where(np.isnan(values), bool(node["missing_left"]), values <= node["threshold"])
    # A number that cannot be a category (negative, too large, with a fraction, NaN) counts as missing.
    is_category = (values >= 0) & (values < MOST_CATEGORIES) & (values == np.floor(values))
    in_set = np.unpackbits(tree.category_sets[node["category"]], bitorder="little").astype(bool)
    return np.where(is_category, in_set[np.where(is_category, values, 0).astype(np.intp)], bool(node["missing_left"]))


class ReferenceForest:
    """A forest that predicts tree by tree; see `interface.PackedForest`."""

    def __init__(self, forest: ForestArrays) -> None:
        self.trees, self.coordinate = forest.trees, forest.coordinate.tolist()
        dtype = np.dtype(forest.dtype)
        self.values = []  # (L, d) or (L, 1) each, in the precision of F, times the step
        for tree, values, step in zip(forest.trees, forest.values, forest.step, strict=True):
            values = values.toarray() if issparse(values) else values
            self.values.append(values.reshape(tree.n_leaves, -1).astype(dtype) * dtype.type(step))

    def predict(self, X: AnyArray, F: AnyArray, n_threads: int = 1) -> None:
        """F (n, d) += the trees' values at X (n, p), tree after tree, in place."""
        for tree, values, coordinate in zip(self.trees, self.values, self.coordinate, strict=True):
            outputs = values[find_leaves(tree, X)]
            if coordinate < 0:
                F += outputs
            else:
                F[:, coordinate] += outputs[:, 0]


def add_leaves(F: AnyArray, values: AnyArray, step: float, leaf_of_row: AnyArray) -> None:
    """F[i] += step · values[leaf of i] for every row i, in place and in the precision of F; F (n, d), values (L, d)."""
    F += F.dtype.type(step) * values[leaf_of_row]
