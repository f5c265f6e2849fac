"""AdaBoost for many classes: M1, SAMME, one-vs-all, MM, MH, M2 and its multi-label version MR, and ECC.

MH, M2 and sm-boost (in `gradient`) need weak learners h(x, k) of a row x and a class k; ``learner_mode`` says which.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from .._util.arrays import Array
from .._util.params import check_choice
from ..model.hypotheses import direction
from ..parts.learners import GreedyTree, HammingTree, IndexStump, Learner, as_learner
from ..parts.losses import MM, OwnScoreExponential
from ..parts.optimizers import AllCoordinates, GradientDescent, NewColumn, Optimizer, SignedDescent
from ..parts.steps import ClosedForm, ErrorStep, Step, as_step
from .booster import Booster
from .plan import Parts, make_parts

MODES: dict[str, type[Optimizer]] = {"shared": GradientDescent, "separate": AllCoordinates, "index": GradientDescent}
SIGNED_MODES = {**MODES, "single-label": SignedDescent}


def product_parts(mode: str, learner: Any, modes: dict[str, type[Optimizer]] = MODES) -> tuple[Learner, Optimizer]:
    """Return the weak learner and the optimizer for a ``learner_mode``; ``modes`` maps modes to optimizers."""
    check_choice("learner_mode", mode, modes)
    return IndexStump() if mode == "index" else as_learner(learner), modes[mode]()


def closed_form(step: Any) -> Step:
    """Return `ClosedForm` with the rule "edge" or "exact" if ``step`` is one of them, else ``step`` as a `Step`."""
    return ClosedForm(step) if isinstance(step, str) and step in ("edge", "exact") else as_step(step)


class OneVsAllBoostClassifier(Booster):
    """One-vs-all AdaBoost: a binary booster for each class against all other classes; the highest score wins.

    All K boosters are trained together. A booster whose weak learner makes no error keeps that learner and ends, also
    for a later ``warm_start`` on the same rows. The fit stops when all boosters have ended or none finds an edge. Class
    probabilities are AdaBoost's sigmoid σ(2 f_k) of the scores f_k, divided by their sum.

    Parameters
    ----------
    learner : str, Learner or scikit-learn classifier, default="stump"
        The weak learner of every class, which predicts ±1: "stump", "vector-tree", …, or any scikit-learn classifier.
        The loss, the codewords, the optimizer and the step are those of the algorithm.

    Examples
    --------
    >>> OneVsAllBoostClassifier(n_estimators=20).fit(X, y).score(X, y) > 0.95
    True
    """

    paper: ClassVar[str] = "Freund & Schapire 1997"
    learner: Any = "stump"

    def parts(self) -> Parts:
        return make_parts("one-vs-all", "canonical", self.learner, AllCoordinates(shared_step=False), "closed-form")


class AdaBoostM1Classifier(Booster):
    """AdaBoost.M1 (Freund & Schapire, 1997): weak learners predict a class and vote for it with weight ln((1−e)/e).

    Boosting stops when the weighted error e of a learner is not below ½, which happens soon with many classes and small
    trees (see `SAMMEClassifier` and `AdaBoostMMClassifier`), or after a learner without errors, which is kept. The
    training error is at most Π 2√(e(1−e)) over the rounds, ``history_["bound"]``. Probabilities are a soft-max of the
    votes: normalised scores, not estimates of a posterior.

    Parameters
    ----------
    learner : str, Learner or scikit-learn classifier, default="greedy-info-tree"
        The weak learner, which predicts a class: "info-tree", "greedy-info-tree", "class-tree", …, or any scikit-learn
        classifier. The loss, the codewords, the optimizer and the step are those of the algorithm.
    max_vote : float or None, default=None
        The largest weight of a vote. None sets no limit, as in the paper. A learner without errors, whose vote would be
        infinite, gets the weight ``max_vote``, and 10 with None.

    Examples
    --------
    >>> clf = AdaBoostM1Classifier("info-tree", n_estimators=20).fit(X, y)
    >>> clf.history_["error"][:2].round(4)
    array([0.04  , 0.1076])
    """

    paper: ClassVar[str] = "Freund & Schapire 1997"
    learner: Any = "greedy-info-tree"
    max_vote: Any = None

    def parts(self) -> Parts:
        return make_parts("own-score", "canonical", self.learner, "gradient", ErrorStep(max_vote=self.max_vote))


class SAMMEClassifier(Booster):
    """SAMME (Zhu, Zou, Rosset & Hastie, 2009): votes weigh ln((1−e)/e) + ln(K−1), so learners need only beat guessing.

    Boosting stops when the weighted error e is not below 1 − 1/K, or after a learner without errors, which is kept.
    This weak-learning condition is too weak for a guarantee: the loss may go to zero while half of the training
    examples stay wrong (Mukherjee & Schapire, 2013), so there is no bound in the history. Probabilities are
    softmax(f/(K−1)) of the sums of votes f, as in the paper.

    The codewords are the paper's, (K I − 1)/(K−1); on them the step is (K−1)²/K times the weight of the vote.

    Parameters
    ----------
    learner : str, Learner or scikit-learn classifier, default="gini-tree"
        The weak learner, which predicts a class: "gini-tree", "greedy-info-tree" (12(K−1) leaves, grown best first),
        "class-tree", …, or any scikit-learn classifier. The loss, the codewords, the optimizer and the step are those
        of the algorithm.
    max_vote : float or None, default=None
        The largest weight of a vote. None sets no limit, as in the paper. A learner without errors, whose vote would be
        infinite, gets the weight ``max_vote``, and 10 with None.

    Examples
    --------
    >>> SAMMEClassifier(n_estimators=20).fit(X, y).score(X, y) > 0.98
    True
    """

    paper: ClassVar[str] = "Zhu, Zou, Rosset & Hastie 2009"
    learner: Any = "gini-tree"
    max_vote: Any = None

    def parts(self) -> Parts:
        return make_parts(
            OwnScoreExponential("1/K"), "samme", self.learner, "gradient", ErrorStep("chance", self.max_vote)
        )


class AdaBoostMMClassifier(Booster):
    """AdaBoost.MM (Mukherjee & Schapire, 2013): every wrong class has a cost; learners need only beat guessing.

    Weak learners predict the class of least cost; the edge is δ, their advantage over random guessing under the costs.
    The algorithm is also known as AdaBoost-Cost. Boosting stops when δ is zero, or after a learner without errors,
    which is kept. The training error is at most (K−1) Π √(1−δ²), ``history_["bound"]``. Probabilities are softmax(2F)
    of the scores F, the weighted votes.

    Parameters
    ----------
    learner : str, Learner or scikit-learn classifier, default="class-tree"
        The weak learner, which predicts a class: "class-tree", "greedy-tree" (grown best first up to a number of
        leaves), …, or any scikit-learn classifier, which gets one weight for every example and cannot use the costs of
        the individual wrong classes. The loss, the codewords and the optimizer are those of the algorithm.
    step : {"edge", "exact"}, default="edge"
        "edge" is ½ ln((1+δ)/(1−δ)), equation (61) of the paper and the step of its experiments; "exact" is the
        minimiser of the risk, equation (62), which is larger when there are many classes.
    cost_matrix : array of shape (K, K) or None, default=None
        The weight of the pair of a true class (row) and a rival (column); the risk and the bound are then those of the
        cost. None gives all pairs the weight 1.

    Examples
    --------
    >>> AdaBoostMMClassifier(n_estimators=30).fit(X, y).score(X, y) > 0.98
    True
    """

    paper: ClassVar[str] = "Mukherjee & Schapire 2013"
    learner: Any = "class-tree"
    step: Any = "edge"
    cost_matrix: Any = None

    def parts(self) -> Parts:
        return make_parts(MM(self.cost_matrix), "canonical", self.learner, "gradient", closed_form(self.step))


class AdaBoostMHClassifier(Booster):
    """AdaBoost.MH (Schapire & Singer, 1999): weak learners give ±1 for every class, with one step for all classes.

    Each pair of an example i and a class k is a binary problem: whether k is a label of i. Its target is z = ±1 and its
    weight e^{−z f}, where f is the score; γ is the edge over all pairs, and the step ½ ln((1+γ)/(1−γ)). Boosting stops
    when γ is zero, or after a learner without errors, which is kept. The highest score wins; at most (K/2) Π √(1−γ²) of
    the training examples are wrong, ``history_["bound"]``. Class probabilities are σ(2 f_k), divided by their sum.

    If y is an indicator matrix (n, K), examples may have any number of labels: `predict` returns such a matrix, which
    marks the classes with positive scores, probabilities are σ(2 f_k) of each label on its own, and the bound is
    Π √(1−γ²), on the Hamming loss.

    Parameters
    ----------
    learner : None, str, Learner or scikit-learn estimator, default=None
        The weak learner. None is the default of the mode: trees of 12 leaves, grown best first. The mode "index" takes
        no other learner. The loss, the codewords and the optimizer are those of the algorithm.
    step : str or Step, default="closed-form"
        How far each step goes. "closed-form" is the algorithm's own step; "line-search" and "fixed" are others.
    learner_mode : {"shared", "separate", "single-label", "index"}, default="shared"
        "shared" is one tree with a sign for every class in each leaf (Hamming tree); "separate" is a tree for every
        class; "single-label" is a learner that gives +1 to one class and −1 to all others; "index" is a stump on the
        features and the class index, [x, k], which the conference version of MCBoost uses.

    Examples
    --------
    >>> AdaBoostMHClassifier(n_estimators=10).fit(X, y).score(X, y)
    1.0
    >>> several = [[1, 0, 0] if k == 0 else [0, 1, k - 1] for k in y]
    >>> AdaBoostMHClassifier(n_estimators=10).fit(X, several).predict(X[[0, 50, 100]])
    array([[1, 0, 0],
           [0, 1, 0],
           [0, 1, 1]])
    """

    paper: ClassVar[str] = "Schapire & Singer 1999"
    _multilabel: ClassVar[bool] = True
    _fits_threshold: ClassVar[bool] = True
    learner: Any = None
    step: Any = "closed-form"
    learner_mode: str = "shared"

    def parts(self) -> Parts:
        check_choice("learner_mode", self.learner_mode, SIGNED_MODES)
        own = GreedyTree(max_leaf_nodes=12) if self.learner_mode == "single-label" else HammingTree()
        learner = own if self.learner is None else self.learner
        learner, optimizer = product_parts(self.learner_mode, learner, SIGNED_MODES)
        return make_parts("one-vs-all", "canonical", learner, optimizer, self.step)


class AdaBoostM2Classifier(Booster):
    """AdaBoost.M2 (Freund & Schapire, 1997) and AdaBoost.MR (Schapire & Singer, 1999): learners mark plausible classes.

    A weak learner gives class k of example x a plausibility g(x, k) in [0, 1]. Its pseudo-loss e = ½ Σ w (1 − g(x, c) +
    g(x, k)) is a sum with weights w over all examples and wrong classes k, c being the true class; the step is
    ln((1−e)/e), the edge 1 − 2e. Boosting stops when the edge is zero, or after a learner without errors, which is
    kept. The training error is at most (K−1) Π 2√(e(1−e)), ``history_["bound"]``. Probabilities are softmax(F), the
    posterior that follows from the minimum of the mean loss Σ_k e^{−(F_c − F_k)/2}.

    If y is an indicator matrix (n, K), examples may have any number of labels. The loss then runs over the pairs of a
    label and a class that is not a label; the pairs of an example share its weight equally, and the bound is on the
    fraction of pairs that are ranked wrongly. `predict` returns an indicator matrix of the classes whose score is above
    a threshold. A ranking has no posterior, so `predict_proba` is then only a score: σ of twice the distance to the
    threshold.

    Parameters
    ----------
    learner : str, Learner or scikit-learn estimator, default="subset-tree"
        The weak learner, which marks the plausible classes. In mode "shared", a learner that predicts one class marks
        only that class, which makes this AdaBoost.MM. The loss, the codewords and the optimizer are those of the
        algorithm.
    step : {"edge", "exact"}, default="edge"
        "edge" is the paper's step, "exact" the minimiser of the risk.
    learner_mode : {"shared", "separate", "index"}, default="shared"
        "shared" is one tree with a set of classes in each leaf; "separate" is a tree for every class; "index" is a
        stump on [x, k], the features and the class index.

    Attributes
    ----------
    threshold_ : array, or None
        If y was an indicator matrix: the linear function of the scores above which a class is predicted, fitted after
        boosting. None if y was a column of labels.

    Examples
    --------
    >>> AdaBoostM2Classifier(n_estimators=10).fit(X, y).score(X, y)
    1.0
    """

    paper: ClassVar[str] = "Freund & Schapire 1997; Schapire & Singer 1999"
    _multilabel: ClassVar[bool] = True
    _fits_threshold: ClassVar[bool] = True
    learner: Any = "subset-tree"
    step: Any = "edge"
    learner_mode: str = "shared"

    def parts(self) -> Parts:
        learner, optimizer = product_parts(self.learner_mode, self.learner)
        return make_parts("exponential", "canonical", learner, optimizer, closed_form(self.step))


class AdaBoostECCClassifier(Booster):
    """AdaBoost.ECC (Guruswami & Sahai, 1999): each round gives a class one of two colours, which a learner predicts.

    The colours are a new column of an output code; the learner's vote weighs ¼ ln((1−ε)/ε), where ε is its weighted
    error. If the learner has no edge, another colouring is drawn; boosting stops after 20 failures in a row. The
    training error is at most (K−1) Π (1 − s + 2s √(ε(1−ε))), ``history_["bound"]``, where s is the share, by weight, of
    the pairs (example, wrong class) whose two classes differ in colour. Probabilities are the posterior of the loss,
    softmax(2f) of the sums of votes f.

    Parameters
    ----------
    learner : str, Learner or scikit-learn classifier, default="vector-tree"
        The weak learner, which predicts ±1: "vector-tree", "stump", …, or any scikit-learn classifier. The loss, the
        codewords, the optimizer and the step are those of the algorithm.
    colouring : {"random", "max-cut"}, default="random"
        "random" gives each colour to half of the classes, at random; "max-cut" flips single classes as long as that
        puts more weight between the colours (Schapire, 1997).

    Attributes
    ----------
    codewords_ : array of shape (number of present classes, rounds)
        The output code of ±1, with a column for each round; the first row is all +1.

    Examples
    --------
    >>> clf = AdaBoostECCClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> clf.codewords_.shape, clf.score(X, y) > 0.98
    ((3, 20), True)
    """

    paper: ClassVar[str] = "Guruswami & Sahai 1999"
    learner: Any = "vector-tree"
    colouring: str = "random"

    def parts(self) -> Parts:
        return make_parts("mm", "canonical", self.learner, NewColumn(self.colouring), "closed-form")

    @property
    def codewords_(self) -> Array:
        """The output code (number of present classes, T): ±1, a column for each round; the first row is all +1."""
        columns = [np.sign(direction(term.hypothesis)) for term in self.model_.terms]
        return np.array([mu * mu[0] for mu in columns]).reshape(-1, len(self.model_.Y)).T
