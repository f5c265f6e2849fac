"""Containers → columns: every kind of table goes the same way, through narwhals.

pandas, polars, pyarrow and whatever else narwhals knows; tables that offer Arrow's ``__arrow_c_stream__`` or the older
``__dataframe__``; arrays of objects or text, and lists of lists, whose columns are then looked at one by one. Arrays of
plain numbers and sparse matrices have no columns to look at: they are left to scikit-learn's own check.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from scipy.sparse import issparse

from .._typing import AnyArray
from .columns import Column


@dataclass(frozen=True, eq=False)
class Table:
    """A table as columns.

    Attributes
    ----------
    columns : list of p columns
    n : the number of rows
    names : the names of the columns, any hashable objects; None for arrays, which have none
    by_name : the expression that picks and orders the columns by name, for messages
    native : the frame itself, in its own library; None for arrays
    """

    columns: list[Column]
    n: int
    names: list[Any] | None = None
    by_name: str = "X[clf.feature_names_in_]"
    native: Any = None

    @property
    def typed(self) -> bool:
        """Whether columns have types of their own, as those of frames do."""
        return self.names is not None


def read_table(X: Any) -> Table | None:
    """The columns of a table; None for arrays of numbers, sparse matrices and what is no table.

    Examples
    --------
    >>> import pandas as pd
    >>> table = read_table(pd.DataFrame({"age": [1.0, 2.0], "city": ["Bonn", None]}))
    >>> table.names, [column.kind for column in table.columns]
    (['age', 'city'], ['number', 'text'])
    """
    if X is None or isinstance(X, str | bytes) or issparse(X):
        return None
    if isinstance(X, list | tuple):
        return read_list(X)
    if isinstance(X, np.ndarray):
        return read_array(X)
    frame = as_frame(X)
    return None if frame is None else read_frame(frame)


def take_rows(X: Any, rows: AnyArray) -> Any:
    """Some rows of a table of any kind, as a table of the same kind; of a sparse matrix, as CSR.

    Examples
    --------
    >>> take_rows([[1, "a"], [2, "b"], [3, "c"]], np.array([2, 0]))
    [[3, 'c'], [1, 'a']]
    """
    if issparse(X):
        return X.tocsr()[rows]
    if isinstance(X, list | tuple):
        return [X[i] for i in rows.tolist()]
    frame = None if isinstance(X, np.ndarray) else as_frame(X)
    return np.asarray(X)[rows] if frame is None else frame[rows.tolist()].to_native()


# ---- frames ---------------------------------------------------------------------------------------------------------


def as_frame(X: Any) -> Any:
    """X as a data frame of narwhals; None if it is not a frame."""
    import narwhals as nw  # not at the top: start-up time

    try:
        frame = nw.from_native(X, pass_through=True)
        if frame is X and hasattr(X, "__arrow_c_stream__") and not is_one_column(X):
            frame = nw.from_arrow(X, backend=first_installed("pyarrow", "polars", what="__arrow_c_stream__"))
        elif frame is X and hasattr(X, "__dataframe__"):
            frame = nw.from_native(from_interchange(X))
    except nw.exceptions.DuplicateError:
        raise duplicates(X) from None
    if isinstance(frame, nw.LazyFrame):
        raise TypeError(f"X is a lazy table ({type(X).__name__}); collect it first, for example with X.collect().")
    return frame if isinstance(frame, nw.DataFrame) else None


def is_one_column(X: Any) -> bool:
    """Whether X is a single column (a Series or an Arrow array), which also offers a stream of data."""
    return len(getattr(X, "shape", (0, 0))) == 1 or hasattr(X, "type")


def first_installed(*modules: str, what: str) -> Any:
    """The first of some modules that can be imported."""
    for name in modules:
        try:
            import_module(name)
        except ImportError:
            continue
        return name
    raise ImportError(f"to read a table by its {what}, install {' or '.join(modules)}.")


def from_interchange(X: Any) -> Any:
    """A pyarrow table (without pyarrow: a pandas frame) of a table that offers only the older ``__dataframe__``."""
    if first_installed("pyarrow", "pandas", what="__dataframe__") == "pyarrow":
        return import_module("pyarrow.interchange").from_dataframe(X)
    return import_module("pandas").api.interchange.from_dataframe(X)


def read_frame(frame: Any) -> Table:
    """The columns of a frame of narwhals."""
    columns = [Column(f"column {series.name!r}", series) for series in frame.iter_columns()]
    by_name = "X[clf.feature_names_in_]"
    if not frame.implementation.is_pandas_like():
        by_name = "X.select(list(clf.feature_names_in_))"
    return Table(columns, len(frame), list(frame.columns), by_name, frame.to_native())


def duplicates(X: Any) -> ValueError:
    """The error that lists the names that several columns have."""
    names = list(X.column_names if hasattr(X, "column_names") else X.columns)
    several = [f"{name!r} ({count} times)" for name, count in Counter(names).items() if count > 1]
    more = f" and {len(several) - 10} more" if len(several) > 10 else ""
    return ValueError(
        f"X has several columns of the same name: {', '.join(several[:10])}{more}. Rename them or leave some out; in "
        "pandas, X.loc[:, ~X.columns.duplicated()] keeps the first of each name."
    )


# ---- arrays ---------------------------------------------------------------------------------------------------------


def read_array(X: AnyArray) -> Table | None:
    """The columns of an array of objects, text or times; None if its values are numbers already."""
    if X.dtype.names is not None:
        raise ValueError(
            f"X is a structured array with the fields {list(X.dtype.names)}; pass a data frame instead, for example "
            "pd.DataFrame(X), or an array of two dimensions."
        )
    if isinstance(X, np.ma.MaskedArray) and X.dtype.kind in "biuf":
        return array_table(np.ma.filled(X.astype(np.float64), np.nan)) if X.ndim == 2 else None
    return array_table(X) if X.ndim == 2 and X.dtype.kind in "OUSTMm" else None


def array_table(X: AnyArray) -> Table:
    """The columns of any array of two dimensions."""
    return Table([Column(f"column {j}", values) for j, values in enumerate(X.T)], len(X))


def read_list(X: Any) -> Table | None:
    """The columns of a list of rows that hold text; None if all values are numbers, or it is no table."""
    try:
        kind = np.asarray(X).dtype.kind
        rows = np.array(X, dtype=object) if kind in "OUSMm" else None
    except ValueError:  # rows of different lengths: scikit-learn's check says so
        return None
    return None if rows is None or rows.ndim != 2 else array_table(rows)
