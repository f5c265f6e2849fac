"""`SimplexBoostClassifier`: boosting for many classes, one vector tree per round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._parts import check_choice
from .._typing import Array
from ..codewords import Auto, as_codewords
from ..learners import SketchTree
from ..losses import Logistic, Loss, Savage, SoftmaxCost
from ..optimizers.sketched import SketchedNewton
from ..steps import FixedStep
from .booster import BaseBooster

CHUNK = (
    2**20
)  # scores at a time in predictions: F (n, K) for all rows would be fresh memory, which costs more than the sums
LOSSES: dict[str, type[Loss]] = {"logistic": Logistic, "savage": Savage, "softmax-cost": SoftmaxCost}


@dataclass(eq=False, repr=False, kw_only=True)
class SimplexBoostClassifier(BaseBooster):
    """Gradient boosting for many classes: one vector tree per round, whatever the number of classes.

    Logistic loss, Newton steps in the leaves, splits searched along a random direction of the gradient, codewords of
    few dimensions where there are many classes. The defaults are meant to be used.

    Parameters
    ----------
    n_estimators : int or "auto", default="auto"
        Rounds, and so trees, at most; "auto" is 40 / learning_rate, half of that for two or three classes.
    learning_rate : float, default=0.1
        Shrinks every tree.
    max_leaves : int, "auto" or None, default="auto"
        Leaves per tree; "auto" grows with the number of rows.
    max_depth : int or None, default=None
    min_samples_leaf : int or "auto", default="auto"
        Training rows in every leaf; "auto" is 1 up to 1000 rows and 5 beyond.
    l2_regularization : float or "auto", default="auto"
        Added to the curvature in every leaf; "auto" is 10 / K, and 0.2 from 50 classes on.
    max_step : float or None, default=2.0
        The furthest that a leaf may move the score of a class, before the learning rate; None for no limit. For
        canonical codewords only.
    code : str, Codewords or array of shape (K, d), default="auto"
        "auto" takes canonical codewords up to 1024 classes and a max-min code of few dimensions beyond; any name or
        object that `BoostingClassifier` takes.
    code_dim : int or "auto", default="auto"
        Dimension of the "auto" code; a number asks for a max-min code of that dimension whatever the classes.
    loss : {"logistic", "savage", "softmax-cost"} or Loss, default="logistic"
        "savage" and "softmax-cost" forgive examples that are far on the wrong side: for noisy labels.
    cost_matrix : array of shape (K, K) or None, default=None
        How much it matters to tell class c (row) from class k (column); logistic loss only.
    sketch : int, default=1
        Directions along which splits are searched.
    categorical_features : "from_dtype", mask, positions, names or None, default="from_dtype"
        Columns that hold categories, split by subsets; "from_dtype" takes the categorical and string columns of a
        frame. Categories not seen in training are treated like missing values.
    colsample : float or "auto", default="auto"
        The part of the features that each tree sees; "auto" is 0.8, and 0.4 where there are more than 256.
    max_bins : int or "auto", default="auto"
        Bins per feature, at most 255; "auto" takes fewer where few rows have many features.
    subsample, early_stopping, validation_fraction, n_iter_no_change, class_weight, classes, \
    warm_start, callbacks, random_state, n_jobs, verbose : as in `BoostingClassifier`

    Attributes
    ----------
    As in `BoostingClassifier`.

    Notes
    -----
    Probabilities are softmax(F Yᵀ). With affinely independent codewords (canonical, simplex) that is the posterior the
    loss asks for; a code of fewer than K − 1 dimensions cannot represent every posterior, but in practice its
    probabilities are good (see docs/losses.md).

    Examples
    --------
    >>> from simplexboost import datasets
    >>> digits = datasets.load("digits")
    >>> clf = SimplexBoostClassifier(random_state=0).fit(digits.X_train, digits.y_train)
    >>> clf.score(digits.X_test, digits.y_test) > 0.96
    True
    >>> len(clf.model_.trees)
    400
    """

    n_estimators: Any = "auto"
    learning_rate: float = 0.1
    colsample: Any = "auto"
    max_bins: Any = "auto"
    max_leaves: Any = "auto"
    max_depth: int | None = None
    min_samples_leaf: Any = "auto"
    l2_regularization: Any = "auto"
    max_step: float | None = 2.0
    code: Any = "auto"
    code_dim: Any = "auto"
    loss: Any = "logistic"
    cost_matrix: Any = None
    sketch: int = 1
    categorical_features: Any = "from_dtype"  # type: ignore[misc]

    auto_rounds: ClassVar[bool] = True

    def n_rounds(self, K: int) -> int:
        """Rounds for K classes."""
        if isinstance(self.n_estimators, str):
            return max(1, round((20 if K <= 3 else 40) / self.learning_rate))
        return super().n_rounds(K)

    def parts(self) -> dict[str, Any]:
        """The parts as objects: loss, codewords, learner, optimizer, step."""
        tree = SketchTree(
            max_depth=self.max_depth,
            max_leaves=self.max_leaves,
            min_samples_leaf=self.min_samples_leaf,
            l2=self.l2_regularization,
        )
        return {
            "loss": self._loss(),
            "codewords": self._codewords(),
            "learner": tree,
            "optimizer": SketchedNewton(self.sketch, self.max_step),
            "step": FixedStep(),
        }

    def predict_proba(self, X: Any) -> Array:
        """Probabilities softmax(F Yᵀ), (n, K); for 'savage' and with costs by the loss's own link."""
        if self.loss != "logistic" or self.cost_matrix is not None or not getattr(self, "present_", np.zeros(1)).all():
            return super().predict_proba(X)
        X, model, engine = self._check_X(X), self.model_, self._engine()
        Y = None if model.code.canonical else model.Y
        P = np.empty((len(X), len(model.Y)))  # (n, K)
        step = max(1024, CHUNK // len(model.Y))
        for begin in range(0, len(X), step):
            rows = slice(begin, begin + step)
            engine.softmax(model.predictor(X[rows], engine), Y, P[rows])
        return P

    def _loss(self) -> Loss:
        loss = self.loss
        if not isinstance(loss, Loss):
            check_choice("loss", loss, LOSSES)
            loss = LOSSES[loss]()
        if self.cost_matrix is None:
            return loss
        if not isinstance(loss, Logistic):
            raise ValueError(f"cost_matrix goes with loss='logistic' only, not with loss={self.loss!r}.")
        return Logistic(cost=self.cost_matrix)

    def _codewords(self) -> Any:
        dim = None if isinstance(self.code_dim, str) and self.code_dim == "auto" else self.code_dim
        if isinstance(self.code, str) and self.code == "auto":
            return Auto(dim)
        if dim is not None:
            raise ValueError(f"code_dim={self.code_dim!r} goes with code='auto' only, not with code={self.code!r}.")
        return as_codewords(self.code)
