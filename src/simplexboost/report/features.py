"""Importance of the features, overall and for every class: their part of what the splits have gained."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Array
from .evaluated import Evaluated

MOST = 30  # features that are shown overall
MOST_OF_CLASS = 12


def importance(rows: Evaluated) -> dict[str, Any] | None:
    """Pairs (feature, importance), the largest first; None for a classifier that has no importances, or no splits."""
    overall = getattr(rows.clf, "feature_importances_", None)
    if overall is None or not np.any(overall):
        return None
    return {
        "overall": largest(np.asarray(overall), MOST),
        "used": int(np.count_nonzero(overall)),
        "classes": of_classes(rows),
    }


def of_classes(rows: Evaluated) -> list[list[list[float]]] | None:
    """The same for every class; None if the classifier does not know it."""
    if not hasattr(rows.clf, "importances") or getattr(rows.clf, "merged_", None) is not None:
        return None
    gains = rows.clf.importances("gain", classes=rows.clf.classes_)  # (p, K)
    return [largest(gains[:, k], MOST_OF_CLASS) for k in range(rows.K)]


def largest(values: Array, most: int) -> list[list[float]]:
    """The largest values with their places; those that are zero are left out."""
    first = np.argsort(-values, kind="stable")[:most]
    return [[int(j), float(values[j])] for j in first if values[j] > 0]
