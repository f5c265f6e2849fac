"""Predictions of fitted columns: answers → distances to the codewords → classes and probabilities; a report on data."""

from __future__ import annotations

from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.utils.validation import _num_samples, check_is_fitted

from .._blas import one_blas_thread
from .._typing import Array, Mask
from ..boosting.decisions import all_classes
from ..data.inputs import check_columns
from ..data.validation import known_labels
from ..estimators.face import Face
from ..losses.links import log_of
from .columns import Column, indexable, jobs_for
from .coupling import couple, softmax_link
from .decoding import confidence, distances
from .report import CodeReport


class Decodes(Face):
    """Predicts by decoding the answers of fitted columns; a subclass fits them."""

    codewords: Any
    decoding: str
    break_ties: bool
    response: str
    probability: str
    n_jobs: int | None

    present_: Mask
    codewords_: Array
    columns_: list[Column]
    min_distance_: float
    bits_corrected_: int

    def column_scores(self, X: Any) -> Array:
        """The answers f of the columns, (n, l): positive for +1.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, p)
            The rows, with the columns of the fit.

        Returns
        -------
        array of shape (n, l)
            The answers, a column for every binary problem.
        """
        X = self._check_X(X)
        return self._ask(X, "answers", self.response, self.decoding)

    def class_scores(self, X: Any) -> Array:
        """Minus the distances, (n, K): the nearest class scores highest; absent ones are far below.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, p)
            The rows, with the columns of the fit.

        Returns
        -------
        array of shape (n, K)
            The scores, a column for every class in the order of ``classes_``.
        """
        return all_classes(self._present_scores(self.column_scores(X)), self.present_)

    def predict_proba(self, X: Any) -> Array:
        """Probabilities, (n, K), by soft-max or coupling; classes without training examples have none.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, p)
            The rows, with the columns of the fit.

        Returns
        -------
        array of shape (n, K)
            The probabilities, a column for every class in the order of ``classes_``.
        """
        X = self._check_X(X)
        n, M = _num_samples(X), self.codewords_[self.present_]
        P = np.zeros((n, len(self.classes_)))
        if len(M) < 2:
            P[:, self.present_] = 1.0
        elif self._couples():
            P[:, self.present_] = couple(self._ask(X, "probabilities", self.response), M)
        else:
            f = self._ask(X, "answers", self.response, self.decoding)
            P[:, self.present_] = softmax_link(-self._present_scores(f), M)
        return P

    def predict_log_proba(self, X: Any) -> Array:
        """The logarithms of `predict_proba`; −inf for probabilities that are zero.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, p)
            The rows, with the columns of the fit.

        Returns
        -------
        array of shape (n, K)
            The logarithms.
        """
        return log_of(self.predict_proba(X))

    def _check_X(self, X: Any) -> Any:
        check_is_fitted(self)
        if hasattr(self, "n_features_in_") and getattr(X, "ndim", 2) != 2:
            raise ValueError(f"Expected 2D array, got {X.ndim}D array instead. Reshape your data to (n, p).")
        return indexable(check_columns(self, X, reset=False))

    def _ask(self, X: Any, question: str, *how: str) -> Array:
        """Every column's answers or probabilities, (n, l)."""
        jobs = jobs_for(self.n_jobs, len(self.columns_))
        columns = Parallel(n_jobs=jobs)(delayed(getattr(column, question))(X, *how) for column in self.columns_)
        return np.column_stack(columns) if columns else np.zeros((_num_samples(X), 0))

    def _present_scores(self, f: Array) -> Array:
        """Minus the distances of the answers f (n, l) to the classes that had training examples."""
        M = self.codewords_[self.present_]
        with one_blas_thread():
            scores = -distances(f, M, self.decoding)
            if self.break_ties and self.decoding in ("hamming", "votes"):
                scores += confidence(f, M)
        return scores

    def _couples(self) -> bool:
        if self.probability == "auto":
            return isinstance(self.codewords, str) and self.codewords == "all-pairs"
        return self.probability == "coupling"

    # ---- reports ----------------------------------------------------------------------------------------------------

    def code_report(self, X: Any, y: Any) -> CodeReport:
        """What the code and its columns do on data with known labels.

        Parameters
        ----------
        X : table of shape (n, p)
            The rows, with the columns of the fit.
        y : array of shape (n,)
            Their labels, which must have occurred in training.

        Returns
        -------
        CodeReport
            The distance of the code and the errors of its columns.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.naive_bayes import GaussianNB
        >>> from simplexboost import OutputCodeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> print(OutputCodeClassifier(GaussianNB(), "exhaustive", "hamming").fit(X, y).code_report(X, y))
        columns            3
        minimum distance   2
        bits corrected     0
        errors of columns  0.0000 to 0.0800, mean 0.0511
        within reach       0.8733
        error              0.0733
        """
        f = self.column_scores(X)
        c = known_labels(y, len(f), self.classes_[self.present_])
        letters = self.codewords_[self.present_][c]  # (n, l)
        wrong = (letters != 0) & ((f > 0) != (letters > 0))
        taking_part = (letters != 0).sum(axis=0)
        errors = np.full(f.shape[1], np.nan)
        np.divide(wrong.sum(axis=0), taking_part, out=errors, where=taking_part > 0)
        return CodeReport(
            n_columns=f.shape[1],
            min_distance=self.min_distance_,
            bits_corrected=self.bits_corrected_,
            column_errors=errors,
            wrong_bits=wrong.sum(axis=1),
            error=float(np.mean(self._present_scores(f).argmax(axis=1) != c)),
        )
