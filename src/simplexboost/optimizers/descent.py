"""Gradient descent: one h with values in R^d follows the whole gradient."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..boosting.run import Run, Update
from .asking import gradient_of, step_along
from .base import Optimizer


@dataclass(eq=False, repr=False)
class GradientDescent(Optimizer):
    """Functional gradient descent (GD-MCBoost): one h with values in R^d follows the whole gradient.

    Examples
    --------
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> sb.BoostingClassifier(optimizer=GradientDescent(), n_estimators=10).fit(X, y).score(X, y) > 0.95
    True
    """

    def propose(self, run: Run) -> list[Update]:
        """One vector-valued update."""
        return step_along(run, gradient_of(run))


@dataclass(eq=False, repr=False)
class SignedDescent(GradientDescent):
    """Gradient descent where a learner that names class k answers +1 for k, −1 for every other class (AdaBoost.MH).

    Examples
    --------
    >>> import simplexboost as sb
    >>> sb.AdaBoostMHClassifier(learner_mode="single-label").parts().optimizer
    SignedDescent()
    """

    def propose(self, run: Run) -> list[Update]:
        """One update of signs."""
        return step_along(run, gradient_of(run), answers=2.0 * np.eye(len(run.Y)) - 1.0)

    def check(self, run: Run) -> None:
        """Raise unless the codewords are canonical."""
        if not run.model.code.canonical:
            raise ValueError("optimizer=SignedDescent() needs codewords='canonical': a score per class.")
