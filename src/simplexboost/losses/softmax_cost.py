"""The expected cost of a random decision, Σ_k cost_matrix[c, k] g_k with g = softmax(2 U)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from .._typing import Array, Labels
from ..engine import engine_of
from .base import Loss, check_cost_matrix
from .links import row_sums, softmax
from .scores import strongest


@dataclass(eq=False, repr=False)
class SoftmaxCost(Loss):
    """The expected cost of a random decision, ``Σ_k cost_matrix[c, k] g_k`` with g = softmax(2 U) (Geist, (4)).

    It is bounded and not convex: gradients vanish for examples that are far on the wrong side, so start from equal
    scores. Curvatures may be negative. The posterior is g.

    Parameters
    ----------
    cost_matrix : array of shape (K, K), optional
        Cost of deciding k when the truth is c, the diagonal included; None is 0 on the diagonal and 1 elsewhere. A row
        of zeros means that the class does not matter.

    Examples
    --------
    >>> SoftmaxCost().value(np.zeros((1, 4)), np.array([2]))
    array([0.75])
    >>> SoftmaxCost(cost_matrix=[[0, 5], [1, 0]]).value(np.zeros((2, 2)), np.array([0, 1]))
    array([2.5, 0.5])
    """

    cost_matrix: ArrayLike | None = None
    convex = False
    exponents: ClassVar[tuple[int, int] | None] = (1, 0)

    def value(self, U: Array, c: Labels) -> Array:
        g = softmax(U, 2.0)
        if self.cost_matrix is None:
            g[np.arange(len(g)), c] = 0.0  # the sum over the others loses no digits, unlike 1 − g_c
            return row_sums(g)[:, 0]
        return np.einsum("nk,nk->n", g, self._costs(c))

    def value_of(self, p: Array) -> Array:
        return 1 - p

    def residual(self, U: Array, c: Labels) -> Array:
        return self.residual_of(softmax(U, 2.0), c)

    def residual_of(self, g: Array, c: Labels) -> Array:
        """The residual from the probabilities g (n, K), written over them."""
        Phi = self._gradient(g, c)
        Phi *= -2.0
        return Phi

    def along(self, U: Array, c: Labels, W: Array, alpha: float = 0.0) -> tuple[Array, Array | None, float]:
        g = softmax(U + alpha * W, 2.0)
        Phi = self._gradient(g.copy(), c)
        # The Hessian is diag(Φ) − Φ gᵀ − g Φᵀ. Along a direction minus its mean under g, only diag(Φ) contributes.
        D = W - np.einsum("nk,nk->n", g, W)[:, None]
        first = 2.0 * np.einsum("nk,nk->n", Phi, D)
        return first, 4.0 * np.einsum("nk,nk->n", Phi, np.square(D, out=D)), 0.0

    def for_costs(self, costs: Array) -> SoftmaxCostTable:
        K = costs.shape[1]
        of_classes = 1.0 - np.eye(K) if self.cost_matrix is None else np.asarray(self.cost_matrix, dtype=np.float64)
        return SoftmaxCostTable(np.concatenate([of_classes, costs]))

    def falls_forever(self, W: Array, c: Labels, strictly: bool = False) -> bool:
        """The default for 0/1 costs; False for other costs, for which the order among the rivals matters too."""
        return self.cost_matrix is None and super().falls_forever(W, c, strictly)

    def curvature(self, U: Array, c: Labels, Y: Array) -> Array:
        g, times = softmax(U, 2.0), engine_of(U).times
        mean = times(g, Y)  # (n, d)
        Phi = self._gradient(g, c)
        return times(Phi, np.square(Y)) - 2.0 * times(Phi, Y) * mean

    def check(self, K: int) -> None:
        super().check(K)
        check_cost_matrix(self.cost_matrix, K, rows_need_a_rival=False)

    def _costs(self, c: Labels) -> Array:
        return np.asarray(self.cost_matrix, dtype=np.float64)[c]

    def _gradient(self, g: Array, c: Labels) -> Array:
        """Φ = g (cost − ⟨g, cost⟩), (n, K), the gradient in 2U, written over ``g``."""
        if self.cost_matrix is None:
            rows = np.arange(len(g))
            own = g[rows, c]
            g[rows, c] = 0.0
            risk = row_sums(g)[:, 0]
            g *= own[:, None]  # 1 − risk = g_c
            g[rows, c] = -own * risk
            return g
        C = self._costs(c)
        C -= np.einsum("nk,nk->n", g, C)[:, None]
        g *= C
        return g


@dataclass(eq=False, repr=False)
class SoftmaxCostTable(SoftmaxCost):
    """The expected cost for examples that have their own costs: the targets c (n,) are rows of ``cost_matrix``.

    Parameters
    ----------
    cost_matrix : array of shape (S, K), optional
        The cost of every decision, a row for each of S different targets.

    Examples
    --------
    >>> SoftmaxCostTable(cost_matrix=[[0, 5, 1], [1, 0, 8]]).value(np.zeros((2, 3)), np.array([0, 1]))
    array([2., 3.])
    """

    def question(self, P: Array, c: Labels) -> tuple[Labels, Array]:
        return strongest(P)

    def check(self, K: int) -> None:
        Loss.check(self, K)
