"""Provides loss functions of class scores U (n, K) and true classes c (n,): values (n,), residuals −∂L/∂U (n, K)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..._util.params import resolve
from ...model.code import Gradient
from .base import Loss, clamp_scores, margins
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
    "clamp_scores",
    "for_label_sets",
    "margins",
]

LOSSES = Loss.table

# The loss that a name or `Loss` stands for.
as_loss: Callable[[Any], Loss] = partial(resolve, table=LOSSES, base=Loss, parameter="loss")
