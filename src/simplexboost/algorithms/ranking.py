"""AdaBoost.M2 and its version for several labels, AdaBoost.MR: the labels shall rank above the other classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from .._describing import described
from ..estimators.booster import Booster
from ..estimators.parts import Parts, make_parts
from .product import closed_form, product_parts


@described
@dataclass(eq=False, repr=False)
class AdaBoostM2Classifier(Booster):
    """AdaBoost.M2 (Freund & Schapire, 1997) and AdaBoost.MR (Schapire & Singer, 1999): learners say what is plausible.

    A learner says which classes are plausible, g(x, k) in [0, 1]. Its pseudo-loss e = ½ Σ w (1 − g(x, c) + g(x, k))
    is a sum over all examples and wrong classes k, c being the true class; the step is ln((1−e)/e), the edge 1 − 2e.
    Boosting stops when the edge is zero, or after a perfect learner, which is kept. The training error is at most
    (K−1) Π 2√(e(1−e)), ``history_["bound"]``. Probabilities are softmax(F), the link of the loss
    Σ_k e^{−(F_c − F_k)/2}.

    If y is an indicator matrix (n, K), examples may have any number of labels. The loss then runs over the pairs of a
    label and a class that is not a label; the pairs of an example share its weight equally, and the bound is on the
    part of the pairs that are ranked wrongly. `predict` returns an indicator matrix of the classes whose score is above
    a threshold. A ranking has no posterior, so `predict_proba` is then only a score: σ of twice the distance to the
    threshold.

    Parameters
    ----------
    learner : str, Learner or scikit-learn estimator, default="subset-tree"
        The weak learner, which marks the plausible classes. In mode "shared", a learner that names one class calls only
        that class plausible, which makes this AdaBoost.MM. The loss, the codewords and the optimizer are those of the
        algorithm.
    step : {"edge", "exact"}, default="edge"
        "edge" is the paper's step, "exact" the minimiser of the risk.
    learner_mode : {"shared", "separate", "index"}, default="shared"
        "shared" is one tree with a set of classes in each leaf; "separate" is a tree for every class; "index" is a
        stump on [x, k], the features and the number of the class.

    Attributes
    ----------
    threshold_ : array, or None
        If y was an indicator matrix: the linear function of the scores above which a class is predicted, fitted after
        boosting. None if y was a column of labels.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> AdaBoostM2Classifier(n_estimators=10).fit(X, y).score(X, y)
    1.0
    """

    paper: ClassVar[str] = "Freund & Schapire 1997; Schapire & Singer 1999"
    multilabel: ClassVar[bool] = True
    fits_threshold: ClassVar[bool] = True
    learner: Any = "subset-tree"
    step: Any = "edge"
    learner_mode: str = "shared"

    def parts(self) -> Parts:
        """The parts as objects; learner and optimizer are those of the mode."""
        learner, optimizer = product_parts(self.learner_mode, self.learner)
        return make_parts("exponential", "canonical", learner, optimizer, closed_form(self.step))
