"""AdaBoost.M2 and its version for several labels, AdaBoost.MR: labels are to rank above the other classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ..estimators.booster import Booster
from ..estimators.parts import Parts, make_parts
from .product import closed_form, product_parts


@dataclass(eq=False, repr=False)
class AdaBoostM2Classifier(Booster):
    """AdaBoost.M2 (Freund & Schapire, 1997) and AdaBoost.MR (Schapire & Singer, 1999): plausible classes, ranked.

    A learner says which classes are plausible, g(x, k) in [0, 1]. Its pseudo-loss e = ½ Σ w (1 − g(x, c) + g(x, k))
    runs over all examples and wrong classes, the step is ln((1−e)/e), the edge 1 − 2e. Boosting stops when that is
    zero, or after a perfect learner, which is kept. The training error is at most (K−1) Π 2√(e(1−e)),
    ``history_["bound"]``. Probabilities softmax(F), the link of the loss Σ_k e^{−(F_c − F_k)/2}.

    With an indicator matrix y (n, K) examples have any number of labels, pairs of a label and a class that is none
    weigh 1 / their number, and the bound is one on the part of such pairs that are ranked wrongly. `predict` returns an
    indicator matrix: the scores above a threshold that is a linear function of them, ``threshold_``, fitted after
    boosting. A ranking has no posterior; `predict_proba` is then a score, σ of twice the distance to the threshold.

    Parameters are those of `BoostingClassifier`, the loss, the codewords and the optimizer being fixed, and

    step : {"edge", "exact"}, default="edge"
        The paper's step, or the minimiser of the risk.
    learner_mode : {"shared", "separate", "index"}, default="shared"
        One tree with a set of classes in each leaf; a tree for every class; a stump on [x, k].
    learner : str, Learner or scikit-learn estimator, default="subset-tree"
        With "shared", learners that name one class find it alone plausible, which makes this AdaBoost.MM.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> AdaBoostM2Classifier(n_estimators=10).fit(X, y).score(X, y)
    1.0
    """

    paper: ClassVar[str] = "Freund & Schapire 1997; Schapire & Singer 1999"
    multilabel: ClassVar[bool] = True
    learner: Any = "subset-tree"
    step: Any = "edge"
    learner_mode: str = "shared"

    def parts(self) -> Parts:
        """The parts as objects; learner and optimizer are those of the mode."""
        learner, optimizer = product_parts(self.learner_mode, self.learner)
        return make_parts("exponential", "canonical", learner, optimizer, closed_form(self.step))
