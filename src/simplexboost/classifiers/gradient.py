"""Boosters by gradient or Newton steps: LogitBoost, two of the MCBoost family, and sm-boost.

LogitBoost takes Newton steps on the multinomial likelihood. MCBoost descends on a simplex of codewords, by gradient
(GD) or by coordinate (CD). sm-boost descends on the expected cost of a random decision, by sampled pairs of an example
and a class.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from .._util.arrays import AnyArray
from .._util.params import random_generator
from ..parts.codewords import Canonical
from ..parts.losses import SoftmaxCost
from ..parts.optimizers import CoordinateDescent, NewtonCoordinates, SampledPairs
from .adaboost import product_parts
from .booster import Booster
from .eval_sets import read_eval_sets
from .plan import Parts, make_parts


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
        The largest absolute value of the targets of the regressions; larger targets are clipped.

    Examples
    --------
    >>> LogitBoostClassifier(n_estimators=10).fit(X, y).score(X, y) > 0.98
    True
    """

    paper: ClassVar[str] = "Friedman, Hastie & Tibshirani 2000"
    learner: Any = "regression-tree"
    clip: float = 4.0

    def parts(self) -> Parts:
        optimizer = NewtonCoordinates(self.clip)
        return make_parts("logistic", Canonical(centered=True), self.learner, optimizer, "fixed")


class GDMCBoostClassifier(Booster):
    """GD-MCBoost (Saberian & Vasconcelos, 2011): gradient descent with vector-valued weak learners.

    Each round fits one learner with values in R^d to the functional gradient; a line search chooses the step. The
    optimizer and the step are those of the algorithm.

    Parameters
    ----------
    loss : str or Loss, default="exponential"
        What boosting minimises: "exponential" is the loss of the paper; "logistic", "savage" and any other γ–φ loss can
        be used as well.
    codewords : str, Codewords or array of shape (K, d), default="simplex"
        The vectors of the classes: "simplex" are the corners of a regular simplex, those of the paper; "canonical",
        "max-min", …, or your own matrix with a row for every class in the order of ``classes_``.
    learner : str, Learner or scikit-learn estimator, default="vector-tree"
        The weak learner. "vector-tree" has unit vectors in its leaves, "class-tree" has codewords; others, and
        scikit-learn's classifiers and regressors, can be used as well.

    Examples
    --------
    >>> GDMCBoostClassifier(n_estimators=30).fit(X, y).score(X, y)
    1.0
    """

    paper: ClassVar[str] = "Saberian & Vasconcelos 2011"
    loss: Any = "exponential"
    codewords: Any = "simplex"
    learner: Any = "vector-tree"

    def parts(self) -> Parts:
        return make_parts(self.loss, self.codewords, self.learner, "gradient", "line-search")


class CDMCBoostClassifier(Booster):
    """CD-MCBoost (Saberian & Vasconcelos, 2011): coordinate descent with scalar weak learners.

    Each round improves one coordinate of F: the one that lowers the risk most, or the next in turn. A line search
    chooses the step.

    Parameters
    ----------
    loss : str or Loss, default="exponential"
        What boosting minimises: "exponential" is the loss of the paper; "logistic", "savage" and any other γ–φ loss can
        be used as well.
    codewords : str, Codewords or array of shape (K, d), default="simplex"
        The vectors of the classes: "simplex" are the corners of a regular simplex, those of the paper; "canonical",
        "max-min", …, or your own matrix with a row for every class in the order of ``classes_``.
    learner : str, Learner or scikit-learn estimator, default="stump"
        The weak learner of one coordinate: "stump" and trees give ±1, "linear" is a line in one feature; scikit-learn's
        classifiers and regressors can be used as well.
    schedule : {"best", "cyclic"}, default="best"
        Which coordinate is next: "best" tries all of them and takes the one that lowers the risk most (the journal
        version of the paper), "cyclic" takes them in turn (the conference version).

    Examples
    --------
    >>> CDMCBoostClassifier(n_estimators=50).fit(X, y).score(X, y) > 0.95
    True
    """

    paper: ClassVar[str] = "Saberian & Vasconcelos 2011"
    loss: Any = "exponential"
    codewords: Any = "simplex"
    learner: Any = "stump"
    schedule: str = "best"

    def parts(self) -> Parts:
        optimizer = CoordinateDescent(self.schedule)
        return make_parts(self.loss, self.codewords, self.learner, optimizer, "line-search")


class SoftmaxBoostClassifier(Booster):
    """Soft-max boosting, sm-boost (Geist, 2015): lowers the mean cost of a random decision; tolerates label noise.

    The decision is class k with probability g_k = softmax(ψ)_k for the scores ψ; its mean cost is bounded, not convex.
    Every round draws M pairs of an example and a decision, fits learners that tell costly pairs from cheap ones, and
    takes a step of length R_M, the learners' mean gain; for learners h that do not give ±1 it is K R_M / ‖h‖², the
    paper's projection. `predict` returns the most likely class, `predict_random` a random decision, `predict_proba` g.

    Parameters
    ----------
    learner : str, Learner or scikit-learn estimator, default="hamming-tree"
        The weak learner. The default is a tree of 12 leaves, grown best first. The loss, the codewords, the optimizer
        and the step are those of the algorithm.
    cost_matrix : array of shape (K, K) or None, default=None
        The cost of deciding k (column) when the truth is c (row), in [0, 1] for the paper's guarantee; None is 0 on the
        diagonal and 1 elsewhere. `fit` also takes a cost for every example and decision.
    n_pairs : int, "n" or "all", default="n"
        M, the number of pairs drawn in each round. "n" draws as many as there are distinct examples; "all" uses the
        whole gradient, which samples only estimate. Sampling may help: on noisy data the whole gradient can get stuck.
    learner_mode : {"separate", "shared", "index"}, default="separate"
        "separate" is a tree for every class; "shared" is one tree with a sign for every class in each leaf; "index" is
        a stump on [x, k], the features and the class index.

    Examples
    --------
    >>> clf = SoftmaxBoostClassifier(n_estimators=30, random_state=0).fit(X, y)
    >>> clf.score(X, y) > 0.97, (clf.predict_random(X, random_state=0) == y).mean() > 0.9
    (True, np.True_)
    """

    paper: ClassVar[str] = "Geist 2015"
    learner: Any = "hamming-tree"
    cost_matrix: Any = None
    n_pairs: Any = "n"
    learner_mode: str = "separate"

    def parts(self) -> Parts:
        learner, _ = product_parts(self.learner_mode, self.learner)
        optimizer = SampledPairs(self.n_pairs, separate=self.learner_mode == "separate")
        return make_parts(SoftmaxCost(self.cost_matrix), "canonical", learner, optimizer, "gradient")

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        costs: Any = None,
        eval_metric: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
        init_score: Any = None,
        init_score_val: Any = None,
    ) -> Self:
        """Boost: fit the model to labelled rows, with a cost for each row and decision if ``costs`` is given.

        Parameters
        ----------
        costs : array of shape (n, K) or None, default=None
            What each decision costs for each example, in place of ``cost_matrix[y]``.
        """
        sets = read_eval_sets(X_val, y_val, sample_weight_val, init_score_val)
        return self._fit(X, y, sample_weight, sets, eval_metric, costs, init_score=init_score)

    def predict_random(self, X: Any, random_state: Any = None) -> AnyArray:
        """Draw a random class for every row, class k with probability ``predict_proba(X)[:, k]``.

        Returns
        -------
        array of shape (n,)
            The labels.
        """
        P = self.predict_proba(X)
        u = random_generator(random_state).random_sample((len(P), 1))
        k = (np.cumsum(P, axis=1) <= u).sum(axis=1)
        return self.classes_.take(np.minimum(k, P.shape[1] - 1))
