"""Provides optimizers, which fit the weak learner in each round and update the predictor, F ← F + α h, by a step α."""

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
