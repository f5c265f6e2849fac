"""Optimizers: how the weak learner is asked in a round, and what becomes of its answer, F ← F + α h.

`GradientDescent` asks for one vector-valued h; `CoordinateDescent` for a scalar h in the best or the next coordinate;
`AllCoordinates` for a scalar h in each; `Newton` for a vector-valued h and gives the learner the curvature as well.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ._parts import Part, check_choice, resolve
from ._typing import Array
from .hypotheses import Hypothesis, LeafOutputs
from .losses import OneVsAll

if TYPE_CHECKING:
    from .boosting import Gradient, Run
    from .learners import Answer
    from .steps import Ray

# A direction whose edge is below this part of the largest possible edge leads nowhere but into rounding errors.
MIN_EDGE = 1e-12


@dataclass(frozen=True, eq=False)
class Update:
    """One summand of a round: F += α h, in all coordinates or in one.

    Attributes
    ----------
    outputs : (n, d) or (n, 1)
    edge : as the step measures it, otherwise Σ⟨G, h⟩ / (Σ‖G‖ · max‖h‖); at most 1
    error : the learner's weighted error where the step asks for it
    drop : α → the factor by which a bound on the training error changes with a step α, or None where theory has none
    share : the part of the risk that this update is about; the rest does not change
    """

    hypothesis: Hypothesis
    outputs: Array | LeafOutputs
    alpha: float
    edge: float
    perfect: bool
    coordinate: int | None = None
    error: float | None = None
    drop: Callable[[float], float] | None = None
    share: float = 1.0


class Optimizer(Part):
    """How a round is made."""

    dtype: ClassVar[type] = np.float64  # of F and of the codewords

    @abstractmethod
    def propose(self, run: Run) -> list[Update]:
        """The updates of the next round; none where the learner found no direction that decreases the risk."""

    def check(self, run: Run) -> None:
        """Raise where the parts do not go together; called once before boosting."""


@dataclass(eq=False, repr=False)
class GradientDescent(Optimizer):
    """Functional gradient descent (GD-MCBoost): one h with values in R^d follows the whole gradient."""

    def propose(self, run: Run) -> list[Update]:
        """One vector-valued update."""
        return step_along(run, run.gradient())


@dataclass(eq=False, repr=False)
class CoordinateDescent(Optimizer):
    """Coordinate descent (CD-MCBoost): one scalar h in one coordinate of F.

    Parameters
    ----------
    schedule : {"best", "cyclic"}, default="best"
        ``"best"`` fits every coordinate and keeps the one with the lowest risk after its step (the journal version);
        ``"cyclic"`` takes coordinate t mod d in round t (the conference version), d times cheaper a round.
    """

    schedule: str = "best"

    def check(self, run: Run) -> None:
        """Raise where the schedule is unknown."""
        check_choice("schedule", self.schedule, ("best", "cyclic"))

    def propose(self, run: Run) -> list[Update]:
        """One update of one coordinate."""
        gradient, d = run.gradient(), run.Y.shape[1]
        if self.schedule == "cyclic":
            # A coordinate without an edge is passed over; the round ends when none has one.
            for j in (run.round + np.arange(d)) % d:
                if update := step_along(run, gradient, int(j)):
                    return update
            return []
        candidates = [update for j in range(d) for update in step_along(run, gradient, j)]
        return [min(candidates, key=run.log_risk_after)] if candidates else []  # ties: the lower coordinate


@dataclass(eq=False, repr=False)
class AllCoordinates(Optimizer):
    """Every round fits a scalar h in each coordinate.

    Parameters
    ----------
    shared_step : bool, default=True
        One step for all coordinates, along the vector they form; otherwise a step for each, exact where the loss
        decouples over coordinates (one-vs-all).
    """

    shared_step: bool = True

    def propose(self, run: Run) -> list[Update]:
        """An update of every coordinate that has an edge."""
        gradient, d = run.gradient(), run.Y.shape[1]
        if not self.shared_step:
            return self._separate(run, gradient)
        answers = [run.learner.fit(run.request(gradient, j)) for j in range(d)]
        outputs = np.column_stack([answer.outputs for answer in answers])  # (n, d)
        edge = normalised_edge(gradient.G, outputs)
        stride = run.stride(outputs)
        if edge <= MIN_EDGE or stride.alpha <= 0:
            return []
        return [
            Update(answer.hypothesis, answer.outputs, stride.alpha, edge, stride.perfect, j)
            for j, answer in enumerate(answers)
        ]

    @staticmethod
    def _separate(run: Run, gradient: Gradient) -> list[Update]:
        """A step for each; where the loss decouples, K boosters side by side that end one by one."""
        sizes = np.abs(gradient.G).sum(axis=0)  # (d,)
        decouples = isinstance(run.loss, OneVsAll) and run.model.code.canonical
        updates = []
        for j in range(run.Y.shape[1]):
            if j in run.finished:
                continue
            if not decouples:
                updates += step_along(run, gradient, j)
                continue
            update = step_along(run, gradient, j, ray_of=run.binary_ray)
            if update and update[0].perfect:
                run.finished.add(j)
            all_done = len(run.finished) == run.Y.shape[1]
            updates += [replace(u, share=sizes[j] / sizes.sum(), perfect=all_done) for u in update]
        return updates


@dataclass(eq=False, repr=False)
class Newton(Optimizer):
    """Gradient descent with curvature: the learner sees G and the trace of the Hessian in F, h_i = tr ∇²L_i.

    The trace bounds every eigenvalue, so a leaf ΣG / (Σh + l2) of a `NewtonTree` never overshoots.
    """

    def check(self, run: Run) -> None:
        """Raise unless the loss is convex and has second derivatives."""
        if not run.loss.convex:
            raise ValueError(f"optimizer='newton' needs a convex loss; loss={run.loss!r} is not. Use 'gradient'.")
        run.curvature()

    def propose(self, run: Run) -> list[Update]:
        """One vector-valued update."""
        return step_along(run, run.gradient(scaled=False), curvature=run.curvature())


def step_along(
    run: Run,
    gradient: Gradient,
    coordinate: int | None = None,
    curvature: Array | None = None,
    ray_of: Callable[[Answer, Any, Gradient], Ray] | None = None,
) -> list[Update]:
    """Ask the learner, choose the step: one update, or none where there is no edge."""
    request = run.request(gradient, coordinate, curvature)
    answer = run.learner.fit(request)
    edge = None if run.step.measures_edge else normalised_edge(request.G, answer.outputs)
    if edge is not None and edge <= MIN_EDGE:
        return []
    stride = run.step.length((ray_of or run.ray_of)(answer, coordinate, gradient))
    edge = stride.edge if edge is None else edge
    if stride.alpha <= 0 or edge is None or edge <= MIN_EDGE:
        run.refusal = stride.stop
        return []
    outputs = answer.compact if coordinate is None else answer.outputs
    return [
        Update(answer.hypothesis, outputs, stride.alpha, edge, stride.perfect, coordinate, stride.error, stride.drop)
    ]


def normalised_edge(G: Array, outputs: Array) -> float:
    """Σ⟨G, h⟩ / (Σ‖G‖ · max‖h‖): 1 for a unit h that points along G everywhere, 0 for no edge at all."""
    lengths = (np.sqrt(np.einsum("nd,nd->n", A, A)) for A in (G, outputs))  # (n,) each
    most = next(lengths).sum() * next(lengths).max()
    return float(np.vdot(G, outputs) / most) if most > 0 else 0.0


OPTIMIZERS: dict[str, type[Optimizer]] = {
    "gradient": GradientDescent,
    "coordinate": CoordinateDescent,
    "all-coordinates": AllCoordinates,
    "newton": Newton,
}


def as_optimizer(value: Any) -> Optimizer:
    """An optimizer from its name, or from itself.

    Examples
    --------
    >>> as_optimizer("coordinate")
    CoordinateDescent()
    """
    return resolve(value, OPTIMIZERS, Optimizer, "optimizer")
