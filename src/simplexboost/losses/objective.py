"""A loss on one training set: the risk R(F) = Σ_i w_i L(U_i, c_i) with U = ½ F Yᵀ, and its gradient.

`Objective` evaluates its loss anew in every round. A loss that can do better, because it can carry its residual from
round to round or needs only the scores of the true classes, has its own kind of objective (`Loss.objective`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .._cached import cached
from .._typing import AnyArray, Array, Labels
from ..codewords.code import Code
from ..engine import CPU, Engine
from .balance import capped_exp

if TYPE_CHECKING:
    from .base import Loss


class Gradient:
    """Minus the gradient of the risk.

    Parameters
    ----------
    P : array of shape (n, K), or a function that returns it
        Minus the gradient in the scores, sample weights included, up to a positive factor.
    code : Code
        The codewords.
    labels : array of shape (n,)
        The true class; of several labels, the one with the largest entry of P.
    weight : array of shape (n,)
        The entry of P of that class.
    single : bool, default=False
        Whether labels and weights contain all of G: up to a constant in every row, G Yᵀ is the weight in the column of
        the label and 0 elsewhere.
    risk : float or None, default=None
        The mean weighted loss, if the residual determines it.

    Attributes
    ----------
    G : array of shape (n, d)
        Minus the gradient in F, ½ P Y.

    Examples
    --------
    >>> from simplexboost.codewords.code import Code
    >>> gradient = Gradient(np.array([[0.5, -0.5]]), Code(np.array([[1.0], [-1.0]])), np.array([0]), np.array([0.5]))
    >>> gradient.G
    array([[0.5]])
    """

    def __init__(
        self,
        P: Array | Callable[[], Array],
        code: Code,
        labels: Labels,
        weight: Array,
        single: bool = False,
        risk: float | None = None,
    ) -> None:
        self._P, self.code, self.labels, self.weight, self.risk = P, code, labels, weight, risk
        self.single = single and code.gap is not None

    @cached
    def P(self) -> Array:
        """Minus the gradient in the scores."""
        return self._P() if callable(self._P) else self._P

    @cached
    def G(self) -> Array:
        """Minus the gradient in F."""
        return self.code.back(self.P)

    @property
    def gains(self) -> Array | None:
        """G Yᵀ (n, K), up to a positive factor and a constant in every row, if it is known without work; else None.

        If all codewords are equally far apart, G Yᵀ is a multiple of P up to a constant in every row.
        """
        return None if self.code.gap is None or self.single else self.P


class Objective:
    """The risk of a loss on a training set; evaluates the loss anew in every round.

    Parameters
    ----------
    loss : Loss
        The loss whose mean is the risk.
    c : array of shape (n,)
        The targets.
    weight : array of shape (n,)
        The weights of the examples, positive.
    code : Code
        The codewords.
    engine : Engine
        What does the heavy computations; one thread by default.

    Examples
    --------
    >>> from simplexboost.codewords.code import Code
    >>> from simplexboost.losses import Logistic
    >>> objective = Objective(Logistic(), np.array([0, 1]), np.ones(2), Code(np.eye(2)))
    >>> objective.loss
    Logistic()
    """

    def __init__(self, loss: Loss, c: Labels, weight: Array, code: Code, engine: Engine = CPU) -> None:
        self.loss, self.c, self.weight, self.code, self.engine = loss, c, weight, code, engine
        self._weighted = not engine.every(weight == 1.0)

    @cached
    def _buffer(self) -> Array:
        """The memory of P (n, K), reused in every round: to allocate it anew would take longer than to fill it."""
        return np.empty((len(self.c), len(self.code.Y)))

    def gradient(self, F: AnyArray, U: Callable[[], Array], n_rounds: int, scaled: bool = True) -> Gradient:
        """Minus the gradient of the risk at F (n, d) and its scores U (n, K), after `n_rounds` rounds.

        If `scaled`, it is correct up to a positive factor, which is chosen so that P neither overflows nor underflows.
        """
        P, log_scale = self._residual(U(), scaled)
        return self.of_residual(P, self._mean(self.loss.total(P, self.c), log_scale))

    def _residual(self, U: Array, scaled: bool) -> tuple[Array, float]:
        """The weighted residual (n, K) up to a factor, and the logarithm of that factor."""
        if scaled:
            P, log_scale = self.loss.scaled_residual_into(U, self.c, self._buffer)
        else:
            P, log_scale = self.loss.residual(U, self.c), 0.0
        return (np.multiply(P, self.weight[:, None], out=self._buffer) if self._weighted else P), log_scale

    def of_residual(self, P: Array, risk: float | None = None) -> Gradient:
        """The gradient, from the weighted residual (n, K)."""
        return Gradient(P, self.code, *self.loss.question(P, self.c), risk=risk)

    def curvature(self, U: Array) -> Array:
        """The trace of the Hessian in F of every example, (n,)."""
        return self.weight * self.loss.curvature(U, self.c, self.code.Y).sum(axis=1)

    def voted(self, classes: Labels | None, step: float, n_rounds: int) -> None:
        """Called after every round; `classes` (n,) are the votes that the step was along, None for other answers."""

    def relived(self, n_rounds: int) -> int:
        """How many of so many rounds a model that goes on must go through again, for what they leave to later ones."""
        return 0

    def risk(self, F: AnyArray) -> float:
        """The mean weighted loss at F (n, d)."""
        return mean_loss(self.loss, self.code, F, self.c, self.weight, self.engine)

    def on_device(self, X: AnyArray, c: Labels, weight: Array, engine: Engine) -> Any:
        """Other rows X on the engine's device, and their objective, which is evaluated there; None if it has no device.

        Rows with target −1 are left out of the risk.
        """
        return None

    def risk_at_start(self, F: AnyArray | None = None) -> float:
        """The mean weighted loss where boosting starts, by default at F = 0."""
        n, d = len(self.c), self.code.Y.shape[1]
        F = np.zeros((n, d), dtype=self.code.Y.dtype) if F is None else F
        return mean_loss(self.loss, self.code, F, self.c, self.weight, self.engine)

    def _mean(self, total: float | None, log_scale: float) -> float | None:
        """The mean loss, from the total up to the factor exp(log_scale)."""
        return None if total is None else total * capped_exp(log_scale) / self._weights

    @cached
    def _weights(self) -> float:
        """The sum of the weights."""
        return self.engine.total(self.weight)


def mean_loss(loss: Loss, code: Code, F: AnyArray, c: Labels, weight: Array, engine: Engine = CPU) -> float:
    """The weighted mean of the loss at F (n, d), in blocks of rows, so that n × K scores are never stored at once."""
    block = max(1, 2**22 // len(code.Y))  # 32 MB of scores
    values = np.empty(len(F))
    for i in range(0, len(F), block):
        rows = slice(i, i + block)
        values[rows] = loss.value(code.scores(F[rows]), c[rows])
    return engine.total(weight * values) / engine.total(weight)
