"""Checks of labels of rows and of what comes with them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import AnyArray, Array, Labels
from ..data.inputs import plain_labels
from ..data.labels import known_label_numbers


def check_labels(y: Any, what: str) -> AnyArray:
    """Labels as an array, one per row, (n,)."""
    y = np.asarray(plain_labels(y, what))
    if y.ndim != 1:
        raise ValueError(f"{what} has shape {y.shape}; pass one label per row.")
    if len(y) == 0:
        raise ValueError(f"{what} is empty; pass at least one row.")
    return y


def check_same_length(y: AnyArray, other: AnyArray, what: str) -> None:
    """Raise unless there is an entry of ``other`` for every label; ``what`` names it."""
    if len(other) != len(y):
        raise ValueError(f"{what} has {len(other)} rows, and there are {len(y)} labels; pass as many.")


def check_probabilities(P: Any, n: int, K: int) -> Array:
    """Probabilities (n, K)."""
    P = np.asarray(P, dtype=np.float64)
    if P.shape != (n, K):
        raise ValueError(f"P has shape {P.shape}; pass ({n}, {K}): a row per label and a column per class.")
    if not (np.isfinite(P).all() and P.min(initial=0.0) >= 0 and P.max(initial=0.0) <= 1 + 1e-6):
        raise ValueError("P must hold probabilities: numbers from 0 to 1.")
    return P


def check_predicted(y_true: Any, P: Any, classes: Any) -> tuple[Labels, Array, AnyArray]:
    """The numbers of the true classes (n,), the probabilities (n, K), and the labels of the columns of these (K,)."""
    y, known = check_labels(y_true, "y_true"), np.asarray(classes)
    P = check_probabilities(P, len(y), len(known))
    return known_label_numbers(y, known, "y_true"), P, known
