"""What the code of an `OutputCodeClassifier` and its columns do on labelled rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._util.arrays import Array
from ..tables.validation import known_labels
from .drawing import documented


@documented
@dataclass(frozen=True, eq=False)
class CodeReport:
    """A code and its columns on some data.

    Attributes
    ----------
    n_columns : int
        The number of columns, l.
    min_distance : float
        The smallest Hamming distance of two rows, zeros counting ½.
    bits_corrected : int
        The number of wrong bits that Hamming decoding always survives.
    column_errors : array of shape (l,)
        The fraction of the rows that each column gets wrong, NaN where no row takes part.
    wrong_bits : int array of shape (n,)
        The number of columns that answer wrongly, for every row.
    error : float
        The fraction of the rows that are classified wrongly.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from simplexboost import OutputCodeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = OutputCodeClassifier(GaussianNB(), "exhaustive", "hamming").fit(X, y)
    >>> print(CodeReport.from_estimator(clf, X, y))
    columns            3
    minimum distance   2
    bits corrected     0
    errors of columns  0.0000 to 0.0800, mean 0.0511
    within reach       0.8733
    error              0.0733
    """

    n_columns: int
    min_distance: float
    bits_corrected: int
    column_errors: Array
    wrong_bits: Array
    error: float

    @classmethod
    def from_estimator(cls, clf: Any, X: Any, y: Any) -> CodeReport:
        """Ask the columns of a fitted classifier about rows with known labels.

        Parameters
        ----------
        clf : OutputCodeClassifier
            The fitted classifier.
        y : array of shape (n,)
            The labels of the rows, which must have occurred in training.
        """
        check_is_fitted(clf)
        if not hasattr(clf, "column_scores"):
            raise TypeError(f"{type(clf).__name__} has no columns; pass a fitted OutputCodeClassifier.")
        f = clf.column_scores(X)
        c = known_labels(y, len(f), clf.classes_[clf.present_])
        letters = clf.codewords_[clf.present_][c]  # (n, l)
        wrong = (letters != 0) & ((f > 0) != (letters > 0))
        taking_part = (letters != 0).sum(axis=0)
        errors = np.full(f.shape[1], np.nan)
        np.divide(wrong.sum(axis=0), taking_part, out=errors, where=taking_part > 0)
        error = float(np.mean(clf._present_scores(f).argmax(axis=1) != c))
        return cls(f.shape[1], clf.min_distance_, clf.bits_corrected_, errors, wrong.sum(axis=1), error)

    @property
    def within_reach(self) -> float:
        """The part of the rows with no more wrong bits than the code corrects."""
        return float(np.mean(self.wrong_bits <= self.bits_corrected))

    def __str__(self) -> str:
        errors = self.column_errors[~np.isnan(self.column_errors)]
        low, mean, high = (errors.min(), errors.mean(), errors.max()) if len(errors) else (0.0, 0.0, 0.0)
        return "\n".join(
            [
                f"columns            {self.n_columns}",
                f"minimum distance   {self.min_distance:g}",
                f"bits corrected     {self.bits_corrected}",
                f"errors of columns  {low:.4f} to {high:.4f}, mean {mean:.4f}",
                f"within reach       {self.within_reach:.4f}",
                f"error              {self.error:.4f}",
            ]
        )
