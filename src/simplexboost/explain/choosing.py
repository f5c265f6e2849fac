"""Which classes are explained: labels as the user gives them → columns of the result."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import AnyArray, Labels, Mask
from ..data.labels import as_listed, listed_classes


@dataclass(frozen=True, eq=False)
class Chosen:
    """Some classes of a model.

    Attributes
    ----------
    numbers : (D,) their positions in ``classes_``
    single : whether the user named one class and not a list
    present : (D,) which of them had training examples
    rows : the rows of the codewords Y that belong to those
    """

    numbers: Labels
    single: bool
    present: Mask
    rows: Labels


def choose_classes(classes: Any, known: AnyArray, present: Mask) -> Chosen:
    """The classes with these labels, all of them if None; ``known`` (K,) are those of the model."""
    numbers = np.arange(len(known)) if classes is None else class_numbers(classes, known)
    single = classes is not None and np.ndim(classes) == 0
    here = present[numbers]
    return Chosen(numbers, single, here, (np.cumsum(present) - 1)[numbers[here]])


def check_not_merged(estimator: Any) -> None:
    """Raise if classes of the estimator were merged: then the score of a class is no sum over trees."""
    if getattr(estimator, "merged_", None) is not None:
        raise ValueError(
            "the score of a merged class is no sum over trees, so that trees do not explain it; explain the model as "
            "it was before merge_classes."
        )


def class_numbers(classes: Any, known: AnyArray, what: str = "classes") -> Labels:
    """The positions of labels among the classes of a model; ``what`` names the argument in messages."""
    labels = [as_listed(label, known) for label in listed(classes, what)]
    names = listed_classes(known)
    places = {label: k for k, label in enumerate(names)}
    unknown = [label for label in labels if label not in places]
    if unknown or not labels:
        first = ", ".join(map(repr, names[:10])) + (", …" if len(known) > 10 else "")
        came = f"holds {unknown[0]!r}, which is no class of the model" if labels else "is empty"
        raise ValueError(f"{what} {came}; choose among {first}.")
    return np.array([places[label] for label in labels], dtype=np.intp)


def listed(classes: Any, what: str) -> list[Any]:
    """One label or several as a list."""
    refusal = TypeError(f"{what}={classes!r} must be a label or a list of labels.")
    mixed = isinstance(classes, list | tuple)  # of numbers and text, NumPy would make text
    try:
        labels = np.asarray(classes, dtype=object if mixed else None)
    except ValueError:  # lists of different lengths
        raise refusal from None
    found = listed_classes(labels.ravel())
    if labels.ndim > 1 or not all(isinstance(label, Hashable) for label in found):
        raise refusal
    return found
