"""Trees whose leaves name one class and answer with its codeword."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from .. import engine
from .._typing import AnyArray, Array
from ..boosting.hypotheses import LeafOutputs, TreeHypothesis
from ..data.validation import TrainingSet
from .base import Answer, Request
from .trees import SMALL, TreeLearner, nearest_sums


class NamesClasses(TreeLearner):
    """Trees whose leaves name one class and answer with its codeword."""

    kind: ClassVar[str] = "classification"

    def fit(self, request: Request) -> Answer:
        """Grow a tree and let its leaves name classes."""
        statistics, leaf_statistics = self.statistics(request)
        grown = self.grow(request, statistics, leaf_statistics)
        sums = (
            one_hot_sums(statistics, grown, request.used) if isinstance(statistics, engine.OneHot) else grown.leaf_sums
        )
        names = nearest_sums(grown.tree, sums).argmax(axis=1)  # (L,)
        hypothesis = TreeHypothesis(grown.tree, request.Y[names])
        outputs = LeafOutputs(hypothesis.values, grown.leaf_of_row, request.data.engine)
        return Answer(hypothesis, outputs, names[grown.leaf_of_row])

    def leaf_values(self, tree: engine.Tree, sums: Array, request: Request) -> Array:
        """The codeword of the class that gains most."""
        return request.Y[nearest_sums(tree, sums).argmax(axis=1)]


@dataclass(eq=False, repr=False)
class ClassTree(NamesClasses):
    """Leaves name one class and answer with its codeword; splits maximise the gain A = G Yᵀ ("Greedy")."""

    score: ClassVar[str] = "max"

    def statistics(self, request: Request) -> tuple[engine.Dense | engine.OneHot, Array]:
        """The gain of every class."""
        if request.single:  # only the own class gains, up to a constant that splits do not see
            return engine.OneHot(request.labels, request.weight, len(request.Y)), nothing(request)
        A = request.G @ request.Y.T if request.gains is None else request.gains  # (n, K)
        return engine.Dense(A), A

    def options(self, data: TrainingSet, seed: int) -> engine.Growth:
        """How the engine is to grow."""
        return replace(super().options(data, 0), bits=64 if data.n * data.K < SMALL else 32)


@dataclass(eq=False, repr=False)
class InfoTree(NamesClasses):
    """Leaves name the heaviest class; splits maximise the information gain of the class weights ("Greedy-Info")."""

    score: ClassVar[str] = "entropy"

    def statistics(self, request: Request) -> tuple[engine.OneHot, Array]:
        """The weight of every example, in its class's column."""
        return engine.OneHot(request.labels, request.weight, len(request.Y)), nothing(request)


@dataclass(eq=False, repr=False)
class GiniTree(InfoTree):
    """Leaves name the heaviest class; splits lessen the Gini impurity of the class weights (CART)."""

    score: ClassVar[str] = "gini"


@dataclass(eq=False, repr=False)
class GreedyTree(ClassTree):
    """`ClassTree` grown best first to a budget of leaves: the "Greedy" tree of Mukherjee and Schapire."""

    max_depth: int | None = None
    max_leaves: int | str | None = "12(K-1)"
    growth: str = "best"


@dataclass(eq=False, repr=False)
class GreedyInfoTree(InfoTree):
    """`InfoTree` grown best first to a budget of leaves: the "Greedy-Info" tree of Mukherjee and Schapire."""

    max_depth: int | None = None
    max_leaves: int | str | None = "12(K-1)"
    growth: str = "best"


def nothing(request: Request) -> Array:
    """No statistics to sum over the leaves, (n, 0)."""
    return np.empty((request.data.n, 0))


def one_hot_sums(statistics: engine.OneHot, grown: engine.Grown, used: AnyArray | slice) -> Array:
    """Sums of one-hot statistics over the leaves, (L, m), of the rows in use."""
    cells = grown.leaf_of_row[used].astype(np.intp) * statistics.m + statistics.classes[used]
    sums = np.bincount(cells, statistics.weight[used], grown.tree.n_leaves * statistics.m)
    return sums.reshape(-1, statistics.m).astype(np.float64, copy=False)
