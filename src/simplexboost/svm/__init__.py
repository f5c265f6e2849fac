"""The multiclass support vector machine: `classifier` is its scikit-learn face, `kernels` and `solvers` do the work."""

from .classifier import MulticlassSVC

__all__ = ["MulticlassSVC"]
