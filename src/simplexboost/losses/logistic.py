"""Losses of the true class's probability in p = softmax(2 U): minus the log-likelihood, and Savage's bounded loss."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from .._typing import Array
from .gamma_phi import ExponentialPhi
from .links import savage_link, softmax


@dataclass(eq=False, repr=False)
class Logistic(ExponentialPhi):
    """LogitBoost's loss, ``log(1 + Σ_{k≠c} e^{−2(U_c − U_k)})`` = −log p_c. Posterior p = softmax(2 U).

    Parameters
    ----------
    cost_matrix : array of shape (K, K), optional
        Weight of the pair (true class, rival). With costs the posterior comes from `posterior_system`.

    Examples
    --------
    >>> Logistic().value(np.zeros((1, 4)), np.array([0])) / np.log(4)
    array([1.])
    """

    cost_matrix: ArrayLike | None = None
    exponents: ClassVar[tuple[int, int] | None] = (0, 0)
    rate: ClassVar[float] = 2.0
    convex = True

    @property
    def likelihood(self) -> bool:  # type: ignore[override]
        """True if there are no costs."""
        return self.cost_matrix is None

    def value_of(self, p: Array) -> Array:
        return -np.log(np.maximum(p, 1e-38))

    def _log_gamma(self, s: Array) -> Array:
        # Below −37, log(1 + e^s) = e^s to the last digit.
        return np.where(s < -37.0, s, np.log(np.logaddexp(0.0, np.maximum(s, -37.0))))

    def _log_weight(self, s: Array) -> Array:
        return math.log(2.0) - np.logaddexp(0.0, -s)

    def _bend(self, s: Array) -> Array:
        return expit(-s)

    def _closed_form(self, U: Array) -> Array:
        return softmax(U, 2.0)


@dataclass(eq=False, repr=False)
class Savage(ExponentialPhi):
    """SavageBoost's loss, ``(1 − p_c)²`` with p = softmax(2 U): bounded, not convex, robust to wrong labels.

    The posterior is ``η_k ∝ 1/(1 − p_k)``, valid only where a finite minimiser exists (`links.savage_link`).

    Parameters
    ----------
    cost_matrix : array of shape (K, K), optional
        Weight of the pair (true class, rival). With costs the posterior comes from `posterior_system`.

    Examples
    --------
    The weight of an example falls again when its margin gets very bad.

    >>> Savage().residual(np.array([[0.0, 0.0], [0.0, 3.0]]), np.array([0, 0]))[:, 0].round(3)
    array([0.5 , 0.01])
    """

    cost_matrix: ArrayLike | None = None
    exponents: ClassVar[tuple[int, int] | None] = (1, 1)
    rate: ClassVar[float] = 2.0
    convex = False

    def value_of(self, p: Array) -> Array:
        return (1 - p) ** 2

    def _log_gamma(self, s: Array) -> Array:
        return -2.0 * np.logaddexp(0.0, -s)

    def _log_weight(self, s: Array) -> Array:
        return math.log(4.0) - 2.0 * np.logaddexp(0.0, -s) - np.logaddexp(0.0, s)

    def _bend(self, s: Array) -> Array:
        return 2.0 - 3.0 * expit(s)

    def _closed_form(self, U: Array) -> Array:
        return savage_link(U)
