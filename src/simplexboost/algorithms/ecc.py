"""AdaBoost.ECC: an output code that grows a column per round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._typing import Array
from ..boosting.hypotheses import direction
from ..estimators.booster import Booster
from ..estimators.parts import Parts, make_parts
from ..optimizers import NewColumn


@dataclass(eq=False, repr=False)
class AdaBoostECCClassifier(Booster):
    """AdaBoost.ECC (Guruswami & Sahai, 1999): every round asks a binary learner for one of two colours of the classes.

    The colours are a new column of an output code, ``codewords_`` (K, T); the learner's vote weighs ¼ ln((1−ε)/ε). A
    colouring without an edge is drawn again; boosting stops when 20 in a row had none. The training error is at most
    (K−1) Π (1 − s + 2s √(ε(1−ε))) with s the part of the pairs (example, rival) that a column tells apart,
    ``history_["bound"]``. Probabilities are the posterior of the loss, softmax(2f) of the sums of votes f.

    Parameters are those of `BoostingClassifier` without the parts but the learner, and

    colouring : {"random", "max-cut"}, default="random"
        Half of the classes each, at random; or so that, as far as flips of single classes go, as much weight as
        possible is between the colours (Schapire, 1997).

    ``learner`` answers ±1: "vector-tree", "stump", …, or any scikit-learn classifier.

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
        """The columns, ±1, (K of the present classes, T); the first class of a column is +1."""
        columns = [np.sign(direction(term.hypothesis)) for term in self.model_.terms]
        return np.array([mu * mu[0] for mu in columns]).reshape(-1, len(self.model_.Y)).T
