"""The base class of all classifiers, with labels, accuracy and saving, and the transaction in which a fit runs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from .._util.arrays import AnyArray, Array, Labels
from .._util.params import METHODS, Estimator, suggest_keywords
from ..boosting.decisions import as_decision
from ..persist.saving import check_savable, save
from ..tables.features import Categories
from ..tables.inputs import plain_labels
from ..tables.labels import of_one_kind
from ..tables.problem import ONE_CLASS, Problem


@contextmanager
def transaction(estimator: Any) -> Iterator[Any]:
    """Yield a copy of the estimator, and replace the estimator's attributes by those of the copy at the end.

    The replacement is a single assignment, so after an exception or an interrupt the estimator is as it was.
    """
    before = dict(vars(estimator))
    draft = object.__new__(type(estimator))  # the constructor, which a subclass may have changed, is not called
    draft.__dict__.update(before)
    yield draft
    estimator.__dict__ = merged(dict(vars(estimator)), before, vars(draft))


def merged(now: dict[str, Any], before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """Merge the attributes that an estimator has ``now`` with those of its copy ``before`` and ``after`` a fit.

    Fitted attributes (``name_``) are those of the fit. Parameters that the fit has not changed are kept as they are
    now, because a callback may have set them meanwhile.

    Examples
    --------
    >>> merged({"n_jobs": 2, "old_": 1}, {"n_jobs": 1, "old_": 1}, {"n_jobs": 1, "model_": 3})
    {'n_jobs': 2, 'model_': 3}
    """
    others = {name: value for name, value in now.items() if not name.endswith("_")}
    changed = {n: value for n, value in after.items() if n.endswith("_") or n not in before or before[n] is not value}
    removed = before.keys() - after.keys()
    return {name: value for name, value in (others | changed).items() if name not in removed}


class BaseClassifier(ClassifierMixin, Estimator):
    """The base class of classifiers; a subclass fits, gives class scores, and says what it writes to a model file.

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

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        for name, table in METHODS.items():  # `fit` and `predict` answer keywords that they do not have
            if name in vars(cls):
                setattr(cls, name, suggest_keywords(vars(cls)[name], table))

    @property
    def n_classes_(self) -> Any:
        """The number of classes, K; of several class targets a list of those of each."""
        check_is_fitted(self)
        return list(self._problem.widths) if self._problem.widths is not None else len(self.classes_)

    def save(self, path: Any) -> None:
        """Write the fitted classifier to a file that `simplexboost.load` reads; never a pickle.

        Parameters
        ----------
        path : str, path or binary file
            Where to write. A file appears complete or not at all, and replaces an older one of that name only then. An
            open file gets the same bytes where it stands.

        Raises
        ------
        NotFittedError : before ``fit``
        TypeError : if something cannot be stored without pickle, as `check_savable` tells before the fit
        OSError : if the file cannot be written
        """
        save(self, path)

    def check_savable(self) -> None:
        """Raise a TypeError that says which parameters cannot be saved; call it before a long fit.

        Functions, other libraries' estimators and parts of your own are code, which model files do not hold. Callbacks
        are left out of files, and do not matter here. `Checkpoint` calls this when the fit begins. Of a fitted
        classifier, what it has learned is checked too.

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

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, p)
            The rows, with the columns of the fit.

        Returns
        -------
        array of shape (n, K)
            The scores, a column for every class in the order of ``classes_``.
        """

    def predict(self, X: Any) -> AnyArray:
        """Predict the class with the highest score of every row, ties to the first.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, p)
            The rows, with the columns of the fit.

        Returns
        -------
        array of shape (n,)
            The labels.
        """
        U = self.class_scores(X)
        return self.classes_.take(U.argmax(axis=1))

    def _best(self, U: Array) -> Labels:
        """Return the number (n,) of the class that `predict` takes for scores U (n, K)."""
        return U.argmax(axis=1)

    def decision_function(self, X: Any) -> Array:
        """Compute class scores U (n, K); with two classes U₁ − U₀ (n,), as scikit-learn expects.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, p)
            The rows, with the columns of the fit.

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
        X : array, data frame or sparse matrix of shape (n, p)
            The rows, with the columns of the fit.
        y : array of shape (n,)
            The true labels; an indicator matrix (n, K) if the model was fitted to one, and (n, T) for T class targets:
            then a row is right if all of it is.
        sample_weight : array of shape (n,) or None, default=None
            The weights of the rows.

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
            return exact_matches(y, predicted, sample_weight)
        try:
            with np.errstate(invalid="ignore"):  # of missing labels, which are refused
                return float(accuracy_score(y, predicted, sample_weight=sample_weight))
        except TypeError as error:  # of labels that cannot be compared
            raise TypeError(f"y must hold labels like {self.classes_[:3].tolist()}: {error}") from error

    def _to_host(self, array: Any) -> Any:
        """Return an array in the memory of the host, in which it already is unless a subclass computes on a GPU."""
        return array

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "classes_")


def exact_matches(y: Any, predicted: AnyArray, sample_weight: Any) -> float:
    """Return the share of rows of y (n, T) with every column right, as `MultiOutputClassifier` does."""
    table = np.asarray(y)
    if table.shape != predicted.shape:
        raise ValueError(f"y must have the shape {predicted.shape}, a class of each target; it has {table.shape}.")
    return float(np.average((table == predicted).all(axis=1), weights=sample_weight))
