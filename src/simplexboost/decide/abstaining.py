"""Abstention: labels (n,) in which rows below a confidence have a missing value."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._util.arrays import AnyArray, Labels, Mask
from ..tables.labels import as_listed, listed_classes


def with_missing(classes: AnyArray, best: Labels, answered: Mask, missing: Any = None) -> AnyArray:
    """The labels (n,) of the best classes, in which those without an answer are missing.

    Parameters
    ----------
    classes : (K,) the labels; the type of the result depends on them and on ``missing`` only
    best : (n,) the number of the best class
    answered : (n,) where there is an answer
    missing : what stands for no answer; None takes NaN among numbers, NaT among dates and durations, and None in an
        array of objects for all other labels

    Examples
    --------
    >>> best, answered = np.array([1, 0]), np.array([True, False])
    >>> with_missing(np.array([3, 5]), best, answered)
    array([ 5., nan])
    >>> with_missing(np.array(["cat", "dog"]), best, answered)
    array(['dog', None], dtype=object)
    >>> with_missing(np.array([3, 5]), best, answered, -1)
    array([ 5, -1])
    """
    out = classes.astype(type_with_missing(classes, missing)).take(best)
    if missing is not None:
        out[~answered] = missing
    elif out.dtype.kind in "mM":
        out[~answered] = np.array("NaT", dtype=out.dtype)
    else:
        out[~answered] = None if out.dtype == object else np.nan
    return out


def type_with_missing(classes: AnyArray, missing: Any) -> Any:
    """The type of an array that can hold the labels (K,) and what stands for no answer."""
    kind = classes.dtype.kind
    if missing is not None:
        found = np.asarray(missing)
        alike = found.ndim == 0 and (found.dtype.kind == kind or {found.dtype.kind, kind} <= set("iuf"))
        of_both = np.result_type(classes.dtype, found.dtype) if alike and kind != "b" else np.dtype(object)
    elif kind in "iu":
        of_both = np.dtype(np.float64)
    else:
        of_both = classes.dtype if kind in "fmM" else np.dtype(object)
    if kind in "iu" and of_both.kind == "f" and (np.abs(classes.astype(np.float64)) >= 2**53).any():
        return np.dtype(object)  # a float would be another number
    return of_both


def check_missing(missing: Any, classes: AnyArray) -> None:
    """Raise if what stands for no answer is a class (K,), or no single value."""
    if missing is None:
        return
    if np.ndim(missing) != 0:
        raise ValueError(f"missing={missing!r} must be a single value, such as -1 or 'unknown', or None.")
    if any(is_same(label, as_listed(missing, classes)) for label in listed_classes(classes)):
        raise ValueError(f"missing={missing!r} is one of the classes; take a value that no row can have.")


def is_same(label: Any, missing: Any) -> bool:
    """Whether a label would be taken for no answer; pandas.NA, which cannot be compared, is like no label."""
    try:
        return bool(label == missing)
    except (TypeError, ValueError):
        return False
