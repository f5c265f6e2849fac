"""What gains and what loses along a direction, for losses that are sums of exponentials."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from .._typing import Array, Labels

# exp(700) ≈ 1e304: exponential losses saturate here, four decades below the largest float.
CEILING = 700.0


class Along(Protocol):
    """What a balance is struck from.

    Attributes
    ----------
    P : (n, K) the residual, up to a positive factor
    W : (n, K) the direction in scores
    c : (n,) targets
    classes : (n,) the class named for every example, where W are the codewords of classes; else None
    gap : what a right answer gains on every rival, in scores, where that is the same for all classes; else None
    """

    c: Labels
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
    gained, lost : the weight of the terms that fall and of those that rise, each times its pace (1 for the fastest)
    total : the weight of all terms
    rate : the fastest pace, the change of an exponent per unit of the step
    even : whether all terms that move have the same pace
    faultless, perfect : whether no term rises; whether every term falls
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
        """At most by this factor the risk changes with a step α, whatever the learner (Lemma 24)."""
        a, delta = self.rate * alpha, self.edge
        return 0.5 * ((1 - delta) * capped_exp(a) + (1 + delta) * math.exp(-a))

    def drop(self, alpha: float) -> float:
        """By this factor the risk changes with a step α, where all terms that move have the same pace."""
        a, gained, lost = self.rate * alpha, self.gained / self.total, self.lost / self.total
        return 1 - gained - lost + gained * math.exp(-a) + lost * capped_exp(a)


def capped_exp(x: float) -> float:
    """e^x, or e^700 where x is larger: what a step far too long does to a bound need not be known exactly."""
    return math.exp(min(x, CEILING))
