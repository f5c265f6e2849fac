"""What is asked of a weak learner, what it answers, and what a weak learner is."""

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
    """Where the examples pull: what a learner is to follow.

    Attributes
    ----------
    G : (n, d) minus the gradient in F: the learner should make Σ_i ⟨G_i, h(x_i)⟩ large
    labels, weight : (n,) the same for a classifier that names one class per example: which, and how much it matters
    single : whether labels and weights say it all: G Yᵀ is the weight at the label, up to a constant in every row
    gains : (n, K) G Yᵀ, up to a positive factor and a constant in every row, where it is at hand; else None
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
    """A pull of given arrays."""

    G: Array
    labels: Labels
    weight: Array
    single: bool = False
    gains: Array | None = None


@dataclass(frozen=True, eq=False)
class Sketched:
    """A pull of many coordinates as the engine sees it: few statistics for the splits, all coordinates in the leaves.

    Attributes
    ----------
    statistics : (n, s + 1) the gradient along s directions, and the curvature along them
    leaves : the grown tree and the learner's l2_regularization → leaf values (L, d)
    sparse : whether most of these values are zero
    """

    statistics: Array
    leaves: Callable[[Grown, float], AnyArray]
    sparse: bool = False


@dataclass(frozen=True, eq=False)
class Request:
    """The question to a weak learner.

    Attributes
    ----------
    data : TrainingSet
    pull : where the examples pull
    Y : (K, d) what a learner that names class k answers with, row k; ±1 for one coordinate
    curvature : (n,) Σ of the Hessian's diagonal, or None where only the gradient is followed
    rows, features : ascending numbers the learner may use, or None for all
    seed : for learners that draw at random
    sketched : the pull in few statistics, for trees that take it so; else None
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
        """How much naming it matters, (n,)."""
        return self.pull.weight

    @property
    def h(self) -> Array:
        """What an example weighs in a regression on G / h, (n,): its curvature, or its sample weight where none is."""
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
    compact : the outputs as they were given, an array or `LeafOutputs`
    classes : (n,) the class named for every row, where the outputs are codewords of classes; else None
    edge : how well the outputs follow the pull, at most 1, where the learner knows; else None
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

    takes_sketches: ClassVar[bool] = False  # whether it answers requests that have a sketch
    kind: ClassVar[str] = "any"  # what it answers with: "classification" codewords, "regression" real vectors

    @abstractmethod
    def fit(self, request: Request) -> Answer:
        """Answer a request."""

    def check(self) -> None:
        """Raise where a parameter has no meaning; called once before boosting."""
