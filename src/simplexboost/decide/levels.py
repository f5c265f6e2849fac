"""Predictions for a level of a hierarchy: for nodes, whose probabilities are sums of those of their classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._util.arrays import AnyArray, Array
from ..boosting.decisions import merge_sums
from ..parts.codewords.hierarchy import names_array
from .rows import over_rows


@over_rows
def predict_level(clf: Any, X: Any, level: int, *, n_rounds: int | None = None, init_score: Any = None) -> AnyArray:
    """The most probable node of a level of the hierarchy, (n,).

    Parameters
    ----------
    clf : classifier
        A booster that was fitted with a tree of classes.
    X : array, data frame or sparse matrix of shape (n, p)
        The rows, with the columns of the fit. NaN and None mean missing.
    level : int
        From 1, right below the root, to ``hierarchy_.n_levels``, the classes themselves.
    n_rounds : int or None, default=None
        Predict with the first rounds only, 1 .. ``n_iter_``; None takes all.
    init_score : array of shape (n, K), of shape (n,) for two classes, or None, default=None
        Log-odds that the trees' scores are added to, in the same form that ``fit`` takes.

    Returns
    -------
    array of shape (n,)
        The names of the nodes; ties go to the one that comes first in the tree.

    Examples
    --------
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> iris = load_iris()
    >>> y = iris.target_names[iris.target]
    >>> tree = sb.Hierarchy({"small": ["setosa"], "large": ["versicolor", "virginica"]})
    >>> clf = sb.SimplexBoostClassifier(n_estimators=20, classes=tree, random_state=0).fit(iris.data, y)
    >>> predict_level(clf, iris.data[[0, 60, 120]], 1).tolist()
    ['small', 'large', 'large']
    """
    P = predict_proba_level(clf, X, level, n_rounds=n_rounds, init_score=init_score)
    return nodes_of(clf, level).take(P.argmax(axis=1))


@over_rows
def predict_proba_level(clf: Any, X: Any, level: int, *, n_rounds: int | None = None, init_score: Any = None) -> Array:
    """The probabilities of the nodes of a level of the hierarchy, (n, m): the sums of those of their classes.

    Parameters
    ----------
    clf : classifier
        A booster that was fitted with a tree of classes.
    X : array, data frame or sparse matrix of shape (n, p)
        The rows, with the columns of the fit. NaN and None mean missing.
    level : int
        From 1, right below the root, to ``hierarchy_.n_levels``, the classes themselves.
    n_rounds : int or None, default=None
        Predict with the first rounds only, 1 .. ``n_iter_``; None takes all.
    init_score : array of shape (n, K), of shape (n,) for two classes, or None, default=None
        Log-odds that the trees' scores are added to, in the same form that ``fit`` takes.

    Returns
    -------
    array of shape (n, m)
        The probabilities, a column for every node of ``hierarchy_.nodes(level, classes_)``.

    Examples
    --------
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> iris = load_iris()
    >>> y = iris.target_names[iris.target]
    >>> tree = sb.Hierarchy({"small": ["setosa"], "large": ["versicolor", "virginica"]})
    >>> clf = sb.SimplexBoostClassifier(n_estimators=20, classes=tree, random_state=0).fit(iris.data, y)
    >>> predict_proba_level(clf, iris.data[[0, 60]], 1).round(1).tolist()
    [[0.9, 0.1], [0.1, 0.9]]
    """
    nodes_of(clf, level)
    P = np.asarray(clf.predict_proba(X, n_rounds, init_score=init_score))
    return merge_sums(P, clf.hierarchy_.members(level, clf.classes_).argmax(axis=1))


def nodes_of(clf: Any, level: Any) -> AnyArray:
    """The nodes of a level; raise if there is none, or no hierarchy."""
    if getattr(clf, "hierarchy_", None) is None:
        raise ValueError("predict_level needs a tree of classes; fit the model with classes=Hierarchy(...).")
    return names_array(clf.hierarchy_.nodes(level, clf.classes_))
