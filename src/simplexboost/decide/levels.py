"""Predictions for a level of a hierarchy; the probability of a node is the sum over its classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._util.arrays import AnyArray, Array
from ..boosting.decisions import merged_sums
from ..parts.codewords.hierarchy import names_array
from .rows import accept_pipelines


@accept_pipelines
def predict_level(clf: Any, X: Any, level: int, *, n_rounds: int | None = None, init_score: Any = None) -> AnyArray:
    """Return the name of the most probable node of a level of the hierarchy, for every row, (n,).

    The model must have been fitted with a tree of classes. Ties go to the node that comes first in the tree.

    Examples
    --------
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = sb.Hierarchy({"small": [0], "large": [1, 2]})
    >>> clf = sb.SimplexBoostClassifier(n_estimators=20, classes=tree, random_state=0).fit(X, y)
    >>> predict_level(clf, X[[0, 60, 120]], 1).tolist()
    ['small', 'large', 'large']
    """
    P = predict_proba_level(clf, X, level, n_rounds=n_rounds, init_score=init_score)
    return nodes_of(clf, level).take(P.argmax(axis=1))


@accept_pipelines
def predict_proba_level(clf: Any, X: Any, level: int, *, n_rounds: int | None = None, init_score: Any = None) -> Array:
    """Return the probabilities of the nodes of a level of the hierarchy, (n, m): sums over the classes of each node.

    The columns are the nodes of ``hierarchy_.nodes(level, classes_)``.

    Examples
    --------
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = sb.Hierarchy({"small": [0], "large": [1, 2]})
    >>> clf = sb.SimplexBoostClassifier(n_estimators=20, classes=tree, random_state=0).fit(X, y)
    >>> predict_proba_level(clf, X[[0, 60]], 1).round(1).tolist()
    [[0.9, 0.1], [0.1, 0.9]]
    """
    nodes_of(clf, level)
    P = np.asarray(clf.predict_proba(X, n_rounds, init_score=init_score))
    return merged_sums(P, clf.hierarchy_.members(level, clf.classes_).argmax(axis=1))


def nodes_of(clf: Any, level: Any) -> AnyArray:
    """Return the names of the nodes of a level; raise unless the model has a hierarchy with this level."""
    if getattr(clf, "hierarchy_", None) is None:
        raise ValueError("predict_level needs a tree of classes; fit the model with classes=Hierarchy(...).")
    return names_array(clf.hierarchy_.nodes(level, clf.classes_))
