"""Random samples of rows and features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import AnyArray
from ..boosting.run import Run
from ..data.training_set import TrainingSet
from .base import Callback


@dataclass(eq=False)
class Sampling(Callback):
    """Gives every round a random sample of the rows and of the features, at least one of each.

    The parameters ``subsample`` and ``max_features`` of a classifier do the same.

    Parameters
    ----------
    subsample : float, default=1.0
        The fraction of the rows.
    max_features : float or "auto", default=1.0
        The fraction of the features; "auto" is 0.8, and 0.4 where there are more than 256 features, since many of them
        are then alike.
    held : array or None, default=None
        The numbers of rows that are never drawn, ascending; None stands for no rows.

    Examples
    --------
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = sb.GDMCBoostClassifier(n_estimators=10, callbacks=[Sampling(subsample=0.5)], random_state=0).fit(X, y)
    >>> clf.score(X, y) > 0.9
    True
    """

    subsample: float = 1.0
    max_features: float | str = 1.0
    held: AnyArray | None = None

    def start(self, run: Run) -> None:
        """Let the loop draw again where the learner finds no edge on a sample."""
        run.redraw = self.before_round

    def before_round(self, run: Run) -> None:
        """Draw the rows and features of this round."""
        run.rows, p = self._rows(run.data, run.rng), run.data.p
        max_features = (0.8 if p <= 256 else 0.4) if isinstance(self.max_features, str) else self.max_features
        run.features = self._draw(run.rng, p, max_features)

    def _rows(self, data: TrainingSet, rng: np.random.Generator) -> AnyArray | None:
        """Those of the rows of this round that are here; None if all are."""
        held = self.held
        drawn = self._draw(rng, data.n - (0 if held is None else len(held)), self.subsample)
        if drawn is not None:
            return data.engine.here(drawn if held is None else others(data.n, held)[drawn])
        return None if held is None else others(data.n_here, data.engine.here(held))

    @staticmethod
    def _draw(rng: np.random.Generator, size: int, fraction: float) -> AnyArray | None:
        if fraction >= 1.0:
            return None
        drawn = np.zeros(size, dtype=bool)
        drawn[rng.choice(size, max(1, round(fraction * size)), replace=False)] = True
        return np.flatnonzero(drawn)


def others(n: int, held: AnyArray) -> AnyArray:
    """The rows 0 .. n − 1 without those held out, ascending."""
    return np.delete(np.arange(n), held)
