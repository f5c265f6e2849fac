"""Partial dependence through the trees: the mean of F M where some features are given and the others are unknown.

An unknown feature sends a point down both sides of a split, with the shares of the training rows that went there, as in
path-dependent Shapley values. All trees go down together, level by level.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from .._util.arrays import AnyArray, Array
from ..engine import NODE, Tree, node_bytes
from ..engine.tree import MOST_CATEGORIES
from ..model.additive import AdditiveModel
from ..tables.columns import Column
from ..tables.features import Features
from ..tables.frames import Table, array_table, feature_names, read_table
from .explained_classes import ExplainedClasses, check_booster, documented, leaf_table


@documented
def partial_dependence(clf: Any, features: Any, grid: Any, classes: Any = None) -> Array:
    """Return the mean logits where some features are given and the others are unknown, (m, K).

    An unknown feature goes down both sides of a split, with the shares of the training rows that went there.

    Parameters
    ----------
    features : int, str, or list of these
        The positions or names of s columns, or one of them.
    grid : table of shape (m, s), or for one column a list or array of shape (m,)
        The values of these columns, of the same kinds that X has: numbers, categories, dates.

    Returns
    -------
    array of shape (m, K) or (m,)
        The mean logits.

    Examples
    --------
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> clf = sb.SimplexBoostClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> low, high = sb.explain.partial_dependence(clf, "petal length (cm)", [1.5, 6.0], 2)
    >>> bool(low < high)
    True
    """
    model, names = check_booster(clf), feature_names(clf)
    chosen = ExplainedClasses.of(clf, classes)
    places = column_places(features, names)
    points = grid_points(grid, places, Features.of(clf), names)
    return chosen.fill(mean_through_trees(model, places, points, chosen.columns), -np.inf)


class TreeRecursion:
    """A fitted booster in a form for which scikit-learn computes partial dependence through the trees.

    scikit-learn's ``partial_dependence`` and ``PartialDependenceDisplay`` take ``method="recursion"`` only for some of
    their own classes; this one is registered as a relative of these. Everything else is that of the booster.

    Parameters
    ----------
    clf : fitted booster
        The model.

    Examples
    --------
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.inspection import partial_dependence
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = sb.SimplexBoostClassifier(n_estimators=20, random_state=0).fit(X, y)
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

    def __sklearn_tags__(self) -> Any:
        return self.clf.__sklearn_tags__()

    def __sklearn_is_fitted__(self) -> bool:
        return bool(self.clf.__sklearn_is_fitted__())

    def _compute_partial_dependence_recursion(self, grid: Any, target_features: Any) -> Array:
        """Return what scikit-learn asks for: `decision_function` at a grid, (K, m), or (1, m) for two classes."""
        message = "method='recursion' takes models of one label per row, not of several; use 'brute'."
        self.clf._problem.check_one_class(message)
        U = 0.5 * partial_dependence(self.clf, target_features, grid)
        return (U[:, 1:] - U[:, :1]).T if U.shape[1] == 2 else U.T


def column_places(features: Any, names: list[str]) -> AnyArray:
    """The positions of columns that are given by position or by name, one or several, (s,)."""
    given = [features] if isinstance(features, str) or np.ndim(features) == 0 else list(features)
    places = [column_place(feature, names) for feature in given]
    if not places or len(set(places)) < len(places):
        raise ValueError(f"features={features!r} must name at least one column, and none of them twice.")
    return np.array(places, dtype=np.intp)


def column_place(feature: Any, names: list[str]) -> int:
    """The position of one column."""
    if isinstance(feature, str) and feature in names:
        return names.index(feature)
    is_position = isinstance(feature, Integral) and not isinstance(feature, bool | np.bool_)
    if not is_position or not 0 <= feature < len(names):
        raise ValueError(f"features holds {feature!r}; pass names of columns or positions from 0 to {len(names) - 1}.")
    return int(feature)


def grid_points(grid: Any, places: AnyArray, features: Features, names: list[str]) -> Array:
    """The points of a grid, (m, s), as the numbers that trees ask for: categories and dates as in fit.

    The grid is a table with a column for each of these places; for one of them it may be a list or an array (m,).
    """
    table = grid_table(grid)
    if table is None or len(table.columns) != len(places):
        came = "no table" if table is None else f"{len(table.columns)} columns"
        raise ValueError(f"grid has {came}; pass a column for each of the {len(places)} features.")
    labels = [f"column {names[place]!r}" for place in places.tolist()]
    columns = [Column(label, column.values) for label, column in zip(labels, table.columns, strict=True)]
    named = Table(columns, table.n, table.names)
    return features.chosen(places.tolist()).numbers(named).astype(np.float64)


def grid_table(grid: Any) -> Table | None:
    """A grid as columns; None if it has neither one nor two dimensions."""
    table = None if isinstance(grid, list | tuple) else read_table(grid)
    if table is not None:
        return table
    # Lists become arrays of objects: an array of text would turn the numbers among them into text.
    values = np.array(grid, dtype=object) if isinstance(grid, list | tuple) else np.asarray(grid)
    values = values[:, None] if values.ndim == 1 else values
    return array_table(values) if values.ndim == 2 else None


BLOCK = 2**22  # weights of nodes that are kept at a time: 32 MB


@dataclass(frozen=True, eq=False)
class Level:
    """Inner nodes of all trees that are equally deep, (N,) each; nodes and leaves are counted through all trees."""

    node: AnyArray
    left: AnyArray
    feature: AnyArray
    threshold: Array
    missing_left: AnyArray
    sets: AnyArray  # (N, 256) the categories that go left; empty rows where numbers are split
    by_category: AnyArray
    share: Array  # of the training rows that went left


def levels(trees: list[Tree]) -> tuple[list[Level], AnyArray, AnyArray]:
    """The inner nodes of trees, level by level; and the nodes and the numbers of the leaves."""
    entries = np.concatenate([node_bytes(tree.nodes) for tree in trees]).view(NODE).ravel()
    sizes = np.array([len(tree.nodes) for tree in trees])
    count = np.concatenate([tree.count for tree in trees]).astype(np.float64)
    sets = np.unpackbits(np.concatenate([tree.category_sets for tree in trees]), axis=1, bitorder="little").astype(bool)
    own = entries["left"].astype(np.int64)
    leaf_node = np.flatnonzero(entries["feature"] < 0)
    leaf = (own + np.repeat(before([tree.n_leaves for tree in trees]), sizes))[leaf_node]
    left = own + np.repeat(before(sizes), sizes)
    number = entries["category"] + np.repeat(before([len(tree.category_sets) for tree in trees]), sizes)
    out, at = [], before(sizes)
    while len(at := at[entries["feature"][at] >= 0]):
        out.append(one_level(entries[at], at, left[at], sets, number[at], count))
        at = np.concatenate([left[at], left[at] + 1])
    return out, leaf_node, leaf


def before(sizes: list[int] | AnyArray) -> AnyArray:
    """How many there are before each part, of parts with these sizes."""
    return np.cumsum([0, *sizes])[:-1]


def one_level(
    entries: AnyArray, node: AnyArray, left: AnyArray, sets: AnyArray, number: AnyArray, count: Array
) -> Level:
    """The nodes of a level; ``number`` are those of their category sets, where they have some."""
    by_category = entries["category"] >= 0
    of_node = np.zeros((len(node), MOST_CATEGORIES), dtype=bool)
    of_node[by_category] = sets[number[by_category]]
    rows = count[left] + count[left + 1]
    share = np.divide(count[left], rows, out=np.full(len(node), 0.5), where=rows > 0)
    missing_left = entries["missing_left"].astype(bool)
    return Level(node, left, entries["feature"], entries["threshold"], missing_left, of_node, by_category, share)


def goes_left(level: Level, features: AnyArray, grid: Array) -> Array:
    """The part of every grid point (m, s) that goes left at the nodes of a level, (N, m)."""
    part = np.repeat(level.share[:, None], len(grid), axis=1)
    for j, feature in enumerate(features):
        x = grid[:, j]
        rows = np.flatnonzero((level.feature == feature) & ~level.by_category)
        left = np.where(np.isnan(x), level.missing_left[rows, None], x <= level.threshold[rows, None])
        part[rows] = left
        rows = np.flatnonzero((level.feature == feature) & level.by_category)
        known = (x >= 0) & (x < MOST_CATEGORIES) & (x == np.floor(x))
        in_set = level.sets[rows][:, np.where(known, x, 0).astype(np.intp)]
        part[rows] = np.where(known, in_set, level.missing_left[rows, None])
    return part


def mean_through_trees(model: AdditiveModel, features: AnyArray, grid: Array, M: Array) -> Array:
    """The mean of F M at points (m, s) of these features (s,), (m, D)."""
    if len(model.trees) < len(model.terms):
        raise ValueError(
            "partial dependence through trees needs a model of the package's trees alone; use scikit-learn's "
            "partial_dependence with method='brute'."
        )
    if not model.trees:
        return np.zeros((len(grid), M.shape[1]))
    by_level, leaf_node, leaf = levels(model.trees)
    n_nodes = sum(len(tree.nodes) for tree in model.trees)
    table = leaf_table(model, M)
    if table.columns is None:
        values = table.values.reshape(len(leaf), M.shape[1])
    else:
        values = csr_array((table.values, table.columns, table.start), shape=(len(leaf), M.shape[1]))
    out = np.empty((len(grid), M.shape[1]))
    step = max(1, BLOCK // n_nodes)
    for begin in range(0, len(grid), step):
        points = grid[begin : begin + step]
        weight = np.ones((n_nodes, len(points)))
        for level in by_level:
            left = goes_left(level, features, points)
            weight[level.left] = weight[level.node] * left
            weight[level.left + 1] = weight[level.node] * (1.0 - left)
        of_leaf = np.empty((len(leaf), len(points)))
        of_leaf[leaf] = weight[leaf_node]
        out[begin : begin + step] = np.asarray(values.T @ of_leaf).T
    return out
