"""Weak learners: a request (n, d) gradient G → a hypothesis h that makes Σ_i ⟨G_i, h(x_i)⟩ large.

Every tree is the same tree; learners differ in the statistics they give the engine, the node score and the leaf:

==============  ==================  ======================  =============================
learner         statistics          node score              leaf
==============  ==================  ======================  =============================
`VectorTree`    G                   ‖ΣG‖                    ΣG / ‖ΣG‖
`NewtonTree`    G, curvature h      ‖ΣG‖² / (Σh + l2)       ΣG / (Σh + l2)
`ClassTree`     A = G Yᵀ            max_k ΣA_k              codeword of the best class
`InfoTree`      class weights       minus weighted entropy  codeword of the heaviest class
`GiniTree`      class weights       Σw_k² / Σw_k            codeword of the heaviest class
`SignTree`      G                   Σ_j |ΣG_j|              sign(ΣG_j) per coordinate
==============  ==================  ======================  =============================

When one coordinate is asked for (d = 1), all but `NewtonTree` answer −1 or +1: weighted binary classification.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils.validation import has_fit_parameter

from . import engine
from ._parts import Lazy, Part, check_choice, check_number, resolve
from ._typing import AnyArray, Array, Labels
from .hypotheses import (
    ClassifierHypothesis,
    Hypothesis,
    LeafOutputs,
    LinearHypothesis,
    RegressorHypothesis,
    TreeHypothesis,
)
from .validation import TrainingSet


@dataclass(frozen=True, eq=False)
class Request:
    """What an optimizer asks of a learner.

    Attributes
    ----------
    G : (n, d) negative functional gradient, sample weights included; may be given as a function
    Y : (K, d) codewords; for a single coordinate [[1], [−1]]
    labels, weight : (n,) the same question put to a classifier: rows of Y and how much each example matters
    curvature : (n,) Σ of the Hessian's diagonal, or None where only the gradient is followed
    rows, features : ascending numbers the learner may use, or None for all
    seed : for learners that draw at random
    single : whether labels and weights say it all: G Yᵀ is the weight at the label, up to a constant in every row
    gains : (n, K) G Yᵀ, up to a positive factor and a constant in every row, where it is at hand; else None
    """

    data: TrainingSet
    G: Array
    Y: Array
    labels: Labels
    weight: Array
    curvature: Array | None = None
    rows: AnyArray | None = None
    features: AnyArray | None = None
    seed: int = 0
    single: bool = False
    gains: Array | None = None


setattr(Request, "G", Lazy("G"))  # noqa: B010, a field to the type checker


class Answer:
    """A hypothesis and its outputs on the training rows.

    Attributes
    ----------
    hypothesis : Hypothesis
    outputs : (n, d)
    compact : the outputs as they were given, an array or `LeafOutputs`
    classes : (n,) the class named for every row, where the outputs are codewords of classes; else None
    """

    def __init__(self, hypothesis: Hypothesis, outputs: Array | LeafOutputs, classes: Labels | None = None) -> None:
        self.hypothesis, self.compact, self.classes = hypothesis, outputs, classes

    @cached_property
    def outputs(self) -> Array:
        """The outputs, (n, d)."""
        return self.compact.dense() if isinstance(self.compact, LeafOutputs) else self.compact


class Learner(Part):
    """A weak learner."""

    kind: ClassVar[str] = "any"  # what it answers with: "classification" codewords, "regression" real vectors

    @abstractmethod
    def fit(self, request: Request) -> Answer:
        """Answer a request."""

    def check(self) -> None:
        """Raise where a parameter has no meaning; called once before boosting."""


# Up to this many values exact histograms cost next to nothing; beyond, lanes of 32 bits are half the memory traffic.
SMALL = 300_000

# ---- trees ----------------------------------------------------------------------------------------------------------


@dataclass(eq=False, repr=False)
class TreeLearner(Learner):
    """Trees of the compiled engine.

    Parameters
    ----------
    max_depth : int or None, default=2
        Splits on the longest path from the root; None for no limit.
    max_leaves : int, str or None, default=None
        Leaves at most; None for no limit. A string like ``"12(K-1)"`` is a number that grows with the classes.
    min_samples_leaf : int, default=1
        Training rows of positive weight in every leaf.
    growth : {"level", "best"}, default="level"
        Split the oldest node first, or the one that gains most.
    """

    max_depth: int | None = 2
    max_leaves: int | str | None = None
    min_samples_leaf: int = 1
    growth: str = "level"

    score: ClassVar[str]

    def check(self) -> None:
        """Raise where a limit has no meaning."""
        check_number("max_depth", self.max_depth, int, 1, none=True)
        check_number("max_leaves", self.leaves(2), int, 2, none=True)
        check_number("min_samples_leaf", self.min_samples_leaf, int, 1)
        check_choice("growth", self.growth, ("level", "best"))

    def fit(self, request: Request) -> Answer:
        """Grow a tree and give its leaves values."""
        grown = self.grow(request, *self.statistics(request))
        values = self.leaf_values(grown.tree, grown.leaf_sums, request)  # (L, d)
        return Answer(
            TreeHypothesis(grown.tree, values), LeafOutputs(values, grown.leaf_of_row, request.data.n_threads)
        )

    def grow(self, request: Request, statistics: engine.Dense | engine.OneHot, leaf_statistics: Array) -> engine.Grown:
        """A tree for these statistics."""
        return engine.grow(
            request.data.binned,
            statistics,
            self.score,
            self.options(request.data, request.seed),
            leaf_statistics,
            request.rows,
            request.features,
            request.data.n_threads,
        )

    @abstractmethod
    def statistics(self, request: Request) -> tuple[engine.Dense | engine.OneHot, Array]:
        """What splits are found with, and what is summed over the leaves."""

    @abstractmethod
    def leaf_values(self, tree: engine.Tree, sums: Array, request: Request) -> Array:
        """Leaf sums (L, m) → leaf values (L, d)."""

    def leaves(self, K: int) -> Any:
        """`max_leaves` for K classes."""
        budget = re.fullmatch(r"(\d+)\(K-1\)", self.max_leaves) if isinstance(self.max_leaves, str) else None
        return self.max_leaves if budget is None else max(2, int(budget[1]) * (K - 1))

    def options(self, data: TrainingSet, seed: int) -> engine.Growth:
        """How the engine is to grow."""
        return engine.Growth(
            max_depth=self.max_depth or 0,
            max_leaves=self.leaves(data.K) or 0,
            min_samples_leaf=self.min_samples_leaf,
            best_first=self.growth == "best",
            seed=seed,
        )


def nothing(request: Request) -> Array:
    """No statistics to sum over the leaves, (n, 0)."""
    return np.empty((request.data.n, 0))


def one_hot_sums(statistics: engine.OneHot, grown: engine.Grown, rows: AnyArray | None) -> Array:
    """Sums of one-hot statistics over the leaves, (L, m)."""
    used = slice(None) if rows is None else rows
    cells = grown.leaf_of_row[used].astype(np.intp) * statistics.m + statistics.classes[used]
    sums = np.bincount(cells, statistics.weight[used], grown.tree.n_leaves * statistics.m)
    return sums.reshape(-1, statistics.m).astype(np.float64, copy=False)


def nearest_sums(tree: engine.Tree, sums: Array) -> Array:
    """Leaf sums, where a leaf that sums to zero takes those of its nearest ancestor that does not."""
    if sums.any(axis=1).all():
        return sums
    all_sums = tree.node_sums(sums)  # (N, m)
    for node in reversed(tree.children_first()):
        for child in tree.nodes["left"][node] + np.arange(2):
            if not all_sums[child].any():
                all_sums[child] = all_sums[node]
    is_leaf = tree.nodes["feature"] < 0
    return all_sums[is_leaf][np.argsort(tree.nodes["left"][is_leaf])]


@dataclass(eq=False, repr=False)
class VectorTree(TreeLearner):
    """Leaves are unit vectors: the leaf ΣG / ‖ΣG‖, the node score ‖ΣG‖. With one coordinate, ±1.

    Examples
    --------
    >>> VectorTree(max_depth=3).get_params()["max_depth"]
    3
    """

    score: ClassVar[str] = "norm"

    def statistics(self, request: Request) -> tuple[engine.Dense, Array]:
        """The gradient."""
        return engine.Dense(request.G), request.G

    def leaf_values(self, tree: engine.Tree, sums: Array, request: Request) -> Array:
        """ΣG / ‖ΣG‖."""
        sums = nearest_sums(tree, sums)
        largest = np.abs(sums).max(axis=1, keepdims=True)
        sums = np.divide(sums, largest, out=np.zeros_like(sums), where=largest > 0)  # squares cannot overflow now
        norm = np.linalg.norm(sums, axis=1, keepdims=True)
        return np.divide(sums, norm, out=np.zeros_like(sums), where=norm > 0)


@dataclass(eq=False, repr=False)
class Stump(VectorTree):
    """One split. With one coordinate the two leaves answer ±1, the classical decision stump."""

    max_depth: int | None = 1


@dataclass(eq=False, repr=False)
class NewtonTree(TreeLearner):
    """Real-vector leaves ΣG / (Σh + l2): Newton steps, or least squares where no curvature is asked for.

    Parameters
    ----------
    l2 : float, default=1.0
        Added to every curvature sum.
    """

    l2: float = 1.0

    score: ClassVar[str] = "newton"
    kind: ClassVar[str] = "regression"

    def check(self) -> None:
        """Raise where a limit or l2 has no meaning."""
        super().check()
        check_number("l2", self.l2, float, 0.0)

    def options(self, data: TrainingSet, seed: int) -> engine.Growth:
        """How the engine is to grow."""
        return replace(super().options(data, seed), l2=float(self.l2))

    def statistics(self, request: Request) -> tuple[engine.Dense, Array]:
        """The gradient and the curvature."""
        h = request.data.weight if request.curvature is None else request.curvature
        both = np.column_stack([request.G, h])  # (n, d + 1)
        return engine.Dense(both), both

    def leaf_values(self, tree: engine.Tree, sums: Array, request: Request) -> Array:
        """ΣG / (Σh + l2)."""
        h = sums[:, -1:] + self.l2
        return np.divide(sums[:, :-1], h, out=np.zeros_like(sums[:, :-1]), where=h > 0)


@dataclass(eq=False, repr=False)
class RegressionTree(NewtonTree):
    """Least squares: `NewtonTree` whose leaves are plain weighted means, without l2."""

    l2: float = 0.0


@dataclass(eq=False, repr=False)
class SketchTree(NewtonTree):
    """The tree of `SketchedNewton`: best-first, limits that suit the data, fast 32-bit lanes for many rows.

    Parameters
    ----------
    max_leaves : int, "auto" or None, default="auto"
        ``"auto"`` is one leaf for about 128 rows, at least 16 and at most 255.
    min_samples_leaf : int or "auto", default="auto"
        ``"auto"`` is 1 up to 1000 rows and 5 beyond.
    l2 : float or "auto", default="auto"
        ``"auto"`` is 10 / K for fewer than ten classes and 1 beyond.
    """

    max_depth: int | None = None
    max_leaves: int | str | None = "auto"
    min_samples_leaf: int | str = "auto"  # type: ignore[assignment]
    growth: str = "best"
    l2: float | str = "auto"  # type: ignore[assignment]

    def check(self) -> None:
        """Raise where a limit has no meaning."""
        NewtonTree.check(self.suited(1000, 10))

    def suited(self, n: int, K: int) -> NewtonTree:
        """The same tree with what suits n rows of K classes."""
        leaves = min(max(n // 128, 16), 255) if self.max_leaves == "auto" else self.max_leaves
        least = (1 if n <= 1000 else 5) if self.min_samples_leaf == "auto" else self.min_samples_leaf
        l2 = max(1.0, 10.0 / K) if self.l2 == "auto" else self.l2
        return NewtonTree(self.max_depth, leaves, least, self.growth, l2)

    def options(self, data: TrainingSet, seed: int) -> engine.Growth:
        """How the engine is to grow."""
        return replace(self.suited(data.n, data.K).options(data, seed), bits=64 if data.X.size < SMALL else 32)

    def leaf_values(self, tree: engine.Tree, sums: Array, request: Request) -> Array:
        """ΣG / (Σh + l2)."""
        return self.suited(request.data.n, request.data.K).leaf_values(tree, sums, request)


class NamesClasses(TreeLearner):
    """Trees whose leaves name one class and answer with its codeword."""

    kind: ClassVar[str] = "classification"

    def fit(self, request: Request) -> Answer:
        """Grow a tree and let its leaves name classes."""
        statistics, leaf_statistics = self.statistics(request)
        grown = self.grow(request, statistics, leaf_statistics)
        sums = (
            one_hot_sums(statistics, grown, request.rows) if isinstance(statistics, engine.OneHot) else grown.leaf_sums
        )
        names = nearest_sums(grown.tree, sums).argmax(axis=1)  # (L,)
        hypothesis = TreeHypothesis(grown.tree, request.Y[names])
        outputs = LeafOutputs(hypothesis.values, grown.leaf_of_row, request.data.n_threads)
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


@dataclass(eq=False, repr=False)
class SignTree(TreeLearner):
    """Leaves hold a sign per coordinate; the node score is Σ_j |ΣG_j| (Hamming trees)."""

    score: ClassVar[str] = "sign"
    kind: ClassVar[str] = "product"

    def statistics(self, request: Request) -> tuple[engine.Dense, Array]:
        """The gradient."""
        return engine.Dense(request.G), request.G

    def leaf_values(self, tree: engine.Tree, sums: Array, request: Request) -> Array:
        """sign(ΣG_j)."""
        return np.sign(nearest_sums(tree, sums))


@dataclass(eq=False, repr=False)
class HammingTree(SignTree):
    """`SignTree` grown best first to a budget of 12 leaves; with one coordinate, a binary tree of that size."""

    max_depth: int | None = None
    max_leaves: int | str | None = 12
    growth: str = "best"


@dataclass(eq=False, repr=False)
class SubsetTree(HammingTree):
    """Leaves hold the set of plausible coordinates: 1 where ΣG_j > 0, 0 elsewhere (AdaBoost.M2 and MR).

    Where the rows of G sum to zero, as they do for losses of score differences, that is as good as signs. With one
    coordinate, ±1.
    """

    def leaf_values(self, tree: engine.Tree, sums: Array, request: Request) -> Array:
        """1 or 0."""
        signs = np.sign(nearest_sums(tree, sums))
        return signs if signs.shape[1] == 1 else (signs > 0).astype(np.float64)


@dataclass(eq=False, repr=False)
class IndexStump(Learner):
    """A stump on [x, k], the features and the number of the class: ±1 by one feature, or by the class alone.

    What the NIPS version of MCBoost boosts AdaBoost.MH with: an answer by a feature is the same for all classes.

    Parameters
    ----------
    min_samples_leaf : int, default=1
        Training rows of positive weight in every leaf.
    """

    min_samples_leaf: int = 1

    kind: ClassVar[str] = "product"

    def check(self) -> None:
        """Raise where the limit has no meaning."""
        check_number("min_samples_leaf", self.min_samples_leaf, int, 1)

    def fit(self, request: Request) -> Answer:
        """The best stump on a feature, or the best split of the classes, whichever gains more; ties to the feature."""
        d = request.G.shape[1]
        by_feature = replace(request, G=request.G.sum(axis=1, keepdims=True))  # (n, 1)
        answer = Stump(min_samples_leaf=self.min_samples_leaf).fit(by_feature)
        rows = slice(None) if request.rows is None else request.rows
        signs, gain = split_of_coordinates(request.G[rows].sum(axis=0))
        assert isinstance(answer.hypothesis, TreeHypothesis)
        if float(np.vdot(by_feature.G[rows], answer.outputs[rows])) >= gain:
            values = np.repeat(answer.hypothesis.values, d, axis=1)  # (2, d)
            return Answer(TreeHypothesis(answer.hypothesis.tree, values), np.repeat(answer.outputs, d, axis=1))
        tree = engine.single_leaf(request.data.n)
        return Answer(TreeHypothesis(tree, signs[None, :]), np.tile(signs, (request.data.n, 1)))


def split_of_coordinates(sums: Array) -> tuple[Array, float]:
    """The best stump on the number of the coordinate: ±1 up to some j, ±1 beyond, (d,), and its gain Σ_j h_j sums_j."""
    left = np.cumsum(sums)
    gains = np.abs(left) + np.abs(left[-1] - left)  # (d,), the last of them without a split
    j = int(gains.argmax())
    signs = np.where(np.arange(len(sums)) <= j, np.sign(left[j]), np.sign(left[-1] - left[j]))
    return signs, float(gains[j])


# ---- other learners -------------------------------------------------------------------------------------------------


@dataclass(eq=False, repr=False)
class LinearRegressor(Learner):
    """Least squares on the one feature that explains most: h(x) = a x_f + b with a, b (d,).

    All features are tried; the one with the largest explained sum of squares wins. Missing values count as the
    feature's mean.
    """

    kind: ClassVar[str] = "regression"

    def fit(self, request: Request) -> Answer:
        """Regress the gradient on every feature, keep the best."""
        data, h = request.data, request.data.weight if request.curvature is None else request.curvature
        rows = slice(None) if request.rows is None else request.rows
        features = np.arange(data.X.shape[1]) if request.features is None else request.features
        fits = [self._regress(data.X[rows, f], request.G[rows], h[rows], int(f)) for f in features]
        best = max(range(len(fits)), key=lambda i: fits[i][0])  # ties: the lower feature
        hypothesis = fits[best][1]
        return Answer(hypothesis, hypothesis.outputs(data.X))

    @staticmethod
    def _regress(x: AnyArray, G: Array, h: Array, feature: int) -> tuple[float, LinearHypothesis]:
        """Explained sum of squares and fit of the targets G / h with weights h; weighted sums need G alone."""
        x = x.astype(np.float64)
        known = ~np.isnan(x)
        total, known_total = h.sum(), h[known].sum()
        centre = float(h[known] @ x[known] / known_total) if known_total > 0 else 0.0
        x = np.where(known, x - centre, 0.0)
        intercept = G.sum(axis=0) / total if total > 0 else np.zeros(G.shape[1])  # (d,)
        moment, spread = x @ G, float(h @ (x * x))  # (d,), scalar; Σ h x = 0
        slope = moment / spread if spread > 0 else np.zeros(G.shape[1])
        explained = float(moment @ slope + total * intercept @ intercept)
        return explained, LinearHypothesis(feature, centre, slope, intercept)


@dataclass(eq=False, repr=False)
class SklearnLearner(Learner):
    """Any scikit-learn classifier or regressor whose ``fit`` takes ``sample_weight``.

    A classifier is trained on the labels with the boosting weights and answers with codewords (±1 for one coordinate);
    a regressor is fitted to the gradient by least squares (to G / h with weights h where there is a curvature).

    Parameters
    ----------
    estimator : estimator object
        Cloned in every round; its ``random_state``, if it has one and it is None, is set from the booster's.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> SklearnLearner(DecisionTreeClassifier(max_depth=2))
    SklearnLearner(estimator=DecisionTreeClassifier(max_depth=2))
    """

    estimator: Any

    def check(self) -> None:
        """Raise unless the estimator is a classifier or regressor that takes weights."""
        if not is_estimator(self.estimator):
            raise TypeError(f"estimator={self.estimator!r} must be a scikit-learn classifier or regressor.")
        if not has_fit_parameter(self.estimator, "sample_weight"):
            raise TypeError(f"estimator={self.estimator!r} does not take sample_weight in fit; boosting needs it.")

    def fit(self, request: Request) -> Answer:
        """Train a clone."""
        estimator = clone(self.estimator)
        if "random_state" in estimator.get_params() and estimator.get_params()["random_state"] is None:
            estimator.set_params(random_state=request.seed % 2**31)
        rows = np.arange(request.data.n) if request.rows is None else request.rows
        return (self._classifier if is_classifier(estimator) else self._regressor)(estimator, request, rows)

    @staticmethod
    def _classifier(estimator: Any, request: Request, rows: AnyArray) -> Answer:
        rows = rows[request.weight[rows] > 0]
        weight = request.weight[rows]
        estimator.fit(request.data.X[rows], request.labels[rows], sample_weight=weight / weight.mean())
        names = estimator.predict(request.data.X)
        return Answer(ClassifierHypothesis(estimator, request.Y), request.Y[names], names)

    @staticmethod
    def _regressor(estimator: Any, request: Request, rows: AnyArray) -> Answer:
        h = request.data.weight if request.curvature is None else request.curvature
        rows = rows[h[rows] > 0]
        targets = request.G[rows] / h[rows, None]  # (n, d)
        targets = targets[:, 0] if targets.shape[1] == 1 else targets
        estimator.fit(request.data.X[rows], targets, sample_weight=h[rows])
        hypothesis = RegressorHypothesis(estimator, request.G.shape[1])
        return Answer(hypothesis, hypothesis.outputs(request.data.X))


def is_estimator(value: Any) -> bool:
    """Whether this is a scikit-learn classifier or regressor."""
    return (
        hasattr(value, "__sklearn_tags__")
        and not isinstance(value, type)
        and (is_classifier(value) or is_regressor(value))
    )


LEARNERS: dict[str, type[Learner]] = {
    "vector-tree": VectorTree,
    "newton-tree": NewtonTree,
    "regression-tree": RegressionTree,
    "sketch-tree": SketchTree,
    "class-tree": ClassTree,
    "info-tree": InfoTree,
    "gini-tree": GiniTree,
    "greedy-tree": GreedyTree,
    "greedy-info-tree": GreedyInfoTree,
    "sign-tree": SignTree,
    "hamming-tree": HammingTree,
    "subset-tree": SubsetTree,
    "index-stump": IndexStump,
    "stump": Stump,
    "linear": LinearRegressor,
}


def as_learner(value: Any) -> Learner:
    """A learner from its name, from itself, or from a scikit-learn classifier or regressor.

    Examples
    --------
    >>> as_learner("stump")
    Stump()
    """
    if is_estimator(value):
        return SklearnLearner(value)
    return resolve(value, LEARNERS, Learner, "learner")
