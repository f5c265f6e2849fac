"""The table of classes, and the map on which similar classes are neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..inspection import Confusion, class_table, map_of_scores
from .evaluated import Evaluated


def classes(rows: Evaluated, found: Confusion) -> dict[str, Any]:
    """Support, recall, precision and F1 of every class, and what it is most often taken for; lists of length K."""
    numbers = np.arange(rows.K)
    table = class_table(rows.c, rows.predicted, numbers)
    errors = found.errors
    worst = errors.argmax(axis=1)
    return {
        "support": table.support.tolist(),
        "predicted": table.predicted.tolist(),
        "correct": table.correct.tolist(),
        "recall": table.recall.tolist(),
        "recallInterval": table.recall_interval.tolist(),
        "precision": table.precision.tolist(),
        "precisionInterval": table.precision_interval.tolist(),
        "f1": table.f1.tolist(),
        "takenFor": [int(k) if errors[c, k] else None for c, k in enumerate(worst)],
        "takenTimes": errors[numbers, worst].tolist(),
    }


def class_map(rows: Evaluated, found: Confusion) -> dict[str, Any] | None:
    """A point for every class that has rows; None where there are fewer than three."""
    here = found.support > 0
    if here.sum() < 3:
        return None
    placed = map_of_scores(rows.U, rows.c, np.arange(rows.K))
    points = [point if known else None for point, known in zip(placed.points.tolist(), here.tolist(), strict=True)]
    return {"points": points, "explained": float(placed.explained.sum())}
