"""AdaBoost.MH: one binary question per class, whether the class is a label of the example."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from .._describing import described
from .._parts import check_choice
from ..estimators.booster import Booster
from ..estimators.parts import Parts, make_parts
from ..learners import GreedyTree, HammingTree
from .product import SIGNED_MODES, product_parts


@described
@dataclass(eq=False, repr=False)
class AdaBoostMHClassifier(Booster):
    """AdaBoost.MH (Schapire & Singer, 1999): answers ±1 for every class, with one step for all classes.

    Each pair of an example i and a class k is a binary question, whether k is a label of i. Its answer is z = ±1 and
    its weight e^{−z f}; γ is the edge over all questions, and the step ½ ln((1+γ)/(1−γ)). Boosting stops when γ is
    zero, or after a perfect learner, which is kept. The highest score wins; at most (K/2) Π √(1−γ²) of the training
    examples are wrong, ``history_["bound"]``. Class probabilities are σ(2 f_k), divided by their sum.

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
        class; "single-label" is a learner that answers +1 for one class and −1 for the others; "index" is a stump on
        [x, k], the features and the number of the class, which the conference version of MCBoost uses.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> AdaBoostMHClassifier(n_estimators=10).fit(X, y).score(X, y)
    1.0
    >>> several = [[1, 0, 0] if k == 0 else [0, 1, k - 1] for k in y]
    >>> AdaBoostMHClassifier(n_estimators=10).fit(X, several).predict(X[[0, 50, 100]])
    array([[1, 0, 0],
           [0, 1, 0],
           [0, 1, 1]])
    """

    paper: ClassVar[str] = "Schapire & Singer 1999"
    multilabel: ClassVar[bool] = True
    fits_threshold: ClassVar[bool] = True
    learner: Any = None
    step: Any = "closed-form"
    learner_mode: str = "shared"

    def parts(self) -> Parts:
        """The parts as objects; learner and optimizer are those of the mode."""
        check_choice("learner_mode", self.learner_mode, SIGNED_MODES)
        own = GreedyTree(max_leaf_nodes=12) if self.learner_mode == "single-label" else HammingTree()
        learner = own if self.learner is None else self.learner
        learner, optimizer = product_parts(self.learner_mode, learner, SIGNED_MODES)
        return make_parts("one-vs-all", "canonical", learner, optimizer, self.step)
