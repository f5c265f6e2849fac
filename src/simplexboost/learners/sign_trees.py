"""Trees that answer each coordinate separately, with ±1 or with 0 or 1: h(x, k) for an example and a class."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from .._describing import described
from .._parts import check_number
from .._typing import Array
from ..boosting.hypotheses import TreeHypothesis
from ..engine import Dense, Grown, single_leaf
from .base import Answer, Learner, PlainPull, Request
from .trees import MOST, Stump, TreeLearner, nearest_sums


class ProductTree(TreeLearner):
    """Trees that answer each coordinate separately; the node score is Σ_j |ΣG_j|, and the leaf's answer sign(ΣG_j)."""

    score: ClassVar[str] = "sign"
    kind: ClassVar[str] = "product"

    def statistics(self, request: Request) -> Dense:
        """The gradient."""
        return Dense(request.G)

    def leaf_values(self, grown: Grown, request: Request) -> Array:
        """sign(ΣG_j)."""
        return np.sign(nearest_sums(grown.tree, grown.leaf_sums))


@described
@dataclass(eq=False, repr=False)
class SignTree(ProductTree):
    """Leaves hold a sign for every coordinate, the sign of ΣG_j (Hamming trees).

    Examples
    --------
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = sb.AdaBoostMHClassifier(learner=SignTree(max_depth=3), n_estimators=5).fit(X, y)
    >>> clf.score(X, y) > 0.95
    True
    """


@described
@dataclass(eq=False, repr=False)
class HammingTree(ProductTree):
    """`SignTree` grown best first up to 12 leaves; with one coordinate, a binary tree of that size.

    Examples
    --------
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = sb.AdaBoostMHClassifier(learner=HammingTree(max_leaf_nodes=6), n_estimators=5).fit(X, y)
    >>> clf.score(X, y) > 0.95
    True
    """

    max_depth: int | None = None
    max_leaf_nodes: int | None = 12
    growth: str = "best"


@described
@dataclass(eq=False, repr=False)
class SubsetTree(ProductTree):
    """Leaves hold the set of plausible coordinates: 1 where ΣG_j > 0, 0 elsewhere (AdaBoost.M2 and MR).

    If the rows of G sum to zero, which is so for losses of score differences, this is as good as signs. With one
    coordinate the answers are ±1. It is grown like a `HammingTree`.

    Examples
    --------
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = sb.AdaBoostM2Classifier(learner=SubsetTree(max_leaf_nodes=6), n_estimators=5).fit(X, y)
    >>> clf.score(X, y) > 0.95
    True
    """

    max_depth: int | None = None
    max_leaf_nodes: int | None = 12
    growth: str = "best"

    def leaf_values(self, grown: Grown, request: Request) -> Array:
        """1 or 0."""
        signs = super().leaf_values(grown, request)
        return signs if signs.shape[1] == 1 else (signs > 0).astype(np.float64)


@described
@dataclass(eq=False, repr=False)
class IndexStump(Learner):
    """A stump on [x, k], the features and the number of the class: ±1 by one feature, or by the class alone.

    The NIPS version of MCBoost uses it in AdaBoost.MH. An answer that depends on a feature is the same for all classes.

    Parameters
    ----------
    min_samples_leaf : int, default=1
        The smallest number of training rows of positive weight in a leaf.

    Examples
    --------
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = sb.AdaBoostMHClassifier(learner_mode="index", n_estimators=5).fit(X, y)
    >>> clf.parts().learner
    IndexStump()
    """

    min_samples_leaf: int = 1

    kind: ClassVar[str] = "product"
    takes_categories: ClassVar[bool] = True

    def check(self) -> None:
        """Raise if the limit is invalid."""
        check_number("min_samples_leaf", self.min_samples_leaf, int, 1, MOST)

    def fit(self, request: Request) -> Answer:
        """The best stump on a feature, or the best split of the classes, whichever gains more; ties to the feature."""
        d = request.G.shape[1]
        together = request.G.sum(axis=1, keepdims=True)  # (n, 1)
        by_feature = replace(request, pull=PlainPull(together, request.labels, request.weight))
        answer = Stump(min_samples_leaf=self.min_samples_leaf).fit(by_feature)
        rows = request.used
        engine = request.data.engine
        signs, gain = split_of_coordinates(engine.totals(request.G[rows]))
        assert isinstance(answer.hypothesis, TreeHypothesis)
        if engine.total(by_feature.G[rows, 0] * answer.outputs[rows, 0]) >= gain:
            values = np.repeat(answer.hypothesis.values, d, axis=1)  # (2, d)
            return Answer(TreeHypothesis(answer.hypothesis.tree, values), np.repeat(answer.outputs, d, axis=1))
        tree = single_leaf(request.data.n)
        return Answer(TreeHypothesis(tree, signs[None, :]), np.tile(signs, (request.data.n_here, 1)))


def split_of_coordinates(sums: Array) -> tuple[Array, float]:
    """The best stump h (d,) on the coordinate number, one sign up to some j and one beyond; its gain Σ_j h_j sums_j."""
    left = np.cumsum(sums)
    gains = np.abs(left) + np.abs(left[-1] - left)  # (d,), the last one is that of no split
    j = int(gains.argmax())
    signs = np.where(np.arange(len(sums)) <= j, np.sign(left[j]), np.sign(left[-1] - left[j]))
    return signs, float(gains[j])
