"""Which classes are explained: labels as the user gives them → columns of the result."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import AnyArray, Labels, Mask
from ..data.labels import few, label_numbers, listed_classes, unknown_labels


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
    labels = listed(classes, what)
    if not labels:
        raise ValueError(f"{what} is empty; choose among {few(listed_classes(known))}.")
    chosen = np.empty(len(labels), dtype=object)
    chosen[:] = labels
    numbers = label_numbers(chosen, known)
    if (numbers < 0).any():
        raise ValueError(unknown_labels(chosen[numbers < 0], known, what, "the classes of the model"))
    return numbers


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
