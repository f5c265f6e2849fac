"""Provides step rules, which choose α in F ← F + α h.

`LineSearch` minimises the risk Σ_i w_i L_i(U + αW) along the ray U + α W with W = ½ h Yᵀ (n, K). `ClosedForm` gives
AdaBoost's step where the loss is a sum of exponentials. `ErrorStep` computes the weight of a vote from its weighted
error. `GradientStep` takes the edge as the step. `FixedStep` always takes the same step.
"""

from __future__ import annotations

from typing import Any

from ..._util.params import resolve
from .ray import Ray, Stride
from .rules import ClosedForm, ErrorStep, FixedStep, GradientStep, LineSearch, Step

__all__ = [
    "STEPS",
    "ClosedForm",
    "ErrorStep",
    "FixedStep",
    "GradientStep",
    "LineSearch",
    "Ray",
    "Step",
    "Stride",
    "as_step",
]

STEPS: dict[str, type[Step]] = {
    "line-search": LineSearch,
    "closed-form": ClosedForm,
    "error": ErrorStep,
    "fixed": FixedStep,
    "gradient": GradientStep,
}


def as_step(value: Any) -> Step:
    """The step that ``value`` stands for: a name, or a `Step`, which is returned as it is.

    Parameters
    ----------
    value : str or Step
        A key of ``STEPS``, or a step.

    Examples
    --------
    >>> as_step("fixed")
    FixedStep()
    """
    return resolve(value, STEPS, Step, "step")
