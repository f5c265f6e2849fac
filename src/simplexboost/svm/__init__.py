"""The multiclass support vector machine: `classifier` is the scikit-learn side, `kernels` and `solvers` do the work."""

from .classifier import MulticlassSVC

__all__ = ["MulticlassSVC"]
