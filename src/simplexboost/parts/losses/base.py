"""Defines the base class of losses: a new loss defines ``value`` and ``residual``, everything else has a default."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike

from ..._util.arrays import Array, Labels
from ..._util.params import Part, check_number
from ...engine import CPU, Engine
from ...model.code import Code
from .links import HUGE, Link, clip_scores, softmax
from .objective import CEILING, Objective

# The first and the second derivative of every example's loss, (n,) each, and log_scale: both must be multiplied by
# exp(log_scale). The second is None if the loss has none.
Slopes = tuple[Array, Array | None, float]
Scaled = tuple[Array, float]  # an array, and the logarithm of a factor that it must be multiplied by


class Loss(Part, ABC):
    """A loss on class scores.

    In all methods ``U (n, K)`` holds the class scores, ``c (n,)`` the true classes in ``0..K-1``. The caller applies
    the weights of examples. ``engine`` computes sums and maxima over all examples, of which other machines may have
    some. Subclasses set ``convex``, on which the choice of the line search depends.

    Examples
    --------
    A loss needs ``value`` and ``residual``; all other methods have defaults.

    >>> class Squared(Loss):
    ...     convex = True
    ...     def value(self, U, c):
    ...         return ((U - np.eye(U.shape[1])[c]) ** 2).sum(axis=1)
    ...     def residual(self, U, c):
    ...         return 2 * (np.eye(U.shape[1])[c] - U)
    >>> Squared().along(np.zeros((1, 3)), np.array([2]), np.ones((1, 3)))
    (array([-2.]), None, 0.0)
    """

    table: ClassVar[dict[str, type[Loss]]] = {}  # the losses that have names
    # Without annotations, because these are not parameters of every loss.
    convex = False
    cost_matrix = cast("ArrayLike | None", None)  # the cost of mistaking a class for another
    likelihood = False  # whether the loss is −log softmax(2 U)_c, c being the true class
    # (a, b) if the gradient is the logistic one times p^a (1 − p)^b, p being the probability of the true class.
    exponents: ClassVar[tuple[int, int] | None] = None

    @abstractmethod
    def value(self, U: Array, c: Labels) -> Array:
        """Return the loss of every example, (n,): finite for any finite scores."""

    @abstractmethod
    def residual(self, U: Array, c: Labels) -> Array:
        """Return minus the gradient in the scores, −∂L/∂U, (n, K): finite for any finite scores."""

    def value_of(self, p: Array) -> Array:
        """Return the loss from the probability p of the true class, elementwise, if `exponents` are given."""
        raise TypeError(f"{type(self).__name__} is not a function of one probability.")

    def log_value(self, U: Array, c: Labels) -> Array:
        """Return the logarithm of the loss, (n,); a loss of zero counts as the smallest normal float."""
        return np.log(np.maximum(self.value(U, c), np.finfo(np.float64).tiny))

    def scaled_residual(self, U: Array, c: Labels, engine: Engine = CPU, out: Array | None = None) -> Scaled:
        """Return ``P`` (n, K) and ``log_scale`` with residual = exp(log_scale) · P; ``out`` (n, K) may become P.

        Exponential losses choose the scale so that the largest entry of ``P`` is of order one; the choice of a learner
        and of a step does not depend on the scale. Bounded losses return the residual and 0.
        """
        return self.residual(U, c), 0.0

    def along(self, U: Array, c: Labels, W: Array, alpha: float = 0.0, engine: Engine = CPU) -> Slopes:
        """Return derivatives of L(U + αW) in α, with their scale; W (n, K) is ½ h Yᵀ for outputs h (n, d)."""
        P, log_scale = self.scaled_residual(U + alpha * W, c, engine)
        return -np.einsum("nk,nk->n", P, W), None, log_scale

    def question(self, P: Array, c: Labels) -> tuple[Labels, Array]:
        """Return the labels and weights (n,) for a classifier that names one class per example, from the residual P."""
        return c, pick_own(P, c)

    def mistake(self, K: int) -> float:
        """Return the least loss of an example that is wrong or tied: the risk divided by this bounds the error."""
        return 1.0

    def total(self, P: Array, c: Labels, engine: Engine = CPU) -> float | None:
        """Return Σ_i L_i from the residual P (n, K), with its scale and weights; None if P does not determine it."""
        return None

    def curvature(self, U: Array, c: Labels, Y: Array, engine: Engine = CPU) -> Array:
        """Return the diagonal of the Hessian in F, where U = ½ F Yᵀ, (n, d); its sum over axis 1 is the trace."""
        raise TypeError(f"{type(self).__name__} has no second derivatives; choose an optimizer without Newton steps.")

    def falls_forever(self, W: Array, c: Labels, strictly: bool = False, engine: Engine = CPU) -> bool:
        """Tell whether no example's loss ever rises along W (n, K), so that the best step is infinite.

        With ``strictly``, whether every term of every loss falls: the risk then tends to its infimum and nothing is
        left to learn.
        """
        gains = self.gains(W, c)
        return engine.rows.every(gains > 0 if strictly else gains >= 0)

    def gains(self, W: Array, c: Labels) -> Array:
        """Return what the terms of every loss gain along W (n, K): by default the true class's lead over each rival."""
        gains = pick_own(W, c)[:, None] - W  # (n, K)
        gains[np.arange(len(W)), c] = 1.0
        return gains

    def objective(self, c: Labels, weight: Array, code: Code, engine: Engine = CPU) -> Objective:
        """Return the risk of the loss on a training set with targets c (n,) and weights (n,)."""
        return Objective(self, c, weight, code, engine)

    def for_costs(self, costs: Array) -> Loss:
        """Return the loss for examples with their own costs: target K + i means row i of ``costs`` (n, K)."""
        raise TypeError(f"loss={self!r} takes no costs of examples; use 'softmax-cost'.")

    def threshold(self, U: Array, c: Labels, weight: Array) -> Array | None:
        """Fit (w, b) (K + 1,): a class is a label if its score exceeds ⟨w, U⟩ + b; None for losses of one label."""
        return None

    def probabilities(self, U: Array) -> Array:
        """Return the class probabilities, (n, K), for any finite scores: by `link_formula`, or else softmax(2 U)."""
        link = self.link_formula(U.shape[1])
        return softmax(U, 2.0) if link is None else link.probabilities(U)

    def link_formula(self, K: int) -> Link | None:
        """Return the formula of `probabilities` for K classes; None if it is code that cannot be exported."""
        return None

    def check(self, K: int) -> None:
        """Raise ValueError unless the parameters suit K classes; called once, before boosting."""
        if K < 2:
            raise ValueError(f"K={K} classes; a loss needs at least 2.")


class ExponentialSum(Loss):
    """A convex loss that is a sum of exponentials of scores; a subclass writes `log_value`, `terms` and `total`."""

    convex = True

    def value(self, U: Array, c: Labels) -> Array:
        return saturated_exp(self.log_value(U, c))

    @abstractmethod
    def terms(self, P: Array, W: Array, c: Labels) -> tuple[Array, Array]:
        """Return the weight of every term (n, m), and how fast its exponent falls along W (n, K).

        They come from the residual P (n, K), which may be scaled and have sample weights.
        """


def margins(U: Array, c: Labels) -> Array:
    """Return the margin of every example, U_c − max_{k≠c} U_k: positive where the true class has the highest score.

    Parameters
    ----------
    U : array of shape (n, K)
        The class scores.
    c : array of shape (n,)
        The true classes, numbers 0 .. K−1.

    Examples
    --------
    >>> margins(np.array([[3.0, 1.0, 2.0], [3.0, 1.0, 2.0]]), np.array([0, 1]))
    array([ 1., -2.])
    """
    return pick(U, c) - rivals(U, c).max(axis=1)


def clamp_scores(F: Array, bound: float) -> Array:
    """Clamp scores to max(−bound, F_k − max_l F_l), which decide alike: Mukherjee and Schapire (64).

    The losses of examples are then bounded, by (K − 1) exp(bound) for AdaBoost.MM's, which their proof of consistency
    needs: with it and √n rounds the risk on new examples approaches the least possible.

    Parameters
    ----------
    F : array of shape (n, K)
        Class scores, such as the votes of `AdaBoostMMClassifier`, which are twice its ``decision_function``.
    bound : float
        The largest difference of scores, positive.

    Examples
    --------
    >>> clamp_scores(np.array([[3.0, 1.0, -9.0]]), bound=5.0)
    array([[ 0., -2., -5.]])
    """
    check_number("bound", bound, float, 0.0, open_low=True)
    F = real_array(F)
    return np.maximum(-bound, F - F.max(axis=1, keepdims=True))


def pick_own(P: Array, c: Labels) -> Array:
    """Return the entries ``P[i, c_i]`` of the true classes, (n,)."""
    return P[np.arange(len(P)), c]


def pick(U: Array, c: Labels) -> Array:
    """Return the scores ``U[i, c_i]`` of the true classes, (n,), clipped so that their multiples are finite."""
    return np.clip(pick_own(U, c), -HUGE, HUGE)


def rivals(U: Array, c: Labels) -> Array:
    """Return a clipped copy of the scores, (n, K), with −inf for the true class."""
    B = clip_scores(U)  # clipping costs no more than copying
    B[np.arange(len(B)), c] = -np.inf
    return B


def saturated_exp(x: Array) -> Array:
    """Return exp(x), finite for any x."""
    return np.exp(np.minimum(x, CEILING))


def real_array(values: Any) -> Array:
    """Return values as numbers in double precision; NumPy would drop imaginary parts with a warning."""
    if np.iscomplexobj(values):
        raise TypeError("complex numbers")
    return np.asarray(values, dtype=np.float64)


def check_cost_matrix(cost_matrix: ArrayLike | None, K: int, rows_need_a_rival: bool) -> None:
    """Raise ValueError unless it is None or a finite, non-negative (K, K) matrix.

    With `rows_need_a_rival` every row must have a positive entry off the diagonal.
    """
    if cost_matrix is None:
        return
    accepted = f"pass an array of numbers of shape ({K}, {K}), a row per true class, or None."
    try:
        C = real_array(cost_matrix)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"cost_matrix={cost_matrix!r} is no array of numbers; {accepted}") from None
    if C.ndim == 0:
        raise ValueError(f"cost_matrix={cost_matrix!r} is no matrix; {accepted}")
    if C.shape != (K, K):
        raise ValueError(f"cost_matrix has shape {C.shape}; {accepted}")
    if not (good := np.isfinite(C) & (C >= 0)).all():
        raise ValueError(f"cost_matrix contains {C[~good][0]}; entries must be finite and not negative.")
    empty = np.flatnonzero(~((C > 0) & ~np.eye(K, dtype=bool)).any(axis=1))
    if rows_need_a_rival and empty.size:
        raise ValueError(
            f"cost_matrix[{empty[0]}] has no positive entry off the diagonal; every class must cost something against "
            "another."
        )
