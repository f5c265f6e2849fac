"""What a weak learner is, the request that it gets, and the answer that it gives."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol

from .._cached import cached
from .._parts import Part
from .._typing import AnyArray, Array, Labels
from ..boosting.hypotheses import Hypothesis, LeafOutputs
from ..data.training_set import TrainingSet
from ..engine import Grown


class Pull(Protocol):
    """The pull of the examples: the negative gradient that a learner is to follow, in the forms that learners use.

    Attributes
    ----------
    G : (n, d) minus the gradient in F: the learner should make Σ_i ⟨G_i, h(x_i)⟩ large
    labels, weight : (n,) the same for a classifier that names one class per example: which class, and its importance
    single : whether labels and weights contain all of G: up to a constant in every row, G Yᵀ is the weight in the
        column of the label and 0 elsewhere
    gains : (n, K) G Yᵀ, up to a positive factor and a constant in every row, if it is already known; else None
    """

    @property
    def labels(self) -> Labels: ...

    @property
    def weight(self) -> Array: ...

    @property
    def single(self) -> bool: ...

    @property
    def G(self) -> Array: ...

    @property
    def gains(self) -> Array | None: ...


@dataclass(frozen=True, eq=False)
class PlainPull:
    """A pull made of given arrays."""

    G: Array
    labels: Labels
    weight: Array
    single: bool = False
    gains: Array | None = None


@dataclass(frozen=True, eq=False)
class Sketched:
    """A pull of many coordinates as the engine uses it: few statistics for the splits, all coordinates in the leaves.

    Attributes
    ----------
    statistics : (n, s + 1) the negative gradient along s directions, and the curvature along them
    leaves : a function of the grown tree and the learner's l2_regularization that gives the leaf values (L, d)
    sparse : whether most of the leaf values are zero
    """

    statistics: Array
    leaves: Callable[[Grown, float], AnyArray]
    sparse: bool = False


@dataclass(frozen=True, eq=False)
class Request:
    """What a weak learner is asked to fit.

    Attributes
    ----------
    data : TrainingSet
    pull : the negative gradient to follow
    Y : (K, d) the answers of learners that name classes: row k for class k; ±1 for one coordinate
    curvature : (n,) the sum of the Hessian's diagonal, or None if only the gradient is used
    rows, features : ascending numbers of those that the learner may use, or None for all
    seed : for learners that draw at random
    sketched : the pull in few statistics, for trees that can use it; else None
    """

    data: TrainingSet
    pull: Pull
    Y: Array
    curvature: Array | None = None
    rows: AnyArray | None = None
    features: AnyArray | None = None
    seed: int = 0
    sketched: Sketched | None = None

    @property
    def G(self) -> Array:
        """Minus the gradient in F, (n, d)."""
        return self.pull.G

    @property
    def labels(self) -> Labels:
        """The class to name for every example, (n,)."""
        return self.pull.labels

    @property
    def weight(self) -> Array:
        """How important it is to name that class, (n,)."""
        return self.pull.weight

    @property
    def h(self) -> Array:
        """The weights of a regression on G / h, (n,): the curvatures, or the sample weights if there are none."""
        return self.data.weight if self.curvature is None else self.curvature

    @property
    def used(self) -> AnyArray | slice:
        """The rows the learner may use, as an index."""
        return slice(None) if self.rows is None else self.rows


class Answer:
    """A hypothesis and its outputs on the training rows.

    Attributes
    ----------
    hypothesis : Hypothesis
    outputs : (n, d)
    compact : the outputs as the learner gave them, an array or `LeafOutputs`
    classes : (n,) the class named for every row, if the outputs are codewords of classes; else None
    edge : how well the outputs follow the pull, at most 1, if the learner has computed it; else None
    """

    def __init__(
        self,
        hypothesis: Hypothesis,
        outputs: Array | LeafOutputs,
        classes: Labels | None = None,
        edge: float | None = None,
    ) -> None:
        self.hypothesis, self.compact, self.classes, self.edge = hypothesis, outputs, classes, edge

    @cached
    def outputs(self) -> Array:
        """The outputs, (n, d)."""
        return self.compact.dense() if isinstance(self.compact, LeafOutputs) else self.compact


class Learner(Part):
    """A weak learner."""

    takes_sketches: ClassVar[bool] = False  # whether it can fit requests that have a sketch
    takes_categories: ClassVar[bool] = False  # whether it splits categorical columns by subsets of their categories
    kind: ClassVar[str] = "any"  # its answers: "classification" codewords, "regression" real vectors

    @abstractmethod
    def fit(self, request: Request) -> Answer:
        """Answer a request."""

    def check(self) -> None:
        """Raise if a parameter is invalid; called once before boosting."""

    def check_for(self, data: TrainingSet, Y: Array) -> None:
        """Raise if the learner does not suit these data or codewords (K, d); called once before boosting."""


def refusal_of(learner: Learner) -> str | None:
    """Why a learner cannot take categorical columns, as the beginning of a message; None if it can."""
    return None if learner.takes_categories else f"learner={learner!r} takes numbers only"
