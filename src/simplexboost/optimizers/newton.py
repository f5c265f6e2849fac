"""Newton's method: the learner gets the curvature as well as the gradient."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._parts import check_number
from ..boosting.run import Run, Update
from ..learners.newton_trees import single
from .asking import MIN_EDGE, ask_each, binary_request, direction, gradient_of, normalised_edge, ray_along, step_along
from .base import Optimizer


@dataclass(eq=False, repr=False)
class Newton(Optimizer):
    """Gradient descent with curvature: the learner gets G and the trace of the Hessian in F, h_i = tr ∇²L_i.

    The trace is an upper bound of every eigenvalue, so a leaf ΣG / (Σh + l2) of a `NewtonTree` takes no step that is
    too long for the curvature.

    Examples
    --------
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = sb.BoostingClassifier(optimizer=Newton(), learner="newton-tree", step="fixed", n_estimators=20).fit(X, y)
    >>> clf.score(X, y) > 0.95
    True
    """

    def check(self, run: Run) -> None:
        """Raise unless the loss is convex and has second derivatives."""
        if not run.loss.convex:
            raise ValueError(f"optimizer='newton' needs a convex loss; loss={run.loss!r} is not. Use 'gradient'.")
        run.objective.curvature(run.U)

    def propose(self, run: Run) -> list[Update]:
        """One vector-valued update."""
        return step_along(run, gradient_of(run, scaled=False), curvature=run.objective.curvature(run.U))


@dataclass(eq=False, repr=False)
class NewtonCoordinates(Optimizer):
    """LogitBoost: a scalar regressor in each coordinate, fitted to the Newton step of its class by least squares.

    The regression of class k has weights p(1−p) and targets (1[c=k] − p) / p(1−p), which are clipped. The step is
    (K−1)/K times the regressors; centred codewords centre the scores.

    Parameters
    ----------
    clip : float, default=4.0
        The largest absolute value of a target; larger ones are cut.

    Examples
    --------
    >>> import simplexboost as sb
    >>> sb.LogitBoostClassifier(clip=3.0).parts().optimizer
    NewtonCoordinates(clip=3.0)
    """

    clip: float = 4.0

    def check(self, run: Run) -> None:
        """Raise unless the loss is logistic and every coordinate is a class."""
        check_number("clip", self.clip, float, 0.0, open_low=True)
        if not run.loss.likelihood or not run.model.code.symmetric:
            raise ValueError(
                "optimizer='newton-coordinates' needs loss='logistic' without costs and canonical codewords, not "
                f"loss={run.loss!r} and codewords of shape {run.Y.shape}."
            )

    def propose(self, run: Run) -> list[Update]:
        """An update of every coordinate that has an edge."""
        weight = run.data.weight[:, None]
        R = gradient_of(run, scaled=False).G / weight  # (n, K), 1[c=k] − p
        h = np.maximum(np.abs(R) * (1 - np.abs(R)), 1e-12)  # p(1−p)
        G = weight * single(h * np.clip(R / h, -self.clip, self.clip))
        h = weight * single(h)
        K = len(run.Y)
        answers = ask_each(run, [binary_request(run, G[:, k], h[:, k]) for k in range(K)])
        edges = [normalised_edge(run.data.engine, G[:, [k]], answer.outputs) for k, answer in enumerate(answers)]
        outputs = np.column_stack([answer.outputs for answer in answers])  # (n, K)
        alpha = (K - 1) / K * run.step.length(ray_along(run, lambda: direction(run, outputs))).alpha
        found = [(k, a, edge) for k, (a, edge) in enumerate(zip(answers, edges, strict=True)) if edge > MIN_EDGE]
        return [Update(a.hypothesis, a.outputs, alpha, edge, False, k) for k, a, edge in found]
