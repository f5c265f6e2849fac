"""The multiclass support vector machine: `classifier` fits it, with `kernels` and `solvers`; `machine` predicts."""

from .classifier import MulticlassSVC

__all__ = ["MulticlassSVC"]
