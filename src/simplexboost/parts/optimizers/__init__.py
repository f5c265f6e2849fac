"""Provides optimizers, which ask the weak learner for hypotheses and turn them into steps F ← F + α h.

==================  ==================================================================================
`GradientDescent`   one vector-valued h (GD-MCBoost, AdaBoost.M1, SAMME, AdaBoost.MM, …)
`SignedDescent`     the same with answers +1 for the named class and −1 for the others (AdaBoost.MH)
`CoordinateDescent` a scalar h in the best or the next coordinate (CD-MCBoost)
`AllCoordinates`    a scalar h in each coordinate (one-vs-all, AdaBoost.MH)
`SampledPairs`      the gradient on sampled pairs of an example and a class (sm-boost)
`Newton`            a vector-valued h; the learner also gets the curvature
`NewtonCoordinates` a scalar h in each coordinate, fitted to its Newton step (LogitBoost)
`NewColumn`         a scalar h along a direction that is new in every round (AdaBoost.ECC)
`SketchedNewton`    a vector tree with splits on a sketch of the gradient (SimplexBoost)
==================  ==================================================================================
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..._util.params import resolve
from .base import Optimizer
from .descent import (
    AllCoordinates,
    CoordinateDescent,
    GradientDescent,
    NewColumn,
    Newton,
    NewtonCoordinates,
    SampledPairs,
    SignedDescent,
)
from .sketched import GaussianSketch, Sketch, SketchedNewton

__all__ = [
    "OPTIMIZERS",
    "AllCoordinates",
    "CoordinateDescent",
    "GaussianSketch",
    "GradientDescent",
    "NewColumn",
    "Newton",
    "NewtonCoordinates",
    "Optimizer",
    "SampledPairs",
    "SignedDescent",
    "Sketch",
    "SketchedNewton",
    "as_optimizer",
]

OPTIMIZERS = Optimizer.table | {"sketched-newton": SketchedNewton}

# The optimizer that a name or `Optimizer` stands for.
as_optimizer: Callable[[Any], Optimizer] = partial(resolve, table=OPTIMIZERS, base=Optimizer, parameter="optimizer")
