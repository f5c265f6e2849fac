"""`StructuredBooster`, the base class of boosters whose classes may have an order or a hierarchy.

The order comes from ``classes=Ordinal(...)`` or from y, if that is an ordered categorical or an Enum of polars.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from .._util.arrays import AnyArray, Labels
from ..boosting.decisions import OneLabel
from ..parts.codewords import Codewords, Custom, Hierarchy, Ordered, Ordinal
from ..parts.losses import Loss
from ..parts.optimizers.run import Run
from ..persist.archive import damaged
from ..persist.saving import from_json, to_json
from ..tables.labels import label_numbers, listed_classes
from ..tables.validation import Checked
from .booster import Booster
from .plan import Parts, Plan


def tree_of(classes: Any) -> Hierarchy | None:
    """The hierarchy that ``classes`` gives, a dict of nodes as a tree; None if it gives none."""
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
    """All labels that ``classes`` names, in any order; None if it leaves them to y."""
    if isinstance(classes, Ordinal):
        return classes.labels
    tree = tree_of(classes)
    return classes if tree is None else tree.leaves


def declared_order(y: Any) -> AnyArray | None:
    """The labels from the lowest to the highest if y is an ordered categorical of pandas or an Enum of polars."""
    kind = getattr(y, "dtype", None)
    categories = getattr(kind, "categories", None)
    if categories is None or not getattr(kind, "ordered", type(kind).__name__ == "Enum"):
        return None
    return np.asarray(categories)


def class_order(classes: Any, checked: Checked) -> Labels | None:
    """The numbers of the classes from the lowest to the highest, (K,); None if classes have no order.

    The order is that of the labels of `Ordinal`, or else that of an ordered categorical y, or else that of numbers,
    dates and other values that have one. Text has none: alphabetical order would put "high" below "low".
    """
    if not isinstance(classes, Ordinal):
        return None
    labels = checked.classes
    if classes.labels is not None:
        return places(np.asarray(classes.labels), labels, f"classes={classes!r}")
    if checked.order is not None:
        return places(checked.order, labels, "the ordered categorical y")
    if all(isinstance(label, str) for label in labels.tolist()):
        raise ValueError(
            f"classes=Ordinal() cannot know the order of labels that are text, such as {labels[:3].tolist()}; pass all "
            "of them from the lowest to the highest, Ordinal([...]), or an ordered categorical y of pandas."
        )
    return np.arange(len(labels))


def places(order: AnyArray, classes: AnyArray, what: str) -> Labels:
    """The numbers among the sorted classes (K,) of the labels in ``order``, which may name others too."""
    numbers = label_numbers(order, classes)
    missing = np.setdiff1d(np.arange(len(classes)), numbers)
    if len(missing):
        raise ValueError(
            f"{what} does not name the classes {listed_classes(classes[missing[:5]])}; it must name all of them."
        )
    return numbers[numbers >= 0]


@dataclass(eq=False, repr=False, kw_only=True)
class StructuredBooster(Booster):
    """A booster whose classes may have an order or a hierarchy."""

    # ---- fitting ----------------------------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_structure(self.classes)

    @property
    def _is_tree_code(self) -> bool:
        """Whether codewords are those of the hierarchy."""
        codewords = getattr(self, "codewords", None)
        return isinstance(codewords, str) and codewords == "hierarchy"

    @property
    def _declared(self) -> Any:
        return declared_labels(self.classes)

    def _check_training(self, parts: Parts, X: Any, y: Any, sample_weight: Any, costs: Any) -> Checked:
        return replace(super()._check_training(parts, X, y, sample_weight, costs), order=declared_order(y))

    def _deciding(self, loss: Loss, checked: Checked) -> OneLabel:
        return replace(super()._deciding(loss, checked), order=class_order(self.classes, checked))

    def _by_structure(self, codewords: Codewords, checked: Checked) -> Codewords:
        """The codewords, those of an order or of a tree as a matrix with a row for every class of ``classes_``.

        Those of a tree are not taken by themselves: on real tables they did not pay (docs/structure.md).
        """
        tree = tree_of(self.classes)
        if tree is not None and self._is_tree_code:
            return Custom(tree.codewords(checked.classes))
        order = class_order(self.classes, checked)
        if order is None or not isinstance(codewords, Ordered):
            return codewords
        codewords.check()
        Y = np.empty((len(order), codewords.columns(len(order))))
        Y[order] = codewords.matrix(len(order), np.random.default_rng(0))
        return Custom(Y)

    def _fitted(self, run: Run, *, plan: Plan, checked: Checked, **others: Any) -> dict[str, Any]:
        order = class_order(self.classes, checked)
        return {
            **super()._fitted(run, plan=plan, checked=checked, **others),
            "class_order_": None if order is None else checked.classes[order],
            "hierarchy_": None if (tree := tree_of(self.classes)) is None else clone(tree),
        }

    # ---- files ------------------------------------------------------------------------------------------------------

    def _pack(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        header, arrays = super()._pack()
        order, hierarchy = getattr(self, "class_order_", None), getattr(self, "hierarchy_", None)
        structure = {
            "class_order": None if order is None else np.searchsorted(self.classes_, order).tolist(),
            "hierarchy": None if hierarchy is None else to_json(hierarchy, "hierarchy_"),
        }
        return {**header, **structure}, arrays

    def _unpack(self, header: dict[str, Any], arrays: dict[str, AnyArray]) -> None:
        super()._unpack(header, arrays)
        self.class_order_ = checked_order(header.get("class_order"), self.classes_)
        self.hierarchy_ = checked_hierarchy(header.get("hierarchy"), self.classes_)


def checked_order(value: Any, classes: AnyArray) -> AnyArray | None:
    """The labels from the lowest to the highest, from a file, or None; raise unless they are the classes."""
    if value is None:
        return None
    numbers = isinstance(value, list) and all(type(number) is int for number in value)
    if not numbers or sorted(value) != list(range(len(classes))):
        raise damaged("invalid order of classes")
    return classes[np.array(value)]


def checked_hierarchy(value: Any, classes: AnyArray) -> Hierarchy | None:
    """The hierarchy, from a file, or None; raise unless it is a tree that has all classes."""
    if value is None:
        return None
    hierarchy = from_json(value)
    if not isinstance(hierarchy, Hierarchy):
        raise damaged("invalid hierarchy of classes")
    hierarchy.members(1, classes)  # raises unless it is one
    return hierarchy
