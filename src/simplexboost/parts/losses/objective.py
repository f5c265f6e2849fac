"""Evaluates the risk of a loss on training rows, Σ_i w_i L(U_i, c_i) at U = ½ F Yᵀ for weights w, and its gradient."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._util.arrays import AnyArray, Array, Labels
from ..._util.compat import cached
from ...engine import CPU, Engine
from ...model.code import Code, Gradient

if TYPE_CHECKING:
    from .base import Loss

# Exponents are limited to this: exp(700) ≈ 1e304 is four powers of ten below the largest float.
CEILING = 700.0


class Objective:
    """The risk of a loss on a training set: its weighted mean over the rows, computed from scratch in every round.

    Parameters
    ----------
    loss : Loss
        The loss whose weighted mean is the risk.
    c, weight : arrays of shape (n,)
        The true classes (or other targets of the loss) and the positive sample weights.
    code : Code
        The codewords Y (K, d), which map the predictor F to class scores.
    engine : Engine
        Computes matrix products and sums over rows; by default on one thread.

    Examples
    --------
    >>> from simplexboost.model.code import Code
    >>> from simplexboost.parts.losses import Logistic
    >>> round(Objective(Logistic(), np.array([0, 1]), np.ones(2), Code(np.eye(2))).risk(np.zeros((2, 2))), 4)
    0.6931
    """

    def __init__(self, loss: Loss, c: Labels, weight: Array, code: Code, engine: Engine = CPU) -> None:
        self.loss, self.c, self.weight, self.code, self.engine = loss, c, weight, code, engine
        self._weighted = not engine.rows.every(weight == 1.0)

    @cached
    def _buffer(self) -> Array:
        """The memory for the residual (n, K), kept for all rounds, because allocation takes longer than filling it."""
        return np.empty((len(self.c), len(self.code.Y)))

    def gradient(self, F: AnyArray, U: Callable[[], Array], n_rounds: int, scaled: bool = True) -> Gradient:
        """Return minus the gradient of the risk at F (n, d) after `n_rounds` rounds; ``U()`` returns the scores (n, K).

        If `scaled`, the result has a positive factor, which is chosen so that the residual neither overflows nor
        underflows.
        """
        P, log_scale = self._residual(U(), scaled)
        total = self.loss.total(P, self.c, self.engine)
        return self.of_residual(P, None if total is None else self._mean(total, log_scale))

    def _residual(self, U: Array, scaled: bool) -> tuple[Array, float]:
        """Return the residual times sample weights, (n, K), up to a factor, and the logarithm of this factor."""
        if scaled:
            P, log_scale = self.loss.scaled_residual(U, self.c, self.engine, self._buffer)
        else:
            P, log_scale = self.loss.residual(U, self.c), 0.0
        return (np.multiply(P, self.weight[:, None], out=self._buffer) if self._weighted else P), log_scale

    def of_residual(self, P: Array, risk: float | None = None) -> Gradient:
        """Return the `Gradient` for a residual P (n, K) that is already multiplied by the sample weights."""
        return Gradient(*self.loss.question(P, self.c), P, self.code, risk=risk)

    def curvature(self, U: Array) -> Array:
        """Return, for every example, its weight times the trace of the Hessian of its loss in F, (n,)."""
        return self.weight * self.loss.curvature(U, self.c, self.code.Y, self.engine).sum(axis=1)

    def to_device(self, F: Any) -> Any:
        """Return F (n, d) in the memory where the loss reads it fastest: the array itself, or a copy on a GPU."""
        return F

    def follow_votes(self, classes: Labels, step: float, n_rounds: int) -> None:
        """Update what a subclass keeps between rounds, after `step` · codewords of `classes` (n,) was added to F."""

    def rounds_to_replay(self, n_rounds: int) -> int:
        """Return how many last rounds a continued fit repeats to recover what a subclass keeps between rounds."""
        return 0

    def risk(self, F: AnyArray) -> float:
        """Return the weighted mean loss of the training rows at the predictor F (n, d)."""
        return mean_loss(self.loss, self.code, F, self.c, self.weight, self.engine)

    def on_device(self, X: AnyArray, c: Labels, weight: Array, engine: Engine) -> Any:
        """Return X in device memory and an `Objective` of its rows, except those with target −1; None if impossible."""
        return None

    def _mean(self, total: float, log_scale: float) -> float:
        """Return the mean loss, exp(log_scale) · total over the sum of weights; limited so that it is finite."""
        return total * math.exp(min(log_scale, CEILING)) / self._weights

    @cached
    def _weights(self) -> float:
        """The sum of the sample weights over all training rows."""
        return self.engine.rows.total(self.weight)


def mean_loss(loss: Loss, code: Code, F: AnyArray, c: Labels, weight: Array, engine: Engine = CPU) -> float:
    """Return the weighted mean loss at F (n, d) for targets c (n,), computed in blocks of rows to save memory."""
    block = max(1, 2**22 // len(code.Y))  # 32 MB of scores
    values = np.empty(len(F))
    for i in range(0, len(F), block):
        rows = slice(i, i + block)
        values[rows] = loss.value(code.scores(F[rows]), c[rows])
    return engine.rows.total(weight * values) / engine.rows.total(weight)
