"""AdaBoost.ECC: an output code that grows by one column per round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._describing import described
from .._typing import Array
from ..boosting.hypotheses import direction
from ..estimators.booster import Booster
from ..estimators.parts import Parts, make_parts
from ..optimizers import NewColumn


@described
@dataclass(eq=False, repr=False)
class AdaBoostECCClassifier(Booster):
    """AdaBoost.ECC (Guruswami & Sahai, 1999): every round gives the classes two colours, which a learner tells apart.

    The colours are a new column of an output code; the learner's vote weighs ¼ ln((1−ε)/ε), where ε is its weighted
    error. If the learner has no edge, another colouring is drawn; boosting stops after 20 failures in a row. The
    training error is at most (K−1) Π (1 − s + 2s √(ε(1−ε))), ``history_["bound"]``, where s is the share, by weight, of
    the pairs (example, wrong class) whose two classes differ in colour. Probabilities are the posterior of the loss,
    softmax(2f) of the sums of votes f.

    Parameters
    ----------
    learner : str, Learner or scikit-learn classifier, default="vector-tree"
        The weak learner, which answers ±1: "vector-tree", "stump", …, or any scikit-learn classifier. The loss, the
        codewords, the optimizer and the step are those of the algorithm.
    colouring : {"random", "max-cut"}, default="random"
        "random" gives each colour to half of the classes, at random; "max-cut" flips single classes as long as that
        puts more weight between the colours (Schapire, 1997).

    Attributes
    ----------
    codewords_ : array of shape (number of present classes, rounds)
        The columns of the output code, ±1; the first class has +1 in every column.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = AdaBoostECCClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> clf.codewords_.shape, clf.score(X, y) > 0.98
    ((3, 20), True)
    """

    paper: ClassVar[str] = "Guruswami & Sahai 1999"
    learner: Any = "vector-tree"
    colouring: str = "random"

    def parts(self) -> Parts:
        """The parts as objects, the optimizer with its colouring."""
        return make_parts("mm", "canonical", self.learner, NewColumn(self.colouring), "closed-form")

    @property
    def codewords_(self) -> Array:
        """The columns, ±1, (number of present classes, T); the first class has +1 in every column."""
        columns = [np.sign(direction(term.hypothesis)) for term in self.model_.terms]
        return np.array([mu * mu[0] for mu in columns]).reshape(-1, len(self.model_.Y)).T
