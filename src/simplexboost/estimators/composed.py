"""`BoostingClassifier`: any loss × codewords × learner × optimizer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .booster import Booster
from .parts import Parts, make_parts


@dataclass(eq=False, repr=False)
class BoostingClassifier(Booster):
    """Multiclass boosting from any four parts: loss × codewords × weak learner × optimizer and step.

    The predictor F(x) = Σ_t α_t h_t(x) is a vector in R^d; class k has the score U_k = ½⟨F, y_k⟩, where y_k is its
    codeword, and the highest score wins. Each part is a string or an object with parameters of its own, which grid
    search can set (``learner__max_depth``).

    Parameters
    ----------
    loss : str or Loss, default="logistic"
        'exponential', 'logistic', 'savage', 'mm', 'one-vs-all', 'own-score', 'softmax-cost', or a `Loss`.
    codewords : str, Codewords or array of shape (K, d), default="simplex"
        'simplex', 'canonical', 'max-min', …, or your own matrix, a row per class in the order of ``classes_``.
    learner : str, Learner or scikit-learn estimator, default="vector-tree"
        'vector-tree', 'class-tree', 'sign-tree', 'info-tree', 'newton-tree', 'stump', 'linear', or any classifier or
        regressor that takes sample weights.
    optimizer : str or Optimizer, default="gradient"
        'gradient', 'coordinate', 'all-coordinates', 'newton', 'sketched-newton', …, see `simplexboost.optimizers`.
    step : str or Step, default="line-search"
        'line-search', 'closed-form' or 'fixed'.
    n_estimators : int, default=100
        The largest number of rounds.
    learning_rate : float, default=1.0
        Every step is multiplied by this.
    subsample, max_features : float, default=1.0
        Fraction of the rows and of the features that the learner of each round sees.
    max_bins : int, default=255
        Bins per feature for the engine's trees.
    early_stopping : bool, default=False
        Hold out a part of the rows, or take the first entry of ``eval_set``; stop when their risk, or the first
        ``eval_metric`` of ``fit``, no longer improves, and keep the rounds up to the best one.
    validation_fraction : float or None, default=0.1
        The part held out. None holds out nothing: without ``eval_set``, early stopping then watches the training rows.
    n_iter_no_change : int, default=10
        Rounds without improvement before stopping.
    tol : float, default=1e-7
        A round counts as an improvement if it is better than the best one so far by more than this.
    class_weight : dict, "balanced" or None, default=None
        Multiplies ``sample_weight``.
    classes : sequence of labels or None, default=None
        All classes, if some may be absent from the training data; absent classes get probability zero.
    categorical_features : "from_dtype", mask, positions, names or None, default="from_dtype"
        Columns that hold categories, which trees split by subsets; "from_dtype" takes the categorical and text columns
        of a data frame, None takes none. Learners that are not trees of the engine take no categories.
    warm_start : bool, default=False
        Whether ``fit`` continues the fitted model up to ``n_estimators`` rounds; X must then have the same
        features. New categories get numbers after those that are known, as long as there is room.
    callbacks : sequence of Callback or None, default=None
        Called around every round, in addition to those that implement the parameters above.
    random_state : int, RandomState or None, default=None
    n_jobs : int or None, default=None
        Number of threads; None is 1, -1 all. The fitted model does not depend on it.
    verbose : int, default=0
        1 prints progress about once a second, with what is evaluated.

    Attributes
    ----------
    classes_ : (K,) labels
    present_ : (K,) which classes had training examples
    loss_ : the loss that was minimised
    model_ : AdditiveModel, the terms and the codewords of the present classes
    history_ : dict of arrays, an entry per round: risk, edge, step, coordinate, seconds
    train_score_ : (n_iter_,) minus the training risk after every round
    evals_result_ : list of dicts of arrays by name of the metric, an entry per evaluated set: those of ``eval_set``, or
        the rows held out for early stopping. Like the next three, it is there only if something was evaluated.
    best_iteration_ : the best round of the first set, counted from 1
    best_score_ : the first ``eval_metric``, or the risk, in that round
    validation_score_ : the same after every round, with the sign that makes larger values better
    n_iter_ : rounds in the model
    stop_reason_ : why boosting stopped before ``n_estimators``, or None
    n_features_in_, feature_names_in_ : as everywhere in scikit-learn
    feature_kinds_ : list of "number", "category", "date", "duration", "time" or "missing", one for each column; None if
        X was an array of numbers
    categories_ : Categories, those of categorical columns in the order of their numbers; None if there are none

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
        """The parts as objects."""
        return make_parts(self.loss, self.codewords, self.learner, self.optimizer, self.step)
