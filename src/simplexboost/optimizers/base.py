"""What an optimizer is."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from .._parts import Part
from ..boosting.run import Run, Update
from ..data.training_set import TrainingSet
from ..learners import Learner


class Optimizer(Part):
    """Makes the updates of a round: it says what the weak learner is asked, and turns answers into steps.

    A subclass is a dataclass of parameters that writes `propose`.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from simplexboost import BoostingClassifier
    >>> from simplexboost.optimizers.asking import gradient_of, step_along
    >>> from sklearn.datasets import load_iris
    >>> @dataclass(eq=False, repr=False)
    ... class RandomCoordinate(Optimizer):
    ...     def propose(self, run):
    ...         return step_along(run, gradient_of(run), int(run.rng.integers(run.Y.shape[1])))
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = BoostingClassifier(optimizer=RandomCoordinate(), n_estimators=20, random_state=0).fit(X, y)
    >>> clf.score(X, y) > 0.95
    True
    """

    dtype: ClassVar[type] = np.float64  # of F and of the codewords
    candidates: int | None = None  # how many classes beside its own every row keeps scores of; None for all

    @abstractmethod
    def propose(self, run: Run) -> list[Update]:
        """The updates of the next round; none if the learner found no direction that decreases the risk."""

    def memory(self, data: TrainingSet, learner: Learner, d: int, n_rounds: int) -> float | None:
        """About how many bytes boosting takes beside X at its peak, with codewords of d columns; None if unknown."""
        return None

    def check(self, run: Run) -> None:
        """Raise if the parts do not fit together; called once before boosting."""

    def resume(self, run: Run) -> None:
        """Recover the optimizer's state from the rounds so far; called once when a run continues a model."""
