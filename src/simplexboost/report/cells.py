"""The values in the cells of a table of any kind, as text."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from .._typing import AnyArray
from ..data.tables import as_frame

LONGEST = 40  # characters of a value that are shown


class Cells:
    """The columns of a table, read when they are asked for."""

    def __init__(self, X: Any) -> None:
        self.X = X.tocsc() if issparse(X) else X
        plain = issparse(X) or isinstance(X, np.ndarray | list | tuple)
        self.frame = None if plain else as_frame(X)
        self._columns: dict[int, AnyArray] = {}

    def column(self, j: int) -> AnyArray:
        """The values of a column, (n,): numbers, or objects."""
        if j not in self._columns:
            self._columns[j] = self._read(j)
        return self._columns[j]

    def _read(self, j: int) -> AnyArray:
        if self.frame is not None:
            values = self.frame[:, j].to_list()
        elif issparse(self.X):
            return self.X[:, [j]].toarray()[:, 0]
        elif isinstance(self.X, np.ndarray):
            return self.X[:, j]
        else:
            values = [row[j] for row in self.X]
        column = np.empty(len(values), dtype=object)
        column[:] = values
        return column

    def text(self, i: int, j: int) -> str:
        """The value in row i and column j."""
        return as_text(self.column(j)[i])

    def typical(self, rows: AnyArray, j: int) -> str:
        """The median of a column of numbers over some rows, or its most frequent value; "" without rows."""
        values = [value for value in self.column(j)[rows].tolist() if not is_missing(value)]
        if len(rows) == 0:
            return ""
        if not values:
            return "missing"
        if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
            return as_text(float(np.median(values)))
        words = [as_text(value) for value in values]
        return max(dict.fromkeys(words), key=words.count)


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT or the like: those differ from themselves, or cannot be compared."""
    try:
        return value is None or bool(value != value)
    except TypeError:  # pd.NA
        return True


def as_text(value: Any) -> str:
    """A value as people read it: numbers to four digits, long text cut."""
    if is_missing(value):
        return "missing"
    if isinstance(value, float | np.floating):
        return f"{float(value):.4g}"
    text = str(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
