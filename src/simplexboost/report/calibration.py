"""Do the probabilities mean what they say?"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..inspection import reliability_table
from .evaluated import Evaluated

BINS = 12


def calibration(rows: Evaluated) -> dict[str, Any] | None:
    """The reliability of the predicted classes' probabilities, in bins; None without probabilities."""
    if rows.P is None:
        return None
    found = reliability_table(rows.c, rows.P, np.arange(rows.K), bins=BINS)
    return {
        "low": found.low.tolist(),
        "high": found.high.tolist(),
        "count": found.count.tolist(),
        "few": found.few.tolist(),
        "predicted": found.predicted.tolist(),
        "observed": found.observed.tolist(),
        "interval": found.interval.tolist(),
        "error": found.ece,
        "confidence": float(rows.P.max(axis=1).mean()),
        "accuracy": float((rows.P.argmax(axis=1) == rows.c).mean()),
    }
