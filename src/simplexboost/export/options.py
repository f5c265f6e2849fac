"""Options that several routes share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .._typing import AnyArray
from ..data.inputs import check_X
from ..files.whole import as_path
from .shipped import shipped


def source_path(path: Any, *endings: str) -> Path:
    """The place of a source file, which must have one of these endings."""
    found = as_path(path, "text or a path")
    if found.suffix not in endings:
        raise ValueError(f"path={str(path)!r} must end in {' or '.join(endings)}.")
    return found


def check_dtype(dtype: Any) -> Any:
    """The precision of X in the exported model."""
    try:
        found = np.dtype(dtype)
    except TypeError:
        found = None
    if found not in (np.float64, np.float32):
        raise ValueError(f"dtype={dtype!r} is not possible; choose 'float64' or 'float32'.")
    return found


def numbers(clf: Any, X: Any) -> AnyArray:
    """X as the numbers that treelite takes, (n, p): categories by their number, dates in days, NaN where missing.

    C takes the same for text and dates; categories that are numbers are passed to it as they are.

    Parameters
    ----------
    clf : fitted booster
        The model that takes the numbers.
    X : array, data frame or sparse matrix of shape (n, p)
        The rows, with the columns of the fit.

    Returns
    -------
    array of shape (n, p)
        The numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> import simplexboost as sb
    >>> X = pd.DataFrame({"size": [1.0, 2.0, None, 4.0], "town": ["Ulm", "Bonn", "Ulm", None]})
    >>> clf = sb.GDMCBoostClassifier(n_estimators=2).fit(X, [0, 1, 0, 1])
    >>> sb.export.numbers(clf, X)
    array([[ 1.,  1.],
           [ 2.,  0.],
           [nan,  1.],
           [ 4., nan]])
    """
    shipped(clf)  # refuses what cannot be exported
    found = check_X(clf, X)
    return found.toarray() if hasattr(found, "toarray") else found
