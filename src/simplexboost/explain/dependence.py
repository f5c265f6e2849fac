"""Partial dependence through the trees: the mean logits if some features are given and the others are unknown.

At a split on an unknown feature, a point goes to both children, weighted by the fractions of the training rows that
went there, as in path-dependent Shapley values. All trees are descended together, level by level.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from .._util.arrays import AnyArray, Array
from .._util.docstrings import described
from ..engine import NODE, Tree, node_bytes
from ..engine.tree import MOST_CATEGORIES
from ..model.additive import AdditiveModel
from ..tables.columns import Column
from ..tables.features import Features
from ..tables.frames import Table, array_table, feature_names, read_table
from .explained_classes import ExplainedClasses, leaf_table

BLOCK = 2**22  # weights of nodes that are held in memory at a time: 32 MB


@described
def partial_dependence(clf: Any, features: Any, grid: Any, classes: Any = None) -> Array:
    """Return the mean logits at m points at which only some features are given, (m, K), or (m,) for one class.

    At a split on any other feature, a point goes to both children, weighted by the fractions of the training rows.

    Parameters
    ----------
    features : int, str, or list of these
        The position or the name of a feature that is given, or a list of s such features.
    grid : table of shape (m, s), or for one column a list or array of shape (m,)
        The values of these features at the m points, of the same types as in X: numbers, categories, dates.

    Examples
    --------
    >>> low, high = sb.explain.partial_dependence(clf, 2, [1.5, 6.0], classes=2)
    >>> bool(low < high)
    True
    """
    chosen, names = ExplainedClasses.of(clf, classes), feature_names(clf)
    places = find_columns(features, names)
    points = read_grid(grid, places, Features.of(clf), names)
    return chosen.fill(mean_through_trees(clf.model_, places, points, chosen.columns), -np.inf)


@described
class TreeRecursion:
    """A wrapper of a fitted booster, with which scikit-learn computes partial dependence through the trees.

    scikit-learn's ``partial_dependence`` and ``PartialDependenceDisplay`` accept ``method="recursion"`` only for some
    of its own classes; the wrapper is registered as a subclass of one of them. It has all attributes of the booster.

    Examples
    --------
    >>> from sklearn.inspection import partial_dependence
    >>> partial_dependence(sb.explain.TreeRecursion(clf), X, [2], method="recursion").average.shape
    (3, 43)
    """

    init = "zero"  # where the scores start; method="auto" means "recursion" only where this is None

    def __init__(self, clf: Any) -> None:
        from sklearn.ensemble._gb import BaseGradientBoosting  # not at the top: it takes 0.3 s

        BaseGradientBoosting.register(type(self))
        self.clf = clf

    def __getattr__(self, name: str) -> Any:
        if name == "clf":  # while a copy is made
            raise AttributeError(name)
        return getattr(self.clf, name)

    def _compute_partial_dependence_recursion(self, grid: Any, target_features: Any) -> Array:
        """Return the mean `decision_function` at m points in scikit-learn's form: (K, m), or (1, m) for K = 2."""
        message = "method='recursion' takes models of one label per row, not of several; use 'brute'."
        self.clf._problem.check_one_class(message)
        U = 0.5 * partial_dependence(self.clf, target_features, grid)
        return (U[:, 1:] - U[:, :1]).T if U.shape[1] == 2 else U.T


def find_columns(features: Any, names: list[str]) -> AnyArray:
    """Return the column positions (s,) of features given as a position, a name or a list of these; raise if unknown."""
    places = []
    for feature in [features] if isinstance(features, str) or np.ndim(features) == 0 else list(features):
        is_position = isinstance(feature, Integral) and not isinstance(feature, bool | np.bool_)
        if isinstance(feature, str) and feature in names:
            places.append(names.index(feature))
        elif is_position and 0 <= feature < len(names):
            places.append(int(feature))
        else:
            known = f"pass names of columns or positions from 0 to {len(names) - 1}"
            raise ValueError(f"features holds {feature!r}; {known}.")
    if not places or len(set(places)) < len(places):
        raise ValueError(f"features={features!r} must name at least one column, and none of them twice.")
    return np.array(places, dtype=np.intp)


def read_grid(grid: Any, places: AnyArray, features: Features, names: list[str]) -> Array:
    """Return the m points of a grid as the numbers that trees compare, (m, s); categories and dates become codes.

    The grid is a table with a column for each of the s ``places``; for one place it may be a list or an array (m,).
    """
    table = None if isinstance(grid, list | tuple) else read_table(grid)
    if table is None:
        # Lists become arrays of objects: an array of text would turn the numbers among them into text.
        values = np.array(grid, dtype=object) if isinstance(grid, list | tuple) else np.asarray(grid)
        values = values[:, None] if values.ndim == 1 else values
        table = array_table(values) if values.ndim == 2 else None
    if table is None or len(table.columns) != len(places):
        came = "no table" if table is None else f"{len(table.columns)} columns"
        raise ValueError(f"grid has {came}; pass a column for each of the {len(places)} features.")
    labels = [f"column {names[place]!r}" for place in places.tolist()]
    columns = [Column(label, column.values) for label, column in zip(labels, table.columns, strict=True)]
    return features.select(places.tolist()).numbers(Table(columns, table.n, table.names)).astype(np.float64)


class Forest:
    """The nodes of all trees of a model in one array; indices of leaves and of category sets run through all trees."""

    def __init__(self, trees: list[Tree]) -> None:
        def before(counts: list[int]) -> AnyArray:  # how many there are in the trees before that of each node
            return np.repeat(np.cumsum([0, *counts])[:-1], [len(tree.nodes) for tree in trees])

        self.nodes = np.concatenate([node_bytes(tree.nodes) for tree in trees]).view(NODE).ravel()
        own, first = self.nodes["left"].astype(np.int64), before([len(tree.nodes) for tree in trees])
        self.left = own + first
        self.leaf = own + before([tree.n_leaves for tree in trees])
        self.is_leaf = self.nodes["feature"] < 0
        self.roots = np.unique(first)
        sets = np.concatenate([tree.category_sets for tree in trees])
        self.sets = np.unpackbits(sets, axis=1, bitorder="little").astype(bool)  # (sets, 256) categories to the left
        self.set = self.nodes["category"] + before([len(tree.category_sets) for tree in trees])
        count = np.concatenate([tree.count for tree in trees]).astype(np.float64)
        self.fraction = np.full(len(count), 0.5)  # of an inner node's training rows: went left
        left = self.left[~self.is_leaf]
        rows = count[left] + count[left + 1]
        self.fraction[~self.is_leaf] = np.divide(count[left], rows, out=np.full(len(rows), 0.5), where=rows > 0)

    def weigh_left(self, at: AnyArray, features: AnyArray, grid: Array) -> Array:
        """Return the weights with which m points ``grid`` go to the left child of nodes ``at``, (len(at), m)."""
        part = np.repeat(self.fraction[at, None], len(grid), axis=1)
        nodes, by_category = self.nodes[at], self.nodes["category"][at] >= 0
        for feature, x in zip(features, grid.T, strict=True):
            rows = np.flatnonzero((nodes["feature"] == feature) & ~by_category)
            missing_left = nodes["missing_left"].astype(bool)
            part[rows] = np.where(np.isnan(x), missing_left[rows, None], x <= nodes["threshold"][rows, None])
            rows = np.flatnonzero((nodes["feature"] == feature) & by_category)
            known = (x >= 0) & (x < MOST_CATEGORIES) & (x == np.floor(x))
            in_set = self.sets[self.set[at[rows]]][:, np.where(known, x, 0).astype(np.intp)]
            part[rows] = np.where(known, in_set, missing_left[rows, None])
        return part


def mean_through_trees(model: AdditiveModel, features: AnyArray, grid: Array, M: Array) -> Array:
    """Return the mean of F @ M at m points where s features are known and the others are unknown, (m, D).

    F is the predictor and M a matrix (d, D). ``grid`` (m, s) holds the values of the known ``features`` (s,).
    """
    if len(model.trees) < len(model.terms):
        raise ValueError(
            "partial dependence through trees needs a model of the package's trees alone; use scikit-learn's "
            "partial_dependence with method='brute'."
        )
    if not model.trees:
        return np.zeros((len(grid), M.shape[1]))
    forest, table = Forest(model.trees), leaf_table(model, M)
    shape = (int(forest.is_leaf.sum()), M.shape[1])
    if table.columns is None:
        values = table.values.reshape(shape)
    else:
        values = csr_array((table.values, table.columns, table.start), shape=shape)
    out = np.empty((len(grid), M.shape[1]))
    step = max(1, BLOCK // len(forest.nodes))
    for begin in range(0, len(grid), step):
        points = grid[begin : begin + step]
        weight, at = np.ones((len(forest.nodes), len(points))), forest.roots
        while len(at := at[~forest.is_leaf[at]]):
            part, left = forest.weigh_left(at, features, points), forest.left[at]
            weight[left] = weight[at] * part
            weight[left + 1] = weight[at] * (1.0 - part)
            at = np.concatenate([left, left + 1])
        of_leaf = np.empty((shape[0], len(points)))
        of_leaf[forest.leaf[forest.is_leaf]] = weight[forest.is_leaf]
        out[begin : begin + step] = np.asarray(values.T @ of_leaf).T
    return out
