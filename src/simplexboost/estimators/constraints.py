"""Constraints on the scores of classes, from labels to numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..data.validation import Checked
from ..explain.choosing import class_numbers
from ..learners.constraints import is_by_class


def by_class_number(cst: Any, checked: Checked) -> Any:
    """``monotonic_cst`` with the numbers of the classes that are trained on in place of their labels.

    Constraints of classes without training examples are left out, since these classes have no scores.
    """
    if not isinstance(cst, Mapping) or not is_by_class(cst):
        return cst
    named = class_numbers(list(cst), checked.classes, "monotonic_cst")
    numbers = checked.present.cumsum() - 1
    known = zip(named.tolist(), cst.values(), strict=True)
    return {int(numbers[k]): of_class for k, of_class in known if checked.present[k]}
