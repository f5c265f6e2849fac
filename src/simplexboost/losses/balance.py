"""The balance of a direction: which terms fall and which rise, for losses that are sums of exponentials."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from .._typing import Array, Labels
from ..engine import Engine

# Exponents are limited to this: exp(700) ≈ 1e304 is four powers of ten below the largest float.
CEILING = 700.0


class Along(Protocol):
    """What a balance is computed from.

    Attributes
    ----------
    P : (n, K) the residual, up to a positive factor
    W : (n, K) the direction in scores
    c : (n,) targets
    engine : adds up
    classes : (n,) the class named for every example, if W comes from codewords of classes; else None
    gap : what a right answer gains on every rival, in scores, if that is the same for all classes; else None
    """

    c: Labels
    engine: Engine
    classes: Labels | None

    @property
    def P(self) -> Array: ...

    @property
    def W(self) -> Array: ...

    @property
    def gap(self) -> float | None: ...


@dataclass(frozen=True)
class Balance:
    """The terms of an exponential loss along a direction.

    Attributes
    ----------
    gained : float
        Σ weight · speed of the terms that fall; the fastest term has speed 1.
    lost : float
        Σ weight · speed of the terms that rise.
    total : float
        The weight of all terms.
    rate : float
        How much the exponent of the fastest term changes per unit of the step.
    even : bool
        Whether all terms that change do so at the same speed.
    faultless : bool
        Whether no term rises.
    perfect : bool
        Whether every term falls.

    Examples
    --------
    >>> Balance(gained=0.8, lost=0.2, total=1.0, rate=2.0, even=True, faultless=False, perfect=False).gained
    0.8
    """

    gained: float
    lost: float
    total: float
    rate: float
    even: bool
    faultless: bool
    perfect: bool

    @property
    def edge(self) -> float:
        """δ = (gained − lost) / total."""
        return (self.gained - self.lost) / self.total if self.total > 0 else 0.0

    def drop_of_edge(self, alpha: float) -> float:
        """A bound, for any learner, on the factor by which a step α changes the risk (Lemma 24)."""
        a, delta = self.rate * alpha, self.edge
        return 0.5 * ((1 - delta) * capped_exp(a) + (1 + delta) * math.exp(-a))

    def drop(self, alpha: float) -> float:
        """The factor by which a step α changes the risk, if all terms that change do so at the same speed."""
        a, gained, lost = self.rate * alpha, self.gained / self.total, self.lost / self.total
        return 1 - gained - lost + gained * math.exp(-a) + lost * capped_exp(a)


def capped_exp(x: float) -> float:
    """e^x, or e^700 if x is larger: for a step that is far too long, a bound need not be exact."""
    return math.exp(min(x, CEILING))
