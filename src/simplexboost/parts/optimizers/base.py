"""Defines the base class of optimizers, and the functions that they share.

The stages of a round are: gradient → `Request` → fitted weak learner → risk along its outputs (`Ray`) → step → update.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from ..._util.arrays import Array
from ..._util.params import Part
from ...engine import Engine, row_sizes
from ...model.code import Gradient
from ...model.hypotheses import largest
from ...tables.training_set import TrainingSet
from ..learners.base import Answer, Learner, Request
from ..losses.gamma_phi import ExponentialPhi, Rivals, merging_pays
from ..losses.objective import Objective
from ..steps import Ray
from .run import Run, Update


class Optimizer(Part):
    """The base class of optimizers: in each round, `propose` fits the weak learner and chooses how far F moves.

    A subclass annotates its parameters and defines `propose`.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from simplexboost import BoostingClassifier
    >>> from simplexboost.parts.optimizers.base import gradient_of, step_along
    >>> from sklearn.datasets import load_iris
    >>> class RandomCoordinate(Optimizer):
    ...     def propose(self, run):
    ...         return step_along(run, gradient_of(run), int(run.rng.integers(run.Y.shape[1])))
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = BoostingClassifier(optimizer=RandomCoordinate(), n_estimators=20, random_state=0).fit(X, y)
    >>> clf.score(X, y) > 0.95
    True
    """

    table: ClassVar[dict[str, type[Optimizer]]] = {}  # the optimizers that have names
    dtype: ClassVar[type] = np.float64  # of F and of the codewords
    makes_blocks: ClassVar[bool] = False  # whether `make_rounds` may make rounds

    @property
    def n_candidates(self) -> int | None:
        """The number of classes, besides the true one, whose scores every row stores in training; None for all."""
        return None

    @abstractmethod
    def propose(self, run: Run) -> list[Update]:
        """Return the updates of the next round; an empty list if no direction was found that decreases the risk."""

    def make_rounds(self, run: Run, most: int, before: Callable[[], None]) -> int:
        """Let the engine make up to `most` rounds in one call, if `propose` gives the same model; return how many.

        ``before()`` is called ahead of each round to draw its sample of rows and features. After a result of 0, the
        booster makes the next round by `propose`.
        """
        return 0

    def objective(self, run: Run) -> Objective:
        """Return the risk on the training rows of a run, from which `propose` computes gradients."""
        return run.loss.objective(run.data.c, run.data.weight, run.code, run.data.engine)

    def memory(self, data: TrainingSet, learner: Learner, d: int, n_rounds: int) -> float | None:
        """Estimate the peak memory of boosting in bytes, without X, for d code dimensions; None if unknown."""
        return None

    def check(self, run: Run) -> None:
        """Raise if loss, learner, step or codewords do not suit this optimizer; called before `objective`."""

    def resume(self, run: Run) -> None:
        """Recover the optimizer's state from the rounds so far; called once when a run continues a fitted model."""


# An edge below this part of the largest possible one is only rounding errors.
MIN_EDGE = 1e-12
SIGNS = np.array([[1.0], [-1.0]])  # the codewords of a binary request: up, down


def gradient_of(run: Run, scaled: bool = True) -> Gradient:
    """Return minus the gradient of the risk, up to a positive factor if `scaled`; set `run.risk_before` if known."""
    gradient = run.objective.gradient(run.F, lambda: run.U, len(run.model.round_ends), scaled)
    if gradient.risk is not None:
        run.risk_before = gradient.risk
    return gradient


def binary_gradient(g: Array) -> Gradient:
    """Return the gradient g (n,) along one coordinate as a binary problem: labels g < 0, sample weights abs(g)."""
    return Gradient((g < 0).astype(np.intp), np.abs(g), G=g[:, None])


def ask(run: Run, gradient: Gradient, answers: Array | None = None, curvature: Array | None = None) -> Answer:
    """Return the weak learner fitted to a gradient; for class k its output is `answers[k]`, by default the codeword."""
    seed, Y = int(run.rng.integers(2**63)), run.Y if answers is None else answers
    answer = run.learner.fit(Request(run.data, gradient, Y, curvature, run.rows, run.features, seed))
    if not math.isfinite(size := largest(answer.hypothesis, answer.compact)):
        raise run.divergence(size)
    return answer


def ask_each(run: Run, gradients: Sequence[Gradient], curvatures: Array | None = None) -> list[Answer]:
    """Return a learner fitted to each of the binary gradients; column j of curvatures (n, d) belongs to gradient j."""
    columns = [None] * len(gradients) if curvatures is None else curvatures.T
    answers = run.learner.fit_each(
        [
            Request(run.data, gradient, SIGNS, h, run.rows, run.features, int(run.rng.integers(2**63)))
            for gradient, h in zip(gradients, columns, strict=True)
        ]
    )
    for answer in answers:
        if not math.isfinite(size := largest(answer.hypothesis, answer.compact)):
            raise run.divergence(size)
    return answers


def find_rivals(run: Run) -> Rivals | None:
    """Return the `Rivals` at the run's scores; None unless the loss is an `ExponentialPhi` without costs."""
    loss = run.loss
    is_plain = isinstance(loss, ExponentialPhi) and loss.cost_matrix is None
    return Rivals(loss, run.U, run.data.c) if is_plain else None


def coordinate_ray(run: Run, answer: Answer, j: int, gradient: Gradient, rivals: Callable[[Run], Rivals | None]) -> Ray:
    """Return the risk along outputs in coordinate j of F, with classes of `rivals(run)` merged if that is quicker."""
    y, merged = run.Y[:, j], None
    if run.step.constant is None and merging_pays(y) and (found := rivals(run)) is not None:
        merged = found.along(y.astype(np.float64), 0.5 * answer.outputs[:, 0])
    return run.ray(lambda: 0.5 * answer.outputs * y, gradient, merged=merged)


def step_along(
    run: Run,
    gradient: Gradient,
    coordinate: int | None = None,
    curvature: Array | None = None,
    answers: Array | None = None,
) -> list[Update]:
    """Fit the learner to the gradient, or one coordinate of it, and choose the step; return a list of 0 or 1 update."""
    if coordinate is not None:
        along = binary_gradient(gradient.G[:, coordinate])
        answer = ask(run, along, SIGNS, curvature)
        return take_step(run, along, answer, coordinate_ray(run, answer, coordinate, gradient, find_rivals), coordinate)
    answer = ask(run, gradient, answers, curvature)
    ray = run.ray(lambda: run.code.forward(answer.outputs), gradient, answer.classes)
    return take_step(run, gradient, answer, ray)


def take_step(run: Run, gradient: Gradient, answer: Answer, ray: Ray, coordinate: int | None = None) -> list[Update]:
    """Choose the step along the learner's outputs; return one update in a list, or [] if there is no edge."""
    edge = None if run.step.measures_edge else normalised_edge(run.data.engine, gradient.G, answer.outputs)
    if edge is not None and edge <= MIN_EDGE:
        return []
    stride = run.step.length(ray)
    edge = stride.edge if edge is None else edge
    if stride.alpha <= 0 or edge is None or edge <= MIN_EDGE:
        run.refusal = stride.stop
        return []
    outputs, classes = (answer.compact, answer.classes) if coordinate is None else (answer.outputs, None)
    found = (stride.alpha, edge, stride.perfect, coordinate, stride.error, stride.drop, 1.0, classes)
    return [Update(answer.hypothesis, outputs, *found)]


def step_together(run: Run, gradient: Gradient) -> list[Update]:
    """Fit a scalar learner to every coordinate of the gradient, and choose one step for all; return all updates."""
    answers = ask_each(run, [binary_gradient(g) for g in gradient.G.T])
    whole = Answer(answers[0].hypothesis, np.column_stack([answer.outputs for answer in answers]))  # outputs (n, d)
    return [
        replace(update, hypothesis=a.hypothesis, outputs=a.outputs, coordinate=j, share=1 / len(answers))
        for update in take_step(run, gradient, whole, run.ray(lambda: run.code.forward(whole.outputs), gradient))
        for j, a in enumerate(answers)
    ]


def normalised_edge(engine: Engine, G: Array, outputs: Array) -> float:
    """Return Σ⟨G, h⟩ / (Σ‖G‖ · max‖h‖) for outputs h: 1 if h are unit vectors along G, 0 if there is no edge."""
    most = engine.rows.total_size(G) * engine.rows.largest(row_sizes(outputs))
    return engine.rows.total(np.einsum("nd,nd->n", G, outputs)) / most if most > 0 else 0.0
