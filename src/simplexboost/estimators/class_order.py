"""The order of ordinal classes, as the parameter ``ordinal`` and y tell it."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import AnyArray, Labels
from ..data.labels import label_numbers, listed_classes
from ..data.validation import Checked

ORDERS = "True, False or a sequence of the labels from the lowest to the highest"


def check_ordinal(ordinal: Any) -> None:
    """Raise unless ``ordinal`` is True, False or a sequence of different labels."""
    if isinstance(ordinal, bool | np.bool_):
        return
    if not isinstance(ordinal, list | tuple) and not (hasattr(ordinal, "__array__") and np.ndim(ordinal)):
        raise TypeError(f"ordinal={ordinal!r} must be {ORDERS}.")
    try:
        labels = np.asarray(ordinal)
        different = len(np.unique(labels)) if labels.ndim == 1 else 0
    except (TypeError, ValueError) as error:  # of several types, or rows of different lengths
        raise TypeError(f"ordinal={ordinal!r} must be {ORDERS}: {error}") from error
    if different < max(2, len(labels)):
        raise ValueError(f"ordinal={ordinal!r} must be {ORDERS}; there must be at least two, all of them different.")


def is_ordinal(ordinal: Any) -> bool:
    """Whether classes are ordered."""
    return not isinstance(ordinal, bool | np.bool_) or bool(ordinal)


def declared_order(y: Any) -> AnyArray | None:
    """The labels from the lowest to the highest if y is an ordered categorical of pandas or an Enum of polars."""
    kind = getattr(y, "dtype", None)
    categories = getattr(kind, "categories", None)
    if categories is None or not getattr(kind, "ordered", type(kind).__name__ == "Enum"):
        return None
    return np.asarray(categories)


def class_order(ordinal: Any, checked: Checked) -> Labels | None:
    """The numbers of the classes from the lowest to the highest, (K,); None if classes have no order.

    The order is that of a sequence in ``ordinal``, or else that of an ordered categorical y, or else that of numbers,
    dates and other values that have one. Text has none: alphabetical order would put "high" below "low".
    """
    if not is_ordinal(ordinal):
        return None
    classes = checked.classes
    if not isinstance(ordinal, bool | np.bool_):
        return places(np.asarray(ordinal), classes, f"ordinal={ordinal!r}")
    if checked.order is not None:
        return places(checked.order, classes, "the ordered categorical y")
    if all(isinstance(label, str) for label in classes.tolist()):
        raise ValueError(
            f"ordinal=True cannot know the order of labels that are text, such as {classes[:3].tolist()}; pass all of "
            "them from the lowest to the highest, ordinal=[...], or an ordered categorical y of pandas."
        )
    return np.arange(len(classes))


def places(order: AnyArray, classes: AnyArray, what: str) -> Labels:
    """The numbers among the sorted classes (K,) of the labels in ``order``, which may name others too."""
    numbers = label_numbers(order, classes)
    missing = np.setdiff1d(np.arange(len(classes)), numbers)
    if len(missing):
        raise ValueError(
            f"{what} does not name the classes {listed_classes(classes[missing[:5]])}; it must name all of them."
        )
    return numbers[numbers >= 0]
