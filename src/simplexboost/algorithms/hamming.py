"""AdaBoost.MH: one binary question for every class, whether it is a label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ..estimators.booster import Booster
from ..estimators.parts import Parts, make_parts
from ..learners import GreedyTree, HammingTree
from .product import SIGNED_MODES, product_parts


@dataclass(eq=False, repr=False)
class AdaBoostMHClassifier(Booster):
    """AdaBoost.MH (Schapire & Singer, 1999): answers ±1 for every class, one step ½ ln((1+γ)/(1−γ)) for all of them.

    The edge γ is that of the binary questions, whether class k is a label of example i, weighed by e^{−z f}. Boosting
    stops when it is zero, or after a perfect learner, which is kept. The highest score wins; at most (K/2) Π √(1−γ²) of
    the training examples are wrong, ``history_["bound"]``. Class probabilities are σ(2 f_k), divided by their sum.

    With an indicator matrix y (n, K) examples have any number of labels: `predict` returns such a matrix, those with
    positive scores, probabilities are σ(2 f_k) of each label, and the bound is one on the Hamming loss, Π √(1−γ²).

    Parameters are those of `BoostingClassifier`, the loss, the codewords and the optimizer being fixed, and

    learner_mode : {"shared", "separate", "single-label", "index"}, default="shared"
        One tree with a sign for every class in each leaf (Hamming tree); a tree for every class; a learner that names
        one class, +1, and rejects the others; a stump on [x, k] (the conference version of MCBoost).
    learner : None, str, Learner or scikit-learn estimator, default=None
        None is the mode's own: trees of 12 leaves, grown best first; "index" has no other.

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
    learner: Any = None
    step: Any = "closed-form"
    learner_mode: str = "shared"

    def parts(self) -> Parts:
        """The parts as objects; learner and optimizer are those of the mode."""
        own = GreedyTree(max_leaf_nodes=12) if self.learner_mode == "single-label" else HammingTree()
        learner = own if self.learner is None else self.learner
        learner, optimizer = product_parts(self.learner_mode, learner, SIGNED_MODES)
        return make_parts("one-vs-all", "canonical", learner, optimizer, self.step)
