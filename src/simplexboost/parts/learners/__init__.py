"""Provides weak learners, which fit a hypothesis h to a negative gradient G (n, d) so that Σ_i ⟨G_i, h(x_i)⟩ is large.

Trees are grown alike and differ in the statistics, the node score (docs/design.md) and the values of leaves
(docs/choosing.md). If only one coordinate is asked for (d = 1), all but `NewtonTree` answer −1 or +1.
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
    """Return the learner that ``value`` stands for: a name, a `Learner`, or a scikit-learn classifier or regressor.

    Parameters
    ----------
    value : str, Learner or scikit-learn estimator
        A key of ``LEARNERS``, a learner, which is returned as it is, or an estimator, which is wrapped.

    Examples
    --------
    >>> as_learner("stump")
    Stump()
    """
    if is_estimator(value):
        return SklearnLearner(value)
    return resolve(value, LEARNERS, Learner, "learner")
