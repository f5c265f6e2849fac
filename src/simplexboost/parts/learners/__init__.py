"""Provides weak learners, which fit a hypothesis h to a negative gradient G (n, d) so that Σ_i ⟨G_i, h(x_i)⟩ is large.

Tree learners differ in the statistics that are summed over nodes, in the node score (docs/design.md) and in the leaf
values (docs/choosing.md). If d = 1, leaf values are −1 or +1, except in `NewtonTree` and its subclasses.
"""

from __future__ import annotations

from typing import Any

from ..._util.params import resolve
from .base import Answer, Learner, Request, SklearnLearner, is_estimator
from .linear import LinearRegressor
from .newton_trees import NewtonTree, RegressionTree, SketchTree
from .tree_learners import (
    ClassTree,
    ConvertedTree,
    GiniTree,
    GreedyInfoTree,
    GreedyTree,
    HammingTree,
    IndexStump,
    InfoTree,
    NamesClasses,
    SignTree,
    Stump,
    SubsetTree,
    TreeLearner,
    VectorTree,
)

__all__ = [
    "LEARNERS",
    "Answer",
    "ClassTree",
    "ConvertedTree",
    "GiniTree",
    "GreedyInfoTree",
    "GreedyTree",
    "HammingTree",
    "IndexStump",
    "InfoTree",
    "Learner",
    "LinearRegressor",
    "NamesClasses",
    "NewtonTree",
    "RegressionTree",
    "Request",
    "SignTree",
    "SketchTree",
    "SklearnLearner",
    "Stump",
    "SubsetTree",
    "TreeLearner",
    "VectorTree",
    "as_learner",
]

LEARNERS = Learner.table


def as_learner(value: Any) -> Learner:
    """Return the weak learner that ``value`` stands for: a name, a `Learner`, or a scikit-learn estimator.

    Parameters
    ----------
    value : str, Learner or scikit-learn estimator
        A key of ``LEARNERS``, a `Learner`, which is returned unchanged, or a classifier or regressor, which is wrapped.

    Examples
    --------
    >>> as_learner("stump")
    Stump()
    """
    if is_estimator(value):
        return SklearnLearner(value)
    return resolve(value, LEARNERS, Learner, "learner")
