"""Uses any scikit-learn classifier or regressor as a weak learner."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils.validation import has_fit_parameter

from ..._util.messages import name_in_errors
from ...model.hypotheses import ClassifierHypothesis, RegressorHypothesis
from .base import Answer, Learner, Request


class SklearnLearner(Learner):
    """Any scikit-learn classifier or regressor whose ``fit`` takes ``sample_weight``.

    A classifier is trained on the labels with the boosting weights and answers with codewords (±1 for one coordinate);
    a regressor is fitted to the gradient by least squares (to G / h with weights h if there is a curvature).

    Parameters
    ----------
    estimator : estimator object
        The classifier or regressor. It is cloned in every round, and a ``random_state`` of None is replaced by a seed
        from the booster's random state.

    Examples
    --------
    >>> import simplexboost as sb
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> clf = sb.SAMMEClassifier(learner=SklearnLearner(DecisionTreeClassifier(max_depth=2)), n_estimators=5)
    """

    estimator: Any

    def check(self) -> None:
        if not is_estimator(self.estimator):
            raise TypeError(f"estimator={self.estimator!r} must be a scikit-learn classifier or regressor.")
        if not has_fit_parameter(self.estimator, "sample_weight"):
            raise TypeError(f"estimator={self.estimator!r} does not take sample_weight in fit; boosting needs it.")

    def fit(self, request: Request) -> Answer:
        X, names_classes = request.data.X, is_classifier(self.estimator)
        rows = np.arange(request.data.n) if request.rows is None else request.rows
        weight = (request.weight if names_classes else request.h)[rows]
        if (weight > 0).any():
            rows, weight = rows[weight > 0], weight[weight > 0]
        else:  # there is nothing to gain: whatever the estimator says, boosting stops
            weight = np.ones(len(rows))
        with name_in_errors(f"learner: {type(self.estimator).__name__}"):
            estimator = clone(self.estimator)
            if "random_state" in estimator.get_params() and estimator.get_params()["random_state"] is None:
                estimator.set_params(random_state=request.seed % 2**31)
            if names_classes:
                estimator.fit(X[rows], request.labels[rows], sample_weight=weight / weight.mean())
                names = estimator.predict(X)
                return Answer(ClassifierHypothesis(estimator, request.Y), request.Y[names], names)
            targets = request.G[rows] / weight[:, None]  # (n, d)
            estimator.fit(X[rows], targets[:, 0] if targets.shape[1] == 1 else targets, sample_weight=weight)
            hypothesis = RegressorHypothesis(estimator, request.G.shape[1])
            return Answer(hypothesis, hypothesis.outputs(X))


def is_estimator(value: Any) -> bool:
    """Tell whether a value is a scikit-learn classifier or regressor."""
    return (
        hasattr(value, "__sklearn_tags__")
        and not isinstance(value, type)
        and (is_classifier(value) or is_regressor(value))
    )
