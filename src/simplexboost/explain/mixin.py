"""The methods by which a fitted booster explains itself."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._typing import AnyArray, Array, Mask
from ..boosting.model import AdditiveModel
from ..engine import Engine
from . import shapley
from .choosing import Chosen, choose_classes, class_numbers


class PairExplanation(NamedTuple):
    """Why one class rather than another.

    Attributes
    ----------
    values : (n, p) what each feature adds to the log-odds of the first class against the second
    base : the log-odds while no feature is known; with the values of a row they add up to its log-odds
    """

    values: Array
    base: float


class Explains:
    """A booster that says what its class scores are made of.

    All values are in units of log-odds: they explain the logits 2U = F Yᵀ, temperature included. Where the loss is a
    likelihood, the probabilities are their soft-max; XGBoost calls the same quantity the margin. The values of a row
    and ``expected_value_`` add up to ``2 * clf.class_scores(X)``.
    """

    model_: AdditiveModel
    classes_: AnyArray
    present_: Mask
    n_features_in_: int

    # What the estimator provides.

    def _check_X(self, X: Any) -> AnyArray:
        raise NotImplementedError

    def _engine(self) -> Engine:
        raise NotImplementedError

    def class_scores(self, X: Any) -> Array:
        """Class scores U, (n, K)."""
        raise NotImplementedError

    # ---- Shapley values ---------------------------------------------------------------------------------------------

    @property
    def expected_value_(self) -> Array:
        """The logits while no feature is known, (K,): the mean over the training rows of every tree.

        −inf for classes without training examples.
        """
        check_is_fitted(self)
        chosen = choose_classes(None, self.classes_, self.present_)
        return self._of_all(chosen, shapley.expected(self.model_, self._columns_of(chosen))[None], -np.inf)[0]

    def shap_values(self, X: Any, classes: Any = None, *, background: Any = None) -> Array:
        """Shapley values: what each feature adds to the logit of each class, (n, p, K).

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, p), with the columns of the fit
        classes : a label, a list of labels, or None
            The classes to explain; None means all. For a list the last axis has its order, for one label the result is
            (n, p).
        background : rows like X, or None
            None takes the shares of the training rows that the trees have stored ("path-dependent" values). Otherwise
            an unknown feature is taken from these rows ("interventional" values); some hundred rows will do. The base
            of the values is then the mean logit of these rows, and not ``expected_value_``.
        """
        checked, chosen = self._check_X(X), choose_classes(classes, self.classes_, self.present_)
        rows = None if background is None else check_background(self._check_X(background))
        phi = shapley.values(self.model_, checked, self._columns_of(chosen), self._engine(), rows)
        base = self._base(chosen, background)
        share_rounding(phi, self._logits(X, chosen) - base)
        out = self._of_all(chosen, phi, 0.0)
        return out[..., 0] if chosen.single else out

    def shap_interaction_values(self, X: Any, classes: Any) -> Array:
        """Shapley interaction values of pairs of features, (n, p, p, D), for chosen classes.

        What two features do together and neither does alone stands half at (f, g) and half at (g, f). Over one of the
        two features the values add up to `shap_values`.

        Parameters
        ----------
        X : as in `shap_values`
        classes : a label, for a result of shape (n, p, p), or a list of labels
        """
        checked, chosen = self._check_X(X), choose_classes(classes, self.classes_, self.present_)
        phi = shapley.interactions(self.model_, checked, self._columns_of(chosen), self._engine())
        sums = phi.sum(axis=2)  # (n, p, D)
        before = sums.copy()
        share_rounding(sums, self._logits(X, chosen) - self._base(chosen, None))
        own = np.arange(phi.shape[1])
        phi[:, own, own] += sums - before
        out = self._of_all(chosen, phi, 0.0)
        return out[..., 0] if chosen.single else out

    def explain_pair(self, X: Any, a: Any, b: Any) -> PairExplanation:
        """Why class a and not class b: what each feature adds to the log-odds 2(U_a − U_b).

        Parameters
        ----------
        X : as in `shap_values`
        a, b : two labels

        Returns
        -------
        PairExplanation
            ``values`` (n, p), and ``base``, the log-odds while no feature is known.
        """
        checked = self._check_X(X)
        numbers = np.concatenate([class_numbers(a, self.classes_, "a"), class_numbers(b, self.classes_, "b")])
        if len(numbers) != 2:
            raise ValueError(f"a={a!r} and b={b!r} must be one label each.")
        absent = self.classes_[numbers[~self.present_[numbers]]]
        if len(absent):
            raise ValueError(f"class {absent.tolist()[0]!r} had no training examples, so there is nothing to explain.")
        Y = self.model_.Y[(np.cumsum(self.present_) - 1)[numbers]].astype(np.float64)  # (2, d)
        M = (Y[0] - Y[1])[:, None]  # (d, 1)
        phi, base = shapley.values(self.model_, checked, M, self._engine()), shapley.expected(self.model_, M)
        U = self.class_scores(X)[:, numbers]
        share_rounding(phi, 2.0 * (U[:, :1] - U[:, 1:]) - base)
        return PairExplanation(phi[..., 0], float(base[0]))

    # ---- helpers ----------------------------------------------------------------------------------------------------

    def _columns_of(self, chosen: Chosen) -> Array:
        """The codewords of the chosen classes that had training examples, as columns, (d, D)."""
        return self.model_.Y[chosen.rows].T.astype(np.float64)

    def _logits(self, X: Any, chosen: Chosen) -> Array:
        """2U of the chosen classes that had training examples, (n, D)."""
        return 2.0 * self.class_scores(X)[:, chosen.numbers[chosen.present]]

    def _base(self, chosen: Chosen, background: Any) -> Array:
        """What is expected of the logits of these classes while no feature is known, (D,)."""
        if background is None:
            return shapley.expected(self.model_, self._columns_of(chosen))
        return self._logits(background, chosen).mean(axis=0)

    def _of_all(self, chosen: Chosen, values: Array, absent: float) -> Array:
        """Values in whose last axis classes without training examples are missing, with a number in their place."""
        if chosen.present.all():
            return values
        out = np.full((*values.shape[:-1], len(chosen.numbers)), absent)
        out[..., chosen.present] = values
        return out


def share_rounding(phi: Array, total: Array) -> None:
    """Make the values (n, p, D) add up to their totals (n, D), in place.

    Predictions of `SimplexBoostClassifier` are sums of some hundred numbers in single precision, and so a millionth off
    the exact sum. The difference is shared out in proportion to the size of the values, so that these add up to what
    the model predicts.
    """
    size = np.abs(phi)
    scale = size.sum(axis=1)  # (n, D)
    missing = np.divide(total - phi.sum(axis=1), scale, out=np.zeros_like(scale), where=scale > 0)
    size *= missing[:, None]
    phi += size


def check_background(X: AnyArray) -> AnyArray:
    """The background rows, if there are any."""
    if X.shape[0] == 0:
        raise ValueError("background has no rows; pass at least one.")
    return X
