"""scikit-learn's `HistGradientBoostingClassifier` in our words: its parameters and methods around our flagship.

A translation of words and nothing else:

- `max_iter` is `n_estimators`; `loss="log_loss"`, and scikit-learn's loss object for it, are "logistic";
  `early_stopping="auto"` is True from 10 001 rows on or where validation rows are given; `scoring` is `eval_metric`
  ("loss" is the risk, None is the accuracy).
- HGB draws random numbers only to hold out rows and to sample features; our trees always draw a direction to search.
  Where HGB is left without a seed, ours gets seed 0.
- HGB keeps the rounds after the best one, and its `n_iter_` counts all that were made; we drop them but keep their
  record, which is counted.
- `_predictors` (the trees), `_raw_predict` (the scores) and `_preprocessor` (the categories) are private names of
  things that we have under other names. `_should_stop` asks when early stopping stops: ours is asked by a fit with a
  metric that returns the given scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn._loss.loss import HalfBinomialLoss
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import _num_samples, check_is_fitted

from simplexboost import SimplexBoostClassifier
from simplexboost.boosting import EarlyStopping
from simplexboost.engine import Tree

SAME = (
    "learning_rate",
    "max_leaf_nodes",
    "max_depth",
    "min_samples_leaf",
    "l2_regularization",
    "max_features",
    "max_bins",
    "categorical_features",
    "warm_start",
    "verbose",
    "class_weight",
)
CONSTRAINTS = ("monotonic_cst", "interaction_cst")


@dataclass(frozen=True)
class TreeView:
    """A tree as HGB's private `TreePredictor` shows it."""

    tree: Tree

    @property
    def nodes(self) -> np.ndarray:
        """The nodes as bytes, so that they can be compared."""
        return np.ascontiguousarray(self.tree.nodes).view(np.uint8)

    @property
    def raw_left_cat_bitsets(self) -> np.ndarray:
        """The sets of categories that go left, as 32-bit words."""
        return self.tree.category_sets.view(np.uint32)

    def get_n_leaf_nodes(self) -> int:
        """The number of leaves."""
        return self.tree.n_leaves

    def get_max_depth(self) -> int:
        """Splits on the longest path."""
        nodes, depth = self.tree.nodes, np.zeros(len(self.tree.nodes), dtype=int)
        for node in self.tree.children_first():
            left = nodes["left"][node]
            depth[node] = 1 + max(depth[left], depth[left + 1])
        return int(depth[0])


class HistGradientBoostingClassifier(ClassifierMixin, BaseEstimator):
    """Our flagship behind HGB's signature."""

    def __init__(
        self,
        loss="log_loss",
        *,
        learning_rate=0.1,
        max_iter=100,
        max_leaf_nodes=31,
        max_depth=None,
        min_samples_leaf=20,
        l2_regularization=0.0,
        max_features=1.0,
        max_bins=255,
        categorical_features="from_dtype",
        monotonic_cst=None,
        interaction_cst=None,
        warm_start=False,
        early_stopping="auto",
        scoring="loss",
        validation_fraction=0.1,
        n_iter_no_change=10,
        tol=1e-7,
        verbose=0,
        random_state=None,
        class_weight=None,
    ):
        self.loss = loss
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_features = max_features
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.warm_start = warm_start
        self.early_stopping = early_stopping
        self.scoring = scoring
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.class_weight = class_weight

    def rule(self) -> EarlyStopping:
        """When to stop."""
        return EarlyStopping(self.n_iter_no_change, self.validation_fraction, self.tol)

    def translated(self, stops: bool) -> dict[str, Any]:
        """Our parameters."""
        return {
            **{name: getattr(self, name) for name in SAME},
            **{name: getattr(self, name) for name in CONSTRAINTS if getattr(self, name) is not None},
            "loss": "logistic" if self.loss == "log_loss" or isinstance(self.loss, HalfBinomialLoss) else self.loss,
            "n_estimators": self.max_iter,
            "early_stopping": self.rule() if stops else False,
            "random_state": 0 if self.random_state is None else self.random_state,
        }

    def fit(self, X, y, sample_weight=None, *, X_val=None, y_val=None, sample_weight_val=None):
        """Fit our flagship."""
        automatic = self.early_stopping == "auto"
        stops = _num_samples(X) > 10_000 or X_val is not None if automatic else self.early_stopping
        parameters = self.translated(stops)
        fitted = getattr(self, "model_", None)
        if fitted is None or not self.warm_start:
            model = SimplexBoostClassifier(**parameters)
        else:
            model = fitted.set_params(**parameters)
        metric = {"eval_metric": {"loss": "risk", None: "accuracy"}.get(self.scoring, self.scoring)} if stops else {}
        validation = {"X_val": X_val, "y_val": y_val, "sample_weight_val": sample_weight_val}
        self.model_ = model.fit(X, y, sample_weight, **validation, **metric)
        return self

    def __getattr__(self, name: str) -> Any:
        """Whatever has the same name here and there."""
        if name.startswith("__") or name == "model_":
            raise AttributeError(name)
        check_is_fitted(self, "model_")
        return getattr(self.model_, name)

    @property
    def n_iter_(self) -> int:
        """The rounds that were made."""
        followed = getattr(self.model_, "evals_result_", None)
        return self.model_.n_iter_ if followed is None else len(followed[0]["risk"])

    @property
    def validation_score_(self) -> np.ndarray:
        """The scores of evaluated rows; none if nothing was evaluated."""
        scores = self.model_.validation_score_
        return np.empty(0) if scores is None else scores

    @property
    def _preprocessor(self) -> Any:
        categories = [values for values in self.model_.categories_.columns if values is not None]
        return SimpleNamespace(named_transformers_={"encoder": SimpleNamespace(categories_=categories)})

    @property
    def is_categorical_(self) -> np.ndarray | None:
        """Which columns hold categories."""
        return None if self.model_.categories_ is None else self.model_.categories_.mask

    def predict(self, X):
        """Labels."""
        check_is_fitted(self, "model_")
        return self.model_.predict(X)

    @property
    def _predictors(self) -> list[list[TreeView]]:
        return [[TreeView(tree)] for tree in self.model_.model_.trees]

    def _raw_predict(self, X):
        return self.model_.class_scores(X)

    def _should_stop(self, scores):
        if not scores:
            return False
        left = list(scores)

        def given(c, P):
            return left.pop(0)

        given.greater_is_better = True
        X, y = np.arange(20.0)[:, None], np.arange(20) % 2
        model = SimplexBoostClassifier(n_estimators=len(scores), early_stopping=self.rule())
        return model.fit(X, y, X_val=X, y_val=y, eval_metric=given).stop_reason_ is not None
