"""Trees whose leaves name one class and answer with its codeword."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from .._describing import described
from .._parts import check_number
from .._typing import AnyArray, Array, Labels
from ..boosting.hypotheses import LeafOutputs, TreeHypothesis
from ..data.training_set import TrainingSet
from ..engine import Dense, Engine, Grown, Growth, OneHot
from .base import Answer, Request
from .trees import MOST, SMALL, TreeLearner, nearest_sums


@described
@dataclass(eq=False, repr=False)
class NamesClasses(TreeLearner):
    """Trees whose leaves name one class and answer with its codeword: the base class of `ClassTree` and its relatives.

    Parameters
    ----------
    leaves_per_rival : int or None, default=None
        If ``max_leaf_nodes`` is None, the tree has at most this number times K − 1 leaves. None sets no such limit.

    Examples
    --------
    >>> from simplexboost.learners import as_learner
    >>> isinstance(as_learner("gini-tree"), NamesClasses), isinstance(as_learner("vector-tree"), NamesClasses)
    (True, False)
    """

    leaves_per_rival: int | None = None

    kind: ClassVar[str] = "classification"

    def check(self) -> None:
        """Raise if a limit is invalid."""
        super().check()
        check_number("leaves_per_rival", self.leaves_per_rival, int, 1, MOST, none=True)

    def growth_for(self, data: TrainingSet, seed: int, **more: Any) -> Growth:
        """How the engine is to grow."""
        growth = super().growth_for(data, seed, **more)
        if self.max_leaf_nodes is not None or self.leaves_per_rival is None:
            return growth
        return replace(growth, max_leaf_nodes=min(MOST, max(2, int(self.leaves_per_rival) * (data.K - 1))))

    def fit(self, request: Request) -> Answer:
        """Grow a tree and let its leaves name classes."""
        grown = self.grow(request, self.statistics(request))
        names = self.names(grown, request)  # (L,)
        hypothesis = TreeHypothesis(grown.tree, request.Y[names])
        outputs = LeafOutputs(hypothesis.values, grown.leaf_of_row, request.data.engine)
        return Answer(hypothesis, outputs, names[grown.leaf_of_row])

    def leaf_values(self, grown: Grown, request: Request) -> Array:
        """The codewords of the named classes."""
        return request.Y[self.names(grown, request)]

    def names(self, grown: Grown, request: Request) -> Labels:
        """The class that each leaf names, (L,): the one that gains most."""
        return np.asarray(nearest_sums(grown.tree, grown.leaf_sums).argmax(axis=1))


@described
@dataclass(eq=False, repr=False)
class ClassTree(NamesClasses):
    """Leaves name one class and answer with its codeword; splits maximise the gains A = G Yᵀ ("Greedy").

    Examples
    --------
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = sb.AdaBoostMMClassifier(learner=ClassTree(max_depth=3), n_estimators=10).fit(X, y)
    >>> clf.score(X, y) > 0.95
    True
    """

    score: ClassVar[str] = "max"

    def statistics(self, request: Request) -> Dense | OneHot:
        """The gain of every class."""
        if request.pull.single:  # only the true class gains, up to a constant that does not affect splits
            return OneHot(request.labels, request.weight, len(request.Y))
        A = request.G @ request.Y.T if request.pull.gains is None else request.pull.gains  # (n, K)
        return Dense(A)

    def growth_for(self, data: TrainingSet, seed: int, **more: Any) -> Growth:
        """How the engine is to grow."""
        seed = seed if self.gain_noise else 0  # without noise, sums are rounded to nearest
        growth = super().growth_for(data, seed, **more)
        return replace(growth, bits=64 if data.n * data.K < SMALL else 32)


@described
@dataclass(eq=False, repr=False)
class ConvertedTree(NamesClasses):
    """A `VectorTree` whose leaves answer with the codeword nearest to their vector: Saberian and Vasconcelos (87).

    It shows what is lost by answers that name a class: the tree is that of the real answers, and with centred codewords
    each answer is still one along which the risk falls. `ClassTree` grows its tree for codewords and does better.

    Examples
    --------
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = sb.GDMCBoostClassifier(learner=ConvertedTree(), n_estimators=10).fit(X, y)
    >>> clf.score(X, y) > 0.95
    True
    """

    score: ClassVar[str] = "norm"

    def statistics(self, request: Request) -> Dense:
        """The gradient."""
        return Dense(request.G)

    def names(self, grown: Grown, request: Request) -> Labels:
        """The class whose codeword has the largest product with ΣG."""
        return np.asarray((nearest_sums(grown.tree, grown.leaf_sums) @ request.Y.T).argmax(axis=1))


@described
@dataclass(eq=False, repr=False)
class InfoTree(NamesClasses):
    """Leaves name the heaviest class; splits maximise the information gain of the class weights ("Greedy-Info").

    Examples
    --------
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = sb.AdaBoostM1Classifier(learner=InfoTree(max_depth=3), n_estimators=10).fit(X, y)
    >>> clf.score(X, y) > 0.95
    True
    """

    score: ClassVar[str] = "entropy"

    def fit(self, request: Request) -> Answer:
        """Grow a tree on the examples that have a weight: the others change no sum, and sm-boost draws few."""
        rows = weighted_rows(request.weight, request.rows, request.data.engine)
        return super().fit(replace(request, rows=rows))

    def statistics(self, request: Request) -> OneHot:
        """The weight of every example, in the column of its class."""
        return OneHot(request.labels, request.weight, len(request.Y))


def weighted_rows(weight: Array, rows: AnyArray | None, engine: Engine) -> AnyArray | None:
    """Those of some rows, or of all (None), that have a weight (n,); if none has one, the rows as they are."""
    has_weight = weight != 0 if rows is None else weight[rows] != 0
    if engine.every(~has_weight) or has_weight.all():
        return rows
    return np.flatnonzero(has_weight) if rows is None else rows[has_weight]


@described
@dataclass(eq=False, repr=False)
class GiniTree(InfoTree):
    """Leaves name the heaviest class; splits minimise the Gini impurity of the class weights (CART).

    Examples
    --------
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = sb.SAMMEClassifier(learner=GiniTree(max_depth=3), n_estimators=10).fit(X, y)
    >>> clf.score(X, y) > 0.95
    True
    """

    score: ClassVar[str] = "gini"


@described
@dataclass(eq=False, repr=False)
class GreedyTree(ClassTree):
    """`ClassTree` grown best first up to a number of leaves: the "Greedy" tree of Mukherjee and Schapire.

    Examples
    --------
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = sb.AdaBoostMMClassifier(learner=GreedyTree(max_leaf_nodes=6), n_estimators=5).fit(X, y)
    >>> clf.score(X, y) > 0.95
    True
    """

    max_depth: int | None = None
    growth: str = "best"
    leaves_per_rival: int | None = 12


@described
@dataclass(eq=False, repr=False)
class GreedyInfoTree(InfoTree):
    """`InfoTree` grown best first up to a number of leaves: the "Greedy-Info" tree of Mukherjee and Schapire.

    Examples
    --------
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = sb.AdaBoostM1Classifier(learner=GreedyInfoTree(max_leaf_nodes=6), n_estimators=5).fit(X, y)
    >>> clf.score(X, y) > 0.95
    True
    """

    max_depth: int | None = None
    growth: str = "best"
    leaves_per_rival: int | None = 12
