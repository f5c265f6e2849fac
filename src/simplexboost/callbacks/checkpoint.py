"""Files from which an interrupted fit goes on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..boosting.run import Run
from .base import Callback


@dataclass(eq=False)
class Checkpoint(Callback):
    """Saves the classifier every few rounds, so that a long fit can be interrupted without loss.

    Parameters
    ----------
    path : where to save; `simplexboost.load` reads it back. Written beside and moved into place, never half a file.
    every : rounds between saves
    """

    path: str | Path
    every: int = 10

    def after_round(self, run: Run) -> None:
        """Save when it is time."""
        if run.round % self.every == 0 and run.snapshot is not None:
            run.snapshot().save(self.path)
