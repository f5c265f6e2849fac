"""Defines the base class of optimizers and the steps of a round that they share.

A round goes: gradient → request → the learner's answer → the risk along it (`Ray`) → step → update.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np

from ..._util.arrays import Array, Labels
from ..._util.params import Part
from ...engine import Engine, row_sizes
from ...model.hypotheses import largest
from ...tables.training_set import TrainingSet
from ..learners.base import Answer, Learner, PlainPull, Pull, Request
from ..losses.objective import Gradient, Objective, Rivals, pays
from ..steps.ray import MergedRay, Ray
from .run import Run, Update


class Optimizer(Part):
    """Makes the updates of a round: it says what the weak learner is asked, and turns answers into steps.

    A subclass is a dataclass of parameters that writes `propose`.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from simplexboost import BoostingClassifier
    >>> from simplexboost.parts.optimizers.base import gradient_of, step_along
    >>> from sklearn.datasets import load_iris
    >>> @dataclass(eq=False, repr=False)
    ... class RandomCoordinate(Optimizer):
    ...     def propose(self, run):
    ...         return step_along(run, gradient_of(run), int(run.rng.integers(run.Y.shape[1])))
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = BoostingClassifier(optimizer=RandomCoordinate(), n_estimators=20, random_state=0).fit(X, y)
    >>> clf.score(X, y) > 0.95
    True
    """

    dtype: ClassVar[type] = np.float64  # of F and of the codewords
    candidates: int | None = None  # how many classes beside its own every row keeps scores of; None for all

    @abstractmethod
    def propose(self, run: Run) -> list[Update]:
        """The updates of the next round; none if the learner found no direction that decreases the risk."""

    def objective(self, run: Run) -> Objective:
        """The risk on the training rows of a run, as `propose` needs it."""
        return run.loss.objective(run.data.c, run.data.weight, run.code, run.data.engine)

    def memory(self, data: TrainingSet, learner: Learner, d: int, n_rounds: int) -> float | None:
        """About how many bytes boosting takes beside X at its peak, with codewords of d columns; None if unknown."""
        return None

    def check(self, run: Run) -> None:
        """Raise if the parts do not fit together; called when a run is made, before it has an objective."""

    def resume(self, run: Run) -> None:
        """Recover the optimizer's state from the rounds so far; called once when a run continues a model."""


# An edge below this part of the largest possible one is only rounding errors.
MIN_EDGE = 1e-12
SIGNS = np.array([[1.0], [-1.0]])  # the codewords of a binary request: up, down


def gradient_of(run: Run, scaled: bool = True) -> Gradient:
    """Minus the gradient of the risk, up to a positive factor if `scaled`; its risk, if it has one, is recorded."""
    gradient = run.objective.gradient(run.F, lambda: run.U, run.round, scaled)
    if gradient.risk is not None:
        run.risk_before = gradient.risk
    return gradient


def request_of(run: Run, pull: Pull, curvature: Array | None = None, answers: Array | None = None) -> Request:
    """A request for all coordinates; learners that name class k answer with row k of `answers` (K, d), by default Y."""
    return Request(run.data, pull, run.Y if answers is None else answers, curvature, run.rows, run.features, run.seed())


def binary_request(run: Run, g: Array, curvature: Array | None = None) -> Request:
    """A binary request, whether to go up or down: the labels are the signs of g (n,), the weights its sizes."""
    pull = PlainPull(g[:, None], (g < 0).astype(np.intp), np.abs(g))
    return Request(run.data, pull, SIGNS, curvature, run.rows, run.features, run.seed())


def ask(run: Run, request: Request) -> Answer:
    """The weak learner's answer; raise if it is not finite."""
    return finite(run, run.learner.fit(request))


def ask_each(run: Run, requests: Sequence[Request]) -> list[Answer]:
    """The weak learner's answers to requests of one round; raise if one of them is not finite."""
    return [finite(run, answer) for answer in run.learner.fit_each(requests)]


def finite(run: Run, answer: Answer) -> Answer:
    """The answer; raise if it is not finite."""
    if not math.isfinite(size := largest(answer.hypothesis, answer.compact)):
        raise run.divergence(size)
    return answer


def direction(run: Run, outputs: Array, coordinate: int | None = None) -> Array:
    """A learner's outputs as a direction in scores, W = ½ h Yᵀ (n, K)."""
    if coordinate is None:
        return run.code.forward(outputs)
    return 0.5 * outputs * run.Y[:, coordinate]


def ray_along(run: Run, W: Callable[[], Array], gradient: Gradient | None = None, classes: Labels | None = None) -> Ray:
    """The risk along W (n, K)."""
    return Ray(run.loss, lambda: run.U, run.data.c, run.data.weight, W, gradient, classes, run.data.engine)


def coordinate_ray(run: Run, answer: Answer, j: int, gradient: Gradient, rivals: Callable[[], Rivals | None]) -> Ray:
    """The risk along an answer in coordinate j; rivals that move alike there are merged where that pays.

    `rivals` is asked only then: they take as long as one look at the risk. A constant step looks at none.
    """
    whole = (run.loss, lambda: run.U, run.data.c, run.data.weight, lambda: direction(run, answer.outputs, j), gradient)
    y, engine = run.Y[:, j].astype(np.float64), run.data.engine
    if run.step.constant is not None or not pays(y) or (found := rivals()) is None:
        return Ray(*whole, engine=engine)
    return MergedRay(found.along(y, 0.5 * answer.outputs[:, 0]), *whole, engine=engine)


def binary_ray(run: Run, outputs: Array, k: int) -> Ray:
    """The risk of class k against the rest along outputs (n, 1), if the risk decouples (`decouples`)."""
    loss, U, c = run.loss.binary(run.U, run.data.c, k)
    toward = np.array([1.0, -1.0])
    return Ray(loss, U, c, run.data.weight, lambda: 0.5 * outputs * toward, engine=run.data.engine)


def decouples(run: Run) -> bool:
    """Whether the risk is a sum over coordinates, each of one class against the rest."""
    return run.loss.decouples and run.code.canonical


def step_along(
    run: Run,
    gradient: Gradient,
    coordinate: int | None = None,
    curvature: Array | None = None,
    answers: Array | None = None,
) -> list[Update]:
    """Request all coordinates, or one as a binary problem, and take the step: one update, or none."""
    if coordinate is not None:
        request = binary_request(run, gradient.G[:, coordinate], curvature)
        answer = ask(run, request)
        ray = coordinate_ray(run, answer, coordinate, gradient, lambda: run.loss.rivals(run.U, run.data.c))
        return take_step(run, request, answer, ray, coordinate)
    request = request_of(run, gradient, curvature, answers)
    answer = ask(run, request)
    ray = ray_along(run, lambda: direction(run, answer.outputs), gradient, answer.classes)
    return take_step(run, request, answer, ray)


def take_step(run: Run, request: Request, answer: Answer, ray: Ray, coordinate: int | None = None) -> list[Update]:
    """The step along the ray of an answer: one update, or none if there is no edge."""
    edge = None if run.step.measures_edge else normalised_edge(run.data.engine, request.G, answer.outputs)
    if edge is not None and edge <= MIN_EDGE:
        return []
    stride = run.step.length(ray)
    edge = stride.edge if edge is None else edge
    if stride.alpha <= 0 or edge is None or edge <= MIN_EDGE:
        run.refusal = stride.stop
        return []
    outputs, classes = (answer.compact, answer.classes) if coordinate is None else (answer.outputs, None)
    told = (stride.error, stride.drop, 1.0, classes)
    return [Update(answer.hypothesis, outputs, stride.alpha, edge, stride.perfect, coordinate, *told)]


def step_together(run: Run, gradient: Gradient) -> list[Update]:
    """Request a scalar h in every coordinate, and choose one step for the vector that they form."""
    d = run.Y.shape[1]
    answers = ask_each(run, [binary_request(run, gradient.G[:, j]) for j in range(d)])
    outputs = np.column_stack([answer.outputs for answer in answers])  # (n, d)
    stride = run.step.length(ray_along(run, lambda: direction(run, outputs), gradient))
    edge = normalised_edge(run.data.engine, gradient.G, outputs) if stride.edge is None else stride.edge
    if edge <= MIN_EDGE or stride.alpha <= 0:
        run.refusal = stride.stop
        return []
    told = (stride.error, stride.drop, 1 / d)
    return [
        Update(answer.hypothesis, answer.outputs, stride.alpha, edge, stride.perfect, j, *told)
        for j, answer in enumerate(answers)
    ]


def normalised_edge(engine: Engine, G: Array, outputs: Array) -> float:
    """Σ⟨G, h⟩ / (Σ‖G‖ · max‖h‖): 1 for a unit h that points along G everywhere, 0 for no edge at all."""
    most = engine.rows.total_size(G) * engine.rows.largest(row_sizes(outputs))
    return engine.rows.total(np.einsum("nd,nd->n", G, outputs)) / most if most > 0 else 0.0
