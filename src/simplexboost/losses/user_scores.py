"""A user's own loss of the class scores, from its value, gradient and second derivatives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._typing import Array, Labels
from .base import Loss

Function = Callable[[Array, Labels], Any]


class UserLossError(ValueError):
    """A user's function returned something that boosting cannot use."""


@dataclass(eq=False, repr=False)
class UserLoss(Loss):
    """A loss from your own functions of the class scores U (n, K) and the true classes c (n,), numbers 0 .. K−1.

    `SimplexBoostClassifier(loss=UserLoss(…))` boosts it with Newton steps; `BoostingClassifier` takes it as well. The
    logits of other libraries are 2U: the logistic loss is −log softmax(2U)_c. Functions cannot be saved to model files;
    pickle a model if its functions can be imported.

    Parameters
    ----------
    function : callable
        A function of (U, c) that returns the loss of every example, (n,).
    gradient : callable
        A function of (U, c) that returns the derivatives in the scores, (n, K).
    hessian : callable
        A function of (U, c) that returns the second derivatives in every score, (n, K); or all second derivatives,
        (n, K, K), with which splits are searched more exactly if K is small. Negative curvature counts as zero.
    link : callable or None, default=None
        A function of U that returns probabilities (n, K); None is softmax(2U).
    convex : bool, default=False
        Whether the loss is convex in U, which permits Newton's line search.

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

    rowwise: ClassVar[bool] = True

    def value(self, U: Array, c: Labels) -> Array:
        """The loss of every example, (n,)."""
        return called("function", self.function, (U, c), [(len(U),)])

    def residual(self, U: Array, c: Labels) -> Array:
        """Minus the gradient, (n, K)."""
        return -called("gradient", self.gradient, (U, c), [U.shape])

    def second(self, U: Array, c: Labels) -> Array:
        """The second derivatives in the scores, (n, K) or (n, K, K)."""
        return called("hessian", self.hessian, (U, c), [U.shape, (*U.shape, U.shape[1])])

    def curvature(self, U: Array, c: Labels, Y: Array) -> Array:
        """The diagonal of the Hessian in F, where U = ½ F Yᵀ, (n, d)."""
        return 0.25 * along_columns(self.second(U, c), Y)

    def probabilities(self, U: Array) -> Array:
        """The user's link, or softmax(2U), (n, K)."""
        if self.link is None:
            return super().probabilities(U)
        return called("link", self.link, (U,), [U.shape])

    def check(self, K: int) -> None:
        """Raise unless the functions can be called; they are tried at equal scores, with an example of each class."""
        super().check(K)
        for name in ("function", "gradient", "hessian", "link"):
            value = getattr(self, name)
            if not callable(value) and not (name == "link" and value is None):
                raise TypeError(f"{name}={value!r} of UserLoss is not callable; pass a function.")
        U, c = np.zeros((K, K)), np.arange(K)
        self.value(U, c), self.residual(U, c), self.second(U, c), self.probabilities(U)


def along_columns(H: Array, Z: Array) -> Array:
    """zᵀ H z for every row's second derivatives, (n, K) or (n, K, K), and every column z of Z (K, s); (n, s)."""
    if H.ndim == 2:
        return H @ np.square(Z)
    return np.einsum("nkl,ks,ls->ns", H, Z, Z, optimize=True)


def called(name: str, function: Callable[..., Any], arguments: tuple[Any, ...], shapes: list[tuple[int, ...]]) -> Array:
    """What a user's function returns, as an array of one of these shapes with finite numbers."""
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
