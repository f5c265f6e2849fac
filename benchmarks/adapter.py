"""One face on every library, so that each is timed round by round, stopped and read out in its own way."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit, softmax

from simplexboost._util.arrays import AnyArray

MOST_ROUNDS = 2000  # far beyond the best round of every peer at its learning rates


class Clock:
    """Fit time: begins when made, `tick` after every round says whether to stop.

    Attributes
    ----------
    seconds : since the beginning, after every round of the model
    """

    def __init__(self, budget: float, max_rounds: int | None = None) -> None:
        self.budget, self.max_rounds = budget, max_rounds
        self.seconds: list[float] = []
        self._begin = time.perf_counter()

    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return time.perf_counter() - self._begin

    def begin_model(self) -> None:
        """The rounds so far were of a trial, not of the model; the time that they took still counts."""
        self.seconds.clear()

    @property
    def stopped(self) -> bool:
        """Whether the budget has ended the fit."""
        return bool(self.seconds) and self.seconds[-1] >= self.budget

    def tick(self) -> bool:
        """A round is done; whether it was the last."""
        self.seconds.append(self.elapsed())
        return self.seconds[-1] >= self.budget or len(self.seconds) == self.max_rounds


class Contestant(ABC):
    """A library with its settings; a subclass says how it fits, stops, predicts in parts and saves.

    Attributes
    ----------
    settings : parameters by name of the setting, the first one the library's defaults
    long : parameters that let the library train for as long as the clock says, instead of its own number of rounds
    n_rounds : rounds in the model
    kept : rounds that `predict_proba` and `save` use
    """

    package: ClassVar[str]
    settings: ClassVar[dict[str, dict[str, Any]]]
    long: ClassVar[dict[str, Any]] = {}
    trees_per_class: ClassVar[bool] = True
    suffix: ClassVar[str] = "model"

    def __init__(
        self, setting: str, *, threads: int, seed: int, categorical: AnyArray, own_rounds: bool = False
    ) -> None:
        self.threads, self.seed, self.categorical = threads, seed, np.flatnonzero(categorical).tolist()
        self.model = self.build({**self.settings[setting], **({} if own_rounds else self.long)})
        self.kept = 0

    @classmethod
    def is_installed(cls) -> bool:
        """Whether the library is there."""
        return find_spec(cls.package) is not None

    @abstractmethod
    def build(self, params: dict[str, Any]) -> Any:
        """The estimator, not fitted."""

    def prepare(self, X: AnyArray) -> Any:
        """X in the form that the library takes; not timed."""
        return X

    @abstractmethod
    def fit(self, X: Any, y: AnyArray, clock: Clock) -> None:
        """Train until the clock says stop; the clock ticks after every round."""

    @property
    @abstractmethod
    def n_rounds(self) -> int:
        """Rounds in the model."""

    def raw(self, X: Any, begin: int, end: int) -> AnyArray:
        """What rounds begin .. end − 1 add to the raw scores, (n, K) or (n,); for `staged`, unless it is overridden."""
        raise NotImplementedError(f"{type(self).__name__} must override raw or staged.")

    def staged(self, X: Any, rounds: Sequence[int]) -> Iterator[AnyArray]:
        """Probabilities after some of the rounds, (n, K); work is linear in the number of rounds."""
        total: AnyArray | float = 0.0
        for begin, end in zip([0, *rounds], rounds, strict=False):
            total = total + self.raw(X, begin, end)
            yield probabilities(np.asarray(total))

    def keep(self, n_rounds: int) -> None:
        """Use the first rounds only."""
        self.kept = min(n_rounds, self.n_rounds)

    @abstractmethod
    def predict_proba(self, X: Any) -> AnyArray:
        """Probabilities by the kept rounds, (n, K)."""

    @abstractmethod
    def save(self, path: Path) -> None:
        """Write the kept rounds in the library's own format."""

    def n_trees(self, n_classes: int) -> int:
        """Trees in the kept rounds."""
        return self.kept * (n_classes if self.trees_per_class and n_classes > 2 else 1)


def probabilities(raw: AnyArray) -> AnyArray:
    """Raw scores → probabilities (n, K): soft-max, or the sigmoid of one column."""
    if raw.ndim == 1 or raw.shape[1] == 1:
        second = expit(raw.ravel().astype(np.float64))
        return np.column_stack([1 - second, second])
    return np.asarray(softmax(raw, axis=1))
