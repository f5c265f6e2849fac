"""LogitBoost: Newton steps on the multinomial likelihood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from .._describing import described
from ..codewords import Canonical
from ..estimators.booster import Booster
from ..estimators.parts import Parts, make_parts
from ..optimizers import NewtonCoordinates


@described
@dataclass(eq=False, repr=False)
class LogitBoostClassifier(Booster):
    """Multiclass LogitBoost (Friedman, Hastie & Tibshirani, 2000): Newton steps, one regression per class and round.

    The regression of class k fits (1[c=k] − p_k) / p_k(1−p_k) by least squares with weights p_k(1−p_k), where c is the
    true class; then the scores are centred over the classes. Boosting stops when no class has an edge. Probabilities
    are p = softmax(f); ``decision_function`` returns f/2.

    Parameters
    ----------
    learner : str, Learner or scikit-learn regressor, default="regression-tree"
        The weak learner of every class, a regressor: "regression-tree", "newton-tree", "linear", …, or any scikit-learn
        regressor. The loss, the codewords, the optimizer and the step are those of the algorithm.
    clip : float, default=4.0
        The largest absolute value of the numbers that the regressions fit; larger ones are cut.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> LogitBoostClassifier(n_estimators=10).fit(X, y).score(X, y) > 0.98
    True
    """

    paper: ClassVar[str] = "Friedman, Hastie & Tibshirani 2000"
    learner: Any = "regression-tree"
    clip: float = 4.0

    def parts(self) -> Parts:
        """The parts as objects; it is the codewords that centre the scores."""
        optimizer = NewtonCoordinates(self.clip)
        return make_parts("logistic", Canonical(centered=True), self.learner, optimizer, "fixed")
