"""Reads tables of any library as columns, checks the column names, and finds the categorical columns.

narwhals reads pandas, polars, pyarrow and other libraries, and every table with Arrow's method ``__arrow_c_stream__``
or the older ``__dataframe__``. Arrays of objects or text, and lists of lists, are read column by column. Arrays of
plain numbers and sparse matrices are left to scikit-learn's own check.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from numbers import Integral
from typing import Any

import numpy as np
from scipy.sparse import issparse

from .._util.arrays import AnyArray, Mask
from .._util.messages import warn_user
from .columns import Column


@dataclass(frozen=True, eq=False)
class Table:
    """A table as a list of columns, with its number of rows and its column names."""

    columns: list[Any]  # the p columns, whole (`Column`) or without their rows (`Digest`)
    n: int  # the number of rows
    names: list[Any] | None = None  # the names of the columns, any hashable objects; None for arrays, which have none
    by_name: str = "X[clf.feature_names_in_]"  # the expression that picks and orders the columns by name, for messages
    native: Any = None  # the frame itself, in its own library; None for arrays

    @property
    def typed(self) -> bool:
        """Whether every column has a type of its own, as in a data frame."""
        return self.names is not None


def read_table(X: Any) -> Table | None:
    """Return a table split into columns; None for arrays of numbers, sparse matrices and objects that are no table.

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
    if frame is None:
        return None
    columns = [Column(f"column {series.name!r}", series) for series in frame.iter_columns()]
    pandas = frame.implementation.is_pandas_like()
    by_name = Table.by_name if pandas else "X.select(list(clf.feature_names_in_))"
    return Table(columns, len(frame), list(frame.columns), by_name, frame.to_native())


def take_rows(X: Any, rows: AnyArray) -> Any:
    """Return the rows with the given indices, as a table of the same type as X; a sparse matrix becomes CSR.

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
    """Return X as a narwhals data frame; None if X is no data frame."""
    import narwhals as nw  # not at the top: start-up time

    try:
        frame = nw.from_native(X, pass_through=True)
        if frame is X and hasattr(X, "__arrow_c_stream__") and not is_one_column(X):
            frame = nw.from_arrow(X, backend=first_installed("pyarrow", "polars", what="__arrow_c_stream__"))
        elif frame is X and hasattr(X, "__dataframe__"):
            frame = nw.from_native(from_interchange(X))
    except nw.exceptions.DuplicateError:
        raise duplicates_error(X) from None
    if isinstance(frame, nw.LazyFrame):
        raise TypeError(f"X is a lazy table ({type(X).__name__}); collect it first, for example with X.collect().")
    return frame if isinstance(frame, nw.DataFrame) else None


def is_one_column(X: Any) -> bool:
    """Return whether X is a single column (a Series or an Arrow array) and not a table."""
    return len(getattr(X, "shape", (0, 0))) == 1 or hasattr(X, "type")


def first_installed(*modules: str, what: str) -> Any:
    """Return the name of the first module that can be imported; if there is none, raise ImportError with ``what``."""
    for name in modules:
        try:
            import_module(name)
        except ImportError:
            continue
        return name
    raise ImportError(f"to read a table by its {what}, install {' or '.join(modules)}.")


def from_interchange(X: Any) -> Any:
    """Convert a table that offers only the method ``__dataframe__`` to pyarrow, or to pandas if pyarrow is missing."""
    if first_installed("pyarrow", "pandas", what="__dataframe__") == "pyarrow":
        return import_module("pyarrow.interchange").from_dataframe(X)
    return import_module("pandas").api.interchange.from_dataframe(X)


def duplicates_error(X: Any) -> ValueError:
    """Return the ValueError that lists the column names that occur more than once."""
    names = list(X.column_names if hasattr(X, "column_names") else X.columns)
    several = [f"{name!r} ({count} times)" for name, count in Counter(names).items() if count > 1]
    more = f" and {len(several) - 10} more" if len(several) > 10 else ""
    return ValueError(
        f"X has several columns of the same name: {', '.join(several[:10])}{more}. Rename them or leave some out; in "
        "pandas, X.loc[:, ~X.columns.duplicated()] keeps the first of each name."
    )


# ---- arrays ---------------------------------------------------------------------------------------------------------


def read_array(X: AnyArray) -> Table | None:
    """Return an array of objects, text, times or masked numbers as a `Table`; None for any other array."""
    if X.dtype.names is not None:
        raise ValueError(
            f"X is a structured array with the fields {list(X.dtype.names)}; pass a data frame instead, for example "
            "pd.DataFrame(X), or an array of two dimensions."
        )
    if isinstance(X, np.ma.MaskedArray) and X.dtype.kind in "biuf":
        return array_table(np.ma.filled(X.astype(np.float64), np.nan)) if X.ndim == 2 else None
    return array_table(X) if X.ndim == 2 and X.dtype.kind in "OUSTMm" else None


def array_table(X: AnyArray) -> Table:
    return Table([Column(f"column {j}", values) for j, values in enumerate(X.T)], len(X))


def read_list(X: Any) -> Table | None:
    """Return a list of rows as a `Table`; None if all values are numbers or the list is no table."""
    try:
        kind = np.asarray(X).dtype.kind
        rows = np.array(X, dtype=object) if kind in "OUSMm" else None
    except ValueError:  # rows of different lengths: scikit-learn's check says so
        return None
    return None if rows is None or rows.ndim != 2 else array_table(rows)


MOST = 5  # names in a list


def learn_names(estimator: Any, names: list[Any] | None) -> None:
    """Set ``feature_names_in_`` of an estimator to the column names if all are text; otherwise remove the attribute."""
    vars(estimator).pop("feature_names_in_", None)
    if (text := text_names(names)) is not None:
        estimator.feature_names_in_ = np.array(text, dtype=object)


def check_names(estimator: Any, names: list[Any] | None, by_name: str = Table.by_name) -> None:
    """Raise ValueError if the column names differ from the fit; only warn if one of the two tables has no names.

    As in scikit-learn, names count only if all of them are text. The messages begin with scikit-learn's words.
    """
    names = text_names(names)
    fitted = getattr(estimator, "feature_names_in_", None)
    who = type(estimator).__name__
    if fitted is None and names is not None:
        warn_user(f"X has feature names, but {who} was fitted without feature names")
    elif fitted is not None and names is None:
        warn_user(f"X does not have valid feature names, but {who} was fitted with feature names")
    elif fitted is not None and names is not None and names != list(fitted):
        raise ValueError(describe_difference(names, list(fitted), by_name))


def check_feature_count(estimator: Any, p: int) -> None:
    """Raise ValueError unless p is the number of columns on which the estimator was fitted."""
    if p != getattr(estimator, "n_features_in_", p):
        raise ValueError(
            f"X has {p} features, but {type(estimator).__name__} is expecting {estimator.n_features_in_} features as "
            "input."
        )


def text_names(names: list[Any] | None) -> list[str] | None:
    """Return the names if all are text, else None; raise TypeError, as scikit-learn does, if only some are text."""
    types = sorted({type(name).__qualname__ for name in names or ()})
    if len(types) > 1 and "str" in types:
        raise TypeError(
            "Feature names are only supported if all input features have string names, but your input has "
            f"{types} as feature name / column name types. Convert them all to strings, for example by X.columns = "
            "X.columns.astype(str)."
        )
    return list(names) if names and types == ["str"] else None


def describe_difference(names: list[str], fitted: list[str], by_name: str) -> str:
    """Return the error message for column names unlike those of the fit; ``by_name`` is code that selects columns."""
    missing, unseen = sorted(set(fitted) - set(names)), sorted(set(names) - set(fitted))
    message = "The feature names should match those that were passed during fit.\n"
    if unseen:
        message += "Feature names unseen at fit time:\n" + list_names(unseen)
    if missing:
        message += "Feature names seen at fit time, yet now missing:\n" + list_names(missing)
        return message + "".join(
            f"Perhaps {close!r} was {name!r} in fit.\n"
            for name in missing[:MOST]
            for close in close_names(name, unseen)[:1]
        )
    if not unseen:
        message += "Feature names must be in the same order as they were in fit.\n"
    return message + f"Pick the columns of the fit by name, where clf is the classifier: {by_name}"


def list_names(names: list[str]) -> str:
    return "".join(f"- {name}\n" for name in names[:MOST]) + ("- ...\n" if len(names) > MOST else "")


def close_names(name: str, others: Iterable[str]) -> list[str]:
    """Return the names in ``others`` that are spelled almost like ``name``, most similar first; case is ignored."""
    by_case = {other.lower(): other for other in others}
    return [by_case[found] for found in get_close_matches(name.lower(), by_case)]


def feature_names(clf: Any) -> list[str]:
    """Return the column names of a fitted classifier as text; x0, x1, … if it was fitted without names."""
    given = getattr(clf, "feature_names_in_", None)
    return [f"x{j}" for j in range(clf.n_features_in_)] if given is None else [str(name) for name in given]


def categorical_mask(table: Table, categorical_features: Any) -> Mask:
    """Return the mask (p,) of the categorical columns, given as "from_dtype", a mask, positions, names or None."""
    p = len(table.columns)
    if categorical_features is None:
        return np.zeros(p, dtype=bool)
    if isinstance(categorical_features, str):
        if categorical_features != "from_dtype":
            hint = f" (pass [{categorical_features!r}])" if categorical_features in (table.names or ()) else ""
            raise ValueError(
                f"categorical_features={categorical_features!r} is unknown{hint}; pass 'from_dtype', a mask, "
                "positions, names or None."
            )
        return np.array([table.typed and c.kind in ("text", "category") for c in table.columns], dtype=bool)
    wanted = list(categorical_features) if isinstance(categorical_features, Iterable) else None
    if wanted is None or any(not isinstance(w, str | Integral | np.bool_) for w in wanted):
        raise unknown_features(categorical_features, p)
    mask = np.zeros(p, dtype=bool)
    if any(isinstance(w, bool | np.bool_) for w in wanted):
        if len(wanted) != p or not all(isinstance(w, bool | np.bool_) for w in wanted):
            raise unknown_features(categorical_features, p)
        return np.array(wanted, dtype=bool)
    mask[positions(wanted, table, categorical_features)] = True
    return mask


def positions(wanted: list[Any], table: Table, given: Any) -> list[int]:
    """Return the positions of columns given as names or positions; raise ValueError if a column does not exist."""
    p, names = len(table.columns), [name if isinstance(name, str) else None for name in table.names or ()]
    if all(isinstance(w, str) for w in wanted):
        unknown, known = [name for name in wanted if name not in names], [name for name in names if name is not None]
        if unknown:
            raise ValueError(
                f"categorical_features={given!r}: X has no {'columns' if len(unknown) > 1 else 'column'} "
                f"{', '.join(map(repr, sorted(unknown)[:5]))}"
                + (suggest_names(sorted(unknown), known) if known else "; it has no names, so pass positions.")
            )
        return [names.index(name) for name in wanted]
    if any(isinstance(w, str) for w in wanted):
        raise unknown_features(given, p)
    outside = sorted(int(w) for w in wanted if not 0 <= w < p)
    if outside:
        raise ValueError(
            f"categorical_features={given!r}: X has {p} columns, with positions 0 to {p - 1}; there is no position "
            f"{', '.join(map(str, outside[:5]))}."
        )
    return [int(w) for w in wanted]


def suggest_names(unknown: list[str], known: list[str]) -> str:
    """Return the end of an error message: names similar to the unknown ones, or else the existing names."""
    close = [match for name in unknown[:5] for match in close_names(name, known)[:1]]
    if close:
        return f"; did you mean {', '.join(map(repr, close))}?"
    return f"; its columns are {', '.join(map(repr, known[:10]))}{' …' if len(known) > 10 else ''}."


def unknown_features(given: Any, p: int) -> ValueError:
    """Return the ValueError for an invalid value ``given`` of the parameter ``categorical_features``."""
    return ValueError(
        f"categorical_features={given!r} must be a mask of {p} booleans, positions below {p}, names of columns, "
        "'from_dtype' or None."
    )
