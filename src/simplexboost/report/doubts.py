"""Rows whose labels the model contradicts most: where one looks first for wrong labels.

A low margin means that either the label or the model is wrong, and the model cannot tell which. It has had no part in
rows that it was not fitted on. On rows of the fit it may have learned the wrong labels by heart; then models fitted to
folds of the rows, each asked about the fold that it has not seen, find more of them (`Explains.doubtful_labels`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .evaluated import Evaluated

MOST = 60


def doubts(rows: Evaluated, folds: Any = None) -> dict[str, Any]:
    """The rows with the lowest margins that are below zero, the lowest first.

    Parameters
    ----------
    rows : the evaluated rows
    folds : None takes the margins of the model itself; otherwise the folds of ``doubtful_labels``
    """
    if folds is None:
        order = np.argsort(rows.margin, kind="stable")
        entries = [
            about(rows, i, rows.margin[i], int(rows.predicted[i])) for i in order[:MOST].tolist() if rows.margin[i] < 0
        ]
        return {"how": "margins", "rows": entries, "all": int((rows.margin < 0).sum())}
    if not hasattr(rows.clf, "doubtful_labels"):
        raise ValueError(
            f"folds={folds!r} asks for doubtful_labels, which {type(rows.clf).__name__} does not have; pass None."
        )
    check_folds(rows, folds)
    found = rows.clf.doubtful_labels(rows.X, rows.clf.classes_[rows.c], cv=folds)
    suggested = np.searchsorted(rows.clf.classes_, found.suggested)
    below = np.flatnonzero(found.margin < 0)
    entries = [about(rows, int(found.rows[i]), found.margin[i], int(suggested[i])) for i in below[:MOST].tolist()]
    return {"how": "folds", "rows": entries, "all": len(below)}


def check_folds(rows: Evaluated, folds: Any) -> None:
    """Raise unless a number of folds is at least two, and at most the number of rows of the largest class."""
    if not isinstance(folds, int | np.integer):
        return  # a splitter, or pairs of arrays
    largest = int(np.bincount(rows.c).max())
    if largest < 2:
        raise ValueError(f"folds={folds!r} needs a class with at least two rows, and every class has one; pass None.")
    if not 2 <= folds <= largest:
        raise ValueError(
            f"folds={folds!r} is out of range; pass 2 to {largest}, the number of rows of the largest class, or None."
        )


def about(rows: Evaluated, i: int, margin: float, suggested: int) -> dict[str, Any]:
    """One row: its label, the class that the model prefers, and how much."""
    return {
        "row": rows.rows[i],
        "label": int(rows.c[i]),
        "suggested": suggested,
        "margin": float(margin) if np.isfinite(margin) else None,
        "ofLabel": rows.probability(i, int(rows.c[i])),
        "ofSuggested": rows.probability(i, suggested),
    }
