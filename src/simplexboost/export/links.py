"""Links as data: what turns class scores U (n, K) into probabilities, named so that other languages can compute it.

Losses compute probabilities by methods, which no export can carry. Each of them is one of a few formulas:

| kind | probabilities |
|---|---|
| softmax | softmax(scale · U) |
| savage | η_k ∝ 1 / (1 − p_k) with p = softmax(2U) |
| one-vs-all | σ(scale · U_k), divided by the sum over the classes |
| sigmoid | σ(scale · U_k), every label on its own |
| shares | U_k / Σ_j U_j, all equal if that sum is 0 |
| walk | the stationary distribution of a walk on the classes, under costs |
| certain | 1: only one class had training examples |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import Array
from ..games.boosting import PotentialLoss
from ..losses import (
    MM,
    Exponential,
    Logistic,
    Loss,
    MultilabelHamming,
    OneVsAll,
    OwnScoreExponential,
    Savage,
    SoftmaxCost,
    UserLoss,
    for_label_sets,
)


@dataclass(frozen=True, eq=False)
class Link:
    """A link; `costs` (K, K) and `loss`, the name of the loss, belong to "walk", and are None elsewhere."""

    kind: str
    scale: float = 1.0
    costs: Array | None = None
    loss: str | None = None


def link_of(loss: Loss, n_classes: int, *, several: bool) -> Link:
    """The link of a fitted loss for this many classes that had training examples.

    ``several`` says whether examples may have several labels. A loss of the user's own, which is code, is refused.
    """
    if several:
        of_sets = for_label_sets(loss, np.empty((0, n_classes)))
        return Link("sigmoid", 4.0 if isinstance(of_sets, MultilabelHamming) else 2.0)
    if n_classes < 2:
        return Link("certain")
    if isinstance(loss, Exponential | MM | Logistic | Savage) and loss.cost_matrix is not None:
        return Link("walk", loss.rate, np.asarray(loss.cost_matrix, dtype=np.float64), type(loss).__name__)
    return plain_link(loss, n_classes)


def plain_link(loss: Any, n_classes: int) -> Link:
    """The link of a loss without costs, for examples that have one label each."""
    match loss:
        case MM():
            return Link("softmax", 4.0)
        case Exponential() | Logistic() | SoftmaxCost():
            return Link("softmax", 2.0)
        case Savage():
            return Link("savage")
        case OneVsAll():
            return Link("one-vs-all", 4.0)
        case OwnScoreExponential():
            return Link("softmax", loss.rate(n_classes))
        case PotentialLoss():
            return Link("softmax", 4.0) if loss.loss == "exponential" else Link("shares")
        case UserLoss() if loss.link is None:
            return Link("softmax", 2.0)
    raise TypeError(
        f"loss={loss!r} turns scores into probabilities by a function of your own, and code cannot be exported; only "
        "models with the package's own losses can, and with a UserLoss that has no link."
    )
