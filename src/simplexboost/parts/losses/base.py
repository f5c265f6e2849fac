"""Defines `Loss`, the base class of losses: a subclass defines `value` and `residual`; all else has a default."""

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
    """A loss function of the class scores and the true class of an example.

    In all methods ``U (n, K)`` holds the class scores and ``c (n,)`` the true classes, integers in 0..K−1. The caller
    multiplies losses by sample weights. ``engine`` computes sums and maxima over all training rows, even if some rows
    are on other machines. A subclass sets ``convex``: True permits the faster line search.

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
        """Return the loss of every example, (n,), at scores U for true classes c; finite for finite scores."""

    @abstractmethod
    def residual(self, U: Array, c: Labels) -> Array:
        """Return minus the gradient of every loss in the scores, −∂L/∂U, (n, K); c are the true classes."""

    def value_of(self, p: Array) -> Array:
        """Return the loss as a function of p, the true class's probability; raise TypeError for losses that are not."""
        raise TypeError(f"{type(self).__name__} is not a function of one probability.")

    def log_value(self, U: Array, c: Labels) -> Array:
        """Return the logarithm of every example's loss, (n,); a loss of zero counts as the smallest normal float."""
        return np.log(np.maximum(self.value(U, c), np.finfo(np.float64).tiny))

    def scaled_residual(self, U: Array, c: Labels, engine: Engine = CPU, out: Array | None = None) -> Scaled:
        """Return P (n, K) and log_scale such that exp(log_scale) · P is the residual; P may be stored in ``out``.

        Exponential losses choose log_scale so that the largest entry of P is of order one; the choice of a weak learner
        or of a step does not depend on the scale. By default P is the residual and log_scale is 0.
        """
        return self.residual(U, c), 0.0

    def along(self, U: Array, c: Labels, W: Array, alpha: float = 0.0, engine: Engine = CPU) -> Slopes:
        """Return the first and the second derivative of every loss in α at U + αW, (n,) each, and log_scale.

        The caller multiplies both by exp(log_scale); the second may be None. W (n, K) is the score direction, ½ h Yᵀ.
        """
        P, log_scale = self.scaled_residual(U + alpha * W, c, engine)
        return -np.einsum("nk,nk->n", P, W), None, log_scale

    def question(self, P: Array, c: Labels) -> tuple[Labels, Array]:
        """Return labels and weights (n,) that train a weak classifier given the residual P: by default c, P[i, c_i]."""
        return c, pick_own(P, c)

    def mistake(self, K: int) -> float:
        """Return the least loss of a misclassified or tied example; risk divided by this bounds the training error."""
        return 1.0

    def total(self, P: Array, c: Labels, engine: Engine = CPU) -> float | None:
        """Return the sum of all losses, weighted and scaled like the residual P (n, K); None if P does not give it."""
        return None

    def curvature(self, U: Array, c: Labels, Y: Array, engine: Engine = CPU) -> Array:
        """Return the diagonal of the Hessian of every loss in F, (n, d), at scores U = ½ F Yᵀ for true classes c."""
        raise TypeError(f"{type(self).__name__} has no second derivatives; choose an optimizer without Newton steps.")

    def falls_forever(self, W: Array, c: Labels, strictly: bool = False, engine: Engine = CPU) -> bool:
        """Tell whether no example's loss ever rises along the score direction W, so that the best step is infinite.

        With ``strictly``, tell whether every term of every loss falls: the risk then tends to its infimum.
        """
        gains = self.gains(W, c)
        return engine.rows.every(gains > 0 if strictly else gains >= 0)

    def gains(self, W: Array, c: Labels) -> Array:
        """Return an array, positive where a loss term falls along direction W (n, K): by default W_c − W_k, k ≠ c."""
        gains = pick_own(W, c)[:, None] - W  # (n, K)
        gains[np.arange(len(W)), c] = 1.0
        return gains

    def objective(self, c: Labels, weight: Array, code: Code, engine: Engine = CPU) -> Objective:
        """Return the risk, the weighted mean of this loss over training rows with targets c (n,), as an `Objective`."""
        return Objective(self, c, weight, code, engine)

    def for_costs(self, costs: Array) -> Loss:
        """Return this loss for rows with their own cost vectors; target K + i means the costs in row i of ``costs``."""
        raise TypeError(f"loss={self!r} takes no costs of examples; use 'softmax-cost'.")

    def threshold(self, U: Array, c: Labels, weight: Array) -> Array | None:
        """Return w (K,) and b as one array: label k is predicted if U_k > ⟨w, U⟩ + b; None if there is no such rule."""
        return None

    def probabilities(self, U: Array) -> Array:
        """Return the class probabilities, (n, K), for any finite scores: by `link_formula`, or else softmax(2 U)."""
        link = self.link_formula(U.shape[1])
        return softmax(U, 2.0) if link is None else link.probabilities(U)

    def link_formula(self, K: int) -> Link | None:
        """Return the `Link` that computes `probabilities` for K classes; None if no formula can be exported."""
        return None

    def check(self, K: int) -> None:
        """Raise ValueError unless the parameters suit K classes; the booster calls this once, before boosting."""
        if K < 2:
            raise ValueError(f"K={K} classes; a loss needs at least 2.")


class ExponentialSum(Loss):
    """A convex loss that is a sum of exponentials of scores; a subclass defines `log_value`, `terms` and `total`."""

    convex = True

    def value(self, U: Array, c: Labels) -> Array:
        return saturated_exp(self.log_value(U, c))

    @abstractmethod
    def terms(self, P: Array, W: Array, c: Labels) -> tuple[Array, Array]:
        """Return two arrays with a column per loss term: its weight, and how fast its exponent falls along W (n, K).

        The weights come from the residual P (n, K), which may be scaled and multiplied by sample weights.
        """


def margins(U: Array, c: Labels) -> Array:
    """Return every example's margin, U_c − max_{k≠c} U_k with true class c: positive where c has the highest score.

    Parameters
    ----------
    U : array of shape (n, K)
        The class scores.
    c : array of shape (n,)
        The true classes, class indices 0 .. K−1.

    Examples
    --------
    >>> margins(np.array([[3.0, 1.0, 2.0], [3.0, 1.0, 2.0]]), np.array([0, 1]))
    array([ 1., -2.])
    """
    return pick(U, c) - rivals(U, c).max(axis=1)


def clamp_scores(F: Array, bound: float) -> Array:
    """Subtract the largest score of each row, then raise scores below −bound to −bound: Mukherjee and Schapire (64).

    The predicted class stays the same. The loss of an example is then bounded, by (K − 1) exp(bound) for AdaBoost.MM,
    as the authors' proof of consistency needs: with √n rounds, the risk on new examples then approaches the least
    possible.

    Parameters
    ----------
    F : array of shape (n, K)
        Class scores, such as the votes of `AdaBoostMMClassifier`: twice its ``decision_function``.
    bound : float
        The largest allowed distance from the highest score of the row, positive.

    Examples
    --------
    >>> clamp_scores(np.array([[3.0, 1.0, -9.0]]), bound=5.0)
    array([[ 0., -2., -5.]])
    """
    check_number("bound", bound, float, 0.0, open_low=True)
    F = real_array(F)
    return np.maximum(-bound, F - F.max(axis=1, keepdims=True))


def pick_own(P: Array, c: Labels) -> Array:
    """Return the entry ``P[i, c_i]`` of every row i at its true class c_i, (n,)."""
    return P[np.arange(len(P)), c]


def pick(U: Array, c: Labels) -> Array:
    """Return the score ``U[i, c_i]`` of every row's true class, (n,), clipped so that multiples of it are finite."""
    return np.clip(pick_own(U, c), -HUGE, HUGE)


def rivals(U: Array, c: Labels) -> Array:
    """Return a clipped copy of the scores U, (n, K), with −inf at the true classes c."""
    B = clip_scores(U)  # clipping costs no more than copying
    B[np.arange(len(B)), c] = -np.inf
    return B


def saturated_exp(x: Array) -> Array:
    """Return exp(x) elementwise, with x limited to `CEILING`, so that all results are finite."""
    return np.exp(np.minimum(x, CEILING))


def real_array(values: Any) -> Array:
    """Return values as a float64 array; raise TypeError for complex numbers."""
    if np.iscomplexobj(values):
        raise TypeError("complex numbers")
    return np.asarray(values, dtype=np.float64)


def check_cost_matrix(cost_matrix: ArrayLike | None, K: int, rows_need_a_rival: bool) -> None:
    """Raise ValueError unless cost_matrix is None or a finite, non-negative matrix of shape (K, K).

    With `rows_need_a_rival`, every row must also have a positive entry off the diagonal.
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
