"""Losses of a state: s (K,) counts the votes that each class has got on an example, the true class first.

A proper loss falls with the votes for the true class and rises with those for any other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._parts import check_choice, check_number
from .._typing import AnyArray, Array


@dataclass(frozen=True)
class ZeroOne:
    """The zero-one loss: 1 where the true class is not strictly ahead, so that ties are errors.

    Examples
    --------
    >>> import numpy as np
    >>> ZeroOne()(np.array([[2, 1, 0], [1, 1, 0]]))
    array([0., 1.])
    """

    symmetric = True  # symmetric in the rivals, and only leads over the true class matter

    def __call__(self, S: AnyArray) -> Array:
        """The loss of every state (..., K), the true class first."""
        S = np.asarray(S)
        return (S[..., 0] <= S[..., 1:].max(axis=-1)).astype(np.float64)

    def discrepancy(self, K: int, T: int) -> float:
        """The largest difference between two states within T rounds."""
        return 1.0


@dataclass(frozen=True)
class ExponentialLoss:
    """Σ_{l>1} e^{η(s_l − s_1)}, which is at least the zero-one loss.

    Parameters
    ----------
    eta : float
        η, the weight of a vote.

    Examples
    --------
    >>> import numpy as np
    >>> ExponentialLoss(np.log(2))(np.array([[2, 1, 0]]))
    array([0.75])
    """

    eta: float
    symmetric = True

    def __call__(self, S: AnyArray) -> Array:
        """The loss of every state (..., K), the true class first."""
        S = np.asarray(S)
        return np.exp(self.eta * (S[..., 1:] - S[..., :1])).sum(axis=-1)

    def discrepancy(self, K: int, T: int) -> float:
        """The largest difference between two states within T rounds: one rival has all votes, or the true class has."""
        return float((K - 2) + np.exp(self.eta * T) - (K - 1) * np.exp(-self.eta * T))


@dataclass(frozen=True, eq=False)
class UserLoss:
    """A function of states (m, K), the true class first, that gives (m,) losses."""

    function: Callable[[AnyArray], Any]
    symmetric = False  # it may be, but that is not known

    def __call__(self, S: AnyArray) -> Array:
        """The loss of every state."""
        S = np.asarray(S)
        values = np.asarray(self.function(S.reshape(-1, S.shape[-1])), dtype=np.float64)
        if values.shape != (S.size // S.shape[-1],) or not np.isfinite(values).all():
            raise ValueError(
                f"loss={self.function!r} gave shape {values.shape} for {S.size // S.shape[-1]} states; it must give a "
                "finite number for each."
            )
        return values.reshape(S.shape[:-1])


LARGEST_ETA = 100.0
GameLoss = ZeroOne | ExponentialLoss | UserLoss


def as_loss(loss: Any, eta: Any, edge: float, best: Callable[[], float] | None = None) -> GameLoss:
    """A loss from "zero-one", "exponential" or a function of states.

    For "exponential" ``eta`` is a number, None for ln(1+γ), or "best" for what the function ``best`` returns, which is
    there where the baseline is fixed.
    """
    if isinstance(loss, ZeroOne | ExponentialLoss | UserLoss):
        return loss
    named = loss if isinstance(loss, str) else None
    if named == "exponential":
        if isinstance(eta, str):
            return ExponentialLoss(best_weight(eta, best))
        check_number("eta", eta, float, 0.0, LARGEST_ETA, none=True, open_low=True)
        if eta is None and edge <= 0:
            raise ValueError("eta=None is ln(1 + edge), which is 0 with this edge; pass a positive eta.")
        return ExponentialLoss(float(np.log1p(edge)) if eta is None else float(eta))
    if eta is not None:
        raise ValueError(f"eta={eta!r} belongs to loss='exponential'; with another loss it must be None.")
    if named == "zero-one":
        return ZeroOne()
    if callable(loss) and not isinstance(loss, type):
        return UserLoss(loss)
    raise ValueError(f"loss={loss!r} is unknown; choose 'zero-one', 'exponential', or pass a function of states.")


def best_weight(eta: str, best: Callable[[], float] | None) -> float:
    """The number that eta="best" stands for."""
    check_choice("eta", eta, ("best",))
    if best is None:
        raise ValueError("eta='best' needs a fixed baseline (condition='uniform', or a distribution); pass a number.")
    if (value := best()) <= 0:
        raise ValueError("eta='best' is 0 with this baseline, which has no edge; pass a positive eta.")
    return value


def check_proper(loss: GameLoss, S: AnyArray) -> None:
    """Raise unless the loss falls with votes for the true class and rises with votes for others, at these states."""
    if not isinstance(loss, UserLoss):
        return
    here = loss(S)
    for label in range(S.shape[1]):
        step = loss(S + np.eye(S.shape[1], dtype=S.dtype)[label]) - here
        wrong = np.flatnonzero(step > 1e-12 if label == 0 else step < -1e-12)
        if len(wrong):
            i = wrong[0]
            raise ValueError(
                f"loss={loss.function!r} is not proper: at state {S[i].tolist()} a vote for "
                f"{'the true class raises' if label == 0 else 'a wrong class lowers'} it by {abs(step[i]):.4g}. A "
                "proper loss falls with s[0], the votes for the true class, and rises with all others."
            )
