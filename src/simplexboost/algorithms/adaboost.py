"""AdaBoost for many classes: one booster per class, learners that name one class, and the version of the theory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from .._describing import described
from ..estimators.booster import Booster
from ..estimators.parts import Parts, make_parts
from ..losses import MM, OwnScoreExponential
from ..optimizers import AllCoordinates
from ..steps import ErrorStep
from .product import closed_form


@described
@dataclass(eq=False, repr=False)
class OneVsAllBoostClassifier(Booster):
    """One AdaBoost per class, the class against the rest; the highest score wins.

    K binary boosters are trained together. A booster that finds a perfect learner keeps it and ends, also for a later
    ``warm_start`` on the same rows, while the others go on; the fit stops when all have ended or none finds an edge.
    Class probabilities are AdaBoost's σ(2 f_k), divided by their sum.

    Parameters
    ----------
    learner : str, Learner or scikit-learn classifier, default="stump"
        The weak learner of every class, which answers ±1: "stump", "vector-tree", …, or any scikit-learn classifier.
        The loss, the codewords, the optimizer and the step are those of the algorithm.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> OneVsAllBoostClassifier(n_estimators=20).fit(X, y).score(X, y) > 0.95
    True
    """

    paper: ClassVar[str] = "Freund & Schapire 1997"
    learner: Any = "stump"

    def parts(self) -> Parts:
        """The parts as objects; every class has its own step size."""
        return make_parts("one-vs-all", "canonical", self.learner, AllCoordinates(shared_step=False), "closed-form")


@described
@dataclass(eq=False, repr=False)
class AdaBoostM1Classifier(Booster):
    """AdaBoost.M1 (Freund & Schapire, 1997): learners that name a class vote with weight ln((1−e)/e).

    Boosting stops when the weighted error e of a learner is not below ½, which happens soon with many classes and small
    trees (see `SAMMEClassifier` and `AdaBoostMMClassifier`), or after a perfect learner, which is kept. The training
    error is at most Π 2√(e(1−e)), ``history_["bound"]``. Probabilities are a soft-max of the votes: they are normalised
    scores, not estimates of a posterior.

    Parameters
    ----------
    learner : str, Learner or scikit-learn classifier, default="greedy-info-tree"
        The weak learner, which names a class: "info-tree", "greedy-info-tree", "class-tree", …, or any scikit-learn
        classifier. The loss, the codewords, the optimizer and the step are those of the algorithm.
    max_vote : float or None, default=None
        The most that a vote weighs. With None no vote is cut, as in the paper. The vote of a perfect learner, which the
        formula makes infinite, weighs ``max_vote``, and 10 with None.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = AdaBoostM1Classifier("info-tree", n_estimators=20).fit(X, y)
    >>> clf.history_["error"][:2].round(4)
    array([0.04  , 0.1076])
    """

    paper: ClassVar[str] = "Freund & Schapire 1997"
    learner: Any = "greedy-info-tree"
    max_vote: Any = None

    def parts(self) -> Parts:
        """The parts as objects, the step with its largest vote."""
        return make_parts("own-score", "canonical", self.learner, "gradient", ErrorStep(max_vote=self.max_vote))


@described
@dataclass(eq=False, repr=False)
class SAMMEClassifier(Booster):
    """SAMME (Zhu, Zou, Rosset & Hastie, 2009): votes weigh ln((1−e)/e) + ln(K−1); learners need only beat guessing.

    Boosting stops when the weighted error e is not below 1 − 1/K, or after a perfect learner, which is kept. That
    condition is too weak for a guarantee: the loss may go to zero while half of the training examples stay wrong
    (Mukherjee & Schapire, 2013), so there is no bound in the history. Probabilities are softmax(f/(K−1)), the paper's
    link.

    The codewords are the paper's, (K I − 1)/(K−1); on them the step is (K−1)²/K times the weight of the vote.

    Parameters
    ----------
    learner : str, Learner or scikit-learn classifier, default="gini-tree"
        The weak learner, which names a class: "gini-tree", "greedy-info-tree" (12(K−1) leaves, grown best first),
        "class-tree", …, or any scikit-learn classifier. The loss, the codewords, the optimizer and the step are those
        of the algorithm.
    max_vote : float or None, default=None
        The most that a vote weighs. With None no vote is cut, as in the paper. The vote of a perfect learner, which the
        formula makes infinite, weighs ``max_vote``, and 10 with None.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> SAMMEClassifier(n_estimators=20).fit(X, y).score(X, y) > 0.98
    True
    """

    paper: ClassVar[str] = "Zhu, Zou, Rosset & Hastie 2009"
    learner: Any = "gini-tree"
    max_vote: Any = None

    def parts(self) -> Parts:
        """The parts as objects; the loss with rate 1/K and the step are those of SAMME."""
        return make_parts(
            OwnScoreExponential("1/K"), "samme", self.learner, "gradient", ErrorStep("chance", self.max_vote)
        )


@described
@dataclass(eq=False, repr=False)
class AdaBoostMMClassifier(Booster):
    """AdaBoost.MM (Mukherjee & Schapire, 2013): every wrong class has a cost; learners need only beat guessing.

    Learners name the class of least cost; the edge is δ, their advantage over guessing under the costs. The algorithm
    is also known as AdaBoost-Cost. Boosting stops when δ is zero, or after a perfect learner, which is kept. The
    training error is at most (K−1) Π √(1−δ²), ``history_["bound"]``. Probabilities are softmax(2 · votes), where the
    votes are the scores F.

    Parameters
    ----------
    learner : str, Learner or scikit-learn classifier, default="class-tree"
        The weak learner, which names a class: "class-tree", "greedy-tree" (grown best first up to a number of leaves),
        …, or any scikit-learn classifier, which gets one weight for every example and cannot use the costs of the
        individual wrong classes. The loss, the codewords and the optimizer are those of the algorithm.
    step : {"edge", "exact"}, default="edge"
        "edge" is ½ ln((1+δ)/(1−δ)), equation (61) of the paper and the step of its experiments; "exact" is the
        minimiser of the risk, equation (62), which is larger when there are many classes.
    cost_matrix : array of shape (K, K) or None, default=None
        The weight of the pair of a true class (row) and a rival (column); the risk and the bound are then those of the
        cost. None gives all pairs the weight 1.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> AdaBoostMMClassifier(n_estimators=30).fit(X, y).score(X, y) > 0.98
    True
    """

    paper: ClassVar[str] = "Mukherjee & Schapire 2013"
    learner: Any = "class-tree"
    step: Any = "edge"
    cost_matrix: Any = None

    def parts(self) -> Parts:
        """The parts as objects, the loss with its costs."""
        return make_parts(MM(self.cost_matrix), "canonical", self.learner, "gradient", closed_form(self.step))
