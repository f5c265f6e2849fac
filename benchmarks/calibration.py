"""How far probabilities can be trusted: bins of the highest probability, and the expected calibration error.

Test rows are sorted by the probability of the class that is predicted and cut into 15 bins of equally many rows. In a
bin, the mean of these probabilities (the confidence) should be the part of the rows that are predicted right (the
accuracy). The expected calibration error is the mean over rows of |accuracy − confidence| of their bin.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from simplexboost._util.arrays import AnyArray

BINS = 15


@dataclass(frozen=True)
class Reliability:
    """Rows, mean confidence and accuracy of every bin, by rising confidence."""

    count: list[int]
    confidence: list[float]
    accuracy: list[float]

    @property
    def error(self) -> float:
        """The expected calibration error."""
        gaps = np.abs(np.subtract(self.accuracy, self.confidence))
        return float(np.average(gaps, weights=self.count))

    def to_json(self) -> dict[str, list[Any]]:
        """As plain lists."""
        return asdict(self)


def reliability(P: AnyArray, y: AnyArray, bins: int = BINS) -> Reliability:
    """Bins of probabilities P (n, K) against labels y (n,); there are fewer bins where there are fewer rows."""
    P = np.nan_to_num(np.asarray(P, dtype=np.float64))
    top = P.max(axis=1)
    right = P.argmax(axis=1) == y
    parts = [rows for rows in np.array_split(np.argsort(top, kind="stable"), bins) if len(rows)]
    return Reliability(
        [len(rows) for rows in parts],
        [float(top[rows].mean()) for rows in parts],
        [float(right[rows].mean()) for rows in parts],
    )
