"""Defines the base class of all classifiers, and `transaction`, by which a fit that fails changes nothing."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from .._util.arrays import AnyArray, Array, Labels
from .._util.docstrings import described
from .._util.params import METHODS, check_keywords, check_parameters, suggest_keywords
from ..boosting.decisions import as_decision
from ..persist.saving import CLASSIFIERS, check_savable, save
from ..tables.features import Categories
from ..tables.inputs import plain_labels
from ..tables.labels import of_one_kind
from ..tables.problem import ONE_CLASS, Problem


@contextmanager
def transaction(estimator: Any) -> Iterator[Any]:
    """Yield a copy of the estimator; at the end, replace the estimator's attributes by those of the copy.

    The replacement is a single assignment, so an exception or an interrupt leaves the estimator unchanged. Fitted
    attributes, with names like ``name_``, come from the copy. A parameter comes from the copy only if the copy has
    changed it: a callback may have set the estimator's parameter in the meantime.
    """
    before = dict(vars(estimator))
    draft = object.__new__(type(estimator))  # the constructor, which a subclass may have changed, is not called
    draft.__dict__.update(before)
    yield draft
    after = vars(draft)
    now = {name: value for name, value in vars(estimator).items() if not name.endswith("_")}
    changed = {n: value for n, value in after.items() if n.endswith("_") or n not in before or before[n] is not value}
    removed = before.keys() - after.keys()
    estimator.__dict__ = {name: value for name, value in (now | changed).items() if name not in removed}


@described
class BaseClassifier(ClassifierMixin, BaseEstimator):
    """The base class of classifiers: a subclass fits, computes class scores, and says what it writes to a model file.

    Subclasses can be saved unless they are declared with ``stored=False``.

    ``__new__`` checks for unknown keywords before ``__init__`` runs. So a dataclass keeps its generated ``__init__``,
    whose signature scikit-learn reads.

    Attributes
    ----------
    classes_ : array of shape (K,)
        The labels, sorted.
    n_features_in_ : int
        The number of features, p.
    feature_names_in_ : array of shape (p,)
        The names of the features, if X had names that are all strings.
    """

    classes_: Any  # (K,) labels, sorted, or a list of such arrays; an estimator that has them is fitted
    n_features_in_: int
    _problem: Problem = ONE_CLASS  # what y says of a row; models whose y may be a matrix have one of their own
    feature_kinds_: list[str] | None  # what the columns hold, if they were looked at; see `Features`
    categories_: Categories | None  # those of categorical columns

    def __init_subclass__(cls, stored: bool = True, **more: Any) -> None:
        super().__init_subclass__(**more)
        for name, table in METHODS.items():  # `fit` and `predict` answer keywords that they do not have
            if name in vars(cls):
                setattr(cls, name, suggest_keywords(vars(cls)[name], table))
        if stored and cls.__module__.partition(".")[0] == __name__.partition(".")[0]:
            CLASSIFIERS[cls.__name__] = cls

    def __new__(cls, *args: Any, **keywords: Any) -> Self:
        check_keywords(cls, keywords)
        return super().__new__(cls)

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; a name like ``learner__max_depth`` sets a parameter of a part."""
        check_parameters(self, params)
        return super().set_params(**params)

    @property
    def n_classes_(self) -> Any:
        """The number of classes, K; with several class targets a list of these numbers."""
        check_is_fitted(self)
        return list(self._problem.widths) if self._problem.widths is not None else len(self.classes_)

    def save(self, path: Any) -> None:
        """Write the fitted classifier to a file that `simplexboost.load` reads; never a pickle.

        Parameters
        ----------
        path : str, path or binary file
            Where to write. An existing file is replaced only after the new one is complete. To an open file, the bytes
            are written at its current position.

        Raises
        ------
        NotFittedError : before ``fit``
        TypeError : if something cannot be stored without pickle, as `check_savable` tells before the fit
        OSError : if the file cannot be written
        """
        save(self, path)

    def check_savable(self) -> None:
        """Raise a TypeError that says which parameters cannot be saved; call it before a long fit.

        Model files hold no code: no functions, no estimators of other libraries, no parts that you have written.
        Callbacks are neither saved nor checked. `Checkpoint` calls this method when the fit begins. After the fit, the
        fitted attributes are checked too.

        Examples
        --------
        >>> import simplexboost
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> simplexboost.GDMCBoostClassifier(learner="stump").check_savable()
        >>> simplexboost.GDMCBoostClassifier(learner=DecisionTreeClassifier()).check_savable()
        Traceback (most recent call last):
            ...
        TypeError: learner=DecisionTreeClassifier() cannot be saved; only numbers, text, dates, arrays, collections ...
        """
        check_savable(self)

    @abstractmethod
    def class_scores(self, X: Any) -> Array:
        """Compute a score for every class; the highest wins.

        Returns
        -------
        array of shape (n, K)
            The scores, a column for every class in the order of ``classes_``.
        """

    def predict(self, X: Any) -> AnyArray:
        """Predict the class with the highest score for every row; among equal scores, the first class.

        Returns
        -------
        array of shape (n,)
            The labels.
        """
        U = self.class_scores(X)
        return self.classes_.take(U.argmax(axis=1))

    def _best(self, U: Array) -> Labels:
        """Return the index (n,) of the class that `predict` takes for scores U (n, K)."""
        return U.argmax(axis=1)

    def decision_function(self, X: Any) -> Array:
        """Compute class scores U (n, K); with two classes U₁ − U₀ (n,), as scikit-learn expects.

        Returns
        -------
        array of shape (n, K) or (n,)
            The scores.
        """
        return as_decision(self.class_scores(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy, the share of rows that are predicted right.

        Parameters
        ----------
        y : array of shape (n,)
            The true labels; an indicator matrix (n, K) if the model was fitted to one, or (n, T) for T class targets. A
            row of a matrix is right if all of its entries are.

        Returns
        -------
        float
            The accuracy.
        """
        from sklearn.metrics import accuracy_score  # not at the top: start-up time

        y, sample_weight, predicted = (self._to_host(of_rows) for of_rows in (y, sample_weight, self.predict(X)))
        y = plain_labels(y)
        if getattr(getattr(y, "dtype", None), "kind", "") == "O" and y.ndim == 1:  # as `fit` takes them
            y = of_one_kind(np.asarray(y))
        if self._problem.widths is not None:
            if np.shape(y) != predicted.shape:
                raise ValueError(
                    f"y must have the shape {predicted.shape}, a class of each target; it has {np.shape(y)}."
                )
            return float(np.average((np.asarray(y) == predicted).all(axis=1), weights=sample_weight))
        try:
            with np.errstate(invalid="ignore"):  # of missing labels, which are refused
                return float(accuracy_score(y, predicted, sample_weight=sample_weight))
        except TypeError as error:  # of labels that cannot be compared
            raise TypeError(f"y must hold labels like {self.classes_[:3].tolist()}: {error}") from error

    def _to_host(self, array: Any) -> Any:
        """Return an array in host memory; subclasses that compute on a GPU copy arrays from its memory."""
        return array

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "classes_")
