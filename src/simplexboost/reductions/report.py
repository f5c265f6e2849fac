"""What a code did: its distances, and how often its columns err."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import Array


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
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = sb.OutputCodeClassifier(DecisionTreeClassifier(max_depth=2), "all-pairs").fit(X, y)
    >>> report = clf.code_report(X, y)
    >>> report.n_columns, report.error < 0.1
    (3, True)
    """

    n_columns: int
    min_distance: float
    bits_corrected: int
    column_errors: Array
    wrong_bits: Array
    error: float

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
