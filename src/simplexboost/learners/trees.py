"""What all tree learners share, and the trees whose leaves are unit vectors along the gradient."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from .._describing import described
from .._parts import check_choice, check_number
from .._typing import Array
from ..boosting.hypotheses import LeafOutputs, TreeHypothesis
from ..data.training_set import TrainingSet
from ..engine import ORDERS, Dense, Grown, Growth, OneHot, Tree, symmetric_levels
from .base import Answer, Learner, Request
from .constraints import interactions

# Up to this many values, histograms of 64-bit integers cost next to nothing; beyond, 32 bits halve the memory traffic.
SMALL = 300_000
MOST = 2**31 - 1  # the largest limit that the engine takes


@dataclass(eq=False, repr=False)
class TreeLearner(Learner):
    """Trees that the engine grows. A subclass says which statistics are summed, by which score, and what leaves hold.

    Parameters
    ----------
    max_depth : int or None, default=2
        The largest number of splits on a path from the root to a leaf; None sets no limit.
    max_leaf_nodes : int or None, default=None
        The largest number of leaves; None sets no limit.
    min_samples_leaf : int, default=1
        The smallest number of training rows of positive weight in a leaf.
    growth : {"level", "best", "symmetric"}, default="level"
        "level" splits the oldest node first, "best" the one whose split gains most. "symmetric" splits all nodes of a
        level by the same feature and threshold, those that gain most in total. A symmetric tree of depth D has 2^D
        leaves, some of which may have no rows or fewer than `min_samples_leaf`; without limits its depth is 6.
    gain_noise : float, default=0.0
        Random numbers of this many standard deviations (of the features' gains) are added to the gain of every feature
        at every node or, in symmetric trees, at every level. The feature with the largest sum is split.
    interaction_cst : {"pairwise", "no_interactions"}, list of sets of features or None, default=None
        Which features may be split on the same path from the root: only those that are together in one of the sets, of
        positions or names. Features in none of them form a set of their own. "pairwise" allows any two features,
        "no_interactions" one. None does not constrain the trees.

    Examples
    --------
    A tree whose leaves hold the mean gradient:

    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from simplexboost import BoostingClassifier, engine
    >>> from sklearn.datasets import load_iris
    >>> @dataclass(eq=False, repr=False)
    ... class MeanTree(TreeLearner):
    ...     score = "norm"
    ...     def statistics(self, request):
    ...         return engine.Dense(request.G)
    ...     def leaf_values(self, grown, request):
    ...         return grown.leaf_sums / np.bincount(grown.leaf_of_row)[:, None]
    >>> X, y = load_iris(return_X_y=True)
    >>> BoostingClassifier(learner=MeanTree(), n_estimators=10).fit(X, y).score(X, y) > 0.95
    True
    """

    max_depth: int | None = 2
    max_leaf_nodes: int | None = None
    min_samples_leaf: int = 1
    growth: str = "level"
    gain_noise: float = 0.0
    interaction_cst: Any = field(default=None, kw_only=True)

    score: ClassVar[str]
    takes_categories: ClassVar[bool] = True

    def check(self) -> None:
        """Raise if a limit is invalid."""
        check_number("max_depth", self.max_depth, int, 1, MOST, none=True)
        check_number("max_leaf_nodes", self.max_leaf_nodes, int, 2, MOST, none=True)
        check_number("min_samples_leaf", self.min_samples_leaf, int, 1, MOST)
        check_choice("growth", self.growth, tuple(ORDERS))
        check_number("gain_noise", self.gain_noise, float, 0.0)
        if self.growth == "symmetric":
            symmetric_levels(self.max_depth, self.max_leaf_nodes)

    def check_for(self, data: TrainingSet, Y: Array) -> None:
        """Raise if interaction_cst does not suit the features."""
        interactions(self.interaction_cst, data)

    def fit(self, request: Request) -> Answer:
        """Grow a tree and compute its leaf values."""
        grown = self.grow(request, self.statistics(request))
        values = self.leaf_values(grown, request)  # (L, d)
        return Answer(TreeHypothesis(grown.tree, values), LeafOutputs(values, grown.leaf_of_row, request.data.engine))

    def grow(self, request: Request, statistics: Dense | OneHot) -> Grown:
        """A tree for these statistics, which are also summed over its leaves."""
        return request.data.engine.grow(
            request.data.binned,
            statistics,
            self.score,
            self.growth_for(request.data, request.seed),
            rows=request.rows,
            features=request.features,
        )

    @abstractmethod
    def statistics(self, request: Request) -> Dense | OneHot:
        """The statistics that splits are searched with, and that are summed over the leaves."""

    @abstractmethod
    def leaf_values(self, grown: Grown, request: Request) -> Array:
        """Values of the leaves, (L, d)."""

    def growth_for(self, data: TrainingSet, seed: int, **more: Any) -> Growth:
        """How the engine is to grow; a subclass adds `more` of its own."""
        return Growth(
            max_depth=int(self.max_depth or 0),  # not of NumPy's narrow types, whose products would overflow
            max_leaf_nodes=int(self.max_leaf_nodes or 0),
            min_samples_leaf=int(self.min_samples_leaf),
            order=self.growth,
            seed=seed,
            noise=float(self.gain_noise),
            interactions=interactions(self.interaction_cst, data),
            **more,
        )


def nearest_sums(tree: Tree, sums: Array) -> Array:
    """The leaf sums; a leaf whose sums are all zero gets those of its nearest ancestor with others."""
    if sums.all() or sums.any(axis=1).all():  # the first is the faster of the two
        return sums
    all_sums = tree.node_sums(sums)  # (N, m)
    for node in reversed(tree.children_first()):
        for child in tree.nodes["left"][node] + np.arange(2):
            if not all_sums[child].any():
                all_sums[child] = all_sums[node]
    is_leaf = tree.nodes["feature"] < 0
    return all_sums[is_leaf][np.argsort(tree.nodes["left"][is_leaf])]


@described
@dataclass(eq=False, repr=False)
class VectorTree(TreeLearner):
    """Leaves are unit vectors ΣG / ‖ΣG‖, and the node score is ‖ΣG‖. With one coordinate the answers are ±1.

    Examples
    --------
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = sb.BoostingClassifier(learner=VectorTree(max_depth=3), n_estimators=5).fit(X, y)
    >>> clf.score(X, y) > 0.95
    True
    """

    score: ClassVar[str] = "norm"

    def statistics(self, request: Request) -> Dense:
        """The gradient."""
        return Dense(request.G)

    def leaf_values(self, grown: Grown, request: Request) -> Array:
        """ΣG / ‖ΣG‖."""
        sums = nearest_sums(grown.tree, grown.leaf_sums)
        if sums.shape[1] == 1:
            return np.sign(sums)
        largest = np.abs(sums).max(axis=1, keepdims=True)
        sums = np.divide(sums, largest, out=np.zeros_like(sums), where=largest > 0)  # so that squares cannot overflow
        norm = np.linalg.norm(sums, axis=1, keepdims=True)
        return np.divide(sums, norm, out=np.zeros_like(sums), where=norm > 0)


@described
@dataclass(eq=False, repr=False)
class Stump(VectorTree):
    """One split. With one coordinate the two leaves answer ±1, the classical decision stump.

    Examples
    --------
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = sb.OneVsAllBoostClassifier(learner=Stump(min_samples_leaf=5), n_estimators=10).fit(X, y)
    >>> clf.score(X, y) > 0.9
    True
    """

    max_depth: int | None = 1
