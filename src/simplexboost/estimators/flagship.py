"""`SimplexBoostClassifier`: boosting for many classes, one vector tree per round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from .._parts import check_choice
from ..codewords import Auto, Codewords, as_codewords
from ..learners import SketchTree
from ..losses import Logistic, Loss, Savage, SoftmaxCost
from ..optimizers import SketchedNewton
from ..steps import FixedStep
from .booster import Booster
from .parts import Parts

ROW_LOSSES: dict[str, type[Loss]] = {"logistic": Logistic, "savage": Savage, "softmax-cost": SoftmaxCost}


@dataclass(eq=False, repr=False, kw_only=True)
class SimplexBoostClassifier(Booster):
    """Gradient boosting for many classes: one vector tree per round, whatever the number of classes.

    It uses the logistic loss, Newton steps in the leaves, splits that are searched along a random direction of the
    gradient, and codewords of few dimensions if there are many classes. The defaults should serve most data sets.

    Parameters
    ----------
    n_estimators : int or "auto", default="auto"
        The largest number of rounds, each of one tree; "auto" is 40 / learning_rate, or half of that for two or three
        classes.
    learning_rate : float, default=0.1
        Every tree is multiplied by this.
    max_leaf_nodes : int, "auto" or None, default="auto"
        The largest number of leaves per tree; "auto" grows with the number of rows.
    max_depth : int or None, default=None
    min_samples_leaf : int or "auto", default="auto"
        The smallest number of training rows in a leaf; "auto" is 1 up to 1000 rows and 5 beyond.
    l2_regularization : float or "auto", default="auto"
        Added to the curvature in every leaf; "auto" is 10 / K, and 0.2 from 50 classes on.
    max_step : float or None, default=2.0
        The furthest that a leaf may move the score of a class, before the learning rate; None for no limit. For
        canonical codewords only.
    codewords : str, Codewords or array of shape (K, d), default="auto"
        "auto" takes canonical codewords up to 1024 classes and a max-min code of few dimensions beyond; any name or
        object that `BoostingClassifier` takes.
    code_dim : int or "auto", default="auto"
        Dimension of the "auto" code; a number gives a max-min code of that dimension for any number of classes.
    loss : {"logistic", "savage", "softmax-cost"} or Loss, default="logistic"
        "savage" and "softmax-cost" give little weight to examples that are far on the wrong side: for noisy labels.
    cost_matrix : array of shape (K, K) or None, default=None
        How much it matters to tell class c (row) from class k (column); logistic loss only.
    sketch : int or Sketch, default=1
        The directions along which splits are searched, or the number of random ones.
    categorical_features : "from_dtype", mask, positions, names or None, default="from_dtype"
        Columns that hold categories, split by subsets; "from_dtype" takes the categorical and string columns of a
        frame. Categories not seen in training are treated like missing values.
    max_features : float or "auto", default="auto"
        The part of the features that each tree sees; "auto" is 0.8, and 0.4 if there are more than 256.
    max_bins : int or "auto", default="auto"
        Bins per feature, at most 255; "auto" takes fewer if there are few rows and many features.
    subsample, early_stopping, validation_fraction, n_iter_no_change, tol, class_weight, classes, \
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
    max_features: Any = "auto"
    max_bins: Any = "auto"
    max_leaf_nodes: Any = "auto"
    max_depth: int | None = None
    min_samples_leaf: Any = "auto"
    l2_regularization: Any = "auto"
    max_step: float | None = 2.0
    codewords: Any = "auto"
    code_dim: Any = "auto"
    loss: Any = "logistic"
    cost_matrix: Any = None
    sketch: Any = 1
    categorical_features: Any = "from_dtype"

    auto_rounds: ClassVar[bool] = True

    def n_rounds(self, K: int) -> int:
        """The number of rounds for K classes."""
        if isinstance(self.n_estimators, str):
            return max(1, round((20 if K <= 3 else 40) / self.learning_rate))
        return super().n_rounds(K)

    def categorical_columns(self) -> Any:
        """Which columns hold categories."""
        return self.categorical_features

    def parts(self) -> Parts:
        """The parts as objects."""
        tree = SketchTree(
            max_depth=self.max_depth,
            max_leaf_nodes=self.max_leaf_nodes,
            min_samples_leaf=self.min_samples_leaf,
            l2_regularization=self.l2_regularization,
        )
        return Parts(self._loss(), self._codewords(), tree, SketchedNewton(self.sketch, self.max_step), FixedStep())

    def _loss(self) -> Loss:
        loss = self.loss
        if not isinstance(loss, Loss):
            check_choice("loss", loss, ROW_LOSSES)
            loss = ROW_LOSSES[loss]()
        if self.cost_matrix is None:
            return loss
        if not loss.likelihood:
            raise ValueError(f"cost_matrix goes with loss='logistic' only, not with loss={self.loss!r}.")
        return Logistic(cost_matrix=self.cost_matrix)

    def _codewords(self) -> Codewords:
        code_dim = None if isinstance(self.code_dim, str) and self.code_dim == "auto" else self.code_dim
        if isinstance(self.codewords, str) and self.codewords == "auto":
            return Auto(code_dim)
        if code_dim is not None:
            raise ValueError(
                f"code_dim={self.code_dim!r} goes with codewords='auto' only, not with codewords={self.codewords!r}."
            )
        return as_codewords(self.codewords)
