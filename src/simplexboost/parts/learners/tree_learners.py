"""Grows trees as weak learners, with leaves that are unit vectors, codewords of a class, or a sign per coordinate."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import field, replace
from typing import Any, ClassVar

import numpy as np

from ..._util.arrays import AnyArray, Array, Labels
from ..._util.params import check_choice, check_number
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

    >>> class MeanTree(TreeLearner):
    ...     score = "norm"
    ...     def leaf_values(self, grown, request):
    ...         return grown.leaf_sums / np.bincount(grown.leaf_of_row)[:, None]
    >>> sb.BoostingClassifier(learner=MeanTree(), n_estimators=10).fit(X, y).score(X, y) > 0.95
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
    rounds_at_random: ClassVar[bool] = True  # sums in 32 bits, up or down by the seed of the round; else to nearest

    def check(self) -> None:
        check_number("max_depth", self.max_depth, int, 1, MOST, none=True)
        check_number("max_leaf_nodes", self.max_leaf_nodes, int, 2, MOST, none=True)
        check_number("min_samples_leaf", self.min_samples_leaf, int, 1, MOST)
        check_choice("growth", self.growth, tuple(ORDERS))
        check_number("gain_noise", self.gain_noise, float, 0.0)
        if self.growth == "symmetric":
            symmetric_levels(self.max_depth, self.max_leaf_nodes)

    def check_for(self, data: TrainingSet, Y: Array) -> None:
        interactions(self.interaction_cst, data)

    def fit(self, request: Request) -> Answer:
        grown = self.grow(request.data, self.statistics(request), request.rows, request.features, request.seed)
        values = self.leaf_values(grown, request)  # (L, d)
        return Answer(TreeHypothesis(grown.tree, values), LeafOutputs(values, grown.leaf_of_row, request.data.engine))

    def grow(
        self, data: TrainingSet, statistics: Array | OneHot, rows: AnyArray | None, features: AnyArray | None, seed: int
    ) -> Grown:
        """Grow a tree on some statistics: its splits, the leaves of the rows and the sums over them."""
        growth = self.growth_for(data)
        if growth.noise or self.rounds_at_random:
            growth = replace(growth, seed=seed)
        return data.engine.compute.grow(data.binned, statistics, self.score, growth, None, rows, features)

    def statistics(self, request: Request) -> Array | OneHot:
        """Return the statistics that splits are searched with and that are summed over the leaves: the gradient."""
        return request.G

    @abstractmethod
    def leaf_values(self, grown: Grown, request: Request) -> Array:
        """Return the values of the leaves, (L, d)."""

    def growth_for(self, data: TrainingSet, **more: Any) -> Growth:
        """Return how the engine grows trees on these data; a subclass adds `more` settings, a round its seed."""
        return Growth(
            max_depth=int(self.max_depth or 0),  # not of NumPy's narrow types, whose products would overflow
            max_leaf_nodes=int(self.max_leaf_nodes or 0),
            min_samples_leaf=int(self.min_samples_leaf),
            order=self.growth,
            noise=float(self.gain_noise),
            interactions=interactions(self.interaction_cst, data),
            **more,
        )


def nearest_sums(tree: Tree, sums: Array) -> Array:
    """Return the leaf sums; a leaf whose sums are all zero gets those of its nearest ancestor with others."""
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
    """Leaves are unit vectors ΣG / ‖ΣG‖, and the node score is ‖ΣG‖. With one coordinate the answers are ±1.

    Examples
    --------
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
    """One split. With one coordinate the two leaves answer ±1, the classical decision stump.

    Examples
    --------
    >>> clf = sb.OneVsAllBoostClassifier(learner=Stump(min_samples_leaf=5), n_estimators=10)
    """

    max_depth: int | None = 1


class NamesClasses(TreeLearner):
    """Trees whose leaves name one class and answer with its codeword: the base class of `ClassTree` and its relatives.

    Parameters
    ----------
    leaves_per_rival : int or None, default=None
        If ``max_leaf_nodes`` is None, the tree has at most this number times K − 1 leaves. None sets no such limit.

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

    def growth_for(self, data: TrainingSet, **more: Any) -> Growth:
        growth = super().growth_for(data, **more)
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
        """Return the class that each leaf names, (L,): the one that gains most."""
        return np.asarray(nearest_sums(grown.tree, grown.leaf_sums).argmax(axis=1))


class ClassTree(NamesClasses, name="class-tree"):
    """Leaves name one class and answer with its codeword; splits maximise the gains A = G Yᵀ ("Greedy").

    Examples
    --------
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

    def growth_for(self, data: TrainingSet, **more: Any) -> Growth:
        return super().growth_for(data, bits=64 if data.n * data.K < SMALL else 32, **more)


class ConvertedTree(NamesClasses, name="converted-tree"):
    """A `VectorTree` whose leaves answer with the codeword nearest to their vector: Saberian and Vasconcelos (87).

    It shows what is lost by answers that name a class: the tree is that of the real answers, and with centred codewords
    each answer is still one along which the risk falls. `ClassTree` grows its tree for codewords and does better.

    Examples
    --------
    >>> clf = sb.GDMCBoostClassifier(learner=ConvertedTree(max_depth=3), n_estimators=10)
    """

    score: ClassVar[str] = "norm"

    def names(self, grown: Grown, request: Request) -> Labels:
        return np.asarray((nearest_sums(grown.tree, grown.leaf_sums) @ request.Y.T).argmax(axis=1))


class InfoTree(NamesClasses, name="info-tree"):
    """Leaves name the heaviest class; splits maximise the information gain of the class weights ("Greedy-Info").

    Examples
    --------
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
    """Leaves name the heaviest class; splits minimise the Gini impurity of the class weights (CART).

    Examples
    --------
    >>> clf = sb.SAMMEClassifier(learner=GiniTree(max_depth=3), n_estimators=10)
    """

    score: ClassVar[str] = "gini"


class GreedyTree(ClassTree, name="greedy-tree"):
    """`ClassTree` grown best first up to a number of leaves: the "Greedy" tree of Mukherjee and Schapire.

    Examples
    --------
    >>> clf = sb.AdaBoostMMClassifier(learner=GreedyTree(max_leaf_nodes=6), n_estimators=10)
    """

    max_depth: int | None = None
    growth: str = "best"
    leaves_per_rival: int | None = 12


class GreedyInfoTree(InfoTree, name="greedy-info-tree"):
    """`InfoTree` grown best first up to a number of leaves: the "Greedy-Info" tree of Mukherjee and Schapire.

    Examples
    --------
    >>> clf = sb.AdaBoostM1Classifier(learner=GreedyInfoTree(max_leaf_nodes=6), n_estimators=10)
    """

    max_depth: int | None = None
    growth: str = "best"
    leaves_per_rival: int | None = 12


class SignTree(TreeLearner, name="sign-tree"):
    """Leaves hold a sign for every coordinate, sign(ΣG_j), and the node score is Σ_j |ΣG_j| (Hamming trees).

    Examples
    --------
    >>> clf = sb.AdaBoostMHClassifier(learner=SignTree(max_depth=3), n_estimators=10)
    """

    score: ClassVar[str] = "sign"
    kind: ClassVar[str] = "product"

    def leaf_values(self, grown: Grown, request: Request) -> Array:
        return np.sign(nearest_sums(grown.tree, grown.leaf_sums))


class HammingTree(SignTree, name="hamming-tree"):
    """`SignTree` grown best first up to 12 leaves; with one coordinate, a binary tree of that size.

    Examples
    --------
    >>> clf = sb.AdaBoostMHClassifier(learner=HammingTree(max_leaf_nodes=6), n_estimators=10)
    """

    max_depth: int | None = None
    max_leaf_nodes: int | None = 12
    growth: str = "best"


class SubsetTree(HammingTree, name="subset-tree"):
    """Leaves hold the set of plausible coordinates: 1 where ΣG_j > 0, 0 elsewhere (AdaBoost.M2 and MR).

    If the rows of G sum to zero, which is so for losses of score differences, this is as good as signs. With one
    coordinate the answers are ±1. It is grown like a `HammingTree`.

    Examples
    --------
    >>> clf = sb.AdaBoostM2Classifier(learner=SubsetTree(max_leaf_nodes=6), n_estimators=10)
    """

    def leaf_values(self, grown: Grown, request: Request) -> Array:
        signs = super().leaf_values(grown, request)
        return signs if signs.shape[1] == 1 else (signs > 0).astype(np.float64)


class IndexStump(Learner, name="index-stump"):
    """A stump on [x, k], the features and the number of the class: ±1 by one feature, or by the class alone.

    The NIPS version of MCBoost uses it in AdaBoost.MH. An answer that depends on a feature is the same for all classes.

    Parameters
    ----------
    min_samples_leaf : int, default=1
        The smallest number of training rows of positive weight in a leaf.

    Examples
    --------
    >>> sb.AdaBoostMHClassifier(learner_mode="index", n_estimators=5).parts().learner
    IndexStump()
    """

    min_samples_leaf: int = 1

    kind: ClassVar[str] = "product"
    takes_categories: ClassVar[bool] = True

    def check(self) -> None:
        check_number("min_samples_leaf", self.min_samples_leaf, int, 1, MOST)

    def fit(self, request: Request) -> Answer:
        # The best stump on a feature, or the best split of the classes, whichever gains more; ties go to the feature.
        d, rows, total = request.G.shape[1], request.used, request.data.engine.rows.total
        together = request.G.sum(axis=1, keepdims=True)  # (n, 1)
        by_feature = replace(request, gradient=Gradient(request.labels, request.weight, G=together))
        answer = Stump(min_samples_leaf=self.min_samples_leaf).fit(by_feature)
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
