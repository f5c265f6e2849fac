"""What is asked of a weak learner, what it answers, and what a weak learner is."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from .._cached import cached
from .._parts import Lazy, Part
from .._typing import AnyArray, Array, Labels
from ..hypotheses import Hypothesis, LeafOutputs
from ..validation import TrainingSet


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

    @property
    def h(self) -> Array:
        """What an example weighs in a regression on G / h, (n,): its curvature, or its sample weight where none is."""
        return self.data.weight if self.curvature is None else self.curvature

    @property
    def used(self) -> AnyArray | slice:
        """The rows the learner may use, as an index."""
        return slice(None) if self.rows is None else self.rows


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

    @cached
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
