"""Provides losses on class scores: U (n, K) and labels c (n,) -> values L (n,) and residuals −∂L/∂U (n, K)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._util.params import resolve
from ...model.code import Gradient
from .base import Loss, clamped, margins
from .gamma_phi import MM, Exponential, GammaPhi, Logistic, Savage, UserGammaPhi
from .multilabel import BlockLogistic, MultilabelHamming, MultilabelRanking, for_label_sets
from .objective import Objective
from .scores import OneVsAll, OwnScoreExponential, SoftmaxCost, SoftmaxCostTable, UserLoss

__all__ = [
    "LOSSES",
    "MM",
    "BlockLogistic",
    "Exponential",
    "GammaPhi",
    "Gradient",
    "Logistic",
    "Loss",
    "MultilabelHamming",
    "MultilabelRanking",
    "Objective",
    "OneVsAll",
    "OwnScoreExponential",
    "Savage",
    "SoftmaxCost",
    "SoftmaxCostTable",
    "UserGammaPhi",
    "UserLoss",
    "as_loss",
    "clamped",
    "for_label_sets",
    "margins",
]

LOSSES: Mapping[str, type[Loss]] = {
    "exponential": Exponential,
    "logistic": Logistic,
    "savage": Savage,
    "mm": MM,
    "one-vs-all": OneVsAll,
    "own-score": OwnScoreExponential,
    "softmax-cost": SoftmaxCost,
}


def as_loss(value: Any) -> Loss:
    """The loss that ``value`` stands for: a name, or a `Loss`, which is returned as it is.

    Parameters
    ----------
    value : str or Loss
        A key of ``LOSSES``, or a loss.

    Examples
    --------
    >>> as_loss("savage")
    Savage()
    >>> as_loss("hinge")
    Traceback (most recent call last):
        ...
    ValueError: loss='hinge' is unknown; choose one of 'exponential', 'logistic', 'savage', 'mm', 'one-vs-all', \
'own-score', 'softmax-cost', or pass a Loss.
    """
    return resolve(value, LOSSES, Loss, "loss")
