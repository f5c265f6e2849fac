"""Classes with an order or a hierarchy: what the parameter ``classes`` says about them, and their codewords.

The order is that of the labels in ``Ordinal(...)``; without labels, that of y, an ordered categorical or a polars Enum.
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
    """Return the parameter ``classes`` as a `Hierarchy` if it is one, or a dict of nodes; else None."""
    if isinstance(classes, Hierarchy):
        return classes
    return Hierarchy(classes) if isinstance(classes, dict) else None


def check_structure(classes: Any) -> None:
    """Raise if the parameter ``classes`` holds an invalid order or hierarchy; y is not needed for this check."""
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
    """Return all labels in the parameter ``classes``; None if the labels are to be taken from y."""
    if isinstance(classes, Ordinal):
        return classes.labels
    tree = tree_of(classes)
    return classes if tree is None else tree.leaves


def declared_order(y: Any) -> AnyArray | None:
    """Return the ordered categories of y if y is an ordered categorical of pandas or an Enum of polars, else None."""
    kind = getattr(y, "dtype", None)
    categories = getattr(kind, "categories", None)
    if categories is None or not getattr(kind, "ordered", type(kind).__name__ == "Enum"):
        return None
    return np.asarray(categories)


def class_order(classes: Any, checked: Checked) -> Labels | None:
    """Return the class indices (K,) from the lowest class to the highest; None unless ``classes`` is an `Ordinal`.

    The order is that of the labels in `Ordinal`; without labels, that of an ordered categorical y, or else that of
    numbers and dates. Text alone is refused: alphabetical order would put "high" below "low".
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
    """Return the class indices of ordered labels, positions in ``classes``; raise unless all classes are named."""
    numbers = label_numbers(order, classes)
    missing = np.setdiff1d(np.arange(len(classes)), numbers)
    if len(missing):
        raise ValueError(
            f"{what} does not name the classes {listed_classes(classes[missing[:5]])}; it must name all of them."
        )
    return numbers[numbers >= 0]


def is_hierarchy_code(codewords: Any) -> bool:
    """Return whether the parameter ``codewords`` is "hierarchy"."""
    return isinstance(codewords, str) and codewords == "hierarchy"


def structured_codewords(codewords: Codewords, parameter: Any, classes: Any, checked: Checked) -> Codewords:
    """Return the code of ordered classes or of a tree as a matrix in the order of ``classes_``; else ``codewords``.

    The codewords of a tree are taken only if ``parameter`` is "hierarchy": on real tables they did not improve
    predictions (docs/structure.md).
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
    """Return the ordered labels from the class indices in a model file, or None; raise if an index is wrong."""
    if value is None:
        return None
    numbers = isinstance(value, list) and all(type(number) is int for number in value)
    if not numbers or sorted(value) != list(range(len(classes))):
        raise damaged("invalid order of classes")
    return classes[np.array(value)]


def read_hierarchy(value: Any, classes: AnyArray) -> Hierarchy | None:
    """Return the `Hierarchy` from a model file, or None; raise unless it has all classes."""
    if value is None:
        return None
    hierarchy = from_json(value)
    if not isinstance(hierarchy, Hierarchy):
        raise damaged("invalid hierarchy of classes")
    hierarchy.members(1, classes)  # raises unless it is one
    return hierarchy
