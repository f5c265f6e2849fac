"""sm-boost: gradient descent on the expected cost of a random decision, by sampled pairs of an example and a class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from .._compat import with_callbacks
from .._describing import described
from .._parts import random_numbers
from .._typing import AnyArray
from ..estimators.booster import Booster
from ..estimators.evaluation import as_eval_set
from ..estimators.parts import Parts, make_parts
from ..losses import SoftmaxCost
from ..optimizers import SampledPairs
from .product import product_parts


@described
@dataclass(eq=False, repr=False)
class SoftmaxBoostClassifier(Booster):
    """Soft-max boosting, sm-boost (Geist, 2015): descends the mean cost of a random decision; tolerates label noise.

    The decision is k with probability g_k = softmax(ψ)_k; its mean cost is bounded and not convex. Every round draws
    pairs of an example and a decision, fits learners that tell costly pairs from cheap ones, and takes a step of length
    R_M, the mean gain of the learners; for learners that do not answer ±1 it is K R_M / ‖h‖², the paper's projection.
    `predict` returns the most likely class, `predict_random` a random decision, `predict_proba` g.

    Parameters
    ----------
    learner : str, Learner or scikit-learn estimator, default="hamming-tree"
        The weak learner. The default is a tree of 12 leaves, grown best first. The loss, the codewords, the optimizer
        and the step are those of the algorithm.
    cost_matrix : array of shape (K, K) or None, default=None
        The cost of deciding k (column) when the truth is c (row), in [0, 1] for the paper's guarantee; None is 0 on the
        diagonal and 1 elsewhere. `fit` also takes a cost for every example and decision.
    n_pairs : int, "n" or "all", default="n"
        M, the number of pairs drawn in each round. "n" draws as many as there are different examples; "all" uses the
        whole gradient, which samples only estimate. Sampling may help: on noisy data the whole gradient can get stuck.
    learner_mode : {"separate", "shared", "index"}, default="separate"
        "separate" is a tree for every class; "shared" is one tree with a sign for every class in each leaf; "index" is
        a stump on [x, k], the features and the number of the class.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
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
        """The parts as objects, the loss with its costs."""
        learner, _ = product_parts(self.learner_mode, self.learner)
        optimizer = SampledPairs(self.n_pairs, separate=self.learner_mode == "separate")
        return make_parts(SoftmaxCost(self.cost_matrix), "canonical", learner, optimizer, "gradient")

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        costs: Any = None,
        eval_set: Any = None,
        eval_metric: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
        init_score: Any = None,
        init_score_val: Any = None,
    ) -> Self:
        """Boost: fit the model to labelled rows, whose decisions may each have costs of their own.

        Parameters
        ----------
        costs : array of shape (n, K) or None, default=None
            What each decision costs for each example, in place of ``cost_matrix[y]``.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        eval_set = as_eval_set(eval_set, X_val, y_val, sample_weight_val, init_score_val)
        return self._fit(X, y, sample_weight, eval_set, eval_metric, costs, init_score=init_score)

    def predict_random(self, X: Any, random_state: Any = None) -> AnyArray:
        """Random decisions, class k with probability ``predict_proba(X)[:, k]``; (n,).

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, p)
            The rows, with the columns of the fit. NaN and None mean missing.
        random_state : int, RandomState or None, default=None
            The seed of the draws.

        Returns
        -------
        array of shape (n,)
            The labels.
        """
        P = self.predict_proba(X)
        u = random_numbers(random_state).random_sample((len(P), 1))
        k = (np.cumsum(P, axis=1) <= u).sum(axis=1)
        return self.classes_.take(np.minimum(k, P.shape[1] - 1))
