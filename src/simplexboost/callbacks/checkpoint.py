"""Checkpoints: files from which an interrupted fit can be continued."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from .._parts import check_number
from .._warn import warn_user
from ..boosting.run import Run
from .base import Callback


@dataclass(eq=False)
class Checkpoint(Callback):
    """Saves the classifier every few rounds, so that a long fit can be interrupted without loss.

    Parameters
    ----------
    path : str or Path
        Where to save; `simplexboost.load` reads it back. A save replaces the file only when the new one is complete and
        on the disk, so that a whole one is there even after a crash or a loss of power.
    every : int, default=10
        The number of rounds between two saves.

    Notes
    -----
    A classifier that cannot be saved, for example with a scikit-learn learner, is refused when its fit begins; so is a
    place where no file can be. What goes wrong later, such as a full disk, costs the checkpoint and a `RuntimeWarning`,
    but not the fit: the older file stays as it is, and the next save is tried as usual.

    Examples
    --------
    >>> import tempfile
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = f"{folder}/model.sb"
    ...     clf = sb.SimplexBoostClassifier(n_estimators=25, callbacks=[Checkpoint(path)], random_state=0).fit(X, y)
    ...     sb.load(path).n_iter_
    20
    """

    path: str | Path
    every: int = 10

    def check(self, estimator: Any) -> None:
        """Refuse what could not be saved before the fit begins, not after its first rounds."""
        if not isinstance(self.path, str | PathLike):
            raise TypeError(f"path={self.path!r} must be the name of a file.")
        check_number("every", self.every, int, 1)
        estimator.check_savable()
        if not Path(self.path).resolve().parent.is_dir():
            raise FileNotFoundError(f"Checkpoint's path={str(self.path)!r} is in a folder that does not exist.")
        if Path(self.path).exists() and not Path(self.path).is_file():
            raise OSError(f"Checkpoint's path={str(self.path)!r} is there already and is no regular file.")

    def after_round(self, run: Run) -> None:
        """Save every few rounds."""
        if run.round % self.every or run.snapshot is None:
            return
        try:
            run.snapshot().save(self.path)
        except (OSError, MemoryError) as error:
            warn_user(
                f"the checkpoint of round {run.round} could not be saved, and the fit goes on without it: {error!r}",
                RuntimeWarning,
            )
