"""Defines losses not of the γ–φ form (`gamma_phi`): one-vs-all, own-score, expected cost, the user's own functions.

Most are meant for canonical codewords (Y = I); then F = 2 U, and F[i, k] is what the papers call the score of class k.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..._util.arrays import AnyArray, Array, Labels
from ..._util.params import check_choice, check_number
from ...engine import CPU, Engine
from ...model.code import Code, Gradient
from .base import ExponentialSum, Loss, Scaled, Slopes, check_cost_matrix, pick, pick_own, saturated_exp
from .links import HUGE, Link, clip_scores, reduce_rows, softmax
from .objective import Objective

STEEPEST = 1e100  # an alpha so large can be squared, and multiplied with any score that is not clipped


class OneVsAll(ExponentialSum, name="one-vs-all"):
    """The sum of K binary AdaBoost losses, ``e^{−f_c} + Σ_{k≠c} e^{f_k}`` with f = 2 U and true class c (AdaBoost.MH).

    The class probabilities are σ(2 f_k), σ being the logistic function, divided by their sum over the classes. At the
    minimiser of the conditional risk this sum is one.

    Examples
    --------
    >>> OneVsAll().value(np.array([[0.0, 0.0, 0.0]]), np.array([1]))
    array([3.])
    """

    def terms(self, P: Array, W: Array, c: Labels) -> tuple[Array, Array]:
        return np.abs(P), 2.0 * self.gains(W, c)

    def total(self, P: Array, c: Labels, engine: Engine = CPU) -> float:
        return engine.rows.total(np.abs(P).ravel()) / 2.0

    def _toward(self, B: Array, c: Labels) -> Array:
        """Change the sign of all entries of B (n, K) in place, except at the true classes c; return B."""
        np.negative(B, out=B)
        B[np.arange(len(B)), c] *= -1.0
        return B

    def _exponents(self, U: Array, c: Labels) -> Array:
        B = clip_scores(U)  # (n, K)
        B *= -2.0
        return self._toward(B, c)

    def log_value(self, U: Array, c: Labels) -> Array:
        B = self._exponents(U, c)
        top = B.max(axis=1)
        B -= top[:, None]
        np.exp(B, out=B)
        return top + np.log(B.sum(axis=1))

    def residual(self, U: Array, c: Labels) -> Array:
        P = self._toward(saturated_exp(self._exponents(U, c)), c)
        P *= 2.0
        return P

    def scaled_residual(self, U: Array, c: Labels, engine: Engine = CPU, out: Array | None = None) -> Scaled:
        B = self._exponents(U, c)
        shift = engine.rows.largest(B)
        B -= shift
        np.exp(B, out=B)
        return self._toward(B, c), shift + math.log(2.0)

    def along(self, U: Array, c: Labels, W: Array, alpha: float = 0.0, engine: Engine = CPU) -> Slopes:
        P, log_scale = self.scaled_residual(U + alpha * W, c, engine)
        first = -np.einsum("nk,nk->n", P, W)
        P *= W
        np.abs(P, out=P)
        return first, 2.0 * np.einsum("nk,nk->n", P, np.abs(W)), log_scale

    def mistake(self, K: int) -> float:
        return 2.0  # if a rival's score is not below that of the true class, their two terms sum to at least 2

    def gains(self, W: Array, c: Labels) -> Array:
        return self._toward(W.copy(), c)

    def curvature(self, U: Array, c: Labels, Y: Array, engine: Engine = CPU) -> Array:
        return engine.compute.times(saturated_exp(self._exponents(U, c)), np.square(Y))

    def link_formula(self, K: int) -> Link | None:
        return Link("one-vs-all", 4.0)


def strongest_class(P: Array) -> tuple[Labels, Array]:
    """Return, (n,) each, the class of the largest entry in each row of the residual P, and max(that entry, 0)."""
    k = P.argmax(axis=1)
    return k, np.maximum(pick_own(P, k), 0.0)


class OwnScoreExponential(ExponentialSum, name="own-score"):
    """The exponential loss of AdaBoost.M1 and SAMME, ``e^{−α⟨y_c, f⟩} = e^{−2αU_c}``, of the true class's score only.

    c is the true class, y_c its codeword, f a row of F. AdaBoost.M1 uses canonical codewords and α = 1, SAMME centred
    ones and α = 1/K. Class probabilities are softmax(2αU), exact at the minimiser for centred codewords. With canonical
    ones the loss has no minimiser, and softmax(2αU) is only a normalised score.

    Parameters
    ----------
    alpha : float or "1/K", default 1.0
        The factor α in the exponent, positive.

    Examples
    --------
    >>> OwnScoreExponential(alpha=0.5).value(np.array([[2.0, 0.0]]), np.array([0])).round(4)
    array([0.1353])
    """

    alpha: float | str = 1.0

    def own_rate(self, K: int) -> float:
        """Return 2α, the factor of the true class's score in the exponent, for K classes."""
        return 2.0 / K if isinstance(self.alpha, str) else 2.0 * self.alpha

    def objective(self, c: Labels, weight: Array, code: Code, engine: Engine = CPU) -> Objective:
        return OwnScoreObjective(self, c, weight, code, engine)

    def terms(self, P: Array, W: Array, c: Labels) -> tuple[Array, Array]:
        return pick_own(P, c)[:, None], self.own_rate(W.shape[1]) * pick_own(W, c)[:, None]

    def total(self, P: Array, c: Labels, engine: Engine = CPU) -> float:
        return engine.rows.total(pick_own(P, c)) / self.own_rate(P.shape[1])

    def log_value(self, U: Array, c: Labels) -> Array:
        return -self.own_rate(U.shape[1]) * pick(U, c)

    def residual(self, U: Array, c: Labels) -> Array:
        return in_own_column(self.own_rate(U.shape[1]) * self.value(U, c), c, U.shape[1])

    def scaled_residual(self, U: Array, c: Labels, engine: Engine = CPU, out: Array | None = None) -> Scaled:
        w, log_scale = self.weights_of(pick(U, c), U.shape[1], engine)
        return in_own_column(w, c, U.shape[1]), log_scale

    def along(self, U: Array, c: Labels, W: Array, alpha: float = 0.0, engine: Engine = CPU) -> Slopes:
        w, log_scale = self.weights_of(pick(U + alpha * W, c), U.shape[1], engine)
        own = pick(W, c)
        return -w * own, self.own_rate(U.shape[1]) * w * own**2, log_scale

    def gains(self, W: Array, c: Labels) -> Array:
        return pick_own(W, c)

    def curvature(self, U: Array, c: Labels, Y: Array, engine: Engine = CPU) -> Array:
        return (self.own_rate(U.shape[1]) / 2) ** 2 * self.value(U, c)[:, None] * np.square(Y)[c]

    def link_formula(self, K: int) -> Link | None:
        return Link("softmax", self.own_rate(K))

    def check(self, K: int) -> None:
        super().check(K)
        if isinstance(self.alpha, str):
            check_choice("alpha", self.alpha, ("1/K",))
        else:
            check_number("alpha", self.alpha, float, 0.0, STEEPEST, open_low=True)

    def weights_of(self, own: Array, K: int, engine: Engine = CPU) -> tuple[Array, float]:
        """Return residuals at the true classes, (n,), up to a factor, from their scores; and the factor's log."""
        log_value = -self.own_rate(K) * np.clip(own, -HUGE, HUGE)
        shift = engine.rows.largest(log_value)
        return np.exp(log_value - shift), shift + math.log(self.own_rate(K))


class OwnScoreObjective(Objective):
    """The risk of `OwnScoreExponential`; unlike in `Objective`, a gradient needs only true classes' scores: O(n)."""

    loss: OwnScoreExponential

    def gradient(self, F: AnyArray, U: Callable[[], Array], n_rounds: int, scaled: bool = True) -> Gradient:
        if not scaled:
            return super().gradient(F, U, n_rounds, scaled)
        K = len(self.code.Y)
        own, log_scale = self.loss.weights_of(self.code.own_scores(F, self.c), K, self.engine)
        own = own * self.weight
        risk = self._mean(self.engine.rows.total(own) / self.loss.own_rate(K), log_scale)
        return Gradient(self.c, own, lambda: in_own_column(own, self.c, K), self.code, single=True, risk=risk)


def in_own_column(own: Array, c: Labels, K: int) -> Array:
    """Return a matrix (n, K) with own[i] in row i at the true class c_i, and zeros elsewhere."""
    P = np.zeros((len(c), K))
    P[np.arange(len(c)), c] = own
    return P


class SoftmaxCost(Loss, name="softmax-cost"):
    """The expected cost of a random prediction, ``Σ_k cost_matrix[c, k] g_k`` with g = softmax(2 U) (Geist, eq. 4).

    c is the true class. The loss is bounded and not convex: gradients vanish for examples with very negative margins,
    so start from equal scores. Second derivatives may be negative. The class probabilities are g.

    Parameters
    ----------
    cost_matrix : array of shape (K, K), optional
        Cost of predicting class k if class c is true, the diagonal included; None means 0 on the diagonal and 1
        elsewhere. A row of zeros means that errors on this class cost nothing.

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
            return reduce_rows(np.add, g)[:, 0]
        return np.einsum("nk,nk->n", g, self._costs(c))

    def value_of(self, p: Array) -> Array:
        return 1 - p

    def residual(self, U: Array, c: Labels) -> Array:
        Phi = self._gradient(softmax(U, 2.0), c)
        Phi *= -2.0
        return Phi

    def link_formula(self, K: int) -> Link | None:
        return Link("softmax", 2.0)

    def along(self, U: Array, c: Labels, W: Array, alpha: float = 0.0, engine: Engine = CPU) -> Slopes:
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

    def falls_forever(self, W: Array, c: Labels, strictly: bool = False, engine: Engine = CPU) -> bool:
        # With other costs than 0 and 1, the order among the rivals matters too.
        return self.cost_matrix is None and super().falls_forever(W, c, strictly, engine)

    def curvature(self, U: Array, c: Labels, Y: Array, engine: Engine = CPU) -> Array:
        g, times = softmax(U, 2.0), engine.compute.times
        mean = times(g, Y)  # (n, d)
        Phi = self._gradient(g, c)
        return times(Phi, np.square(Y)) - 2.0 * times(Phi, Y) * mean

    def check(self, K: int) -> None:
        super().check(K)
        check_cost_matrix(self.cost_matrix, K, rows_need_a_rival=False)

    def _costs(self, c: Labels) -> Array:
        return np.asarray(self.cost_matrix, dtype=np.float64)[c]

    def _gradient(self, g: Array, c: Labels) -> Array:
        """Return Φ = g (cost − ⟨g, cost⟩), (n, K), the gradient in 2U; cost is row c of the costs; overwrite g."""
        if self.cost_matrix is None:
            rows, own = np.arange(len(g)), pick_own(g, c)
            g[rows, c] = 0.0
            risk = reduce_rows(np.add, g)[:, 0]
            g *= own[:, None]  # 1 − risk = g_c
            g[rows, c] = -own * risk
            return g
        C = self._costs(c)
        C -= np.einsum("nk,nk->n", g, C)[:, None]
        g *= C
        return g


class SoftmaxCostTable(SoftmaxCost):
    """The expected cost of examples with their own cost vectors: targets c (n,) are row indices of ``cost_matrix``.

    Parameters
    ----------
    cost_matrix : array of shape (S, K), optional
        The cost of predicting each class, with a row for each of S distinct targets.

    Examples
    --------
    >>> SoftmaxCostTable(cost_matrix=[[0, 5, 1], [1, 0, 8]]).value(np.zeros((2, 3)), np.array([0, 1]))
    array([2., 3.])
    """

    def question(self, P: Array, c: Labels) -> tuple[Labels, Array]:
        return strongest_class(P)

    def check(self, K: int) -> None:
        Loss.check(self, K)


Function = Callable[[Array, Labels], Any]


class UserLossError(ValueError):
    """The error when a function of `UserLoss` returns an array of the wrong shape or with infinite or NaN entries."""


class UserLoss(Loss):
    """A loss from your own functions of class scores U (n, K) and true classes c (n,), class indices 0 .. K−1.

    `SimplexBoostClassifier(loss=UserLoss(…))` boosts this loss with Newton steps; `BoostingClassifier` takes it as
    well. Logits of other libraries are 2U: the logistic loss is −log softmax(2U)_c. Model files cannot store functions;
    pickle a model instead, if its functions can be imported.

    Parameters
    ----------
    function : callable
        A function of (U, c) that returns the loss of every example, (n,).
    gradient : callable
        A function of (U, c) that returns the derivatives in the scores, (n, K).
    hessian : callable
        A function of (U, c) that returns the diagonal of each example's Hessian in the scores, (n, K); or the whole
        Hessian, (n, K, K), with which splits are searched more exactly if K is small. Negative curvature counts as
        zero.
    link : callable or None, default=None
        A function of U that returns class probabilities (n, K); None means softmax(2U).
    convex : bool, default=False
        Whether the loss is convex in U, which permits Newton's method in the line search.

    Examples
    --------
    >>> squares = UserLoss(
    ...     function=lambda U, c: ((U - np.eye(U.shape[1])[c]) ** 2).sum(axis=1),
    ...     gradient=lambda U, c: 2 * (U - np.eye(U.shape[1])[c]),
    ...     hessian=lambda U, c: np.full(U.shape, 2.0),
    ...     convex=True,
    ... )
    >>> squares.residual(np.zeros((1, 3)), np.array([1]))
    array([[-0.,  2., -0.]])
    """

    function: Function
    gradient: Function
    hessian: Function
    link: Callable[[Array], Any] | None = None
    convex: bool = False

    def value(self, U: Array, c: Labels) -> Array:
        return call_function("function", self.function, (U, c), [(len(U),)])

    def residual(self, U: Array, c: Labels) -> Array:
        return -call_function("gradient", self.gradient, (U, c), [U.shape])

    def second(self, U: Array, c: Labels) -> Array:
        """Return every loss's Hessian in the scores: its diagonal, (n, K), or the whole matrix, (n, K, K)."""
        return call_function("hessian", self.hessian, (U, c), [U.shape, (*U.shape, U.shape[1])])

    def curvature(self, U: Array, c: Labels, Y: Array, engine: Engine = CPU) -> Array:
        return 0.25 * along_columns(self.second(U, c), Y)

    def probabilities(self, U: Array) -> Array:
        if self.link is None:
            return super().probabilities(U)
        return call_function("link", self.link, (U,), [U.shape])

    def link_formula(self, K: int) -> Link | None:
        return Link("softmax", 2.0) if self.link is None else None

    def check(self, K: int) -> None:
        super().check(K)
        for name in ("function", "gradient", "hessian", "link"):
            value = getattr(self, name)
            if not callable(value) and not (name == "link" and value is None):
                raise TypeError(f"{name}={value!r} of UserLoss is not callable; pass a function.")
        U, c = np.zeros((K, K)), np.arange(K)  # the functions are tried at equal scores, with an example of each class
        self.value(U, c), self.residual(U, c), self.second(U, c), self.probabilities(U)


def along_columns(H: Array, Z: Array) -> Array:
    """Return zᵀ H z for every row's Hessian H, (n, K) if diagonal or (n, K, K), and every column z of Z (K, s)."""
    if H.ndim == 2:
        return H @ np.square(Z)
    return np.einsum("nkl,ks,ls->ns", H, Z, Z, optimize=True)


def call_function(
    name: str, function: Callable[..., Any], arguments: tuple[Any, ...], shapes: list[tuple[int, ...]]
) -> Array:
    """Return a user function's result as an array; raise unless it is finite and has one of the ``shapes``."""
    try:
        answer = np.asarray(function(*arguments), dtype=np.float64)
    except Exception as error:
        error.add_note(f"This happened in the {name} of a UserLoss.")
        raise
    if answer.shape not in shapes:
        wanted = " or ".join(map(str, shapes))
        raise UserLossError(f"the {name} of UserLoss returned an array of shape {answer.shape}; it must have {wanted}.")
    if not np.isfinite(answer).all():
        row = int(np.argwhere(~np.isfinite(answer))[0][0])
        raise UserLossError(
            f"the {name} of UserLoss returned {answer[row]} for the scores {arguments[0][row]}; it must be finite for "
            "any finite scores."
        )
    return answer
