"""How the flagship settles what was left to it: by rules from the size of the table, and by its own held-out risk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._memory import free_memory
from .._typing import AnyArray
from ..boosting.run import Run
from ..callbacks import Callback, Sampling
from ..data.training_set import TrainingSet
from ..data.validation import Checked
from ..engine import CpuEngine
from ..optimizers import Optimizer
from ..selection import TEMPERATURES, Candidate, Choice, Split, Terms, folds, one_split, race

FEWEST_ROWS = 20  # below this, folds are too small to tell anything


@dataclass(frozen=True, eq=False)
class Settled:
    """An estimator whose parameters are all settled, the temperature its scores get, and how they were chosen."""

    estimator: Any
    temperature: float = 1.0
    choice: Choice | None = None


@dataclass(frozen=True)
class Effort:
    """What a choice may cost.

    Attributes
    ----------
    n_folds : folds, or 1 for one split
    most_held : the most rows that one split holds out, at most a sixth of all
    haste : the race is run at so many times the learning rate of the fit, with so many times fewer rounds
    rate : the learning rate of the fit, unless the user gives one
    """

    n_folds: int
    most_held: int
    haste: float
    rate: float


def effort(n: int, p: int, K: int) -> Effort:
    """The effort that suits n rows of p columns and K classes.

    A fit of up to 10 000 rows takes about a second, and five folds at twice the learning rate cost two more fits for
    every candidate that is not dropped. Larger tables have rows enough for one split, and where a fit takes long, the
    race hurries more.
    """
    cells = n * max(p, K)
    if n <= 10_000 and cells <= 1_000_000:
        return Effort(5, n, 4.0, 0.05)
    if n <= 100_000 and cells <= 10_000_000:
        return Effort(1, 10_000, 2.0, 0.1)
    return Effort(1, 20_000, 3.0, 0.1)


@dataclass(frozen=True)
class Wanted:
    """What is to be chosen.

    Attributes
    ----------
    longest : the most rounds of the race
    usual : see `Terms`
    exact : the number of rounds of the fit, if it is given: then the race compares after `longest` rounds only
    calibrate : whether a temperature is chosen
    say : prints a line of progress
    """

    longest: int
    usual: float
    exact: int | None
    calibrate: bool
    say: Callable[[str], None]


@dataclass(frozen=True, eq=False)
class Starter:
    """Starts the run of an estimator on the training rows of a split; the other rows only follow."""

    estimator: Any
    data: TrainingSet
    present: AnyArray
    seed: int

    def __call__(self, split: Split) -> tuple[Run, Optimizer, list[Callback]]:
        """The run, its optimizer and its callbacks."""
        parts, rng = self.estimator.parts(), np.random.default_rng(self.seed)
        parts.loss.check(self.data.K)
        Y = parts.codewords.for_classes(len(self.present), self.present, rng).astype(parts.optimizer.dtype)  # (K, d)
        run = Run(self.data, parts.loss, Y, parts.learner, parts.step, self.estimator.shrinkage(), rng)
        parts.optimizer.check(run)
        sampling = Sampling(self.estimator.subsample, self.estimator.max_features, split.train)
        return run, parts.optimizer, [sampling]


def choose(
    rivals: Sequence[tuple[dict[str, Any], Any]], checked: Checked, groups: AnyArray | None, seed: int, wanted: Wanted
) -> Choice:
    """The best of some estimators by held-out risk, its number of rounds and its temperature.

    ``rivals`` are pairs of parameters, which name a candidate, and an estimator that has them and the learning rate of
    the race. Large tables choose the candidate on a sample first; all rows then tell its rounds and temperature.
    """
    data, rng = checked.data, np.random.default_rng([seed, 1])
    cost = effort(data.n, data.X.shape[1], data.K)
    first: Choice | None = None
    if cost.n_folds == 1 and len(rivals) > 1:
        rows = np.sort(rng.choice(data.n, sample_rows(data.n), replace=False))
        sampled_groups = None if groups is None else groups[rows]
        if sampled_groups is None or len(np.unique(sampled_groups)) > 1:  # else nothing could be held out
            first = hold(rivals, data.sample(rows), checked.present, sampled_groups, seed, cost, wanted, rng)
            rivals = [rival for rival in rivals if rival[0] == first.params]
    choice = hold(rivals, data, checked.present, groups, seed, cost, wanted, rng)
    return choice if first is None else replace(choice, candidates=first.candidates)


def hold(
    rivals: Sequence[tuple[dict[str, Any], Any]],
    data: TrainingSet,
    present: AnyArray,
    groups: AnyArray | None,
    seed: int,
    cost: Effort,
    wanted: Wanted,
    rng: np.random.Generator,
) -> Choice:
    """A race of the rivals on these rows."""
    n_threads, splits = data.engine.n_threads, make_splits(data, groups, cost, rng)
    side_by_side = len(splits) * len(rivals) > 1 and isinstance(data.engine, CpuEngine)
    if side_by_side:  # a thread for each trial: small tables do not keep several threads busy
        data = data.on(CpuEngine(1))
    terms = Terms(
        [wanted.longest]
        if wanted.exact is not None
        else stages_up_to(wanted.longest, 2.0 if len(rivals) > 1 else 1.25),
        wanted.usual,
        cost.haste,
        n_threads if side_by_side else 1,
        TEMPERATURES if wanted.calibrate else np.ones(1),
        wanted.exact,
        wanted.say,
    )
    starters = [Candidate(params, Starter(rival, data, present, seed)) for params, rival in rivals]
    return race(starters, splits, terms)


def make_splits(data: TrainingSet, groups: AnyArray | None, cost: Effort, rng: np.random.Generator) -> list[Split]:
    """The rows to train on and to hold out."""
    if cost.n_folds > 1:
        return folds(data.c, groups, cost.n_folds, rng)[: 5 if data.n <= 2_500 else 3 if data.n <= 5_000 else 2]
    return one_split(data.n, groups, min(data.n // 5, cost.most_held), rng)


def sample_rows(n: int) -> int:
    """The rows of a large table on which the shape of the trees is chosen: an eighth, from 8 000 to 24 000."""
    return min(n, max(8_000, min(n // 8, 24_000)))


def stages_up_to(longest: int, ratio: float) -> list[int]:
    """Numbers of rounds, each so many times the one before; the last is the largest allowed."""
    stages = [longest]
    while stages[0] > 40:
        stages.insert(0, int(np.ceil(stages[0] / ratio)))
    return stages


def most_canonical(n: int) -> int:
    """The largest number of classes for which n rows may have canonical codewords: two n × K arrays of single precision
    must fit into half of the free memory. So a table near that limit gets another code on a smaller machine.
    """
    return max(1024, int(free_memory() // 2 // (8 * n)))
