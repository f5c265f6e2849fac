"""The confusion explorer: all cells of the matrix with errors, and examples of the most frequent pairs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..inspection import Confusion, similarity, similarity_order, soft_confusion
from .evaluated import Evaluated

MOST_CELLS = 6_000  # cells with errors that the page holds, the most frequent ones; a browser draws each as a shape
MOST_PAIRS = 3_000  # pairs with examples; some 300 bytes each
MOST_EXAMPLES = 6  # of a pair


def confusions(rows: Evaluated, found: Confusion) -> dict[str, Any]:
    """The order of the classes, the cells (true, predicted, rows) with errors, and the pairs with their examples."""
    errors = found.errors
    c, k = np.nonzero(errors)
    order = np.lexsort((k, c, -errors[c, k]))  # the most frequent first
    c, k = c[order], k[order]
    cells = np.column_stack([c, k, errors[c, k]])
    return {
        "order": class_order(rows, found).tolist(),
        "cells": cells[:MOST_CELLS].tolist(),
        "allCells": len(cells),
        "errors": int(errors.sum()),
        "pairs": [examples(rows, *pair) for pair in cells[:MOST_PAIRS, :2].tolist()],
    }


def class_order(rows: Evaluated, found: Confusion) -> Any:
    """The classes with similar ones beside each other; by probabilities where there are any, else by errors."""
    rates = found.rates if rows.P is None else soft_confusion(rows.c, rows.P, np.arange(rows.K))
    return similarity_order(similarity(rates))


def examples(rows: Evaluated, c: int, k: int) -> dict[str, Any]:
    """Rows of class c that were taken for class k, those with the lowest margins first."""
    here = np.flatnonzero((rows.c == c) & (rows.predicted == k))
    here = here[np.argsort(rows.margin[here], kind="stable")][:MOST_EXAMPLES]
    return {
        "true": c,
        "predicted": k,
        "at": here.tolist(),
        "rows": [rows.rows[i] for i in here.tolist()],
        "margins": rows.margin[here].tolist(),
        "ofTrue": [rows.probability(i, c) for i in here.tolist()],
        "ofPredicted": [rows.probability(i, k) for i in here.tolist()],
    }
