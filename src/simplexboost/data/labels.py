"""Labels (n,) of one kind: numbers, text or flags, which can be compared and sorted."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from .._typing import AnyArray
from .inputs import check_no_label_is_missing


def kind_of_target(y: Any) -> str:
    """What scikit-learn calls y, such as "multilabel-indicator"; very large numbers are no reason to warn."""
    with np.errstate(invalid="ignore"):  # of numbers beyond the integers that it compares them with
        return str(type_of_target(y))


def check_are_classes(y: AnyArray) -> None:
    """Raise unless scikit-learn takes y for classes; very large numbers are no reason to warn."""
    with np.errstate(invalid="ignore"):
        check_classification_targets(y)


def of_one_kind(y: AnyArray) -> AnyArray:
    """Labels (n,) that can be compared: an array of objects must hold numbers only, or text only, or flags only."""
    if y.dtype.kind != "O":
        return y
    listed = y.tolist()
    kinds = {kind_of_label(of) for of in set(map(type, listed))}
    if len(kinds) > 1:
        check_no_label_is_missing(y)
        raise mixed_labels(listed)
    if not kinds & {"number", "flag"}:
        return y
    numbers = np.array(listed)
    if numbers.dtype.kind == "O":
        raise ValueError(
            f"y has whole numbers beyond 64 bits, such as {max(listed, key=abs)}; use text for such labels."
        )
    return numbers


def kind_of_label(of: type) -> str:
    """What a label of this type is: text, a flag, a number, or something else by the name of the type."""
    kinds = (("text", str), ("flag", bool | np.bool_), ("number", Real))
    return next((kind for kind, types in kinds if issubclass(of, types)), of.__name__)


def listed_classes(classes: AnyArray) -> list[Any]:
    """The classes (K,) as values that labels can be looked up among; see `as_listed`."""
    return list(classes) if classes.dtype.kind in "Mm" else classes.tolist()


def as_listed(label: Any, classes: AnyArray) -> Any:
    """A label as it stands in `listed_classes`: there may be dates and durations of NumPy, pandas and Python.

    Examples
    --------
    >>> import datetime
    >>> classes = np.array(["2024-02-28", "2024-02-29"], dtype="M8[ns]")
    >>> listed_classes(classes).index(as_listed(datetime.date(2024, 2, 29), classes))
    1
    """
    if classes.dtype.kind not in "Mm" or isinstance(label, str | bytes | int | float):
        return label
    try:
        given = np.datetime64(label) if classes.dtype.kind == "M" else np.timedelta64(label)
        same = given.astype(classes.dtype)
    except (TypeError, ValueError, OverflowError):
        return label
    return same if same == given else label


def mixed_labels(listed: list[Any]) -> ValueError:
    """The error that says which types y mixes, with the first row of each."""
    rows: dict[str, int] = {}
    for row, label in enumerate(listed):
        rows.setdefault(kind_of_label(type(label)), row)
    found = ", ".join(f"{type(listed[row]).__name__} (row {row}: {listed[row]!r:.60})" for row in rows.values())
    return ValueError(f"y mixes labels of different types: {found}. Make them all numbers or all text.")
