"""The MCBoost family: boosting on a simplex of codewords."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ..estimators.booster import Booster
from ..estimators.parts import Parts, make_parts
from ..optimizers import CoordinateDescent


@dataclass(eq=False, repr=False)
class GDMCBoostClassifier(Booster):
    """GD-MCBoost (Saberian & Vasconcelos, 2011): gradient descent with vector-valued weak learners.

    Each round fits one learner with values in R^d to the functional gradient; a line search chooses the step.
    ``learner="vector-tree"`` has unit vectors in its leaves, ``"class-tree"`` answers with codewords.

    The optimizer and the step are fixed; the other parameters are those of `BoostingClassifier`.

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

    def parts(self) -> Parts:
        """The parts as objects."""
        return make_parts(self.loss, self.codewords, self.learner, "gradient", "line-search")


@dataclass(eq=False, repr=False)
class CDMCBoostClassifier(Booster):
    """CD-MCBoost (Saberian & Vasconcelos, 2011): coordinate descent with scalar weak learners.

    Each round improves one coordinate of F: the one that lowers the risk most (``schedule="best"``, the journal
    version) or the next in turn (``"cyclic"``, the conference version).

    The optimizer and the step are fixed; the other parameters are those of `BoostingClassifier`, and

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
    schedule: str = "best"

    def parts(self) -> Parts:
        """The parts as objects, the optimizer with its schedule."""
        optimizer = CoordinateDescent(self.schedule)
        return make_parts(self.loss, self.codewords, self.learner, optimizer, "line-search")
