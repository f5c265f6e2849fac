"""Constraints on the scores of classes, from labels to numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..data.validation import Checked
from ..learners.constraints import is_by_class


def by_class_number(cst: Any, checked: Checked) -> Any:
    """``monotonic_cst`` with the numbers of the classes that are trained on in place of their labels.

    Constraints of classes without training examples are left out, since these classes have no scores.
    """
    if not isinstance(cst, Mapping) or not is_by_class(cst):
        return cst
    classes = checked.classes.tolist()
    unknown = [label for label in cst if label not in classes]
    if unknown:
        raise ValueError(f"monotonic_cst names the classes {unknown[:5]}; the classes are {classes[:10]}.")
    numbers = checked.present.cumsum() - 1
    known = {classes.index(label): of_class for label, of_class in cst.items()}
    return {int(numbers[k]): of_class for k, of_class in known.items() if checked.present[k]}
