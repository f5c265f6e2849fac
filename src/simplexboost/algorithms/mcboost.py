"""The MCBoost family: boosting on a simplex of codewords."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from ..estimators.composed import BoostingClassifier
from ..optimizers import CoordinateDescent


@dataclass(eq=False, repr=False)
class GDMCBoostClassifier(BoostingClassifier):
    """GD-MCBoost (Saberian & Vasconcelos, 2011): gradient descent with vector-valued weak learners.

    Each round fits one learner with values in R^d to the functional gradient and goes as far as a line search says.
    ``learner="vector-tree"`` has unit-vector leaves, ``"class-tree"`` answers with codewords.

    Parameters are those of `BoostingClassifier`, the optimizer and the step being fixed.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> GDMCBoostClassifier(n_estimators=30).fit(X, y).score(X, y)
    1.0
    """

    paper: ClassVar[str] = "Saberian & Vasconcelos 2011"
    loss: Any = "exponential"
    codewords: Any = "simplex"
    learner: Any = "vector-tree"
    optimizer: Any = field(init=False, default="gradient")
    step: Any = field(init=False, default="line-search")


@dataclass(eq=False, repr=False)
class CDMCBoostClassifier(BoostingClassifier):
    """CD-MCBoost (Saberian & Vasconcelos, 2011): coordinate descent with scalar weak learners.

    Each round improves one coordinate of F: the one that lowers the risk most (``schedule="best"``, the journal
    version) or the next in turn (``"cyclic"``, the conference version).

    Parameters are those of `BoostingClassifier`, the optimizer and the step being fixed, and

    schedule : {"best", "cyclic"}, default="best"

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> CDMCBoostClassifier(n_estimators=50).fit(X, y).score(X, y) > 0.95
    True
    """

    paper: ClassVar[str] = "Saberian & Vasconcelos 2011"
    loss: Any = "exponential"
    codewords: Any = "simplex"
    learner: Any = "stump"
    optimizer: Any = field(init=False, default="coordinate")
    step: Any = field(init=False, default="line-search")
    schedule: str = "best"

    def parts(self) -> dict[str, Any]:
        """The parts as objects, the optimizer with its schedule."""
        return self.compose(optimizer=CoordinateDescent(self.schedule))
