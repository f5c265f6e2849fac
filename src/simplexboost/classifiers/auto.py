"""Chooses the "auto" parameters of `SimplexBoostClassifier` by the size of the training set and by held-out risk.

This module says on which rows and for how many rounds candidates are compared; `search` compares them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._util.arrays import AnyArray, Labels
from .._util.runtime import free_memory
from ..boosting import Callback, Sampling
from ..engine import CpuCompute, cpu_engine
from ..parts.losses import Loss, for_label_sets
from ..parts.optimizers.run import Run
from ..tables.training_set import TrainingSet
from .plan import Plan
from .search import TEMPERATURES, Candidate, Choice, Split, Terms, drawn_by_class, folds, one_split, race

N_FOLDS = 5  # of small tables; fewer rows than that are too few to hold out some of them
FASTEST = 0.3  # the largest learning rate of a race, unless that of the fit is larger


@dataclass(frozen=True)
class Effort:
    """The size of a comparison of candidates: how many rows are held out, and how fast boosting runs.

    Attributes
    ----------
    n_splits : how many of five folds are held out, one after the other; 0 for a single split, which large tables use
    most_held : the largest number of rows that a single split holds out; it never holds out more than a fifth
    haste : the largest ratio of the comparison's learning rate to the fit's; rounds are fewer by this ratio
    rate : the learning rate of the fit, unless the user gives one
    """

    n_splits: int
    most_held: int
    haste: float
    rate: float

    def haste_at(self, rate: float) -> float:
        """Return the factor, at least 1, by which a comparison of candidates multiplies the learning rate of the fit.

        The product exceeds `FASTEST` only if ``rate`` does. A larger learning rate would over-fit from the first rounds
        on, which the fit itself does not: the chosen temperature would be far too low, and prediction sets too large.

        Examples
        --------
        >>> cost = Effort(n_splits=5, most_held=0, haste=4.0, rate=0.05)
        >>> [cost.haste_at(rate) for rate in (0.05, 0.1, 0.2, 0.3, 0.5)]
        [4.0, 3.0, 1.5, 1.0, 1.0]
        """
        return max(1.0, min(self.haste, round(FASTEST / rate, 9)))


def effort_on(data: TrainingSet) -> Effort:
    """Return the `Effort` (held-out rows, learning rate) of a comparison on a training set.

    An indicator matrix y gets a learning rate of 0.1 at all sizes and half the `haste`, because its scores move half as
    far in a round as the difference of two class scores (`simplex.pace`).
    """
    found = effort(data.n, data.p, data.K)
    return replace(found, haste=max(1.0, found.haste / 2), rate=0.1) if data.problem.yes_or_no else found


def effort(n: int, p: int, K: int) -> Effort:
    """Return the `Effort` (held-out rows, learning rate) of a comparison on n rows, p features and K classes.

    A fit of up to 10 000 rows takes about a second, so that a small learning rate and several folds are affordable. A
    larger table has enough rows for a single held-out part.
    """
    cells = n * max(p, K)
    if n <= 1_000 or (n <= 10_000 and cells <= 1_000_000):  # a fifth of few rows would tell too little
        return Effort(5 if n <= 2_500 else 3 if n <= 5_000 else 2, 0, 4.0, 0.05)
    if n <= 100_000 and cells <= 10_000_000:
        return Effort(0, 10_000, 2.0, 0.1)
    return Effort(0, 20_000, 3.0, 0.1)


@dataclass(frozen=True)
class Wanted:
    """The input of a choice by held-out risk: what to choose besides the best plan, and within which limits.

    Attributes
    ----------
    longest : the largest number of rounds of a candidate
    usual : the number of rounds up to which boosting continues unless the risk rises
    exact : the number of rounds if the user gives it (candidates are compared after `longest` rounds only), else None
    calibrate : whether to choose a temperature
    say : a function that prints a line of progress
    temperature : the temperature of the fit if none is chosen, else None
    thresholds : whether to choose the probability above which each label is predicted
    haste : the learning rate of the comparison divided by that of the fit
    """

    longest: int
    usual: float
    exact: int | None
    calibrate: bool
    say: Callable[[str], None]
    temperature: float | None = None
    thresholds: bool = False
    haste: float = 1.0


@dataclass(frozen=True, eq=False)
class Table:
    """The rows on which plans are compared: a training set, the mask (K,) of classes with rows, and row groups (n,)."""

    data: TrainingSet
    present: AnyArray
    groups: AnyArray | None

    def brought(self, rows: AnyArray) -> Table:
        """Return this table with only some rows (ascending indices); a distributed fit gathers them on one machine."""
        engine, groups = self.data.engine, self.groups
        if groups is not None:
            groups = engine.rows.subset(rows).gather(groups[engine.rows.find(rows)])
        return Table(self.data.gather_sample(rows), self.present, groups)

    @property
    def divisible(self) -> bool:
        """Whether rows can be held out: the rows have no groups, or at least two distinct groups."""
        return self.groups is None or len(np.unique(self.groups)) > 1


@dataclass(frozen=True, eq=False)
class Starter:
    """A function that starts the boosting run of a plan for a `Split`; weak learners never see its held-out rows."""

    plan: Plan
    table: Table
    seed: int

    def __call__(self, split: Split) -> tuple[Run, list[Callback]]:
        """Return a run without rounds, and a list with the callback that draws rows and features in every round."""
        plan, data = self.plan, self.table.data
        loss = loss_on(plan.parts.loss, data)
        run = plan.start(data, loss, self.table.present, np.random.default_rng(self.seed))
        return run, [Sampling(plan.subsample, plan.max_features, split.held)]


def loss_on(loss: Loss, data: TrainingSet) -> Loss:
    """Return ``loss``, or its version for several labels or class targets if y is a matrix."""
    table = data.problem.table
    return loss if table is None else for_label_sets(loss, table, data.problem.widths)


Rivals = Sequence[tuple[dict[str, Any], Plan]]  # parameters that name a candidate, and a plan that has them


def choose(rivals: Rivals, shares: Rivals, table: Table, seed: int, wanted: Wanted) -> Choice:
    """Return the best of several plans by held-out risk as a `Choice`, with its number of rounds and its temperature.

    ``rivals`` has pairs of parameters and a plan with them, at the learning rate of the comparison. On a large table, a
    sample of the rows selects one plan; all rows then give the number of rounds and the temperature. ``shares`` has a
    plan that predicts the class shares after one round, or is empty; no plan with a higher risk than this one can win.
    """
    data, rng = table.data, np.random.default_rng([seed, 1])
    cost, decide = effort_on(data), data.engine.rows.decide
    if cost.n_splits > 0:
        small = table.brought(np.arange(data.n))
        return decide(lambda: hold_race(rivals, shares, small, make_splits(small, cost, rng), seed, cost, wanted))
    first: Choice | None = None
    if len(rivals) > 1:
        c = data.engine.rows.gather(strata(data))
        sample = table.brought(decide(lambda: drawn_by_class(c, sample_rows(data.n), rng, fewest=5)))

        def on_sample() -> Choice | None:
            if not sample.divisible:
                return None
            choice = hold_race(rivals, shares, sample, make_splits(sample, cost, rng), seed, cost, wanted, sets=False)
            return replace(choice, n_sample=sample.data.n)

        first = decide(on_sample)
        if first is not None:  # where the class shares are best on the sample, all rows may still tell more
            rivals = [rival for rival in rivals if rival[0] == first.params] or rivals[:1]
    c = data.engine.rows.gather(strata(data))
    groups = None if table.groups is None else data.engine.rows.gather(table.groups)
    splits = decide(lambda: one_split(c, groups, held_rows(data.n, cost), rng))
    choice = hold_race(rivals, shares, table, splits, seed, cost, wanted)
    return choice if first is None else replace(choice, candidates=first.candidates, n_sample=first.n_sample)


def hold_race(
    rivals: Rivals,
    shares: Rivals,
    table: Table,
    splits: list[Split],
    seed: int,
    cost: Effort,
    wanted: Wanted,
    sets: bool = True,
) -> Choice:
    """Compare plans by held-out risk and return the `Choice`, with scores for prediction sets if ``sets`` is true."""
    engine, workers = table.data.engine, 1
    threads = isinstance(engine.compute, CpuCompute) and engine.device.is_host and not engine.rows.is_spread
    if len(splits) * len(rivals) > 1 and threads:
        # A thread for each trial: small tables do not keep several threads busy. A GPU takes one trial after another.
        table, workers = replace(table, data=table.data.on(cpu_engine(1))), engine.compute.n_threads
    stages = stages_up_to(wanted.longest, 2.0 if len(rivals) > 1 else 1.25)
    terms = Terms(
        stages if wanted.exact is None else [wanted.longest],
        wanted.usual,
        wanted.haste,
        workers,
        TEMPERATURES if wanted.calibrate else np.ones(1),
        wanted.thresholds,
        wanted.exact,
        wanted.say,
        wanted.temperature,
        sets and not table.data.problem.is_matrix,
    )
    candidates = [Candidate(params, Starter(rival, table, seed)) for params, rival in rivals]
    constant = [Candidate(params, Starter(rival, table, seed), most=1) for params, rival in shares]
    return race(candidates + constant, splits, terms)


def make_splits(table: Table, cost: Effort, rng: np.random.Generator) -> list[Split]:
    """Return splits of the rows into training and held-out rows: some folds, or one split if ``cost.n_splits`` is 0."""
    n, c = table.data.n, strata(table.data)
    if cost.n_splits == 0:
        return one_split(c, table.groups, held_rows(n, cost), rng)
    return folds(c, table.groups, N_FOLDS, rng)[: cost.n_splits]


def strata(data: TrainingSet) -> Labels:
    """Return the class index (n,) of every row, by which splits are stratified; zeros if y is a matrix."""
    return data.problem.strata(data.c if data.class_ranks is None else data.class_ranks[data.c])


def held_rows(n: int, cost: Effort) -> int:
    """Return how many of n rows a single split holds out: a fifth, but at most ``cost.most_held``."""
    return min(n // 5, cost.most_held)


def sample_rows(n: int) -> int:
    """Return how many of n rows to compare candidates on: an eighth, but at least 8 000 (or n), at most 24 000."""
    return min(n, max(8_000, min(n // 8, 24_000)))


def stages_up_to(longest: int, ratio: float) -> list[int]:
    """Return ascending numbers of rounds, each about ``ratio`` times the one before, from at most 40 to ``longest``."""
    stages = [longest]
    while stages[0] > 40:
        stages.insert(0, int(np.ceil(stages[0] / ratio)))
    return stages


def most_canonical(n: int) -> int:
    """Return the largest number K of classes, at least 1024, for which n rows get canonical codewords.

    Half of the free memory must hold two n × K arrays of single precision, and the K × K codewords in single and double
    precision: 8 n K + 12 K² bytes. So a machine with less memory may get another code.
    """
    return max(1024, (math.isqrt((8 * n) ** 2 + 24 * free_memory()) - 8 * n) // 24)
