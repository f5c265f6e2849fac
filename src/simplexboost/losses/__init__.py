"""Losses on class scores: U (n, K) and labels c (n,) -> value L (n,) and residual -∂L/∂U (n, K).

A loss depends only on the scores ``U = ½ F Yᵀ``, not on the codewords, the learner or the weights of examples; the
caller weights the rows. ``base`` defines what a loss is. ``gamma_phi`` has the family
``L = γ(Σ_{k≠c} φ(U_c − U_k))``, whose members are in ``exponential``, ``logistic`` and, for your own γ and φ, ``user``;
``user_scores`` takes any function of the scores.
``scores``, ``softmax_cost``, ``multilabel`` and ``blocks`` (examples with several labels, or several class targets)
have the losses outside that family.
``objective`` and ``carried`` evaluate a loss on a training set, ``balance`` measures which terms of a loss fall and
rise along a direction, ``merging`` takes rivals that move alike along it as one, and ``links`` turns scores into
probabilities.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._parts import resolve
from .balance import Balance
from .base import Loss, clamped, margins
from .blocks import BlockLogistic
from .exponential import MM, Exponential
from .gamma_phi import GammaPhi
from .logistic import Logistic, Savage
from .multilabel import MultilabelHamming, MultilabelRanking, for_label_sets
from .objective import Gradient, Objective
from .scores import OneVsAll, OwnScoreExponential
from .softmax_cost import SoftmaxCost, SoftmaxCostTable
from .user import UserGammaPhi
from .user_scores import UserLoss

__all__ = [
    "LOSSES",
    "MM",
    "Balance",
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

    Returns
    -------
    Loss
        The loss.

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
