"""Defines the base class of weak learners, their input and output, and scikit-learn's estimators as weak learners."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils.validation import has_fit_parameter

from ..._util.arrays import AnyArray, Array, Labels
from ..._util.compat import cached
from ..._util.messages import name_in_errors
from ..._util.params import Part
from ...model.code import Gradient
from ...model.hypotheses import ClassifierHypothesis, Hypothesis, LeafOutputs, RegressorHypothesis
from ...tables.training_set import TrainingSet


@dataclass(frozen=True, eq=False)
class Request:
    """The input of a weak learner in one round: training rows, negative gradient and codewords.

    Attributes
    ----------
    data : TrainingSet
        The training rows, binned, with their sample weights.
    gradient : Gradient
        The negative gradient of the risk, to which the hypothesis is fitted.
    Y : array of shape (K, d)
        The coding matrix: if a hypothesis predicts class k, its output is row k (±1 if only one coordinate is fitted).
    curvature : array of shape (n,) or None, default=None
        For every row the sum of the Hessian's diagonal, or None if only the gradient is used.
    rows, features : arrays or None, default=None
        The row indices and the feature indices that the learner may use, ascending; None stands for all.
    seed : int, default=0
        The seed of learners that draw random numbers.

    Examples
    --------
    >>> gradient = Gradient(np.array([0, 1]), np.array([0.5, 2.0]), G=np.array([[0.5], [-2.0]]))
    >>> data = TrainingSet(np.array([[0.0], [1.0]]), np.array([0, 1]), np.ones(2), 2)
    >>> Request(data, gradient, np.array([[1.0], [-1.0]])).weight
    array([0.5, 2. ])
    """

    data: TrainingSet
    gradient: Gradient
    Y: Array
    curvature: Array | None = None
    rows: AnyArray | None = None
    features: AnyArray | None = None
    seed: int = 0

    @property
    def h(self) -> Array:
        """The weights of a regression on G / h, (n,): the curvatures or, if there are none, the sample weights."""
        return self.data.weight if self.curvature is None else self.curvature

    @property
    def used(self) -> AnyArray | slice:
        """An index that selects, in arrays of n rows, the rows that the learner may use."""
        return slice(None) if self.rows is None else self.rows

    G = property(lambda self: self.gradient.G, doc="Minus the gradient in F, (n, d).")
    labels = property(lambda self: self.gradient.labels, doc="The class to name for every example, (n,).")
    weight = property(lambda self: self.gradient.weight, doc="How important it is to name that class, (n,).")


class Answer:
    """The output of a weak learner: a hypothesis, with its outputs on the training rows.

    Parameters
    ----------
    hypothesis : Hypothesis
        The fitted weak hypothesis, which can also predict for new rows.
    outputs : array of shape (n, d), or LeafOutputs
        The outputs on the training rows, or for a tree its leaf values with the leaf index of every row.
    classes : array of shape (n,) or None, default=None
        The predicted class index of every row, if the outputs are codewords of classes.

    Attributes
    ----------
    compact : array or LeafOutputs
        The outputs as they were passed; ``outputs`` is always an array.

    Examples
    --------
    >>> from simplexboost.model.hypotheses import LinearHypothesis
    >>> answer = Answer(LinearHypothesis(0, np.ones(1), np.zeros(1), 0.0), outputs=np.array([[1.0], [2.0]]))
    >>> answer.outputs.shape, answer.classes is None
    ((2, 1), True)
    """

    def __init__(self, hypothesis: Hypothesis, outputs: Array | LeafOutputs, classes: Labels | None = None) -> None:
        self.hypothesis, self.compact, self.classes = hypothesis, outputs, classes

    @cached
    def outputs(self) -> Array:
        """The outputs of the hypothesis on the training rows, as an array (n, d)."""
        return self.compact.dense() if isinstance(self.compact, LeafOutputs) else self.compact


class Learner(Part):
    """The base class of weak learners, which fit a hypothesis h to the negative gradient G (n, d).

    A subclass declares its parameters as annotated class attributes and defines `fit`; cloning, printing, grid search
    and saving are inherited. The base class of tree learners is `TreeLearner`.

    Examples
    --------
    >>> from simplexboost.parts.learners import as_learner
    >>> learner = as_learner("stump")
    >>> isinstance(learner, Learner), learner.kind, learner.takes_categories
    (True, 'any', True)
    """

    table: ClassVar[dict[str, type[Learner]]] = {}  # the learners that have names
    takes_categories: ClassVar[bool] = False  # whether it splits categorical columns by subsets of their categories
    kind: ClassVar[str] = "any"  # its answers: "classification" codewords, "regression" real vectors

    @property
    def refusal(self) -> str | None:
        """The beginning of the error message if the learner cannot take categorical columns; None if it can."""
        return None if self.takes_categories else f"learner={self!r} takes numbers only"

    @abstractmethod
    def fit(self, request: Request) -> Answer:
        """Fit a hypothesis to the negative gradient in ``request``; return it with its outputs on the training rows."""

    def fit_each(self, requests: Sequence[Request]) -> list[Answer]:
        """Fit a hypothesis to each of several requests, which differ only in their gradients and curvatures."""
        return [self.fit(request) for request in requests]

    def resolve(self, data: TrainingSet) -> Learner:
        """Return the learner with every "auto" parameter replaced by its value for these training data."""
        return self

    def check(self) -> None:
        """Raise if a parameter is invalid; called once before boosting."""

    def check_for(self, data: TrainingSet, Y: Array) -> None:
        """Raise if the learner does not suit the training data or the coding matrix Y; called once before boosting."""


class SklearnLearner(Learner):
    """A scikit-learn classifier or regressor as weak learner; its ``fit`` must take ``sample_weight``.

    A classifier is trained on the labels with the boosting weights; the output is the codeword of the predicted class
    (±1 for one coordinate). A regressor fits G / h by weighted least squares; the weights h are curvatures or sample
    weights.

    Parameters
    ----------
    estimator : estimator object
        The classifier or regressor. It is cloned in every round, and a ``random_state`` of None is replaced by a seed
        from the booster's random state.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> clf = sb.SAMMEClassifier(learner=SklearnLearner(DecisionTreeClassifier(max_depth=2)), n_estimators=5)
    """

    estimator: Any

    def check(self) -> None:
        if not is_estimator(self.estimator):
            raise TypeError(f"estimator={self.estimator!r} must be a scikit-learn classifier or regressor.")
        if not has_fit_parameter(self.estimator, "sample_weight"):
            raise TypeError(f"estimator={self.estimator!r} does not take sample_weight in fit; boosting needs it.")

    def fit(self, request: Request) -> Answer:
        X, names_classes = request.data.X, is_classifier(self.estimator)
        rows = np.arange(request.data.n) if request.rows is None else request.rows
        weight = (request.weight if names_classes else request.h)[rows]
        if (weight > 0).any():
            rows, weight = rows[weight > 0], weight[weight > 0]
        else:  # there is nothing to gain: whatever the estimator says, boosting stops
            weight = np.ones(len(rows))
        with name_in_errors(f"learner: {type(self.estimator).__name__}"):
            estimator = clone(self.estimator)
            if "random_state" in estimator.get_params() and estimator.get_params()["random_state"] is None:
                estimator.set_params(random_state=request.seed % 2**31)
            if names_classes:
                estimator.fit(X[rows], request.labels[rows], sample_weight=weight / weight.mean())
                names = estimator.predict(X)
                return Answer(ClassifierHypothesis(estimator, request.Y), request.Y[names], names)
            targets = request.G[rows] / weight[:, None]  # (n, d)
            estimator.fit(X[rows], targets[:, 0] if targets.shape[1] == 1 else targets, sample_weight=weight)
            hypothesis = RegressorHypothesis(estimator, request.G.shape[1])
            return Answer(hypothesis, hypothesis.outputs(X))


def is_estimator(value: Any) -> bool:
    """Tell whether a value is an instance of a scikit-learn classifier or regressor."""
    return (
        hasattr(value, "__sklearn_tags__")
        and not isinstance(value, type)
        and (is_classifier(value) or is_regressor(value))
    )
