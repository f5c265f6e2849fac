"""Classes that have an order or form a tree: what the parameter ``classes`` says of them, and their codewords.

The order comes from ``classes=Ordinal(...)`` or from y, if that is an ordered categorical or an Enum of polars.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._util.arrays import AnyArray, Labels
from ..parts.codewords import Codewords, Custom, Hierarchy, Ordered, Ordinal
from ..persist.archive import damaged
from ..persist.saving import from_json
from ..tables.labels import label_numbers, listed_classes
from ..tables.validation import Checked


def tree_of(classes: Any) -> Hierarchy | None:
    """Return the hierarchy that ``classes`` gives, also as a dict of nodes; None if it gives none."""
    if isinstance(classes, Hierarchy):
        return classes
    return Hierarchy(classes) if isinstance(classes, dict) else None


def check_structure(classes: Any) -> None:
    """Raise if ``classes`` gives an order or a tree that is invalid; labels are checked with y."""
    if isinstance(classes, Ordinal):
        classes.check()
    tree = tree_of(classes)
    if tree is not None:
        try:
            tree.check()
        except (TypeError, ValueError) as error:
            raise type(error)(f"classes={classes!r:.200} is not a tree of classes: {error}") from error
    if isinstance(classes, type | bool | int | float):
        raise TypeError(
            f"classes={classes!r} must be None, a sequence of labels, an Ordinal(), a Hierarchy or a dict of its nodes."
        )


def declared_labels(classes: Any) -> Any:
    """Return all labels that ``classes`` names; None if they are those of y."""
    if isinstance(classes, Ordinal):
        return classes.labels
    tree = tree_of(classes)
    return classes if tree is None else tree.leaves


def declared_order(y: Any) -> AnyArray | None:
    """Return the ordered labels of a categorical of pandas or an Enum of polars; None of any other y."""
    kind = getattr(y, "dtype", None)
    categories = getattr(kind, "categories", None)
    if categories is None or not getattr(kind, "ordered", type(kind).__name__ == "Enum"):
        return None
    return np.asarray(categories)


def class_order(classes: Any, checked: Checked) -> Labels | None:
    """Return the numbers of the classes from the lowest to the highest, (K,); None if classes have no order.

    The order is that of the labels of `Ordinal`, or else that of an ordered categorical y, or else that of numbers,
    dates and other values that have one. Text has none: alphabetical order would put "high" below "low".
    """
    if not isinstance(classes, Ordinal):
        return None
    labels = checked.classes
    if classes.labels is not None:
        return number_labels(np.asarray(classes.labels), labels, f"classes={classes!r}")
    if checked.order is not None:
        return number_labels(checked.order, labels, "the ordered categorical y")
    if all(isinstance(label, str) for label in labels.tolist()):
        raise ValueError(
            f"classes=Ordinal() cannot know the order of labels that are text, such as {labels[:3].tolist()}; pass all "
            "of them from the lowest to the highest, Ordinal([...]), or an ordered categorical y of pandas."
        )
    return np.arange(len(labels))


def number_labels(order: AnyArray, classes: AnyArray, what: str) -> Labels:
    """Return the numbers of ordered labels among the sorted classes; raise unless all classes are named."""
    numbers = label_numbers(order, classes)
    missing = np.setdiff1d(np.arange(len(classes)), numbers)
    if len(missing):
        raise ValueError(
            f"{what} does not name the classes {listed_classes(classes[missing[:5]])}; it must name all of them."
        )
    return numbers[numbers >= 0]


def is_hierarchy_code(codewords: Any) -> bool:
    """Return whether a parameter asks for the codewords of the hierarchy."""
    return isinstance(codewords, str) and codewords == "hierarchy"


def structured_codewords(codewords: Codewords, parameter: Any, classes: Any, checked: Checked) -> Codewords:
    """Return the codewords; those of an order or of a tree as a matrix with a row for every class of ``classes_``.

    The codewords of a tree are taken only if the ``parameter`` of the classifier asks for them: on real tables they did
    not pay (docs/structure.md).
    """
    tree = tree_of(classes)
    if tree is not None and is_hierarchy_code(parameter):
        return Custom(tree.codewords(checked.classes))
    order = class_order(classes, checked)
    if order is None or not isinstance(codewords, Ordered):
        return codewords
    codewords.check()
    Y = np.empty((len(order), codewords.columns(len(order))))
    Y[order] = codewords.matrix(len(order), np.random.default_rng(0))
    return Custom(Y)


# ---- files ----------------------------------------------------------------------------------------------------------


def read_order(value: Any, classes: AnyArray) -> AnyArray | None:
    """Return the ordered labels that a file holds, or None; raise unless they are the classes."""
    if value is None:
        return None
    numbers = isinstance(value, list) and all(type(number) is int for number in value)
    if not numbers or sorted(value) != list(range(len(classes))):
        raise damaged("invalid order of classes")
    return classes[np.array(value)]


def read_hierarchy(value: Any, classes: AnyArray) -> Hierarchy | None:
    """Return the hierarchy that a file holds, or None; raise unless it has all classes."""
    if value is None:
        return None
    hierarchy = from_json(value)
    if not isinstance(hierarchy, Hierarchy):
        raise damaged("invalid hierarchy of classes")
    hierarchy.members(1, classes)  # raises unless it is one
    return hierarchy
