"""`BoostingClassifier`, a booster of any loss, codewords, learner and optimizer."""

from __future__ import annotations

from typing import Any

from .booster import Booster
from .plan import Parts, make_parts


class BoostingClassifier(Booster):
    """Multiclass boosting from any parts: a loss, codewords, a weak learner, an optimizer and a step.

    The predictor F(x) = Σ_t α_t h_t(x) is a vector in R^d; class k has the score U_k = ½⟨F, y_k⟩, where y_k is its
    codeword, and the highest score wins. Each part is a string or an object with parameters of its own, which a grid
    search can set (``learner__max_depth``).

    Parameters
    ----------
    loss : str or Loss, default="logistic"
        What boosting makes small: 'exponential', 'logistic', 'savage', 'mm', 'one-vs-all', 'own-score', 'softmax-cost',
        or a `Loss`.
    codewords : str, Codewords or array of shape (K, d), default="simplex"
        The vectors of the classes: 'simplex', 'canonical', 'max-min', …, a `Codewords`, or your own matrix with a row
        for every class in the order of ``classes_``.
    learner : str, Learner or scikit-learn estimator, default="vector-tree"
        The weak learner of every round: 'vector-tree', 'class-tree', 'sign-tree', 'info-tree', 'newton-tree', 'stump',
        'linear', …, a `Learner`, or any scikit-learn classifier or regressor that takes sample weights.
    optimizer : str or Optimizer, default="gradient"
        What the learner is asked, and how its answers become a step: 'gradient', 'coordinate', 'all-coordinates',
        'newton', 'sketched-newton', …, or an `Optimizer`.
    step : str or Step, default="line-search"
        How far each step goes: 'line-search', 'closed-form', 'fixed', 'error', 'gradient', or a `Step`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = BoostingClassifier("exponential", "simplex", "stump", "coordinate", n_estimators=20).fit(X, y)
    >>> clf.predict(X[:2]), clf.n_iter_
    (array([0, 0]), 20)
    """

    loss: Any = "logistic"
    codewords: Any = "simplex"
    learner: Any = "vector-tree"
    optimizer: Any = "gradient"
    step: Any = "line-search"

    def parts(self) -> Parts:
        return make_parts(self.loss, self.codewords, self.learner, self.optimizer, self.step)
