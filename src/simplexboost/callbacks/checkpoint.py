"""Checkpoints: files from which an interrupted fit can be continued."""

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
    path : where to save; `simplexboost.load` reads it back. The file is written under another name and then renamed, so
        that it is always complete.
    every : rounds between saves
    """

    path: str | Path
    every: int = 10

    def after_round(self, run: Run) -> None:
        """Save every few rounds."""
        if run.round % self.every == 0 and run.snapshot is not None:
            run.snapshot().save(self.path)
