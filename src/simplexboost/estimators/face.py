"""What all classifiers of the package share: labels, margins and saving."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from .._answering import Answering, answering
from .._typing import AnyArray, Array, Labels
from .._words import METHODS
from ..boosting.decisions import as_decision
from ..data.categories import Categories
from ..data.inputs import plain_labels
from ..data.labels import of_one_kind
from ..data.validation import known_labels
from ..files import Saves
from ..losses import margins
from ..report import Reports
from .atomic import ASKING, at_once


class Face(Saves, Reports, ClassifierMixin, Answering):
    """The base class of classifiers; a subclass fits, gives class scores, and says what it writes to a model file."""

    classes_: Any  # (K,) labels, sorted, or a list of such arrays; an estimator that has them is fitted
    n_features_in_: int
    feature_kinds_: list[str] | None  # what the columns hold, if they were looked at; see `Features`
    categories_: Categories | None  # those of categorical columns

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        for name, table in METHODS.items():  # `fit` and `predict` answer keywords that they do not have
            if name in vars(cls):
                setattr(cls, name, answering(vars(cls)[name], table))
        if cls.__module__.partition(".")[0] == __name__.partition(".")[0]:  # methods of others may change the estimator
            for name in ASKING:
                if hasattr(cls, name):
                    setattr(cls, name, at_once(getattr(cls, name)))

    @property
    def n_classes_(self) -> Any:
        """The number of classes, K; of several class targets a list of those of each."""
        check_is_fitted(self)
        return list(map(len, self.classes_)) if isinstance(self.classes_, list) else len(self.classes_)

    @property
    def _answers(self) -> str:
        """What is said of a row: "one" class, a set of "labels", or a class of each of several "targets"."""
        if isinstance(getattr(self, "classes_", None), list):
            return "targets"
        thresholds = (getattr(self, "threshold_", None), getattr(self, "thresholds_", None))
        return "one" if all(some is None for some in thresholds) else "labels"

    def _refuse_several(self, what: str) -> None:
        """Raise if the model says more than one class of a row."""
        if self._answers != "one":
            raise ValueError(
                f"{what} takes models of one class per row; this one was fitted to several {self._answers}."
            )

    @abstractmethod
    def class_scores(self, X: Any) -> Array:
        """A score for every class; the highest wins.

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
        """The class with the highest score, ties to the first.

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
        """The numbers of the classes that `predict` takes for scores U (n, K); (n,)."""
        return U.argmax(axis=1)

    def decision_function(self, X: Any) -> Array:
        """Class scores U (n, K); with two classes the difference U₁ − U₀ (n,), which scikit-learn expects.

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
        """The part of the rows that is predicted right.

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

        y, sample_weight, predicted = (self._brought(of_rows) for of_rows in (y, sample_weight, self.predict(X)))
        y = plain_labels(y)
        if getattr(getattr(y, "dtype", None), "kind", "") == "O" and y.ndim == 1:  # as `fit` takes them
            y = of_one_kind(np.asarray(y))
        if self._answers == "targets":
            return exact_matches(y, predicted, sample_weight)
        try:
            with np.errstate(invalid="ignore"):  # of missing labels, which are refused
                return float(accuracy_score(y, predicted, sample_weight=sample_weight))
        except TypeError as error:  # of labels that cannot be compared
            raise TypeError(f"y must hold labels like {self.classes_[:3].tolist()}: {error}") from error

    def margins(self, X: Any, y: Any) -> Array:
        """The margin of every example, U_c − max_{k≠c} U_k: positive where the prediction is right.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, p)
            The rows, with the columns of the fit.
        y : array of shape (n,)
            The true labels.

        Returns
        -------
        array of shape (n,)
            The margins.
        """
        self._refuse_several("margins")
        U = self.class_scores(X)
        return margins(U, known_labels(self._brought(y), len(U), self.classes_))

    def _brought(self, array: Any) -> Any:
        """An array in the memory of the host; a classifier that computes on a GPU brings those that are there."""
        return array

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "classes_")


def exact_matches(y: Any, predicted: AnyArray, sample_weight: Any) -> float:
    """The part of the rows of y (n, T) that are predicted right in every column, as `MultiOutputClassifier` scores."""
    table = np.asarray(y)
    if table.shape != predicted.shape:
        raise ValueError(f"y must have the shape {predicted.shape}, a class of each target; it has {table.shape}.")
    return float(np.average((table == predicted).all(axis=1), weights=sample_weight))
