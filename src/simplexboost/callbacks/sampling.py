"""Random samples of rows and features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import AnyArray
from ..boosting.run import Run
from .base import Callback


@dataclass(eq=False)
class Sampling(Callback):
    """Gives every round a random sample of the rows and of the features, at least one of each.

    ``max_features="auto"`` is 0.8, and 0.4 where there are more than 256 features, since many of them are then alike.
    ``among`` holds the rows that may be drawn, ascending; None stands for all rows.
    """

    subsample: float = 1.0
    max_features: float | str = 1.0
    among: AnyArray | None = None

    def start(self, run: Run) -> None:
        """Let the loop draw again where the learner finds no edge on a sample."""
        run.redraw = self.before_round

    def before_round(self, run: Run) -> None:
        """Draw the rows and features of this round."""
        n, p = run.data.X.shape
        run.rows = self._rows(run.rng, n)
        max_features = (0.8 if p <= 256 else 0.4) if isinstance(self.max_features, str) else self.max_features
        run.features = self._draw(run.rng, p, max_features)

    def _rows(self, rng: np.random.Generator, n: int) -> AnyArray | None:
        if self.among is None:
            return self._draw(rng, n, self.subsample)
        drawn = self._draw(rng, len(self.among), self.subsample)
        return self.among if drawn is None else self.among[drawn]

    @staticmethod
    def _draw(rng: np.random.Generator, size: int, fraction: float) -> AnyArray | None:
        if fraction >= 1.0:
            return None
        return np.sort(rng.choice(size, max(1, round(fraction * size)), replace=False))
