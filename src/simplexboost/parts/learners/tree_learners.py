"""Grows trees as weak learners, whose leaf values are unit vectors, codewords, or a sign for each of d coordinates.

`TreeLearner` is their base class, and that of the trees in `newton_trees`.
"""

from __future__ import annotations

from abc import abstractmethod
from copy import copy
from dataclasses import field, replace
from typing import Any, ClassVar

import numpy as np

from ..._util.arrays import AnyArray, Array, Labels
from ..._util.params import check_choice, check_number, is_auto
from ...engine import ORDERS, Grown, Growth, OneHot, Tree, single_leaf, symmetric_levels
from ...model.code import Gradient
from ...model.hypotheses import LeafOutputs, TreeHypothesis
from ...tables.training_set import TrainingSet
from .base import Answer, Learner, Request
from .constraints import interactions

# Up to this many values, histograms of 64-bit integers cost next to nothing; beyond, 32 bits halve the memory traffic.
SMALL = 300_000
MOST = 2**31 - 1  # the largest limit that the engine takes


class TreeLearner(Learner):
    """The base class of tree learners; a subclass defines the statistics of rows, the node score and the leaf values.

    Parameters
    ----------
    max_depth : int or None, default=2
        The largest number of splits on a path from the root to a leaf; None sets no limit.
    max_leaf_nodes : int or None, default=None
        The largest number of leaves; None sets no limit.
    min_samples_leaf : int, default=1
        The smallest number of training rows of positive weight in a leaf.
    growth : {"level", "best", "symmetric"}, default="level"
        "level" splits the oldest node first, "best" the node whose split has the largest gain. "symmetric" splits all
        nodes of a level by the same feature and threshold, with the largest total gain. A symmetric tree of depth D has
        2^D leaves, some of which may have no rows or fewer than `min_samples_leaf`; without limits its depth is 6.
    gain_noise : float, default=0.0
        The standard deviation of random numbers, in units of the standard deviation of the features' gains.
        They are added to each feature's gain at every node (in symmetric trees, every level); the largest sum is split.
    interaction_cst : {"pairwise", "no_interactions"}, list of sets of features or None, default=None
        Which features may be split on the same path from the root: only those that are together in one of the sets (of
        feature indices or names). Features in no set form one more set. "pairwise" allows any two features on a path,
        "no_interactions" only one. None does not constrain the trees.

    Examples
    --------
    A tree whose leaves hold the mean gradient:

    >>> from dataclasses import dataclass
    >>> from simplexboost import BoostingClassifier
    >>> from sklearn.datasets import load_iris
    >>> class MeanTree(TreeLearner):
    ...     score = "norm"
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
    _may_be_auto: ClassVar[bool] = False  # whether limits, growth and numbers may be "auto"
    rounds_at_random: ClassVar[bool] = True  # sums in 32 bits, up or down by the seed of the round; else to nearest

    def check(self) -> None:
        check_number("max_depth", self.max_depth, int, 1, MOST, none=True)
        check_number("max_leaf_nodes", self.max_leaf_nodes, int, 2, MOST, none=True, auto=self._may_be_auto)
        check_number("min_samples_leaf", self.min_samples_leaf, int, 1, MOST, auto=self._may_be_auto)
        check_choice("growth", self.growth, ("auto", *ORDERS) if self._may_be_auto else ORDERS)
        check_number("gain_noise", self.gain_noise, float, 0.0, auto=self._may_be_auto)
        if self.growth == "symmetric":
            symmetric_levels(self.max_depth, None if is_auto(self.max_leaf_nodes) else self.max_leaf_nodes)

    def check_for(self, data: TrainingSet, Y: Array) -> None:
        interactions(self.interaction_cst, data)

    def resolve(self, data: TrainingSet) -> TreeLearner:
        other = copy(self)
        other.__dict__["_growth"] = self._make_growth(data)
        return other

    def fit(self, request: Request) -> Answer:
        grown = self.grow(request.data, self.statistics(request), request.rows, request.features, request.seed)
        values = self.leaf_values(grown, request)  # (L, d)
        return Answer(TreeHypothesis(grown.tree, values), LeafOutputs(values, grown.leaf_of_row, request.data.engine))

    def grow(
        self, data: TrainingSet, statistics: Array | OneHot, rows: AnyArray | None, features: AnyArray | None, seed: int
    ) -> Grown:
        """Grow a tree with splits scored by ``statistics``; return the tree, the leaf index per row, and leaf sums."""
        growth = self.__dict__.get("_growth") or self.growth_for(data)
        if growth.noise or self.rounds_at_random:
            growth = replace(growth, seed=seed)
        return data.engine.compute.grow(data.binned, statistics, self.score, growth, None, rows, features)

    def statistics(self, request: Request) -> Array | OneHot:
        """Return the statistics of every row that are summed in nodes to score splits; by default the gradient G."""
        return request.G

    @abstractmethod
    def leaf_values(self, grown: Grown, request: Request) -> Array:
        """Return the leaf values (L, d) of a tree that has been grown for the request."""

    def growth_for(self, data: TrainingSet) -> Growth:
        """Return the engine's settings for growing trees on these training data; each round sets its seed."""
        return self.__dict__.get("_growth") or self._make_growth(data)

    def _make_growth(self, data: TrainingSet, **more: Any) -> Growth:
        """Return the engine's settings for growing trees, made from the parameters; those in ``more`` have priority."""
        settings: dict[str, Any] = {
            "max_depth": self.max_depth,
            "max_leaf_nodes": self.max_leaf_nodes,
            "min_samples_leaf": self.min_samples_leaf,
            "order": self.growth,
            "noise": self.gain_noise,
        } | more
        for name in ("max_depth", "max_leaf_nodes", "min_samples_leaf"):
            settings[name] = int(settings[name] or 0)  # not of NumPy's narrow types, whose products would overflow
        settings["noise"] = float(settings["noise"])
        return Growth(interactions=interactions(self.interaction_cst, data), **settings)


def nearest_sums(tree: Tree, sums: Array) -> Array:
    """Return the leaf sums; a leaf whose sums are all zero gets those of its nearest ancestor with a non-zero sum."""
    if sums.all() or sums.any(axis=1).all():  # the first is the faster of the two
        return sums
    all_sums = tree.node_sums(sums)  # (N, m)
    for node in reversed(tree.children_first()):
        for child in tree.nodes["left"][node] + np.arange(2):
            if not all_sums[child].any():
                all_sums[child] = all_sums[node]
    is_leaf = tree.nodes["feature"] < 0
    return all_sums[is_leaf][np.argsort(tree.nodes["left"][is_leaf])]


class VectorTree(TreeLearner, name="vector-tree"):
    """A tree whose leaf values are unit vectors ΣG / ‖ΣG‖ (if d = 1, ±1), with the node score ‖ΣG‖.

    Examples
    --------
    >>> import simplexboost as sb
    >>> clf = sb.BoostingClassifier(learner=VectorTree(max_depth=3), n_estimators=5)
    """

    score: ClassVar[str] = "norm"

    def leaf_values(self, grown: Grown, request: Request) -> Array:
        sums = nearest_sums(grown.tree, grown.leaf_sums)
        if sums.shape[1] == 1:
            return np.sign(sums)
        largest = np.abs(sums).max(axis=1, keepdims=True)
        sums = np.divide(sums, largest, out=np.zeros_like(sums), where=largest > 0)  # so that squares cannot overflow
        norm = np.linalg.norm(sums, axis=1, keepdims=True)
        return np.divide(sums, norm, out=np.zeros_like(sums), where=norm > 0)


class Stump(VectorTree, name="stump"):
    """The decision stump: a tree with one split, whose two leaf values are unit vectors; if d = 1 they are ±1.

    Examples
    --------
    >>> import simplexboost as sb
    >>> clf = sb.OneVsAllBoostClassifier(learner=Stump(min_samples_leaf=5), n_estimators=10)
    """

    max_depth: int | None = 1


class NamesClasses(TreeLearner):
    """The base class of tree learners whose leaves predict a class: the leaf value is the codeword of this class.

    Parameters
    ----------
    leaves_per_rival : int or None, default=None
        If ``max_leaf_nodes`` is None, the tree has at most this number times K − 1 leaves. None sets no limit.

    Examples
    --------
    >>> from simplexboost.parts.learners import as_learner
    >>> isinstance(as_learner("gini-tree"), NamesClasses), isinstance(as_learner("vector-tree"), NamesClasses)
    (True, False)
    """

    leaves_per_rival: int | None = None

    kind: ClassVar[str] = "classification"

    def check(self) -> None:
        super().check()
        check_number("leaves_per_rival", self.leaves_per_rival, int, 1, MOST, none=True)

    def _make_growth(self, data: TrainingSet, **more: Any) -> Growth:
        growth = super()._make_growth(data, **more)
        if self.max_leaf_nodes is not None or self.leaves_per_rival is None:
            return growth
        return replace(growth, max_leaf_nodes=min(MOST, max(2, int(self.leaves_per_rival) * (data.K - 1))))

    def fit(self, request: Request) -> Answer:
        grown = self.grow(request.data, self.statistics(request), request.rows, request.features, request.seed)
        names = self.names(grown, request)  # (L,)
        values = request.Y[names]
        outputs = LeafOutputs(values, grown.leaf_of_row, request.data.engine)
        return Answer(TreeHypothesis(grown.tree, values), outputs, names[grown.leaf_of_row])

    def leaf_values(self, grown: Grown, request: Request) -> Array:
        return request.Y[self.names(grown, request)]

    def names(self, grown: Grown, request: Request) -> Labels:
        """Return the class index that each leaf predicts, (L,): the class with the largest leaf sum."""
        return np.asarray(nearest_sums(grown.tree, grown.leaf_sums).argmax(axis=1))


class ClassTree(NamesClasses, name="class-tree"):
    """A tree whose leaves predict a class by its codeword; splits maximise Σ G Yᵀ for the best class of a leaf.

    Examples
    --------
    >>> import simplexboost as sb
    >>> clf = sb.AdaBoostMMClassifier(learner=ClassTree(max_depth=3), n_estimators=10)
    """

    score: ClassVar[str] = "max"
    rounds_at_random: ClassVar[bool] = False

    def statistics(self, request: Request) -> Array | OneHot:
        if request.gradient.single:  # only the true class gains, up to a constant that does not affect splits
            return OneHot(request.labels, request.weight, len(request.Y))
        # If all codewords are equally far apart, G Yᵀ is a multiple of P up to a constant in every row.
        code = request.gradient.code
        return request.G @ request.Y.T if code is None or code.gap is None else request.gradient.P  # (n, K)

    def _make_growth(self, data: TrainingSet, **more: Any) -> Growth:
        return super()._make_growth(data, bits=64 if data.n * data.K < SMALL else 32, **more)


class ConvertedTree(NamesClasses, name="converted-tree"):
    """A `VectorTree` whose leaf vectors are replaced by the nearest codewords (Saberian and Vasconcelos, equation 87).

    It shows how much is lost if leaves predict a class: the splits are those for real vectors, and with centred
    codewords each leaf's codeword still lowers the risk. `ClassTree` chooses its splits for codewords and does
    better.

    Examples
    --------
    >>> import simplexboost as sb
    >>> clf = sb.GDMCBoostClassifier(learner=ConvertedTree(max_depth=3), n_estimators=10)
    """

    score: ClassVar[str] = "norm"

    def names(self, grown: Grown, request: Request) -> Labels:
        return np.asarray((nearest_sums(grown.tree, grown.leaf_sums) @ request.Y.T).argmax(axis=1))


class InfoTree(NamesClasses, name="info-tree"):
    """A tree whose leaves predict the class of largest weight; splits maximise the information gain ("Greedy-Info").

    Examples
    --------
    >>> import simplexboost as sb
    >>> clf = sb.AdaBoostM1Classifier(learner=InfoTree(max_depth=3), n_estimators=10)
    """

    score: ClassVar[str] = "entropy"

    def fit(self, request: Request) -> Answer:
        # Examples without a weight change no sum, and sm-boost draws few. If none has one, all are used.
        rows, has_weight = request.rows, request.weight[request.used] != 0
        if not (request.data.engine.rows.every(~has_weight) or has_weight.all()):
            rows = np.flatnonzero(has_weight) if rows is None else rows[has_weight]
        return super().fit(replace(request, rows=rows))

    def statistics(self, request: Request) -> OneHot:
        return OneHot(request.labels, request.weight, len(request.Y))


class GiniTree(InfoTree, name="gini-tree"):
    """A tree whose leaves predict the class of largest weight; splits minimise the Gini impurity, as in CART.

    Examples
    --------
    >>> import simplexboost as sb
    >>> clf = sb.SAMMEClassifier(learner=GiniTree(max_depth=3), n_estimators=10)
    """

    score: ClassVar[str] = "gini"


class GreedyTree(ClassTree, name="greedy-tree"):
    """A `ClassTree` grown best first, to 12 (K − 1) leaves by default: the "Greedy" tree of Mukherjee and Schapire.

    Examples
    --------
    >>> import simplexboost as sb
    >>> clf = sb.AdaBoostMMClassifier(learner=GreedyTree(max_leaf_nodes=6), n_estimators=10)
    """

    max_depth: int | None = None
    growth: str = "best"
    leaves_per_rival: int | None = 12


class GreedyInfoTree(InfoTree, name="greedy-info-tree"):
    """An `InfoTree` grown best first, to 12 (K − 1) leaves by default ("Greedy-Info", Mukherjee and Schapire).

    Examples
    --------
    >>> import simplexboost as sb
    >>> clf = sb.AdaBoostM1Classifier(learner=GreedyInfoTree(max_leaf_nodes=6), n_estimators=10)
    """

    max_depth: int | None = None
    growth: str = "best"
    leaves_per_rival: int | None = 12


class SignTree(TreeLearner, name="sign-tree"):
    """A tree whose leaves hold the sign of ΣG_j for every coordinate j, with the node score Σ_j |ΣG_j| (Hamming trees).

    Examples
    --------
    >>> import simplexboost as sb
    >>> clf = sb.AdaBoostMHClassifier(learner=SignTree(max_depth=3), n_estimators=10)
    """

    score: ClassVar[str] = "sign"
    kind: ClassVar[str] = "product"

    def leaf_values(self, grown: Grown, request: Request) -> Array:
        return np.sign(nearest_sums(grown.tree, grown.leaf_sums))


class HammingTree(SignTree, name="hamming-tree"):
    """A `SignTree` grown best first, by default to 12 leaves; if d = 1, it is a binary decision tree.

    Examples
    --------
    >>> import simplexboost as sb
    >>> clf = sb.AdaBoostMHClassifier(learner=HammingTree(max_leaf_nodes=6), n_estimators=10)
    """

    max_depth: int | None = None
    max_leaf_nodes: int | None = 12
    growth: str = "best"


class SubsetTree(HammingTree, name="subset-tree"):
    """A tree whose leaves hold a set of plausible coordinates j: 1 where ΣG_j > 0, 0 elsewhere (AdaBoost.M2 and MR).

    If the rows of G sum to zero, as they do for losses of score differences, sets are as good as signs. If d = 1, leaf
    values are ±1. The tree is grown like a `HammingTree`.

    Examples
    --------
    >>> import simplexboost as sb
    >>> clf = sb.AdaBoostM2Classifier(learner=SubsetTree(max_leaf_nodes=6), n_estimators=10)
    """

    def leaf_values(self, grown: Grown, request: Request) -> Array:
        signs = super().leaf_values(grown, request)
        return signs if signs.shape[1] == 1 else (signs > 0).astype(np.float64)


class IndexStump(Learner, name="index-stump"):
    """A stump on the features and the class index: an output of ±1 that depends on one feature, or on the class alone.

    The NIPS version of MCBoost uses it in AdaBoost.MH. If the output depends on a feature, it is equal for all classes.

    Parameters
    ----------
    min_samples_leaf : int, default=1
        The smallest number of training rows of positive weight in a leaf.

    Examples
    --------
    >>> import simplexboost as sb
    >>> sb.AdaBoostMHClassifier(learner_mode="index", n_estimators=5).parts().learner
    IndexStump()
    """

    min_samples_leaf: int = 1

    kind: ClassVar[str] = "product"
    takes_categories: ClassVar[bool] = True

    def check(self) -> None:
        check_number("min_samples_leaf", self.min_samples_leaf, int, 1, MOST)

    def resolve(self, data: TrainingSet) -> IndexStump:
        other = copy(self)
        other.__dict__["_stump"] = Stump(min_samples_leaf=self.min_samples_leaf).resolve(data)
        return other

    def fit(self, request: Request) -> Answer:
        # The best stump on a feature, or the best split of the classes, whichever gains more; ties go to the feature.
        d, rows, total = request.G.shape[1], request.used, request.data.engine.rows.total
        together = request.G.sum(axis=1, keepdims=True)  # (n, 1)
        by_feature = replace(request, gradient=Gradient(request.labels, request.weight, G=together))
        stump = self.__dict__.get("_stump") or Stump(min_samples_leaf=self.min_samples_leaf)
        answer = stump.fit(by_feature)
        # The best stump on the coordinate number: one sign up to some j and one beyond, with the gain Σ_j sign_j G_j.
        left = np.cumsum(total(request.G[rows]))
        gains = np.abs(left) + np.abs(left[-1] - left)  # (d,), the last one is that of no split
        j = int(gains.argmax())
        assert isinstance(answer.hypothesis, TreeHypothesis)
        if total(by_feature.G[rows, 0] * answer.outputs[rows, 0]) >= float(gains[j]):
            values = np.repeat(answer.hypothesis.values, d, axis=1)  # (2, d)
            return Answer(TreeHypothesis(answer.hypothesis.tree, values), np.repeat(answer.outputs, d, axis=1))
        signs = np.where(np.arange(d) <= j, np.sign(left[j]), np.sign(left[-1] - left[j]))
        hypothesis = TreeHypothesis(single_leaf(request.data.n), signs[None, :])
        return Answer(hypothesis, np.tile(signs, (request.data.n_here, 1)))
