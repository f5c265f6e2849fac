"""The MCBoost family: boosting on a simplex of codewords."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from .._describing import described
from ..estimators.booster import Booster
from ..estimators.parts import Parts, make_parts
from ..optimizers import CoordinateDescent


@described
@dataclass(eq=False, repr=False)
class GDMCBoostClassifier(Booster):
    """GD-MCBoost (Saberian & Vasconcelos, 2011): gradient descent with vector-valued weak learners.

    Each round fits one learner with values in R^d to the functional gradient; a line search chooses the step. The
    optimizer and the step are those of the algorithm.

    Parameters
    ----------
    loss : str or Loss, default="exponential"
        What boosting makes small: "exponential" is the loss of the paper; "logistic", "savage" and any other γ–φ loss
        can be used as well.
    codewords : str, Codewords or array of shape (K, d), default="simplex"
        The vectors of the classes: "simplex" are the corners of a regular simplex, those of the paper; "canonical",
        "max-min", …, or your own matrix with a row for every class in the order of ``classes_``.
    learner : str, Learner or scikit-learn estimator, default="vector-tree"
        The weak learner. "vector-tree" has unit vectors in its leaves, "class-tree" answers with codewords; others, and
        scikit-learn's classifiers and regressors, can be used as well.

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


@described
@dataclass(eq=False, repr=False)
class CDMCBoostClassifier(Booster):
    """CD-MCBoost (Saberian & Vasconcelos, 2011): coordinate descent with scalar weak learners.

    Each round improves one coordinate of F: the one that lowers the risk most, or the next in turn. A line search
    chooses the step.

    Parameters
    ----------
    loss : str or Loss, default="exponential"
        What boosting makes small: "exponential" is the loss of the paper; "logistic", "savage" and any other γ–φ loss
        can be used as well.
    codewords : str, Codewords or array of shape (K, d), default="simplex"
        The vectors of the classes: "simplex" are the corners of a regular simplex, those of the paper; "canonical",
        "max-min", …, or your own matrix with a row for every class in the order of ``classes_``.
    learner : str, Learner or scikit-learn estimator, default="stump"
        The weak learner of one coordinate: "stump" and trees answer ±1, "linear" is a line in one feature;
        scikit-learn's classifiers and regressors can be used as well.
    schedule : {"best", "cyclic"}, default="best"
        Which coordinate is next: "best" tries all of them and takes the one that lowers the risk most (the journal
        version of the paper), "cyclic" takes them in turn (the conference version).

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
